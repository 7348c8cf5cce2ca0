/* SPDX-License-Identifier: MIT */
/** @file Gate and thread-local state of MPI recording. */
#ifndef UPMU_MPI_STATE_H
#define UPMU_MPI_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format/mpi_calls.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum mpi_gate {
    MPI_GATE_OFF,   /**< calls are passed on: before the library is set up, with an unknown MPI, after MPI_Finalize() */
    MPI_GATE_ARMED, /**< MPI_Init() will be recorded */
    MPI_GATE_ON,    /**< the library is known: calls are recorded */
    MPI_GATE_FREQUENT, /**< the same, frequent ones by mpi/wrap/frequent.h: one thread at a time, all events, no locks, tick_is_short() */
};

/** A call or a request, as in struct upmu_trace_mpi. */
struct mpi_event {
    uint32_t call;
    int32_t result, peer, tag;
    uint64_t comm, bytes, request, sequence;
    uint32_t stack;
    uint64_t site;
};

/** What a thread is in. */
enum mpi_inside {
    MPI_INSIDE_NOT,
    MPI_INSIDE_CALL,     /**< a call begun by mpi_call_begin() */
    MPI_INSIDE_FREQUENT, /**< a recorded one of mpi/wrap/frequent.h */
};

struct sync_leave_out;

/** Where a thread is, in one word so that one store begins a call. */
struct mpi_where {
    uint8_t inside; /**< enum mpi_inside: calls within the call are not recorded */
    bool withheld;  /**< the thread's locks are not recorded during that call */
    uint16_t call;  /**< its number, if it is a frequent one */
};

/** State of a thread. */
struct mpi_tls {
    struct mpi_where where;
    uint32_t poll_call;           /**< number of the first call among the polls in a row */
    void *frame;                  /**< in the frame of the wrapper: struct mpi_call or mpi_frequent_frame */
    struct sync_leave_out *locks; /**< libupmu_sync's part of the thread; NULL: not asked for yet */
    uint64_t polls;               /**< polls in a row that found nothing, not written yet */
    uint64_t poll_since, poll_last, poll_ticks; /**< begin of the first, end of the last, time within all */
    uint64_t ticks; /**< in calls between MPI_Init() and MPI_Finalize(), without those polls */
};
extern _Thread_local struct mpi_tls mpi_tls __attribute__((tls_model("initial-exec"), visibility("hidden")));

/** Calls of a function so far. */
struct mpi_total {
    uint64_t calls, ticks, bytes;
};

/** State of the process. A forked child inherits it: MPI is not defined there. */
struct mpi_process {
    uint32_t gate;  /**< enum mpi_gate */
    uint32_t locks; /**< the locks within MPI are recorded, too (UPMU_MPI_LOCKS) */
    uint32_t quiet; /**< this rank's calls are counted, but are no events (UPMU_MPI_RANKS) */
    int32_t rank, size;
    uint64_t job;
    uint64_t begin;                   /**< tick at which MPI_Init() had returned */
    bool world;                       /**< MPI_Init() has returned */
    uint32_t several;                 /**< threads may call MPI at the same time */
    uint64_t requests;                /**< numbers of requests given so far */
    uint64_t calls[MPI_CALL_NUMBERS]; /**< of class MPI_CLASS_COUNTED */
    struct mpi_total total[MPI_CALL_NUMBERS];
};
extern struct mpi_process mpi_process __attribute__((visibility("hidden")));

/** Add to a number of the process, which several threads at a time change only under MPI_THREAD_MULTIPLE. @return the new one. */
static inline uint64_t mpi_count(uint64_t *n, uint64_t more)
{
    if (UNLIKELY(mpi_process.several))
        return __atomic_add_fetch(n, more, __ATOMIC_RELAXED);
    uint64_t sum = __atomic_load_n(n, __ATOMIC_RELAXED) + more;
    __atomic_store_n(n, sum, __ATOMIC_RELAXED);
    return sum;
}

/** Count a call that was recorded; `bytes` may be unknown, UINT64_MAX. For one thread at a time. */
static inline void mpi_total_add_alone(uint32_t call, uint64_t ticks, uint64_t bytes)
{
    struct mpi_total *t = &mpi_process.total[call];
    t->calls++;
    t->ticks += ticks;
    t->bytes += bytes == UINT64_MAX ? 0 : bytes;
}

/** The same for several. */
static inline void mpi_total_add(uint32_t call, uint64_t ticks, uint64_t bytes)
{
    struct mpi_total *t = &mpi_process.total[call];
    if (LIKELY(!mpi_process.several)) {
        mpi_total_add_alone(call, ticks, bytes);
        return;
    }
    (void)__atomic_fetch_add(&t->calls, 1, __ATOMIC_RELAXED);
    (void)__atomic_fetch_add(&t->ticks, ticks, __ATOMIC_RELAXED);
    (void)__atomic_fetch_add(&t->bytes, bytes == UINT64_MAX ? 0 : bytes, __ATOMIC_RELAXED);
}

#endif
