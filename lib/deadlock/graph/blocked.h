/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Deadlocked threads of a snapshot of holders and waiters.
 *
 * The algorithm computes the threads that can continue, as a fixed point: a running thread can. A waiting thread can if all
 * holders of its lock can (or are not known), if the thread it joins can, if a thread of a process can whose end it waits
 * for, or, for a post, a signal or an arrival, if any thread can; a wait for a signal also needs its mutex. The remaining threads are deadlocked. Missing data thus never
 * makes a deadlock. Pure functions: no allocation, all memory is the caller's.
 */
#ifndef UPMU_DEADLOCK_GRAPH_BLOCKED_H
#define UPMU_DEADLOCK_GRAPH_BLOCKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WG_NONE UINT32_MAX

/** State of a thread: what it waits for. */
enum wg_wait {
    WG_RUNNING,   /**< it waits for nothing, as far as is known */
    WG_ENDED,     /**< it holds its locks permanently */
    WG_LOCK,      /**< for a lock, exclusively */
    WG_READ_LOCK, /**< for a lock as a reader */
    WG_JOIN,      /**< for the end of thread `target` */
    WG_CHILD,     /**< for the end of one of the processes of `n_targets` threads from `target` on */
    WG_SEM,       /**< for a post of a semaphore */
    WG_COND,      /**< for the signal of a condition variable */
    WG_BARRIER,   /**< for arrivals at a barrier */
    WG_FUTEX,     /**< on a futex of the program */
    WG_UNKNOWN,   /**< asleep, for something that is not recorded: it counts as able to continue */
};

enum wg_certainty {
    WG_CERTAIN,   /**< nothing can end it */
    WG_STALLED,   /**< nothing that is known could end it, but not all holders and wakers are known */
    WG_BREAKABLE, /**< one of its waits has a timeout */
    WG_WAKEABLE,  /**< no thread can end it, but something else could */
    WG_CERTAINTIES,
};

enum wg_deadlock_kind {
    WG_CYCLE,         /**< threads wait for each other's locks (and ends) */
    WG_SELF,          /**< a thread waits for a lock that it holds */
    WG_OWNER_ENDED,   /**< the lock's holder has ended */
    WG_JOIN_CYCLE,    /**< threads wait for each other's ends only */
    WG_JOIN_SELF,     /**< a thread waits for its own end */
    WG_NO_POST,       /**< no thread can post the semaphore */
    WG_NO_SIGNAL,     /**< no thread can signal the condition variable */
    WG_BARRIER_SHORT, /**< no thread can arrive at the barrier */
    WG_NO_WAKE,       /**< no thread can wake the futex */
    WG_ALL_ASLEEP,    /**< all threads of the process are asleep, and nothing is known that could wake one */
    WG_CROSS_PROCESS, /**< threads of several processes wait for each other's locks */
    WG_DEADLOCK_KINDS,
};

struct wg_thread {
    enum wg_wait wait;
    bool timed;                   /**< the wait has a timeout */
    bool outside;                 /**< the object is shared with other processes, which could end the wait */
    bool writers_first;           /**< WG_READ_LOCK: a waiting writer keeps readers out */
    uint64_t object;              /**< what it waits for */
    uint64_t mutex;               /**< WG_COND: the mutex it reacquires before its wait ends; 0: not known */
    uint32_t target;              /**< WG_JOIN, WG_CHILD: index of the thread; WG_NONE: not known */
    uint32_t n_targets;           /**< WG_CHILD */
    uint32_t target_group;        /**< WG_CHILD: only the threads of that group; 0: all */
    uint32_t group;               /**< of processes that one thread waits for; 0: none */
    uint32_t first_hold, n_holds; /**< in wg_snapshot.holds */

    /* Output. */
    uint32_t deadlock; /**< index of the deadlock it is part of or behind; WG_NONE: it can continue */
    bool behind;       /**< it waits for a deadlocked thread without being part of the deadlock */
    /* Working space. */
    bool can_continue;
    uint32_t mark;
};

/** A lock held by a thread; a recursive one once for each acquisition. */
struct wg_hold {
    uint64_t lock;
    bool shared; /**< as a reader */
};

/** Working space: a hold, sorted by lock. */
struct wg_holder {
    uint64_t lock;
    uint32_t thread;
    bool shared;
};

struct wg_deadlock {
    enum wg_deadlock_kind kind;
    enum wg_certainty certainty;
    uint64_t object;   /**< the lock, semaphore, ... for kinds that have one */
    uint32_t other;    /**< WG_OWNER_ENDED: the thread that ended; else WG_NONE */
    bool several;      /**< it was found in several processes together (set by the caller of the search) */
    bool no_waker;     /**< it depends on all threads being blocked: none can post, signal or wake */
    uint32_t first, n; /**< in wg_snapshot.members: in a cycle each waits for the next, the last for the first */
};

struct wg_snapshot {
    struct wg_thread *threads;
    size_t n_threads;
    const struct wg_hold *holds;
    size_t n_holds;
    bool woken_from_outside; /**< a signal handler or a timer could post, signal or wake */
    bool all_asleep;         /**< the kernel shows every thread in a wait that only another thread can end */

    struct wg_holder *holders;     /**< n_holds elements, filled by wg_find_blocked() */
    uint32_t *members;             /**< n_threads elements, output */
    struct wg_deadlock *deadlocks; /**< n_threads elements, output */
    size_t n_deadlocks;
    size_t n_members;
};

/** Find all deadlocks. Sets `deadlocks`, `members` and the output of each thread. */
void wg_find_blocked(struct wg_snapshot *s);

/** The blocked holder of the mutex that `t`, which waits for a signal, must reacquire; WG_NONE: there is none. After
 *  wg_find_blocked(). */
uint32_t wg_mutex_holder(const struct wg_snapshot *s, uint32_t t);

/** Holders of a lock: the returned element of `holders` and its successors, `*n` in all. After wg_find_blocked(). */
const struct wg_holder *wg_holders_of(const struct wg_snapshot *s, uint64_t lock, size_t *n);

#endif
