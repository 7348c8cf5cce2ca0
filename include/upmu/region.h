/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Regions: time and counts of marked sections of a program, per region and thread.
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
 *     UPMU_SCOPE("compress");                // scope form: from here to the end of the enclosing block
 *
 * Regions need no initialization and no registration. They are switched on by the environment (UPMU_EVENTS,
 * UPMU_REPORT, UPMU_OUTPUT, UPMU_TRACE; see docs/guide.md) or by upmu_region_setup(). While off, a call costs one load
 * and a branch, and nothing is printed or written.
 *
 * Counters run all the time; begin and end read them and subtract. Regions nest, in any number of threads, without
 * a lock. Misuse (an end without its begin, ends out of order, an end in another thread, names too long) is counted
 * and shown in the report; it is never fatal, and earlier measurements are kept.
 *
 * begin, end, enter, leave and mark are async-signal-safe after their first use in a thread, keep errno, and may be
 * called from any thread at any time, exit handlers and thread-specific destructors included.
 *
 * With UPMU_DISABLE defined before the first include, every function here is an empty inline function that answers as
 * if regions were off (upmu/region_disabled.h), and the program needs no library for them.
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
/** Most events measured per region; further names in UPMU_EVENTS are refused, and listed in the report. */
#define UPMU_REGION_EVENTS_MAX 16

/** A region handle: define it static with UPMU_REGION(); the fields are the library's. */
typedef struct upmu_region {
    const char *name;
    uint32_t id; /**< 0 until first use; then the same for every handle and string of this name */
    uint32_t reserved;
} upmu_region_t;

/** Static initializer of a handle; the string must live as long as the program. */
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
    const char *backend; /**< counter backend, as in struct upmu_set_opts: "perf" (NULL) or "papi" */
};
#define UPMU_REGION_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_region_opts, 48)

/* ------------------------------------------------------------------------------------------------ results */

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
struct upmu_region_event_stats {
    size_t size;            /**< in: sizeof(struct upmu_region_event_stats); out: bytes filled */
    struct upmu_stat stat;  /**< over the instances that have a number */
    uint64_t enabled;       /**< sum, nanoseconds */
    uint64_t running;       /**< sum, nanoseconds */
    uint64_t without_value; /**< instances without a number (not counted, refused) */
    int32_t status;         /**< weakest status of any instance */
    int32_t cause;          /**< enum upmu_code behind REFUSED and UNSUPPORTED, else 0 */
};
#define UPMU_REGION_EVENT_STATS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_region_event_stats, 88)

/** What upmu_region_stats_read() gives. */
struct upmu_region_stats {
    size_t size;                 /**< in: sizeof(struct upmu_region_stats) */
    uint64_t count;              /**< finished instances */
    uint64_t open;               /**< instances begun and not ended at this moment */
    struct upmu_stat wall;       /**< nanoseconds from begin to end */
    uint64_t self_ns;            /**< wall time minus that of regions inside */
    uint64_t descheduled;        /**< instances during which the thread was descheduled */
    uint64_t deschedule_unknown; /**< instances for which this is unknown */
    uint32_t threads;            /**< threads that ran it */
    uint32_t n_events;           /**< entries of upmu_region_event_stats_at() */
};
#define UPMU_REGION_STATS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_region_stats, 104)

/** What went wrong so far in the whole process; all zero in a healthy run. */
struct upmu_region_health {
    size_t size;                /**< in: sizeof(struct upmu_region_health) */
    uint64_t end_without_begin; /**< ends of a region not open in that thread (other thread, unknown, twice) */
    uint64_t closed_by_outer;   /**< regions ended because one around them ended first */
    uint64_t too_deep;          /**< begins below UPMU_REGION_DEPTH_MAX */
    uint64_t names_cut;         /**< names longer than UPMU_REGION_NAME_MAX */
    uint64_t names_refused;     /**< begins refused: name or thread table full, name "" or NULL */
    uint64_t interrupted;       /**< begins and ends refused inside the recorder (signal handler) or at thread end */
    uint64_t never_ended;       /**< regions still open when their thread ended */
    uint64_t threads_without_counters; /**< threads for which not all counters could be opened (limits) */
    uint64_t threads_merged;           /**< ended threads that share one row, beyond the number kept apart */
    uint64_t marks;                    /**< marks made */
    uint64_t trace_lost; /**< events that did not fit into the trace (full disk, quota, unreachable file) */
    uint64_t begin_ns;   /**< measured cost of an empty begin, of which `end_ns` holds the rest */
    uint64_t end_ns;     /**< measured cost of an empty end */
};
#define UPMU_REGION_HEALTH_SIZE_V1 UPMU_SIZE_V1_(struct upmu_region_health, 112)

#ifndef UPMU_DISABLE

/* ------------------------------------------------------------------------------------------ set up, read back */

