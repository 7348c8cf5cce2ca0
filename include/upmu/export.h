/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Export of recordings to the formats of other tools: timelines for Chrome's trace viewers, Perfetto, the Firefox Profiler and Qt Creator, profiles
 * for callgrind viewers, pprof, speedscope and flame graphs, tables, and an HTML report.
 * Link with libupmu_analysis. docs/exports.md lists what each format can hold.
 *
 *     struct upmu_export_opts opts = {.size = sizeof opts};
 *     if (upmu_export("DIR", "chrome", fd, &opts) < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 */
#ifndef UPMU_EXPORT_H
#define UPMU_EXPORT_H

#include <stddef.h>
#include <stdint.h>

#include "upmu/api.h"

UPMU_BEGIN_DECLS

/** Subject of profiles (folded, flamegraph, callgrind, pprof, otlp, speedscope, firefox). */
enum upmu_export_what {
    UPMU_EXPORT_AUTO =
        0, /**< functions if they were recorded, else samples if any were, else regions if the program has
                             any, else waits */
    UPMU_EXPORT_WAITS = 1,     /**< blocked time by call stack */
    UPMU_EXPORT_REGIONS = 2,   /**< wall time by region, with waits as leaves; counters if the format has them */
    UPMU_EXPORT_FUNCTIONS = 3, /**< time in recorded functions (upmu/functions.h), of all threads together */
    UPMU_EXPORT_SAMPLES = 4,   /**< samples (upmu/samples.h) by thread and call stack */
    UPMU_EXPORT_WALL = 5,      /**< wall time: samples of CPU time, and waits, by thread and call stack */
};

/** Options; NULL or all zero but `size`: the defaults. */
struct upmu_export_opts {
    size_t size;           /**< sizeof(struct upmu_export_opts) */
    int32_t what;          /**< enum upmu_export_what */
    uint32_t reserved;     /**< 0 */
    const char *debug_dir; /**< directory of separate debug files; NULL: UPMU_DEBUG_DIR, else /usr/lib/debug */
    /** Called repeatedly with the number of events processed and of all events (0 if unknown); NULL: not called. */
    void (*progress)(void *arg, uint64_t done, uint64_t all);
    void *arg; /**< first argument of `progress` and `damage` */
    /** Time window in nanoseconds since the start of the recording; `to_ns` 0: to the end. Timelines, profiles and lists
     *  of events are limited to it: regions and waits are cut at its ends, and a region cut at its begin has no counts. In
     *  html, timeline and chart have whatever overlaps it, uncut; tables and sums are of the stretch. */
    uint64_t from_ns, to_ns;
    /** Called once for each part of the recording that could not be read, with its message; NULL: not called. */
    void (*damage)(void *arg, const char *message);
    /** Directory of an older recording, to which the new one is compared: format flamegraph colors call paths by how their time
     *  changed, html has a view of the differences. NULL: none. */
    const char *base;
    int32_t stacks;     /**< enum upmu_stacks (upmu/analysis.h) */
    uint32_t reserved2; /**< 0 */
};
#define UPMU_EXPORT_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_export_opts, 64)

/** Numbers about an export. */
struct upmu_export_result {
    size_t size;     /**< in: sizeof(struct upmu_export_result); out: bytes filled */
    uint64_t events; /**< events read */
    uint64_t bytes;  /**< bytes written */
    uint64_t lost;   /**< events dropped while recording */
    uint64_t
        omitted; /**< regions and waits nested deeper than 512, the limit of viewers; chrome, perfetto, firefox: all but the
                                  longest 262,144 regions and waits, and events with marks, counters or arrows beyond
                                  as many of each kind; tasks, gcc: source locations beyond the first 200, and unknown
                                  ones */
    uint64_t damages;        /**< streams that were not read completely */
    uint64_t without_number; /**< counters of regions without a number, missing in the sums of a profile */
};
#define UPMU_EXPORT_RESULT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_export_result, 56)

/**
 * Write a recording, or one process of it, in another format.
 * @param dir    directory of the recording
 * @param format name of a format, see upmu_export_format_at()
 * @param fd     open for writing: a file, pipe or socket; it is not closed
 * @param opts   may be NULL
 * @param result may be NULL
 * @return 0; UPMU_E_NAME (unknown format; the message suggests one), UPMU_E_INVAL (NULL, `opts`, a window outside of the
 *         recording or not supported), UPMU_E_IO (the recording is unreadable, or writing failed: disk full, pipe closed),
 *         UPMU_E_FORMAT, UPMU_E_VERSION (as upmu_trace_open()), UPMU_E_NOMEM.
 * Events are not kept in memory; names, and for profiles distinct stacks are. Thread safe, not async-signal-safe. A closed
 * pipe raises SIGPIPE as any write() does.
 */
UPMU_API UPMU_CHECKED int upmu_export(const char *dir, const char *format, int fd, const struct upmu_export_opts *opts,
                                      struct upmu_export_result *result);

/** A format. Strings are static. */
struct upmu_export_format {
    size_t size;         /**< in: sizeof(struct upmu_export_format); out: bytes filled */
    const char *name;    /**< "chrome" */
    const char *suffix;  /**< usual suffix of its files: "json" */
    const char *summary; /**< one line */
};
#define UPMU_EXPORT_FORMAT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_export_format, 32)
/** Format `i`. @return 0; UPMU_E_END (no such format); UPMU_E_INVAL (NULL, size). Thread safe. */
UPMU_API UPMU_CHECKED int upmu_export_format_at(size_t i, struct upmu_export_format *out);
/** Number of formats. Thread safe. */
UPMU_API size_t upmu_export_format_count(void);

UPMU_END_DECLS

#endif
