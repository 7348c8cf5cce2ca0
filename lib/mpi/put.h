/* SPDX-License-Identifier: MIT */
/** @file Events about MPI put into a stream by the caller itself, with the fields as in the table of classes. */
#ifndef UPMU_MPI_PUT_H
#define UPMU_MPI_PUT_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/state.h"
#include "trace/format/schema.h"
#include "trace/write/stream_fast.h"

#define MPI_INLINE static inline __attribute__((always_inline))

/** Bytes of the fields of mpi_enter, mpi_call, of those events that have a result, and of mpi_done without further requests. */
enum {
    MPI_ENTER_BYTES = 2 + 8 + 4 + 4 + 8 + 8 + 4 + 8,
    MPI_CALL_BYTES = MPI_ENTER_BYTES + 8 + 8,
    MPI_END_BYTES = 2 + 4 + 8 + 4 + 4 + 8 + 8,
    MPI_DONE_BYTES = 2 + MPI_END_BYTES + 2,
};

MPI_INLINE uint8_t *mpi_put_call_fields(uint8_t *p, const struct mpi_event *e)
{
    p = stream_put_u64(stream_put_u16(p, (uint16_t)e->call), e->comm);
    p = stream_put_u32_pair(p, (uint32_t)e->peer, (uint32_t)e->tag);
    p = stream_put_u64(stream_put_u64(p, e->request), e->sequence);
    return stream_put_u64(stream_put_u32(p, e->stack), e->site);
}

/* What follows the call, or calls. */
MPI_INLINE uint8_t *mpi_put_end_fields(uint8_t *p, const struct mpi_event *e)
{
    p = stream_put_u64(stream_put_u32(p, (uint32_t)e->result), e->comm);
    p = stream_put_u32_pair(p, (uint32_t)e->peer, (uint32_t)e->tag);
    return stream_put_u64(stream_put_u64(p, e->bytes), e->request);
}

/** Each is the function mpi_write_...() of its name where nothing is in its way, and ranks that record no events do not call it.
 *  @return false: that function has to be used. */
MPI_INLINE bool mpi_put_enter(struct trace_stream *s, uint64_t tick, const struct mpi_event *e)
{
    uint8_t *p = stream_fast_long(s, tick, SCHEMA_ID_MPI_ENTER, MPI_ENTER_BYTES);
    if (__builtin_expect(p != NULL, 1))
        stream_fast_end(s, tick, mpi_put_call_fields(p, e), MPI_ENTER_BYTES);
    return p != NULL;
}

/** An event `id` of those that have a result. */
MPI_INLINE bool mpi_put_end(struct trace_stream *s, uint64_t tick, uint32_t id, const struct mpi_event *e)
{
    uint8_t *p = stream_fast_long(s, tick, id, MPI_END_BYTES);
    if (__builtin_expect(p != NULL, 1))
        stream_fast_end(s, tick, mpi_put_end_fields(stream_put_u16(p, (uint16_t)e->call), e), MPI_END_BYTES);
    return p != NULL;
}

MPI_INLINE bool mpi_put_call(struct trace_stream *s, uint64_t since, uint64_t tick, const struct mpi_event *e)
{
    uint8_t *p = s->last_tick > since ? NULL : stream_fast_long(s, tick, SCHEMA_ID_MPI_CALL, MPI_CALL_BYTES);
    if (__builtin_expect(p != NULL, 1))
        stream_fast_end(s, tick, stream_put_u64(stream_put_u64(mpi_put_call_fields(p, e), e->bytes), since),
                        MPI_CALL_BYTES);
    return p != NULL;
}

MPI_INLINE bool mpi_put_done(struct trace_stream *s, uint64_t tick, const struct mpi_event *e,
                             const struct mpi_event *done, uint32_t n)
{
    uint32_t words = (n - 1) * SCHEMA_DONE_WORDS;
    size_t bytes = MPI_DONE_BYTES + words * sizeof(uint64_t);
    uint8_t *p = stream_fast_long(s, tick, SCHEMA_ID_MPI_DONE, bytes);
    if (__builtin_expect(p == NULL, 0))
        return false;
    p = stream_put_u16(stream_put_u16(p, (uint16_t)e->call), (uint16_t)done->call);
    p = stream_put_u16(mpi_put_end_fields(p, done), (uint16_t)words);
    for (uint32_t i = 1; i < n; i++) {
        const struct mpi_event *d = &done[i];
        p = stream_put_u64(p, (uint64_t)(uint32_t)d->result << 32 | d->call);
        p = stream_put_u64(p, d->comm);
        p = stream_put_u64(p, (uint64_t)(uint32_t)d->tag << 32 | (uint32_t)d->peer);
        p = stream_put_u64(stream_put_u64(p, d->bytes), d->request);
    }
    stream_fast_end(s, tick, p, bytes);
    return true;
}

#endif
