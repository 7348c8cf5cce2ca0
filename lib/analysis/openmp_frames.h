/* SPDX-License-Identifier: MIT */
/** @file Frames of call stacks of OpenMP programs, as they were written. */
#ifndef UPMU_ANALYSIS_OPENMP_FRAMES_H
#define UPMU_ANALYSIS_OPENMP_FRAMES_H

#include "analysis/locations.h"

/** Add the frames of a stack, innermost first, in the way that the overview shows them. @return 0; UPMU_E_END (no such stack);
 *  UPMU_E_NOMEM. */
int openmp_frames_add(struct upmu_overview *o, size_t process, uint32_t stack, struct frame_list *out);

/** Name the body of a construct, found in a stack (0: not known), after the construct. Other functions are not changed. */
int openmp_frame_name(struct upmu_overview *o, size_t process, uint32_t stack, struct upmu_symbol *s);

#endif
