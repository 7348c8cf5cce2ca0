/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Where the locks lie that were met and have not ended: what is asked whenever memory is given back. Room: sync_trace;
 * before it counts.c and record.c, which meet locks; after it freed.c. Pure, in memory that begins as zeros.
 *
 * The table itself has words that stand for 64 bytes of memory each, with a bit for every four of them. Eight words are a
 * bucket, which is a line of the cache and serves 256 bytes: a lock that finds no room there is not kept, and is then as
 * if nobody knew of it. Before it stand two tables of numbers of locks, found by the address alone: `near` with a byte for
 * each 64 bytes, eight side by side in a word, so that nearly every block in which there is no lock is known by one load;
 * and `far` for 32 KiB at a time, for the blocks that are large. Different memory may share a number: then a look takes
 * longer, and its answer is the same.
 *
 * A last table says who has met a lock, one thread or several, for as long as no other lock takes its line there: so the end
 * of one that belonged to a single thread is no matter of all the others.
 *
 * All may be called by any number of threads, and in signal handlers.
 */
#ifndef UPMU_SYNC_PLACES_H
#define UPMU_SYNC_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Sizes, as powers of two. */
enum {
    PLACES_NEAR_LOG = 13, /**< words of the table `near` */
    PLACES_FAR_LOG = 12,
    PLACES_BUCKETS_LOG = 16,
    PLACES_MET_LOG = 14,
    PLACES_GRANULE_LOG = 6, /**< bytes of memory that a number of `near`, or a word of the table itself, is for */
    PLACES_WORD_LOG = 9,    /**< that a word of `near` is for */
    PLACES_REGION_LOG = 15, /**< that a number of `far` is for */
};

enum {
    PLACES_IN_BUCKET = 8,
    PLACES_ALIGN = 4, /**< a lock at any other address is not kept */
    /* Who has met it. */
    PLACES_NOBODY = 0,
    PLACES_MANY = 4095, /**< or it is not known; other threads have numbers between */
};

struct places {
    uint32_t used; /**< there was a lock at some time: read by everybody, written once */
    uint32_t room[15];
    uint64_t near[1 << PLACES_NEAR_LOG];
    uint32_t far[1 << PLACES_FAR_LOG];
    uint64_t entry[1 << PLACES_BUCKETS_LOG][PLACES_IN_BUCKET]; /**< 48 bits: which granule; then a bit per four bytes */
    uint64_t met[1 << PLACES_MET_LOG];                         /**< 52 bits: which lock; then who */
};

/** A lock lies here, and thread `who` has met it. */
void places_put(struct places *p, uintptr_t lock, unsigned who);
/** Who has met it. */
unsigned places_who(const struct places *p, uintptr_t lock);
/** No lock lies here any more. @return whether one did. */
bool places_remove(struct places *p, uintptr_t lock);
/** The first lock from `from` on and before `end`; 0: there is none. */
uintptr_t places_next(const struct places *p, uintptr_t from, uintptr_t end);

/** A number of so many bits, for neighbours far apart. */
static inline size_t places_hash(uint64_t number, unsigned bits)
{
    return (size_t)(number * 0x9e3779b97f4a7c15u >> (64 - bits));
}

static inline const uint64_t *places_near(const struct places *p, uintptr_t address)
{
    return &p->near[places_hash(address >> PLACES_WORD_LOG, PLACES_NEAR_LOG)];
}

/** The numbers in a word of `near` that are for memory from this address on. */
static inline uint64_t places_from(uintptr_t from)
{
    return ~UINT64_C(0) << (from >> PLACES_GRANULE_LOG) % 8 * 8;
}

/** Those for memory up to this address. */
static inline uint64_t places_to(uintptr_t last)
{
    return ~UINT64_C(0) >> (56 - (last >> PLACES_GRANULE_LOG) % 8 * 8);
}

/** Whether there may be a lock in these bytes, which are not none: false is certain. */
static inline bool places_maybe(const struct places *p, uintptr_t from, size_t bytes)
{
    uintptr_t last = from + bytes - 1;
    uint64_t begin = __atomic_load_n(places_near(p, from), __ATOMIC_RELAXED) & places_from(from);
    if (__builtin_expect(from >> PLACES_WORD_LOG == last >> PLACES_WORD_LOG, 1))
        return (begin & places_to(last)) != 0;
    uint64_t end = __atomic_load_n(places_near(p, last), __ATOMIC_RELAXED) & places_to(last);
    return begin || end || (last >> PLACES_WORD_LOG) - (from >> PLACES_WORD_LOG) > 1;
}

#endif
