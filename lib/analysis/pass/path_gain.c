/* SPDX-License-Identifier: MIT */
/*
 * What shorter sections would gain: the graph gone through once more in the order of time, with less time spent where a
 * lock was held. Who then comes before the one it waited for does not wait; everything else keeps its order and its time.
 * The gain is how much earlier the end comes, which is never more than the lock's share of the critical path: another path
 * becomes the critical one. Room: analysis. Before it: path.c; after it: path_facts.c.
 */
#include <stdlib.h>

#include "analysis/pass/overview.h"
#include "analysis/pass/path.h"

/* What is tried: by object, how many percent of the time it was held are saved. */
struct attempt {
    uint64_t *when; /* by stop: the moment it would come at */
    uint8_t *saved;
};

static uint64_t saved_before(const struct chain *c, const struct chain_stop *s, const struct attempt *a, uint64_t ns)
{
    uint64_t saved = 0;
    for (uint32_t i = s->share; i != MAP_NONE; i = c->shares[i].next)
        saved += c->shares[i].ns * a->saved[c->shares[i].object] / 100;
    return saved < ns ? saved : ns;
}

static uint64_t moment(const struct chain *c, const struct chain_stop *s, const struct attempt *a)
{
    uint64_t woken = s->cause != MAP_NONE ? a->when[s->cause] + (s->time_ns - c->stops[s->cause].time_ns) : 0;
    if (s->prev == MAP_NONE)
        return s->cause != MAP_NONE ? woken : s->time_ns;
    uint64_t before = a->when[s->prev], ns = s->time_ns - c->stops[s->prev].time_ns;
    if (s->cause != MAP_NONE)
        return woken > before ? woken : before;
    if (s->kind == STOP_GOES_ON)
        return before + ns; /* nobody knows what would shorten it */
    return before + ns - saved_before(c, s, a, ns);
}

/* Each path's `rank`th lock, all of them in one go: a process's locks concern no other one. */
static bool choose(const struct paths *p, size_t rank, uint8_t percent, uint8_t *saved)
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

static uint64_t gain(const struct chain *c, const struct path *path, const struct attempt *a)
{
    uint64_t end = c->stops[path->last].time_ns, then = a->when[path->last];
    return end > then ? end - then : 0;
}

static void keep(const struct chain *c, struct paths *p, const struct attempt *a, size_t rank, bool half)
{
    for (size_t i = 0; i < p->n; i++) {
        if (rank >= p->of[i].n_locks)
            continue;
        struct path_lock *lock = &p->locks[p->of[i].first_lock + rank];
        uint64_t ns = lock->held_ns > 0 ? gain(c, &p->of[i], a) : UPMU_NO_VALUE;
        *(half ? &lock->gain_half_ns : &lock->gain_ns) = ns;
    }
}

static bool try_rank(struct overview *o, const struct attempt *a, size_t rank, bool half)
{
    if (!choose(&o->paths, rank, half ? 50 : 100, a->saved))
        return false;
    for (size_t i = 0; i < o->chain.n_stops; i++)
        a->when[i] = moment(&o->chain, &o->chain.stops[i], a);
    keep(&o->chain, &o->paths, a, rank, half);
    (void)choose(&o->paths, rank, 0, a->saved);
    return true;
}

int paths_gain(struct overview *o)
{
    const struct attempt a = {.when = calloc(o->chain.n_stops + 1, sizeof *a.when),
                              .saved = calloc(o->n_objects + 1, sizeof *a.saved)};
    bool memory = a.when && a.saved;
    for (size_t rank = 0; memory && rank < PATH_GAINS_MAX && try_rank(o, &a, rank, false); rank++)
        (void)try_rank(o, &a, rank, true);
    free(a.when);
    free(a.saved);
    return memory ? 0 : overview_no_memory();
}
