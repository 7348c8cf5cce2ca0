/* SPDX-License-Identifier: MIT */
/*
 * Limit of the pass to a stretch of the recording.
 *
 * Times before the stretch become its begin: what was open there continues, what had ended lasted no time. At its begin all sums
 * are cleared. Events after its end are read for what was open there: waits and holds end there if the recording has their end, so that
 * stretches that meet add up to the whole. What only the whole recording shows comes from a pass over all of it: names, whether a
 * thread acted later, and whether all acquisitions were recorded. Both passes number threads, objects and regions alike.
 */
#include "analysis/window_pass.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/pass/handlers.h"
#include "analysis/pass/holds.h"
#include "analysis/pass/overview.h"
#include "analysis/pass/tables.h"
#include "analysis/pass/wakeup_graph.h"

/* ------------------------------------------------------------------------------------------------------- begin */

static void window_clear_thread(struct overview *o, uint32_t thread)
{
    struct ov_thread *t = &o->threads[thread];
    t->events_before = t->events;
    t->blocked_ns = 0;
    memset(t->waits, 0, sizeof t->waits);
    free(t->counts);
    t->counts = NULL;
    t->n_counts = 0;
    for (size_t i = 0; i < t->n_pending; i++)
        section_free(&t->pending[i].section);
    for (size_t i = 0; i < t->n_open; i++)
        t->open[i].cut = true;
    sched_restart(o, thread);
}

/* What the thread holds stays known. */
static void window_clear_stats(struct ov_thread_stats *s)
{
    section_free(&s->section);
    s->taken_since = s->contended_since = s->taken = s->released = s->shared_since = s->last = 0;
    s->paired = s->sampled = s->known = s->partial = s->before = s->waits = (struct upmu_wait_sum){0};
    s->blocked = s->blocked_ns = 0;
    s->max_depth = s->depth;
    s->site = MAP_NONE;
}

static void window_clear_sums(struct ov_section_sums *s)
{
    free(s->counts);
    *s = (struct ov_section_sums){0};
}

static void window_clear_object(struct ov_object *x)
{
    x->waits = x->shared_waits = (struct upmu_wait_sum){0};
    x->before_waits = x->failed = x->signals = x->broadcasts = x->misuses = x->tries_failed = x->rounds = x->in_vain =
        0;
    x->timed_holds_ns = 0;
    memset(x->call_ns, 0, sizeof x->call_ns);
    x->longest = (struct upmu_longest_wait){0};
    window_clear_sums(&x->held);
    window_clear_sums(&x->waited);
}

static void window_clear_region(struct ov_region *r)
{
    r->count = r->wall_ns = r->max_ns = r->unfinished = 0;
    r->min_ns = UPMU_NO_VALUE;
    memset(r->counts, 0, r->n_counts * sizeof *r->counts);
}

static void window_begin(struct overview *o)
{
    o->window.begun = true;
    o->events = o->unknown = o->unmatched = o->unfinished = o->openmp = 0;
    for (size_t i = 0; i < o->n_processes; i++) {
        o->processes[i].full = o->processes[i].compact = o->processes[i].stacked = 0;
        memset(o->processes[i].cpus, 0, sizeof o->processes[i].cpus);
    }
    for (size_t i = 0; i < o->n_threads; i++)
        window_clear_thread(o, (uint32_t)i);
    for (size_t i = 0; i < o->n_thread_stats; i++)
        window_clear_stats(&o->thread_stats[i]);
    for (size_t i = 0; i < o->n_objects; i++)
        window_clear_object(&o->objects[i]);
    for (size_t i = 0; i < o->n_regions; i++)
        window_clear_region(&o->regions[i]);
    /* Without references from elsewhere: they are added again as they occur. */
    o->n_sites = o->n_wakers = o->n_kernel_locks = o->graph.n_pairs = 0;
    map_free(&o->by_site);
    map_free(&o->by_waker);
    map_free(&o->by_kernel_lock);
    map_free(&o->graph.by_pair);
}

/* ------------------------------------------------------------------------------------------------------ events */

