/* SPDX-License-Identifier: MIT */
/** @file One-time initialization within the library, which the recorder does not take for the program's, as it would pthread_once(). */
#ifndef UPMU_BASE_OWN_ONCE_H
#define UPMU_BASE_OWN_ONCE_H

#include <unistd.h>

#include "base/tiny_lock.h"

/** All zero: the function has not been called. */
struct own_once {
    uint32_t word; /**< OWN_ONCE_DONE, or the id of the process in which a thread calls the function; 0: neither */
};

#define OWN_ONCE_DONE UINT32_MAX

static __attribute__((noinline, unused)) void own_once_call(struct own_once *o, void (*function)(void))
{
    const uint32_t self = (uint32_t)getpid();
    uint32_t now = __atomic_load_n(&o->word, __ATOMIC_ACQUIRE);
    while (now != OWN_ONCE_DONE) {
        if (now == self) {
            tiny_lock_sleep(&o->word, self, NULL);
            now = __atomic_load_n(&o->word, __ATOMIC_ACQUIRE);
        } else if (__atomic_compare_exchange_n(&o->word, &now, self, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
            function(); /* also in a forked child whose parent was within it */
            __atomic_store_n(&o->word, OWN_ONCE_DONE, __ATOMIC_RELEASE);
            tiny_lock_wake(&o->word);
            return;
        }
    }
}

/** Call `function` once in a process; a call during it waits for its return. Not from a signal handler. */
static inline void own_once(struct own_once *o, void (*function)(void))
{
    if (__builtin_expect(__atomic_load_n(&o->word, __ATOMIC_ACQUIRE) != OWN_ONCE_DONE, 0))
        own_once_call(o, function);
}

#endif
