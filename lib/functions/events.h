/* SPDX-License-Identifier: MIT */
/** @file Events of all threads of a recording in time order. */
#ifndef UPMU_FUNCTIONS_EVENTS_H
#define UPMU_FUNCTIONS_EVENTS_H

#include "functions/functions.h"

/** Add the events of a thread's tree, if it has any. @param end_tick of calls that have not returned @param number numbers a function. @return 0; UPMU_E_NOMEM. */
int functions_add_stream(struct upmu_functions *f, const char *dir, const struct func_process_header *h,
                         const struct func_tree *t, uint64_t end_tick, size_t bytes, func_number *number, void *arg);
/** Replace the profile by that of a stretch, in nanoseconds since the start of the recording; `to_ns` 0: to its end. @return 0;
 *  UPMU_E_INVAL (without events); UPMU_E_STATE (a process has no trace); UPMU_E_IO, UPMU_E_NOMEM, and the codes of upmu_trace_open(). */
int functions_limit(struct upmu_functions *f, const char *dir, uint64_t from_ns, uint64_t to_ns);
void functions_free_streams(struct upmu_functions *f);

#endif
