/* SPDX-License-Identifier: MIT */
/* Waits: from a thread's stopping to its going on. Room: analysis. Before it: overview.c and objects.c; after it:
 * facts.c. */
#include "analysis/pass/overview.h"

static int wait_kind(const struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_COND_WAIT:
    case UPMU_TRACE_COND_WAKE:
        return UPMU_WAIT_COND;
    case UPMU_TRACE_THREAD_JOIN:
    case UPMU_TRACE_THREAD_JOINED:
        return UPMU_WAIT_JOIN;
    default:
        break;
    }
    static const uint8_t of_type[] = {
        [UPMU_OBJECT_MUTEX] = UPMU_WAIT_MUTEX,   [UPMU_OBJECT_SEM] = UPMU_WAIT_SEM,
        [UPMU_OBJECT_CUSTOM] = UPMU_WAIT_CUSTOM, [UPMU_OBJECT_RWLOCK] = UPMU_WAIT_RWLOCK,
        [UPMU_OBJECT_SPIN] = UPMU_WAIT_SPIN,     [UPMU_OBJECT_BARRIER] = UPMU_WAIT_BARRIER,
        [UPMU_OBJECT_ONCE] = UPMU_WAIT_ONCE,     [UPMU_OBJECT_FUTEX] = UPMU_WAIT_FUTEX,
    };
    bool known = e->object_type >= 0 && (size_t)e->object_type < sizeof of_type;
    return known ? of_type[e->object_type] : UPMU_WAIT_MUTEX;
}

void wait_sum_add(struct upmu_wait_sum *sum, uint64_t ns)
{
    sum->count++;
    sum->total_ns += ns;
    if (ns > sum->max_ns)
        sum->max_ns = ns;
}

static void sum_unfinished(struct upmu_wait_sum *sum, uint64_t ns)
{
    sum->unfinished++;
    sum->unfinished_ns += ns;
}

/* Those who look on are told of its begin (`end_ns` 0) and its end. */
static int tell(struct overview *o, uint32_t thread, const struct pending *p, uint64_t end_ns, bool finished)
{
    const struct timeline_hooks *h = o->hooks;
    int (*hook)(void *, const struct span *) = h ? (end_ns ? h->end : h->begin) : NULL;
    const struct span s = {.kind = SPAN_WAIT,
                           .thread = thread,
                           .what = p->object,
                           .wait_kind = p->kind,
                           .begin_ns = p->begin_ns,
                           .end_ns = end_ns,
                           .holder = p->holder,
                           .site = p->site,
                           .holder_site = p->holder_site,
                           .holder_since = p->holder_since,
                           .stack = p->stack,
                           .finished = finished};
    return hook ? hook(h->arg, &s) : 0;
}

int wait_begin(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    struct pending p = {.kind = wait_kind(e),
                        .object = object,
                        .holder = MAP_NONE,
                        .begin_ns = e->time_ns,
                        .at_event = o->threads[thread].actions,
                        .site = e->site,
                        .holder_site = e->holder_site,
                        .holder_since = e->holder_since,
                        .stack = e->stack,
                        .flags = e->flags};
    if (e->kind == UPMU_TRACE_LOCK_BLOCK && e->peer != 0) {
        p.holder = thread_of(o, e->process, e->pid, e->peer, e->time_ns);
        uint32_t use = p.holder == MAP_NONE ? MAP_NONE : use_of(o, p.holder, object);
        if (use == MAP_NONE)
            return overview_no_memory();
        hold_told(&o->uses[use], e->holder_since, e->time_ns);
    }
    struct ov_thread *t = &o->threads[thread];
    /* The same wait twice: the end of the first was lost. So it is with the outermost where too many are open. */
    for (size_t i = 0; i < t->n_pending; i++) {
        bool same = t->pending[i].kind == p.kind && t->pending[i].object == object;
        if (!same && t->n_pending < PENDING_MAX)
            continue;
        o->unmatched++;
        section_forget(&t->pending[i].section);
        if (i == 0)
            chain_forget(o, thread, t->pending[0].object);
        for (size_t k = i + 1; k < t->n_pending; k++)
            t->pending[k - 1] = t->pending[k];
        t->n_pending--;
        break;
    }
    int rc = section_begin(o, thread, e, &p.section);
    t->pending[t->n_pending++] = p;
    if (rc == 0 && t->n_pending == 1)
        rc = chain_wait(o, thread, object, e);
    return rc == 0 ? tell(o, thread, &p, 0, false) : rc;
}

