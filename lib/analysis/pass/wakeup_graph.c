/* SPDX-License-Identifier: MIT */
/*
 * Nodes and hold times of the wakeup graph.
 *
 * The recorder stamps an action (release, signal, thread creation) before it takes effect, and a resumption after it:
 * in time order a cause always precedes its effect.
 */
#include <stdlib.h>

#include "analysis/pass/wakeup_graph.h"
#include "analysis/pass/wakeup_graph_inner.h"

struct wakeup_object *wakeup_object(struct overview *o, uint32_t object)
{
    struct wakeup_graph *g = &o->graph;
    while (g->n_objects <= object) {
        struct wakeup_object *all = array_reserve(g->objects, g->n_objects, &g->cap_objects, sizeof *all);
        if (!all)
            return NULL;
        g->objects = all;
        all[g->n_objects++] = (struct wakeup_object){.cause = MAP_NONE, .mutex = MAP_NONE, .round_cause = MAP_NONE};
    }
    return &g->objects[object];
}

uint32_t wakeup_node_add(struct overview *o, uint32_t thread, struct wakeup_node node)
{
    struct wakeup_graph *g = &o->graph;
    struct wakeup_node *all = array_reserve(g->nodes, g->n_nodes, &g->cap_nodes, sizeof *all);
    if (!all)
        return MAP_NONE;
    g->nodes = all;
    struct wakeup_thread *t = &g->threads[thread];
    node.thread = thread;
    node.prev = t->last;
    node.hold = t->hold;
    if (t->last != MAP_NONE && node.time_ns < all[t->last].time_ns)
        node.time_ns = all[t->last].time_ns;
    all[g->n_nodes] = node;
    t->last = (uint32_t)g->n_nodes++;
    t->hold = MAP_NONE;
    return t->last;
}

/* Adds the thread with its first node. @return NULL without memory. */
static struct wakeup_thread *wakeup_thread_begin(struct overview *o, uint32_t thread, uint64_t time_ns)
{
    struct wakeup_graph *g = &o->graph;
    while (g->n_threads <= thread) {
        struct wakeup_thread *all = array_reserve(g->threads, g->n_threads, &g->cap_threads, sizeof *all);
        if (!all)
            return NULL;
        g->threads = all;
        all[g->n_threads++] =
            (struct wakeup_thread){.last = MAP_NONE, .hold = MAP_NONE, .waits_for = MAP_NONE, .canceled = MAP_NONE};
    }
    uint64_t begin = o->threads[thread].begin_ns;
    const struct wakeup_node first = {
        .time_ns = begin < time_ns ? begin : time_ns, .cause = MAP_NONE, .object = MAP_NONE, .kind = NODE_BEGIN};
    return wakeup_node_add(o, thread, first) != MAP_NONE ? &g->threads[thread] : NULL;
}

struct wakeup_thread *wakeup_thread(struct overview *o, uint32_t thread, uint64_t time_ns)
{
    struct wakeup_graph *g = &o->graph;
    bool known = thread < g->n_threads && g->threads[thread].last != MAP_NONE;
    return known ? &g->threads[thread] : wakeup_thread_begin(o, thread, time_ns);
}

uint32_t wakeup_action(struct overview *o, uint32_t thread, uint64_t time_ns)
{
    const struct wakeup_thread *t = wakeup_thread(o, thread, time_ns);
    if (!t)
        return MAP_NONE;
    const struct wakeup_node *last = &o->graph.nodes[t->last];
    /* Two actions at the same time share a node. */
    bool same = last->kind == NODE_ACTION && last->time_ns == time_ns && t->hold == MAP_NONE;
    if (same)
        return t->last;
    return wakeup_node_add(
        o, thread,
        (struct wakeup_node){.time_ns = time_ns, .cause = MAP_NONE, .object = MAP_NONE, .kind = NODE_ACTION});
}

/* ------------------------------------------------------------------------------------------------------ threads */

int wakeup_create(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    if (o->graph.disabled)
        return 0;
    uint32_t node = e->result == 0 ? wakeup_action(o, thread, e->time_ns) : MAP_NONE;
    if (e->result != 0 || (node != MAP_NONE && map_put(&o->graph.by_created, e->process, e->object, node)))
        return 0;
    return overview_no_memory();
}

int wakeup_start(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    if (o->graph.disabled)
        return 0;
    bool known = thread < o->graph.n_threads && o->graph.threads[thread].last != MAP_NONE;
    const struct wakeup_thread *t = wakeup_thread(o, thread, e->time_ns);
    if (!t)
        return overview_no_memory();
    uint32_t cause = map_find(&o->graph.by_created, e->process, e->object);
    /* An event of another thread may have added this one already. */
    if (!known && cause != MAP_NONE && o->graph.nodes[cause].time_ns <= e->time_ns)
        o->graph.nodes[t->last].cause = cause;
    return 0;
}

int wakeup_canceled_by(struct overview *o, uint32_t thread, uint32_t canceler, uint64_t time_ns)
{
    if (o->graph.disabled)
        return 0;
    uint32_t node = wakeup_thread(o, thread, time_ns) ? wakeup_action(o, canceler, time_ns) : MAP_NONE;
    if (node == MAP_NONE)
        return overview_no_memory();
    o->graph.threads[thread].canceled = node;
    return 0;
}

