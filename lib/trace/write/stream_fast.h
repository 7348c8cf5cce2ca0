/* SPDX-License-Identifier: MIT */
/** @file Frequent lock events and wait events, written in the caller. */
#ifndef UPMU_TRACE_STREAM_FAST_H
#define UPMU_TRACE_STREAM_FAST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "trace/format/schema.h"
#include "trace/write/stream.h"
#include "trace/write/writer.h"
#include "upmu/trace.h"

/** The compact class of a kind and an object type; SCHEMA_IDS if there is none. Folds to a number for constants. */
static inline uint32_t stream_compact_id(int32_t kind, int32_t object_type, uint32_t flags)
{
    bool acquire = kind == UPMU_TRACE_LOCK_ACQUIRE, release = kind == UPMU_TRACE_LOCK_RELEASE;
    if (object_type == UPMU_OBJECT_RWLOCK && flags == UPMU_TRACE_FLAG_SHARED)
        return acquire ? SCHEMA_ID_READ_ACQUIRE : release ? SCHEMA_ID_READ_RELEASE : SCHEMA_IDS;
    if (flags != 0)
        return SCHEMA_IDS;
    switch (object_type) {
    case UPMU_OBJECT_MUTEX:
        return acquire                           ? SCHEMA_ID_LOCK_ACQUIRE
               : release                         ? SCHEMA_ID_LOCK_RELEASE
               : kind == UPMU_TRACE_LOCK_REQUEST ? SCHEMA_ID_LOCK_REQUEST
                                                 : SCHEMA_IDS;
    case UPMU_OBJECT_CUSTOM:
        return acquire ? SCHEMA_ID_CUSTOM_ACQUIRE : release ? SCHEMA_ID_CUSTOM_RELEASE : SCHEMA_IDS;
    case UPMU_OBJECT_RWLOCK:
        return acquire ? SCHEMA_ID_WRITE_ACQUIRE : release ? SCHEMA_ID_WRITE_RELEASE : SCHEMA_IDS;
    case UPMU_OBJECT_SPIN:
        return acquire ? SCHEMA_ID_SPIN_ACQUIRE : release ? SCHEMA_ID_SPIN_RELEASE : SCHEMA_IDS;
    case UPMU_OBJECT_SEM:
        return acquire ? SCHEMA_ID_SEM_ACQUIRE : kind == UPMU_TRACE_SEM_POST ? SCHEMA_ID_SEM_POST : SCHEMA_IDS;
    default:
        return SCHEMA_IDS;
    }
}

/* Nonzero: the trace is closed, or there is a mark in the mailbox. One test for both: each event has it. */
static inline uint32_t stream_attention(const struct trace_stream *s)
{
    const struct stream_home *home = s->home;
    return __atomic_load_n(&home->closed, __ATOMIC_RELAXED) | __atomic_load_n(&home->control->mail, __ATOMIC_RELAXED);
}

/* With the stream busy: whether the event has a place. It has not before the trace's first event, in a full packet, after a long
 * pause, and for a tick before the last one (both make the difference large). */
static inline bool stream_has_place(const struct trace_stream *s, uint64_t tick, size_t bytes)
{
    return (uintptr_t)s->pos + bytes <= (uintptr_t)s->limit && tick - s->last_tick <= CTF_TICK_MASK;
}

/* With the stream busy: whether the fast path applies. */
static inline bool stream_fits(const struct trace_stream *s, uint64_t tick, size_t bytes)
{
    return stream_has_place(s, tick, bytes) && stream_attention(s) == 0;
}

/* Release the stream, and write an event that a signal handler left meanwhile. */
static inline void stream_idle(struct trace_stream *s)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&s->busy, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(&s->claimed, __ATOMIC_RELAXED) != 0, 0))
        upmu_trace_settle_(s);
}

/** The first 8 bytes of an event of class `id` that is as long as the compact ones, but for its tick. Its fields begin with `field`. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define STREAM_COMPACT_FIRST(id, field) ((uint64_t)(field) << 32 | (id))
#else
#define STREAM_COMPACT_FIRST(id, field) ((uint64_t)(id) << (32 + CTF_TICK_BITS) | (field))
#endif

static inline void stream_compact_write(struct trace_stream *s, uint64_t tick, uint64_t first, uint64_t object)
{
    const unsigned shift = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 32;
    first |= (uint64_t)ctf_short_head(0, tick) << shift;
    uint8_t *p = s->pos;
    memcpy(p, &first, sizeof first);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* two stores: making one vector of both takes longer */
    memcpy(p + sizeof first, &object, sizeof object);
    s->pos = p + STREAM_COMPACT_BYTES;
    s->last_tick = tick;
    __builtin_prefetch(p + STREAM_AHEAD, 1);
    struct ctf_packet *packet = s->packet;
    uint64_t content = (uint64_t)(p + STREAM_COMPACT_BYTES - (uint8_t *)packet);
    __atomic_store_n(&packet->timestamp_end, tick, __ATOMIC_RELEASE);
    __atomic_store_n(&packet->content_size, content * 8, __ATOMIC_RELEASE);
}

