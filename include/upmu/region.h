/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Regions: time and counts of marked sections of a program, per region and thread.
 *
 *     upmu_region_begin("parse");            // by name
 *     parse(input);
 *     upmu_region_end("parse");
 *
 *     static upmu_region_t r = UPMU_REGION("inner loop");   // by handle, for hot loops
 *     upmu_region_enter(&r);
 *     ...
 *     upmu_region_leave(&r);
 *
 *     UPMU_SCOPE("compress");                // scope: from here to the end of the enclosing block
 *
 * Regions need no initialization or registration. They are switched on by the environment (UPMU_EVENTS, UPMU_REPORT,
 * UPMU_OUTPUT, UPMU_TRACE; see docs/guide/environment.md) or by upmu_region_setup(). While off, a call costs one load and one
 * branch, and nothing is printed or written.
 *
 * Counters run all the time; begin and end read them and subtract. Regions nest, in any number of threads, without a lock.
 * Misuse (an end without a begin, ends out of order, an end in another thread, too long names) is counted and reported; it is
 * never fatal, and earlier measurements are kept.
 *
 * upmu_region_begin(), _end(), _enter(), _leave() and upmu_mark() keep errno, are async-signal-safe after their first use in a
 * thread, and may be called in any thread at any time, including exit handlers and destructors of thread-specific data.
 * Their failures do not change upmu_error().
 *
 * With UPMU_DISABLE defined before the first include, every function is an empty inline function that returns the same as
 * while regions are off (upmu/region_disabled.h), and the program does not need the library for them.
 */
#ifndef UPMU_REGION_H
#define UPMU_REGION_H

#include <stddef.h>
#include <stdint.h>

#include "upmu/api.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** Longest region name, bytes. A longer one is truncated, made distinct by a hash, and counted as misuse. */
#define UPMU_REGION_NAME_MAX 255
/** Deepest nesting in one thread. Regions below it are not measured and counted as `too_deep`. */
#define UPMU_REGION_DEPTH_MAX 256
/** Largest number of events per region. Further names in UPMU_EVENTS are refused and listed in the report. */
#define UPMU_REGION_EVENTS_MAX 16

/** A region handle: to be defined static with UPMU_REGION(). The fields are private to the library. */
typedef struct upmu_region {
    const char *name;
    uint32_t id; /**< 0 before the first use */
    uint32_t reserved;
} upmu_region_t;

/** Static initializer of a handle. The string must be valid for the life of the process. */
#define UPMU_REGION(name_literal) \
    {                             \
        (name_literal), 0, 0      \
    }

/* ------------------------------------------------------------------------------------------------ set up */

/** Options of upmu_region_setup(); all zero but `size`: time, context switches, and no report. */
struct upmu_region_opts {
    size_t size;         /**< sizeof(struct upmu_region_opts) */
    const char *events;  /**< comma-separated names as for upmu_set_open(); NULL: time and context switches only */
    const char *report;  /**< format of the report at exit: "text", "json", "csv", or "none" (NULL) */
    const char *output;  /**< file of the report, %p = pid, %h = host, %% = %; NULL: standard error */
    const char *trace;   /**< directory of the trace, or UPMU_TRACE_MEMORY; NULL: none */
    const char *backend; /**< counter backend, as in struct upmu_set_opts: "perf" (NULL) or "papi" */
};
#define UPMU_REGION_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_region_opts, 48)

/* ------------------------------------------------------------------------------------------------ results */

/** Thread argument of upmu_region_stats_read(): sum over all threads, ended ones included. */
#define UPMU_ALL_THREADS 0

/** Statistics of one quantity over the instances of a region. */
struct upmu_stat {
    uint64_t count;     /**< instances with a number, to which the other fields refer */
    uint64_t sum;       /**< total */
    uint64_t min;       /**< smallest; UPMU_NO_VALUE when count is 0 */
    uint64_t max;       /**< largest; 0 when count is 0 */
    uint64_t last;      /**< most recent; UPMU_NO_VALUE when count is 0 */
    double sum_squares; /**< for the standard deviation */
};

/** Statistics of an event of a region. */
struct upmu_region_event_stats {
    size_t size;            /**< in: sizeof(struct upmu_region_event_stats); out: bytes filled */
    struct upmu_stat stat;  /**< over the instances with a number */
    uint64_t enabled;       /**< sum of the enabled times, nanoseconds */
    uint64_t running;       /**< sum of the running times, nanoseconds */
    uint64_t without_value; /**< instances without a number (not counted, refused) */
    int32_t status;         /**< enum upmu_status: the weakest one of the instances */
    int32_t cause;          /**< enum upmu_code: cause of REFUSED and UNSUPPORTED, else 0 */
};
#define UPMU_REGION_EVENT_STATS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_region_event_stats, 88)

