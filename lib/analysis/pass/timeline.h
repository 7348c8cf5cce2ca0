/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Hooks of the event pass: begins and ends of waits and regions, and single events, in time order.
 *
 * The pass does not depend on its hooks: two passes over one recording number threads, objects and regions alike. Names
 * that are recorded late are known by reading it twice.
 */
#ifndef UPMU_ANALYSIS_TIMELINE_H
#define UPMU_ANALYSIS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "upmu/trace.h"

struct overview;
struct upmu_overview;

enum span_kind { SPAN_REGION, SPAN_WAIT, SPAN_FUNCTION, SPAN_MPI /* both of exports only */ };

/** A region, a wait or a call of one thread. Pointers are valid during the call. */
struct span {
    int kind;
    uint32_t thread; /**< index in the pass */
    uint32_t what;   /**< region, object waited for, or function */
    int wait_kind;   /**< enum upmu_wait_kind */
    uint64_t begin_ns, end_ns;
    uint32_t holder; /**< thread that held the object when the wait began, MAP_NONE if not known */
    uint64_t site, holder_site, holder_since;
    uint32_t holder_stack;
    uint32_t stack;
    bool passed;   /**< the call did not wait, as that of the last thread to arrive at a barrier */
    bool finished; /**< false: it had not ended when its thread, or the recording, did */
    const struct upmu_value *before, *after; /**< the counters of a region; `after` NULL while it is open */
    size_t n_values;
};

/** An interval in one scheduler state. */
struct sched_span {
    uint32_t thread; /**< index in the pass */
    int state;       /**< enum upmu_sched_state */
    uint32_t cpu;    /**< where it ran, or ran last */
    uint64_t begin_ns, end_ns;
};

/** Each hook may be NULL; a return other than 0 ends the pass with that value. */
struct timeline_hooks {
    void *arg;
    /** The trace was opened, and no event read. */
    int (*opened)(void *arg, const struct upmu_trace *trace);
    int (*begin)(void *arg, const struct span *span);
    int (*end)(void *arg, const struct span *span);
    /** After the pass has processed the event; `pass` holds the live object at an address. */
    int (*event)(void *arg, const struct overview *pass, uint32_t thread, const struct upmu_trace_event *event);
    /** A thread's intervals in time order, each when it ends; those of several threads overlap. */
    int (*sched)(void *arg, const struct sched_span *span);
    /** A blocked thread is woken by another one of its process, as the kernel recorded. */
    int (*wake)(void *arg, uint32_t waker, uint32_t wakee, uint64_t time_ns);
};

/** A time window of a recording, in nanoseconds since 1970; both ends belong to it. */
struct timeline_window {
    uint64_t from_ns, to_ns; /**< `to_ns` UINT64_MAX: until the end */
};

/** Convert a window relative to the begin of the recording; `to_ns` 0: until the end. @return 0; UPMU_E_INVAL if it is outside the
 *  recording. */
int timeline_window(const struct upmu_overview *overview, uint64_t from_ns, uint64_t to_ns,
                    struct timeline_window *out);

/** An overview without events, as of a recording that has no trace. @return 0; UPMU_E_NOMEM. */
int timeline_none(struct upmu_overview **overview);

/** The time of events, nanoseconds since 1970, at a moment of CLOCK_MONOTONIC_RAW. */
uint64_t timeline_of_raw(const struct upmu_overview *overview, size_t process, uint64_t raw_ns);

/** How addresses and stacks are shown. */
struct timeline_names {
    const char *debug_dir; /**< NULL: the default */
    int32_t stacks;        /**< enum upmu_stacks */
};

/** Read a recording as upmu_overview_open() does, with hooks. */
int timeline_read(struct upmu_overview **overview, const char *dir, const struct timeline_names *names,
                  const struct timeline_hooks *hooks);

/** Check a number from the caller of `function`. @return 0; UPMU_E_INVAL: it is no enum upmu_stacks. */
int stacks_check(const char *function, int32_t stacks);

#endif
