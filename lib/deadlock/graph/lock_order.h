/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Lock-order inversions: cycles of nested acquisitions that could become a deadlock.
 *
 * The unit is the acquisition (thread T acquired L while holding H), not the edge between two locks. A cycle of
 * acquisitions, each of a lock that the next one holds, can deadlock if its threads differ, no lock is held in two of them
 * (a gate), no semaphore has too few permits for all of them, none happens before another, and no wait is bounded. A
 * cycle that fails a condition is reported with the class that names it. A graph of edges would lose which gates were
 * held in which acquisition, and so report false positives and false negatives. Pure functions in the caller's memory.
 */
#ifndef UPMU_DEADLOCK_GRAPH_LOCK_ORDER_H
#define UPMU_DEADLOCK_GRAPH_LOCK_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Class of a cycle, the most severe first. */
enum wg_order_class {
    WG_INVERSION,  /**< it can deadlock */
    WG_GATED,      /**< prevented by a lock held in two of its acquisitions, or by the permits of a semaphore */
    WG_ONE_THREAD, /**< a single thread used both orders, or several of a longer ring */
    WG_ORDERED,    /**< one acquisition happens before another, by thread creation or join */
    WG_BROKEN,     /**< one of the acquisitions is a trylock, or has a timeout */
    WG_ORDER_CLASSES,
};

/** A held lock; locks are numbered from 0. */
struct wg_order_held {
    uint32_t lock;
    bool shared;      /**< as a reader */
    uint32_t permits; /**< of a counting semaphore, which is held shared; 0: a lock */
};

/** A thread acquired a lock while it held others. */
struct wg_acquisition {
    uint32_t thread;
    uint32_t lock;
    bool shared;
    bool writers_first; /**< `shared`, of an rwlock whose waiting writers keep readers out, and that has writers */
    bool breakable;     /**< a trylock, or with a timeout */
    uint32_t first_held, n_held;
};

struct wg_order_cycle {
    enum wg_order_class class;
    uint32_t first, n; /**< in wg_order.members: acquisitions, each of a lock that the next one holds */
    uint64_t signature;
};

/** Working space: one per lock held in an acquisition. */
struct wg_order_edge {
    uint32_t from, to, acquisition;
    bool shared; /**< `from` is held shared */
};

struct wg_order {
    const struct wg_acquisition *acquisitions;
    size_t n_acquisitions;
    const struct wg_order_held *held;
    size_t n_locks;
    /** Whether one of two acquisitions happens before the other. */
    bool (*ordered)(void *arg, uint32_t a, uint32_t b);
    void *arg;

    struct wg_order_edge *edges; /**< capacity: the sum of all n_held */
    size_t n_edges;
    uint32_t *locks; /**< capacity: 7 * n_locks + 1 */
    uint32_t *paths; /**< capacity: 2 * n_acquisitions */

    struct wg_order_cycle *cycles; /**< output, capacity `max_cycles` */
    size_t n_cycles, max_cycles;
    uint32_t *members; /**< capacity `max_members` */
    size_t n_members, max_members;
    bool truncated; /**< there may be more cycles: the capacity or the limit of search steps was reached */
};

/** Find the cycles, sorted by class, then by length. A cycle whose locks include all locks of an earlier one is left out.
 *  The search is limited, because deep nesting has exponentially many paths: inversions are searched twenty times as long as
 *  other classes. */
void wg_order_find(struct wg_order *o);

/* lock_order_class.c */

/** Add a cycle unless an earlier one covers it. @return false if the capacity is exceeded. */
bool wg_order_add(struct wg_order *o, enum wg_order_class class, const uint32_t *acquisitions, uint32_t n);
/** Whether these acquisitions hold a semaphore more often than it has permits. */
bool wg_order_exceeds_permits(const struct wg_order *o, const uint32_t *acquisitions, uint32_t n);
/** Whether acquisitions `a` and `b` can be part of one cycle of class `class`. */
bool wg_order_fits(const struct wg_order *o, enum wg_order_class class, uint32_t a, uint32_t b);

#endif
