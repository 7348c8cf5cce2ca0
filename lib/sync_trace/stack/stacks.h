/* SPDX-License-Identifier: MIT */
/** @file Table of recorded call stacks: each is written once and referred to by id. */
#ifndef UPMU_SYNC_STACKS_H
#define UPMU_SYNC_STACKS_H

#include "sync_trace/state/thread.h"

/** @return 0, also if it has been made; UPMU_E_NOMEM. */
int sync_stacks_start(void);
/** Recording could not begin, and never has: the table is unmapped. */
void sync_stacks_release(void);
/** Id of a stack, written to the trace before any event of `tick` or later can refer to it; 0 = none or lost. `*is_new`: it
 *  was added to the table. */
uint32_t sync_stack_id(struct sync_thread *t, uint64_t tick, const void *const *frames, uint32_t n, bool truncated,
                       bool *is_new);
/** Copy the innermost `max` frames of a stack. @return the number of frames; 0: it was retired. */
uint32_t sync_stack_copy(uint32_t id, uint64_t *frames, uint32_t max, uint8_t *method, uint8_t *truncated);
/** The code from `start` to `end` was unmapped: stacks through it get new ids. */
void sync_stacks_retire(uint64_t start, uint64_t end);

#endif
