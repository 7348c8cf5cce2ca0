/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Regions: bracket the hot sections of a program and get counts and time per region and thread.
 *
 *     upmu_region_begin("parse");            // string form
 *     parse(input);
 *     upmu_region_end("parse");
 *
 *     static upmu_region_t r = UPMU_REGION("inner loop");   // handle form, for hot loops
 *     upmu_region_enter(&r);
 *     ...
 *     upmu_region_leave(&r);
 *
 *     UPMU_SCOPE("compress") { ... }         // ends by itself, also on return, break and goto
 *
 * Nothing needs to be initialised or registered. Regions are switched on by the environment (UPMU_EVENTS,
 * UPMU_REPORT, UPMU_OUTPUT, UPMU_TRACE; see docs/guide.md) or by upmu_region_setup(); while off, a call costs one
 * load and a branch, and nothing is printed or written. Compiled with UPMU_DISABLE they are gone.
 *
 * Counters run all the time; begin and end read them and subtract. Regions nest, in any number of threads, without
 * a lock. Misuse (an end without its begin, ends out of order, an end in another thread, names too long) is counted
 * and shown in the report; it is never fatal and loses nothing recorded before.
 *
 * begin, end, enter, leave and mark are async-signal-safe after their first use in a thread, keep errno, and may be
 * called from any thread at any time, exit handlers and thread-specific destructors included.
 */
#ifndef UPMU_REGION_H
#define UPMU_REGION_H

#include <stddef.h>
#include <stdint.h>

#include "upmu/api.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** Longest region name kept, in bytes; a longer one is cut, made distinct by a hash, and counted as misuse. */
#define UPMU_REGION_NAME_MAX 255
/** Deepest nesting measured in one thread; regions below it are counted as `too_deep` and not measured. */
#define UPMU_REGION_DEPTH_MAX 256
/** Most events measured per region; further names in UPMU_EVENTS are refused, and the report says so. */
#define UPMU_REGION_EVENTS_MAX 16

/** A region handle: define it static with UPMU_REGION(); the fields are the library's. */
typedef struct upmu_region {
    const char *name;
    uint32_t id; /**< 0 until first use; then the same for every handle and string of this name */
    uint32_t reserved;
} upmu_region_t;

/** Static initialiser of a handle; `name` must be a string that lives as long as the program. */
#define UPMU_REGION(name_literal) \
    {                             \
        (name_literal), 0, 0      \
    }

/* ------------------------------------------------------------------------------------------------ set up */

/** Options of upmu_region_setup(); all zero but `size` means: time, context switches, and no report. */
struct upmu_region_opts {
    size_t size;         /**< sizeof(struct upmu_region_opts) */
    const char *events;  /**< comma-separated names as for upmu_set_open(); NULL: time and context switches only */
    const char *report;  /**< "text", "json", "csv" or "none" (NULL): what to write at exit */
    const char *output;  /**< file of the report, %p = pid, %h = host, %% = %; NULL: standard error */
    const char *trace;   /**< directory of the trace; NULL: none */
    const char *backend; /**< who counts, as in struct upmu_set_opts: "perf" (NULL) or "papi" */
};

/**
 * Switch regions on from the program; once per process, before or after the first region.
 * Where any of UPMU_EVENTS, UPMU_REPORT, UPMU_OUTPUT and UPMU_TRACE is set, whoever runs the program has the word:
 * regions are on since the library was loaded, as the environment says, and `opts` is not used.
 * @return 0; 1 if the environment has set regions up already (no error); UPMU_E_STATE (called before),
 *         UPMU_E_NAME (an event name nobody knows), UPMU_E_INVAL (report format, size), UPMU_E_LIMIT (too many events,
 *         no thread-specific key left), UPMU_E_IO (the trace directory cannot be made; regions stay off), UPMU_E_NOMEM,
 *         UPMU_E_SYSTEM (kernel older than 4.14).
 * Events that exist but cannot be counted are no error: their values say so. Not signal safe.
 */
UPMU_API int upmu_region_setup(const struct upmu_region_opts *opts);

/** Pause (0) or resume (1) all regions of the process. While paused a call costs as little as while off. Instances open
 *  at the pause were not watched to their end: they are left out, and an end after the resume whose begin came before
 *  it counts as `end_without_begin`. Has no effect while regions are not set up.
 *  @return the state before. Signal safe. */
UPMU_API int upmu_region_switch(int on);

/* ---------------------------------------------------------------------------------------------- measuring */

