/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The pass over a recording, seen while it goes on: what began, what ended, each event. For those who want things in the
 * order of time instead of added up. Room: analysis. Before it: the pass (overview.c); after it: the export room.
 *
 * The pass is the same whoever looks on, so the threads, objects and regions of two passes over one recording have the
 * same numbers: names that come late in a recording are known by reading it twice.
 */
#ifndef UPMU_ANALYSIS_TIMELINE_H
#define UPMU_ANALYSIS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "upmu/trace.h"

struct overview;
struct upmu_overview;

enum span_kind { SPAN_REGION, SPAN_WAIT };

/** A region or a wait of one thread. Pointers are valid during the call. */
struct span {
    int kind;
    uint32_t thread; /**< index in the pass */
    uint32_t what;   /**< region, or object that is waited for */
    int wait_kind;   /**< enum upmu_wait_kind */
    uint64_t begin_ns, end_ns;
    uint32_t holder; /**< thread that had the object when the wait began, MAP_NONE if not known */
    uint64_t site, holder_site, holder_since;
    uint32_t stack;
    bool finished;                           /**< false: it had not ended when its thread, or the recording, did */
    const struct upmu_value *before, *after; /**< the counters of a region; `after` NULL while it is open */
    size_t n_values;
};

/** How a thread ran for a while. */
struct sched_span {
    uint32_t thread; /**< index in the pass */
    int state;       /**< enum upmu_sched_state */
    uint32_t cpu;    /**< where it ran, or ran last */
    uint64_t begin_ns, end_ns;
};

/** Who looks on. Each may be NULL; a return other than 0 ends the pass with it. */
struct timeline_hooks {
    void *arg;
    int (*begin)(void *arg, const struct span *span);
    int (*end)(void *arg, const struct span *span);
    /** After the pass has taken the event; `pass` knows which object lives at an address now. */
    int (*event)(void *arg, const struct overview *pass, uint32_t thread, const struct upmu_trace_event *event);
    /** A thread's intervals in the order of time, once they are over; those of several threads overlap. */
    int (*sched)(void *arg, const struct sched_span *span);
    /** A thread that waits is woken by another one of its process, as the kernel tells. */
    int (*wake)(void *arg, uint32_t waker, uint32_t wakee, uint64_t time_ns);
};

/** A stretch of a recording, in nanoseconds since 1970; both ends belong to it. */
struct timeline_window {
    uint64_t from_ns, to_ns; /**< `to_ns` UINT64_MAX: until the end */
};

/** The window of options that count from the first event; `to_ns` 0: until the end. @return 0; UPMU_E_INVAL if it lies outside
 *  the recording. */
int timeline_window(const struct upmu_overview *overview, uint64_t from_ns, uint64_t to_ns,
                    struct timeline_window *out);

/** Read a recording as upmu_overview_open() does, with somebody looking on. */
int timeline_read(struct upmu_overview **overview, const char *dir, const char *debug_dir,
                  const struct timeline_hooks *hooks);

#endif
