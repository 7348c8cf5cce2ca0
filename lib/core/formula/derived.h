/* SPDX-License-Identifier: MIT */
/** @file Values of derived events: weighted sums of counters over one interval. */
#ifndef UPMU_CORE_DERIVED_H
#define UPMU_CORE_DERIVED_H

#include "core/set/counters.h"
#include "core/set/value.h"

/** Read one counter at the start and end of the interval. @return 0, or the cause of failure. */
typedef int (*derived_read_fn)(void *arg, size_t part, struct reading *before, struct reading *after);

/** The value of derived event i. On one core type each term has a value of its own, and the values are added; on
 *  several, the terms of a core type are one kernel group, whose counts are added before those of the core types.
 *  Traced path. @param doubted out, set to true if a term read 0 that may mean that it was not counted; may be NULL
 *  */
struct upmu_value derived_value(const struct counters *c, size_t i, derived_read_fn read, void *arg, bool *doubted);

/** Whether a count of 0 may mean that the event was not counted. `self`: the thread counts itself. */
bool derived_zero_doubtful(const struct event *e, bool self);

#endif
