/* SPDX-License-Identifier: MIT */
/*
 * Waits in the wakeup graph: a wait was ended by the last node that could have ended it.
 *
 * Lock: the last release. Condition variable: the last signal, or a later release of the mutex, which the wait reacquires.
 * Semaphore, futex: the last post or wake. Barrier: the last arrival. Join: the end of the joined thread.
 */
#include "analysis/pass/wakeup_graph.h"
#include "analysis/pass/tables.h"
#include "analysis/pass/values.h"
#include "analysis/pass/wakeup_graph_inner.h"

int wakeup_wait(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e, uint32_t *begin)
{
    *begin = MAP_NONE;
    if (o->graph.disabled)
        return 0;
    struct wakeup_thread *t = wakeup_thread(o, thread, e->time_ns);
    if (!t || !wakeup_object(o, object))
        return overview_no_memory();
    uint32_t node = wakeup_node_add(
        o, thread, (struct wakeup_node){.time_ns = e->time_ns, .cause = MAP_NONE, .object = object, .kind = NODE_WAIT});
    if (node == MAP_NONE)
        return overview_no_memory();
    *begin = node;
    t->waits_for = object;
    o->graph.objects[object].waiters++;
    if (e->kind == UPMU_TRACE_BARRIER_ARRIVE) {
        o->graph.objects[object].arrived++;
        o->graph.objects[object].cause = node;
    }
    if (e->kind != UPMU_TRACE_COND_WAIT)
        return 0;
    uint32_t mutex = object_known(o, e->process, e->cond.mutex);
    o->graph.objects[object].mutex = mutex;
    if (mutex == MAP_NONE)
        return 0;
    if (!wakeup_object(o, mutex))
        return overview_no_memory();
    o->graph.objects[mutex].cause = node; /* it releases the mutex */
    return 0;
}

int wakeup_watch(struct overview *o, uint32_t object)
{
    if (o->graph.disabled)
        return 0;
    struct wakeup_object *of = wakeup_object(o, object);
    if (!of)
        return overview_no_memory();
    of->watched = true;
    return 0;
}

void wakeup_woken_by(struct overview *o, uint32_t object, uint32_t other)
{
    struct wakeup_graph *g = &o->graph;
    if (object < g->n_objects && other < g->n_objects)
        g->objects[object].cause = g->objects[other].cause;
}

/* The waker may wait already: then it acted just before. */
int wakeup_woken_by_thread(struct overview *o, uint32_t object, uint32_t waker, uint64_t time_ns)
{
    struct wakeup_graph *g = &o->graph;
    if (object >= g->n_objects)
        return 0;
    bool known = waker < g->n_threads, waits = known && g->threads[waker].waits_for != MAP_NONE;
    uint32_t node = !known ? MAP_NONE : waits ? g->threads[waker].last : wakeup_action(o, waker, time_ns);
    if (known && node == MAP_NONE)
        return overview_no_memory();
    g->objects[object].cause = node;
    return 0;
}

static void wakeup_leave(struct wakeup_graph *g, uint32_t thread, uint32_t object, uint32_t node)
{
    struct wakeup_object *of = &g->objects[object];
    if (g->threads[thread].last == node)
        g->threads[thread].waits_for = MAP_NONE;
    of->waiters--;
    if (of->mutex != MAP_NONE && g->objects[of->mutex].armed > 0)
        g->objects[of->mutex].armed--;
}

/* Begin or end of a wait in a call. */
static bool wakeup_is_in_call(const struct overview *o, const struct wakeup_node *s)
{
    bool waits = s->kind == NODE_WAIT || s->kind == NODE_RESUME;
    return waits && s->object != MAP_NONE && o->objects[s->object].type == UPMU_OBJECT_CALL;
}

void wakeup_note_vain(struct overview *o, uint32_t thread, uint32_t object)
{
    struct wakeup_graph *g = &o->graph;
    uint32_t last = thread < g->n_threads ? g->threads[thread].last : MAP_NONE, wake = last;
    while (wake != MAP_NONE && g->nodes[wake].object != object && wakeup_is_in_call(o, &g->nodes[wake]))
        wake = g->nodes[wake].prev;
    if (wake == MAP_NONE || g->nodes[wake].kind != NODE_RESUME || g->nodes[wake].object != object)
        return; /* it has acted since: that may have woken others, so the wake had an effect */
    for (uint32_t i = last; i != wake; i = g->nodes[i].prev)
        g->nodes[i].in_vain = true;
    g->nodes[wake].in_vain = true;
}

