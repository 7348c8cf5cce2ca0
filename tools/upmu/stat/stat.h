/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Modules of `upmu stat`: command line (cmd_stat.c), lists of targets (stat_targets.c), counting
 * (stat_parts.c, stat_usage.c, stat_wait.c, stat_signals.c), runs and intervals (stat_run.c, stat_result.c), and reports
 * (stat_text.c, stat_machine.c).
 */
#ifndef UPMU_TOOL_STAT_H
#define UPMU_TOOL_STAT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ui/output.h"
#include "upmu/upmu.h"

enum stat_format { STAT_TEXT, STAT_JSON, STAT_CSV };

/** What is counted. */
enum stat_target {
    STAT_COMMAND,
    STAT_PROCESSES,
    STAT_THREADS,
    STAT_CPUS,
};

/** Process ids, thread ids or CPU numbers, each once, in the order given. */
struct stat_ids {
    int *id;
    size_t n;
};

struct stat_request {
    const char *events;
    const char *metrics; /**< comma-separated, to be shown though they are shown on demand only; or NULL */
    enum stat_target target;
    struct stat_ids ids;
    bool all_cpus;
    /** The command to count; with other targets, a command whose life is the time to count, or NULL. */
    char **argv;
    double seconds;          /**< how long, unless it is a command; 0: until the targets end or a signal comes */
    double interval;         /**< seconds between partial reports; 0: none */
    unsigned interval_count; /**< end after so many; 0: no limit */
    unsigned runs;           /**< at least 1 */
    bool together;           /**< multiplexing is an error */
    bool no_inherit;         /**< leave threads and processes created later out */
    bool each;               /**< threads or CPUs are reported each by itself, too */
    bool verbose;
    const char *output; /**< file, or NULL for standard error */
    bool append;
    enum stat_format format;
    char separator; /**< of CSV */
};

/* --------------------------------------------------------------------------------- ids (stat_targets.c) */

/** Add the numbers of a list as "1,2"; for CPUs ranges as "0,2-3" as well. @return false if it is no such list. */
bool stat_ids_add(struct stat_ids *ids, const char *list, bool ranges);
/** Add all CPUs that are online. @return false with a message if the kernel does not list them. */
bool stat_ids_online(struct stat_ids *ids);
/** The threads of a process. @return false if there is no such process. */
bool stat_ids_threads(struct stat_ids *ids, pid_t pid);
bool stat_ids_has(const struct stat_ids *ids, int id);
void stat_ids_free(struct stat_ids *ids);

/* ------------------------------------------------------------------------------------ usage (stat_usage.c) */

/** Where a number is from. */
enum stat_source {
    STAT_NO_SOURCE,
    STAT_PERF_EVENT,
    STAT_RUSAGE, /**< the kernel's accounting of a command, when its end was waited for */
    STAT_PROC,   /**< the same of a process or thread, in /proc */
};
const char *stat_source_name(enum stat_source source);

/** Fields of the kernel's accounting, a bit each in stat_usage.known. */
enum stat_usage_field {
    STAT_USER_NS,
    STAT_SYSTEM_NS,
    STAT_MINOR_FAULTS,
    STAT_MAJOR_FAULTS,
    STAT_SWITCHES,
    STAT_USAGE_FIELDS
};

struct stat_usage {
    unsigned known;
    uint64_t field[STAT_USAGE_FIELDS];
};

/** Of a running process or thread, from /proc; nothing is known of one that is gone. */
struct stat_usage stat_usage_of(enum stat_target target, pid_t id);
/** Of the command of a set whose end was waited for. */
struct stat_usage stat_usage_of_command(const struct upmu_set *set);
/** Whether the kernel's accounting has the event. */
bool stat_usage_has(const char *event);
/** The value of an event between two readings. @return false if the accounting does not have it. */
bool stat_usage_value(const char *event, const struct stat_usage *before, const struct stat_usage *now,
                      uint64_t *value);

