/* SPDX-License-Identifier: MIT */
/** @file Differences and sums of counter values and of wait times. */
#ifndef UPMU_ANALYSIS_VALUES_H
#define UPMU_ANALYSIS_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "upmu/analysis.h"

struct upmu_value value_difference(const struct upmu_value *before, const struct upmu_value *after);
void count_add(struct upmu_overview_count *sum, const struct upmu_value *v, bool first);

void wait_sum_add(struct upmu_wait_sum *sum, uint64_t ns);
/** A wait that had not ended when its thread, or the recording, did. */
void wait_sum_add_unfinished(struct upmu_wait_sum *sum, uint64_t ns);

#endif
