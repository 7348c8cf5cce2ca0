/* SPDX-License-Identifier: MIT */
/*
 * Time that shorter critical sections, and wakes of those threads only that can continue, would save.
 *
 * The wakeup graph is replayed in time order with the hold times of a lock reduced, or without the wakes in vain of a condition
 * variable; waits shrink accordingly, all else keeps its order and duration. The gain is how much earlier the process ends. It is
 * at most the object's share of the critical path, since another path becomes the critical one.
 */
#include <stdlib.h>

#include "analysis/pass/state.h"
#include "analysis/pass/path.h"

/* One replay. */
struct replay {
    const struct ov_object *objects;
    uint64_t *when;   /* by node: its new time */
    uint8_t *percent; /* by object: the saved part of its hold times; of a condition variable, of its wakes in vain */
    uint32_t *first;  /* by node: see gain_first_vain(); NULL without wakes in vain */
};

static uint64_t gain_of_holds(const struct wakeup_graph *g, const struct wakeup_node *s, const struct replay *a,
                              uint64_t ns)
{
    uint64_t saved = 0;
    for (uint32_t i = s->hold; i != MAP_NONE; i = g->holds[i].next)
        saved += g->holds[i].ns * a->percent[g->holds[i].object] / 100;
    return saved < ns ? saved : ns;
}

/* ---------------------------------------------------------------------------------------------- wakes in vain */

/* Of a node that the replay leaves out, the first of the wakes in vain that follow each other up to it; else MAP_NONE. */
static uint32_t gain_first_vain(const struct wakeup_graph *g, const struct wakeup_node *s, uint32_t at,
                                const struct replay *a)
{
    bool wake = s->in_vain && s->kind == NODE_RESUME && a->percent[s->object] > 0;
    bool after = s->prev != MAP_NONE && g->nodes[s->prev].in_vain && (s->in_vain || s->kind == NODE_WAIT);
    if (wake)
        return s->cause != MAP_NONE && a->first[s->cause] != MAP_NONE ? a->first[s->cause] : at;
    return after ? a->first[s->prev] : MAP_NONE;
}

/* The threads that a broadcast wakes get the mutex one after the other, each when the one before waits again. Without those that
 * find nothing to do, a thread continues as soon after the broadcast as the first of them did. */
static uint64_t gain_woken(const struct wakeup_graph *g, const struct wakeup_node *s, const struct replay *a)
{
    uint32_t first = a->first ? a->first[s->cause] : MAP_NONE;
    if (first == MAP_NONE)
        return a->when[s->cause] + (s->time_ns - g->nodes[s->cause].time_ns);
    /* A wake without a known cause keeps the length of its wait. */
    const struct wakeup_node *wake = &g->nodes[first];
    uint32_t from = wake->cause != MAP_NONE ? wake->cause : wake->prev;
    return a->when[from] + (wake->time_ns - g->nodes[from].time_ns);
}

/* ------------------------------------------------------------------------------------------------------ replay */

static uint64_t gain_replayed_time(const struct wakeup_graph *g, uint32_t at, const struct replay *a)
{
    const struct wakeup_node *s = &g->nodes[at];
    if (a->first && (a->first[at] = gain_first_vain(g, s, at, a)) != MAP_NONE)
        return a->when[s->prev]; /* the thread still waits */
    uint64_t woken = s->cause != MAP_NONE ? gain_woken(g, s, a) : 0;
    if (s->prev == MAP_NONE)
        return s->cause != MAP_NONE ? woken : s->time_ns;
    uint64_t before = a->when[s->prev], ns = s->time_ns - g->nodes[s->prev].time_ns;
    if (s->cause != MAP_NONE)
        return woken > before ? woken : before;
    /* Its cause is not known: the wait keeps its length. A lock held in a call that waits can be released before. */
    if (s->kind == NODE_RESUME && a->objects[s->object].type != UPMU_OBJECT_CALL)
        return before + ns;
    return before + ns - gain_of_holds(g, s, a, ns);
}

/* Which objects of a path are replayed: its locks, held longest first, or its condition variables with wakes in vain. */
enum gain_kind { GAIN_LOCKS, GAIN_HERDS };

/* Number `rank` of a kind in path `path`; NULL if there are fewer. */
static struct path_lock *gain_object(const struct overview *o, const struct path *path, enum gain_kind kind,
                                     size_t rank)
{
    struct path_lock *locks = &o->paths.locks[path->first_lock];
    if (kind == GAIN_LOCKS)
        return rank < path->n_locks && locks[rank].held_ns > 0 ? &locks[rank] : NULL;
    for (size_t i = 0; i < path->n_locks; i++)
        if (o->objects[locks[i].object].in_vain > 0 && rank-- == 0)
            return &locks[i];
    return NULL;
}

/* Selects object `rank` of each path: processes share none, so one replay covers all of them. */
static bool gain_select(const struct overview *o, enum gain_kind kind, size_t rank, uint8_t percent, uint8_t *saved)
{
    bool any = false;
    for (size_t i = 0; i < o->paths.n; i++) {
        const struct path_lock *object = gain_object(o, &o->paths.of[i], kind, rank);
        if (object)
            saved[object->object] = percent;
        any = any || object;
    }
    return any;
}

static uint64_t gain(const struct wakeup_graph *g, const struct path *path, const struct replay *a)
{
    uint64_t end = g->nodes[path->last].time_ns, then = a->when[path->last];
    return end > then ? end - then : 0;
}

static void gain_store(const struct overview *o, const struct replay *a, enum gain_kind kind, size_t rank, bool half)
{
    for (size_t i = 0; i < o->paths.n; i++) {
        struct path_lock *object = gain_object(o, &o->paths.of[i], kind, rank);
        if (object)
            *(half ? &object->gain_half_ns : &object->gain_ns) = gain(&o->graph, &o->paths.of[i], a);
    }
}

static bool gain_replay(const struct overview *o, const struct replay *a, enum gain_kind kind, size_t rank, bool half)
{
    if (!gain_select(o, kind, rank, half ? 50 : 100, a->percent))
        return false;
    for (uint32_t i = 0; i < o->graph.n_nodes; i++)
        a->when[i] = gain_replayed_time(&o->graph, i, a);
    gain_store(o, a, kind, rank, half);
    (void)gain_select(o, kind, rank, 0, a->percent);
    return true;
}

static bool gain_any_herd(const struct overview *o)
{
    for (size_t i = 0; i < o->n_objects; i++)
        if (o->objects[i].in_vain > 0)
            return true;
    return false;
}

int paths_gain(struct overview *o)
{
    bool herds = gain_any_herd(o);
    const struct replay a = {.objects = o->objects,
                             .when = calloc(o->graph.n_nodes + 1, sizeof *a.when),
                             .percent = calloc(o->n_objects + 1, sizeof *a.percent),
                             .first = herds ? calloc(o->graph.n_nodes + 1, sizeof *a.first) : NULL};
    bool memory = a.when && a.percent && (a.first || !herds);
    for (size_t rank = 0; memory && rank < PATH_GAINS_MAX && gain_replay(o, &a, GAIN_LOCKS, rank, false); rank++)
        (void)gain_replay(o, &a, GAIN_LOCKS, rank, true);
    for (size_t rank = 0; memory && rank < PATH_GAINS_MAX && gain_replay(o, &a, GAIN_HERDS, rank, false); rank++)
        ;
    free(a.when);
    free(a.percent);
    free(a.first);
    return memory ? 0 : overview_no_memory();
}
