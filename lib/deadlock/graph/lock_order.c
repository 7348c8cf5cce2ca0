/* SPDX-License-Identifier: MIT */
/*
 * Cycles of takings. Room: waitgraph; before it the takings of a recording, after it order_class.c and a report.
 *
 * First the locks are split into groups that can reach each other; nearly all programs have none of more than one lock,
 * and are done. Within a group chains of takings are tried, one class after the other, the short ones first. A chain
 * begins with its lowest-numbered taking, so that each cycle is met once.
 */
#include "deadlock/graph/lock_order.h"

#include <stdlib.h>
#include <string.h>

enum {
    UNSEEN = 0,
    /* Looks at a held lock, of one class and length: */
    WORK_INVERSIONS = 400 * 1000 * 1000, /* about a second */
    WORK_OTHERS = 20 * 1000 * 1000,
    LENGTH_SHORT = 4, /* up to here one length after the other; longer ones together, inversions only */
};

/* The parts of `locks`. */
struct groups {
    uint32_t *first; /* n_locks + 1: where a lock's edges begin */
    uint32_t *number, *low, *group, *stack, *walk, *at;
};

static struct groups groups_of(const struct wg_order *o)
{
    size_t n = o->n_locks;
    uint32_t *p = o->locks;
    return (struct groups){.number = p,
                           .low = p + n,
                           .group = p + 2 * n,
                           .stack = p + 3 * n,
                           .walk = p + 4 * n,
                           .at = p + 5 * n,
                           .first = p + 6 * n};
}

static int by_from(const void *a, const void *b)
{
    const struct wg_order_edge *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->taking < y->taking ? -1 : x->taking > y->taking;
}

static void make_edges(struct wg_order *o, const struct groups *g)
{
    o->n_edges = 0;
    for (uint32_t i = 0; i < o->n_acquisitions; i++) {
        const struct wg_taking *t = &o->takings[i];
        for (uint32_t k = 0; k < t->n_held; k++) {
            const struct wg_order_held *h = &o->held[t->first_held + k];
            o->edges[o->n_edges++] =
                (struct wg_order_edge){.from = h->lock, .to = t->lock, .taking = i, .shared = h->shared};
        }
    }
    if (o->n_edges > 0)
        qsort(o->edges, o->n_edges, sizeof *o->edges, by_from);
    size_t e = 0;
    for (uint32_t lock = 0; lock <= o->n_locks; lock++) {
        while (e < o->n_edges && o->edges[e].from < lock)
            e++;
        g->first[lock] = (uint32_t)e;
    }
}

/* ------------------------------------------------------------------------------------------------------- groups */

struct tarjan {
    uint32_t next, n_stack, n_walk;
};

static void enter(const struct groups *g, struct tarjan *s, uint32_t lock)
{
    g->number[lock] = g->low[lock] = ++s->next;
    g->at[lock] = g->first[lock];
    g->stack[s->n_stack++] = lock;
    g->walk[s->n_walk++] = lock;
}

/* All locks above `lock` on the stack reach it and are reached from it. Their group is named after it. */
static void close_group(const struct groups *g, struct tarjan *s, uint32_t lock)
{
    uint32_t member;
    do {
        member = g->stack[--s->n_stack];
        g->group[member] = lock + 1;
    } while (member != lock);
}

static void walk_group(const struct wg_order *o, const struct groups *g, struct tarjan *s, uint32_t root)
{
    enter(g, s, root);
    while (s->n_walk > 0) {
        uint32_t lock = g->walk[s->n_walk - 1];
        if (g->at[lock] < g->first[lock + 1]) {
            uint32_t to = o->edges[g->at[lock]++].to;
            if (g->number[to] == UNSEEN)
                enter(g, s, to);
            else if (g->group[to] == 0 && g->number[to] < g->low[lock])
                g->low[lock] = g->number[to];
            continue;
        }
        s->n_walk--;
        if (s->n_walk > 0 && g->low[lock] < g->low[g->walk[s->n_walk - 1]])
            g->low[g->walk[s->n_walk - 1]] = g->low[lock];
        if (g->low[lock] == g->number[lock])
            close_group(g, s, lock);
    }
}

static void find_groups(const struct wg_order *o, const struct groups *g)
{
    struct tarjan s = {0};
    memset(g->number, 0, o->n_locks * sizeof *g->number);
    memset(g->group, 0, o->n_locks * sizeof *g->group);
    for (uint32_t lock = 0; lock < o->n_locks; lock++)
        if (g->number[lock] == UNSEEN)
            walk_group(o, g, &s, lock);
}

/* ------------------------------------------------------------------------------------------------------- chains */

struct search {
    struct wg_order *o;
    struct groups g;
    enum wg_order_class class;
    uint32_t least, most; /* takings in the chains looked for */
    uint32_t *path;       /* takings */
    uint32_t *at;         /* per place in the path: the next edge to try */
    uint32_t n;
    uint64_t work; /* done, of `most_work` */
    uint64_t most_work;
};

/* How a taking holds a lock; -1 if it does not. */
static int holds(const struct wg_order *o, const struct wg_taking *t, uint32_t lock)
{
    int how = -1;
    for (uint32_t k = 0; k < t->n_held; k++)
        if (o->held[t->first_held + k].lock == lock && how != 0)
            how = o->held[t->first_held + k].shared;
    return how;
}

