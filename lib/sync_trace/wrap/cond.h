/* SPDX-License-Identifier: MIT */
/** @file Waits and signals of condition variables, for the wrappers of all their functions. */
#ifndef UPMU_SYNC_COND_H
#define UPMU_SYNC_COND_H

#include "sync_trace/early.h"

struct sync_cond_wait {
    const void *cond;
    const void *mutex; /**< NULL: another lock, which the caller records */
    uintptr_t site;
    uint32_t flags;          /**< enum upmu_trace_flag */
    int result;              /**< of the call; ECANCELED until it has returned */
    struct sync_thread *t;   /**< NULL: not recorded */
    struct sync_early early; /**< it begins while nothing is recorded */
    bool is_early;
    bool recorded;
    bool held; /**< the mutex was among the locks held */
};

/** The thread is about to wait and to release the mutex. */
void sync_cond_wait_begin(struct sync_cond_wait *w);
/** The wait has returned, or was left by cancellation (for __attribute__((cleanup))): the thread has the mutex again. */
void sync_cond_wait_end(struct sync_cond_wait *w);

/** The condition variable is about to be signaled; `kind` is COND_SIGNAL or COND_BROADCAST. The event is written
 *  first: events of a woken thread are later. If no thread waits, the call site is recorded in place of a stack. */
void sync_cond_signal_write(int32_t kind, const void *cond, uintptr_t site);

#endif
