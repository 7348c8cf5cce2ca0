/* SPDX-License-Identifier: MIT */
/** @file Values of derived events: weighted sums of counters over one interval. */
#ifndef UPMU_CORE_DERIVED_H
#define UPMU_CORE_DERIVED_H

#include "core/set/counters.h"
#include "core/set/value.h"

/** Two readings of one counter, between which the interval lies. @return 0, or the cause why there are none. */
typedef int (*derived_read_fn)(void *arg, size_t part, struct reading *before, struct reading *after);

/**
 * The value of derived event i. On one kind of core each term has a value of its own, and these are added; on several kinds
 * the terms of a kind are one group of the kernel, whose counts are added before the kinds are.
 * @param doubted out, set to true if a term read 0 that may mean that it was not counted; may be NULL
 * Traced path.
 */
struct upmu_value derived_value(const struct counters *c, size_t i, derived_read_fn read, void *arg, bool *doubted);

/** Whether a 0 of this counter says nothing, `self`: the thread counts itself. */
bool derived_zero_doubtful(const struct event *e, bool self);

#endif