/**
 * Switch regions on from the program; once per process, before or after the first region.
 * If any of UPMU_EVENTS, UPMU_REPORT, UPMU_OUTPUT and UPMU_TRACE is set, the environment takes precedence: regions have
 * been on since the library was loaded, and `opts` is ignored.
 * @return 0; 1 if the environment has set regions up already (no error); UPMU_E_STATE (called before),
 *         UPMU_E_NAME (unknown event name), UPMU_E_INVAL (report format, size), UPMU_E_LIMIT (too many events,
 *         no thread-specific key left), UPMU_E_IO (the trace directory cannot be created; regions stay off), UPMU_E_NOMEM,
 *         UPMU_E_SYSTEM (kernel older than 4.14).
 * Events that exist but cannot be counted are no error: the status of their values shows it. Not signal safe.
 */
UPMU_API int upmu_region_setup(const struct upmu_region_opts *opts);

/** Pause (0) or resume (1) all regions of the process. While paused a call costs as little as while off. Instances open
 *  at the pause are discarded, and an end after the resume whose begin came before the pause counts as
 *  `end_without_begin`. Has no effect while regions are not set up.
 *  @return the state before. Signal safe. */
UPMU_API int upmu_region_switch(int on);

/**
 * Aggregates so far, while the program runs.
 * @param name   region name
 * @param thread kernel thread id, or UPMU_ALL_THREADS
 * @param out    caller sets `size`
 * @return 0; UPMU_E_NAME (no such region, or not run by this thread), UPMU_E_INVAL, UPMU_E_STATE (regions are off).
 * Thread safe against running regions: a consistent view of each thread. Not signal safe.
 */
UPMU_API UPMU_CHECKED int upmu_region_stats_read(const char *name, pid_t thread, struct upmu_region_stats *out);

/**
 * What event `i` of a region counted.
 * @param i number of the event, in the order of upmu_region_event_name_at()
 * @return as upmu_region_stats_read(); UPMU_E_END (`i` is past the last event). Thread safe, not signal safe.
 */
UPMU_API UPMU_CHECKED int upmu_region_event_stats_at(const char *name, pid_t thread, size_t i,
                                                     struct upmu_region_event_stats *out);

/**
 * Statistics of a region and of its events at one moment: their counts match while regions run.
 * @param events out: `max` entries; the caller sets `size` of the first one, for all; may be NULL if `max` is 0
 * @return number of entries filled, at most `max`; else as upmu_region_stats_read(). Thread safe, not signal safe.
 */
UPMU_API UPMU_CHECKED int upmu_region_stats_read_all(const char *name, pid_t thread, struct upmu_region_stats *out,
                                                     struct upmu_region_event_stats *events, size_t max);

/** Number of region names seen in the process; 0 while regions are off. Signal safe. */
UPMU_API size_t upmu_region_count(void);

/** Name of region `i`, in the order of first use. @param name out: lives as long as the process; NULL on failure
 *  @return 0; UPMU_E_END (`i` is past the last), UPMU_E_INVAL (`name` is NULL). Thread safe. */
UPMU_API UPMU_CHECKED int upmu_region_name_at(size_t i, const char **name);

/** Number of events measured by regions; 0 while regions are off. Thread safe. */
UPMU_API size_t upmu_region_event_count(void);

/** Name of event `i` measured by regions. @param name out: lives as long as the process; NULL on failure
 *  @return 0; UPMU_E_END (`i` is past the last), UPMU_E_INVAL (`name` is NULL). Thread safe. */
UPMU_API UPMU_CHECKED int upmu_region_event_name_at(size_t i, const char **name);

/** @return 0; UPMU_E_INVAL; UPMU_E_STATE (regions are off). Thread safe. */
UPMU_API UPMU_CHECKED int upmu_region_health_read(struct upmu_region_health *out);

/** Write the report now, in the format and to the place set up; also possible with report "none", which gives text on
 *  the descriptor. @param fd descriptor to write to, or -1 for the place set up. @return 0, UPMU_E_STATE, UPMU_E_IO. */
UPMU_API int upmu_region_report(int fd);

/* ---------------------------------------------------------------------------------------------- measuring */

/** Begin the region `name` (copied at its first use) in the calling thread.
 *  @return 0, also while off; UPMU_E_INVAL (NULL or ""), UPMU_E_LIMIT (too deep, too many names, thread not
 *          measurable): counted, and the matching end is ignored. */
UPMU_API int upmu_region_begin(const char *name);

/** End the region `name`: the innermost open one of that name. Regions begun inside it and not ended are ended
 *  with it and counted as misuse. @return 0, also while off; UPMU_E_STATE (not open in this thread), UPMU_E_INVAL. */
UPMU_API int upmu_region_end(const char *name);

/** Begin by handle; as upmu_region_begin(). */
UPMU_API int upmu_region_enter(upmu_region_t *region);

/** End by handle; as upmu_region_end(). */
UPMU_API int upmu_region_leave(upmu_region_t *region);

/** Put a mark on the timeline (the trace) of the calling thread; counted in the report. At most
 *  UPMU_REGION_NAME_MAX bytes are kept. @return 0, also while off; UPMU_E_INVAL (NULL). */
UPMU_API int upmu_mark(const char *text);

/** @cond internal
 *  Fast path: the five functions above test the gate inline. Each is also a function of the library, for dlsym(), for
 *  function pointers and for other languages. */

