/* SPDX-License-Identifier: MIT */
/** @file Built-in and user-defined metrics. Private to metric*.c. */
#ifndef UPMU_CORE_METRIC_TABLE_H
#define UPMU_CORE_METRIC_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/** One way to compute a metric. Those of one name are adjacent, the best one first. */
struct metric_row {
    const char *name, *summary, *formula, *unit;
    const char *families; /**< blank-separated keys of its CPU families, NULL: all */
    bool never_negative;  /**< a result below 0 is invalid: the subtrahend is a part of the minuend */
    bool on_demand;       /**< another metric has the same meaning */
};

/** A group of metrics. */
struct metric_group_row {
    const char *name, *summary;
    const char *metrics; /**< comma-separated */
};

extern const struct metric_row upmu_metric_rows[];
extern const size_t upmu_metric_n_rows;
extern const struct metric_group_row upmu_metric_groups[];
extern const size_t upmu_metric_n_groups;

/** The `index`-th row, those of users last; NULL past the last. */
const struct metric_row *metric_row_at(size_t index);
/** The index of the first row of that name. @return false if there is no such metric. */
bool metric_row_find(const char *name, size_t *first);
/** Why the file of UPMU_METRICS could not be used; "" if it could, or is not set. */
const char *metric_user_fault(void);

#endif