/* Where the holder gave it back, if that was recorded after the wait began. */
static uint32_t release_stack(struct overview *o, const struct pending *p)
{
    if (p->holder == MAP_NONE)
        return 0;
    uint32_t use = map_find(&o->by_use, p->holder, p->object);
    return use != MAP_NONE && o->uses[use].release_ns >= p->begin_ns ? o->uses[use].release_stack : 0;
}

static void note_longest(struct overview *o, const struct pending *p, uint32_t thread, uint64_t ns, bool finished)
{
    struct upmu_longest_wait *l = &o->objects[p->object].longest;
    if (l->waiter != 0 && ns <= l->ns)
        return;
    *l = (struct upmu_longest_wait){
        .begin_ns = p->begin_ns,
        .ns = ns,
        .waiter = o->threads[thread].tid,
        .holder = p->holder == MAP_NONE ? 0 : o->threads[p->holder].tid,
        .waiter_site = p->site,
        .holder_site = p->holder_site,
        .holder_since = p->holder_since,
        .waiter_stack = p->stack,
        .release_stack = release_stack(o, p),
        .unfinished = !finished,
        .shared = p->flags & UPMU_TRACE_FLAG_SHARED ? 1 : 0,
        .holder_shared = p->flags & UPMU_TRACE_FLAG_HOLDER_SHARED ? 1 : 0,
    };
}

/* The one who held the object when the wait began is told how long it lasted. */
static int charge_holder(struct overview *o, const struct pending *p, uint64_t ns)
{
    if (p->holder == MAP_NONE)
        return 0;
    uint32_t use = use_of(o, p->holder, p->object);
    uint32_t site = site_of(o, p->object, p->holder_site);
    if (use == MAP_NONE || site == MAP_NONE)
        return overview_no_memory();
    o->uses[use].blocked++;
    o->uses[use].blocked_ns += ns;
    o->sites[site].blocked++;
    o->sites[site].blocked_ns += ns;
    return 0;
}

/* Who has the lock for itself now knows that the one it waited for has it no more. */
static void end_of_hold(struct overview *o, const struct pending *p, const struct upmu_trace_event *e)
{
    uint32_t use = p->holder != MAP_NONE && e->kind == UPMU_TRACE_LOCK_ACQUIRED && !(e->flags & UPMU_TRACE_FLAG_SHARED)
                       ? map_find(&o->by_use, p->holder, p->object)
                       : MAP_NONE;
    if (use != MAP_NONE && o->uses[use].begun < e->time_ns)
        o->uses[use].begun = o->uses[use].again = 0;
}

/* For the graph of what set threads going; of waits within each other it has the outermost. */
static int go_on(struct overview *o, uint32_t thread, const struct pending *p, const struct upmu_trace_event *e,
                 uint64_t ns)
{
    if (o->threads[thread].n_pending > 0)
        return 0;
    bool lock = e && (e->kind == UPMU_TRACE_LOCK_ACQUIRED || e->kind == UPMU_TRACE_BARRIER_LEAVE);
    const struct chain_wait_end w = {.object = p->object,
                                     .holder = p->holder,
                                     .time_ns = p->begin_ns + ns,
                                     .ns = ns,
                                     .finished = e != NULL,
                                     .failed = e && !lock && (e->result != 0 || e->kind == UPMU_TRACE_LOCK_FAILED)};
    return chain_go_on(o, thread, &w);
}

