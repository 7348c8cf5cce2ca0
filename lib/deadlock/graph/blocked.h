/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which threads stand for ever, and why: from who holds what and who waits for what at one moment.
 * Room: waitgraph. Before it: whoever has a picture of a process (lib/analysis, live or from a recording); after it: its
 * report. Pure: no thread, clock or file is asked, nothing is allocated, all memory is the caller's.
 *
 * The question is turned round: who can still go on? A thread that runs can. A thread that waits can if what it waits
 * for may come: a lock whose holders can all go on (or whose holder nobody knows), the end of a thread that can go on,
 * a post, signal or arrival while anybody can go on. Who waits for a signal needs the mutex, too. What is left when nothing more can be added stands for ever. So no
 * number of locks, readers or mixed kinds needs a rule of its own, and what is not known never makes a deadlock.
 */
#ifndef UPMU_WAITGRAPH_STAND_H
#define UPMU_WAITGRAPH_STAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WG_NONE UINT32_MAX

/** What a thread is doing. */
enum wg_wait {
    WG_RUNS,    /**< it goes on, as far as is known */
    WG_ENDED,   /**< it does nothing any more; what it held it holds for ever */
    WG_TAKES,   /**< waits for a lock, for itself alone */
    WG_READS,   /**< waits for a lock as one of several readers */
    WG_JOINS,   /**< waits for the end of thread `target` */
    WG_POST,    /**< waits for a post of a semaphore */
    WG_SIGNAL,  /**< waits for the signal of a condition variable */
    WG_ARRIVAL, /**< waits at a barrier */
    WG_WAKE,    /**< waits on a futex of the program's own */
};

/** How certain it is. */
enum wg_certainty {
    WG_CERTAIN,   /**< nothing can end it */
    WG_STALLED,   /**< no thread can end it, but something else could */
    WG_BREAKABLE, /**< a wait in it ends by itself at some time */
    WG_CERTAINTIES,
};

/** What is wrong. */
enum wg_trouble {
    WG_CYCLE,         /**< threads that wait for each other's locks (and ends) */
    WG_SELF,          /**< a thread waits for a lock that it holds */
    WG_OWNER_ENDED,   /**< the lock's holder has ended */
    WG_JOIN_CYCLE,    /**< threads that wait for each other's ends only */
    WG_JOIN_SELF,     /**< a thread waits for its own end */
    WG_NO_POST,       /**< nobody is left to post the semaphore */
    WG_NO_SIGNAL,     /**< nobody is left to signal the condition variable */
    WG_BARRIER_SHORT, /**< nobody is left to arrive at the barrier */
    WG_NO_WAKE,       /**< nobody is left to wake the futex */
    WG_TROUBLES,
};

struct wg_thread {
    enum wg_wait wait;
    bool timed;                   /**< the wait ends by itself at some time */
    bool outside;                 /**< the object is shared with other processes: they could end the wait */
    bool writers_first;           /**< WG_READS: a writer that waits keeps readers from entering */
    uint64_t object;              /**< what it waits for */
    uint64_t mutex;               /**< WG_SIGNAL: what it takes again before its wait ends; 0: not known */
    uint32_t target;              /**< WG_JOINS: index of the thread; WG_NONE: not known */
    uint32_t first_hold, n_holds; /**< in wg_picture.holds */

    /* The answer. */
    uint32_t trouble; /**< index of the trouble it is in or behind; WG_NONE: it can go on */
    bool behind;      /**< it waits for a thread in trouble without being part of it */
    bool moves;       /**< working space */
    uint32_t mark;    /**< working space */
};

/** A lock that a thread holds; a recursive one once for each time. */
struct wg_hold {
    uint64_t lock;
    bool shared; /**< as one of several readers */
};

/** Working space: a hold, sorted by lock. */
struct wg_holder {
    uint64_t lock;
    uint32_t thread;
    bool shared;
};

struct wg_trouble_found {
    enum wg_trouble kind;
    enum wg_certainty certainty;
    uint64_t object;   /**< the lock, semaphore, ... for kinds that have one */
    uint32_t other;    /**< WG_OWNER_ENDED: the thread that ended; else WG_NONE */
    bool silent;       /**< it holds because nobody at all is left who could post, signal or wake */
    uint32_t first, n; /**< in wg_picture.members: in a cycle each waits for the next, the last for the first */
};

struct wg_picture {
    struct wg_thread *threads;
    size_t n_threads;
    const struct wg_hold *holds;
    size_t n_holds;
    /** Something beside the threads could post, signal or wake: a signal handler, a timer. */
    bool woken_from_outside;

    struct wg_holder *holders;      /**< room for n_holds */
    uint32_t *members;              /**< room for n_threads */
    struct wg_trouble_found *found; /**< room for n_threads */
    size_t n_found;                 /**< the answer */
    size_t n_members;
};

/** Find everybody who stands. Fills `found`, `members` and each thread's answer. */
void wg_stand(struct wg_picture *p);

/** The thread that has the mutex which `t`, waiting for a signal, takes again before it goes on, and stands itself; WG_NONE:
 *  there is none. After wg_stand(). */
uint32_t wg_retaken_from(const struct wg_picture *p, uint32_t t);

/** Holders of a lock: they stand in `holders` from the returned place on, `*n` of them. After wg_stand(). */
const struct wg_holder *wg_holders_of(const struct wg_picture *p, uint64_t lock, size_t *n);

#endif
