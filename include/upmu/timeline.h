/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Timeline of a recording: waits, regions, acquisitions, releases, wake-ups, threads and marks as rows in the order of time.
 * A timeline holds one page of rows that match a filter; its memory depends on the page, not on the recording.
 * Link with libupmu_analysis; `upmu report --view timeline` has the same on the command line.
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
 * Functions that fill a struct take its `size` from the caller, set it to the bytes filled, and return 0; UPMU_E_END past
 * the last entry; UPMU_E_INVAL if an argument is NULL or `size` is too small. Further errors are at each function. Strings
 * and arrays are valid until the timeline is closed. A timeline may be used by one thread at a time; no function here is
 * async-signal-safe.
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

/** A page of the timeline of a recording. */
struct upmu_timeline;

/** Kind of a row. */
enum upmu_row_kind {
    UPMU_ROW_WAIT = 0,    /**< a wait, from its start to its end */
    UPMU_ROW_REGION = 1,  /**< a region, from its begin to its end */
    UPMU_ROW_ACQUIRE = 2, /**< an acquisition without a wait, as far as recorded */
    UPMU_ROW_RELEASE = 3, /**< a release, as far as recorded */
    UPMU_ROW_WAKE = 4,    /**< a signal, broadcast, post or futex wake-up */
    UPMU_ROW_THREAD = 5,  /**< creation, start, name, end, ... of a thread */
    UPMU_ROW_MARK = 6,    /**< upmu_mark() */
    UPMU_ROW_OBJECT = 7,  /**< initialization, name, misuse, failed try, end, ... of an object */
};

/** "wait", "region", "acquire", "release", "wake", "thread", "mark", "object"; "?" for any other number. */
UPMU_API const char *upmu_row_kind_name(int kind);

/** Filter and page; NULL or all zero but `size`: all rows. A row matches if it matches every field. */
struct upmu_timeline_opts {
    size_t size;           /**< sizeof(struct upmu_timeline_opts) */
    const char *debug_dir; /**< directory of separate debug files; NULL: UPMU_DEBUG_DIR, else /usr/lib/debug */
    const char *thread;    /**< name or kernel id of a thread; NULL: all */
    const char *object;    /**< name or address ("0x12ab") of an object; NULL: all */
    uint32_t kinds;        /**< bit n: rows of enum upmu_row_kind n; 0: all */
    uint32_t
        object_types;  /**< bit n: rows about objects of enum upmu_object_type n; 0: all, and rows without an object */
    uint64_t from_ns;  /**< rows that end at or after this time, nanoseconds since the start of the recording */
    uint64_t to_ns;    /**< rows that begin at or before this time; 0: no limit */
    uint64_t number;   /**< only the row with this number; 0: all */
    uint64_t skip;     /**< matching rows before the page */
    size_t rows;       /**< rows of the page; 0: all */
    int32_t stacks;    /**< enum upmu_stacks */
    uint32_t reserved; /**< 0 */
};
#define UPMU_TIMELINE_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_timeline_opts, 80)

/**
 * Read a recording, or the directory of one process in it. It is read twice, because names may be recorded late.
 * @param timeline out: to be closed with upmu_timeline_close(); NULL on failure
 * @param dir      path of the directory
 * @param opts     may be NULL; not used after the call
 * @return 0; the errors of upmu_overview_open(); UPMU_E_NAME (no such thread or object; the message suggests one);
 *         UPMU_E_INVAL (NULL, `opts`).
 */
UPMU_API UPMU_CHECKED int upmu_timeline_open(struct upmu_timeline **timeline, const char *dir,
                                             const struct upmu_timeline_opts *opts);

/** Close and free; NULL does nothing. */
UPMU_API void upmu_timeline_close(struct upmu_timeline *timeline);

/** The overview of the recording, for names, stacks and symbols. Owned by the timeline; NULL if that is NULL. */
UPMU_API struct upmu_overview *upmu_timeline_overview(struct upmu_timeline *timeline);

/** Numbers of rows. */
struct upmu_timeline_totals {
    size_t size;      /**< in: sizeof(struct upmu_timeline_totals); out: bytes filled */
    uint64_t rows;    /**< rows of the recording */
    uint64_t matched; /**< of these, rows that match the filter */
    uint64_t skipped; /**< of these, rows before the page */
    size_t shown;     /**< rows of the page */
};
#define UPMU_TIMELINE_TOTALS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_timeline_totals, 40)
/** Read the totals. @return 0; UPMU_E_INVAL. */
UPMU_API UPMU_CHECKED int upmu_timeline_totals_read(const struct upmu_timeline *timeline,
                                                    struct upmu_timeline_totals *out);

/** A row. */
struct upmu_timeline_row {
    size_t size;       /**< in: sizeof(struct upmu_timeline_row); out: bytes filled */
    uint64_t number;   /**< from 1, in the order of begins, independent of the filter */
    int32_t kind;      /**< enum upmu_row_kind */
    int32_t event;     /**< enum upmu_trace_kind of its event; of a wait or region, of its begin */
    uint32_t thread;   /**< index for upmu_overview_thread_at() */
    uint32_t process;  /**< index for upmu_overview_process_at() */
    uint32_t object;   /**< index for upmu_overview_object_at(); UPMU_NO_INDEX: none */
    uint32_t holder;   /**< thread that held the object at the start of the wait; UPMU_NO_INDEX: unknown */
    uint64_t begin_ns; /**< begin, nanoseconds since 1970 */
    uint64_t end_ns;   /**< end; `begin_ns` for rows without a duration */
    uint32_t ended;    /**< 0: a wait or region without a recorded end. `end_ns` of a wait that was unfinished when the
                                thread or the recording ended, or of a region that was discarded, is that time, otherwise `begin_ns` */
    int32_t wait_kind; /**< enum upmu_wait_kind, -1 if it is no wait */
    int32_t result;    /**< return value of the call, of a wait that of its end: an errno value, 0 = success */
    uint32_t flags;    /**< enum upmu_trace_flag */
    const char *text;  /**< name of a region, text of a mark, name of a thread or object; "" for others */
    uint64_t count;    /**< FUTEX_WAKE: waiters woken; SEM_VALUE: the value; THREAD_EXIT: context switches; else 0 */
    pid_t peer;        /**< kernel id of the other thread (created, joined, ...), 0 if unknown or none */
    uint64_t site;     /**< call site for upmu_overview_symbol_at(), 0 if unknown */
    uint32_t stack;    /**< id for upmu_overview_stack_find(), 0 = none */
    uint64_t holder_site;  /**< call site of the holder's acquisition, 0 if unknown */
    uint64_t holder_since; /**< time of the holder's acquisition, 0 if unknown */
    size_t n_counts;       /**< counters of a region that ended, in the order of upmu_overview_counter_name(); else 0 */
    const struct upmu_value *counts; /**< their values */
};
#define UPMU_TIMELINE_ROW_SIZE_V1 UPMU_SIZE_V1_(struct upmu_timeline_row, 144)
/** Row `i` of the page, in the order of begins. */
UPMU_API UPMU_CHECKED int upmu_timeline_row_at(const struct upmu_timeline *timeline, size_t i,
                                               struct upmu_timeline_row *out);
/** Number of rows of the page; 0 if `timeline` is NULL. */
UPMU_API size_t upmu_timeline_row_count(const struct upmu_timeline *timeline);

UPMU_END_DECLS

#endif
