/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Event handlers that overview.c dispatches to, by subject.
 *
 * Calls go down: threads.c and objects.c, then waits.c, sched.c and regions.c, then holds.c, sections.c and tables.c.
 * What returns int returns 0, UPMU_E_NOMEM, or what a timeline hook returned.
 */
#ifndef UPMU_ANALYSIS_HANDLERS_H
#define UPMU_ANALYSIS_HANDLERS_H

#include "analysis/pass/state.h"

/* threads.c: names and lifetimes of threads. */
int thread_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);

/* objects.c: locks, condition variables, semaphores, barriers, futexes and joined threads. */
int object_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);
/** A LOCK_ORDER: of a semaphore that was recorded as a lock, it may show that it is none. @return 0; UPMU_E_NOMEM. */
int object_order_event(struct overview *o, const struct upmu_trace_event *e);

/** The object of a CALL_BLOCK, with its name; MAP_NONE: out of memory. */
uint32_t call_object(struct overview *o, const struct upmu_trace_event *e);

/* waits.c */
/** Kind of a wait by the event that begins or ends it (enum upmu_wait_kind). */
int wait_kind(const struct upmu_trace_event *e);
/** A wait that has begun, and of which no event is recorded: CALL_BLOCK `e` was taken from the wait-state file, `object` is
 *  from call_object(). The thread has no pending wait. */
int wait_begin_unrecorded(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e);
int wait_begin(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e);
int wait_end(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e);
/** Events after the window: the begin of a wait shows that the end of an equal one was lost, the end, at
 *  `time_ns` of the recording, ends it with the window. */
void wait_begin_after(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);
int wait_end_after(struct overview *o, uint32_t thread, const struct upmu_trace_event *e, uint64_t time_ns);
/** The call returned without waiting: it is in no sum. */
int wait_cancel(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e);
/** Whether events of the thread were lost, its last ones maybe: its pending waits are known to last no longer than another process has
 *  seen them (`blocked_until_ns`). */
bool waits_are_lost(const struct overview *o, const struct ov_thread *t);
/** The thread ends at `until`: its pending waits stay unfinished. */
int waits_abandon(struct overview *o, uint32_t thread, uint64_t until);

/* regions.c */
int region_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);
/** The thread ends, or with `cut` the window: its open regions stay unfinished, or end there. */
void regions_abandon(struct overview *o, uint32_t thread, bool cut);

/* sched.c: context switches. */
int sched_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);
/** The thread's lifetime begins: earlier records are not part of it. */
void sched_start(struct ov_thread *t, uint64_t time_ns);
/** The sums begin anew: the window begins. */
void sched_restart(struct overview *o, uint32_t thread);
/** It ends at its `end_ns`. */
int sched_end(struct overview *o, uint32_t thread);

/* tracepoints.c: wake-ups and kernel locks. */
int wake_event(struct overview *o, uint32_t waker, const struct upmu_trace_event *e);
/** A woken thread runs. */
int wake_arrived(struct overview *o, uint32_t thread, uint64_t time_ns);
int kernel_lock_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);

/* sections.c: counters over waits and holds. */
int snapshot_record(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);
int section_begin(struct overview *o, uint32_t thread, const struct upmu_trace_event *e, struct ov_section *s);
/** Add the section to `sum` if both its ends have counters, and free it. */
int section_end(struct overview *o, uint32_t thread, const struct upmu_trace_event *e, struct ov_section *s,
                struct ov_section_sums *sum);
void section_free(struct ov_section *s);

/* sort.c: the most important first. */
int overview_sort(struct overview *o);

#endif
