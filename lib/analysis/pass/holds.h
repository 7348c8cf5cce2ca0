/* SPDX-License-Identifier: MIT */
/** @file Hold times and acquisition counts of one thread for one object. */
#ifndef UPMU_ANALYSIS_HOLDS_H
#define UPMU_ANALYSIS_HOLDS_H

#include "analysis/pass/state.h"

/** An acquisition; `site` is its call site. `nests`: the object may be held by the thread already. */
void hold_take(struct ov_thread_stats *stats, const struct upmu_trace_event *e, uint64_t site, bool nests);
/** A release: `stats->hold` is the hold that ends, with its begin from any source. @return 0; UPMU_E_NOMEM. */
int hold_release(struct overview *o, struct ov_thread_stats *stats, const struct upmu_trace_event *e);
/** A waiter found the object held, as its event records, at the latest since then; acquired at `site`. */
void hold_observed(struct ov_thread_stats *stats, const struct upmu_trace_event *e, uint64_t site);
/** An acquisition by another thread shows that the hold has ended. */
void hold_forget(struct ov_thread_stats *stats);
/** A condition variable's wait releases the mutex, however often it was acquired, and acquires it again. @return 0;
 *  UPMU_E_NOMEM. */
int hold_pause(struct overview *o, struct ov_thread_stats *stats, const struct upmu_trace_event *e);
void hold_resume(struct ov_thread_stats *stats, const struct upmu_trace_event *e);
/** The thread has waited in a call: locks that it holds are held meanwhile. @return 0; UPMU_E_NOMEM. */
int hold_note_call(struct ov_thread *t, int kind, uint64_t begin_ns, uint64_t end_ns);
/** Add `stats->hold`, which has ended, to the object's time of holds and of the calls in them. */
void hold_add_calls(struct overview *o, const struct ov_thread_stats *stats);
/** The recording ends at `time_ns`. If a thread still waits, the hold lasts until then. @return 0; UPMU_E_NOMEM. */
int hold_finish(struct overview *o, struct ov_thread_stats *stats, uint64_t time_ns);
/** An acquisition after the window, of an object that was held at its end, or whose release was lost. */
void hold_take_after(struct ov_thread_stats *stats, const struct upmu_trace_event *e, bool nests);
/** Whether an acquisition has no release yet. */
bool hold_is_open(const struct ov_thread_stats *stats);
void hold_counts(struct ov_thread_stats *stats, struct ov_baseline *baseline, const struct upmu_trace_event *e);

uint64_t stats_acquisitions(const struct ov_thread_stats *stats);
uint64_t stats_contended(const struct ov_thread_stats *stats);
uint64_t stats_shared(const struct ov_thread_stats *stats);
bool stats_counts_exact(const struct ov_thread_stats *stats);
/** Whether every acquisition and release was recorded. */
bool stats_holds_complete(const struct ov_thread_stats *stats);
/** The holds whose begin and end are certain. */
const struct upmu_wait_sum *stats_holds(const struct ov_thread_stats *stats);
/** The holds of which only a part is recorded. */
struct upmu_wait_sum stats_partial_holds(const struct ov_thread_stats *stats);

#endif
