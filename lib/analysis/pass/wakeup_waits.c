/* SPDX-License-Identifier: MIT */
/*
 * Which moment of which thread ended a wait: the last one that could have. Room: analysis. Before it: chain.c and the
 * pass; after it: path.c.
 *
 * A lock: the last release. A condition variable: the last signal, or, if that comes later, the release of the mutex that
 * the wait takes again. A semaphore, a futex: the last post or wake. A barrier: who came last. A join: the thread's end.
 */
#include "analysis/pass/wakeup_graph_inner.h"

int chain_wait(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    if (o->chain.off)
        return 0;
    struct chain_thread *t = chain_thread(o, thread, e->time_ns);
    if (!t || !chain_object(o, object))
        return overview_no_memory();
    uint32_t stop = chain_stop(
        o, thread, (struct chain_stop){.time_ns = e->time_ns, .cause = MAP_NONE, .object = object, .kind = STOP_WAITS});
    if (stop == MAP_NONE)
        return overview_no_memory();
    t->waits_for = object;
    o->chain.objects[object].waiters++;
    if (e->kind == UPMU_TRACE_BARRIER_ARRIVE) {
        o->chain.objects[object].arrived++;
        o->chain.objects[object].cause = stop;
    }
    if (e->kind != UPMU_TRACE_COND_WAIT)
        return 0;
    uint32_t mutex = object_known(o, e->process, e->object2);
    o->chain.objects[object].mutex = mutex;
    if (mutex == MAP_NONE)
        return 0;
    if (!chain_object(o, mutex))
        return overview_no_memory();
    o->chain.objects[mutex].cause = stop; /* it gives the mutex back */
    return 0;
}

int chain_watch(struct overview *o, uint32_t object)
{
    if (o->chain.off)
        return 0;
    struct chain_object *of = chain_object(o, object);
    if (!of)
        return overview_no_memory();
    of->watched = true;
    return 0;
}

void chain_woken_by(struct overview *o, uint32_t object, uint32_t other)
{
    struct chain *c = &o->chain;
    if (object < c->n_objects && other < c->n_objects)
        c->objects[object].cause = c->objects[other].cause;
}

static void stop_waiting(struct chain *c, uint32_t thread, uint32_t object)
{
    struct chain_object *of = &c->objects[object];
    c->threads[thread].waits_for = MAP_NONE;
    of->waiters--;
    if (of->mutex != MAP_NONE && c->objects[of->mutex].armed > 0)
        c->objects[of->mutex].armed--;
}

static bool is_waiting(const struct chain *c, uint32_t thread, uint32_t object)
{
    return thread < c->n_threads && c->threads[thread].waits_for == object;
}

void chain_forget(struct overview *o, uint32_t thread, uint32_t object)
{
    struct chain *c = &o->chain;
    if (!is_waiting(c, thread, object))
        return;
    stop_waiting(c, thread, object);
    if (c->objects[object].arrived > 0)
        c->objects[object].arrived--;
}

int chain_wake(struct overview *o, uint32_t thread, uint32_t object, uint64_t time_ns, bool all)
{
    struct chain_object *of = object < o->chain.n_objects ? &o->chain.objects[object] : NULL;
    if (!of || (of->waiters == 0 && of->armed == 0 && !of->watched))
        return 0; /* nobody is there to be woken */
    of->cause = chain_at(o, thread, time_ns);
    if (of->cause == MAP_NONE)
        return overview_no_memory();
    if (of->mutex == MAP_NONE)
        return 0;
    /* Who is signalled needs the mutex as well: its releases count from now on. */
    struct chain_object *mutex = &o->chain.objects[of->mutex];
    uint32_t armed = mutex->armed + (all ? of->waiters : 1);
    mutex->armed = armed < of->waiters ? armed : of->waiters;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------ causes */

static uint32_t later(const struct chain *c, uint32_t a, uint32_t b)
{
    if (a == MAP_NONE || b == MAP_NONE)
        return a;
    return c->stops[b].time_ns > c->stops[a].time_ns ? b : a;
}

/* All threads of a round go on by the same arrival, the last one before the first of them went on. Those that arrive
 * while others are still leaving belong to the next round. */
static uint32_t barrier_cause(struct chain_object *of)
{
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
static uint32_t join_cause(const struct overview *o, uint32_t object)
{
    const struct ov_object *that = &o->objects[object];
    uint32_t joined = map_find(&o->by_handle, that->process, that->address);
    if (joined == MAP_NONE || joined >= o->chain.n_threads)
        return MAP_NONE;
    uint32_t last = o->chain.threads[joined].last;
    return last != MAP_NONE && o->chain.stops[last].kind == STOP_END ? last : MAP_NONE;
}

static uint32_t find_cause(struct overview *o, uint32_t object)
{
    struct chain *c = &o->chain;
    struct chain_object *of = &c->objects[object];
    switch (o->objects[object].type) {
    case UPMU_OBJECT_BARRIER:
        return barrier_cause(of);
    case UPMU_OBJECT_THREAD:
        return join_cause(o, object);
    case UPMU_OBJECT_COND:
        return later(c, of->cause, of->mutex != MAP_NONE ? c->objects[of->mutex].cause : MAP_NONE);
    default:
        return of->cause;
    }
}

static int add_pair(struct overview *o, uint32_t waiter, uint32_t other, const struct chain_wait_end *w)
{
    struct chain *c = &o->chain;
    uint32_t at = map_find(&c->by_pair, waiter, other);
    if (at == MAP_NONE) {
        struct chain_pair *all = array_room(c->pairs, c->n_pairs, &c->cap_pairs, sizeof *all);
        if (!all)
            return overview_no_memory();
        c->pairs = all;
        at = (uint32_t)c->n_pairs;
        if (!map_put(&c->by_pair, waiter, other, at))
            return overview_no_memory();
        all[c->n_pairs++] = (struct chain_pair){.waiter = waiter, .other = other};
    }
    struct upmu_wait_sum *sum = &c->pairs[at].waits;
    if (w->finished) {
        wait_sum_add(sum, w->ns);
    } else {
        sum->unfinished++;
        sum->unfinished_ns += w->ns;
    }
    return 0;
}

int chain_go_on(struct overview *o, uint32_t thread, const struct chain_wait_end *w)
{
    struct chain *c = &o->chain;
    if (!is_waiting(c, thread, w->object))
        return 0;
    uint32_t began = c->threads[thread].last;
    uint32_t cause = w->finished ? find_cause(o, w->object) : MAP_NONE;
    stop_waiting(c, thread, w->object);
    /* What was done before it stopped, or by itself, did not end the wait; if that is all there was to do, it was none:
     * the thread joined had ended before, or this one came last to the barrier. */
    bool none = cause != MAP_NONE && (cause <= began || c->stops[cause].thread == thread);
    int type = o->objects[w->object].type;
    bool no_wait = none && (type == UPMU_OBJECT_THREAD || type == UPMU_OBJECT_BARRIER);
    if (none || w->failed)
        cause = MAP_NONE;
    const struct chain_stop stop = {
        .time_ns = w->time_ns, .cause = cause, .object = w->object, .kind = no_wait ? STOP_AT : STOP_GOES_ON};
    if (chain_stop(o, thread, stop) == MAP_NONE)
        return overview_no_memory();
    uint32_t other = w->holder != MAP_NONE ? w->holder : cause != MAP_NONE ? c->stops[cause].thread : MAP_NONE;
    return no_wait ? 0 : add_pair(o, thread, other, w);
}
