/* SPDX-License-Identifier: MIT */
/*
 * Time that shorter critical sections would save.
 *
 * The wakeup graph is replayed in time order with the hold times of a lock reduced; waits shrink accordingly, all else keeps
 * its order and duration. The gain is how much earlier the process ends. It is at most the lock's share of the critical
 * path, since another path becomes the critical one.
 */
#include <stdlib.h>

#include "analysis/pass/state.h"
#include "analysis/pass/path.h"

/* One replay. */
struct replay {
    const struct ov_object *objects;
    uint64_t *when;   /* by node: its new time */
    uint8_t *percent; /* by object: the saved part of its hold times */
};

static uint64_t gain_of_holds(const struct wakeup_graph *g, const struct wakeup_node *s, const struct replay *a,
                              uint64_t ns)
{
    uint64_t saved = 0;
    for (uint32_t i = s->hold; i != MAP_NONE; i = g->holds[i].next)
        saved += g->holds[i].ns * a->percent[g->holds[i].object] / 100;
    return saved < ns ? saved : ns;
}

static uint64_t gain_replayed_time(const struct wakeup_graph *g, const struct wakeup_node *s, const struct replay *a)
{
    uint64_t woken = s->cause != MAP_NONE ? a->when[s->cause] + (s->time_ns - g->nodes[s->cause].time_ns) : 0;
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

/* Selects lock `rank` of each path: processes share no locks, so one replay covers all of them. */
static bool gain_select(const struct paths *p, size_t rank, uint8_t percent, uint8_t *saved)
{
    bool any = false;
    for (size_t i = 0; i < p->n; i++) {
        if (rank >= p->of[i].n_locks)
            continue;
        const struct path_lock *lock = &p->locks[p->of[i].first_lock + rank];
        saved[lock->object] = percent;
        any = any || lock->held_ns > 0;
    }
    return any;
}

static uint64_t gain(const struct wakeup_graph *g, const struct path *path, const struct replay *a)
{
    uint64_t end = g->nodes[path->last].time_ns, then = a->when[path->last];
    return end > then ? end - then : 0;
}

static void gain_store(const struct wakeup_graph *g, struct paths *p, const struct replay *a, size_t rank, bool half)
{
    for (size_t i = 0; i < p->n; i++) {
        if (rank >= p->of[i].n_locks)
            continue;
        struct path_lock *lock = &p->locks[p->of[i].first_lock + rank];
        uint64_t ns = lock->held_ns > 0 ? gain(g, &p->of[i], a) : UPMU_NO_VALUE;
        *(half ? &lock->gain_half_ns : &lock->gain_ns) = ns;
    }
}

static bool gain_replay(struct overview *o, const struct replay *a, size_t rank, bool half)
{
    if (!gain_select(&o->paths, rank, half ? 50 : 100, a->percent))
        return false;
    for (size_t i = 0; i < o->graph.n_nodes; i++)
        a->when[i] = gain_replayed_time(&o->graph, &o->graph.nodes[i], a);
    gain_store(&o->graph, &o->paths, a, rank, half);
    (void)gain_select(&o->paths, rank, 0, a->percent);
    return true;
}

int paths_gain(struct overview *o)
{
    const struct replay a = {.objects = o->objects,
                             .when = calloc(o->graph.n_nodes + 1, sizeof *a.when),
                             .percent = calloc(o->n_objects + 1, sizeof *a.percent)};
    bool memory = a.when && a.percent;
    for (size_t rank = 0; memory && rank < PATH_GAINS_MAX && gain_replay(o, &a, rank, false); rank++)
        (void)gain_replay(o, &a, rank, true);
    free(a.when);
    free(a.percent);
    return memory ? 0 : overview_no_memory();
}
