/* SPDX-License-Identifier: MIT */
/** @file A one-word lock for state in wipe-on-fork memory, free in a forked child. Never held across a call into
 *  the program. */
#ifndef UPMU_BASE_TINY_LOCK_H
#define UPMU_BASE_TINY_LOCK_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/** Marks the library's futex calls, in an argument that they do not use, so that the recorder ignores them. A long,
 *  as syscall() takes its arguments: the upper half of an int may be undefined. */
#define TINY_LOCK_SIGN 0x75706d75L

/** 0 free, 1 held, 2 held with a waiter. All zero is a free lock. */
struct tiny_lock {
    uint32_t word;
};

static inline void tiny_lock_take(struct tiny_lock *l)
{
    uint32_t expected = 0;
    if (__atomic_compare_exchange_n(&l->word, &expected, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(&l->word, 2, __ATOMIC_ACQUIRE) != 0)
        syscall(SYS_futex, &l->word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, TINY_LOCK_SIGN);
}

/** Sleep while a word has the value `seen`, at most until it is woken, a signal arrives, or `timeout` (relative; NULL: none). */
static inline void tiny_lock_sleep(uint32_t *word, uint32_t seen, const struct timespec *timeout)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, timeout, NULL, TINY_LOCK_SIGN);
}

/** Wake all that sleep for a word, after it was changed. */
static inline void tiny_lock_wake(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, TINY_LOCK_SIGN);
}

static inline void tiny_lock_give(struct tiny_lock *l)
{
    if (__atomic_exchange_n(&l->word, 0, __ATOMIC_RELEASE) == 2)
        syscall(SYS_futex, &l->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, TINY_LOCK_SIGN);
}

#endif
