/* SPDX-License-Identifier: MIT */
/** @file Creation and end of a thread's call tree, and of a process's file. */
#ifndef UPMU_FUNC_THREADS_H
#define UPMU_FUNC_THREADS_H

#include "func/state.h"

/** Allocate the process's state and the key of its threads. @return 0; UPMU_E_NOMEM, UPMU_E_LIMIT, UPMU_E_SYSTEM. */
int func_threads_start(void);
/** Create the process's file, and record the modules loaded now. @return 0; UPMU_E_IO. */
int func_process_open(void);
/** The calling thread with its tree, for a hook whose frame is at `cfa`. The tree is made at the thread's first call, in a forked
 *  child after a file of its own. After a change of the gate, calls that have not returned end. Keeps errno.
 *  @return NULL if it has none, or if this is a signal handler that interrupted a hook after which the gate was changed. */
struct func_thread *func_thread_begin(uint64_t cfa);
/** Whether the calls of a tree ended because recording was stopped. @param tick then when, 0 if that is not known */
bool func_thread_is_stopped(const struct func_tree *t, uint64_t *tick);

/** Mark the tree as in use by a hook, so that a signal handler that interrupts the hook does not end its calls. */
static inline void func_thread_claim(struct func_thread *th)
{
    __atomic_store_n(&th->gate, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/** End of func_thread_claim(). `gate`: the thread's gate before it. */
static inline void func_thread_release(struct func_thread *th, uint32_t gate)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&th->gate, gate, __ATOMIC_RELAXED);
}

/** The same for a slow hook, whose frame is at `cfa`. @return what it replaces, for func_thread_release_slow(). */
static inline uint64_t func_thread_claim_slow(struct func_thread *th, uint64_t cfa)
{
    uint64_t before = th->slow;
    __atomic_store_n(&th->slow, cfa, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return before;
}

/** End of func_thread_claim_slow(), which returned `before`. */
static inline void func_thread_release_slow(struct func_thread *th, uint64_t before)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&th->slow, before, __ATOMIC_RELAXED);
}

#endif
