/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Recorded functions: flat profile, edges between callers and callees, and the calling-context tree of a recording.
 * Link with libupmu_analysis. Functions are recorded by libupmu_func in programs built with -finstrument-functions.
 *
 *     struct upmu_functions *f;
 *     struct upmu_function row = {.size = sizeof row};
 *     if (upmu_functions_open(&f, "DIR", NULL) < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 *     for (size_t i = 0; upmu_functions_at(f, i, &row) == 0; i++)
 *         printf("%s %" PRIu64 "\n", row.name, row.exclusive_ns);
 *     upmu_functions_close(f);
 *
 * Durations are without the measured cost of the recording itself. Functions that fill a struct take its `size` from the
 * caller, set it to the bytes filled, and return 0; UPMU_E_END past the last entry; UPMU_E_INVAL if an argument is NULL or
 * `size` is too small. Strings are valid until upmu_functions_close(). The functions of one recording may be used by one thread
 * at a time; none is async-signal-safe.
 */
#ifndef UPMU_FUNCTIONS_H
#define UPMU_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/api.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** The recorded functions of a recording. */
struct upmu_functions;

/** Options; NULL or all zero but `size`: the defaults. */
struct upmu_functions_opts {
    size_t size;           /**< sizeof(struct upmu_functions_opts) */
    const char *debug_dir; /**< directory of separate debug files; NULL: UPMU_DEBUG_DIR, else /usr/lib/debug */
    /**
     * A stretch, nanoseconds since the start of the recording (upmu_trace_begin_ns()) or an earlier call; `to_ns` 0: to its end. It needs events of each call (mode trace). A call
     * that reaches beyond it counts as one, with the time that is in it; functions without a part in it are left out; calls that had not
     * returned are not counted as such, and there are no counters. Events are those in the stretch, and the returns after it of calls
     * that are partly in it.
     */
    uint64_t from_ns, to_ns;
};
#define UPMU_FUNCTIONS_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_functions_opts, 16)

/**
 * Read the recorded functions of all processes and threads of a recording, or of the directory of one process. Processes that
 * still run are read as they are now.
 * @param functions out: to be closed with upmu_functions_close(); NULL on failure
 * @param dir       path of the directory
 * @param opts      may be NULL; not used after the call
 * @return 0; UPMU_E_STATE (no functions were recorded); UPMU_E_IO, UPMU_E_FORMAT (as upmu_control_open()); UPMU_E_INVAL (NULL,
 *         `opts`, a stretch without events of each call); UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_functions_open(struct upmu_functions **functions, const char *dir,
                                              const struct upmu_functions_opts *opts);

/** Close and free; NULL does nothing. */
UPMU_API void upmu_functions_close(struct upmu_functions *functions);

/** Totals of the recording. */
struct upmu_functions_totals {
    size_t size;           /**< in: sizeof(struct upmu_functions_totals); out: bytes filled */
    uint64_t processes;    /**< processes that recorded functions */
    uint64_t threads;      /**< threads that called a recorded function */
    uint64_t calls;        /**< calls recorded */
    uint64_t open;         /**< of these, those that had not returned: they end with the recording */
    uint64_t total_ns;     /**< time in recorded functions, of all threads */
    uint64_t cost_ns;      /**< time in the recorder's hooks, which was subtracted from all durations */
    uint64_t call_cost_ps; /**< measured cost of a call of the first process, in picoseconds */
    uint64_t lost_space;   /**< calls lost because the tree of a thread was full, or its file could not grow */
    uint64_t lost_depth;   /**< calls lost because they were nested too deep */
    uint64_t lost_thread;  /**< calls lost because their thread had no tree */
    uint64_t left;         /**< calls that ended without a return: exceptions, longjmp(), ends of threads */
    uint64_t unmatched;    /**< returns from functions entered before recording began, or on another stack */
    uint64_t omitted;      /**< paths of more than 10,000 functions, not read */
    uint64_t damages;      /**< files that could not be read */
    uint64_t running;      /**< processes that had not ended */
    uint64_t skipped;      /**< calls of functions that were not selected; `calls` is without them */
    uint64_t event_bytes;  /**< of events of each call (mode trace) in the files; 0: none were recorded */
    uint64_t events_lost;  /**< events lost for lack of space, or because a signal handler came at a bad moment */
    uint64_t events_short; /**< calls without events because they were shorter than was asked for (UPMU_FUNC_MIN) */
    uint64_t rings;        /**< threads whose oldest events were overwritten by later ones */
    uint64_t stopped;      /**< calls that ended because recording was stopped, or other functions were selected */
    uint64_t begin_ns; /**< of a stretch: the start of the recording, nanoseconds since 1970; 0: all of it was read */
    uint64_t from_ns;  /**< begin of the stretch */
    uint64_t to_ns;    /**< its end, at most that of the last call */
    uint64_t
        sourceless; /**< functions that were to be selected by source, and whose source was not known when they were called */
    uint64_t
        never_started; /**< of `processes`, those that began with recording stopped, and in which it was not started */
};
#define UPMU_FUNCTIONS_TOTALS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_functions_totals, 136)
UPMU_API UPMU_CHECKED int upmu_functions_totals_read(const struct upmu_functions *functions,
                                                     struct upmu_functions_totals *out);

/** A function. `inclusive_ns` of nested calls (recursion) is that of the outermost ones. */
struct upmu_function {
    size_t size;           /**< in: sizeof(struct upmu_function); out: bytes filled */
    const char *name;      /**< NULL if unknown */
    const char *file;      /**< source file; NULL if unknown */
    const char *module;    /**< path of the program or shared object; NULL if unknown */
    const char *problem;   /**< why the file of the module was not used; "" if it was */
    uint64_t offset;       /**< address in the file of the module; address in memory without a module */
    uint64_t calls;        /**< calls, with those that had not returned */
    uint64_t open;         /**< calls that had not returned */
    uint64_t inclusive_ns; /**< time from call to return */
    uint64_t exclusive_ns; /**< time without that in recorded functions called from it */
    uint64_t min_ns;       /**< shortest inclusive time of a call */
    uint64_t max_ns;       /**< longest inclusive time of a call */
    uint32_t line;         /**< line of the function in `file`; 0 if unknown */
    uint32_t recursive;    /**< 1: it was called while a call of it was active */
};
#define UPMU_FUNCTION_SIZE_V1 UPMU_SIZE_V1_(struct upmu_function, 104)
/** Function `i`, by falling exclusive time. */
UPMU_API UPMU_CHECKED int upmu_functions_at(const struct upmu_functions *functions, size_t i,
                                            struct upmu_function *out);
/** Number of functions; 0 if `functions` is NULL. */
UPMU_API size_t upmu_functions_count(const struct upmu_functions *functions);

/** Calls of one function by another one. */
struct upmu_function_edge {
    size_t size;           /**< in: sizeof(struct upmu_function_edge); out: bytes filled */
    uint32_t caller;       /**< function; UPMU_NO_INDEX: called by no recorded function */
    uint32_t callee;       /**< function */
    uint64_t calls;        /**< calls */
    uint64_t inclusive_ns; /**< time of the callee in these calls, of nested ones the outermost */
    uint64_t min_ns;       /**< shortest inclusive time of a call */
    uint64_t max_ns;       /**< longest inclusive time of a call */
};
#define UPMU_FUNCTION_EDGE_SIZE_V1 UPMU_SIZE_V1_(struct upmu_function_edge, 48)
/** Edge `i`, by falling time. */
UPMU_API UPMU_CHECKED int upmu_functions_edge_at(const struct upmu_functions *functions, size_t i,
                                                 struct upmu_function_edge *out);
/** Number of edges; 0 if `functions` is NULL. */
UPMU_API size_t upmu_functions_edge_count(const struct upmu_functions *functions);

/** A call path. No path has a function twice: a call of a function that is active on the path is a path of its own below its
 *  caller, without children; what that call calls is below the active function's path. */
struct upmu_function_path {
    size_t size;           /**< in: sizeof(struct upmu_function_path); out: bytes filled */
    uint32_t function;     /**< the last function; UPMU_NO_INDEX for path 0, which is all threads */
    uint32_t parent;       /**< path without the last function; lower than this path's index */
    uint32_t child;        /**< first path that is one function longer; 0: none */
    uint32_t next;         /**< next path of the same parent; 0: none */
    uint32_t depth;        /**< functions on the path */
    uint32_t recursion;    /**< 0; or the path that ends with the active call of the same function */
    uint64_t calls;        /**< calls */
    uint64_t open;         /**< calls that had not returned */
    uint64_t inclusive_ns; /**< time from call to return */
    uint64_t exclusive_ns; /**< time without that in recorded functions called */
    uint64_t min_ns;       /**< shortest inclusive time of a call */
    uint64_t max_ns;       /**< longest inclusive time of a call */
};
#define UPMU_FUNCTION_PATH_SIZE_V1 UPMU_SIZE_V1_(struct upmu_function_path, 80)
/** Path `i`. */
UPMU_API UPMU_CHECKED int upmu_functions_path_at(const struct upmu_functions *functions, size_t i,
                                                 struct upmu_function_path *out);
/** Number of paths, at least 1; 0 if `functions` is NULL. */
UPMU_API size_t upmu_functions_path_count(const struct upmu_functions *functions);

/** An event that was counted at each call and return (UPMU_EVENTS). */
struct upmu_function_counter {
    size_t size;          /**< in: sizeof(struct upmu_function_counter); out: bytes filled */
    const char *name;     /**< as it was counted */
    const char *reason;   /**< why calls have no counts of it, or what is to be known of them; "": nothing */
    int32_t cause;        /**< enum upmu_code: why it was refused; 0: it was counted */
    uint32_t reserved;    /**< 0 */
    uint64_t call_counts; /**< counts of the hooks of a call, measured at the start, and subtracted */
};
#define UPMU_FUNCTION_COUNTER_SIZE_V1 UPMU_SIZE_V1_(struct upmu_function_counter, 40)
/** Event `i`. */
UPMU_API UPMU_CHECKED int upmu_functions_counter_at(const struct upmu_functions *functions, size_t i,
                                                    struct upmu_function_counter *out);
/** Number of events; 0 if `functions` is NULL. */
UPMU_API size_t upmu_functions_counter_count(const struct upmu_functions *functions);

/** What upmu_functions_counts_read() reads the counts of. */
enum upmu_function_rows {
    UPMU_FUNCTION_ROWS = 0,      /**< functions, as upmu_functions_at() */
    UPMU_FUNCTION_EDGE_ROWS = 1, /**< edges, as upmu_functions_edge_at() */
    UPMU_FUNCTION_PATH_ROWS = 2, /**< call paths, as upmu_functions_path_at() */
};

/** What calls have counted of an event: without the hooks' own counts. Values are NOT_COUNTED if one of the calls has no count. */
struct upmu_function_counts {
    size_t size;                 /**< in: sizeof(struct upmu_function_counts); out: bytes filled */
    struct upmu_value inclusive; /**< from call to return; of nested calls (recursion) the outermost */
    struct upmu_value exclusive; /**< without recorded functions called */
    uint64_t inclusive_without;  /**< calls without a count: they had not returned, or a reading needed a system call */
    uint64_t exclusive_without;  /**< and calls with a called function without one */
};
#define UPMU_FUNCTION_COUNTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_function_counts, 104)
/** Counts of event `counter` in row `i` of `rows` (enum upmu_function_rows). @return 0; UPMU_E_END; UPMU_E_INVAL. */
UPMU_API UPMU_CHECKED int upmu_functions_counts_read(const struct upmu_functions *functions, int rows, size_t i,
                                                     size_t counter, struct upmu_function_counts *out);

/** What happens in an event. */
enum upmu_function_event_kind {
    UPMU_FUNCTION_ENTER = 1, /**< a function is called */
    UPMU_FUNCTION_LEAVE = 2, /**< it returns, or is left otherwise */
};

/** A call or a return of one thread, recorded in mode trace. Every call has both, in proper nesting. */
struct upmu_function_event {
    size_t size;           /**< in: sizeof(struct upmu_function_event); out: bytes filled */
    uint64_t raw_ns;       /**< CLOCK_MONOTONIC_RAW */
    uint64_t begin_raw_ns; /**< of the call */
    pid_t pid;             /**< process */
    pid_t tid;             /**< thread */
    uint32_t function;     /**< function */
    uint32_t depth;        /**< calls of the thread around this one */
    int32_t kind;          /**< enum upmu_function_event_kind */
    uint32_t
        inferred; /**< 1: the event itself was not recorded: overwritten in a ring, or lost, or the recording ended */
};
#define UPMU_FUNCTION_EVENT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_function_event, 48)
/** Begin to read the events, again if some were read. @return 0; UPMU_E_STATE (no events were recorded: mode trace does);
 *  UPMU_E_INVAL; UPMU_E_NOMEM. */
UPMU_API UPMU_CHECKED int upmu_functions_events_begin(struct upmu_functions *functions);
/** The next event of all threads in time order, after upmu_functions_events_begin(). @return 0; UPMU_E_END; UPMU_E_INVAL; UPMU_E_IO (a
 *  file cannot be read); UPMU_E_NOMEM. */
UPMU_API UPMU_CHECKED int upmu_functions_event_next(struct upmu_functions *functions, struct upmu_function_event *out);

UPMU_END_DECLS

#endif
