/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The event pass: events go in one by one in time order, sums come out.
 *
 * It opens no file: any source of events will do.
 */
#ifndef UPMU_ANALYSIS_OVERVIEW_H
#define UPMU_ANALYSIS_OVERVIEW_H

#include "analysis/pass/state.h"

/** Process one event. @return 0, also for unknown kinds; UPMU_E_NOMEM; UPMU_E_INVAL (no such process). */
int overview_add(struct overview *o, const struct upmu_trace_event *e);

/** The recording shows that the thread still waited for the object at `address` at `until`, but for no longer than `most_ns`.
 *  After the last event. */
void overview_extend_wait(struct overview *o, uint32_t process, pid_t tid, uint64_t address, uint64_t until,
                          uint64_t most_ns);

/** After the last event: end what is open. @return 0; UPMU_E_NOMEM. */
int overview_end(struct overview *o);
/** After overview_end(): sort, and find the critical paths. @return 0; UPMU_E_NOMEM. */
int overview_conclude(struct overview *o);

#endif
