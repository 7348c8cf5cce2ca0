/* SPDX-License-Identifier: MIT */
/* upmu stat: count events of a command, a process or a CPU. Room: tools/upmu. Before it: main; after it: stat_run. */
#include <limits.h>
#include <stddef.h>

#include "command.h"
#include "numbers.h"
#include "options.h"
#include "stat.h"

enum {
    STAT_OPT_EVENT = 1,
    STAT_OPT_PID,
    STAT_OPT_CPU,
    STAT_OPT_FOR,
    STAT_OPT_REPEAT,
    STAT_OPT_TOGETHER,
    STAT_OPT_OUTPUT,
    STAT_OPT_JSON,
    STAT_OPT_CSV
};

enum { RUNS_MAX = 1000000 };

static const char default_events[] =
    "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses";

struct stat_line {
    const struct command *self;
    struct stat_request request;
    unsigned formats; /* how many were asked for */
};

static int stat_number(struct stat_line *l, const char *option, const char *text, long low, long high, long *out)
{
    if (number_long(text, low, high, out))
        return 0;
    return options_usage(l->self, "--%s wants a number from %ld to %ld, not '%s'", option, low, high, text);
}

static int stat_take_number(struct stat_line *l, int id, const char *value)
{
    long n = 0;
    int status;

    switch (id) {
    case STAT_OPT_PID:
        status = stat_number(l, "pid", value, 1, INT_MAX, &n);
        l->request.pid = (pid_t)n;
        return status;
    case STAT_OPT_CPU:
        status = stat_number(l, "cpu", value, 0, INT_MAX, &n);
        l->request.cpu = (int)n;
        return status;
    default:
        status = stat_number(l, "repeat", value, 1, RUNS_MAX, &n);
        l->request.runs = (unsigned)n;
        return status;
    }
}

static int stat_format(struct stat_line *l, enum stat_format format)
{
    l->request.format = format;
    if (l->formats++ > 0)
        return options_usage(l->self, "one of --json and --csv, once");
    return 0;
}

static int stat_option(void *arg, int id, const char *value)
{
    struct stat_line *l = arg;

    switch (id) {
    case STAT_OPT_EVENT:
        l->request.events = value;
        return 0;
    case STAT_OPT_TOGETHER:
        l->request.together = true;
        return 0;
    case STAT_OPT_OUTPUT:
        l->request.output = value;
        return 0;
    case STAT_OPT_JSON:
        return stat_format(l, STAT_JSON);
    case STAT_OPT_CSV:
        return stat_format(l, STAT_CSV);
    case STAT_OPT_FOR:
        if (number_seconds(value, &l->request.seconds))
            return 0;
        return options_usage(l->self, "--for wants seconds, as 2 or 0.5, not '%s'", value);
    default:
        return stat_take_number(l, id, value);
    }
}

/* Exactly one thing is counted, and the other options must fit it. */
static int stat_check(const struct stat_line *l)
{
    const struct stat_request *q = &l->request;
    int targets = (q->argv != NULL) + (q->pid > 0) + (q->cpu >= 0);

    if (targets == 0)
        return options_usage(l->self, "what is to be counted? give a command, -p PID or -C CPU");
    if (targets > 1)
        return options_usage(l->self,
                             "one of a command, -p PID and -C CPU; how long the last two last, --for SECONDS says");
    if (q->argv && q->seconds > 0)
        return options_usage(l->self, "--for goes with -p or -C; a command is counted until it ends");
    if (!q->argv && q->runs > 1)
        return options_usage(l->self, "--repeat goes with a command");
    return 0;
}

static void stat_write(struct output *out, const struct stat_request *request, const struct stat_result *result)
{
    switch (request->format) {
    case STAT_JSON:
        stat_write_json(out, request, result);
        break;
    case STAT_CSV:
        stat_write_csv(out, result);
        break;
    case STAT_TEXT:
        stat_write_text(out, request, result);
        break;
    }
}

/* The destination is opened before anything is counted: a command that took an hour must not end without a table. */
static int stat_count_and_write(const struct stat_request *request)
{
    struct stat_result result;
    struct output out;

    if (request->output ? output_file(&out, request->output) : output_standard(&out, OUTPUT_STDERR))
        return EXIT_FAILED;
    int status = stat_run(request, &result);
    if (status == EXIT_OK) {
        stat_write(&out, request, &result);
        status = stat_succeeded(request, &result) ? result.status : EXIT_FAILED;
    }
    stat_free(&result);
    if (output_close(&out) != 0 && status == EXIT_OK)
        status = EXIT_FAILED;
    return status;
}

static int stat_main(const struct command *self, int argc, char **argv)
{
    struct stat_line line = {
        .self = self,
        .request = {.events = default_events, .cpu = -1, .runs = 1},
    };
    int rest = argc;
    int status = options_parse(self, argc, argv, stat_option, &line, &rest);

    if (status != OPTIONS_GO_ON)
        return status;
    if (rest < argc)
        line.request.argv = argv + rest;
    status = stat_check(&line);
    return status != 0 ? status : stat_count_and_write(&line.request);
}

static const struct option_spec stat_options[] = {
    {STAT_OPT_EVENT, 'e', "event", "EVENTS", "events to count, comma-separated; see upmu list"},
    {STAT_OPT_PID, 'p', "pid", "PID", "count a running process, all its threads"},
    {STAT_OPT_CPU, 'C', "cpu", "CPU", "count everything on a CPU"},
    {STAT_OPT_FOR, 0, "for", "SECONDS", "with -p and -C: stop after this time"},
    {STAT_OPT_REPEAT, 'r', "repeat", "N", "run the command N times; show mean and spread"},
    {STAT_OPT_TOGETHER, 0, "together", NULL, "fail unless all events count at the same time"},
    {STAT_OPT_OUTPUT, 'o', "output", "FILE", "write the report to FILE, not to standard error"},
    {STAT_OPT_JSON, 'j', "json", NULL, "one JSON document instead of tables"},
    {STAT_OPT_CSV, 'c', "csv", NULL, "comma-separated fields in the order of perf stat -x,"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_stat = {
    .name = "stat",
    .summary = "count events of a command, a process or a CPU",
    .usage = "[OPTIONS] [--] COMMAND [ARGS]\n       upmu stat [OPTIONS] -p PID | -C CPU [--for SECONDS]",
    .about = "Runs COMMAND and shows what was counted in it, its threads and its children; or counts a process that\n"
             "already runs, or a CPU, until the process ends, the time is over or Ctrl-C is pressed. Each number\n"
             "has its standing: exact, or scaled when it was counted only part of the time. Events that cannot be\n"
             "counted are named with the reason, and never shown as 0. The report goes to standard error.\n",
    .options = stat_options,
    .exits = "  that of COMMAND; 128 + N if signal N ended it; with -r that of the first run that failed\n"
             "  126  COMMAND cannot be executed\n"
             "  127  COMMAND is not there\n"
             "  0    with -p and -C: done\n"
             "  1    the events could not be counted or the report not be written\n"
             "  2    the command line makes no sense\n",
    .has_program = true,
    .run = stat_main,
};
