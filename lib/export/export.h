/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Interface of export formats: a struct of functions, called in time order.
 *
 * The recording is read twice: first for names, which may be recorded late, then for spans and events.
 */
#ifndef UPMU_EXPORT_EXPORT_H
#define UPMU_EXPORT_EXPORT_H

#include <string.h>

#include "analysis/locations.h"
#include "analysis/public.h"
#include "analysis/pass/timeline.h"
#include "base/error.h"
#include "base/text/textbuf.h"
#include "export/limit.h"
#include "export/tree.h"
#include "upmu/export.h"
#include "upmu/functions.h"
#include "upmu/samples.h"

enum { EXPORT_PIDS = 10000000 }; /* above all ids of processes, which are below 1 << 22 */
enum { EXPORT_DEPTH_MAX = 512 }; /* nesting that viewers support; deeper spans are left out and counted */

/** An open span of a thread. */
struct export_open {
    int kind;
    uint32_t what;
    uint64_t begin_ns;
    uint64_t shown_ns; /**< its begin, not before what the thread did last */
    uint64_t number;   /**< in the order of begins */
    bool shown;        /**< the format gets it */
    bool discarded;    /**< a region without an end: it ends with the spans in it */
    struct span span;  /**< as it began, until the window is reached */
    uint64_t inner_ns; /**< total of spans nested in it that have ended */
    uint32_t node;     /**< of the tree, for formats that want one */
    uint64_t inner_counts[UPMU_REGION_EVENTS_MAX];
};

struct export_thread {
    struct export_open open[EXPORT_DEPTH_MAX];
    uint32_t depth;
    uint64_t last_ns; /**< its last begin or end of a span */
    uint32_t root;    /**< its node of the tree, 0 if it has none yet */
};

/** What a format does with a time window. */
enum export_window {
    EXPORT_WINDOW_CUT,  /**< it gets the spans inside the window, cut at its ends */
    EXPORT_WINDOW_OWN,  /**< it gets all spans, and cuts them itself */
    EXPORT_WINDOW_SUMS, /**< its sums are of the window */
};

struct html;
struct arrow;
struct export_messages;
struct export_wall;
struct firefox;

/** Time, or another weight, of a node of the tree at a moment. */
struct export_weight {
    pid_t pid, tid;
    uint32_t node;
    uint64_t time_ns; /**< nanoseconds since 1970; of samples without a trace, of CLOCK_MONOTONIC_RAW */
    uint64_t n;
};
struct export_calls;

/** Recording is stopped, or begins again. */
struct export_switch {
    uint64_t time_ns;
    uint32_t process;
    const char *text;
};

struct export_job {
    const struct export_format *format;
    const char *dir; /**< the recording */
    struct upmu_export_opts opts;
    struct timeline_window window;
    bool within, beyond;            /**< the reading has entered the window, has left it */
    struct upmu_overview *facts;    /**< the first reading: names */
    struct export_thread **threads; /**< by index in the pass */
    size_t n_threads;
    struct textbuf out;
    int fd;
    uint64_t written;
    uint64_t done, all;             /**< events */
    struct export_switch *switches; /**< of recording, in the order of time; NULL: not looked for yet */
    size_t n_switches, next_switch;
    uint64_t left_out; /**< spans, points, or lines of a list, left out */
    struct limit limit;
    struct tree tree;
    struct upmu_functions *functions;  /**< NULL: the profile is not of functions */
    struct upmu_samples *samples;      /**< NULL: the profile is not of samples */
    bool samples_are_time;             /**< weights are nanoseconds */
    struct export_calls *calls;        /**< calls of functions; NULL: none */
    struct export_messages *messages;  /**< of MPI; NULL: no call of MPI was passed on yet */
    struct export_wall *wall;          /**< samples and waits together */
    struct map by_sample;              /**< node of a (root, path of samples) */
    struct map by_stack;               /**< node of a (process, stack) below a root */
    char **thread_names, **wait_names; /**< by index in the pass, NULL until the first lookup */
    uint8_t *process_numbers;          /**< by index in the pass: see export_pid() */
    struct map by_text;                /**< interned names */
    struct map by_waiters;             /**< number of threads that wait for an object */
    struct map by_flow;                /**< arrow that begins at the object's last release */
    struct textbuf scratch[2];         /**< messages being built */
    struct map by_site;                /**< label of a (process, address) */
    struct map by_stack_text;          /**< label of a (process, stack) */
    uint64_t without_number;           /**< counters of regions left out of the sums */
    uint64_t ids;                      /**< for formats that number their elements */
    bool listed;                       /**< an element was written: a comma precedes the next one */
    struct export_job *base;           /**< the older recording, read into its tree; NULL: none */
    struct html *html;                 /**< of the format of that name */
    struct arrow *arrow;               /**< likewise */
    struct firefox *firefox;           /**< likewise */
};

/** An export format. `begin` and `end` are properly nested for each thread; any function may be NULL. All return 0
 *  or a negative code with its message set. */