#ifndef UPMU_DISABLE

/** Internal: non-zero while regions are on. Read by the inline functions below, written by the library only. */
extern UPMU_API uint32_t upmu_region_gate_;

/** Internal halves of the inline functions. */
UPMU_API int upmu_region_begin_(const char *name);
UPMU_API int upmu_region_end_(const char *name);
UPMU_API int upmu_region_enter_(upmu_region_t *region);
UPMU_API int upmu_region_leave_(upmu_region_t *region);
UPMU_API int upmu_mark_(const char *text);

#define UPMU_REGION_OFF_ (__builtin_expect(!__atomic_load_n(&upmu_region_gate_, __ATOMIC_RELAXED), 0))

/** Begin the region `name` (copied at first sight) in the calling thread.
 *  @return 0, also while off; UPMU_E_INVAL (NULL or ""), UPMU_E_LIMIT (too deep, too many names, thread not
 *          measurable): counted, and the matching end is ignored. */
static inline int upmu_region_begin(const char *name)
{
    return UPMU_REGION_OFF_ ? 0 : upmu_region_begin_(name);
}

/** End the region `name`: the innermost open one of that name. Regions begun inside it and not ended are ended
 *  with it and counted as misuse. @return 0, also while off; UPMU_E_STATE (not open in this thread), UPMU_E_INVAL. */
static inline int upmu_region_end(const char *name)
{
    return UPMU_REGION_OFF_ ? 0 : upmu_region_end_(name);
}

/** Begin by handle; as upmu_region_begin(). */
static inline int upmu_region_enter(upmu_region_t *region)
{
    return UPMU_REGION_OFF_ ? 0 : upmu_region_enter_(region);
}

/** End by handle; as upmu_region_end(). */
static inline int upmu_region_leave(upmu_region_t *region)
{
    return UPMU_REGION_OFF_ ? 0 : upmu_region_leave_(region);
}

/** Put a remark on the timeline (the trace) of the calling thread; counted in the report. At most
 *  UPMU_REGION_NAME_MAX bytes are kept. @return 0, also while off; UPMU_E_INVAL (NULL). */
static inline int upmu_mark(const char *text)
{
    return UPMU_REGION_OFF_ ? 0 : upmu_mark_(text);
}

static inline upmu_region_t *upmu_region_scope_begin_(upmu_region_t *region)
{
    (void)upmu_region_enter(region);
    return region;
}

static inline void upmu_region_scope_end_(upmu_region_t **region)
{
    (void)upmu_region_leave(*region);
}

#define UPMU_CONCAT2_(a, b) a##b
#define UPMU_CONCAT_(a, b) UPMU_CONCAT2_(a, b)
/* clang-format off */
#define UPMU_SCOPE_(name_literal, scope, once)                                                                   \
    for (upmu_region_t * scope __attribute__((cleanup(upmu_region_scope_end_), unused)) =                        \
             upmu_region_scope_begin_(__extension__({                                                            \
                 static upmu_region_t upmu_handle_ = UPMU_REGION(name_literal);                                  \
                 &upmu_handle_;                                                                                  \
             })),                                                                                                \
             *once = scope;                                                                                      \
         once != NULL; once = NULL)
/* clang-format on */

#define UPMU_SCOPE_NUMBERED_(name_literal, n) \
    UPMU_SCOPE_(name_literal, UPMU_CONCAT_(upmu_scope_, n), UPMU_CONCAT_(upmu_once_, n))

/** `UPMU_SCOPE("name") { ... }`: the block is a region; it ends however the block is left (not by longjmp). */
#define UPMU_SCOPE(name_literal) UPMU_SCOPE_NUMBERED_(name_literal, __COUNTER__)

#else /* UPMU_DISABLE */

static inline int upmu_region_begin(const char *name)
{
    (void)name;
    return 0;
}
static inline int upmu_region_end(const char *name)
{
    (void)name;
    return 0;
}
static inline int upmu_region_enter(upmu_region_t *region)
{
    (void)region;
    return 0;
}
static inline int upmu_region_leave(upmu_region_t *region)
{
    (void)region;
    return 0;
}
static inline int upmu_mark(const char *text)
{
    (void)text;
    return 0;
}
#define UPMU_SCOPE(name_literal)

#endif /* UPMU_DISABLE */

/* ------------------------------------------------------------------------------------------- reading back */

/** Thread argument of upmu_region_stats_read(): the sum over all threads, ended ones included. */
#define UPMU_ALL_THREADS 0

