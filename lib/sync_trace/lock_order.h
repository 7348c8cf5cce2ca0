/* SPDX-License-Identifier: MIT */
/**
 * @file
 * In which order a thread takes locks, told once. Room: sync_trace; before it every wrapper that takes a lock, after it
 * order.c and the trace.
 *
 * A taking is: this lock, while these are held. Each is told once per thread, and once more after the thread has made or
 * joined another (what comes later may meet other threads), and after one of its locks began a new life. So whoever reads
 * the recording has every taking with its thread, its gates and its time, and needs no second look at the program.
 *
 * A taking is known by a number made of its locks' keys in the order they were taken. The number of what is held already
 * stays with the held lock, so one step makes that of a taking, and one look into a table of the thread's own tells
 * whether it is known. Nothing is done where nothing is held. Two takings of one number, one in 2^60, would be told once.
 */
#ifndef UPMU_SYNC_ORDER_H
#define UPMU_SYNC_ORDER_H

#include "sync_trace/sync.h"

/** Lives of the locks, by a few bits of their addresses: locks that share a place here are told anew, no more. Words, since
 *  RISC-V adds to nothing smaller without a library for it. */
enum { SYNC_LIVES = 2048, SYNC_ORDER_PERIOD = 16 /**< beyond the flags that are added */ };
extern uint32_t sync_lives[SYNC_LIVES] __attribute__((visibility("hidden")));

static inline uint32_t *sync_life(uintptr_t key)
{
    return &sync_lives[(key >> 3 ^ key >> 14) % SYNC_LIVES];
}

/** A lock begins or ends its life. */
static inline void sync_order_forget(uintptr_t key)
{
    __atomic_fetch_add(sync_life(key), 1, __ATOMIC_RELAXED);
}

/** The number of `key` taken while what has the number `before` is held; never 0. */
static inline uint64_t sync_order_step(uint64_t before, uintptr_t key)
{
    uint64_t life = __atomic_load_n(sync_life(key), __ATOMIC_RELAXED);
    uint64_t h = (before ^ (key + (life << 48))) * 0x9e3779b97f4a7c15u;
    return (h ^ h >> 29) | 1;
}

/** The number of all that is held, put into the entries that do not have theirs yet. */
uint64_t sync_order_held(struct sync_thread *t);
/** It may not be known: if so it is told. */
void sync_order_tell(struct sync_thread *t, uint64_t number, uintptr_t key, uint32_t type, uintptr_t site,
                     uint32_t flags);
/** The thread has made or joined another one. */
static inline void sync_order_renew(struct sync_thread *t)
{
    t->order.period += SYNC_ORDER_PERIOD;
    t->order.salt += (uint64_t)SYNC_ORDER_PERIOD << 32;
}

/** The thread takes a lock, or is about to wait for it. `flags`: UPMU_TRACE_FLAG_TIMED, UPMU_TRACE_FLAG_TRIED. */
static inline void sync_order(struct sync_thread *t, uintptr_t key, uint32_t type, uintptr_t site, uint32_t flags)
{
    uint32_t d = t->depth;
    if (LIKELY(d == 0))
        return;
    uint64_t before = t->held[d - 1].number;
    uint64_t number = sync_order_step(before ? before : sync_order_held(t), key);
    number += t->order.salt + ((uint64_t)flags << 32);
    if (UNLIKELY(t->order.known[number >> t->order.shift] != number))
        sync_order_tell(t, number, key, type, site, flags);
}

#endif
