/* SPDX-License-Identifier: MIT */
/*
 * Search for cycles of acquisitions.
 *
 * The locks are first split into strongly connected components; in nearly all programs each has a single lock, and
 * the search ends here. Within a component paths of acquisitions are tried, class by class, short ones first. A path
 * begins with its lowest-numbered acquisition, so each cycle is found once.
 */
#include "deadlock/graph/lock_order.h"

#include <stdlib.h>
#include <string.h>

enum {
    UNSEEN = 0,
    /* Limit of steps for one class and length: */
    WORK_INVERSIONS = 400 * 1000 * 1000, /* about a second */
    WORK_OTHERS = 20 * 1000 * 1000,
    LENGTH_SHORT = 4, /* up to here length by length; longer ones together */
};

/* Arrays of Tarjan's algorithm for strongly connected components, all in the memory of wg_order.locks. */
struct components {
    uint32_t *first;     /* n_locks + 1: first edge of a lock */
    uint32_t *number;    /* in order of discovery, 0: not yet */
    uint32_t *low;       /* low link */
    uint32_t *component; /* a lock of it and 1, 0: none yet */
    uint32_t *stack;     /* Tarjan's stack */
    uint32_t *walk, *at; /* stack of the depth-first search, and the next edge of each lock on it */
};

static struct components components_new(const struct wg_order *o)
{
    size_t n = o->n_locks;
    uint32_t *p = o->locks;
    return (struct components){.number = p,
                               .low = p + n,
                               .component = p + 2 * n,
                               .stack = p + 3 * n,
                               .walk = p + 4 * n,
                               .at = p + 5 * n,
                               .first = p + 6 * n};
}

static int order_edge_by_from(const void *a, const void *b)
{
    const struct wg_order_edge *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->acquisition < y->acquisition ? -1 : x->acquisition > y->acquisition;
}

static void order_make_edges(struct wg_order *o, const struct components *g)
{
    o->n_edges = 0;
    for (uint32_t i = 0; i < o->n_acquisitions; i++) {
        const struct wg_acquisition *t = &o->acquisitions[i];
        for (uint32_t k = 0; k < t->n_held; k++) {
            const struct wg_order_held *h = &o->held[t->first_held + k];
            o->edges[o->n_edges++] =
                (struct wg_order_edge){.from = h->lock, .to = t->lock, .acquisition = i, .shared = h->shared};
        }
    }
    if (o->n_edges > 0)
        qsort(o->edges, o->n_edges, sizeof *o->edges, order_edge_by_from);
    size_t e = 0;
    for (uint32_t lock = 0; lock <= o->n_locks; lock++) {
        while (e < o->n_edges && o->edges[e].from < lock)
            e++;
        g->first[lock] = (uint32_t)e;
    }
}

/* ----------------------------------------------------------------------------------------------------- components */

struct tarjan {
    uint32_t next, n_stack, n_walk;
};

static void tarjan_enter(const struct components *g, struct tarjan *s, uint32_t lock)
{
    g->number[lock] = g->low[lock] = ++s->next;
    g->at[lock] = g->first[lock];
    g->stack[s->n_stack++] = lock;
    g->walk[s->n_walk++] = lock;
}

/* All locks above `lock` on the stack form a component, which is named after it. */
static void tarjan_close_component(const struct components *g, struct tarjan *s, uint32_t lock)
{
    uint32_t member;
    do {
        member = g->stack[--s->n_stack];
        g->component[member] = lock + 1;
    } while (member != lock);
}

static void tarjan_walk(const struct wg_order *o, const struct components *g, struct tarjan *s, uint32_t root)
{
    tarjan_enter(g, s, root);
    while (s->n_walk > 0) {
        uint32_t lock = g->walk[s->n_walk - 1];
        if (g->at[lock] < g->first[lock + 1]) {
            uint32_t to = o->edges[g->at[lock]++].to;
            if (g->number[to] == UNSEEN)
                tarjan_enter(g, s, to);
            else if (g->component[to] == 0 && g->number[to] < g->low[lock])
                g->low[lock] = g->number[to];
            continue;
        }
        s->n_walk--;
        if (s->n_walk > 0 && g->low[lock] < g->low[g->walk[s->n_walk - 1]])
            g->low[g->walk[s->n_walk - 1]] = g->low[lock];
        if (g->low[lock] == g->number[lock])
            tarjan_close_component(g, s, lock);
    }
}

static void components_find(const struct wg_order *o, const struct components *g)
{
    struct tarjan s = {0};
    memset(g->number, 0, o->n_locks * sizeof *g->number);
    memset(g->component, 0, o->n_locks * sizeof *g->component);
    for (uint32_t lock = 0; lock < o->n_locks; lock++)
        if (g->number[lock] == UNSEEN)
            tarjan_walk(o, g, &s, lock);
}

/* ------------------------------------------------------------------------------------------------------- paths */

struct search {
    struct wg_order *o;
    struct components g;
    enum wg_order_class class;
    uint32_t least, most; /* length of the paths searched */
    uint32_t *path;       /* acquisitions */
    uint32_t *at;         /* per element of the path: the next edge to try */
    uint32_t n;
    uint64_t work; /* steps done, at most `most_work` */
    uint64_t most_work;
};

/* 0: held exclusively; 1: shared; -1: not held. */
static int order_holds(const struct wg_order *o, const struct wg_acquisition *t, uint32_t lock)
{
    int how = -1;
    for (uint32_t k = 0; k < t->n_held; k++)
        if (o->held[t->first_held + k].lock == lock && how != 0)
            how = o->held[t->first_held + k].shared;
    return how;
}

