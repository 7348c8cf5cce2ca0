/* SPDX-License-Identifier: MIT */
/*
 * The graph of what set threads going, written while the pass goes on. Room: analysis. Before it: the pass; after it:
 * chain_waits.c, path.c.
 *
 * The recorder stamps what lets others go on (a release, a signal, the making of a thread) before it does it, and a going
 * on after it: so a cause is always known when its effect comes.
 */
#include <stdlib.h>

#include "analysis/pass/wakeup_graph_inner.h"

struct chain_object *chain_object(struct overview *o, uint32_t object)
{
    struct chain *c = &o->chain;
    while (c->n_objects <= object) {
        struct chain_object *all = array_room(c->objects, c->n_objects, &c->cap_objects, sizeof *all);
        if (!all)
            return NULL;
        c->objects = all;
        all[c->n_objects++] = (struct chain_object){.cause = MAP_NONE, .mutex = MAP_NONE, .round_cause = MAP_NONE};
    }
    return &c->objects[object];
}

/* A moment of the thread, behind all others of it. @return its number, MAP_NONE without memory. */
uint32_t chain_stop(struct overview *o, uint32_t thread, struct chain_stop stop)
{
    struct chain *c = &o->chain;
    struct chain_stop *all = array_room(c->stops, c->n_stops, &c->cap_stops, sizeof *all);
    if (!all)
        return MAP_NONE;
    c->stops = all;
    struct chain_thread *t = &c->threads[thread];
    stop.thread = thread;
    stop.prev = t->last;
    stop.share = t->share;
    if (t->last != MAP_NONE && stop.time_ns < all[t->last].time_ns)
        stop.time_ns = all[t->last].time_ns;
    all[c->n_stops] = stop;
    t->last = (uint32_t)c->n_stops++;
    t->share = MAP_NONE;
    return t->last;
}

/* A thread's first moment is its begin. @return NULL without memory. */
static struct chain_thread *begin_thread(struct overview *o, uint32_t thread, uint64_t time_ns)
{
    struct chain *c = &o->chain;
    while (c->n_threads <= thread) {
        struct chain_thread *all = array_room(c->threads, c->n_threads, &c->cap_threads, sizeof *all);
        if (!all)
            return NULL;
        c->threads = all;
        all[c->n_threads++] = (struct chain_thread){.last = MAP_NONE, .share = MAP_NONE, .waits_for = MAP_NONE};
    }
    uint64_t begin = o->threads[thread].begin_ns;
    const struct chain_stop first = {
        .time_ns = begin < time_ns ? begin : time_ns, .cause = MAP_NONE, .object = MAP_NONE, .kind = STOP_BEGIN};
    return chain_stop(o, thread, first) != MAP_NONE ? &c->threads[thread] : NULL;
}

struct chain_thread *chain_thread(struct overview *o, uint32_t thread, uint64_t time_ns)
{
    struct chain *c = &o->chain;
    bool known = thread < c->n_threads && c->threads[thread].last != MAP_NONE;
    return known ? &c->threads[thread] : begin_thread(o, thread, time_ns);
}

uint32_t chain_at(struct overview *o, uint32_t thread, uint64_t time_ns)
{
    const struct chain_thread *t = chain_thread(o, thread, time_ns);
    if (!t)
        return MAP_NONE;
    const struct chain_stop *last = &o->chain.stops[t->last];
    /* A handler may do something while its thread waits; and two things at one moment are one. */
    bool same = last->kind == STOP_AT && last->time_ns == time_ns && t->share == MAP_NONE;
    if (t->waits_for != MAP_NONE || same)
        return t->last;
    return chain_stop(o, thread,
                      (struct chain_stop){.time_ns = time_ns, .cause = MAP_NONE, .object = MAP_NONE, .kind = STOP_AT});
}

/* ------------------------------------------------------------------------------------------------------ threads */

int chain_create(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    if (o->chain.off)
        return 0;
    uint32_t stop = e->result == 0 ? chain_at(o, thread, e->time_ns) : MAP_NONE;
    if (e->result != 0 || (stop != MAP_NONE && map_put(&o->chain.by_created, e->process, e->object, stop)))
        return 0;
    return overview_no_memory();
}

int chain_start(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    if (o->chain.off)
        return 0;
    bool known = thread < o->chain.n_threads && o->chain.threads[thread].last != MAP_NONE;
    const struct chain_thread *t = chain_thread(o, thread, e->time_ns);
    if (!t)
        return overview_no_memory();
    uint32_t cause = map_find(&o->chain.by_created, e->process, e->object);
    /* A thread that others have spoken of before has begun already. */
    if (!known && cause != MAP_NONE && o->chain.stops[cause].time_ns <= e->time_ns)
        o->chain.stops[t->last].cause = cause;
    return 0;
}

