/* SPDX-License-Identifier: MIT */
/** @file Frames of a recorded call stack. */
#ifndef UPMU_ANALYSIS_STACK_FRAMES_H
#define UPMU_ANALYSIS_STACK_FRAMES_H

#include "analysis/locations.h"

/** Add a frame. @return 0; UPMU_E_NOMEM. */
int frame_list_add(struct frame_list *list, const struct upmu_symbol *s);

/** Add the functions at a return address, innermost first. @return 0; UPMU_E_NOMEM. */
int frame_list_add_address(const struct upmu_overview *o, size_t process, uint64_t address, struct frame_list *out);

/** Add the frames of a stack, innermost first, as the machine executed them. @return 0; UPMU_E_NOMEM. */
int frame_list_add_stack(struct upmu_overview *o, size_t process, const struct upmu_trace_stack *stack,
                         struct frame_list *out);

#endif
