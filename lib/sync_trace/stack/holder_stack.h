/* SPDX-License-Identifier: MIT */
/** @file The call stack of a held lock's acquisition, unwound by another thread. */
#ifndef UPMU_SYNC_HOLDER_STACK_H
#define UPMU_SYNC_HOLDER_STACK_H

#include "sync_trace/state/thread.h"

/** Id of the stack at which `holder` acquired the lock, for an event of `tick` or later; `entry` is as sync_held_ask() returned
 *  it. 0: it is not known, or the holder has released the lock. Under sync_guard(t). Changes errno. */
uint32_t sync_holder_stack(struct sync_thread *t, uint64_t tick, const struct sync_thread *holder,
                           const struct sync_held *entry);

/** Read the words of a stack from `at` on into t->snapshot, as many as there are. @return bytes; 0: no memory is there, or a
 *  filter of system calls refuses it. Under sync_guard(t). Changes errno. */
size_t sync_stack_read(struct sync_thread *t, uintptr_t at);

#endif