int wakeup_end(struct overview *o, uint32_t thread, uint64_t time_ns)
{
    const struct wakeup_node end = {.time_ns = time_ns, .cause = MAP_NONE, .object = MAP_NONE, .kind = NODE_END};
    if (o->graph.disabled)
        return 0;
    bool ended = wakeup_thread(o, thread, time_ns) && wakeup_node_add(o, thread, end) != MAP_NONE;
    return ended ? 0 : overview_no_memory();
}

/* ------------------------------------------------------------------------------------------------------- holds */

static uint32_t wakeup_hold_add(struct wakeup_graph *g, uint32_t object, uint64_t ns, uint32_t next)
{
    struct wakeup_hold *all = array_reserve(g->holds, g->n_holds, &g->cap_holds, sizeof *all);
    if (!all)
        return MAP_NONE;
    g->holds = all;
    all[g->n_holds] = (struct wakeup_hold){.ns = ns, .object = object, .next = next};
    return (uint32_t)g->n_holds++;
}

/* Hold time since the thread's last node: one sum for each object. */
static bool wakeup_held_now(struct overview *o, struct ov_thread_stats *stats, struct wakeup_thread *t, uint64_t ns)
{
    struct wakeup_graph *g = &o->graph;
    if (stats->graph_hold != MAP_NONE && t->hold != MAP_NONE && stats->graph_node == t->last) {
        g->holds[stats->graph_hold].ns += ns;
        return true;
    }
    uint32_t hold = wakeup_hold_add(g, stats->object, ns, t->hold);
    if (hold == MAP_NONE)
        return false;
    stats->graph_hold = t->hold = hold;
    stats->graph_node = t->last;
    return true;
}

/* Whether the thread waited before the node, for another thread. A call that no thread of the process is known to have ended
 * belongs to the work of its thread: while it sleeps, others wait for the locks that it holds. */
static bool wakeup_is_after_wait(const struct overview *o, const struct wakeup_node *s)
{
    bool call = s->object != MAP_NONE && o->objects[s->object].type == UPMU_OBJECT_CALL;
    return s->kind == NODE_RESUME && (!call || s->cause != MAP_NONE);
}

/* Hold time before `node`, back to `since_ns`, without the time spent waiting. */
static bool wakeup_held_before(struct overview *o, uint32_t object, uint32_t node, uint64_t since_ns)
{
    struct wakeup_graph *g = &o->graph;
    uint32_t process = o->objects[object].process;
    while (node != MAP_NONE && g->nodes[node].time_ns > since_ns) {
        struct wakeup_node *s = &g->nodes[node];
        uint64_t begin = s->prev != MAP_NONE ? g->nodes[s->prev].time_ns : s->time_ns;
        begin = begin > since_ns ? begin : since_ns;
        if (!wakeup_is_after_wait(o, s) && s->time_ns > begin) {
            uint32_t hold = wakeup_hold_add(g, object, recorded_ns(o, process, begin, s->time_ns), s->hold);
            if (hold == MAP_NONE)
                return false;
            s->hold = hold;
        }
        node = s->prev;
    }
    return true;
}

int wakeup_add_hold(struct overview *o, uint32_t stats, uint64_t since_ns, uint64_t time_ns)
{
    if (o->graph.disabled || since_ns == 0 || since_ns >= time_ns)
        return 0;
    struct ov_thread_stats *u = &o->thread_stats[stats];
    uint32_t process = o->threads[u->thread].process;
    struct wakeup_thread *t = wakeup_thread(o, u->thread, since_ns);
    uint64_t last = t ? o->graph.nodes[t->last].time_ns : 0, begin = since_ns > last ? since_ns : last;
    bool kept = t && (begin >= time_ns || wakeup_held_now(o, u, t, recorded_ns(o, process, begin, time_ns))) &&
                (since_ns >= last || wakeup_held_before(o, u->object, t->last, since_ns));
    return kept ? 0 : overview_no_memory();
}

/* -------------------------------------------------------------------------------------------------------- end */

static int wakeup_compare_pairs(const void *a, const void *b)
{
    const struct wakeup_pair *x = a, *y = b;
    uint64_t p = x->waits.total_ns + x->waits.unfinished_ns, q = y->waits.total_ns + y->waits.unfinished_ns;
    if (p != q)
        return p > q ? -1 : 1;
    if (x->waiter != y->waiter)
        return x->waiter < y->waiter ? -1 : 1;
    return x->other < y->other ? -1 : x->other > y->other;
}

int wakeup_finish(struct overview *o)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < o->n_threads; i++) {
        const struct wakeup_thread *t = wakeup_thread(o, i, o->threads[i].begin_ns);
        if (!t)
            return overview_no_memory();
        if (o->graph.nodes[t->last].kind != NODE_END)
            rc = wakeup_end(o, i, o->threads[i].end_ns);
    }
    if (o->graph.n_pairs > 0)
        qsort(o->graph.pairs, o->graph.n_pairs, sizeof *o->graph.pairs, wakeup_compare_pairs);
    return rc;
}

void wakeup_free(struct wakeup_graph *g)
{
    map_free(&g->by_created);
    map_free(&g->by_pair);
    free(g->nodes);
    free(g->holds);
    free(g->threads);
    free(g->objects);
    free(g->pairs);
    *g = (struct wakeup_graph){0};
}