/** Statistics of a region. */
struct upmu_region_stats {
    size_t size;                 /**< in: sizeof(struct upmu_region_stats) */
    uint64_t count;              /**< finished instances */
    uint64_t open;               /**< instances in progress */
    struct upmu_stat wall;       /**< wall time from begin to end, nanoseconds */
    uint64_t self_ns;            /**< wall time minus that of nested regions, nanoseconds */
    uint64_t descheduled;        /**< instances during which the thread was switched out */
    uint64_t deschedule_unknown; /**< instances for which that is unknown */
    uint32_t threads;            /**< threads that ran it */
    uint32_t n_events;           /**< entries of upmu_region_event_stats_at() */
};
#define UPMU_REGION_STATS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_region_stats, 104)

/** Misuse and losses in the process so far. All zero but `marks`, `begin_ns` and `end_ns` in a healthy run. */
struct upmu_region_health {
    size_t size;                /**< in: sizeof(struct upmu_region_health) */
    uint64_t end_without_begin; /**< ends of a region that is not open in the thread */
    uint64_t closed_by_outer;   /**< regions ended because an enclosing one ended first */
    uint64_t too_deep;          /**< begins below UPMU_REGION_DEPTH_MAX */
    uint64_t names_cut;         /**< names longer than UPMU_REGION_NAME_MAX */
    uint64_t names_refused;     /**< refused begins: name or thread table full, name "" or NULL */
    uint64_t
        interrupted; /**< begins and ends refused while the recorder was active (in a signal handler) or at thread end */
    uint64_t never_ended;              /**< regions open at the end of their thread */
    uint64_t threads_without_counters; /**< threads without some of the counters (limits) */
    uint64_t threads_merged;           /**< ended threads in a common row, beyond the number of separate ones */
    uint64_t marks;                    /**< marks recorded */
    uint64_t trace_lost; /**< events dropped from the trace (disk full, quota exceeded, file unreachable) */
    uint64_t begin_ns;   /**< measured cost of the begin of an empty region, nanoseconds; UPMU_NO_VALUE: not measured */
    uint64_t end_ns;     /**< measured cost of its end, nanoseconds; likewise */
};
#define UPMU_REGION_HEALTH_SIZE_V1 UPMU_SIZE_V1_(struct upmu_region_health, 112)

#ifndef UPMU_DISABLE

/* ------------------------------------------------------------------------------------------ set up, read back */

/**
 * Switch regions on; once per process, before or after the first region. If UPMU_EVENTS, UPMU_REPORT, UPMU_OUTPUT or UPMU_TRACE
 * is set, the environment takes precedence: regions are on since the library was loaded, and `opts` is ignored.
 * @param opts NULL: the defaults; not used after the call
 * @return 0; 1 (regions are on by the environment, no error); UPMU_E_STATE (called before), UPMU_E_NAME (unknown event),
 *         UPMU_E_INVAL (report format, size), UPMU_E_LIMIT (too many events, or no thread-specific key left), UPMU_E_IO (the
 *         trace directory cannot be created; regions are off), UPMU_E_BACKEND, UPMU_E_NOMEM, UPMU_E_SYSTEM (kernel older
 *         than 4.14).
 * Events that cannot be counted are no error: see the status of their values. Thread safe, not async-signal-safe.
 */
UPMU_API int upmu_region_setup(const struct upmu_region_opts *opts);

/** Pause (0) or resume (1) all regions of the process. A call while paused costs as little as while off. Instances in progress
 *  at the pause are discarded; their ends after the resume count as `end_without_begin`. No effect before regions are set up.
 *  @return the state before. Async-signal-safe. */
UPMU_API int upmu_region_switch(int on);

/**
 * Statistics of a region so far.
 * @param name   region name
 * @param thread kernel thread id, or UPMU_ALL_THREADS
 * @return 0; UPMU_E_NAME (no such region, or not run by this thread), UPMU_E_INVAL (NULL, size), UPMU_E_STATE (regions are
 *         off).
 * Thread safe while regions run: consistent for each thread. Not async-signal-safe.
 */
UPMU_API UPMU_CHECKED int upmu_region_stats_read(const char *name, pid_t thread, struct upmu_region_stats *out);

/**
 * Statistics of an event of a region so far.
 * @param i index of the event, as for upmu_region_event_name_at()
 * @return as upmu_region_stats_read(); UPMU_E_END (no such event). Thread safe, not async-signal-safe.
 */
UPMU_API UPMU_CHECKED int upmu_region_event_stats_at(const char *name, pid_t thread, size_t i,
                                                     struct upmu_region_event_stats *out);

