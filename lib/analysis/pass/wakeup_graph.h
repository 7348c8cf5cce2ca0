/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What set threads going: a graph of the moments at which a thread began, stopped, went on or made another one go on.
 * From it come the critical path, what shorter sections would gain, and who waited for whom. Room: analysis. Before it:
 * the pass (threads.c, objects.c, waits.c, holds.c); after it: path.c, path_gain.c and path_facts.c.
 *
 * A moment is kept only if a path can turn there, so there are as many as there are waits, not as there are events: a
 * release is one if somebody waits for the lock. What a thread held between two of its moments is kept as sums.
 */
#ifndef UPMU_ANALYSIS_CHAIN_H
#define UPMU_ANALYSIS_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "upmu/analysis.h"

struct overview;
struct upmu_trace_event;

enum stop_kind {
    STOP_BEGIN,   /**< of the thread; `cause` is the moment its creator made it */
    STOP_AT,      /**< it went through here, and may have set another thread going */
    STOP_WAITS,   /**< it stopped */
    STOP_GOES_ON, /**< after a wait, which `cause` ended */
    STOP_END,     /**< of the thread, or of its recording */
};

/** A moment of a thread. All indices are MAP_NONE where there is nothing. */
struct chain_stop {
    uint64_t time_ns;
    uint32_t thread;
    uint32_t prev;   /**< the same thread's moment before */
    uint32_t cause;  /**< the moment of another thread without which this one would not be */
    uint32_t object; /**< STOP_WAITS, STOP_GOES_ON: what is waited for */
    uint32_t share;  /**< what the thread held since `prev` */
    int kind;        /**< enum stop_kind */
};

/** How long a thread held something between two of its moments. */
struct chain_share {
    uint64_t ns;
    uint32_t object;
    uint32_t next;
};

struct chain_thread {
    uint32_t last;      /**< its latest moment */
    uint32_t share;     /**< what it held since then */
    uint32_t waits_for; /**< what it waits for now; of waits within each other the outermost */
};

struct chain_object {
    uint32_t waiters;     /**< threads that wait for it now */
    uint32_t armed;       /**< of a mutex: threads that were signalled and need it to go on */
    uint32_t cause;       /**< the last moment that could have ended a wait for it */
    uint32_t mutex;       /**< of a condition variable: the mutex of its last wait */
    uint32_t arrived;     /**< of a barrier: threads that wait in the present round */
    uint32_t leaving;     /**< threads of the round before that have not gone on yet */
    uint32_t round_cause; /**< who came last in that */
    bool watched;         /**< threads may wait for it beside others, and nobody counts them */
};

/** Waits of one thread that another one could have kept shorter. */
struct chain_pair {
    uint32_t waiter, other; /**< threads; `other` MAP_NONE: not known */
    struct upmu_wait_sum waits;
};

struct chain {
    bool off;                 /**< nobody will ask: a pass that never ends remembers no moments */
    struct chain_stop *stops; /**< moments in the order of time, but for the begins of threads */
    size_t n_stops, cap_stops;
    struct chain_share *shares;
    size_t n_shares, cap_shares;
    struct chain_thread *threads; /**< by the thread's number */
    size_t n_threads, cap_threads;
    struct chain_object *objects; /**< by the object's number */
    size_t n_objects, cap_objects;
    struct chain_pair *pairs; /**< longest total first after chain_finish() */
    size_t n_pairs, cap_pairs;
    struct map by_created, by_pair;
};

/* What returns int returns 0 or UPMU_E_NOMEM. */

/** A thread is made (in its maker), begins, ends. */
int chain_create(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);
int chain_start(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);
int chain_end(struct overview *o, uint32_t thread, uint64_t time_ns);

/** The thread stops for `object`. */
int chain_wait(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e);
/** Somebody may wait for `object` beside others from now on: what could end that is remembered. */
int chain_watch(struct overview *o, uint32_t object);
/** The wait for `object` that ends now is ended by what ended waits for `other` last. */
void chain_woken_by(struct overview *o, uint32_t object, uint32_t other);
/** What had begun was no wait. */
void chain_forget(struct overview *o, uint32_t thread, uint32_t object);

/** A wait that is over. */
struct chain_wait_end {
    uint32_t object;
    uint32_t holder; /**< thread that had the object when the wait began, MAP_NONE if not known */
    uint64_t time_ns, ns;
    bool finished; /**< false: the thread will never go on */
    bool failed;   /**< it goes on without what it waited for: nobody did that */
};
int chain_go_on(struct overview *o, uint32_t thread, const struct chain_wait_end *w);

/** The thread releases, signals, posts, wakes (`all`: everybody): who waits for `object` may go on. */
int chain_wake(struct overview *o, uint32_t thread, uint32_t object, uint64_t time_ns, bool all);
/** A use of an object has held it from `since_ns` until now; 0: it is not known since when, and nothing is done. */
int chain_held(struct overview *o, uint32_t use, uint64_t since_ns, uint64_t time_ns);

/** All threads have ended. */
int chain_finish(struct overview *o);
void chain_free(struct chain *c);

#endif