/** Non-zero while regions are on; written by the library only. */
extern UPMU_API uint32_t upmu_region_gate_;
UPMU_API int upmu_region_begin_(const char *name);
UPMU_API int upmu_region_end_(const char *name);
UPMU_API int upmu_region_enter_(upmu_region_t *region);
UPMU_API int upmu_region_leave_(upmu_region_t *region);
UPMU_API int upmu_mark_(const char *text);

#define UPMU_REGION_OFF_ (__builtin_expect(!__atomic_load_n(&upmu_region_gate_, __ATOMIC_RELAXED), 1))
/* The compiler never emits a function of this kind: a call that is not inlined calls the library. */
#define UPMU_INLINE_ extern inline __attribute__((gnu_inline))

UPMU_INLINE_ int upmu_region_begin(const char *name)
{
    return UPMU_REGION_OFF_ ? 0 : upmu_region_begin_(name);
}

UPMU_INLINE_ int upmu_region_end(const char *name)
{
    return UPMU_REGION_OFF_ ? 0 : upmu_region_end_(name);
}

UPMU_INLINE_ int upmu_region_enter(upmu_region_t *region)
{
    return UPMU_REGION_OFF_ ? 0 : upmu_region_enter_(region);
}

UPMU_INLINE_ int upmu_region_leave(upmu_region_t *region)
{
    return UPMU_REGION_OFF_ ? 0 : upmu_region_leave_(region);
}

UPMU_INLINE_ int upmu_mark(const char *text)
{
    return UPMU_REGION_OFF_ ? 0 : upmu_mark_(text);
}

/* `key` marks a scope that has begun. gcc accepts C code that jumps over the declaration, and then runs the cleanup on
   an uninitialized variable; C++ and clang refuse such a jump. */
struct upmu_scope {
    upmu_region_t *region;
    uintptr_t key;
};
struct upmu_named_scope {
    const char *name;
    uintptr_t key;
};
#define UPMU_SCOPE_KEY_(pointer) ((uintptr_t)(pointer) ^ (uintptr_t)0x75706d7573636f70u)
/* The next variable at this address may be one that was jumped over, so this store must not be optimized away. */
#define UPMU_SCOPE_CLEAR_(key)             \
    do {                                   \
        (key) = 0;                         \
        __asm__ volatile("" : : "m"(key)); \
    } while (0)

static inline struct upmu_scope upmu_scope_begin_(upmu_region_t *region)
{
    struct upmu_scope scope = {region, UPMU_SCOPE_KEY_(region)};
    (void)upmu_region_enter(region);
    return scope;
}

static inline void upmu_scope_end_(struct upmu_scope *scope)
{
    if (scope->key != UPMU_SCOPE_KEY_(scope->region))
        return;
    UPMU_SCOPE_CLEAR_(scope->key);
    (void)upmu_region_leave(scope->region);
}

static inline struct upmu_named_scope upmu_named_scope_begin_(const char *name)
{
    struct upmu_named_scope scope = {name, UPMU_SCOPE_KEY_(name)};
    (void)upmu_region_begin(name);
    return scope;
}

static inline void upmu_named_scope_end_(struct upmu_named_scope *scope)
{
    if (scope->key != UPMU_SCOPE_KEY_(scope->name))
        return;
    UPMU_SCOPE_CLEAR_(scope->key);
    (void)upmu_region_end(scope->name);
}

#define UPMU_CONCAT2_(a, b) a##b
#define UPMU_CONCAT_(a, b) UPMU_CONCAT2_(a, b)
/** @endcond */

/**
 * `UPMU_SCOPE("name");` is a declaration: from here to the end of the enclosing block is a region. It ends on every way
 * out of the block: return, break, continue, goto and a C++ exception. It does not end by longjmp(), nor by
 * pthread_exit() or cancellation in C code compiled without -fexceptions; such regions count as `never_ended`.
 * A `goto` or `case` must not jump over it into its block: C++ and clang refuse that, and gcc warns in C with
 * -Wjump-misses-init; the scope is then skipped.
 */
#define UPMU_SCOPE(name_literal)                                                                                 \
    struct upmu_scope UPMU_CONCAT_(upmu_scope_, __COUNTER__) __attribute__((cleanup(upmu_scope_end_), unused)) = \
        upmu_scope_begin_(__extension__({                                                                        \
            static upmu_region_t upmu_handle_ = UPMU_REGION("" name_literal);                                    \
            &upmu_handle_;                                                                                       \
        }))

/** UPMU_SCOPE() with a name made at run time: `UPMU_SCOPE_NAMED(text);`. The string must stay as it is until the end of
 *  the block; each use looks the name up. */
#define UPMU_SCOPE_NAMED(name)                                     \
    struct upmu_named_scope UPMU_CONCAT_(upmu_scope_, __COUNTER__) \
        __attribute__((cleanup(upmu_named_scope_end_), unused)) = upmu_named_scope_begin_(name)

#endif /* UPMU_DISABLE */

UPMU_END_DECLS

#ifdef UPMU_DISABLE
#include "upmu/region_disabled.h"
#endif

#endif
