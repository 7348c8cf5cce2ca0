/* SPDX-License-Identifier: MIT */
/* Waits: pairs of begin and end. */
#include <errno.h>

#include "analysis/event_fields.h"
#include "analysis/pass/wakeup_graph.h"
#include "analysis/pass/handlers.h"
#include "analysis/pass/holds.h"
#include "analysis/pass/tables.h"
#include "analysis/pass/values.h"

/* A kind of call of a later version is shown as a wait for a descriptor. */
static int call_wait_kind(uint32_t call)
{
    return call >= UPMU_CALL_SLEEP && call <= UPMU_CALL_CHILD ? UPMU_WAIT_SLEEP + (int)call - UPMU_CALL_SLEEP
                                                              : UPMU_WAIT_POLL;
}

int wait_kind(const struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_COND_WAIT:
    case UPMU_TRACE_COND_WAKE:
        return UPMU_WAIT_COND;
    case UPMU_TRACE_THREAD_JOIN:
    case UPMU_TRACE_THREAD_JOINED:
        return UPMU_WAIT_JOIN;
    case UPMU_TRACE_CALL_BLOCK:
    case UPMU_TRACE_CALL_RETURN:
        return call_wait_kind(e->call.call);
    default:
        break;
    }
    static const uint8_t of_type[] = {
        [UPMU_OBJECT_MUTEX] = UPMU_WAIT_MUTEX,       [UPMU_OBJECT_SEM] = UPMU_WAIT_SEM,
        [UPMU_OBJECT_CUSTOM] = UPMU_WAIT_CUSTOM,     [UPMU_OBJECT_RWLOCK] = UPMU_WAIT_RWLOCK,
        [UPMU_OBJECT_SPIN] = UPMU_WAIT_SPIN,         [UPMU_OBJECT_BARRIER] = UPMU_WAIT_BARRIER,
        [UPMU_OBJECT_ONCE] = UPMU_WAIT_ONCE,         [UPMU_OBJECT_FUTEX] = UPMU_WAIT_FUTEX,
        [UPMU_OBJECT_QMUTEX] = UPMU_WAIT_MUTEX,      [UPMU_OBJECT_QRWLOCK] = UPMU_WAIT_RWLOCK,
        [UPMU_OBJECT_ABSL_MUTEX] = UPMU_WAIT_RWLOCK,
    };
    bool known = e->object_type >= 0 && (size_t)e->object_type < sizeof of_type;
    return known ? of_type[e->object_type] : UPMU_WAIT_MUTEX;
}

/* Calls the timeline hook for the begin (`end_ns` 0) or the end. */
static int wait_notify(struct overview *o, uint32_t thread, const struct pending_wait *p, uint64_t end_ns,
                       bool finished, bool passed)
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
                           .holder_stack = p->holder_stack,
                           .stack = p->stack,
                           .finished = finished,
                           .passed = passed};
    return hook ? hook(h->arg, &s) : 0;
}

/* The end of a pending wait was lost. */
static void wait_drop(struct overview *o, uint32_t thread, size_t at)
{
    struct ov_thread *t = &o->threads[thread];
    o->unmatched++;
    section_free(&t->pending[at].section);
    wakeup_cancel(o, thread, t->pending[at].object, t->pending[at].node);
    for (size_t k = at + 1; k < t->n_pending; k++)
        t->pending[k - 1] = t->pending[k];
    t->n_pending--;
}

int wait_begin(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    struct pending_wait p = {.kind = wait_kind(e),
                             .object = object,
                             .holder = MAP_NONE,
                             .node = MAP_NONE,
                             .begin_ns = e->time_ns,
                             .at_event = o->threads[thread].actions,
                             .site = call_site_address(o, e),
                             .stack = e->stack,
                             .flags = e->flags,
                             .before = e->flags & UPMU_TRACE_FLAG_BEFORE &&
                                       !(e->kind == UPMU_TRACE_COND_WAIT && e->cond.held_since != 0)};
    if (e->kind == UPMU_TRACE_LOCK_BLOCK) {
        p.holder_site = call_site_of_holder(o, e);
        p.holder_since = e->lock_block.holder_since;
        p.holder_stack = e->lock_block.holder_stack;
    }
    if (e->kind == UPMU_TRACE_LOCK_BLOCK && e->lock_block.holder != 0) {
        if (!thread_of_holder(o, e, &p.holder))
            return overview_no_memory();
        uint32_t stats = p.holder == MAP_NONE ? MAP_NONE : stats_of(o, p.holder, object);
        if (p.holder != MAP_NONE && stats == MAP_NONE)
            return overview_no_memory();
        if (stats != MAP_NONE)
            hold_observed(&o->thread_stats[stats], e, p.holder_site);
    }
    struct ov_thread *t = &o->threads[thread];
    /* The same wait begins again: the end of the first was lost. With PENDING_MAX open, the end of the outermost
     * was. */
    for (size_t i = 0; i < t->n_pending; i++) {
        bool same = t->pending[i].kind == p.kind && t->pending[i].object == object;
        if (!same && t->n_pending < PENDING_MAX)
            continue;
        wait_drop(o, thread, i);
        break;
    }
    int rc = call_site_note(o, object, e->site, p.site);
    rc = rc == 0 ? section_begin(o, thread, e, &p.section) : rc;
    if (rc == 0)
        rc = wakeup_wait(o, thread, object, e, &p.node);
    t->pending[t->n_pending++] = p;
    return rc == 0 ? wait_notify(o, thread, &p, 0, false, false) : rc;
}