void wakeup_cancel(struct overview *o, uint32_t thread, uint32_t object, uint32_t node)
{
    struct wakeup_graph *g = &o->graph;
    if (node == MAP_NONE)
        return;
    wakeup_leave(g, thread, object, node);
    if (g->objects[object].arrived > 0)
        g->objects[object].arrived--;
}

int wakeup_wake(struct overview *o, uint32_t thread, uint32_t object, uint64_t time_ns, bool all)
{
    struct wakeup_object *of = object < o->graph.n_objects ? &o->graph.objects[object] : NULL;
    if (!of || (of->waiters == 0 && of->armed == 0 && !of->watched))
        return 0; /* no waiter */
    of->cause = wakeup_action(o, thread, time_ns);
    if (of->cause == MAP_NONE)
        return overview_no_memory();
    if (of->mutex == MAP_NONE)
        return 0;
    /* Signaled threads need the mutex as well: its releases become nodes from now on. */
    struct wakeup_object *mutex = &o->graph.objects[of->mutex];
    uint32_t armed = mutex->armed + (all ? of->waiters : 1);
    mutex->armed = armed < of->waiters ? armed : of->waiters;
    return 0;
}

/* If it has left the wait, it has done so between the begin and this event; else wakeup_resume() takes this back. */
int wakeup_interrupt(struct overview *o, uint32_t thread, uint64_t time_ns)
{
    struct wakeup_thread *t = thread < o->graph.n_threads ? &o->graph.threads[thread] : NULL;
    if (!t || t->waits_for == MAP_NONE)
        return 0;
    const struct wakeup_node node = {
        .time_ns = time_ns, .cause = MAP_NONE, .object = t->waits_for, .kind = NODE_RESUME};
    t->waits_for = MAP_NONE;
    return wakeup_node_add(o, thread, node) != MAP_NONE ? 0 : overview_no_memory();
}

/* ------------------------------------------------------------------------------------------------------ causes */

static uint32_t wakeup_later(const struct overview *o, uint32_t a, uint32_t b)
{
    const struct wakeup_node *all = o->graph.nodes;
    if (a == MAP_NONE || b == MAP_NONE)
        return a;
    bool before = all[b].time_ns == o->window.from_ns; /* the window begins after both */
    return all[b].time_ns > all[a].time_ns || (before && b > a) ? b : a;
}

/* All threads of a round resume by the last arrival before the first of them resumed. Threads that arrive while others
 * are still leaving belong to the next round. At a barrier of several processes another one's thread may have been last. */
static uint32_t wakeup_barrier_cause(struct wakeup_object *of, bool shared)
{
    if (shared)
        return MAP_NONE;
    if (of->leaving == 0) {
        of->round_cause = of->cause;
        of->leaving = of->arrived;
        of->arrived = 0;
    }
    if (of->leaving > 0)
        of->leaving--;
    return of->round_cause;
}

/* The end of the thread that is joined. */
static uint32_t wakeup_join_cause(const struct overview *o, uint32_t object)
{
    const struct ov_object *that = &o->objects[object];
    uint32_t joined = thread_of_handle(o, that->process, that->address);
    if (joined == MAP_NONE || joined >= o->graph.n_threads)
        return MAP_NONE;
    uint32_t last = o->graph.threads[joined].last;
    return last != MAP_NONE && o->graph.nodes[last].kind == NODE_END ? last : MAP_NONE;
}

static uint32_t wakeup_find_cause(struct overview *o, uint32_t object)
{
    struct wakeup_graph *g = &o->graph;
    struct wakeup_object *of = &g->objects[object];
    switch (o->objects[object].type) {
    case UPMU_OBJECT_BARRIER:
        return wakeup_barrier_cause(of, o->objects[object].shared);
    case UPMU_OBJECT_THREAD:
        return wakeup_join_cause(o, object);
    case UPMU_OBJECT_COND:
        return wakeup_later(o, of->cause, of->mutex != MAP_NONE ? g->objects[of->mutex].cause : MAP_NONE);
    default:
        return of->cause;
    }
}