/* ------------------------------------------------------------------------------------- parts (stat_parts.c) */

/** A value with its source. */
struct stat_reading {
    struct upmu_value v;
    enum stat_source source;
    bool seen;   /**< it was read at all */
    bool at_end; /**< it is accounted when the command ends, and has no value before */
};

/** What one set counts. */
struct stat_part {
    enum stat_target target;
    int id;
    char *label; /**< "sleep-1234", "CPU0" */
    struct upmu_set *set;
    struct upmu_value *values; /**< as the set gave them last */
    struct stat_usage used_at_start, used;
    struct stat_reading *now, *before; /**< of each event, since the start: now, and one interval ago */
};

struct stat_parts {
    const struct stat_request *request;
    struct stat_part *part;
    size_t n;
    size_t n_events;     /**< of each set */
    double began, ended; /**< seconds */
};

/** Open the counters of all targets. @return EXIT_OK, or the status to end with, with a message. */
int stat_parts_open(struct stat_parts *parts, const struct stat_request *request);
/** @return EXIT_OK, or the status to end with, with a message. */
int stat_parts_start(struct stat_parts *parts);
/** Read all, stopped before if `last`. @return EXIT_OK or EXIT_FAILED, with a message. */
int stat_parts_read(struct stat_parts *parts, bool last);
/** What was counted in the interval before the last reading begins anew from here. */
void stat_parts_next_interval(struct stat_parts *parts);
void stat_parts_close(struct stat_parts *parts);
/** Why event i has no number in some part, or "". */
const char *stat_parts_reason(const struct stat_parts *parts, size_t i);
/** The difference of two readings of one counter. */
struct stat_reading stat_reading_between(const struct stat_reading *before, const struct stat_reading *now);
/** sum += r; a part that did not run takes nothing away. */
void stat_reading_add(struct stat_reading *sum, const struct stat_reading *r);

/** Seconds of the clock that all durations are measured with. */
double stat_seconds_now(void);

/* ----------------------------------------------------------------------------------- results (stat_result.c) */

/** Mean and spread of a quantity over the runs (Welford's sums). */
struct stat_mean {
    unsigned n;
    double mean;
    double m2; /**< sum of squared distances from the mean */
};

void stat_mean_add(struct stat_mean *m, double x);
/** Standard error of the mean in percent of it, as perf's "+-"; 0 for one run, NaN if the mean is 0. */
double stat_mean_error_percent(const struct stat_mean *m);
/** Decimals to show of a mean of counts: none of a whole number, two of others, so that 1 in 3 does not look like 0. */
int stat_mean_decimals(const struct stat_mean *m);
/** Standard deviation of the runs; NaN for one run. */
double stat_mean_deviation(const struct stat_mean *m);

/** What an event counted on one core type, over all runs. */
struct stat_kind {
    char *pmu;
    struct stat_mean value;
    uint64_t total; /**< UPMU_NO_VALUE if it is beyond 64 bits */
};

/** One event over all runs. */
struct stat_event {
    char *name;             /**< as counted */
    char *unit;             /**< "" or "ns"; of an event with a scale, that of the count times it */
    double scale;           /**< 1 where a count is what it is */
    char *reason;           /**< why it is not counted, or "" */
    struct stat_mean value; /**< over the runs with a number */
    uint64_t total;         /**< sum over these runs; UPMU_NO_VALUE if it is beyond 64 bits */
    uint64_t enabled;       /**< nanoseconds, sum over the runs */
    uint64_t running;
    int status;              /**< weakest of the runs */
    int cause;               /**< of that status */
    enum stat_source source; /**< of the numbers */
    struct stat_kind *kinds; /**< of which `value` is the sum; NULL where there is one */
    size_t n_kinds;
};

/** The events of one thread or CPU. */
struct stat_member {
    char *label;
    int id;
    struct stat_event *events;
};

