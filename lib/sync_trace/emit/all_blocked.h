/* SPDX-License-Identifier: MIT */
/** @file Snapshot of a process whose threads are all blocked. */
#ifndef UPMU_SYNC_ALL_BLOCKED_H
#define UPMU_SYNC_ALL_BLOCKED_H

#include "sync_trace/state/thread.h"

/** All recorded threads wait now, or are about to as `t` is; or all others wait, and `t` has left the wait-state file because
 *  it ends. `tick` is about now. Under sync_guard(). */
void sync_all_blocked(struct wait_file_header *h, const struct sync_thread *t, uint64_t tick);

#endif
