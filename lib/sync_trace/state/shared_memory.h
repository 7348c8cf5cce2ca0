/* SPDX-License-Identifier: MIT */
/** @file Shared mappings that contain locks, noted in the wait-state file: an address means nothing to another process. */
#ifndef UPMU_SYNC_SHARED_MEMORY_H
#define UPMU_SYNC_SHARED_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/** A recording begins, with a new wait-state file: nothing is noted yet. */
void sync_shared_memory_start(void);
/** Note the mapping that contains the lock, if it is shared and was not noted. Takes no lock, allocates nothing; reads
 *  /proc/self/maps where the answer is not known yet. The caller keeps errno. */
void sync_shared_memory_note(uintptr_t lock);
/** Another mapping may come to be there. */
void sync_shared_memory_unmapped(uintptr_t from, size_t bytes);

#endif
