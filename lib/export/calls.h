/* SPDX-License-Identifier: MIT */
/** @file Calls of functions in timelines. */
#ifndef UPMU_EXPORT_CALLS_H
#define UPMU_EXPORT_CALLS_H

#include "export/export.h"

struct export_calls;

/** Open the recorded events of functions, if there are any. @return 0 or an error. */
int calls_open(struct export_job *job);
/** Begin with the first event, before each reading. @return 0 or an error. */
int calls_begin(struct export_job *job);
/** Pass the calls and returns before `now` to the hooks of spans. @return 0 or an error. */
int calls_until(struct export_job *job, const struct timeline_hooks *spans, uint64_t now);
/** The name of a function. */
const char *calls_name(const struct export_job *job, uint32_t function);
void calls_free(struct export_job *job);

#endif
