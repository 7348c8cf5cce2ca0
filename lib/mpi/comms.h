/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Communicators of the process, by their handles.
 *
 * A communicator's number is the same in all its ranks without a message: it is a hash of the number of its parent, of its place among the
 * parent's children, and of its first member. Ranks create the children of a communicator in the same order. One that its members make
 * themselves, from a group or from two, has no parent: its number is a hash of their ranks in the job, of the tag, and of how many there
 * were before with the same.
 *
 * Ranks of an intercommunicator are numbered here as in the union of both groups, in which that with the lower first member comes first: so
 * each has one number, whichever group it is seen from.
 */
#ifndef UPMU_MPI_COMMS_H
#define UPMU_MPI_COMMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tiny_lock.h"

enum { MPI_COMM_ID_WORLD = 1, MPI_COMM_ID_SELF = 2 };

struct mpi_comm {
    uint64_t key; /**< handle + 1; 0: free, never used; 1: freed */
    uint64_t id;
    int32_t rank, size;             /**< of an intercommunicator: in the union of both groups */
    bool inter;                     /**< is one: its collective calls are not numbered */
    uint16_t remote;                /**< then added to a rank of the other group */
    uint64_t children, collectives; /**< so far */
};

/** Add MPI_COMM_WORLD and MPI_COMM_SELF. */
void mpi_comms_start(void);
/** Find a communicator; NULL: it is not followed. */
struct mpi_comm *mpi_comm_find(long handle);

/** The last one found by mpi_comm_find_again(); NULL: none. */
extern struct mpi_comm *mpi_comm_last __attribute__((visibility("hidden")));

/** mpi_comm_find(), without a call for the same one again. For one thread at a time. Entries never move. */
static inline struct mpi_comm *mpi_comm_find_again(long handle)
{
    if (__builtin_expect(!mpi_comm_last || mpi_comm_last->key != (uint64_t)handle + 1, 0))
        mpi_comm_last = mpi_comm_find(handle);
    return mpi_comm_last;
}
/** A new child of `parent` (NULL: not followed), which may be MPI_COMM_NULL in this rank. MPI is asked about `alike`, that or one with the
 *  same members. @return NULL: it is not followed. */
struct mpi_comm *mpi_comm_add(struct mpi_comm *parent, long handle, long alike);
/** A new one that its members have made themselves, with `tag`. @return NULL: it is not followed. */
struct mpi_comm *mpi_comm_add_own(long handle, uint64_t tag);
void mpi_comm_remove(long handle);

#endif