int chain_end(struct overview *o, uint32_t thread, uint64_t time_ns)
{
    const struct chain_stop end = {.time_ns = time_ns, .cause = MAP_NONE, .object = MAP_NONE, .kind = STOP_END};
    if (o->chain.off)
        return 0;
    bool ended = chain_thread(o, thread, time_ns) && chain_stop(o, thread, end) != MAP_NONE;
    return ended ? 0 : overview_no_memory();
}

/* ------------------------------------------------------------------------------------------------------- holds */

static uint32_t share_new(struct chain *c, uint32_t object, uint64_t ns, uint32_t next)
{
    struct chain_share *all = array_room(c->shares, c->n_shares, &c->cap_shares, sizeof *all);
    if (!all)
        return MAP_NONE;
    c->shares = all;
    all[c->n_shares] = (struct chain_share){.ns = ns, .object = object, .next = next};
    return (uint32_t)c->n_shares++;
}

/* Since the thread's last moment: one sum for each object, however often it was held. */
static bool held_now(struct overview *o, struct ov_use *use, struct chain_thread *t, uint64_t ns)
{
    struct chain *c = &o->chain;
    if (use->share != MAP_NONE && t->share != MAP_NONE && use->share_at == t->last) {
        c->shares[use->share].ns += ns;
        return true;
    }
    uint32_t share = share_new(c, use->object, ns, t->share);
    if (share == MAP_NONE)
        return false;
    use->share = t->share = share;
    use->share_at = t->last;
    return true;
}

/* Before the moment `stop`, back to `since_ns`; in waits nothing is held that a path could pass through. */
static bool held_before(struct chain *c, uint32_t object, uint32_t stop, uint64_t since_ns)
{
    while (stop != MAP_NONE && c->stops[stop].time_ns > since_ns) {
        struct chain_stop *s = &c->stops[stop];
        uint64_t begin = s->prev != MAP_NONE ? c->stops[s->prev].time_ns : s->time_ns;
        begin = begin > since_ns ? begin : since_ns;
        if (s->kind != STOP_GOES_ON && s->time_ns > begin) {
            uint32_t share = share_new(c, object, s->time_ns - begin, s->share);
            if (share == MAP_NONE)
                return false;
            s->share = share;
        }
        stop = s->prev;
    }
    return true;
}

int chain_held(struct overview *o, uint32_t use, uint64_t since_ns, uint64_t time_ns)
{
    if (o->chain.off || since_ns == 0 || since_ns >= time_ns)
        return 0;
    struct ov_use *u = &o->uses[use];
    struct chain_thread *t = chain_thread(o, u->thread, since_ns);
    uint64_t last = t ? o->chain.stops[t->last].time_ns : 0, begin = since_ns > last ? since_ns : last;
    bool kept = t && (begin >= time_ns || held_now(o, u, t, time_ns - begin)) &&
                (since_ns >= last || held_before(&o->chain, u->object, t->last, since_ns));
    return kept ? 0 : overview_no_memory();
}

/* -------------------------------------------------------------------------------------------------------- end */

static int compare_pairs(const void *a, const void *b)
{
    const struct chain_pair *x = a, *y = b;
    uint64_t p = x->waits.total_ns + x->waits.unfinished_ns, q = y->waits.total_ns + y->waits.unfinished_ns;
    if (p != q)
        return p > q ? -1 : 1;
    if (x->waiter != y->waiter)
        return x->waiter < y->waiter ? -1 : 1;
    return x->other < y->other ? -1 : x->other > y->other;
}

int chain_finish(struct overview *o)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < o->n_threads; i++) {
        const struct chain_thread *t = chain_thread(o, i, o->threads[i].begin_ns);
        if (!t)
            return overview_no_memory();
        if (o->chain.stops[t->last].kind != STOP_END)
            rc = chain_end(o, i, o->threads[i].end_ns);
    }
    if (o->chain.n_pairs > 0)
        qsort(o->chain.pairs, o->chain.n_pairs, sizeof *o->chain.pairs, compare_pairs);
    return rc;
}

void chain_free(struct chain *c)
{
    map_free(&c->by_created);
    map_free(&c->by_pair);
    free(c->stops);
    free(c->shares);
    free(c->threads);
    free(c->objects);
    free(c->pairs);
    *c = (struct chain){0};
}
