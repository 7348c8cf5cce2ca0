/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Packet header and event header.
 *
 * Numbers are unpadded and in the byte order of the recording machine. The packet head is fixed for a major version of
 * the format; its context may grow.
 */
#ifndef UPMU_TRACE_CTF_H
#define UPMU_TRACE_CTF_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define CTF_MAGIC 0xC1FC1FC1u

/** File name suffix of the growing stream beside a ring. */
#define CTF_ASIDE_SUFFIX "_aside"

enum {
    CTF_UUID_BYTES = 16,
    CTF_THREAD_NAME_BYTES = 16,
    CTF_THREAD_NAME_GIVEN =
        1, /**< last byte of a name that an event has given to the thread, in this or an earlier packet */
    /** Tick bits in a short event head; a longer pause needs the long head. */
    CTF_TICK_BITS = 27,
    CTF_ID_BITS = 5,
    /** The id that marks a long head; smaller ids are event classes. */
    CTF_ID_LONG = 31,
    CTF_SHORT_HEAD_BYTES = 4,
    CTF_LONG_HEAD_BYTES = 1 + 4 + 8,
    /** Shortest packet of a ring: it bounds the linear search for the next packet. */
    CTF_RING_BYTES_MIN = 4096,
    /** Longest packet. */
    CTF_PACKET_BYTES_MAX = 64 * 1024 * 1024,
};
#define CTF_TICK_MASK ((UINT64_C(1) << CTF_TICK_BITS) - 1)

/** Packet header and packet context. Sizes are in bits, as CTF requires. */
struct ctf_packet {
    uint32_t magic; /**< written with the whole head: without it the packet is not initialized */
    uint8_t uuid[CTF_UUID_BYTES];
    uint32_t stream_id;
    uint64_t timestamp_begin;
    uint64_t timestamp_end; /**< of the last event; stored before content_size */
    uint64_t content_size;  /**< stored after each event: everything below it is committed */
    uint64_t packet_size;
    uint64_t packet_seq_num;
    uint64_t events_discarded; /**< of this stream, since its beginning */
    int32_t tid;
    uint32_t clock_width; /**< ticks between the two readings around the triple below */
    char thread_name[CTF_THREAD_NAME_BYTES];
    uint64_t event_count; /**< written when the packet is finished; 0 before */
    uint64_t clock_tick;
    uint64_t clock_raw;
    uint64_t clock_monotonic;
    uint64_t clock_realtime;
};

static_assert(offsetof(struct ctf_packet, stream_id) == 20, "packet header is 24 bytes");
static_assert(offsetof(struct ctf_packet, timestamp_begin) == 24, "packet header is 24 bytes");
static_assert(offsetof(struct ctf_packet, event_count) == 96, "no padding in the packet context");
static_assert(sizeof(struct ctf_packet) == 136, "no padding in the packet context");

/** The short event head as one 32-bit word in the machine's byte order: CTF counts the bits of a big-endian word from
 *  the top and those of a little-endian word from the bottom. */
static inline uint32_t ctf_short_head(uint32_t id, uint64_t tick)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return id | (uint32_t)(tick & CTF_TICK_MASK) << CTF_ID_BITS;
#else
    return id << CTF_TICK_BITS | (uint32_t)(tick & CTF_TICK_MASK);
#endif
}

/** First byte of the long head, which 32 bits of class id and 64 bits of tick follow. */
static inline uint8_t ctf_long_mark(void)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return CTF_ID_LONG;
#else
    return CTF_ID_LONG << (8 - CTF_ID_BITS);
#endif
}

/** Id in the first byte of an event head. */
static inline uint32_t ctf_head_id(uint8_t first)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return first & ((1u << CTF_ID_BITS) - 1);
#else
    return first >> (8 - CTF_ID_BITS);
#endif
}

/** Tick bits of a short head. */
static inline uint32_t ctf_head_tick(uint32_t head)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return head >> CTF_ID_BITS;
#else
    return head & (uint32_t)CTF_TICK_MASK;
#endif
}

#endif
