/* SPDX-License-Identifier: MIT */
/** @file A wait for a lock, from its holder to its result. */
#ifndef UPMU_SYNC_WAIT_H
#define UPMU_SYNC_WAIT_H

#include "sync_trace/state/thread.h"

struct trace_sync;

/** A wait in progress. */
struct sync_wait {
    struct sync_thread *t;
    uintptr_t lock; /**< its key */
    uintptr_t site;
    uint32_t type;
    uint32_t flags;         /**< enum upmu_trace_flag, without those of the key */
    uint32_t request_stack; /**< from sync_request(), 0: none */
    int32_t result;         /**< of the call; ECANCELED until it has returned */
    uint32_t stack;         /**< of the wait, 0: none */
    bool recorded;
};

/** Fill in the holder in the event of a wait, and request that its release is recorded. `owner`, `outermost`: as below. */
void sync_wait_find_holder(const struct sync_wait *w, pid_t owner, bool outermost, struct trace_sync *e);
/** The thread is about to block: find the holder and record the wait. `owner` is the holder's thread id, 0: none, -1: search
 *  the locks that all threads hold. `outermost`: report where a recursive lock was acquired first. Keeps errno. */
void sync_wait_begin(struct sync_wait *w, uint32_t mode, pid_t owner, bool outermost);
/** It has acquired the lock (result 0 or EOWNERDEAD), or has given up. Semaphores are not held by a thread. Keeps errno. */
void sync_wait_end(struct sync_wait *w);

#endif