/* The event's other time, the begin of a hold; NULL: it has none. */
static uint64_t *window_held_since(struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_LOCK_BLOCK:
        return &e->lock_block.holder_since;
    case UPMU_TRACE_LOCK_RELEASE:
        return &e->lock_release.held_since;
    case UPMU_TRACE_COND_WAIT:
        return &e->cond.held_since;
    default:
        return NULL;
    }
}

/* The hold that has ended is in the sums of its thread already. */
static int window_add_hold(struct overview *o, uint32_t stats, uint64_t end_ns)
{
    hold_add_calls(o, &o->thread_stats[stats]);
    return wakeup_add_hold(o, stats, o->thread_stats[stats].hold.begin_ns, end_ns);
}

/* Objects from `n_objects` on, up to and with `last`, as the whole recording has them. */
static bool window_add_objects(struct overview *o, uint32_t last)
{
    const struct ov_object *whole = o->window.whole->objects;
    while (o->n_objects <= last) {
        struct ov_object *all = array_reserve(o->objects, o->n_objects, &o->cap_objects, sizeof *all);
        if (!all)
            return false;
        o->objects = all;
        const struct ov_object *x = &whole[o->n_objects];
        all[o->n_objects++] = (struct ov_object){
            .process = x->process, .pid = x->pid, .type = x->type, .address = x->address, .generation = x->generation};
    }
    return true;
}

int window_object(struct overview *o, const struct upmu_trace_event *e, uint32_t *object)
{
    const struct overview *whole = o->window.whole;
    *object = object_last(o, e->process, e->object_type, e->object);
    if (*object != MAP_NONE && !o->objects[*object].destroyed)
        return 0;
    *object = MAP_NONE;
    for (size_t i = o->n_objects; i < whole->n_objects; i++) {
        const struct ov_object *x = &whole->objects[i];
        if (x->address != e->object || x->process != e->process || x->type != e->object_type)
            continue;
        *object = (uint32_t)i;
        return window_add_objects(o, *object) && object_remember(o, *object) ? 0 : overview_no_memory();
    }
    return 0;
}

/* A hold that began in the stretch, or before, ends after it. `since`: its begin, 0: not in the event. */
static int window_release(struct overview *o, uint32_t thread, const struct upmu_trace_event *e, uint64_t since)
{
    struct upmu_trace_event mutex = *e;
    bool pauses = e->kind == UPMU_TRACE_COND_WAIT, known = since != 0 && since < o->window.to_ns;
    uint32_t object;
    if (pauses) {
        mutex.object = e->cond.mutex;
        mutex.object_type = UPMU_OBJECT_MUTEX;
    }
    int rc = window_object(o, &mutex, &object);
    if (rc != 0 || object == MAP_NONE)
        return rc;
    uint32_t stats = known ? stats_of(o, thread, object) : map_find(&o->by_thread_object, thread, object);
    if (stats == MAP_NONE)
        return known ? overview_no_memory() : 0;
    struct ov_thread_stats *s = &o->thread_stats[stats];
    if (!known && !hold_is_open(s)) /* nothing of it is in the stretch */
        return 0;
    if (since != 0 && !known) { /* the release of the hold that was open was lost */
        hold_forget(s);
        *window_held_since(&mutex) = 0;
    }
    mutex.object = e->object;
    mutex.object_type = e->object_type;
    rc = (pauses ? hold_pause : hold_release)(o, s, &mutex);
    return rc == 0 ? window_add_hold(o, stats, e->time_ns) : rc;
}

static void window_take_again(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    uint32_t object = object_last(o, e->process, e->object_type, e->object);
    uint32_t stats = object == MAP_NONE ? MAP_NONE : map_find(&o->by_thread_object, thread, object);
    if (stats != MAP_NONE && hold_is_open(&o->thread_stats[stats]))
        hold_take_after(&o->thread_stats[stats], e,
                        o->objects[object].recursive || (e->flags & UPMU_TRACE_FLAG_SHARED));
}