/* The slow path, kept out of line so that the caller needs no stack space for it. */
static __attribute__((unused, noinline, cold)) bool stream_by_call(struct trace_stream *s, uint64_t tick, int32_t kind,
                                                                   int32_t object_type, uint32_t flags, uint64_t object,
                                                                   uint32_t stack)
{
    const struct trace_sync e = {
        .kind = kind, .object_type = object_type, .flags = flags, .object = object, .stack = stack};
    return upmu_trace_sync_(s, tick, &e);
}

static inline uint8_t *stream_put_u64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

static inline uint8_t *stream_put_u32(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

/** Two of them, in one store. */
static inline uint8_t *stream_put_u32_pair(uint8_t *p, uint32_t a, uint32_t b)
{
    bool low_first = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    return stream_put_u64(p, low_first ? (uint64_t)b << 32 | a : (uint64_t)a << 32 | b);
}

static inline uint8_t *stream_put_u16(uint8_t *p, uint16_t v)
{
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

/* The fields of LOCK_BLOCK, LOCK_ACQUIRED and the long LOCK_RELEASE, as in the table of classes; a test compares the two. */
static inline uint8_t *stream_put_wait(uint8_t *p, const struct trace_sync *e)
{
    const bool begins = e->kind == UPMU_TRACE_LOCK_BLOCK;
    p = stream_put_u64(p, e->object);
    *p++ = (uint8_t)e->object_type;
    p = stream_put_u32(p, (uint32_t)(begins ? e->peer : e->result));
    p = stream_put_u32(p, e->stack);
    p = stream_put_u64(p, e->site);
    if (e->kind != UPMU_TRACE_LOCK_ACQUIRED) {
        p = stream_put_u64(p, e->holder_site);
        p = stream_put_u64(p, e->holder_since);
    }
    if (begins)
        p = stream_put_u32(p, e->holder_stack);
    return stream_put_u16(p, (uint16_t)e->flags);
}

/* An event of `bytes`, which is not a compact one, ends at `end`. */
static inline void stream_other_end(struct trace_stream *s, uint64_t tick, uint8_t *end, size_t bytes)
{
    struct ctf_packet *packet = s->packet;
    s->surplus += bytes - STREAM_COMPACT_BYTES;
    s->pos = end;
    s->last_tick = tick;
    __builtin_prefetch(end + STREAM_AHEAD, 1);
    __atomic_store_n(&packet->timestamp_end, tick, __ATOMIC_RELEASE);
    __atomic_store_n(&packet->content_size, (uint64_t)(end - (uint8_t *)packet) * 8, __ATOMIC_RELEASE);
}

static inline void stream_wait_write(struct trace_stream *s, uint64_t tick, const struct trace_sync *e)
{
    uint32_t id = e->kind == UPMU_TRACE_LOCK_BLOCK      ? SCHEMA_ID_LOCK_BLOCK
                  : e->kind == UPMU_TRACE_LOCK_ACQUIRED ? SCHEMA_ID_LOCK_ACQUIRED
                                                        : SCHEMA_ID_LOCK_RELEASE_FULL;
    uint8_t *begin = s->pos, *end = stream_put_wait(stream_put_u32(begin, ctf_short_head(id, tick)), e);
    stream_other_end(s, tick, end, (size_t)(end - begin));
}

/** Record a LOCK_BLOCK, a LOCK_ACQUIRED or a LOCK_RELEASE with its hold, without the table of classes, which is not in the caches of a
 *  thread that was just woken. Traced path. @return false if it was lost (and counted). */
static inline bool stream_fast_wait(struct trace_stream *s, uint64_t tick, const struct trace_sync *e)
{
    bool written = false;
    if (__builtin_expect(__atomic_load_n(&s->busy, __ATOMIC_RELAXED) == 0, 1)) {
        __atomic_store_n(&s->busy, 1, __ATOMIC_RELAXED);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        written = stream_fits(s, tick, STREAM_WAIT_BYTES);
        if (__builtin_expect(written, 1))
            stream_wait_write(s, tick, e);
        stream_idle(s);
    }
    return __builtin_expect(written, 1) || upmu_trace_sync_(s, tick, e);
}

/**
 * Record a LOCK_REQUEST, LOCK_ACQUIRE, LOCK_RELEASE or SEM_POST with nothing but object and stack; `kind`, `object_type`
 * and `flags` should be constants. Traced path. @return false if it was lost (and counted).
 */
static inline __attribute__((always_inline)) bool stream_fast_flags(struct trace_stream *s, uint64_t tick, int32_t kind,
                                                                    int32_t object_type, uint32_t flags,
                                                                    uint64_t object, uint32_t stack)
{
    uint32_t id = stream_compact_id(kind, object_type, flags);
    bool written = false;
    if (__builtin_expect(id != SCHEMA_IDS && __atomic_load_n(&s->busy, __ATOMIC_RELAXED) == 0, 1)) {
        /* A signal handler may run at any point: only values read after this store are stable. */
        __atomic_store_n(&s->busy, 1, __ATOMIC_RELAXED);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        written = stream_fits(s, tick, STREAM_COMPACT_BYTES);
        if (__builtin_expect(written, 1))
            stream_compact_write(s, tick, STREAM_COMPACT_FIRST(id, stack), object);
        stream_idle(s);
    }
    return __builtin_expect(written, 1) || stream_by_call(s, tick, kind, object_type, flags, object, stack);
}

/* Make the stream busy for an event of `bytes`. @return false: it is not, and stream_record() has to be used, which also writes what
 * a signal handler left meanwhile. */
static inline __attribute__((always_inline)) bool stream_fast_begin(struct trace_stream *s, uint64_t tick, size_t bytes)
{
    if (__builtin_expect((__atomic_load_n(&s->busy, __ATOMIC_RELAXED) | stream_attention(s)) != 0, 0))
        return false;
    __atomic_store_n(&s->busy, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(stream_has_place(s, tick, bytes), 1))
        return true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&s->busy, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return false;
}

/** Record an event that is as long as the compact ones, which begins with STREAM_COMPACT_FIRST(). Traced path. @return false if it has
 *  to be written by upmu_trace_numbers_(). */
static inline __attribute__((always_inline)) bool stream_fast_numbers(struct trace_stream *s, uint64_t tick,
                                                                      uint64_t first, uint64_t second)
{
    if (!stream_fast_begin(s, tick, STREAM_COMPACT_BYTES))
        return false;
    stream_compact_write(s, tick, first, second);
    stream_idle(s);
    return true;
}

/** Begin an event of another class below CTF_ID_LONG, with so many bytes of fields: where to put them, in place, as what was just stored in
 *  parts is slow to read as a whole. To be followed by stream_fast_short_end(). @return NULL: it has to be written by
 *  upmu_trace_numbers_(). */
static inline __attribute__((always_inline)) uint8_t *stream_fast_short(struct trace_stream *s, uint64_t tick,
                                                                        uint32_t id, size_t bytes)
{
    return stream_fast_begin(s, tick, CTF_SHORT_HEAD_BYTES + bytes) ? stream_put_u32(s->pos, ctf_short_head(id, tick))
                                                                    : NULL;
}

/** The fields, of so many bytes, end at `end`. */
static inline __attribute__((always_inline)) void stream_fast_short_end(struct trace_stream *s, uint64_t tick,
                                                                        uint8_t *end, size_t bytes)
{
    stream_other_end(s, tick, end, CTF_SHORT_HEAD_BYTES + bytes);
    stream_idle(s);
}

/** The same of an event of any class, to be followed by stream_fast_end(). */
static inline __attribute__((always_inline)) uint8_t *stream_fast_long(struct trace_stream *s, uint64_t tick,
                                                                       uint32_t id, size_t bytes)
{
    if (!stream_fast_begin(s, tick, CTF_LONG_HEAD_BYTES + bytes))
        return NULL;
    uint8_t head[sizeof(uint64_t)] = {ctf_long_mark()}; /* one store, of which the tick covers the end */
    memcpy(head + 1, &id, sizeof id);
    memcpy(s->pos, head, sizeof head);
    return stream_put_u64(s->pos + 1 + sizeof id, tick);
}

/** The fields, of so many bytes, end at `end`. */
static inline __attribute__((always_inline)) void stream_fast_end(struct trace_stream *s, uint64_t tick, uint8_t *end,
                                                                  size_t bytes)
{
    stream_other_end(s, tick, end, CTF_LONG_HEAD_BYTES + bytes);
    stream_idle(s);
}

/** The same of an event without flags. */
static inline bool stream_fast_sync(struct trace_stream *s, uint64_t tick, int32_t kind, int32_t object_type,
                                    uint64_t object, uint32_t stack)
{
    return stream_fast_flags(s, tick, kind, object_type, 0, object, stack);
}

#endif
