/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Data of the HTML report.
 *
 * It is collected in memory while the recording is read, then written as compressed columns of numbers. Memory is
 * bounded: above HTML_SPANS_MAX spans, short adjacent ones are drawn as one, and the page shows a note. Sums
 * (threads, locks, pairs, profiles) cover all spans.
 */
#ifndef UPMU_EXPORT_HTML_H
#define UPMU_EXPORT_HTML_H

#include <zlib.h>

#include "base/text/json.h"
#include "export/export.h"

enum {
    HTML_SPANS_MAX = 1 << 20,  /* per table */
    HTML_POINTS_MAX = 1 << 20, /* readings of counters, of all threads together */
    HTML_SAMPLES_MAX = 1 << 20,
    HTML_FUNCTIONS_MAX = 1 << 16,
    HTML_CALL_PATHS_MAX = 1 << 16,  /* of recorded functions */
    HTML_CALL_FRAMES_MAX = 1 << 20, /* functions of all these paths together */
};

/** Bits of html_span.flags, as in the page's data.js. */
enum html_flag {
    HTML_UNFINISHED = 1,
    HTML_AT_LEAST = 2, /**< a hold that began at its begin or before */
    HTML_SAMPLED = 4,  /**< one in N */
    HTML_TIMED = 8,
    HTML_FAILED = 16, /**< a call of MPI that returned an error */
};

/** A region, a wait, a hold, or an interval in one scheduler state; or `count` short adjacent ones of one row. */
struct html_span {
    uint64_t begin_ns, ns;
    uint64_t busy_ns;      /**< part of `ns` that its spans cover; 0 in html_add(): all of it */
    uint64_t longest_ns;   /**< the longest of them: kind, site and flags are its own */
    uint32_t row_a, row_b; /**< regions, waits: thread, depth; holds: object, thread; runs: thread, 0 */
    uint32_t what;         /**< region, object or enum upmu_sched_state; MAP_NONE: several */
    uint32_t count;        /**< 0 in html_add(): 1 */
    uint32_t flags;
    uint32_t extra; /**< in the table's `extras` */
};

/** Details of a wait. Threads are indices of the pass, MAP_NONE if not known; sites are those of html_site(). */
struct html_wait {
    uint64_t holder_since, waker_ns; /**< 0 if not known */
    uint32_t kind, holder, waker;
    uint32_t site, holder_site, stack, waker_stack, holder_stack;
};

struct html_hold {
    uint32_t site;
};

struct html_run {
    uint32_t cpu;
};

/** HTML_FINALIZE is `sequence` of MPI_Finalize(), which is collective on MPI_COMM_WORLD. */
#define HTML_FINALIZE ((uint64_t)1 << 52)

/** Details of a call of MPI. */
struct html_call {
    uint64_t begin_ns; /**< of the call: a merged span begins earlier */
    uint64_t bytes;    /**< UPMU_NO_VALUE: not known, or none */
    uint64_t sequence; /**< of a collective call; else 0 */
    uint64_t wait_ns;
    uint32_t process;
    int32_t peer, tag; /**< as in struct upmu_trace_mpi */
    uint32_t comm;     /**< number, from 1 on; 0: none */
    uint32_t wait;     /**< enum upmu_mpi_pattern; 0: none */
    uint32_t cause;    /**< rank in MPI_COMM_WORLD plus one */
    uint32_t site, stack;
};

struct html_mpi;

struct html_table {
    struct html_span *spans;
    size_t n, cap;
    uint64_t gap_ns; /**< spans this short and this close to each other are merged; 0: none */
    char *extras;
    size_t n_extras, cap_extras, extra_size; /**< extra_size is set at the start, 0: none */
    uint64_t from_ns, to_ns;                 /**< spans outside are dropped; set at the start */
    char *spare;                             /**< the extra of a dropped span */
};

/** Readings of the counters of one thread: rows of a time and n_counters values. */
struct html_points {
    uint64_t *rows;
    size_t n, cap;
};

struct html_sum {
    uint64_t a, b;
    uint64_t count, ns;
};

struct html_sums {
    struct html_sum *all;
    size_t n, cap;
    struct map by_key;
};

struct html_key {
    uint32_t process;
    uint64_t number; /**< address, or id of a stack */
};

struct html_keys {
    struct html_key *all;
    size_t n, cap;
    struct map by_key;
};

struct html_mark {
    uint64_t ns;
    uint32_t thread;
    char *text;
};

struct html_release {
    uint32_t thread, process, stack; /**< `stack`: id in the recording, 0 = none */
    uint64_t ns;
};

struct html_sample {
    uint64_t ns, weight;
    uint32_t thread_rank;
    uint32_t path; /**< of `samples` of the job */
};

