/* SPDX-License-Identifier: MIT */
/** @file Beginning and end of locks and other objects. */
#ifndef UPMU_SYNC_LOCK_LIFE_H
#define UPMU_SYNC_LOCK_LIFE_H

#include "sync_trace/state/thread.h"

/** @return 0, also if it has been started; UPMU_E_NOMEM. */
int sync_lock_life_start(void);
/** Recording could not begin, and never has: the memory of registered locks is unmapped. */
void sync_lock_life_release(void);
/** Register an object whose end is not announced: it ends when its memory is freed. */
void sync_lock_register(uintptr_t key, uint32_t type);
/** An object at this address begins or ends: what was recorded of an earlier one does not apply to it. */
void sync_lock_forget(uintptr_t object);
/** It ends: its counts are recorded. A `type` of UPMU_OBJECT_NONE becomes the one it was counted as.
 *  @return UPMU_TRACE_FLAG_FINAL if all counts are in the trace, else 0. */
uint32_t sync_lock_unregister(struct sync_thread *t, uintptr_t object, int32_t *type);

/** The object was initialized, or destroyed: with its event. Keep errno. */
void sync_lock_init(struct sync_thread *t, int32_t type, const void *object, uintptr_t site, uint32_t flags);
void sync_lock_destroy(struct sync_thread *t, int32_t type, const void *object, uintptr_t site, uint32_t flags);

#endif