/* A wait is over, or will never be, after `ns`: tell all that it concerns. */
static int settle(struct overview *o, uint32_t thread, const struct pending *p, uint64_t ns, bool finished)
{
    uint32_t use = use_of(o, thread, p->object), site = site_of(o, p->object, p->site);
    if (use == MAP_NONE || site == MAP_NONE)
        return overview_no_memory();
    struct ov_site *s = &o->sites[site];
    if (s->stack == 0 || ns > s->waits.max_ns)
        s->stack = p->stack;
    struct upmu_wait_sum *sums[] = {&s->waits, &o->uses[use].waits, &o->objects[p->object].waits,
                                    &o->threads[thread].waits[p->kind], &o->objects[p->object].shared_waits};
    size_t n = sizeof sums / sizeof *sums - (p->flags & UPMU_TRACE_FLAG_SHARED ? 0 : 1);
    for (size_t i = 0; i < n; i++) {
        if (finished)
            wait_sum_add(sums[i], ns);
        else
            sum_unfinished(sums[i], ns);
    }
    o->threads[thread].blocked_ns += ns - (p->inner_ns < ns ? p->inner_ns : ns);
    note_longest(o, p, thread, ns, finished);
    int rc = charge_holder(o, p, ns);
    return rc == 0 ? tell(o, thread, p, p->begin_ns + ns, finished) : rc;
}

/* The innermost wait that this event ends, taken out with all that began inside it; false if there is none. */
static bool take_pending(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e,
                         struct pending *out)
{
    struct ov_thread *t = &o->threads[thread];
    int kind = wait_kind(e);
    size_t at = t->n_pending;

    while (at > 0 && (t->pending[at - 1].kind != kind || t->pending[at - 1].object != object))
        at--;
    if (at == 0) {
        o->unmatched++;
        return false;
    }
    /* What began inside this wait must have ended before it. */
    o->unmatched += t->n_pending - at;
    for (size_t i = at; i < t->n_pending; i++)
        section_forget(&t->pending[i].section);
    *out = t->pending[at - 1];
    t->n_pending = at - 1;
    return true;
}

int wait_end(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    struct ov_thread *t = &o->threads[thread];
    struct pending p;
    if (!take_pending(o, thread, object, e, &p))
        return 0;
    uint64_t ns = e->time_ns - p.begin_ns;
    if (t->n_pending > 0)
        t->pending[t->n_pending - 1].inner_ns += ns;
    int rc = section_end(o, thread, e, &p.section, &o->objects[object].waited);
    end_of_hold(o, &p, e);
    if (rc == 0)
        rc = settle(o, thread, &p, ns, true);
    return rc == 0 ? go_on(o, thread, &p, e, ns) : rc;
}

void wait_forget(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    struct pending p;
    if (!take_pending(o, thread, object, e, &p))
        return;
    section_forget(&p.section);
    if (o->threads[thread].n_pending == 0)
        chain_forget(o, thread, object);
}

void wait_stood(struct overview *o, uint32_t process, pid_t tid, uint64_t address, uint64_t until, uint64_t most_ns)
{
    uint32_t thread = map_find(&o->by_tid, process, (uint32_t)tid);
    struct ov_thread *t = thread != MAP_NONE ? &o->threads[thread] : NULL;
    if (!t || t->ended || t->n_pending == 0)
        return;
    const struct pending *p = &t->pending[t->n_pending - 1];
    if (o->objects[p->object].address != address || until < p->begin_ns)
        return;
    uint64_t ns = until - p->begin_ns;
    t->stood_ns = p->begin_ns + (ns < most_ns ? ns : most_ns);
}

int waits_abandon(struct overview *o, uint32_t thread, uint64_t until)
{
    int rc = 0;
    while (rc == 0 && o->threads[thread].n_pending > 0) {
        struct ov_thread *t = &o->threads[thread];
        struct pending p = t->pending[--t->n_pending];
        section_forget(&p.section);
        /* A thread that did something since does not wait any more; the end of its wait is what is missing. */
        if (p.at_event != t->actions) {
            o->unmatched++;
            if (t->n_pending == 0)
                chain_forget(o, thread, p.object);
            continue;
        }
        o->unfinished++;
        uint64_t ns = until > p.begin_ns ? until - p.begin_ns : 0;
        rc = settle(o, thread, &p, ns, false);
        if (rc == 0)
            rc = go_on(o, thread, &p, NULL, ns);
    }
    return rc;
}
