/* SPDX-License-Identifier: MIT */
/* upmu stat: count events of commands, processes, threads and CPUs. */
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ui/command.h"
#include "ui/memory.h"
#include "events/metrics.h"
#include "ui/numbers.h"
#include "ui/options.h"
#include "stat.h"

enum {
    STAT_OPT_EVENT = 1,
    STAT_OPT_GROUP,
    STAT_OPT_METRICS_FILE,
    STAT_OPT_PID,
    STAT_OPT_TID,
    STAT_OPT_ALL_CPUS,
    STAT_OPT_CPU,
    STAT_OPT_PER_THREAD,
    STAT_OPT_NO_AGGR,
    STAT_OPT_NO_INHERIT,
    STAT_OPT_FOR,
    STAT_OPT_TIMEOUT,
    STAT_OPT_INTERVAL,
    STAT_OPT_INTERVAL_COUNT,
    STAT_OPT_REPEAT,
    STAT_OPT_TOGETHER,
    STAT_OPT_OUTPUT,
    STAT_OPT_APPEND,
    STAT_OPT_VERBOSE,
    STAT_OPT_JSON,
    STAT_OPT_CSV,
    STAT_OPT_SEPARATOR
};

enum { RUNS_MAX = 1000000, INTERVAL_MS_MIN = 1 };

static const char default_events[] =
    "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses";

struct stat_line {
    const struct command *self;
    struct stat_request request;
    unsigned formats; /* how many were asked for */
    bool pid, tid, cpu, all_cpus, per_thread, no_aggr;
    const char *groups;       /* of metrics, or NULL */
    const char *metrics_file; /* or NULL */
};

static int stat_number(struct stat_line *l, const char *option, const char *text, long low, long high, long *out)
{
    if (number_long(text, low, high, out))
        return 0;
    return options_usage(l->self, "--%s needs a number from %ld to %ld, not '%s'", option, low, high, text);
}

static int stat_take_number(struct stat_line *l, int id, const char *value)
{
    long n = 0;
    int status;

    switch (id) {
    case STAT_OPT_TIMEOUT:
        status = stat_number(l, "timeout", value, 1, INT_MAX, &n);
        l->request.seconds = (double)n / 1000;
        return status;
    case STAT_OPT_INTERVAL:
        status = stat_number(l, "interval-print", value, INTERVAL_MS_MIN, INT_MAX, &n);
        l->request.interval = (double)n / 1000;
        return status;
    case STAT_OPT_INTERVAL_COUNT:
        status = stat_number(l, "interval-count", value, 1, INT_MAX, &n);
        l->request.interval_count = (unsigned)n;
        return status;
    default:
        status = stat_number(l, "repeat", value, 1, RUNS_MAX, &n);
        l->request.runs = (unsigned)n;
        return status;
    }
}

static int stat_ids(struct stat_line *l, bool *given, enum stat_target target, const char *option, const char *value)
{
    bool cpus = target == STAT_CPUS;
    *given = true;
    l->request.target = target;
    if (!stat_ids_add(&l->request.ids, value, cpus))
        return options_usage(l->self, "--%s needs %s, not '%s'", option,
                             cpus ? "numbers of CPUs, as 0 or 0,2-3" : "ids, as 123 or 123,456", value);
    if (!cpus && stat_ids_has(&l->request.ids, 0))
        return options_usage(l->self, "--%s needs ids above 0", option);
    return 0;
}

static int stat_format(struct stat_line *l, enum stat_format format)
{
    l->request.format = format;
    if (l->formats++ > 0)
        return options_usage(l->self, "--json, --csv and -x exclude each other and are given once");
    return 0;
}

static int stat_separator(struct stat_line *l, const char *value)
{
    bool tab = strcmp(value, "\\t") == 0;
    if (!tab && strlen(value) != 1)
        return options_usage(l->self, "--field-separator needs one character, not '%s'", value);
    l->request.separator = tab ? '\t' : value[0];
    return stat_format(l, STAT_CSV);
}

static int stat_flag(struct stat_line *l, int id)
{
    switch (id) {
    case STAT_OPT_ALL_CPUS:
        l->all_cpus = true;
        l->request.target = STAT_CPUS;
        break;
    case STAT_OPT_PER_THREAD:
        l->per_thread = true;
        break;
    case STAT_OPT_NO_AGGR:
        l->no_aggr = true;
        break;
    case STAT_OPT_NO_INHERIT:
        l->request.no_inherit = true;
        break;
    case STAT_OPT_TOGETHER:
        l->request.together = true;
        break;
    case STAT_OPT_APPEND:
        l->request.append = true;
        break;
    default:
        l->request.verbose = true;
    }
    return 0;
}

