/* SPDX-License-Identifier: MIT */
/** @file Writers of MPI events; consecutive polls become one event. */
#ifndef UPMU_MPI_EVENTS_H
#define UPMU_MPI_EVENTS_H

#include <stdint.h>

#include "mpi/state.h"

struct trace_stream;
struct mpi_comm;

/** Each writes the event UPMU_TRACE_MPI_... of its name. Events that do not fit are counted as lost by `s`. */
void mpi_write_enter(struct trace_stream *s, uint64_t tick, const struct mpi_event *e);
void mpi_write_leave(struct trace_stream *s, uint64_t tick, const struct mpi_event *e);
/** Of a call that began at `since` and has returned at `tick` with success: MPI_ENTER and MPI_LEAVE, as one record if none came in
 *  between. */
void mpi_write_call(struct trace_stream *s, uint64_t since, uint64_t tick, const struct mpi_event *e);
/** The call of `e` has returned with success, and completed `n` requests: an MPI_REQUEST of each and MPI_LEAVE as one record. */
void mpi_write_done(struct trace_stream *s, uint64_t tick, const struct mpi_event *e, const struct mpi_event *done,
                    uint32_t n);
/** MPI_Sendrecv(), of which `e` is the send, has returned with success: the received half as MPI_REQUEST, and MPI_LEAVE. */
void mpi_write_exchange(struct trace_stream *s, uint64_t tick, const struct mpi_event *e,
                        const struct mpi_event *received);
void mpi_write_start(struct trace_stream *s, uint64_t tick, const struct mpi_event *e);
void mpi_write_request(struct trace_stream *s, uint64_t tick, const struct mpi_event *e);
void mpi_write_comm(struct trace_stream *s, uint64_t tick, const struct mpi_comm *c, uint64_t parent);
void mpi_write_env(struct trace_stream *s, uint64_t tick, int32_t level, int32_t wrapped, const char *text);
void mpi_write_count(struct trace_stream *s, uint64_t tick, uint32_t call, uint64_t calls);

/** Write the calling thread's counted polls as UPMU_TRACE_MPI_POLL, to be called before another event. */
void mpi_polls_write(struct trace_stream *s);

/** Consecutive polls are written after this many ticks (about 0.1 s) at the latest, so that the recording of a process killed
 *  while it polls has them. */
#define MPI_POLL_TICKS (UINT64_C(1) << 28)

/** Count a poll of the calling thread from `since` to `tick` that completed nothing. */
static inline void mpi_poll_add(struct trace_stream *s, uint64_t since, uint64_t tick, uint32_t call)
{
    struct mpi_tls *t = &mpi_tls;
    if (t->polls++ == 0) {
        t->poll_call = call;
        t->poll_since = since;
    }
    t->poll_last = tick;
    t->poll_ticks += tick - since;
    if (UNLIKELY(tick - t->poll_since >= MPI_POLL_TICKS))
        mpi_polls_write(s);
}

#endif
