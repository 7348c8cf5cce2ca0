/* SPDX-License-Identifier: MIT */
/** @file Signals during a walk by libunwind. */
#ifndef UPMU_SYNC_UNWIND_MASK_H
#define UPMU_SYNC_UNWIND_MASK_H

#include "sync_trace/state/state.h"
#include "sync_trace/state/thread.h"

/** Before and after calls of libunwind: signals are blocked in between if it is likely to block them itself. Nothing may be written in
 *  between: a store to a stream that another program truncates raises SIGBUS, and would end the process. */
void sync_unwind_mask(struct sync_thread *t);
void sync_unwind_unmask(struct sync_thread *t);

#endif
