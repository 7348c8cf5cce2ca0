/* SPDX-License-Identifier: MIT */
/** @file The fields of single event kinds under their names in the trace format. */
#ifndef UPMU_TESTS_FLAT_EVENT_H
#define UPMU_TESTS_FLAT_EVENT_H

#include "upmu/trace.h"

struct flat_event {
    uint64_t object2, holder_site, holder_since, count, contended;
    pid_t peer;
};

static inline struct flat_event flat_event(const struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_LOCK_BLOCK:
        return (struct flat_event){.peer = e->lock_block.holder,
                                   .holder_site = e->lock_block.holder_site,
                                   .holder_since = e->lock_block.holder_since};
    case UPMU_TRACE_LOCK_RELEASE:
        return (struct flat_event){.holder_site = e->lock_release.held_site,
                                   .holder_since = e->lock_release.held_since};
    case UPMU_TRACE_LOCK_ORDER:
        return (struct flat_event){.object2 = e->lock_order.held,
                                   .holder_site = e->lock_order.held_site,
                                   .count = e->lock_order.n_held | (uint64_t)e->lock_order.permits << 32};
    case UPMU_TRACE_LOCK_COUNTS:
        return (struct flat_event){
            .count = e->lock_counts.acquisitions, .contended = e->lock_counts.contended, .peer = e->lock_counts.thread};
    case UPMU_TRACE_COND_WAIT:
        return (struct flat_event){
            .object2 = e->cond.mutex, .holder_site = e->cond.held_site, .holder_since = e->cond.held_since};
    case UPMU_TRACE_COND_WAKE:
    case UPMU_TRACE_COND_SIGNAL:
    case UPMU_TRACE_COND_BROADCAST:
        return (struct flat_event){.object2 = e->cond.mutex};
    case UPMU_TRACE_SEM_VALUE:
        return (struct flat_event){.count = e->sem_value.value};
    case UPMU_TRACE_REGIONS_DISCARDED:
    case UPMU_TRACE_THREAD_CREATE:
    case UPMU_TRACE_THREAD_START:
    case UPMU_TRACE_THREAD_JOIN:
    case UPMU_TRACE_THREAD_JOINED:
    case UPMU_TRACE_THREAD_NAME:
    case UPMU_TRACE_THREAD_DETACH:
    case UPMU_TRACE_THREAD_CANCEL:
        return (struct flat_event){.peer = e->thread.peer};
    case UPMU_TRACE_THREAD_EXIT:
        return (struct flat_event){.object2 = e->thread_exit.ready_ns,
                                   .count = e->thread_exit.switches,
                                   .contended = e->thread_exit.cpu_ns,
                                   .peer = (int32_t)e->thread_exit.cpus};
    case UPMU_TRACE_FUTEX_WAIT:
        return (struct flat_event){.count = e->futex_wait.n_futexes};
    case UPMU_TRACE_FUTEX_WOKEN:
        return (struct flat_event){.count = e->futex_woken.index};
    case UPMU_TRACE_FUTEX_WAKE:
        return (struct flat_event){.object2 = e->futex_wake.moved_to, .count = e->futex_wake.n_woken};
    case UPMU_TRACE_SCHED_BEGIN:
    case UPMU_TRACE_SCHED_OUT:
    case UPMU_TRACE_SCHED_IN:
        return (struct flat_event){.count = e->sched.cpu};
    case UPMU_TRACE_SCHED_LOST:
    case UPMU_TRACE_SCHED_SEEN:
        return (struct flat_event){.count = e->sched_count.switches};
    case UPMU_TRACE_SCHED_WAKE:
        return (struct flat_event){.peer = e->sched_wake.woken};
    case UPMU_TRACE_KERNEL_LOCK_BLOCK:
        return (struct flat_event){.count = e->kernel_lock.kinds};
    case UPMU_TRACE_FUTEX_COUNTS:
        return (struct flat_event){.count = e->futex_counts.waits, .contended = e->futex_counts.recorded};
    default:
        return (struct flat_event){0};
    }
}

#endif
