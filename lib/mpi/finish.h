/* SPDX-License-Identifier: MIT */
/** @file Requests that a call starts or completes. */
#ifndef UPMU_MPI_FINISH_H
#define UPMU_MPI_FINISH_H

#include "mpi/arguments.h"
#include "upmu/upmu.h"

/** Key of request `i` of a call. */
uint64_t mpi_finish_key(const struct mpi_call *c, uint32_t i);
/** Before a call that may complete requests: keep their keys, and replace ignored statuses in `a`. */
void mpi_finish_prepare(struct mpi_call *c, long *a);
/** Which requests the call waits for, by these keys. */
void mpi_finish_describe(struct mpi_call *c);
/** Whether the call, which has returned, completed something, or found a message. */
bool mpi_finish_found(const struct mpi_call *c);
/** Collect in c->done the requests that were completed; more than it has space for are written. */
void mpi_finish_collect(struct mpi_call *c, uint64_t tick);
/** Write those collected, each as a record. */
void mpi_finish_write_done(struct mpi_call *c, uint64_t tick);
/** Write the persistent requests that are being started. */
void mpi_finish_start(struct mpi_call *c);
/** Of a call with c->mapped. */
void mpi_finish_release(struct mpi_call *c);

/** Add a message that can be received by its handle, of communicator (with its `remote`), peer and tag of `e`. */
void mpi_finish_add_message(const struct mpi_event *e, uint64_t key, uint64_t number, uint16_t remote);

/** The status of a call that has one: of its request number `i`. @return false: the program ignores it, in Fortran. */
bool mpi_finish_status(const struct mpi_call *c, uint32_t i, const void **status);

/** The completion of a request by a call that returned `rc`; `status` NULL: the program ignores it, in Fortran. */
static inline struct mpi_event mpi_finish_event(const struct mpi_request *r, int rc, const void *status)
{
    struct mpi_event e = {
        .call = r->call, .comm = r->comm, .request = r->number, .peer = r->peer, .tag = r->tag, .bytes = r->bytes};
    if (rc != 0)
        e.result = status ? mpi_status_read(status).error : rc;
    if (r->receives)
        e.bytes = UPMU_NO_VALUE;
    if (r->receives && status && e.result == 0) {
        struct mpi_status got = mpi_status_read(status);
        e.peer = mpi_peer_in(got.source, r->remote);
        e.tag = mpi_tag_of(got.tag);
        e.bytes = got.bytes;
    }
    if (r->to_cancel && status && mpi_status_is_canceled(status))
        e.result = -1;
    return e;
}

#endif
