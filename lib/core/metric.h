/* SPDX-License-Identifier: MIT */
/** @file Derived metrics, as far as planning and event lists need them. */
#ifndef UPMU_CORE_METRIC_H
#define UPMU_CORE_METRIC_H

#include <stddef.h>

enum { METRIC_EVENTS_MAX = 8 };

/** The events that the `index`-th way to compute a metric takes, vendor-neutral names. @return their number; 0 past the
 *  last way */
size_t metric_parts(size_t index, const char *parts[METRIC_EVENTS_MAX]);

#endif
