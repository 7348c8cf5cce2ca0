/* SPDX-License-Identifier: MIT */
/** @file Loaded modules, recorded so that addresses can be resolved later. */
#ifndef UPMU_SYNC_MODULES_H
#define UPMU_SYNC_MODULES_H

#include "sync_trace/state/thread.h"

/** @return 0; UPMU_E_NOMEM. */
int sync_modules_start(void);
/** Record modules that were loaded or unloaded. Takes the loader's lock: not on the traced path. */
void sync_modules_scan(struct sync_thread *t);
/** Modules may have been unloaded. `t`: NULL if the calling thread cannot record it now. As sync_modules_scan(). */
void sync_modules_unloaded(struct sync_thread *t);
/** Scan if a stack led into an unknown module. As sync_modules_scan(). */
void sync_modules_check(struct sync_thread *t);
/** Mark the modules of a stack as part of stacks; record unknown ones if they can be found without a lock.
 *  @return whether a module was added: the unwinder can do better now. */
bool sync_modules_add_stack(struct sync_thread *t, const void *const *frames, uint32_t n_frames);
/** A new stack was recorded: if it leads into an unknown module, the next sync_modules_check() scans. */
void sync_modules_note_unknown(const void *const *frames, uint32_t n_frames);
/** Whether a module was loaded where one with recorded stacks was: libunwind's cache may be wrong. */
bool sync_modules_were_replaced(void);

#endif
