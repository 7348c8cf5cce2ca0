/* SPDX-License-Identifier: MIT */
/** @file Limit of the pass to a stretch of the recording: `window` of struct overview. */
#ifndef UPMU_ANALYSIS_WINDOW_PASS_H
#define UPMU_ANALYSIS_WINDOW_PASS_H

#include "analysis/pass/state.h"

/** As overview_add(), for a pass with a window. */
int window_add(struct overview *o, const struct upmu_trace_event *e);
/** The object of an event after the window that was known in it, or is the next one at its address; MAP_NONE: there is none. @return 0;
 *  UPMU_E_NOMEM. */
int window_object(struct overview *o, const struct upmu_trace_event *e, uint32_t *object);
/** Before overview_end(): threads that begin in the window, or are waited for in it, with their first event after it.
 *  @return 0; UPMU_E_NOMEM. */
int window_add_threads(struct overview *o);
/** Before overview_end(): holds that had not ended when the recording did. @return 0; UPMU_E_NOMEM. */
int window_note_stuck(struct overview *o);
/** After overview_end(): take from the whole recording what only it shows, and drop what is outside. `whole` loses its names. */
void window_complete(struct overview *o, struct overview *whole);

#endif
