/* SPDX-License-Identifier: MIT */
/** @file A wait for a condition variable, whichever function it was called by. Room: sync_trace; before it cond.c,
 *  cond_old.c and c11_cond.c, after it record.c. */
#ifndef UPMU_SYNC_COND_H
#define UPMU_SYNC_COND_H

#include "sync_trace/sync.h"

struct sync_cond_wait {
    const void *cond;
    const void *mutex;
    uintptr_t site;
    uint32_t flags;        /**< enum upmu_trace_flag */
    int result;            /**< of the call; ECANCELED until it has returned */
    struct sync_thread *t; /**< NULL: not recorded */
    bool recorded;
    bool held; /**< the mutex was among the locks held */
};

/** The thread is about to wait and to give the mutex back. */
void sync_cond_wait_begin(struct sync_cond_wait *w);
/** The wait has returned, or is left by cancellation (for __attribute__((cleanup))): it has the mutex again. */
void sync_cond_wait_end(struct sync_cond_wait *w);

/** It is about to be signalled; `kind` is COND_SIGNAL or COND_BROADCAST. The event comes first: a woken thread's events are
 *  later. Where nobody waits the call site stands for the stack. */
void sync_cond_tell(int32_t kind, const void *cond, uintptr_t site);

#endif