/* `actions` of the thread to the end of the recording, or to its own. */
static uint64_t wait_last_action(const struct overview *o, uint32_t thread)
{
    const struct ov_thread *t = &o->threads[thread];
    return o->window.whole && !t->ended ? o->window.whole->threads[thread].actions : t->actions;
}

/* Not in the wakeup graph, whose nodes are in the order of time: the wait does not end. */
int wait_begin_unrecorded(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    struct ov_thread *t = &o->threads[thread];
    const struct pending_wait p = {.kind = wait_kind(e),
                                   .object = object,
                                   .holder = MAP_NONE,
                                   .node = MAP_NONE,
                                   .begin_ns = e->time_ns,
                                   .at_event = wait_last_action(o, thread),
                                   .site = e->site,
                                   .flags = e->flags};
    t->pending[t->n_pending++] = p;
    return wait_notify(o, thread, &p, 0, false, false);
}

/* The holder's release, if that was recorded after the wait began: its stack, and how long the hold lasted. A holder that was
 * faster than the waiter may have acquired the lock again meanwhile. */
static void wait_note_release(struct overview *o, const struct pending_wait *p, struct upmu_longest_wait *l)
{
    uint32_t at = p->holder == MAP_NONE ? MAP_NONE : map_find(&o->by_thread_object, p->holder, p->object);
    const struct ov_thread_stats *stats = at == MAP_NONE ? NULL : &o->thread_stats[at];
    if (!stats || stats->release_ns < p->begin_ns)
        return;
    uint32_t process = o->objects[p->object].process;
    l->release_stack = stats->release_stack;
    if (p->holder_since != 0 && stats->hold.begin_ns == p->holder_since) {
        l->hold_ns = recorded_ns(o, process, stats->hold.begin_ns, stats->hold.end_ns);
    } else if (p->holder_since != 0 && stats->awaited_since == p->holder_since && stats->awaited_end != 0) {
        l->hold_ns = recorded_ns(o, process, stats->awaited_since, stats->awaited_end);
        l->release_stack = stats->awaited_stack;
    }
}

static void wait_note_longest(struct overview *o, const struct pending_wait *p, uint32_t thread, uint64_t ns,
                              bool finished)
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
        .holder_stack = p->holder_stack,
        .unfinished = !finished,
        .shared = p->flags & UPMU_TRACE_FLAG_SHARED ? 1 : 0,
        .holder_shared = p->flags & UPMU_TRACE_FLAG_HOLDER_SHARED ? 1 : 0,
        .before = p->before,
    };
    wait_note_release(o, p, l);
}

/* Adds the wait to the statistics of the thread that held the object at its begin. */
static int wait_charge_holder(struct overview *o, const struct pending_wait *p, uint64_t ns)
{
    if (p->holder == MAP_NONE)
        return 0;
    uint32_t stats = stats_of(o, p->holder, p->object);
    uint32_t site = call_site_of(o, p->object, p->holder_site);
    if (stats == MAP_NONE || site == MAP_NONE)
        return overview_no_memory();
    o->thread_stats[stats].blocked++;
    o->thread_stats[stats].blocked_ns += ns;
    if (o->sites[site].stack == 0)
        o->sites[site].stack = p->holder_stack;
    o->sites[site].blocked++;
    o->sites[site].blocked_ns += ns;
    return 0;
}

/* An exclusive acquisition shows that the holder at the wait's begin has released the lock. */
static void wait_end_hold(struct overview *o, const struct pending_wait *p, const struct upmu_trace_event *e)
{
    uint32_t stats =
        p->holder != MAP_NONE && e->kind == UPMU_TRACE_LOCK_ACQUIRED && !(e->flags & UPMU_TRACE_FLAG_SHARED)
            ? map_find(&o->by_thread_object, p->holder, p->object)
            : MAP_NONE;
    if (stats != MAP_NONE && o->thread_stats[stats].begun < e->time_ns)
        hold_forget(&o->thread_stats[stats]);
}

/* A call, as a sleep, in which the lock() of an announced lock waits: it is part of the wait for the lock, which has the holder. The outer
 * wait is pending. */
