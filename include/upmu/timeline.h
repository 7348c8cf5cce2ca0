/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What happened in a recording, one thing after the other: waits and regions with their ends, acquisitions, releases,
 * signals, threads, marks. A page of it, of those that pass a filter; memory goes with the page, not with the recording.
 * Link with libupmu_analysis. `upmu report --view timeline` is this on the command line.
 *
 *     struct upmu_timeline *t;
 *     struct upmu_timeline_opts opts = {.size = sizeof opts, .thread = "worker", .rows = 100};
 *     struct upmu_timeline_row row = {.size = sizeof row};
 *     if (upmu_timeline_open(&t, "DIR", &opts) < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 *     for (size_t i = 0; upmu_timeline_row_at(t, i, &row) == 0; i++)
 *         printf("%" PRIu64 " %s\n", row.begin_ns, upmu_row_kind_name(row.kind));
 *     upmu_timeline_close(t);
 *
 * Functions that fill a struct take its `size` from the caller and return 0, UPMU_E_NAME past the last entry,
 * UPMU_E_INVAL for a size that is too small or an argument that is NULL. Strings live as long as the timeline.
 */
#ifndef UPMU_TIMELINE_H
#define UPMU_TIMELINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/analysis.h"
#include "upmu/api.h"
#include "upmu/trace.h"

UPMU_BEGIN_DECLS

/** A page of a recording's timeline. One thread at a time. */
struct upmu_timeline;

/** What a row is. */
enum upmu_row_kind {
    UPMU_ROW_WAIT = 0,    /**< from a thread's stopping to its going on */
    UPMU_ROW_REGION = 1,  /**< from a region's begin to its end */
    UPMU_ROW_ACQUIRE = 2, /**< a lock taken without a wait, as far as that is recorded */
    UPMU_ROW_RELEASE = 3,
    UPMU_ROW_WAKE = 4,   /**< a signal, a broadcast, a post, a futex wake */
    UPMU_ROW_THREAD = 5, /**< a thread is made, begins, is named, ends, ... */
    UPMU_ROW_MARK = 6,
    UPMU_ROW_OBJECT = 7, /**< a lock or variable begins, is named, is used wrongly, found taken, ends, ... */
    UPMU_ROW_KINDS = 8,
};

/** "wait", "region", "acquire", "release", "wake", "thread", "mark", "object"; "?" for any other number. */
UPMU_API const char *upmu_row_kind_name(int kind);

/** Which rows; NULL or all zero but `size`: all of them. A row passes if it passes each filter given. */
struct upmu_timeline_opts {
    size_t size;           /**< sizeof(struct upmu_timeline_opts) */
    const char *debug_dir; /**< where separate debug files are; NULL: /usr/lib/debug */
    const char *thread;    /**< of the threads of that name, or with that kernel id; NULL: of any */
    const char *object;    /**< about the locks and variables of that name, or at that address ("0x12ab"); NULL: all */
    uint32_t kinds;        /**< bit n for kind n; 0: all */
    uint32_t
        object_types; /**< bit n for enum upmu_object_type n: about objects of these types; 0: all, and no object */
    uint64_t from_ns; /**< not over before this, nanoseconds since the recording's first event */
    uint64_t to_ns;   /**< begun by then; 0: until the end */
    uint64_t number;  /**< the row with this number alone; 0: any */
    uint64_t skip;    /**< rows to pass over: those of the pages before */
    size_t rows;      /**< rows of the page; 0: all */
};
#define UPMU_TIMELINE_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_timeline_opts, 80)

/**
 * Read a recording, or the directory of one process in it, twice: once for names that come late, once for the rows.
 * @return 0; the codes of upmu_overview_open(); UPMU_E_NAME (no thread or object is called that; the message says which
 *         is near), UPMU_E_INVAL (options).
 */
UPMU_API UPMU_CHECKED int upmu_timeline_open(struct upmu_timeline **timeline, const char *dir,
                                             const struct upmu_timeline_opts *opts);

/** Close; NULL is fine. */
UPMU_API void upmu_timeline_close(struct upmu_timeline *timeline);

/** The recording as a whole, for names, stacks and places. Lives as long as the timeline. */
UPMU_API struct upmu_overview *upmu_timeline_overview(struct upmu_timeline *timeline);

/** How many rows there are. */
struct upmu_timeline_totals {
    size_t size;      /**< in: sizeof(struct upmu_timeline_totals) */
    uint64_t rows;    /**< in the recording */
    uint64_t matched; /**< of these, those that pass the filters */
    uint64_t skipped; /**< of these, those of the pages before */
    size_t shown;     /**< rows of this page */
};
#define UPMU_TIMELINE_TOTALS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_timeline_totals, 40)
UPMU_API UPMU_CHECKED int upmu_timeline_totals_read(const struct upmu_timeline *timeline,
                                                    struct upmu_timeline_totals *out);

/** A row. */
struct upmu_timeline_row {
    size_t size;       /**< in: sizeof(struct upmu_timeline_row) */
    uint64_t number;   /**< from 1, in the order of begins: the same whatever the filter is */
    int32_t kind;      /**< enum upmu_row_kind */
    int32_t event;     /**< enum upmu_trace_kind of what it is about; of a wait or region, of its begin */
    uint32_t thread;   /**< index for upmu_overview_thread_at() */
    uint32_t process;  /**< index for upmu_overview_process_at() */
    uint32_t object;   /**< index for upmu_overview_object_at(), UINT32_MAX: none */
    uint32_t holder;   /**< thread that had it when the wait began, index as above; UINT32_MAX: not known */
    uint64_t begin_ns; /**< nanoseconds since 1970 */
    uint64_t end_ns;   /**< the same as `begin_ns` for what has no length */
    uint32_t ended; /**< 0: a wait or region of which no end was recorded; a wait that was unfinished when the thread,
                             or the recording, ended lasts up to then, any other `end_ns` is `begin_ns` */
    int32_t wait_kind; /**< enum upmu_wait_kind, -1 if it is no wait */
    int32_t result;    /**< what the call returned, of a wait the one that ended it: an errno value, 0 = success */
    uint32_t flags;    /**< enum upmu_trace_flag */
    const char *text;  /**< name of a region, text of a mark, name given; "" for others */
    uint64_t count;    /**< sleepers woken, value read, ...; see struct upmu_trace_event */
    pid_t peer;        /**< the other thread (made, joined, ...), 0 if not known */
    uint64_t site;     /**< for upmu_overview_symbol_at(), 0 if not known */
    uint32_t stack;    /**< for upmu_overview_stack_find(), 0 = none */
    uint64_t holder_site;
    uint64_t holder_since; /**< 0: not known */
    size_t n_counts;       /**< of a region that ended, what its counters counted in it; else 0 */
    const struct upmu_value *counts;
};
#define UPMU_TIMELINE_ROW_SIZE_V1 UPMU_SIZE_V1_(struct upmu_timeline_row, 144)
/** Row `i` of the page, in the order of begins. */
UPMU_API UPMU_CHECKED int upmu_timeline_row_at(const struct upmu_timeline *timeline, size_t i,
                                               struct upmu_timeline_row *out);
/** Number of rows of the page. */
UPMU_API size_t upmu_timeline_row_count(const struct upmu_timeline *timeline);

UPMU_END_DECLS

#endif