static int stat_option(void *arg, int id, const char *value)
{
    struct stat_line *l = arg;

    switch (id) {
    case STAT_OPT_EVENT:
        return options_events(l->self, value, &l->request.events);
    case STAT_OPT_GROUP:
        l->groups = value;
        return 0;
    case STAT_OPT_METRICS_FILE:
        l->metrics_file = value;
        return 0;
    case STAT_OPT_PID:
        return stat_ids(l, &l->pid, STAT_PROCESSES, "pid", value);
    case STAT_OPT_TID:
        return stat_ids(l, &l->tid, STAT_THREADS, "tid", value);
    case STAT_OPT_CPU:
        return stat_ids(l, &l->cpu, STAT_CPUS, "cpu", value);
    case STAT_OPT_OUTPUT:
        l->request.output = value;
        return 0;
    case STAT_OPT_JSON:
        return stat_format(l, STAT_JSON);
    case STAT_OPT_CSV:
        return stat_format(l, STAT_CSV);
    case STAT_OPT_SEPARATOR:
        return stat_separator(l, value);
    case STAT_OPT_FOR:
        if (number_seconds(value, &l->request.seconds))
            return 0;
        return options_usage(l->self, "--for needs seconds, as 2 or 0.5, not '%s'", value);
    default:
        return value ? stat_take_number(l, id, value) : stat_flag(l, id);
    }
}

/* Exactly one kind of target is counted. */
static int stat_check_target(const struct stat_line *l)
{
    int targets = l->pid + l->tid + (l->cpu || l->all_cpus);

    if (targets == 0 && !l->request.argv)
        return options_usage(l->self, "nothing to count: give a command, -p PID, -t TID, -C CPU or -a");
    if (targets > 1)
        return options_usage(l->self, "-p, -t and -C (or -a) exclude each other");
    if (l->per_thread && !l->pid && !l->tid)
        return options_usage(l->self, "--per-thread needs -p or -t");
    if (l->no_aggr && !l->cpu && !l->all_cpus)
        return options_usage(l->self, "--no-aggr needs -a or -C");
    return 0;
}

/* The other options fit it. */
static int stat_check(const struct stat_line *l)
{
    const struct stat_request *q = &l->request;
    int status = stat_check_target(l);

    if (status != 0)
        return status;
    if (q->argv && q->seconds > 0)
        return options_usage(l->self, "--for needs -p, -t, -C or -a; a command is counted until it ends");
    if (q->runs > 1 && (!q->argv || l->per_thread))
        return options_usage(l->self, "--repeat needs a command, and excludes --per-thread");
    if (q->runs > 1 && q->interval > 0)
        return options_usage(l->self, "--repeat and --interval-print exclude each other");
    if (q->interval_count > 0 && (q->interval <= 0 || q->argv))
        return options_usage(l->self, "--interval-count needs --interval-print, and excludes a command");
    if (q->append && !q->output)
        return options_usage(l->self, "--append needs --output FILE");
    return 0;
}

static void stat_write(struct output *out, const struct stat_request *request, const struct stat_result *result)
{
    switch (request->format) {
    case STAT_JSON:
        stat_write_json(out, request, result);
        break;
    case STAT_CSV:
        stat_write_csv(out, request, result);
        break;
    case STAT_TEXT:
        stat_write_text(out, request, result);
        break;
    }
}

static int stat_output(struct output *out, const struct stat_request *q)
{
    if (!q->output)
        return output_standard(out, OUTPUT_STDERR);
    return q->append ? output_file_append(out, q->output) : output_file(out, q->output);
}

/* The destination is opened before anything is counted: a command that took an hour must not end without a table. */
static int stat_count_and_write(const struct stat_request *request)
{
    struct stat_result result;
    struct output out;

    if (stat_output(&out, request) != 0)
        return EXIT_FAILED;
    int status = stat_run(request, &out, &result);
    if (status == EXIT_OK) {
        stat_write(&out, request, &result);
        status = stat_succeeded(request, &result) ? result.status : EXIT_FAILED;
    }
    stat_result_free(&result);
    if (output_close(&out) != 0 && status == EXIT_OK)
        status = EXIT_FAILED;
    return status;
}

/* The events of groups are counted beside those of --event, or alone. `owned`: to be freed. */
static bool stat_metrics_prepare(struct stat_line *l, char *owned[2])
{
    struct stat_request *q = &l->request;
    if (!metrics_load(l->metrics_file))
        return false;
    if (!l->groups)
        return true;
    char *events;
    if (!metrics_of_groups(l->groups, &events, &owned[1]))
        return false;
    owned[0] = q->events == default_events ? events : memory_format("%s,%s", q->events, events);
    if (owned[0] != events)
        free(events);
    q->events = owned[0];
    q->metrics = owned[1];
    return true;
}