static int wakeup_add_pair(struct overview *o, uint32_t waiter, uint32_t other, const struct wakeup_wait_end *w)
{
    struct wakeup_graph *g = &o->graph;
    uint32_t at = map_find(&g->by_pair, waiter, other);
    if (at == MAP_NONE) {
        struct wakeup_pair *all = array_reserve(g->pairs, g->n_pairs, &g->cap_pairs, sizeof *all);
        if (!all)
            return overview_no_memory();
        g->pairs = all;
        at = (uint32_t)g->n_pairs;
        if (!map_put(&g->by_pair, waiter, other, at))
            return overview_no_memory();
        all[g->n_pairs++] = (struct wakeup_pair){.waiter = waiter, .other = other};
    }
    struct upmu_wait_sum *sum = &g->pairs[at].waits;
    (w->finished || w->after_ns != 0 ? wait_sum_add : wait_sum_add_unfinished)(sum, w->ns);
    return 0;
}

/* The end of a wait after the window, in the graph of the whole recording; NULL: it is not there. */
static const struct wakeup_node *wakeup_end_after(const struct overview *o, uint32_t thread,
                                                  const struct wakeup_wait_end *w)
{
    const struct wakeup_graph *g = w->after_ns != 0 ? &o->window.whole->graph : NULL;
    uint32_t at = g && thread < g->n_threads ? g->threads[thread].last : MAP_NONE;
    while (at != MAP_NONE && g->nodes[at].time_ns > w->after_ns)
        at = g->nodes[at].prev;
    for (; at != MAP_NONE && g->nodes[at].time_ns == w->after_ns; at = g->nodes[at].prev)
        if (g->nodes[at].object == w->object && g->nodes[at].kind != NODE_WAIT)
            return &g->nodes[at];
    return NULL;
}

int wakeup_resume(struct overview *o, uint32_t thread, const struct wakeup_wait_end *w)
{
    struct wakeup_graph *g = &o->graph;
    if (w->node == MAP_NONE)
        return 0;
    uint32_t began = w->node;
    uint32_t cause = w->finished ? wakeup_find_cause(o, w->object) : MAP_NONE;
    uint32_t request = g->threads[thread].canceled;
    bool canceled = w->canceled && request != MAP_NONE && request > began;
    cause = canceled ? request : cause;
    /* It waited up to now: what it did meanwhile, in signal handlers, is no longer between its begin and its end. */
    if (g->threads[thread].last != began)
        g->threads[thread] = (struct wakeup_thread){
            .last = began, .hold = MAP_NONE, .waits_for = MAP_NONE, .canceled = g->threads[thread].canceled};
    wakeup_leave(g, thread, w->object, began);
    /* An action before the wait, or by the thread itself, did not end it. For a join or a barrier it then was no wait: the
     * joined thread had ended before, or this thread arrived last. */
    bool none = cause != MAP_NONE && (cause <= began || g->nodes[cause].thread == thread);
    int type = o->objects[w->object].type;
    bool no_wait = w->passed || (none && (type == UPMU_OBJECT_THREAD || type == UPMU_OBJECT_BARRIER));
    if (none || no_wait || (w->failed && !canceled))
        cause = MAP_NONE;
    const struct wakeup_node node = {
        .time_ns = w->time_ns, .cause = cause, .object = w->object, .kind = no_wait ? NODE_ACTION : NODE_RESUME};
    if (wakeup_node_add(o, thread, node) == MAP_NONE)
        return overview_no_memory();
    const struct wakeup_node *after = wakeup_end_after(o, thread, w);
    no_wait = no_wait || (after && after->kind == NODE_ACTION);
    uint32_t other = w->holder != MAP_NONE               ? w->holder
                     : cause != MAP_NONE                 ? g->nodes[cause].thread
                     : after && after->cause != MAP_NONE ? o->window.whole->graph.nodes[after->cause].thread
                                                         : MAP_NONE;
    /* A call for which no thread is known to be waited for may wait for none: for a time, or another process. */
    bool no_pair = no_wait || w->of_lock || (type == UPMU_OBJECT_CALL && other == MAP_NONE);
    return no_pair ? 0 : wakeup_add_pair(o, thread, other, w);
}
