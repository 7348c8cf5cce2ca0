/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Requests of the process, by their handles, which MPI reuses; each has a number of its own.
 *
 * A message that MPI_Mprobe() has matched is one, too, until it is received.
 */
#ifndef UPMU_MPI_REQUESTS_H
#define UPMU_MPI_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tiny_lock.h"
#include "mpi/abi.h"

/** A request between the call that makes it and the one that completes it. */
struct mpi_request {
    uint64_t key;    /**< handle, and which language's it is */
    uint64_t number; /**< unique in the process; of a persistent one: since it was started, 0: it is not */
    uint64_t comm;   /**< number of its communicator */
    uint64_t bytes;
    int32_t peer, tag;
    uint16_t call; /**< that made it */
    bool receives;
    bool persistent;
    bool to_cancel;
    uint16_t remote; /**< of its communicator */
};

/** The table is in parts. */
enum { MPI_REQUEST_PARTS = 64, MPI_PART_REQUESTS = 1024 };
struct mpi_request_part {
    struct tiny_lock lock;
    uint32_t used;
} __attribute__((aligned(64)));
extern struct mpi_request_part mpi_request_parts[MPI_REQUEST_PARTS] __attribute__((visibility("hidden")));
extern struct mpi_request mpi_requests[MPI_REQUEST_PARTS * MPI_PART_REQUESTS] /**< key 0: free */
    __attribute__((visibility("hidden")));

/** Index of the entry at which the search for a key begins, and which seldom is another one's. */
static inline uint32_t mpi_request_first(uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}

/** The part of an entry. */
static inline struct mpi_request_part *mpi_request_part(uint32_t at)
{
    return &mpi_request_parts[at / MPI_PART_REQUESTS];
}

#define MPI_KEY_FORTRAN (UINT64_C(1) << 63)
#define MPI_KEY_MESSAGE (UINT64_C(1) << 62)

/** Keys of handles: those of Fortran are other numbers, unless MPI has the same. */
static inline uint64_t mpi_request_key(long handle, bool fortran)
{
    return ((uint64_t)handle & ~MPI_KEY_FORTRAN) | (fortran && mpi_abi.handle_bytes != 4 ? MPI_KEY_FORTRAN : 0);
}

/** Key of the handle of a message that a probe has matched, which MPICH may use for a request next. */
static inline uint64_t mpi_message_key(long handle, bool fortran)
{
    return mpi_request_key(handle, fortran) ^ MPI_KEY_MESSAGE;
}
/** A new number. */
uint64_t mpi_request_number(void);
/** Add a request. @return false: the table is full, it is not followed. */
bool mpi_request_add(const struct mpi_request *r);
/** Look up a request: a copy. @return false: it is not followed. */
bool mpi_request_find(uint64_t key, struct mpi_request *out);
/** A persistent one is started, and gets a new number: a copy. @return false: it is not followed. */
bool mpi_request_start(uint64_t key, struct mpi_request *out);
void mpi_request_cancel(uint64_t key);
/** It is complete; a persistent one stays. `out`: a copy, or NULL. @return false: it was not followed. */
bool mpi_request_complete(uint64_t key, struct mpi_request *out);
/** The same of the one that `r` is a copy of, which is updated: another thread may have made one with the same handle since. */
void mpi_request_complete_copy(struct mpi_request *r);
/** It is freed: a persistent one is gone, any other one completes unseen. */
void mpi_request_remove(uint64_t key);

/** The following are for one thread at a time, and without a copy. */

/** The entry of a key, valid until another one is removed; NULL: it is not followed. */
struct mpi_request *mpi_request_search(uint64_t key);
static inline struct mpi_request *mpi_request_at(uint64_t key)
{
    struct mpi_request *r = &mpi_requests[mpi_request_first(key)];
    return __builtin_expect(r->key == key, 1) ? r : mpi_request_search(key);
}

/** An entry for a key, to be filled in; NULL: mpi_request_add() has to look for one. */
static inline struct mpi_request *mpi_request_make(uint64_t key)
{
    uint32_t at = mpi_request_first(key);
    struct mpi_request_part *p = mpi_request_part(at);
    struct mpi_request *r = &mpi_requests[at];
    if (r->key != key && (r->key != 0 || p->used >= MPI_PART_REQUESTS - 1))
        return NULL;
    p->used += r->key == 0;
    return r;
}

/** mpi_request_complete() of an entry. */
static inline void mpi_request_end(struct mpi_request *r)
{
    uint32_t at = mpi_request_first(r->key);
    bool alone = r == &mpi_requests[at] && (at + 1) % MPI_PART_REQUESTS != 0 && r[1].key == 0;
    if (r->persistent || !alone) {
        (void)mpi_request_complete(r->key, NULL);
    } else {
        r->key = 0;
        mpi_request_part(at)->used--;
    }
}

#endif
