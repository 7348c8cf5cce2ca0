/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which locks were taken in orders that could make threads wait for each other for ever.
 * Room: waitgraph. Before it: what a recording says of nested acquisitions; after it: a report. Pure, in the caller's
 * memory.
 *
 * What is looked at is not edges between locks but takings: thread T took L while it held H. A cycle of takings, each
 * wanting a lock that the next one holds, can become a deadlock if its threads are different, no lock is held in two of
 * them (a gate) and no room in more of them than find place there, none comes before another by creation or joining, and
 * all of them wait without end. A cycle that fails one of these is reported as what it is, not left out. Looking at edges
 * instead would lose the gate of one occurrence in another one, and so be wrong on both sides.
 */
#ifndef UPMU_WAITGRAPH_ORDER_H
#define UPMU_WAITGRAPH_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What a cycle is, the worst first. */
enum wg_order_class {
    WG_INVERSION, /**< it can happen */
    WG_GATED, /**< a lock held in two of its takings keeps it from happening, or a room that has not place for all */
    WG_ONE_THREAD, /**< one thread alone took locks in both orders */
    WG_ORDERED,    /**< one thread's part was over before the other's began: creation, joining */
    WG_BROKEN,     /**< one of the waits is a try, or ends by itself */
    WG_ORDER_CLASSES,
};

/** A lock that is held; locks are numbered from 0. */
struct wg_order_held {
    uint32_t lock;
    bool shared;     /**< as one of several readers */
    uint32_t places; /**< of a room that so many threads find place in; it is shared, and no lock. 0: a lock */
};

/** A thread took a lock while it held others. */
struct wg_taking {
    uint32_t thread;
    uint32_t lock;
    bool shared;
    bool breakable; /**< by trying, or with a time limit */
    uint32_t first_held, n_held;
};

struct wg_order_cycle {
    enum wg_order_class class;
    uint32_t first, n; /**< in wg_order.members: numbers of takings, each wants what the next one holds */
    uint64_t signature;
};

/** Working space: one per lock held in a taking. */
struct wg_order_edge {
    uint32_t from, to, taking;
    bool shared; /**< `from` is held so */
};

struct wg_order {
    const struct wg_taking *takings;
    size_t n_acquisitions;
    const struct wg_order_held *held;
    size_t n_locks;
    /** Whether one of two takings is over before the other begins. */
    bool (*ordered)(void *arg, uint32_t a, uint32_t b);
    void *arg;

    struct wg_order_edge *edges; /**< room for the sum of all n_held */
    size_t n_edges;
    uint32_t *locks; /**< room for 7 * n_locks + 1 */
    uint32_t *paths; /**< room for 2 * n_acquisitions */

    struct wg_order_cycle *cycles; /**< the answer: room for `max_cycles` */
    size_t n_cycles, max_cycles;
    uint32_t *members; /**< room for `max_members` */
    size_t n_members, max_members;
    bool
        cut; /**< there may be more cycles: no room for them, or the search for inversions was ended after so many steps */
};

/** Find the cycles, the worst class first, within a class the short ones first. A cycle whose locks include all locks of
 *  one found before is left out. Inversions are found at any length, what cannot happen only up to four takings: in a
 *  deep nest the number of its chains has no bound. */
void wg_order_find(struct wg_order *o);

/** order_class.c: take a cycle into the answer unless it is there. @return false if there is no room. */
bool wg_order_add(struct wg_order *o, enum wg_order_class class, const uint32_t *takings, uint32_t n);
/** Whether a room is held in more of these takings than find place there. */
bool wg_order_crowded(const struct wg_order *o, const uint32_t *takings, uint32_t n);
/** Whether taking `b` can stand in a cycle with `a` in class `class`. */
bool wg_order_fits(const struct wg_order *o, enum wg_order_class class, uint32_t a, uint32_t b);

#endif
