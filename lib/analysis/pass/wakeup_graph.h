/* SPDX-License-Identifier: MIT */
/** @file Recording of the wakeup graph (wakeup_data.h). */
#ifndef UPMU_ANALYSIS_WAKEUP_GRAPH_H
#define UPMU_ANALYSIS_WAKEUP_GRAPH_H

#include "analysis/pass/state.h"

/* What returns int returns 0 or UPMU_E_NOMEM. */

/* wakeup_graph.c */

/** The thread creates another one, begins, ends. */
int wakeup_create(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);
int wakeup_start(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);
int wakeup_end(struct overview *o, uint32_t thread, uint64_t time_ns);
/** Thread `canceler` requests the end of `thread`, which ends a wait that can be canceled. */
int wakeup_canceled_by(struct overview *o, uint32_t thread, uint32_t canceler, uint64_t time_ns);
/** `stats->thread` has held `stats->object` from `since_ns` until now; 0: not known since when, nothing is done. */
int wakeup_add_hold(struct overview *o, uint32_t stats, uint64_t since_ns, uint64_t time_ns);
/** All threads have ended. */
int wakeup_finish(struct overview *o);
void wakeup_free(struct wakeup_graph *g);

/* wakeup_waits.c */

/** The thread begins to wait for `object`, at `*node` of the graph (MAP_NONE: it is not recorded). */
int wakeup_wait(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e, uint32_t *node);
/** An event of a thread that is no end of a wait: if the thread waits, a signal handler runs, or has left the wait by a jump. */
int wakeup_interrupt(struct overview *o, uint32_t thread, uint64_t time_ns);
/** `object` becomes part of a multi-word futex wait. */
int wakeup_watch(struct overview *o, uint32_t object);
/** The wait for `object` that ends now was ended by the last wake of `other`. */
void wakeup_woken_by(struct overview *o, uint32_t object, uint32_t other);
/** The wait for `object` that ends now was ended by an action of `waker`, or by none that is known (MAP_NONE). */
int wakeup_woken_by_thread(struct overview *o, uint32_t object, uint32_t waker, uint64_t time_ns);
/** The thread waits for `object` again, which it has just been woken from, with the mutex held all along. */
void wakeup_note_vain(struct overview *o, uint32_t thread, uint32_t object);
/** The call returned without waiting, or the end of the wait that began at `node` was lost: drop the wait. */
void wakeup_cancel(struct overview *o, uint32_t thread, uint32_t object, uint32_t node);

struct wakeup_wait_end {
    uint32_t object;
    uint32_t node;   /**< of wakeup_wait() */
    uint32_t holder; /**< thread that held the object at the begin of the wait, MAP_NONE if not known */
    uint64_t time_ns;
    uint64_t ns;       /**< how long it lasted, without waits nested in it */
    uint64_t after_ns; /**< when a wait that the window cuts ends in the recording; else 0 */
    bool finished;     /**< false: the thread never resumes */
    bool passed;       /**< it was no wait: the thread arrived last at a barrier */
    bool of_lock;      /**< part of the wait for an announced lock, which has the other thread */
    bool failed;       /**< it resumes without what it waited for: no thread caused that, unless it is canceled */
    bool canceled;     /**< pthread_cancel() ended it */
};
int wakeup_resume(struct overview *o, uint32_t thread, const struct wakeup_wait_end *w);

/** The thread releases, signals, posts or wakes; `all`: it wakes all waiters of `object`. */
int wakeup_wake(struct overview *o, uint32_t thread, uint32_t object, uint64_t time_ns, bool all);

#endif
