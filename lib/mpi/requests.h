/* SPDX-License-Identifier: MIT */
/** @file Requests of the process, by their handles, which MPI reuses; each has a number of its own. */
#ifndef UPMU_MPI_REQUESTS_H
#define UPMU_MPI_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

/** A request between the call that makes it and the one that completes it. */
struct mpi_request {
    uint64_t key;    /**< handle, and which language's it is */
    uint64_t number; /**< unique in the process; of a persistent one: since it was started, 0: it is not */
    uint64_t comm;   /**< number of its communicator */
    uint64_t bytes;
    int32_t peer, tag;
    uint16_t call; /**< that made it */
    bool persistent;
    bool to_cancel;
};

/** Keys of handles: those of Fortran are other numbers, unless MPI has the same. */
uint64_t mpi_request_key(long handle, bool fortran);
/** A new number. */
uint64_t mpi_request_number(void);
/** Add a request. @return false: the table is full, it is not followed. */
bool mpi_request_add(const struct mpi_request *r);
/** Look up a request: a copy. @return false: it is not followed. */
bool mpi_request_find(uint64_t key, struct mpi_request *out);
/** A persistent one is started, and gets a new number: a copy. @return false: it is not followed. */
bool mpi_request_start(uint64_t key, struct mpi_request *out);
void mpi_request_cancel(uint64_t key);
/** It is complete; a persistent one stays. @return false: it was not followed; else a copy. */
bool mpi_request_complete(uint64_t key, struct mpi_request *out);
/** It is freed: a persistent one is gone, any other one completes unseen. */
void mpi_request_remove(uint64_t key);

#endif
