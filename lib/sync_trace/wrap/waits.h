/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Whether a thread waits at this moment, in a recorded wait, for a semaphore or a condition variable. Room: sync_trace;
 * before it sem.c and cond.c, after it nothing.
 *
 * By our own waits, not by what libc keeps in the object: who posts may look without a lock and whatever libc it is. Objects
 * whose addresses come to the same place, and waits left by longjmp, only make it say so too often.
 */
#ifndef UPMU_SYNC_WAITS_H
#define UPMU_SYNC_WAITS_H

#include <stdbool.h>
#include <stdint.h>

enum { WAITS_PLACES = 1024, WAITS_ON_BITS = 32 };

struct waits_place {
    uint64_t waits; /**< begun so far, above those that go on */
    uint64_t tick;  /**< of the last one that was recorded: its event's, or a little later */
};
extern struct waits_place sync_waits[WAITS_PLACES] __attribute__((visibility("hidden")));

static inline struct waits_place *waits_place(const void *object)
{
    return &sync_waits[((uintptr_t)object >> 4 ^ (uintptr_t)object >> 14) % WAITS_PLACES];
}

static inline uint64_t waits_now(const void *object)
{
    return __atomic_load_n(&waits_place(object)->waits, __ATOMIC_SEQ_CST);
}

/** Whether one goes on, of what waits_now() has said. */
static inline bool waits_go_on(uint64_t waits)
{
    return (uint32_t)waits != 0;
}

/** Before the last look at whether there is anything to wait for. */
static inline void waits_begin(const void *object)
{
    (void)__atomic_fetch_add(&waits_place(object)->waits, (UINT64_C(1) << WAITS_ON_BITS) + 1, __ATOMIC_SEQ_CST);
}

static inline void waits_end(const void *object)
{
    (void)__atomic_fetch_sub(&waits_place(object)->waits, 1, __ATOMIC_SEQ_CST);
}

/** The wait is recorded now, and has not begun to sleep. */
static inline void waits_told(const void *object, uint64_t tick)
{
    __atomic_store_n(&waits_place(object)->tick, tick, __ATOMIC_RELEASE);
}

/** When that was, of whoever began last. */
static inline uint64_t waits_tick(const void *object)
{
    return __atomic_load_n(&waits_place(object)->tick, __ATOMIC_ACQUIRE);
}

#endif
