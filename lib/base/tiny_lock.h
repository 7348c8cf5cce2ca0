/* SPDX-License-Identifier: MIT */
/** @file A lock of one word, for state that a forked child must find free: put it into wipe-on-fork memory. Never held
 *  across a call into the program. Room: base. */
#ifndef UPMU_BASE_TINY_LOCK_H
#define UPMU_BASE_TINY_LOCK_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/** In an argument that these system calls do not use: who records futexes knows ours by it. A long, as syscall() takes its
 *  arguments: of an int among them the upper half may be anything. */
#define TINY_LOCK_SIGN 0x75706d75L

/** 0 free, 1 held, 2 held and somebody waits. All zero is a free lock. */
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

static inline void tiny_lock_give(struct tiny_lock *l)
{
    if (__atomic_exchange_n(&l->word, 0, __ATOMIC_RELEASE) == 2)
        syscall(SYS_futex, &l->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, TINY_LOCK_SIGN);
}

#endif