struct stat_result {
    const struct stat_request *request;
    struct stat_event *events;
    size_t n_events;
    struct stat_member *members; /**< with stat_request.each; their sum is in `events` */
    size_t n_members;
    unsigned runs;         /**< runs counted */
    unsigned interrupted;  /**< number of the run that a signal cut short and that was left out, or 0 */
    struct stat_mean wall; /**< seconds */
    struct stat_mean user; /**< seconds; n is 0 where it is not known (no command counted) */
    struct stat_mean sys;
    size_t instances; /**< threads or CPUs counted at the start */
    int status;       /**< exit status of the command by the shell's rules: that of the first run that failed, else 0 */
};

/** Add what was read: a run, or an interval. */
void stat_result_add(struct stat_result *result, const struct stat_parts *parts, bool interval);
void stat_result_free(struct stat_result *result);

/** Whether the event has a value in every run. */
bool stat_has_number(const struct stat_event *e, const struct stat_result *result);
/** Whether anything could be counted: at least one event is neither refused nor unsupported (one that merely had no chance, because
 *  the process slept, counts as well), or it is a command, which has a result of its own. */
bool stat_succeeded(const struct stat_request *request, const struct stat_result *result);
/** Share of the time it was on a counter, in percent. */
double stat_counted_percent(const struct stat_event *e);

/** What a metric came to; only metrics whose events were all among those asked for are handed over. */
typedef void (*stat_metric_fn)(void *arg, const struct upmu_metric_info *info, const struct upmu_metric_value *value);
void stat_metrics(const struct stat_result *result, stat_metric_fn each, void *arg);

/* ------------------------------------------------------------------------------------------ runs (stat_run.c) */

/**
 * Count, with partial reports to `out` where they are asked for. @return EXIT_OK; or, when there is nothing to report,
 * the exit status to end with, with a message. `result` is to be freed with stat_result_free() in both cases.
 */
int stat_run(const struct stat_request *request, struct output *out, struct stat_result *result);

/* ----------------------------------------------------------------- reports (stat_text.c, stat_machine.c) */

void stat_write_text(struct output *out, const struct stat_request *request, const struct stat_result *result);
void stat_write_json(struct output *out, const struct stat_request *request, const struct stat_result *result);
void stat_write_csv(struct output *out, const struct stat_request *request, const struct stat_result *result);

/** An interval that ended `seconds` after the start; `number` counts them from 0. */
struct stat_interval {
    double seconds;
    unsigned number;
};
void stat_interval_text(struct output *out, const struct stat_interval *interval, const struct stat_result *result);
void stat_interval_json(struct output *out, const struct stat_interval *interval, const struct stat_result *result);
void stat_interval_csv(struct output *out, const struct stat_request *request, const struct stat_interval *interval,
                       const struct stat_result *result);

/* ---------------------------------------------------------- waiting and signals (stat_wait.c, stat_signals.c) */

/** From now on SIGINT, SIGQUIT, SIGTERM and SIGHUP end the counting, not us. Signals that were ignored stay ignored. */
void stat_signals_catch(void);
/** Pass SIGTERM and SIGHUP, past ones included, on to `pid` (SIGINT and SIGQUIT reach a command from the terminal);
 *  0: to no process. */
void stat_signals_forward(pid_t pid);
/** The signal that came first, or 0. */
int stat_signals_seen(void);

/** Processes and threads whose end is waited for. */
struct stat_watch {
    struct stat_watched *watched;
    size_t n;
    bool signals; /**< a signal ends the wait */
};
/** Watch a command of ours; or all of `ids`, as processes or as threads (NULL: none). */
void stat_watch_command(struct stat_watch *w, pid_t pid);
void stat_watch_ids(struct stat_watch *w, const struct stat_ids *ids, bool threads);
/** Wait until all have ended, without reaping them; until `deadline` (stat_seconds_now(); INFINITY: none); or until a signal
 *  came. @return 1: ended, 0, or -1 with errno. */
int stat_watch_wait(struct stat_watch *w, double deadline);
void stat_watch_end(struct stat_watch *w);

#endif