/**
 * Statistics of a region and of its events at the same time: their counts match while regions run.
 * @param events out: array of `max` entries; `size` of the first one is set by the caller, for all; may be NULL if `max` is 0
 * @return number of entries filled; else as upmu_region_stats_read(). Thread safe, not async-signal-safe.
 */
UPMU_API UPMU_CHECKED int upmu_region_stats_read_all(const char *name, pid_t thread, struct upmu_region_stats *out,
                                                     struct upmu_region_event_stats *events, size_t max);

/** Number of regions of the process; 0 while regions are off. Async-signal-safe. */
UPMU_API size_t upmu_region_count(void);

/** Name of region `i`, in the order of first use. @param name out: valid for the life of the process; NULL on failure
 *  @return 0; UPMU_E_END; UPMU_E_INVAL (NULL). Thread safe. */
UPMU_API UPMU_CHECKED int upmu_region_name_at(size_t i, const char **name);

/** Number of events measured by regions; 0 while regions are off. Thread safe. */
UPMU_API size_t upmu_region_event_count(void);

/** Name of event `i` measured by regions. @param name out: valid for the life of the process; NULL on failure
 *  @return 0; UPMU_E_END; UPMU_E_INVAL (NULL). Thread safe. */
UPMU_API UPMU_CHECKED int upmu_region_event_name_at(size_t i, const char **name);

/** Read misuse and losses. @return 0; UPMU_E_INVAL (NULL, size); UPMU_E_STATE (regions are off). Thread safe. */
UPMU_API UPMU_CHECKED int upmu_region_health_read(struct upmu_region_health *out);

/** Write the report in the format that was set up, or as text if that is "none".
 *  @param fd descriptor to write to; negative: the file or standard error that was set up
 *  @return 0; UPMU_E_STATE (regions are off, or `fd` is negative and no report was set up); UPMU_E_IO. */
UPMU_API int upmu_region_report(int fd);

/* ---------------------------------------------------------------------------------------------- measuring */

/** Begin region `name` in the calling thread; the name is copied at its first use.
 *  @return 0, also while off; UPMU_E_INVAL (NULL or ""), UPMU_E_LIMIT (too deep, too many names, or the thread cannot be
 *          measured): counted as misuse, and the matching end is ignored. */
UPMU_API int upmu_region_begin(const char *name);

/** End region `name`: the innermost open one of that name. Unfinished regions inside it are ended and counted as misuse.
 *  @return 0, also while off; UPMU_E_STATE (not open in this thread), UPMU_E_INVAL (NULL or ""). */
UPMU_API int upmu_region_end(const char *name);

/** Begin a region by its handle, as upmu_region_begin(). */
UPMU_API int upmu_region_enter(upmu_region_t *region);

/** End a region by its handle, as upmu_region_end(). */
UPMU_API int upmu_region_leave(upmu_region_t *region);

/** Record a mark in the trace of the calling thread, with at most UPMU_REGION_NAME_MAX bytes of `text`. Marks are also counted
 *  in the report. @return 0, also while off; UPMU_E_INVAL (NULL). */
UPMU_API int upmu_mark(const char *text);

/** @cond internal
 *  Fast path: the five functions above test the gate inline. Each is also an exported function, for dlsym(), function
 *  pointers and other languages. */

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
 * `UPMU_SCOPE("name");` declares a region from here to the end of the enclosing block. It ends however the block is left:
 * return, break, continue, goto or a C++ exception. It does not end by longjmp(), nor by pthread_exit() or cancellation in C
 * code compiled without -fexceptions; such regions count as `never_ended`. A `goto` or `case` must not jump over it into its
 * block: C++ and clang reject that, gcc warns in C with -Wjump-misses-init; the region is then skipped.
 */
#define UPMU_SCOPE(name_literal)                                                                                 \
    struct upmu_scope UPMU_CONCAT_(upmu_scope_, __COUNTER__) __attribute__((cleanup(upmu_scope_end_), unused)) = \
        upmu_scope_begin_(__extension__({                                                                        \
            static upmu_region_t upmu_handle_ = UPMU_REGION("" name_literal);                                    \
            &upmu_handle_;                                                                                       \
        }))

/** UPMU_SCOPE() with a name made at run time: `UPMU_SCOPE_NAMED(text);`. The string must not change until the end of the
 *  block. Each use looks the name up. */
#define UPMU_SCOPE_NAMED(name)                                     \
    struct upmu_named_scope UPMU_CONCAT_(upmu_scope_, __COUNTER__) \
        __attribute__((cleanup(upmu_named_scope_end_), unused)) = upmu_named_scope_begin_(name)

#endif /* UPMU_DISABLE */

UPMU_END_DECLS

#ifdef UPMU_DISABLE
#include "upmu/region_disabled.h"
#endif

#endif
