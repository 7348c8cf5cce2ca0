/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Addresses of the locks that exist, searched whenever memory is freed. No dependencies; starts as zeros.
 *
 * The table has a word for each 64 bytes of memory, with a bit for every four of them. Eight words are a bucket, which is
 * a cache line and serves 256 bytes: a lock whose bucket is full is not registered. Two tables of lock counts are
 * searched before it: `near` with a byte for each 64 bytes, eight in a word, so that for most blocks without a lock one
 * load is enough; and `far` for 32 KiB each, for large blocks. Different memory may share a count: then a search takes
 * longer, with the same result.
 *
 * The last table has the thread that uses a lock, or LOCK_MEMORY_MANY, until another lock takes its entry: so the end of
 * a lock of one thread does not concern all other threads.
 *
 * All functions may be called by any number of threads, and in signal handlers.
 */
#ifndef UPMU_SYNC_LOCK_MEMORY_H
#define UPMU_SYNC_LOCK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Sizes, as powers of two. */
enum {
    LOCK_MEMORY_NEAR_LOG = 13, /**< words of the table `near` */
    LOCK_MEMORY_FAR_LOG = 12,
    LOCK_MEMORY_BUCKETS_LOG = 16,
    LOCK_MEMORY_USERS_LOG = 14,
    LOCK_MEMORY_GRANULE_LOG = 6, /**< bytes per count of `near`, and per word of the table */
    LOCK_MEMORY_WORD_LOG = 9,    /**< bytes per word of `near` */
    LOCK_MEMORY_REGION_LOG = 15, /**< bytes per count of `far` */
};

enum {
    LOCK_MEMORY_IN_BUCKET = 8,
    LOCK_MEMORY_ALIGN = 4, /**< a lock at any other address is not registered */
    /* The thread that uses a lock. */
    LOCK_MEMORY_NO_THREAD = 0,
    LOCK_MEMORY_MANY = 4095, /**< several, or unknown; threads have numbers in between */
};

struct lock_memory {
    uint32_t used; /**< a lock was registered: read by all threads, written once */
    uint32_t unused[15];
    uint64_t near[1 << LOCK_MEMORY_NEAR_LOG];
    uint32_t far[1 << LOCK_MEMORY_FAR_LOG];
    uint64_t entry[1 << LOCK_MEMORY_BUCKETS_LOG]
                  [LOCK_MEMORY_IN_BUCKET];      /**< 48 bits: granule; then a bit per four bytes */
    uint64_t users[1 << LOCK_MEMORY_USERS_LOG]; /**< 52 bits: lock; then its thread */
};

/** There is a lock here, used by thread `user`. */
void lock_memory_put(struct lock_memory *p, uintptr_t lock, unsigned user);
/** The thread that uses a lock. */
unsigned lock_memory_thread(const struct lock_memory *p, uintptr_t lock);
/** The lock is gone. @return whether it was registered. */
bool lock_memory_remove(struct lock_memory *p, uintptr_t lock);
/** The first lock in [from, end); 0: none. */
uintptr_t lock_memory_next(const struct lock_memory *p, uintptr_t from, uintptr_t end);

/** A hash of `bits` bits, different for adjacent numbers. */
static inline size_t lock_memory_hash(uint64_t number, unsigned bits)
{
    return (size_t)(number * 0x9e3779b97f4a7c15u >> (64 - bits));
}

static inline const uint64_t *lock_memory_near(const struct lock_memory *p, uintptr_t address)
{
    return &p->near[lock_memory_hash(address >> LOCK_MEMORY_WORD_LOG, LOCK_MEMORY_NEAR_LOG)];
}

/** Mask of the counts in a word of `near` for memory from this address on. */
static inline uint64_t lock_memory_from(uintptr_t from)
{
    return ~UINT64_C(0) << (from >> LOCK_MEMORY_GRANULE_LOG) % 8 * 8;
}

/** Mask of those up to this address. */
static inline uint64_t lock_memory_to(uintptr_t last)
{
    return ~UINT64_C(0) >> (56 - (last >> LOCK_MEMORY_GRANULE_LOG) % 8 * 8);
}

/** Whether there may be a lock in these bytes (at least one); false is certain. */
static inline bool lock_memory_maybe(const struct lock_memory *p, uintptr_t from, size_t bytes)
{
    uintptr_t last = from + bytes - 1;
    uint64_t begin = __atomic_load_n(lock_memory_near(p, from), __ATOMIC_RELAXED) & lock_memory_from(from);
    if (__builtin_expect(from >> LOCK_MEMORY_WORD_LOG == last >> LOCK_MEMORY_WORD_LOG, 1))
        return (begin & lock_memory_to(last)) != 0;
    uint64_t end = __atomic_load_n(lock_memory_near(p, last), __ATOMIC_RELAXED) & lock_memory_to(last);
    return begin || end || (last >> LOCK_MEMORY_WORD_LOG) - (from >> LOCK_MEMORY_WORD_LOG) > 1;
}

#endif