static bool search_acquired_before(const struct search *s, uint32_t lock)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->o->acquisitions[s->path[i]].lock == lock)
            return true;
    return false;
}

/* The cost is the comparison of all locks held in two acquisitions. */
static bool search_fits(struct search *s, uint32_t acquisition)
{
    const struct wg_acquisition *t = &s->o->acquisitions[acquisition];
    for (uint32_t i = 0; i < s->n; i++) {
        const struct wg_acquisition *u = &s->o->acquisitions[s->path[i]];
        bool compared = s->class < WG_GATED && t->thread != u->thread;
        s->work += compared ? (uint64_t)t->n_held * u->n_held : 1;
        if (!wg_order_fits(s->o, s->class, s->path[i], acquisition))
            return false;
    }
    return true;
}

/* Whether a thread that wants the lock waits for one that holds it: two readers do not block each other, unless a writer that
 * waits between them keeps the second one out. */
static bool order_conflicts(const struct wg_acquisition *wants, bool held_shared)
{
    return !(held_shared && wants->shared) || wants->writers_first;
}

/* Whether a path may continue over this edge. */
static bool search_may_follow(struct search *s, const struct wg_order_edge *e)
{
    const struct wg_acquisition *last = &s->o->acquisitions[s->path[s->n - 1]],
                                *next = &s->o->acquisitions[e->acquisition];
    return e->acquisition > s->path[0] && s->g.component[e->to] == s->g.component[e->from] &&
           order_conflicts(last, e->shared) && !search_acquired_before(s, e->to) &&
           (s->class == WG_BROKEN || !next->breakable) && search_fits(s, e->acquisition);
}

static bool search_closes(const struct search *s)
{
    const struct wg_acquisition *last = &s->o->acquisitions[s->path[s->n - 1]];
    int how = order_holds(s->o, &s->o->acquisitions[s->path[0]], last->lock);
    bool closed = how >= 0 && order_conflicts(last, how == 1);
    return closed && (s->class >= WG_GATED || !wg_order_exceeds_permits(s->o, s->path, s->n));
}

/* @return false if a cycle exceeds the capacity. */
static bool search_push(struct search *s, uint32_t acquisition)
{
    s->path[s->n] = acquisition;
    s->at[s->n] = s->g.first[s->o->acquisitions[acquisition].lock];
    s->n++;
    s->work += s->o->acquisitions[s->path[0]].n_held;
    return s->n < s->least || !search_closes(s) || wg_order_add(s->o, s->class, s->path, s->n);
}

/* Tries all paths of the wanted lengths from one acquisition. @return false to end the search. */
static bool search_from(struct search *s, uint32_t start)
{
    s->n = 0;
    bool going = search_push(s, start);
    while (going && s->n > 0) {
        uint32_t last = s->o->acquisitions[s->path[s->n - 1]].lock;
        if (s->n == s->most || s->at[s->n - 1] == s->g.first[last + 1]) {
            s->n--;
            continue;
        }
        const struct wg_order_edge *e = &s->o->edges[s->at[s->n - 1]++];
        s->work += 1;
        if (s->work > s->most_work) {
            s->o->truncated |= s->class == WG_INVERSION;
            return false;
        }
        if (search_may_follow(s, e))
            going = search_push(s, e->acquisition);
    }
    return going;
}

/* Whether an acquisition can be part of a cycle: it holds another lock of the same component. */
static bool search_in_component(const struct search *s, const struct wg_acquisition *t)
{
    for (uint32_t k = 0; k < t->n_held; k++) {
        uint32_t lock = s->o->held[t->first_held + k].lock;
        if (lock != t->lock && s->g.component[lock] == s->g.component[t->lock])
            return true;
    }
    return false;
}

/* @return the number of locks of the largest component. */
static uint32_t components_largest(const struct wg_order *o, const struct components *g)
{
    uint32_t most = 0;
    memset(g->at, 0, o->n_locks * sizeof *g->at);
    for (uint32_t lock = 0; lock < o->n_locks; lock++) {
        uint32_t n = ++g->at[g->component[lock] - 1];
        if (n > most)
            most = n;
    }
    return most;
}

static void order_search_class(struct search *s, enum wg_order_class class, uint32_t least, uint32_t most)
{
    s->class = class;
    s->least = least;
    s->most = most;
    s->work = 0;
    s->most_work = class == WG_INVERSION ? WORK_INVERSIONS : WORK_OTHERS;
    for (uint32_t i = 0; i < s->o->n_acquisitions; i++) {
        const struct wg_acquisition *t = &s->o->acquisitions[i];
        if ((class == WG_BROKEN || !t->breakable) && search_in_component(s, t) && !search_from(s, i))
            return;
    }
}

void wg_order_find(struct wg_order *o)
{
    struct search s = {.o = o, .g = components_new(o), .path = o->paths, .at = o->paths + o->n_acquisitions};
    o->n_cycles = o->n_members = 0;
    o->truncated = false;
    order_make_edges(o, &s.g);
    components_find(o, &s.g);
    uint32_t locks = components_largest(o, &s.g);
    uint32_t most = locks < o->n_acquisitions ? locks : (uint32_t)o->n_acquisitions;
    for (int class = WG_INVERSION; class < WG_ORDER_CLASSES; class ++) {
        for (uint32_t n = 2; n <= most && n <= LENGTH_SHORT; n++)
            order_search_class(&s, (enum wg_order_class) class, n, n);
        if (most > LENGTH_SHORT)
            order_search_class(&s, (enum wg_order_class) class, LENGTH_SHORT + 1, most);
    }
}