/** Distribution of one quantity over the instances of a region. */
struct upmu_stat {
    uint64_t count;     /**< instances with a number; the fields below are over these */
    uint64_t sum;       /**< total */
    uint64_t min;       /**< smallest; UPMU_NO_VALUE when count is 0 */
    uint64_t max;       /**< largest; 0 when count is 0 */
    uint64_t last;      /**< most recent; UPMU_NO_VALUE when count is 0 */
    double sum_squares; /**< for the standard deviation */
};

/** One event of a region. */
struct upmu_region_event {
    struct upmu_stat stat;  /**< over the instances that have a number */
    uint64_t enabled;       /**< sum, nanoseconds */
    uint64_t running;       /**< sum, nanoseconds */
    uint64_t without_value; /**< instances without a number (not counted, refused) */
    int32_t status;         /**< weakest status of any instance */
    int32_t cause;          /**< enum upmu_code behind REFUSED and UNSUPPORTED, else 0 */
};

/** What upmu_region_stats_read() gives. */
struct upmu_region_stats {
    size_t size;                 /**< in: sizeof(struct upmu_region_stats) */
    uint64_t count;              /**< finished instances */
    uint64_t open;               /**< instances begun and not ended at this moment */
    struct upmu_stat wall;       /**< nanoseconds from begin to end */
    uint64_t self_ns;            /**< wall time minus that of regions inside */
    uint64_t descheduled;        /**< instances during which the thread lost the CPU */
    uint64_t deschedule_unknown; /**< instances for which that could not be told */
    uint32_t threads;            /**< threads that ran it */
    uint32_t n_events;           /**< entries used in `events`, in the order of upmu_region_event_name() */
    struct upmu_region_event events[UPMU_REGION_EVENTS_MAX];
};

/**
 * Aggregates so far, while the program runs.
 * @param name   region name
 * @param thread kernel thread id, or UPMU_ALL_THREADS
 * @param out    caller sets `size`
 * @return 0; UPMU_E_NAME (no such region, or not run by this thread), UPMU_E_INVAL, UPMU_E_STATE (regions are off).
 * Thread safe against running regions: a consistent view of each thread. Not signal safe.
 */
UPMU_API UPMU_CHECKED int upmu_region_stats_read(const char *name, pid_t thread, struct upmu_region_stats *out);

/** Name of the region seen `index`-th in the process, NULL past the last. Lives as long as the process. */
UPMU_API const char *upmu_region_name(size_t index);

/** Name of event `i` measured by regions, NULL past the last. Lives as long as the process. */
UPMU_API const char *upmu_region_event_name(size_t i);

/** What went wrong so far in the whole process; all zero in a healthy run. */
struct upmu_region_health {
    size_t size;                /**< in: sizeof(struct upmu_region_health) */
    uint64_t end_without_begin; /**< ends of a region not open in that thread (other thread, unknown, twice) */
    uint64_t closed_by_outer;   /**< regions ended because one around them ended first */
    uint64_t too_deep;          /**< begins below UPMU_REGION_DEPTH_MAX */
    uint64_t names_cut;         /**< names longer than UPMU_REGION_NAME_MAX */
    uint64_t names_refused;     /**< begins of regions for which no name or thread table had room, or "" or NULL */
    uint64_t interrupted;       /**< begins and ends turned away by the recorder at work or a thread at its end */
    uint64_t never_ended;       /**< regions still open when their thread ended */
    uint64_t threads_without_counters; /**< threads for which not all counters could be opened (limits) */
    uint64_t threads_merged;           /**< ended threads that share one row, beyond the number kept apart */
    uint64_t marks;                    /**< marks made */
    uint64_t trace_lost; /**< events that did not fit into the trace (full disk, quota, unreachable file) */
    uint64_t begin_ns;   /**< measured cost of an empty begin, of which `end_ns` holds the rest */
    uint64_t end_ns;     /**< measured cost of an empty end */
};

/** @return 0; UPMU_E_INVAL; UPMU_E_STATE (regions are off). Thread safe. */
UPMU_API UPMU_CHECKED int upmu_region_health_read(struct upmu_region_health *out);

/** Write the report now, in the format and to the place set up; also possible with report "none", which gives text on
 *  the descriptor. @param fd descriptor to write to, or -1 for the place set up. @return 0, UPMU_E_STATE, UPMU_E_IO. */
UPMU_API int upmu_region_report(int fd);

UPMU_END_DECLS

#endif
