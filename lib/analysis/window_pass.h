/* SPDX-License-Identifier: MIT */
/** @file Limit of the pass to a stretch of the recording: `window` of struct overview. */
#ifndef UPMU_ANALYSIS_WINDOW_PASS_H
#define UPMU_ANALYSIS_WINDOW_PASS_H

#include "analysis/pass/state.h"

/** As overview_add(), for a pass with a window. */
int window_add(struct overview *o, const struct upmu_trace_event *e);
/** After overview_end(): take from the whole recording what only it shows, and drop what is outside. `whole` loses its names. */
void window_complete(struct overview *o, struct overview *whole);

#endif