struct html {
    struct html_table regions, waits, holds, runs; /**< runs: intervals in scheduler states */
    struct html_table calls;                       /**< of MPI */
    struct html_mpi *mpi;                          /**< NULL: no event of MPI */
    size_t n_counters;                             /**< per region instance: value << 3 | status */
    uint64_t base_ns;                              /**< times on the page are relative to the begin of the recording */
    struct html_points *points;                    /**< by thread */
    size_t n_points;
    uint64_t points_gap_ns;
    uint32_t scaled;                     /**< bit i: readings of counter i are scaled */
    uint32_t *region_depth, *wait_depth; /**< by thread: number of open spans */
    uint32_t *thread_rank, *object_rank, *region_rank;
    struct map complete;           /**< (object, thread) with all holds in pairs, see html_holds.c */
    struct html_release *released; /**< by object: the last event that could end a wait */
    struct html_sums stacks;       /**< blocked time by (thread and stack, object) */
    struct map wait_labels;        /**< nodes of the tree that are waits */
    struct html_keys sites, stack_ids;
    struct html_mark *marks;
    size_t n_marks, cap_marks;
    struct html_sample *samples;     /**< by thread and time */
    size_t n_samples, samples_every; /**< every n-th one of the recording */
    z_stream z;
    bool packing;
    unsigned char rest[3]; /**< bytes that do not fill a base64 group yet */
    size_t n_rest;
};

/** Nanoseconds since the page's base. */
static inline uint64_t html_since(const struct html *h, uint64_t ns)
{
    return ns > h->base_ns ? ns - h->base_ns : 0;
}

/* html_table.c: spans, merged if there are too many. */

/** Add a span, unless it is outside of the table's times. @return its extra to be filled, of the table's
 *  extra_size; NULL without memory. */
void *html_add(struct html_table *t, const struct html_span *span);
/** Start empty, for spans within these times. @return 0; UPMU_E_NOMEM. */
int html_table_start(struct html_table *t, size_t extra_size, uint64_t from_ns, uint64_t to_ns);
/** After the last span: merge if needed, sort by row and time. @return 0; UPMU_E_NOMEM. */
int html_table_finish(struct html_table *t);
void html_table_free(struct html_table *t);
/** Thin out readings of counters: each thread keeps readings with a minimum distance. */
void html_points_thin(struct html *h, size_t n_threads);

/* html_holds.c: holds whose begin and end are certain. */
int html_holds_start(struct export_job *job);
int html_holds_event(struct export_job *job, const struct overview *pass, uint32_t thread,
                     const struct upmu_trace_event *e);
int html_holds_finish(struct export_job *job);

/* html_mpi.c: calls of MPI, messages, ranks. */
int html_mpi_event(struct export_job *job, uint32_t thread, const struct upmu_trace_event *e);
/** After the last event. @return 0 or an error. */
int html_mpi_finish(struct export_job *job);
/** The messages, as columns. */
int html_mpi_columns(struct export_job *job);
/** "mpi" of the facts, if there are ranks. */
int html_mpi_write(struct export_job *job, struct textbuf *b);
void html_mpi_free(struct html *h);

/* html_samples.c: samples of the recording, if it has any. */

/** After the last event. @return 0 or an error. */
int html_samples_finish(struct export_job *job);
/** "samples" of the facts, and their columns. */
int html_samples_write(struct export_job *job, struct textbuf *b);

/** html_functions.c: "functions" of the facts, and the columns of their call paths, if functions were recorded. */
int html_functions_write(struct export_job *job, struct textbuf *b);

/* html_locations.c: call sites and stacks by number, from 1; 0 is none. MAP_NONE without memory. */
uint32_t html_site(struct export_job *job, uint32_t process, uint64_t address);
uint32_t html_stack(struct export_job *job, uint32_t process, uint32_t stack);
int html_sum(struct html_sums *s, uint64_t a, uint64_t b, uint64_t ns);
/** "frames", "sites" and "stacks" of the facts. */
int html_sites_write(struct export_job *job, struct textbuf *b);

/* html_facts.c, html_objects.c, html_path.c, html_deadlocks.c: sums and properties of the recording, as JSON. */
int html_facts_write(struct export_job *job, struct textbuf *b);
int html_objects_write(struct export_job *job, struct textbuf *b);
int html_paths_write(struct export_job *job, struct textbuf *b);
/** The segments of all paths, as columns. */
int html_path_columns(struct export_job *job);
/** Deadlocks, lock-order cycles, and findings. */
int html_deadlocks_write(struct export_job *job, struct textbuf *b);
/** html_findings.c; `deadlocks` may be NULL. */
struct upmu_deadlocks;
int html_findings_write(struct export_job *job, const struct upmu_deadlocks *deadlocks, struct textbuf *b);

/* html_pack.c: sections of bytes, compressed, in base64. */
int html_pack_start(struct export_job *job);
/** A section: its name, the number of its values, its bytes. */
int html_pack_section(struct export_job *job, const char *name, size_t count, const struct textbuf *bytes);
int html_pack_end(struct export_job *job);

/** Add a number in groups of 7 bits, the lowest first. */
void html_varint(struct textbuf *b, uint64_t n);

/* html_columns.c */
int html_columns_write(struct export_job *job);

/* The page around the data, made at build time from page/. */
extern const unsigned char html_page_head[], html_page_tail[];
extern const size_t html_page_head_length, html_page_tail_length;

#endif
