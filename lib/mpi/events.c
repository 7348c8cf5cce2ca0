/* SPDX-License-Identifier: MIT */
/* Events about MPI. */
#include "mpi/events.h"

#include <errno.h>

#include "mpi/comms.h"
#include "mpi/put.h"
#include "mpi/state.h"
#include "trace/format/schema.h"
#include "trace/write/stream_fast.h"
#include "trace/write/writer.h"

/* Bytes of the fields of mpi_exchange. */
enum { EXCHANGE_BYTES = 2 + 8 + 4 + 4 + 8 + 4 + 4 + 8 };

/* Write an event other than MPI_ENV, which ranks write even if they record nothing else. Keeps errno. */
static void events_write(struct trace_stream *s, uint64_t tick, uint32_t id, const uint64_t *numbers)
{
    int saved = errno;
    if (!mpi_process.quiet)
        (void)upmu_trace_numbers_(s, tick, id, numbers, NULL);
    errno = saved;
}

/* By the table: at the end of a packet, and in a signal handler. */
static __attribute__((noinline, cold)) void enter_by_call(struct trace_stream *s, uint64_t tick,
                                                          const struct mpi_event *e)
{
    const uint64_t numbers[] = {e->call,    e->comm,     (uint64_t)e->peer, (uint64_t)e->tag,
                                e->request, e->sequence, e->stack,          e->site};
    events_write(s, tick, SCHEMA_ID_MPI_ENTER, numbers);
}

void mpi_write_enter(struct trace_stream *s, uint64_t tick, const struct mpi_event *e)
{
    if (UNLIKELY(mpi_process.quiet || !mpi_put_enter(s, tick, e)))
        enter_by_call(s, tick, e);
}

static __attribute__((noinline, cold)) void end_by_call(struct trace_stream *s, uint64_t tick, uint32_t id,
                                                        const struct mpi_event *e)
{
    const uint64_t numbers[] = {e->call,  (uint64_t)e->result, e->comm, (uint64_t)e->peer, (uint64_t)e->tag,
                                e->bytes, e->request};
    events_write(s, tick, id, numbers);
}

static void write_end(struct trace_stream *s, uint64_t tick, uint32_t id, const struct mpi_event *e)
{
    if (UNLIKELY(mpi_process.quiet || !mpi_put_end(s, tick, id, e)))
        end_by_call(s, tick, id, e);
}

void mpi_write_leave(struct trace_stream *s, uint64_t tick, const struct mpi_event *e)
{
    write_end(s, tick, SCHEMA_ID_MPI_LEAVE, e);
}

void mpi_write_start(struct trace_stream *s, uint64_t tick, const struct mpi_event *e)
{
    write_end(s, tick, SCHEMA_ID_MPI_START, e);
}

void mpi_write_request(struct trace_stream *s, uint64_t tick, const struct mpi_event *e)
{
    write_end(s, tick, SCHEMA_ID_MPI_REQUEST, e);
}

/* Also after events of a signal handler, or in one: its begin may be late then, and is counted as such. */
static __attribute__((noinline, cold)) void call_by_parts(struct trace_stream *s, uint64_t since, uint64_t tick,
                                                          const struct mpi_event *e)
{
    mpi_write_enter(s, since, e);
    mpi_write_leave(s, tick, e);
}

void mpi_write_call(struct trace_stream *s, uint64_t since, uint64_t tick, const struct mpi_event *e)
{
    if (UNLIKELY(mpi_process.quiet || !mpi_put_call(s, since, tick, e)))
        call_by_parts(s, since, tick, e);
}

static __attribute__((noinline, cold)) void done_by_parts(struct trace_stream *s, uint64_t tick,
                                                          const struct mpi_event *e, const struct mpi_event *done,
                                                          uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        mpi_write_request(s, tick, &done[i]);
    mpi_write_leave(s, tick, e);
}

void mpi_write_done(struct trace_stream *s, uint64_t tick, const struct mpi_event *e, const struct mpi_event *done,
                    uint32_t n)
{
    if (UNLIKELY(mpi_process.quiet || !mpi_put_done(s, tick, e, done, n)))
        done_by_parts(s, tick, e, done, n);
}

void mpi_write_exchange(struct trace_stream *s, uint64_t tick, const struct mpi_event *e,
                        const struct mpi_event *received)
{
    uint8_t *p = mpi_process.quiet ? NULL : stream_fast_long(s, tick, SCHEMA_ID_MPI_EXCHANGE, EXCHANGE_BYTES);
    if (UNLIKELY(!p)) {
        done_by_parts(s, tick, e, received, 1);
        return;
    }
    p = stream_put_u64(stream_put_u16(p, (uint16_t)e->call), e->comm);
    p = stream_put_u64(stream_put_u32_pair(p, (uint32_t)e->peer, (uint32_t)e->tag), e->bytes);
    p = stream_put_u32_pair(p, (uint32_t)received->peer, (uint32_t)received->tag);
    stream_fast_end(s, tick, stream_put_u64(p, received->bytes), EXCHANGE_BYTES);
}

void mpi_write_comm(struct trace_stream *s, uint64_t tick, const struct mpi_comm *c, uint64_t parent)
{
    const uint64_t numbers[] = {c->id, parent, (uint64_t)c->rank, (uint64_t)c->size};
    events_write(s, tick, SCHEMA_ID_MPI_COMM, numbers);
}

void mpi_write_env(struct trace_stream *s, uint64_t tick, int32_t level, int32_t wrapped, const char *text)
{
    const uint64_t numbers[] = {mpi_process.job, (uint64_t)mpi_process.rank, (uint64_t)mpi_process.size,
                                (uint64_t)level, (uint64_t)wrapped,          0};
    (void)upmu_trace_numbers_(s, tick, SCHEMA_ID_MPI_ENV, numbers, text);
}

void mpi_write_count(struct trace_stream *s, uint64_t tick, uint32_t call, uint64_t calls)
{
    const uint64_t numbers[] = {call, calls};
    events_write(s, tick, SCHEMA_ID_MPI_COUNT, numbers);
}

void mpi_polls_write(struct trace_stream *s)
{
    struct mpi_tls *t = &mpi_tls;
    if (t->polls == 0)
        return;
    const uint64_t numbers[] = {t->poll_call, t->polls, t->poll_since, t->poll_ticks};
    t->ticks += t->poll_ticks;
    t->polls = t->poll_ticks = 0;
    events_write(s, t->poll_last, SCHEMA_ID_MPI_POLL, numbers);
}
