/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Recorded waits in progress, by semaphore or condition variable.
 *
 * Counted by the wrappers, not read from libc's object, so that a post can be checked without a lock and with any libc.
 * Objects that share a slot, and waits left by longjmp, only make the answer "yes" too often.
 */
#ifndef UPMU_SYNC_WAITS_H
#define UPMU_SYNC_WAITS_H

#include <stdbool.h>
#include <stdint.h>

enum { WAITERS_SLOTS = 1024, WAITERS_COUNT_BITS = 32 };

struct waiters {
    uint64_t waits;  /**< waits begun so far, above the number in progress */
    uint64_t tick;   /**< tick of the last wait recorded, or slightly later */
    uintptr_t mutex; /**< of the last wait for a condition variable */
};
extern struct waiters sync_waiters[WAITERS_SLOTS] __attribute__((visibility("hidden")));

static inline struct waiters *waiters_of(const void *object)
{
    return &sync_waiters[((uintptr_t)object >> 4 ^ (uintptr_t)object >> 14) % WAITERS_SLOTS];
}

static inline uint64_t waiters_load(const void *object)
{
    return __atomic_load_n(&waiters_of(object)->waits, __ATOMIC_SEQ_CST);
}

/** Whether a wait is in progress, by the result of waiters_load(). */
static inline bool waiters_present(uint64_t waits)
{
    return (uint32_t)waits != 0;
}

/** Before the last test whether to wait. */
static inline void waiters_begin(const void *object)
{
    (void)__atomic_fetch_add(&waiters_of(object)->waits, (UINT64_C(1) << WAITERS_COUNT_BITS) + 1, __ATOMIC_SEQ_CST);
}

static inline void waiters_end(const void *object)
{
    (void)__atomic_fetch_sub(&waiters_of(object)->waits, 1, __ATOMIC_SEQ_CST);
}

/** Before waiters_begin() for a condition variable: the mutex that its waiters need to return. */
static inline void waiters_need(const void *cond, const void *mutex)
{
    __atomic_store_n(&waiters_of(cond)->mutex, (uintptr_t)mutex, __ATOMIC_RELAXED);
}

static inline uintptr_t waiters_mutex(const void *cond)
{
    return __atomic_load_n(&waiters_of(cond)->mutex, __ATOMIC_RELAXED);
}

/** The wait is recorded, and does not sleep yet. */
static inline void waiters_recorded(const void *object, uint64_t tick)
{
    __atomic_store_n(&waiters_of(object)->tick, tick, __ATOMIC_RELEASE);
}

/** Tick of that, for the last wait. */
static inline uint64_t waiters_tick(const void *object)
{
    return __atomic_load_n(&waiters_of(object)->tick, __ATOMIC_ACQUIRE);
}

#endif