/* An event after the stretch, at `time_ns`, with the end of the stretch as time: it may end what was open there. */
static int window_add_after(struct overview *o, struct upmu_trace_event *e, uint64_t time_ns, uint64_t since)
{
    uint32_t thread = map_find(&o->by_tid, e->process, (uint32_t)e->tid);
    int rc = 0;
    if (thread == MAP_NONE || o->threads[thread].reused)
        return 0;
    switch (e->kind) {
    case UPMU_TRACE_THREAD_START:
        o->threads[thread].reused = o->threads[thread].started;
        return 0;
    case UPMU_TRACE_LOCK_ACQUIRE:
        window_take_again(o, thread, e);
        return 0;
    case UPMU_TRACE_LOCK_ACQUIRED:
        rc = wait_end_after(o, thread, e, time_ns);
        window_take_again(o, thread, e);
        return rc;
    case UPMU_TRACE_LOCK_RELEASE:
        return window_release(o, thread, e, since);
    case UPMU_TRACE_COND_WAIT:
        wait_begin_after(o, thread, e);
        return window_release(o, thread, e, since);
    case UPMU_TRACE_LOCK_BLOCK:
    case UPMU_TRACE_THREAD_JOIN:
    case UPMU_TRACE_BARRIER_ARRIVE:
    case UPMU_TRACE_FUTEX_WAIT:
    case UPMU_TRACE_CALL_BLOCK:
        wait_begin_after(o, thread, e);
        return 0;
    case UPMU_TRACE_LOCK_FAILED:
    case UPMU_TRACE_COND_WAKE:
    case UPMU_TRACE_THREAD_JOINED:
    case UPMU_TRACE_BARRIER_LEAVE:
    case UPMU_TRACE_FUTEX_WOKEN:
    case UPMU_TRACE_CALL_RETURN:
        return e->flags & UPMU_TRACE_FLAG_TRIED ? 0 : wait_end_after(o, thread, e, time_ns);
    default:
        return 0;
    }
}

int window_add(struct overview *o, const struct upmu_trace_event *e)
{
    const struct ov_window *w = &o->window;
    if (e->time_ns >= w->from_ns && !w->begun)
        window_begin(o);
    struct upmu_trace_event in = *e;
    uint64_t *since = window_held_since(&in), held_since = since ? *since : 0;
    in.time_ns = window_time(w, e->time_ns);
    if (held_since != 0)
        *since = window_time(w, held_since);
    return e->time_ns > w->to_ns ? window_add_after(o, &in, e->time_ns, held_since) : overview_add(o, &in);
}

/* --------------------------------------------------------------------------------------------------------- end */

int window_add_threads(struct overview *o)
{
    const struct overview *whole = o->window.whole;
    size_t n = o->n_threads;
    for (size_t i = n; i < whole->n_threads; i++)
        n = whole->threads[i].begin_ns < o->window.to_ns ? i + 1 : n;
    for (size_t i = 0; i < o->graph.n_pairs; i++)
        if (o->graph.pairs[i].other != MAP_NONE && o->graph.pairs[i].other >= n)
            n = o->graph.pairs[i].other + 1;
    for (size_t i = o->n_threads; i < n; i++) {
        const struct ov_thread *t = &whole->threads[i];
        if (thread_new(o, t->process, t->pid, t->tid, window_time(&o->window, t->begin_ns)) == MAP_NONE)
            return overview_no_memory();
    }
    return 0;
}

int window_note_stuck(struct overview *o)
{
    const struct overview *whole = o->window.whole;
    for (size_t i = 0; i < whole->n_thread_stats; i++) {
        const struct ov_thread_stats *all = &whole->thread_stats[i];
        if (!all->unfinished || all->hold.begin_ns >= o->window.to_ns || all->thread >= o->n_threads)
            continue;
        uint32_t stats = window_add_objects(o, all->object) ? stats_of(o, all->thread, all->object) : MAP_NONE;
        if (stats == MAP_NONE)
            return overview_no_memory();
        struct ov_thread_stats *s = &o->thread_stats[stats];
        s->begun = window_time(&o->window, all->hold.begin_ns);
        s->begun_site = all->hold.site;
        s->begun_partial = all->hold.partial;
        s->begun_observed = s->stuck = true;
    }
    return 0;
}

static void window_take(char **name, char **from)
{
    char *own = *name;
    *name = *from;
    *from = own;
}

