/* SPDX-License-Identifier: MIT */
/** @file A stack of the recorder's own, for walks by libraries: a signal handler's alternate stack, or a coroutine's, may have a few
 *  hundred bytes left, and these need some kilobytes. */
#ifndef UPMU_SYNC_SPARE_STACK_H
#define UPMU_SYNC_SPARE_STACK_H

#include <stdbool.h>

#include "sync_trace/state/thread.h"

/**
 * Call run(arg) on the thread's spare stack, which is mapped at the first time, with all signals blocked: a handler would find little
 * space there, and one for the alternate stack would begin at the top of that, where another may be running. Walks pass from
 * there to the caller's frames. Nothing may be stored to streams meanwhile, see unwind_mask.h. On architectures other than
 * x86-64 and AArch64 it is called on the stack of the caller.
 *
 * @return false if there is no memory; nothing was called
 */
bool sync_on_spare_stack(struct sync_thread *t, void (*run)(void *), void *arg);

#endif
