/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Exports: a recording in the formats of other tools. Each format is a struct of functions that are told what happens,
 * in the order of time, and write it. Room: export. Before it: the pass over the recording (analysis); after it: a file.
 *
 * The recording is read twice: first for names, which may come late, then for what happens.
 */
#ifndef UPMU_EXPORT_EXPORT_H
#define UPMU_EXPORT_EXPORT_H

#include <string.h>

#include "analysis/public.h"
#include "analysis/pass/timeline.h"
#include "base/textbuf.h"
#include "export/tree.h"
#include "upmu/export.h"

enum { EXPORT_DEPTH_MAX = 512 }; /* spans within spans that viewers bear; deeper ones are left out and counted */

/** A span that is open in a thread. */
struct export_open {
    int kind;
    uint32_t what;
    uint64_t begin_ns;
    struct span span;  /**< as it began, until the window is reached */
    uint64_t inner_ns; /**< spans that ended inside it */
    uint32_t node;     /**< of the tree, for formats that want one */
    uint64_t inner_counts[UPMU_REGION_EVENTS_MAX];
};

struct export_thread {
    struct export_open open[EXPORT_DEPTH_MAX];
    uint32_t depth;
    uint32_t root; /**< its node of the tree, 0 if it has none yet */
};

/** What a format does with a time window. */
enum export_window {
    EXPORT_WINDOW_CUT,  /**< it gets what lies in the window, cut at its ends */
    EXPORT_WINDOW_OWN,  /**< it gets everything, and cuts itself */
    EXPORT_WINDOW_NONE, /**< it cannot have one */
};

struct html;

struct export_job {
    const struct export_format *format;
    const char *dir; /**< the recording */
    struct upmu_export_opts opts;
    struct timeline_window window;
    bool within, beyond;            /**< the reading has reached the window, has left it */
    struct upmu_overview *facts;    /**< the first reading: names */
    struct export_thread **threads; /**< by index in the pass */
    size_t n_threads;
    struct textbuf out;
    int fd;
    uint64_t written;
    uint64_t done, all; /**< events */
    uint64_t left_out;  /**< spans, or lines of a list, left out */
    struct tree tree;
    struct map by_stack;               /**< node of a (process, stack) below a root */
    char **thread_names, **wait_names; /**< by index in the pass, NULL until asked for */
    struct map by_text;                /**< names that were written */
    struct map by_waiters;             /**< threads that wait for an object */
    struct map by_flow;                /**< arrow that an object's last release began */
    struct textbuf scratch[2];         /**< messages being built */
    struct map by_place;               /**< label of a (process, address) */
    uint64_t without_number;           /**< counters of regions left out of the sums */
    uint64_t ids;                      /**< for formats that number things */
    bool listed;                       /**< something was listed: a comma comes before the next item */
    struct html *html;                 /**< of the format of that name */
};

/** What a format wants to be told. `begin`, `end` come properly nested for each thread; NULL is not told. All return 0 or a
 *  negative code with its message set. */
struct export_format {
    const char *name;
    const char *suffix;  /**< of files, without the dot */
    const char *summary; /**< one line */
    int window;          /**< enum export_window */
    bool wants_tree;     /**< waits and regions are added up in `tree`; `finish` writes it */
    int (*start)(struct export_job *job);
    int (*begin)(struct export_job *job, const struct span *span);
    int (*end)(struct export_job *job, const struct span *span);
    int (*event)(struct export_job *job, const struct overview *pass, uint32_t thread,
                 const struct upmu_trace_event *event);
    int (*sched)(struct export_job *job, const struct sched_span *span);
    int (*finish)(struct export_job *job);
    void (*free)(struct export_job *job); /**< also after an error, and if `start` was not called */
};

extern const struct export_format export_chrome, export_perfetto, export_folded, export_flamegraph, export_callgrind,
    export_pprof, export_speedscope, export_csv, export_jsonl, export_tasks, export_gcc, export_html;

/* What formats write with: the buffer goes out when it is large. */

/** upmu_fail() for memory. */
int export_no_memory(void);
/** Send the buffer off if it is large. @return 0; UPMU_E_IO, UPMU_E_NOMEM. */
int export_flush(struct export_job *job);
/** Add a number: faster than printf. */
void export_number(struct textbuf *b, uint64_t n);
/** "0x7f.." */
void export_hex(struct textbuf *b, uint64_t n);
/** Nanoseconds as microseconds with three digits behind the point. */
void export_micros(struct textbuf *b, uint64_t ns);
static inline void export_text(struct textbuf *b, const char *text)
{
    textbuf_add(b, text, strlen(text));
}
/** Text for XML, HTML and SVG, without what XML does not allow. */
void export_xml(struct textbuf *b, const char *text);
/** Text on one line of a format that knows no quoting: control characters and `forbidden` become `_`. */
void export_plain(struct textbuf *b, const char *text, const char *forbidden);

/* What things are called; made once, and as long there as the job. */
const char *export_thread_name(const struct export_job *job, uint32_t thread);
/** "mutex the till", "cond 0x55..". */
const char *export_object_name(const struct export_job *job, uint32_t object);
/** "wait for mutex the till". */
const char *export_wait_name(const struct export_job *job, uint32_t object);
/** The region's name, or that of the wait. */
const char *export_span_name(const struct export_job *job, const struct span *span);
int export_names_start(struct export_job *job);
void export_names_free(struct export_job *job);
/** The label of a function at an address. MAP_NONE without memory. */
uint32_t export_frame(struct export_job *job, const struct upmu_symbol *symbol);
/** "function file.c:12", "module+0x12", "" if not known; lives as long as the job. */
const char *export_place(struct export_job *job, uint32_t process, uint64_t address);
/** Why a span has no end of its own. */
const char *export_unfinished(const struct export_job *job);
const char *export_kind_name(int kind);
bool export_has_number(const struct upmu_value *value);
const struct ov_thread *export_thread(const struct export_job *job, uint32_t thread);

#endif