static void window_complete_thread(const struct ov_window *w, struct ov_thread *t, struct ov_thread *all)
{
    window_take(&t->name, &all->name);
    t->begin_ns = window_time(w, t->begin_ns);
    t->end_ns = window_time(w, t->end_ns);
    t->events -= t->events_before;
    t->creator = all->creator;
    t->handle = all->handle;
    t->start = all->start;
    t->stack = all->stack;
    t->stack_shows_start = all->stack_shows_start;
    t->started = all->started;
    t->ended = all->ended;
    t->sched.recorded |= all->sched.recorded; /* without a switch in the window: unknown for all of it */
    t->futexes = (struct ov_futexes){0};
    if (all->begin_ns >= w->from_ns && all->end_ns <= w->to_ns)
        return;
    /* Of its whole life. */
    t->cpu_ns = t->ready_ns = UPMU_NO_VALUE;
    t->switches = (struct upmu_value){.value = UPMU_NO_VALUE, .status = UPMU_NOT_COUNTED};
}

static void window_complete_object(struct ov_object *x, struct ov_object *all)
{
    window_take(&x->name, &all->name);
    x->type = all->type;
    x->peer = all->peer;
    x->created = all->created;
    x->destroyed = all->destroyed;
    x->recursive = all->recursive;
    x->was_held = all->was_held;
    x->is_signal = all->is_signal;
    x->followed = all->followed;
    x->init_site = all->init_site;
    x->init_stack = all->init_stack;
    x->used_site = all->used_site;
    x->used_stack = all->used_stack;
}

/* If the recording has all acquisitions, its stretches have, too. */
static void window_complete_stats(const struct overview *all, struct ov_thread_stats *s)
{
    const struct ov_object *x = &all->objects[s->object];
    bool holds = false, acquisitions = false, waits = false;
    for (uint32_t i = 0; i < x->n_thread_stats; i++) {
        const struct ov_thread_stats *of = &all->thread_stats[x->first_thread_stats + i];
        if (of->thread != s->thread)
            continue;
        acquisitions = stats_counts_exact(of) && of->taken == stats_acquisitions(of);
        waits = stats_counts_exact(of) && of->taken == 0 && stats_acquisitions(of) == of->waits.count + of->last;
        holds = acquisitions && stats_holds(of) == &of->paired;
    }
    s->has_counts = acquisitions || waits; /* each arrival at a barrier is a wait or the last */
    s->unclear_counts = !s->has_counts;
    if (!s->has_counts)
        return;
    s->counted = waits && !acquisitions ? s->waits.count + s->last : s->taken;
    s->counted_contended = s->contended_since;
    s->shared = s->shared_since;
    s->taken_since = s->contended_since = s->shared_since = 0;
    /* A hold may begin before the stretch, or end after it. */
    s->released = holds ? s->taken : s->taken + 2; /* that is neither complete nor but one */
}

static bool window_has_sum(const struct upmu_wait_sum *s)
{
    return s->count + s->unfinished > 0;
}

/* Whether the thread did anything with the object in the stretch. */
static bool window_has_stats(const struct ov_thread_stats *s)
{
    return s->taken + s->released + s->last + s->blocked > 0 || window_has_sum(&s->waits) ||
           window_has_sum(&s->paired) || window_has_sum(&s->known) || window_has_sum(&s->partial) ||
           window_has_sum(&s->before);
}

void window_complete(struct overview *o, struct overview *whole)
{
    size_t kept = 0;
    for (size_t i = 0; i < o->graph.n_pairs; i++)
        if (o->graph.pairs[i].other != MAP_NONE)
            o->threads[o->graph.pairs[i].other].awaited = true;
    for (size_t i = 0; i < o->n_threads; i++)
        window_complete_thread(&o->window, &o->threads[i], &whole->threads[i]);
    for (size_t i = 0; i < o->n_objects; i++)
        window_complete_object(&o->objects[i], &whole->objects[i]);
    for (size_t i = 0; i < o->n_thread_stats; i++) {
        struct ov_thread_stats *s = &o->thread_stats[i];
        if (!window_has_stats(s)) {
            section_free(&s->section);
            continue;
        }
        window_complete_stats(whole, s);
        o->objects[s->object].in_window = true;
        o->thread_stats[kept++] = *s;
    }
    o->n_thread_stats = kept;
    o->begin_ns = whole->begin_ns;
    o->end_ns = whole->end_ns;
}