static bool wanted_before(const struct search *s, uint32_t lock)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->o->takings[s->path[i]].lock == lock)
            return true;
    return false;
}

/* What takes long is comparing all that one holds with all that another one does. */
static bool fits(struct search *s, uint32_t taking)
{
    const struct wg_taking *t = &s->o->takings[taking];
    for (uint32_t i = 0; i < s->n; i++) {
        const struct wg_taking *u = &s->o->takings[s->path[i]];
        bool compared = s->class < WG_GATED && t->thread != u->thread;
        s->work += compared ? (uint64_t)t->n_held * u->n_held : 1;
        if (!wg_order_fits(s->o, s->class, s->path[i], taking))
            return false;
    }
    return true;
}

/* Whether a chain may go on over this edge. Two readers do not wait for each other. */
static bool may_follow(struct search *s, const struct wg_order_edge *e)
{
    const struct wg_taking *last = &s->o->takings[s->path[s->n - 1]], *next = &s->o->takings[e->taking];
    return e->taking > s->path[0] && s->g.group[e->to] == s->g.group[e->from] && !(e->shared && last->shared) &&
           !wanted_before(s, e->to) && (s->class == WG_BROKEN || !next->breakable) && fits(s, e->taking);
}

static bool closes(const struct search *s)
{
    const struct wg_taking *last = &s->o->takings[s->path[s->n - 1]];
    int how = holds(s->o, &s->o->takings[s->path[0]], last->lock);
    bool closed = how == 0 || (how == 1 && !last->shared);
    return closed && (s->class >= WG_GATED || !wg_order_crowded(s->o, s->path, s->n));
}

/* @return false when there is no room for a cycle found. */
static bool push(struct search *s, uint32_t taking)
{
    s->path[s->n] = taking;
    s->at[s->n] = s->g.first[s->o->takings[taking].lock];
    s->n++;
    s->work += s->o->takings[s->path[0]].n_held;
    return s->n < s->least || !closes(s) || wg_order_add(s->o, s->class, s->path, s->n);
}

/* All chains of the wanted lengths that begin with one taking. @return false when the search is to end. */
static bool chains_from(struct search *s, uint32_t start)
{
    s->n = 0;
    bool going = push(s, start);
    while (going && s->n > 0) {
        uint32_t last = s->o->takings[s->path[s->n - 1]].lock;
        if (s->n == s->most || s->at[s->n - 1] == s->g.first[last + 1]) {
            s->n--;
            continue;
        }
        const struct wg_order_edge *e = &s->o->edges[s->at[s->n - 1]++];
        s->work += 1;
        if (s->work > s->most_work) {
            s->o->cut |= s->class == WG_INVERSION;
            return false;
        }
        if (may_follow(s, e))
            going = push(s, e->taking);
    }
    return going;
}

/* A taking that can be part of a cycle: it wants a lock of a group and holds another of it. */
static bool in_group(const struct search *s, const struct wg_taking *t)
{
    for (uint32_t k = 0; k < t->n_held; k++) {
        uint32_t lock = s->o->held[t->first_held + k].lock;
        if (lock != t->lock && s->g.group[lock] == s->g.group[t->lock])
            return true;
    }
    return false;
}

/* @return how many locks the largest group has. */
static uint32_t largest_group(const struct wg_order *o, const struct groups *g)
{
    uint32_t most = 0;
    memset(g->at, 0, o->n_locks * sizeof *g->at);
    for (uint32_t lock = 0; lock < o->n_locks; lock++) {
        uint32_t n = ++g->at[g->group[lock] - 1];
        if (n > most)
            most = n;
    }
    return most;
}

static void chains_of(struct search *s, enum wg_order_class class, uint32_t least, uint32_t most)
{
    s->class = class;
    s->least = least;
    s->most = most;
    s->work = 0;
    s->most_work = class == WG_INVERSION ? WORK_INVERSIONS : WORK_OTHERS;
    for (uint32_t i = 0; i < s->o->n_acquisitions; i++) {
        const struct wg_taking *t = &s->o->takings[i];
        if ((class == WG_BROKEN || !t->breakable) && in_group(s, t) && !chains_from(s, i))
            return;
    }
}

void wg_order_find(struct wg_order *o)
{
    struct search s = {.o = o, .g = groups_of(o), .path = o->paths, .at = o->paths + o->n_acquisitions};
    o->n_cycles = o->n_members = 0;
    o->cut = false;
    make_edges(o, &s.g);
    find_groups(o, &s.g);
    uint32_t locks = largest_group(o, &s.g);
    uint32_t most = locks < o->n_acquisitions ? locks : (uint32_t)o->n_acquisitions;
    for (int class = WG_INVERSION; class < WG_ORDER_CLASSES; class ++) {
        for (uint32_t n = 2; n <= most && n <= LENGTH_SHORT; n++)
            chains_of(&s, (enum wg_order_class) class, n, n);
        if (class == WG_INVERSION && most > LENGTH_SHORT)
            chains_of(&s, WG_INVERSION, LENGTH_SHORT + 1, most);
    }
}
