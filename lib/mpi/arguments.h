/* SPDX-License-Identifier: MIT */
/** @file A call and its arguments, whose places are in the table of calls. */
#ifndef UPMU_MPI_ARGUMENTS_H
#define UPMU_MPI_ARGUMENTS_H

#include <stddef.h>

#include "mpi/abi.h"
#include "mpi/events.h"
#include "mpi/requests.h"
#include "mpi/state.h"
#include "upmu/trace.h"

/** `rc` of a call that does not return: an exception or longjmp() leaves it. */
#define MPI_CALL_UNWOUND INT32_MIN

enum {
    MPI_CALL_REQUESTS = 64, /**< requests of a call that need no mapping */
    MPI_CALL_DONE = 8,      /**< requests in one record */
};

struct mpi_call {
    const struct mpi_call_row *row;
    const long *a; /**< its arguments */
    struct trace_stream *stream;
    uint64_t tick;  /**< of its begin */
    uintptr_t site; /**< where the program called it */
    uint32_t number;
    int32_t rc; /**< MPI's error code */
    bool fortran;
    bool large; /**< counts are words */
    bool outer; /**< not within another call */
    bool recorded;
    bool entered;       /**< its begin is written, or will be with its end */
    bool brief;         /**< its begin is written with its end */
    uint32_t n_done;    /**< requests that it has completed, to be written with its end */
    uint32_t n;         /**< requests */
    struct mpi_event e; /**< of a poll: once it has found something */
    struct mpi_event done[MPI_CALL_DONE];
    uint64_t *keys; /**< of the requests, before the call */
    struct mpi_request
        *before; /**< copies of these; NULL: no other thread can get their handles before the call has returned */
    unsigned char *statuses; /**< in place of an ignored status; NULL: the program's are used, or there are none */
    void *mapped;
    size_t mapped_bytes;
    uint64_t message; /**< key of the message that is received by its handle */
    uint16_t remote;  /**< of its communicator */
    bool last;        /**< it ends the last session of a process without MPI_Init() */
    uint64_t own_keys[MPI_CALL_REQUESTS];
    struct mpi_request own_before[MPI_CALL_REQUESTS];
    unsigned char own_statuses[MPI_CALL_REQUESTS * MPI_STATUS_MAX];
};

/** An argument that is an int; 0 without such an argument. */
static inline int mpi_call_int(const struct mpi_call *c, unsigned at)
{
    int32_t value = 0;
    if (at && c->fortran)
        memcpy(&value, (const void *)c->a[at - 1], sizeof value);
    else if (at)
        value = (int32_t)c->a[at - 1];
    return value;
}

/** The number of elements, by the row. */
static inline int64_t mpi_call_count(const struct mpi_call *c)
{
    return c->large ? c->a[c->row->count - 1] : mpi_call_int(c, c->row->count);
}

/** An argument that points to an int in both languages. */
static inline int mpi_call_int_at(const struct mpi_call *c, unsigned at)
{
    int32_t value;
    memcpy(&value, (const void *)c->a[at - 1], sizeof value);
    return value;
}

/** Place of the handle of a matched message, from 1 on; 0: the call has none. */
static inline unsigned mpi_call_message(uint32_t call)
{
    switch (call) {
    case MPI_CALL_Mprobe:
    case MPI_CALL_Mrecv:
    case MPI_CALL_Imrecv:
        return 4;
    case MPI_CALL_Improbe:
        return 5;
    default:
        return 0;
    }
}

/** A communicator that the argument is (`pointer`: points to). */
long mpi_call_comm(const struct mpi_call *c, unsigned at, bool pointer);

/** A rank or tag of a message by the constants of upmu/trace.h. */
static inline int32_t mpi_peer_of(int rank)
{
    if (rank == mpi_abi.any_source)
        return UPMU_MPI_ANY;
    if (rank == mpi_abi.proc_null)
        return UPMU_MPI_PROC_NULL;
    return rank >= 0 ? (int32_t)rank : (int32_t)UPMU_MPI_UNKNOWN;
}

/** The same of a rank of a communicator, with its `remote`. */
static inline int32_t mpi_peer_in(int rank, int32_t remote)
{
    int32_t peer = mpi_peer_of(rank);
    return peer >= 0 ? peer + remote : peer;
}

static inline int32_t mpi_tag_of(int tag)
{
    if (tag == mpi_abi.any_tag)
        return UPMU_MPI_ANY;
    return tag >= 0 ? (int32_t)tag : (int32_t)UPMU_MPI_UNKNOWN;
}

#endif
