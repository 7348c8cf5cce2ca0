/* SPDX-License-Identifier: MIT */
/*
 * Signals during a walk by libunwind.
 *
 * libunwind blocks all signals around each of its locks: several system calls for each frame that is new to the thread, over
 * ten for each record of a program with many short threads. Its calls of sigprocmask() arrive here. Where the last walks
 * made some, signals are blocked once around the whole walk, and within it these calls do nothing. No handler runs
 * meanwhile, so they are libunwind's and not the program's. Other walks, of frames that are all known, need none.
 */
#include "sync_trace/stack/unwind_mask.h"

#include <signal.h>

#include "sync_trace/libc/resolve.h"

enum {
    CALLS_FEW = 2, /* as many as blocking takes */
    WALKS_MORE = 8 /* with signals blocked, after one with more calls than that */
};

void sync_unwind_mask(struct sync_thread *t)
{
    sigset_t all;
    t->mask_calls = 0;
    sigfillset(&all);
    bool blocked = t->walks_known < WALKS_MORE && SYNC_REAL(sigprocmask)(SIG_SETMASK, &all, &t->unwind_mask) == 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sync_tls.walking = blocked ? SYNC_WALKING_BLOCKED : SYNC_WALKING;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void sync_unwind_unmask(struct sync_thread *t)
{
    bool blocked = sync_tls.walking == SYNC_WALKING_BLOCKED;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sync_tls.walking = SYNC_NOT_WALKING;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (t->mask_calls > CALLS_FEW)
        t->walks_known = 0;
    else if (t->walks_known < WALKS_MORE)
        t->walks_known++;
    if (blocked)
        (void)SYNC_REAL(sigprocmask)(SIG_SETMASK, &t->unwind_mask, NULL);
}

UPMU_API int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    if (UNLIKELY(sync_tls.walking != SYNC_NOT_WALKING)) {
        sync_tls.thread->mask_calls++;
        if (sync_tls.walking == SYNC_WALKING_BLOCKED) {
            if (before)
                sigfillset(before);
            return 0;
        }
    }
    return SYNC_REAL(sigprocmask)(how, set, before);
}