struct export_format {
    const char *name;
    const char *suffix;  /**< file suffix, without the dot */
    const char *summary; /**< one line */
    int window;          /**< enum export_window */
    bool limited;        /**< it gets at most EXPORT_LIMIT spans, and as many points of each kind */
    bool by_thread;      /**< children of the root are profiles of their own */
    bool compares;       /**< it shows the difference to the tree of another recording */
    bool calls;          /**< it gets calls of functions, and those of MPI, as spans */
    bool stops;          /**< its `event` gets a mark where recording was stopped, and where it began again */
    bool wants_tree;     /**< waits and regions are summed up in `tree`, which `finish` writes */
    int (*start)(struct export_job *job);
    int (*begin)(struct export_job *job, const struct span *span);
    int (*end)(struct export_job *job, const struct span *span);
    int (*event)(struct export_job *job, const struct overview *pass, uint32_t thread,
                 const struct upmu_trace_event *event);
    int (*sched)(struct export_job *job, const struct sched_span *span);
    /** Own time of a wait or region that ended, or a sample; without functions. */
    int (*weigh)(struct export_job *job, const struct export_weight *weight);
    int (*finish)(struct export_job *job);
    void (*free)(struct export_job *job); /**< also after an error, and if `start` was not called */
};

extern const struct export_format export_chrome, export_perfetto, export_folded, export_flamegraph, export_callgrind,
    export_pprof, export_otlp, export_speedscope, export_firefox, export_csv, export_jsonl, export_arrow, export_tasks,
    export_gcc, export_html;

/* Output. */

static inline int export_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while exporting a recording");
}

/* text.c */

/** Write the buffer to the file. @return 0; UPMU_E_IO, UPMU_E_NOMEM. */
int export_write(struct export_job *job);
/** The same if the buffer is large. */
int export_flush(struct export_job *job);
/** "0x7f.." */
void export_hex(struct textbuf *b, uint64_t n);
/** Nanoseconds as microseconds with three decimals. */
void export_micros(struct textbuf *b, uint64_t ns);
static inline void export_text(struct textbuf *b, const char *text)
{
    textbuf_add(b, text, strlen(text));
}
/** Text for XML, HTML and SVG, without characters that XML forbids. */
void export_xml(struct textbuf *b, const char *text);
/** Text on one line of a format without quoting: control characters and `forbidden` become `_`. */
void export_plain(struct textbuf *b, const char *text, const char *forbidden);

/* functions.c */

/** The tree of recorded functions: its counts are calls, its times are without those of functions called. */
int export_functions(struct export_job *job);
/** The name of a profile's counter `i`; NULL: there is none. Of recorded functions those that have a number on each call path. */
const char *export_counter_name(const struct export_job *job, size_t i);
/** What a profile's time and count are: "wall_ns", "instances", ... */
struct export_columns {
    const char *title;      /**< "Wall time, by region" */
    const char *ns, *count; /**< "wall_ns", "instances" */
    const char *time;       /**< "wall" */
};
const struct export_columns *export_columns(const struct export_job *job);
/** Calls, or all spans that ended in a node or below it. */
uint64_t export_node_calls(const struct export_job *job, uint32_t node, const uint64_t *sums);

/* Names, each built once; they live as long as the job. */
const char *export_thread_name(const struct export_job *job, uint32_t thread);
/** The process's id, made unique among the processes of the recording that live at the same time: in other pid namespaces or
 *  on other hosts several may have the same id, of which all but the first get a multiple of EXPORT_PIDS added. */
pid_t export_pid(const struct export_job *job, uint32_t process);
/** "lp", or "lp (#2 of pid 1)" for the second process with its id at a time; valid until the next call with the same `text`. */
const char *export_process_name(const struct export_job *job, uint32_t process, const char *command,
                                struct textbuf *text);
/** "mutex the till", "cond 0x55..". */
const char *export_object_name(const struct export_job *job, uint32_t object);
/** "region", "wait", "function" or "mpi". */
const char *export_span_category(const struct span *span);
/** The name of the region, of the wait, or of the function. */
const char *export_span_name(const struct export_job *job, const struct span *span);
int export_names_start(struct export_job *job);
void export_names_free(struct export_job *job);
/** The label of a function at an address. MAP_NONE without memory. */
uint32_t export_frame(struct export_job *job, const struct upmu_symbol *symbol);
/** The same with the label of the frame: "f (inlined)", "[deeper frames were not recorded]". */
uint32_t export_frame_labeled(struct export_job *job, const struct upmu_symbol *symbol);
/** "function file.c:12", "module+0x12", "" if not known; lives as long as the job. */
const char *export_site_label(struct export_job *job, uint32_t process, uint64_t address);
/** The frames of a stack, labeled, one per line; "" if there is none; lives as long as the job. */
const char *export_stack_text(struct export_job *job, uint32_t process, uint32_t stack);
/** Why a span has no end event. */
const char *export_unfinished(const struct export_job *job);
bool export_has_number(const struct upmu_value *value);
const struct ov_thread *export_thread(const struct export_job *job, uint32_t thread);

#endif
