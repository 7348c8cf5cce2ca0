/* SPDX-License-Identifier: MIT */
/** @file Per-thread table of acquisition counts per lock. */
#ifndef UPMU_SYNC_COUNTS_H
#define UPMU_SYNC_COUNTS_H

#include "sync_trace/state/thread.h"

enum {
    SYNC_STAMPS = 64,      /**< acquisitions of a lock that are recorded after it was contended */
    SYNC_COUNT_PROBES = 16 /**< slots in which a lock may be */
};

/** Open addressing; replaced by one twice as large when full, and never freed while other threads could read it. A lock that is searched
 *  for often, because another one has its first place, gets that in a new table: each search costs as much as a pair. */
struct sync_counts {
    uint32_t mask;
    uint32_t used;
    uint32_t searches;  /**< for locks that are not at their first place */
    uint32_t patience;  /**< so many until there is a new table */
    uint64_t *recorded; /**< per slot: `acquired` as last recorded */
    struct sync_count slot[];
};

/** The first table of a new block. */
void sync_counts_start(struct sync_thread *t);
struct sync_count *sync_count_find(struct sync_thread *t, uintptr_t lock, uint32_t type);
/** Type of a lock that the thread has acquired; UPMU_OBJECT_NONE if it has no count. */
uint32_t sync_count_type(const struct sync_thread *t, uintptr_t key);
/** Whether a lock held under this key is held as a reader: not every odd key is, a custom lock may be at any address. */
bool sync_key_is_reader(const struct sync_thread *t, uintptr_t key);
/** Drop the counts of an ended thread. */
void sync_counts_clear(struct sync_thread *t);
/** Whether slots can be marked as dormant. */
bool sync_counts_can_be_dormant(void);
/** Key of a slot, dormant or not; 0 = free. */
uintptr_t sync_count_key(const struct sync_count *s);
/** Mark the slot of `key` as dormant: its lock has ended. */
void sync_count_make_dormant(struct sync_count *s, uintptr_t key);

/** Where to look for a lock, first at place 0. Readers and writers of an rwlock, whose keys differ in the last bit, have slots of their
 *  own. Small locks share their first place, and fill a whole part of the table: the others are hashes that do not depend on each other, of which
 *  a larger table has a free one. */
static inline uint32_t sync_count_place(uintptr_t lock, uint32_t i)
{
    if (i == 0)
        return (uint32_t)(lock >> 4 ^ lock >> 12 ^ (lock & 1));
    const uint64_t golden = 0x9e3779b97f4a7c15u, product = (lock ^ (uint64_t)i << 48) * golden;
    return (uint32_t)((product ^ product >> 32) * golden >> 32);
}

/** The slot in which the lock most likely is: the first place, in bytes, which takes fewer instructions. Keys of a constant type without
 *  readers are even. */
static inline struct sync_count *sync_count_first(struct sync_thread *t, uintptr_t lock, uint32_t type)
{
    enum { BITS = 5 };
    _Static_assert(sizeof(struct sync_count) == 1 << BITS, "a slot has 2^BITS bytes");
    struct sync_counts *c = t->counts;
    uintptr_t at = lock << (BITS - 4) ^ lock >> (12 - BITS);
    if (!__builtin_constant_p(type) || sync_type_has_readers(type) || type == UPMU_OBJECT_CUSTOM)
        at ^= (lock & 1) << BITS;
    return (struct sync_count *)(void *)((char *)c->slot + (at & (uintptr_t)c->mask << BITS));
}

static inline struct sync_count *sync_count(struct sync_thread *t, uintptr_t lock, uint32_t type)
{
    struct sync_count *slot = sync_count_first(t, lock, type);
    uintptr_t found = __atomic_load_n(&slot->lock, __ATOMIC_RELAXED); /* other threads make it dormant */
    return LIKELY(found == lock) ? slot : sync_count_find(t, lock, type);
}

/** Whether the slow path is due at this acquisition, which has been counted. */
static inline bool sync_count_is_due(const struct sync_count *c)
{
    return (int32_t)((uint32_t)c->acquired - c->next) >= 0;
}

/** The number of the next acquisition. @return whether the slow path is due at it. */
static inline bool sync_count_is_due_next(const struct sync_count *c, uint64_t *number)
{
    *number = c->acquired + 1;
    return (int32_t)((uint32_t)*number - c->next) >= 0;
}

/** The slow path is due after `n` further acquisitions; 0: hardly ever. */
static inline void sync_count_due_after(struct sync_count *c, uint32_t n)
{
    c->next = (uint32_t)c->acquired + (n != 0 && n < INT32_MAX ? n : INT32_MAX);
}

/** Count an acquisition. @return whether the slow path is due. */
static inline bool sync_count_add(struct sync_count *c)
{
    c->acquired++;
    return UNLIKELY(sync_count_is_due(c));
}

/** The lock is contended: its next acquisitions are recorded. */
static inline void sync_count_stamp(struct sync_count *c)
{
    c->stamps = SYNC_STAMPS;
    sync_count_due_after(c, 1);
}

#endif