static int stat_main(const struct command *self, int argc, char **argv)
{
    struct stat_line line = {
        .self = self,
        .request = {.events = default_events, .runs = 1, .separator = ','},
    };
    struct stat_request *q = &line.request;
    char *owned[2] = {NULL, NULL};
    int rest = argc;
    int status = options_parse(self, argc, argv, stat_option, &line, &rest);

    if (status == OPTIONS_CONTINUE) {
        if (rest < argc)
            q->argv = argv + rest;
        q->each = line.per_thread || line.no_aggr;
        q->all_cpus = line.all_cpus && !line.cpu;
        status = stat_check(&line);
        if (status == 0 && !stat_metrics_prepare(&line, owned))
            status = EXIT_FAILED;
        if (status == 0 && q->all_cpus && !stat_ids_online(&q->ids))
            status = EXIT_FAILED;
        if (status == 0)
            status = stat_count_and_write(q);
    }
    stat_ids_free(&q->ids);
    free(owned[0]);
    free(owned[1]);
    return status;
}

static const struct option_spec stat_options[] = {
    {STAT_OPT_EVENT, 'e', "event", "EVENTS", "events and metrics to count, comma-separated; see upmu list"},
    {STAT_OPT_GROUP, 'g', "group", "GROUPS", "the events and metrics of groups, as cache,branch; see upmu list -m"},
    {STAT_OPT_METRICS_FILE, 0, "metrics-file", "FILE", "metrics of your own: lines of name = formula"},
    {STAT_OPT_PID, 'p', "pid", "PIDS", "count running processes, all their threads"},
    {STAT_OPT_TID, 't', "tid", "TIDS", "count running threads"},
    {STAT_OPT_ALL_CPUS, 'a', "all-cpus", NULL, "count everything on all CPUs"},
    {STAT_OPT_CPU, 'C', "cpu", "CPUS", "count everything on some CPUs, as 0,2-3"},
    {STAT_OPT_PER_THREAD, 0, "per-thread", NULL, "with -p and -t: show each thread, then all"},
    {STAT_OPT_NO_AGGR, 'A', "no-aggr", NULL, "with -a and -C: show each CPU, then all"},
    {STAT_OPT_NO_INHERIT, 'i', "no-inherit", NULL, "leave out threads and processes created later"},
    {STAT_OPT_FOR, 0, "for", "SECONDS", "without a command: stop after this time"},
    {STAT_OPT_TIMEOUT, 0, "timeout", "MS", "the same in milliseconds"},
    {STAT_OPT_INTERVAL, 'I', "interval-print", "MS", "show what was counted every MS milliseconds, then all"},
    {STAT_OPT_INTERVAL_COUNT, 0, "interval-count", "N", "stop after N intervals"},
    {STAT_OPT_REPEAT, 'r', "repeat", "N", "run the command N times; show mean and spread"},
    {STAT_OPT_TOGETHER, 0, "together", NULL, "fail unless all events count at the same time"},
    {STAT_OPT_OUTPUT, 'o', "output", "FILE", "write the report to FILE (-: standard output), not to standard error"},
    {STAT_OPT_APPEND, 0, "append", NULL, "append to FILE instead of replacing it"},
    {STAT_OPT_VERBOSE, 'v', "verbose", NULL, "show how long each event had a counter"},
    {STAT_OPT_JSON, 'j', "json", NULL, "one JSON document; with -I one line for each interval"},
    {STAT_OPT_CSV, 'c', "csv", NULL, "comma-separated fields in the order of perf stat -x,"},
    {STAT_OPT_SEPARATOR, 'x', "field-separator", "SEP", "the same with SEP between the fields"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_stat = {
    .name = "stat",
    .summary = "count events of commands, processes, threads and CPUs",
    .usage = "[OPTIONS] [--] COMMAND [ARGS]\n"
             "       upmu stat [OPTIONS] -p PIDS | -t TIDS | -C CPUS | -a [--for SECONDS | [--] COMMAND [ARGS]]",
    .about =
        "Runs COMMAND and shows what was counted in it, its threads and its children; or counts processes, threads\n"
        "or CPUs, until they end, the time is over, COMMAND has ended or Ctrl-C is pressed. Each number has its\n"
        "status: exact, or scaled when it was counted only part of the time. An event that may not be counted is\n"
        "taken from the kernel's accounting where possible, and marked. Other events without a number are listed\n"
        "with the reason, never as 0. The report goes to standard error.\n",
    .options = stat_options,
    .exits = "  that of COMMAND; 128 + N if signal N ended it; with -r that of the first run that failed\n"
             "  126  COMMAND cannot be executed\n"
             "  127  COMMAND does not exist\n"
             "  0    without COMMAND: done\n"
             "  1    the events could not be counted or the report not written\n"
             "  2    the command line is invalid\n",
    .has_program = true,
    .run = stat_main,
};
