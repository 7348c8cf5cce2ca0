/* SPDX-License-Identifier: MIT */
/** @file A recording opened for a report, and names, locations and values as text. */
#ifndef UPMU_TOOL_REPORT_H
#define UPMU_TOOL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ui/output.h"
#include "upmu/analysis.h"

struct samples_holders;

/** Locks of one origin. */
struct report_group {
    size_t n;
    struct upmu_overview_object sum; /**< of waits, acquisitions and holds; the rest is of the first one */
};

struct report {
    struct upmu_overview *overview;
    struct upmu_overview_totals totals;
    struct upmu_findings *findings;
    const char *dir;
    struct samples_holders *holders; /**< NULL: no samples */
    size_t top;                      /**< rows per table */
    size_t *order;                   /**< objects in the order they are shown in */
    size_t n_order;
    struct report_group **groups; /**< by object: the group it represents; NULL: none */
    const char *order_by;         /**< in words */
    const char *counter;          /**< counters of waits and holds are ranked by this one; NULL: by the first */
};

void report_write_text(struct output *out, const struct report *r);
void report_write_json(struct output *out, const struct report *r);
void report_write_regions(struct output *out, const struct report *r);

void report_write_regions_json(struct output *out, const struct report *r);

/** Whether `by` is an order: "wait", "hold" or "path"; or what a counter counted, "held:NAME" or "waited:NAME". */
bool report_sort_known(const char *by);
/** Sort the objects by a known key. @return false after a message if there is no such counter. */
bool report_sort(struct report *r, const char *by);
/** Fold locks that were created at one place, and calls of processes of one program, if there are `least` or more; 0: none. */
void report_group(struct report *r, size_t least, bool by_wait);
void report_groups_free(struct report *r);
/** Print on standard error what could not be read. @return the number of damages. */
size_t report_damages(const struct upmu_overview *overview);

/** Find what costs time. @return false after a message. */
bool report_find(struct report *r);

/** Whether recording was stopped for so long that a word about it is due: not in the moment between upmu_sync_end() and the end of
 *  the process. */
bool report_was_stopped(uint64_t stopped_ns, uint64_t of_ns);
/** "recording was stopped", "only counts were recorded" or both: why a process has no events of some time. */
const char *report_stopped_text(const struct report *r, size_t process);
/** Whether report_text_stops() prints a line for process number `i`, which is `p`. */
bool report_has_stops(const struct report *r, size_t i, const struct upmu_trace_process *p);
/** How long recording of a process was stopped, or only counted, and that this time is left out; or that it was never started. */
void report_text_stops(struct output *out, const struct report *r, size_t i, const struct upmu_trace_process *p);
/** From when to when it was stopped, a line for each process where it was. */
void report_text_stop_times(struct output *out, const struct report *r);

/* Parts of the text, and of the JSON document. */
void report_text_findings(struct output *out, const struct report *r);
void report_text_threads(struct output *out, const struct report *r);
void report_text_matrix(struct output *out, const struct report *r);
void report_text_paths(struct output *out, const struct report *r);
void report_text_objects(struct output *out, const struct report *r);
void report_text_sections(struct output *out, const struct report *r);
void report_text_kernel(struct output *out, const struct report *r);
void report_text_regions(struct output *out, const struct report *r);
/** Of process number `process`, which is `p`. @return false where nothing is printed, because the kernel was not asked. */
bool report_text_futexes(struct output *out, const struct report *r, size_t process,
                         const struct upmu_trace_process *p);
/** That the kernel was not asked, for all processes at once. */
void report_text_no_futexes(struct output *out);
struct textbuf;
void report_json_futexes(struct textbuf *j, const struct report *r, size_t process, const struct upmu_trace_process *p);
/** Which counter of the process has that name, SIZE_MAX if none has. */
size_t report_counter_index(const struct report *r, uint32_t process, const char *name);
void report_json_location(struct textbuf *j, const struct report *r, const char *key, uint32_t process,
                          uint64_t address);
void report_json_stack(struct textbuf *j, const struct report *r, const char *key, uint32_t process, uint32_t id);
void report_json_kernel(struct textbuf *j, const struct report *r);
void report_json_findings(struct textbuf *j, const struct report *r);
void report_json_pairs(struct textbuf *j, const struct report *r);
void report_json_paths(struct textbuf *j, const struct report *r);

/** The frames of a stack, inlined ones included, below the line `what`. */
void report_text_stack(struct output *out, const struct report *r, uint32_t process, uint32_t id, const char *what);
/** The title of a part of the text. */
void report_title(struct output *out, const char *text);
/** Whether they are of a stretch (--from, --to), not of the whole recording. */
bool report_is_stretch(const struct upmu_overview_totals *totals);
/** " from 1 to 2 s" of an overview of a stretch, else nothing; and both times, nanoseconds since 1970. */
void report_text_stretch(struct output *out, const struct upmu_overview *overview);
void report_json_stretch(struct textbuf *j, const struct upmu_overview *overview);
/** A table has left rows out. */
void report_more(struct output *out, size_t all, size_t shown);

/** Called for each metric that has a value. */
typedef void (*report_metric_fn)(void *arg, const struct upmu_metric_info *info, const struct upmu_metric_value *value);
void report_metrics(const struct report *r, const struct upmu_overview_region *region, report_metric_fn report,
                    void *arg);

/** What an address is, in one line: "function file:line", "module+0x12", "an unknown place". To be freed. */
char *report_location(const struct report *r, uint32_t process, uint64_t address);
/** The same of the line that matters in a stack that begins at the address. To be freed. */
char *report_line(const struct report *r, uint32_t process, uint64_t address, uint32_t stack);
/** What is known of an address, in one line: to be freed. */
char *report_symbol_text(const struct upmu_symbol *s, uint64_t address);
/** "mutex", "semaphore", ... */
const char *report_type_name(int type);
/** The program of a process, without folders and arguments: "gcc"; "" if it is not known. To be freed. */
char *report_program(const struct report *r, uint32_t process);
/** A process by its id and program: "1234 (gcc)". To be freed. */
char *report_process_text(const struct report *r, uint32_t process);
/** The same, between two texts. */
void report_text_process(struct output *out, const struct report *r, const char *before, uint32_t process,
                         const char *after);
/** A thread by its id, and its name if it is known: to be freed. */
char *report_thread_text(const struct report *r, uint32_t process, pid_t tid);
/** "name", "variable", "created", "first use", "address": an enum upmu_identity. */
const char *report_identity_name(int identity);
/** What an object is called: its name, or its address; a thread as report_thread_text(). To be freed. */
char *report_object_name(const struct report *r, const struct upmu_overview_object *object);
/** A duration for people, four digits: "12.34 ms". To be freed. */
char *report_duration(uint64_t ns);
/** A counter's value in words, by its status: "1234", "~12.34 ms", "refused". To be freed. */
char *report_value(const char *counter, const struct upmu_value *value);
/** The file's name without its folders. */
const char *report_base_name(const char *path);

#endif
