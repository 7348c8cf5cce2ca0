/* SPDX-License-Identifier: MIT */
/** @file Hold times and acquisition counts of one thread for one object. */
#ifndef UPMU_ANALYSIS_HOLDS_H
#define UPMU_ANALYSIS_HOLDS_H

#include "analysis/pass/state.h"

void hold_take(struct ov_thread_stats *stats, const struct upmu_trace_event *e, bool recursive);
/** End the hold. @return its begin from any source; 0: not known, or the mutex was acquired recursively. */
uint64_t hold_end(struct ov_thread_stats *stats);
void hold_release(struct ov_thread_stats *stats, const struct upmu_trace_event *e);
/** A waiter found the object held since `since_ns` or, if that is 0, at the latest since `time_ns`. */
void hold_observed(struct ov_thread_stats *stats, uint64_t since_ns, uint64_t time_ns);
/** A condition variable's wait releases the mutex, however often it was acquired, and acquires it again. */
void hold_pause(struct ov_thread_stats *stats, uint64_t time_ns);
void hold_resume(struct ov_thread_stats *stats, uint64_t time_ns);
void hold_counts(struct ov_thread_stats *stats, struct ov_baseline *baseline, const struct upmu_trace_event *e);

uint64_t stats_acquisitions(const struct ov_thread_stats *stats);
uint64_t stats_contended(const struct ov_thread_stats *stats);
uint64_t stats_shared(const struct ov_thread_stats *stats);
bool stats_counts_exact(const struct ov_thread_stats *stats);
/** Whether every acquisition and release was recorded. */
bool stats_holds_complete(const struct ov_thread_stats *stats);
/** The holds whose begin and end are certain. */
const struct upmu_wait_sum *stats_holds(const struct ov_thread_stats *stats);

#endif
