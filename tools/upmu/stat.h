/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `upmu stat` in three rooms' worth of files: cmd_stat.c (the command line) -> stat_run.c (counting; stat_wait.c and
 * stat_signals.c help) -> stat_text.c or stat_machine.c (the report). Room: tools/upmu.
 */
#ifndef UPMU_TOOL_STAT_H
#define UPMU_TOOL_STAT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "output.h"
#include "upmu/upmu.h"

enum stat_format { STAT_TEXT, STAT_JSON, STAT_CSV };

struct stat_request {
    const char *events;
    pid_t pid;          /**< a running process, or 0 */
    int cpu;            /**< a CPU, or -1 */
    char **argv;        /**< a command, or NULL; exactly one of the three */
    double seconds;     /**< with pid and cpu: how long; 0 = until the process ends or a signal comes */
    unsigned runs;      /**< with argv; at least 1 */
    bool together;      /**< turns are an error */
    const char *output; /**< file, or NULL for standard error */
    enum stat_format format;
};

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

/** What an event counted on one kind of core, over all runs. */
struct stat_kind {
    char *pmu;
    struct stat_mean value;
    uint64_t total; /**< UPMU_NO_VALUE if it is beyond 64 bits */
};

/** One event over all runs. */
struct stat_event {
    char *name;             /**< as counted */
    char *unit;             /**< "" or "ns" */
    char *reason;           /**< why it is not counted, or "" */
    struct stat_mean value; /**< over the runs with a number */
    uint64_t total;         /**< sum over these runs; UPMU_NO_VALUE if it is beyond 64 bits */
    uint64_t enabled;       /**< nanoseconds, sum over the runs */
    uint64_t running;
    int standing;            /**< weakest of the runs */
    int cause;               /**< of that standing */
    struct stat_kind *kinds; /**< of which `value` is the sum; NULL where there is one */
    size_t n_kinds;
};

struct stat_result {
    struct stat_event *events;
    size_t n_events;
    unsigned runs;         /**< runs counted */
    unsigned interrupted;  /**< number of the run that a signal cut short and that was left out, or 0 */
    struct stat_mean wall; /**< seconds */
    struct stat_mean user; /**< seconds; n is 0 where it is not known (-p, -C) */
    struct stat_mean sys;
    size_t instances; /**< threads or CPUs counted at the start */
    size_t groups;
    int status; /**< exit status of the command by the shell's rules: that of the first run that failed, else 0 */
};

/**
 * Count. @return EXIT_OK; or the exit status to end with, having said why, when there is nothing to report.
 * `result` is to be freed with stat_free() in both cases.
 */
int stat_run(const struct stat_request *request, struct stat_result *result);
void stat_free(struct stat_result *result);

/** Whether the event has a number that stands for all runs. */
bool stat_has_number(const struct stat_event *e, const struct stat_result *result);
/** Whether anything could be counted: nothing stands against at least one event (one that merely had no chance, because
 *  the process slept, counts as well), or it is a command, which has a result of its own. */
bool stat_succeeded(const struct stat_request *request, const struct stat_result *result);
/** Share of the time it was on a counter, in percent. */
double stat_counted_percent(const struct stat_event *e);

/** What a metric came to; only metrics whose events were all among those asked for are handed over. */
typedef void (*stat_metric_fn)(void *arg, const struct upmu_metric_info *info, const struct upmu_metric_value *value);
void stat_metrics(const struct stat_result *result, stat_metric_fn each, void *arg);

void stat_write_text(struct output *out, const struct stat_request *request, const struct stat_result *result);
void stat_write_json(struct output *out, const struct stat_request *request, const struct stat_result *result);
void stat_write_csv(struct output *out, const struct stat_result *result);

/* ------------------------------------------------------------------------------------ waiting and signals */

/** From now on SIGINT, SIGQUIT, SIGTERM and SIGHUP end the counting, not us. Signals that were ignored stay ignored. */
void stat_signals_catch(void);
/** Pass SIGTERM and SIGHUP, past ones included, on to `pid` (SIGINT and SIGQUIT reach a command from the terminal);
 *  0: to nobody. */
void stat_signals_forward(pid_t pid);
/** The signal that came first, or 0. */
int stat_signals_seen(void);

/** Wait until the command is over, without reaping it. */
void stat_wait_command(pid_t pid);
/** Wait until `pid` (0: nobody) ends, `seconds` (0: no limit) are over, or a signal came. @return 0; -1 with errno. */
int stat_wait_time(pid_t pid, double seconds);

#endif