static bool wait_is_of_lock(const struct ov_thread *t, const struct pending_wait *p)
{
    return p->kind >= UPMU_WAIT_SLEEP && t->n_pending > 0 && t->pending[t->n_pending - 1].kind == UPMU_WAIT_CUSTOM;
}

/* Ends the wait in the wakeup graph. Of nested waits each counts for the pairs of threads without those inside it. `after_ns`: when a
 * wait that the window cuts ends in the recording; else 0. */
static int wait_end_in_graph(struct overview *o, uint32_t thread, const struct pending_wait *p,
                             const struct upmu_trace_event *e, uint64_t end_ns, uint64_t ns, uint64_t after_ns)
{
    bool lock = e && (e->kind == UPMU_TRACE_LOCK_ACQUIRED || e->kind == UPMU_TRACE_BARRIER_LEAVE);
    const struct wakeup_wait_end w = {.object = p->object,
                                      .node = p->node,
                                      .holder = p->holder,
                                      .time_ns = end_ns,
                                      .ns = ns - (p->inner_ns < ns ? p->inner_ns : ns),
                                      .finished = e != NULL,
                                      .after_ns = after_ns,
                                      .canceled = e && e->result == ECANCELED,
                                      .passed = e && event_did_not_wait(e),
                                      .of_lock = wait_is_of_lock(&o->threads[thread], p),
                                      .failed = e && !lock && (e->result != 0 || e->kind == UPMU_TRACE_LOCK_FAILED)};
    return wakeup_resume(o, thread, &w);
}

/* Adds a wait until `end_ns`, of which `ns` were recorded, finished or not, to all sums. */
static int wait_add(struct overview *o, uint32_t thread, const struct pending_wait *p, uint64_t end_ns, uint64_t ns,
                    bool finished)
{
    uint32_t stats = stats_of(o, thread, p->object), site = call_site_of(o, p->object, p->site);
    if (stats == MAP_NONE || site == MAP_NONE)
        return overview_no_memory();
    struct ov_call_site *s = &o->sites[site];
    if (s->stack == 0 || ns > s->waits.max_ns)
        s->stack = p->stack;
    if (!finished && p->holder != MAP_NONE) {
        uint32_t holder = map_find(&o->by_thread_object, p->holder, p->object);
        if (holder != MAP_NONE)
            o->thread_stats[holder].stuck = true;
    }
    bool of_lock = wait_is_of_lock(&o->threads[thread], p);
    struct upmu_wait_sum *sums[] = {
        &s->waits,
        &o->thread_stats[stats].waits,
        &o->objects[p->object].waits,
        of_lock ? NULL : &o->threads[thread].waits[p->kind],
        p->flags & UPMU_TRACE_FLAG_SHARED ? &o->objects[p->object].shared_waits : NULL,
    };
    o->thread_stats[stats].waited_site = p->site;
    o->objects[p->object].before_waits += p->before;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (sums[i])
            (finished ? wait_sum_add : wait_sum_add_unfinished)(sums[i], ns);
    if (!of_lock)
        o->threads[thread].blocked_ns += ns - (p->inner_ns < ns ? p->inner_ns : ns);
    wait_note_longest(o, p, thread, ns, finished);
    int rc = wait_charge_holder(o, p, ns);
    return rc == 0 ? wait_notify(o, thread, p, end_ns, finished, false) : rc;
}

/* The lock of a wait from before the recording was read after the waiter had acquired it: the holder until then is not known. */
static void wait_forget_own_hold(struct overview *o, uint32_t thread, struct pending_wait *p)
{
    uint32_t stats = map_find(&o->by_thread_object, thread, p->object);
    p->holder = MAP_NONE;
    p->holder_site = p->holder_since = p->holder_stack = 0;
    if (stats != MAP_NONE && o->thread_stats[stats].begun_partial)
        hold_forget(&o->thread_stats[stats]);
}

/* Removes the innermost wait that this event ends, and all waits nested in it. @return false if there is none. */
static bool wait_pop_pending(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e,
                             struct pending_wait *out)
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
    /* The ends of nested waits were lost. */
    o->unmatched += t->n_pending - at;
    for (size_t i = at; i < t->n_pending; i++) {
        section_free(&t->pending[i].section);
        wakeup_cancel(o, thread, t->pending[i].object, t->pending[i].node);
    }
    *out = t->pending[at - 1];
    t->n_pending = at - 1;
    if (o->objects[object].is_signal) {
        out->holder = MAP_NONE;
        out->holder_site = out->holder_since = out->holder_stack = 0;
    }
    if (out->before && out->holder == thread)
        wait_forget_own_hold(o, thread, out);
    return true;
}

/* A wait that is no longer pending lasted until `end_ns`, `ns` of it recorded, finished or not: part of the wait that it is nested in, and
 * of the locks held. */
