/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Recordings in the formats of other tools: timelines for Chrome's trace viewers, Perfetto and Qt Creator, profiles for
 * callgrind's readers, pprof, speedscope and flame graphs, tables for everything else.
 * Link with libupmu_analysis. What each format can and cannot hold is in docs/exports.md.
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

/** What profiles (folded, flamegraph, callgrind, pprof, speedscope) add up. */
enum upmu_export_what {
    UPMU_EXPORT_AUTO = 0,  /**< regions if the program has any of its own, else waits */
    UPMU_EXPORT_WAITS = 1, /**< time blocked, by call stack */
    UPMU_EXPORT_REGIONS =
        2, /**< wall time by region, the waits in them as leaves; counters where the format has them */
};

/** Options; NULL or all zero but `size`: the defaults. */
struct upmu_export_opts {
    size_t size;           /**< sizeof(struct upmu_export_opts) */
    int32_t what;          /**< enum upmu_export_what */
    uint32_t reserved;     /**< 0 */
    const char *debug_dir; /**< where separate debug files are; NULL: /usr/lib/debug */
    /** Told now and then how much is done: `done` of `all` events, `all` 0 while that is not known. NULL: nobody. */
    void (*progress)(void *arg, uint64_t done, uint64_t all);
    void *arg;
    /** A time window in nanoseconds since the recording's first event; `to_ns` 0: up to the end. Timelines, profiles and
     *  lists of events have what lies in it, regions and waits cut at its ends (a region cut at its begin has no counts).
     *  Timeline and chart of html have what overlaps it, whole; its tables and sums are of everything. UPMU_E_INVAL if it
     *  lies outside the recording, and for formats whose sums are of the whole recording (tasks, gcc). */
    uint64_t from_ns, to_ns;
    /** Called once for each part of the recording that could not be read, with its message. NULL: not called. */
    void (*damage)(void *arg, const char *message);
};
#define UPMU_EXPORT_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_export_opts, 64)

/** What an export found, beside what it wrote. */
struct upmu_export_result {
    size_t size;             /**< in: sizeof(struct upmu_export_result) */
    uint64_t events;         /**< events read */
    uint64_t bytes;          /**< written */
    uint64_t lost;           /**< events that could not be recorded */
    uint64_t omitted;        /**< regions and waits nested deeper than viewers bear (512); places past the 200th, or
                                  of which nothing is known (tasks, gcc) */
    uint64_t damages;        /**< streams of which a part could not be read */
    uint64_t without_number; /**< counters of regions left out of a profile's sums, since they have no number */
};
#define UPMU_EXPORT_RESULT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_export_result, 56)

/**
 * Write a recording, or one process of it, in another format.
 * @param dir    directory of the recording
 * @param format a name of upmu_export_format_at()
 * @param fd     open for writing; stays open. A file, a pipe or a socket
 * @param opts   may be NULL
 * @param result may be NULL
 * @return 0; UPMU_E_NAME (no such format; the message suggests), UPMU_E_INVAL, UPMU_E_IO (the recording, or `fd`: disk
 *         full, pipe closed), UPMU_E_FORMAT, UPMU_E_VERSION (the recording), UPMU_E_NOMEM.
 * Memory: names, and for profiles the distinct stacks; never the events. Thread safe, not signal safe. A closed pipe
 * raises SIGPIPE as for any write().
 */
UPMU_API UPMU_CHECKED int upmu_export(const char *dir, const char *format, int fd, const struct upmu_export_opts *opts,
                                      struct upmu_export_result *result);

/** A format. Strings live as long as the process. */
struct upmu_export_format {
    size_t size;         /**< in: sizeof(struct upmu_export_format) */
    const char *name;    /**< "chrome" */
    const char *suffix;  /**< what files of it end with: "json" */
    const char *summary; /**< one line */
};
#define UPMU_EXPORT_FORMAT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_export_format, 32)
/** Format `i`. @return 0; UPMU_E_NAME past the last; UPMU_E_INVAL. */
UPMU_API UPMU_CHECKED int upmu_export_format_at(size_t i, struct upmu_export_format *out);
/** Number of formats. */
UPMU_API size_t upmu_export_format_count(void);

UPMU_END_DECLS

#endif
