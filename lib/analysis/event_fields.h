/* SPDX-License-Identifier: MIT */
/** @file Fields of single event kinds, for tables with one column for several kinds. */
#ifndef UPMU_ANALYSIS_EVENT_FIELDS_H
#define UPMU_ANALYSIS_EVENT_FIELDS_H

#include <errno.h>
#include <stdbool.h>

#include "upmu/trace.h"

/** The other thread of an event about two; 0: unknown or none. */
static inline pid_t event_peer(const struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_LOCK_BLOCK:
        return e->lock_block.holder;
    case UPMU_TRACE_LOCK_COUNTS:
        return e->lock_counts.thread;
    case UPMU_TRACE_SCHED_WAKE:
        return e->sched_wake.woken;
    case UPMU_TRACE_REGIONS_DISCARDED:
    case UPMU_TRACE_THREAD_CREATE:
    case UPMU_TRACE_THREAD_START:
    case UPMU_TRACE_THREAD_JOIN:
    case UPMU_TRACE_THREAD_JOINED:
    case UPMU_TRACE_THREAD_NAME:
    case UPMU_TRACE_THREAD_DETACH:
    case UPMU_TRACE_THREAD_CANCEL:
        return e->thread.peer;
    default:
        return 0;
    }
}

/** The end of a call that did not wait: the last arrival at a barrier, or a futex whose word had changed. */
static inline bool event_did_not_wait(const struct upmu_trace_event *e)
{
    enum {
        BARRIER_SERIAL = -1
    }; /* PTHREAD_BARRIER_SERIAL_THREAD of the recorded machine: the same in glibc and musl */
    return (e->kind == UPMU_TRACE_BARRIER_LEAVE && e->result == BARRIER_SERIAL) ||
           (e->kind == UPMU_TRACE_FUTEX_WOKEN && e->result == EAGAIN);
}

/** The number of an event of one row; 0 for kinds without. */
static inline uint64_t event_count(const struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_SEM_VALUE:
        return e->sem_value.value;
    case UPMU_TRACE_THREAD_EXIT:
        return e->thread_exit.switches;
    case UPMU_TRACE_FUTEX_WAKE:
        return e->futex_wake.n_woken;
    default:
        return 0;
    }
}

#endif
