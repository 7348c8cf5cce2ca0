/* SPDX-License-Identifier: MIT */
/*
 * Requests of the process, by their handles.
 *
 * A table of fixed size, in parts with a lock each, so that threads seldom meet. No memory is allocated, and no lock is held while
 * anything else is called. Below MPI_THREAD_MULTIPLE the program sees to it that one thread at a time calls MPI: there are no locks.
 */
#include "mpi/requests.h"

#include <stddef.h>

#include "mpi/state.h"

struct mpi_request_part mpi_request_parts[MPI_REQUEST_PARTS];
struct mpi_request mpi_requests[MPI_REQUEST_PARTS * MPI_PART_REQUESTS];

uint64_t mpi_request_number(void)
{
    return mpi_count(&mpi_process.requests, 1);
}

static struct mpi_request_part *part_take(uint64_t key)
{
    struct mpi_request_part *p = mpi_request_part(mpi_request_first(key));
    if (UNLIKELY(mpi_process.several))
        tiny_lock_take(&p->lock);
    return p;
}

static void part_give(struct mpi_request_part *p)
{
    if (UNLIKELY(mpi_process.several))
        tiny_lock_give(&p->lock);
}

/* Entry `i` after entry `at` of the same part, at whose end its begin follows. */
static uint32_t part_next(uint32_t at, uint32_t i)
{
    return at / MPI_PART_REQUESTS * MPI_PART_REQUESTS + (at + i) % MPI_PART_REQUESTS;
}

/* The entry of a key, or the free one where it would be; NULL: neither. Under the part's lock. */
static struct mpi_request *part_find(uint64_t key)
{
    uint32_t at = mpi_request_first(key);
    for (uint32_t i = 0; i < MPI_PART_REQUESTS; i++) {
        struct mpi_request *r = &mpi_requests[part_next(at, i)];
        if (r->key == key || r->key == 0)
            return r;
    }
    return NULL;
}

/* Entries that were pushed on by this one move back. */
static void part_remove(struct mpi_request_part *p, struct mpi_request *r)
{
    uint32_t hole = (uint32_t)(r - mpi_requests);
    for (uint32_t i = part_next(hole, 1); mpi_requests[i].key != 0 && i != hole; i = part_next(i, 1)) {
        uint32_t wanted = mpi_request_first(mpi_requests[i].key);
        if ((i - wanted) % MPI_PART_REQUESTS < (i - hole) % MPI_PART_REQUESTS)
            continue;
        mpi_requests[hole] = mpi_requests[i];
        hole = i;
    }
    mpi_requests[hole].key = 0;
    p->used--;
}

static void part_complete(struct mpi_request_part *p, struct mpi_request *r)
{
    if (r->persistent) {
        r->number = 0;
        r->to_cancel = false;
    } else {
        part_remove(p, r);
    }
}

bool mpi_request_add(const struct mpi_request *r)
{
    struct mpi_request_part *p = part_take(r->key);
    struct mpi_request *to = part_find(r->key);
    bool fits = to && (to->key != 0 || p->used < MPI_PART_REQUESTS - 1);
    if (fits) {
        p->used += to->key == 0;
        *to = *r;
    }
    part_give(p);
    return fits;
}

/* What to do with an entry that is found. */
enum request_step { REQUEST_LOOK, REQUEST_START, REQUEST_CANCEL, REQUEST_COMPLETE, REQUEST_REMOVE };

static bool request_step(uint64_t key, enum request_step step, struct mpi_request *out)
{
    struct mpi_request_part *p = part_take(key);
    struct mpi_request *r = part_find(key);
    bool found = r && r->key != 0;
    if (found && step == REQUEST_START)
        r->number = mpi_request_number();
    if (found && step == REQUEST_CANCEL)
        r->to_cancel = true;
    if (found && out)
        *out = *r;
    if (found && step == REQUEST_COMPLETE)
        part_complete(p, r);
    else if (found && step == REQUEST_REMOVE)
        part_remove(p, r);
    part_give(p);
    return found;
}

struct mpi_request *mpi_request_search(uint64_t key)
{
    struct mpi_request *r = part_find(key);
    return r && r->key != 0 ? r : NULL;
}

bool mpi_request_find(uint64_t key, struct mpi_request *out)
{
    return request_step(key, REQUEST_LOOK, out);
}

bool mpi_request_start(uint64_t key, struct mpi_request *out)
{
    return request_step(key, REQUEST_START, out);
}

void mpi_request_cancel(uint64_t key)
{
    (void)request_step(key, REQUEST_CANCEL, NULL);
}

bool mpi_request_complete(uint64_t key, struct mpi_request *out)
{
    return request_step(key, REQUEST_COMPLETE, out);
}

void mpi_request_complete_copy(struct mpi_request *r)
{
    struct mpi_request_part *p = r->number ? part_take(r->key) : NULL;
    struct mpi_request *found = p ? part_find(r->key) : NULL;
    if (found && found->key != 0 && found->number == r->number) {
        *r = *found;
        part_complete(p, found);
    }
    if (p)
        part_give(p);
}

void mpi_request_remove(uint64_t key)
{
    (void)request_step(key, REQUEST_REMOVE, NULL);
}