static int wait_note(struct ov_thread *t, const struct pending_wait *p, uint64_t end_ns, uint64_t ns)
{
    if (t->n_pending > 0 && !wait_is_of_lock(t, p))
        t->pending[t->n_pending - 1].inner_ns += ns;
    return p->kind >= UPMU_WAIT_SLEEP ? hold_note_call(t, p->kind, p->begin_ns, end_ns) : 0;
}

int wait_end(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    struct pending_wait p;
    if (!wait_pop_pending(o, thread, object, e, &p))
        return 0;
    uint64_t ns = recorded_ns(o, o->threads[thread].process, p.begin_ns, e->time_ns);
    int rc = section_end(o, thread, e, &p.section, &o->objects[object].waited);
    wait_end_hold(o, &p, e);
    if (rc == 0)
        rc = wait_note(&o->threads[thread], &p, e->time_ns, ns);
    if (rc == 0)
        rc = wait_add(o, thread, &p, e->time_ns, ns, true);
    return rc == 0 ? wait_end_in_graph(o, thread, &p, e, e->time_ns, ns, 0) : rc;
}

/* Index of the thread's innermost pending wait that the event begins or ends, SIZE_MAX if there is none. */
static size_t wait_find_pending(const struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    const struct ov_thread *t = &o->threads[thread];
    int kind = wait_kind(e);
    for (size_t i = t->n_pending; i-- > 0;)
        if (t->pending[i].kind == kind && o->objects[t->pending[i].object].address == e->object)
            return i;
    return SIZE_MAX;
}

void wait_begin_after(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    size_t at = wait_find_pending(o, thread, e);
    if (at != SIZE_MAX)
        wait_drop(o, thread, at);
}

int wait_end_after(struct overview *o, uint32_t thread, const struct upmu_trace_event *e, uint64_t time_ns)
{
    size_t at = wait_find_pending(o, thread, e);
    struct pending_wait p;
    if (at == SIZE_MAX || !wait_pop_pending(o, thread, o->threads[thread].pending[at].object, e, &p))
        return 0;
    section_free(&p.section); /* its counters at the end of the window are not known */
    if (event_did_not_wait(e)) {
        wakeup_cancel(o, thread, p.object, p.node);
        return wait_notify(o, thread, &p, e->time_ns, true, true);
    }
    uint64_t ns = recorded_ns(o, o->threads[thread].process, p.begin_ns, e->time_ns);
    int rc = wait_note(&o->threads[thread], &p, e->time_ns, ns);
    if (rc == 0)
        rc = wait_add(o, thread, &p, e->time_ns, ns, true);
    return rc == 0 ? wait_end_in_graph(o, thread, &p, NULL, e->time_ns, ns, time_ns) : rc;
}

int wait_cancel(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    struct pending_wait p;
    int rc = 0;
    if (!wait_pop_pending(o, thread, object, e, &p))
        return 0;
    section_free(&p.section);
    if (e->kind == UPMU_TRACE_BARRIER_LEAVE) /* others resume by its arrival */
        rc = wait_end_in_graph(o, thread, &p, e, e->time_ns, 0, 0);
    else
        wakeup_cancel(o, thread, object, p.node);
    return rc == 0 ? wait_notify(o, thread, &p, e->time_ns, true, true) : rc;
}

bool waits_are_lost(const struct overview *o, const struct ov_thread *t)
{
    return o->events_lost && t->n_pending > 0 && o->events_lost(o->call_site_arg, t->process, t->tid);
}

int waits_abandon(struct overview *o, uint32_t thread, uint64_t until)
{
    uint64_t actions = wait_last_action(o, thread);
    bool lost = waits_are_lost(o, &o->threads[thread]);
    if (lost && o->threads[thread].blocked_until_ns < until)
        until = o->threads[thread].blocked_until_ns;
    int rc = 0;
    while (rc == 0 && o->threads[thread].n_pending > 0) {
        struct ov_thread *t = &o->threads[thread];
        struct pending_wait p = t->pending[--t->n_pending];
        section_free(&p.section);
        /* A later event of the thread shows that the wait ended; its end was lost. */
        if (p.at_event != actions || (lost && until <= p.begin_ns)) {
            o->unmatched++;
            wakeup_cancel(o, thread, p.object, p.node);
            continue;
        }
        o->unfinished++;
        uint64_t end_ns = until > p.begin_ns ? until : p.begin_ns;
        uint64_t ns = recorded_ns(o, t->process, p.begin_ns, end_ns);
        rc = wait_note(t, &p, end_ns, ns);
        if (rc == 0)
            rc = wait_add(o, thread, &p, end_ns, ns, false);
        if (rc == 0)
            rc = wait_end_in_graph(o, thread, &p, NULL, end_ns, ns, 0);
    }
    return rc;
}
