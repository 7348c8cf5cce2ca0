/* SPDX-License-Identifier: MIT */
/** @file Private interface of libupmu_sync to libupmu_mpi (node UPMU_PRIVATE): what a library does within its calls is left out. */
#ifndef UPMU_SYNC_LEAVE_OUT_H
#define UPMU_SYNC_LEAVE_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "upmu/api.h"

/** Id of the calling thread's stack, for an event of `tick` in its stream; 0: none, or the thread is not recorded. `site` is the
 *  innermost frame. Keeps errno. */
UPMU_API uint32_t upmu_sync_stack_(uint64_t tick, uintptr_t site);

/** Record no lock event of the calling thread, and none of threads that it creates, until upmu_sync_resume_(). `stack` becomes what
 *  upmu_sync_stack_() returns, 0 if `site` is 0. Keeps errno.
 *  @return false: the thread was not recorded anyway, do not call upmu_sync_resume_(). */
UPMU_API bool upmu_sync_withhold_(uint64_t tick, uintptr_t site, uint32_t *stack);

/** End upmu_sync_withhold_(). Keeps errno. */
UPMU_API void upmu_sync_resume_(void);

#endif
