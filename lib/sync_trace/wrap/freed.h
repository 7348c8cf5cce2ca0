/* SPDX-License-Identifier: MIT */
/** @file Locks that end because their memory is freed. */
#ifndef UPMU_SYNC_FREED_H
#define UPMU_SYNC_FREED_H

/** Find the size function of the C library's allocator. Before sync_lock_life_start(). */
void sync_freed_start(void);

#endif
