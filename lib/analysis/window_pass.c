/* SPDX-License-Identifier: MIT */
/*
 * Limit of the pass to a stretch of the recording.
 *
 * Times before the stretch become its begin: what was open there continues, what had ended lasted no time. At its begin all sums
 * are cleared. After its end only releases are read, of holds that began before. What is open at the end ends there. What only the
 * whole recording shows comes from a pass over all of it: names, whether a wait ended later, and whether all acquisitions were
 * recorded. Both passes number threads, objects and regions alike.
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

/* A hold that began in the stretch, or before, ends after it. */
static int window_release(struct overview *o, const struct upmu_trace_event *e)
{
    bool pauses = e->kind == UPMU_TRACE_COND_WAIT;
    uint32_t thread = map_find(&o->by_tid, e->process, (uint32_t)e->tid);
    uint32_t object =
        pauses ? object_known(o, e->process, e->cond.mutex) : object_last(o, e->process, e->object_type, e->object);
    bool known = thread != MAP_NONE && object != MAP_NONE && !o->objects[object].destroyed;
    uint32_t stats =
        known && e->kind != UPMU_TRACE_LOCK_BLOCK ? map_find(&o->by_thread_object, thread, object) : MAP_NONE;
    if (stats == MAP_NONE) /* nothing of it is in the stretch */
        return 0;
    int rc = (pauses ? hold_pause : hold_release)(o, &o->thread_stats[stats], e);
    return rc == 0 ? window_add_hold(o, stats, e->time_ns) : rc;
}

int window_add(struct overview *o, const struct upmu_trace_event *e)
{
    const struct ov_window *w = &o->window;
    if (e->time_ns >= w->from_ns && !w->begun)
        window_begin(o);
    struct upmu_trace_event in = *e;
    uint64_t *since = window_held_since(&in);
    bool after = e->time_ns > w->to_ns;
    if (after && (!since || *since == 0 || *since >= w->to_ns))
        return 0;
    in.time_ns = window_time(w, e->time_ns);
    if (since && *since != 0)
        *since = window_time(w, *since);
    return after ? window_release(o, &in) : overview_add(o, &in);
}

/* --------------------------------------------------------------------------------------------------------- end */

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
    t->stack_is_whole = all->stack_is_whole;
    t->started = all->started;
    t->ended = all->ended;
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
        waits = stats_counts_exact(of) && of->taken == 0 && stats_acquisitions(of) == of->waits.count;
        holds = acquisitions && stats_holds(of) == &of->paired;
    }
    s->has_counts = acquisitions || waits; /* each arrival at a barrier is a wait */
    s->unclear_counts = !s->has_counts;
    if (!s->has_counts)
        return;
    s->counted = waits && !acquisitions ? s->waits.count : s->taken;
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
