/* SPDX-License-Identifier: MIT */
/** @file Events of all threads of a recording in time order. */
#ifndef UPMU_FUNCTIONS_EVENTS_H
#define UPMU_FUNCTIONS_EVENTS_H

#include "functions/functions.h"

/** Add the events of a thread's tree, if it has any. @param end_tick of calls that have not returned @param number numbers a function. @return 0; UPMU_E_NOMEM. */
int functions_add_stream(struct upmu_functions *f, const char *dir, const struct func_process_header *h,
                         const struct func_tree *t, uint64_t end_tick, size_t bytes, func_number *number, void *arg);
void functions_free_streams(struct upmu_functions *f);

#endif
