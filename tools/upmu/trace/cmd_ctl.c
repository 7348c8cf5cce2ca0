/* SPDX-License-Identifier: MIT */
/* upmu ctl: control of a running recording. */
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ui/command.h"
#include "ui/memory.h"
#include "ui/modes.h"
#include "ui/numbers.h"
#include "ui/options.h"
#include "ui/output.h"
#include "record/ctl_watch.h"
#include "upmu/control.h"

struct ctl_verb;

struct ctl_request {
    const struct command *self;
    const char *target; /* PID or DIR */
    const struct ctl_verb *verb;
    const char *arg;
    bool selects; /* an option of `selection` was given */
    struct upmu_func_selection selection;
};

struct ctl_verb {
    const char *name;
    const char *arg; /* what it takes, or NULL */
    bool optional;   /* the argument may be missing */
    /* For each process; NULL: not by processes. @return as the functions of upmu/control.h. */
    int (*act)(const struct ctl_request *q, const struct upmu_control *c, size_t index);
    /* For the whole; `dir` is that of the recording, or of the process given. @return an exit status. */
    int (*whole)(const struct ctl_request *q, const char *dir);
};

static int ctl_start(const struct ctl_request *q, const struct upmu_control *c, size_t index)
{
    (void)q;
    return upmu_control_start(c, index);
}

static int ctl_stop(const struct ctl_request *q, const struct upmu_control *c, size_t index)
{
    (void)q;
    return upmu_control_stop(c, index);
}

static int ctl_mode(const struct ctl_request *q, const struct upmu_control *c, size_t index)
{
    return upmu_control_set_mode(c, index, mode_number(q->arg));
}

static int ctl_mark(const struct ctl_request *q, const struct upmu_control *c, size_t index)
{
    int rc = upmu_control_mark(c, index, q->arg);
    if (rc == 0)
        complain("the mark is written with the next event of the process");
    return rc;
}

static bool ctl_is_off(const char *word)
{
    return strcmp(word, "off") == 0;
}

/* The selection first: no call is recorded by the one before. */
static int ctl_functions(const struct ctl_request *q, const struct upmu_control *c, size_t index)
{
    int rc = q->selects ? upmu_control_functions_select(c, index, &q->selection) : 0;
    if (rc < 0 || !q->arg)
        return rc;
    return ctl_is_off(q->arg) ? upmu_control_functions_stop(c, index) : upmu_control_functions_start(c, index);
}

static int ctl_take_snapshot(const struct ctl_request *q, const char *dir)
{
    return ctl_snapshot(dir, q->target, q->arg);
}

static int ctl_watch_triggers(const struct ctl_request *q, const char *dir)
{
    return ctl_watch(dir, q->arg);
}

static const struct ctl_verb verbs[] = {
    {.name = "start", .act = ctl_start},
    {.name = "stop", .act = ctl_stop},
    {.name = "mode", .arg = "MODE", .act = ctl_mode},
    {.name = "mark", .arg = "TEXT", .act = ctl_mark},
    {.name = "functions", .arg = "on or off", .optional = true, .act = ctl_functions},
    {.name = "snapshot", .arg = "DIR", .optional = true, .whole = ctl_take_snapshot},
    {.name = "watch", .arg = "DIR", .optional = true, .whole = ctl_watch_triggers},
    {.name = "status"},
};

#define CTL_VERBS "start, stop, mode, mark, functions, snapshot, watch and status"

/* --------------------------------------------------------------------------------------------- command line */

static const struct ctl_verb *ctl_verb_named(const char *name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

enum { CTL_OPT_INCLUDE = 1, CTL_OPT_EXCLUDE, CTL_OPT_BELOW, CTL_OPT_DEPTH, CTL_OPT_MIN };

/* "" and 0 take a limit back. */
static int ctl_select(struct ctl_request *q, int id, const char *value)
{
    long n = 0;
    q->selects = true;
    switch (id) {
    case CTL_OPT_INCLUDE:
        q->selection.include = value;
        return 0;
    case CTL_OPT_EXCLUDE:
        q->selection.exclude = value;
        return 0;
    case CTL_OPT_BELOW:
        q->selection.below = value;
        return 0;
    case CTL_OPT_DEPTH:
        if (!number_long(value, 0, INT_MAX, &n))
            return options_usage(q->self, "--depth needs a number of functions, not '%s'", value);
        q->selection.depth = n > 0 ? (uint32_t)n : UPMU_FUNC_NO_DEPTH;
        return 0;
    default:
        if (!number_long(value, 0, LONG_MAX, &n))
            return options_usage(q->self, "--min needs a number of nanoseconds, not '%s'", value);
        q->selection.min_ns = n > 0 ? (uint64_t)n : UPMU_FUNC_NO_MIN;
        return 0;
    }
}

static int ctl_option(void *arg, int id, const char *value)
{
    struct ctl_request *q = arg;
    if (id != OPTION_OPERAND)
        return ctl_select(q, id, value);
    if (!q->target) {
        q->target = value;
        return 0;
    }
    if (!q->verb) {
        q->verb = ctl_verb_named(value);
        return q->verb ? 0 : options_usage(q->self, "'%s' is not one of " CTL_VERBS, value);
    }
    if (!q->verb->arg || q->arg)
        return options_usage(q->self, "unexpected argument '%s'", value);
    q->arg = value;
    return 0;
}

static int ctl_check(const struct ctl_request *q)
{
    if (!q->target)
        return options_usage(q->self, "PID|DIR is missing: give a process id or the directory of a recording");
    if (!q->verb)
        return options_usage(q->self, "the action is missing: one of " CTL_VERBS);
    if (q->verb->arg && !q->arg && !q->verb->optional)
        return options_usage(q->self, "'%s' wants %s", q->verb->name, q->verb->arg);
    bool functions = q->verb->act == ctl_functions;
    if (q->selects && !functions)
        return options_usage(q->self, "--include, --exclude, --below, --depth and --min are for 'functions'");
    if (functions && !q->arg && !q->selects)
        return options_usage(q->self, "'functions' wants on, off, or an option that selects functions");
    if (functions && q->arg && !ctl_is_off(q->arg) && strcmp(q->arg, "on") != 0)
        return options_usage(q->self, "'functions' wants on or off, not '%s'", q->arg);
    if (q->verb->act == ctl_mode && mode_number(q->arg) < 0)
        return options_usage(q->self, "a mode is one of holders, contended, all and counts, not '%s'", q->arg);
    return 0;
}

/* --------------------------------------------------------------------------------------------------- doing it */

/* All processes that live. Those that have ended meanwhile are no fault, unless all have. */
static int ctl_act(const struct ctl_request *q, const struct upmu_control *c)
{
    size_t n = upmu_control_process_count(c), done = 0, failed = 0;
    for (size_t i = 0; i < n; i++) {
        int rc = q->verb->act(q, c, i);
        done += rc >= 0;
        if (rc < 0 && rc != UPMU_E_GONE) {
            complain("%s", upmu_error());
            failed++;
        }
    }
    if (done == 0 && failed == 0)
        complain("%s", n == 1 ? upmu_error() : "no process of this recording is running");
    return done > 0 && failed == 0 ? EXIT_OK : EXIT_FAILED;
}

static void ctl_write_status(FILE *out, const struct upmu_control_status *s)
{
    static const char *const functions[] = {"", ", functions on", ", functions off"};
    fprintf(out, "process %d: %s, mode %s%s, %" PRIu64 " records, %" PRIu64 " lost, %" PRIu32 " threads, in ",
            (int)s->pid, s->running ? "running" : "ended", s->running ? mode_name(s->mode) : "none",
            functions[s->functions], s->events, s->lost, s->threads);
    output_clean(out, s->dir);
    fputc('\n', out);
}

static int ctl_status(const struct upmu_control *c)
{
    struct output out;
    int status = EXIT_OK;
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    for (size_t i = 0; i < upmu_control_process_count(c); i++) {
        struct upmu_control_status s = {.size = sizeof s};
        if (upmu_control_status_read(c, i, &s) == 0) {
            ctl_write_status(out.file, &s);
        } else {
            complain("%s", upmu_error());
            status = EXIT_FAILED;
        }
    }
    return output_close(&out) == 0 ? status : EXIT_FAILED;
}

/* A number is a process; a directory of that name is given as ./NUMBER. */
static int ctl_open(const char *target, struct upmu_control **c)
{
    long pid;
    if (number_long(target, 1, INT_MAX, &pid))
        return upmu_control_open_pid(c, (pid_t)pid);
    return upmu_control_open(c, target);
}

/* A recording that is watched may have no process yet. */
static int ctl_whole(const struct ctl_request *q)
{
    long pid;
    struct upmu_control *c = NULL;
    struct upmu_control_status s = {.size = sizeof s};
    if (!number_long(q->target, 1, INT_MAX, &pid))
        return q->verb->whole(q, q->target);
    int rc = upmu_control_open_pid(&c, (pid_t)pid);
    if (rc == 0)
        rc = upmu_control_status_read(c, 0, &s);
    if (rc != 0)
        complain("%s", upmu_error());
    int status = rc == 0 ? q->verb->whole(q, s.dir) : EXIT_FAILED;
    upmu_control_close(c);
    return status;
}

static int ctl_main(const struct command *self, int argc, char **argv)
{
    struct ctl_request q = {.self = self, .selection = {.size = sizeof q.selection}};
    struct upmu_control *c = NULL;
    int status = options_parse(self, argc, argv, ctl_option, &q, NULL);
    if (status != OPTIONS_CONTINUE)
        return status;
    status = ctl_check(&q);
    if (status != 0)
        return status;
    if (q.verb->whole)
        return ctl_whole(&q);
    if (ctl_open(q.target, &c) != 0) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    status = q.verb->act ? ctl_act(&q, c) : ctl_status(c);
    upmu_control_close(c);
    return status;
}

static const struct option_spec ctl_options[] = {
    {CTL_OPT_INCLUDE, 0, "include", "PATTERNS", "functions: only these are recorded; '' for all"},
    {CTL_OPT_EXCLUDE, 0, "exclude", "PATTERNS", "functions: these are not recorded; '' for no exclusion"},
    {CTL_OPT_BELOW, 0, "below", "PATTERNS", "functions: only these and their callees are recorded; '' for all"},
    {CTL_OPT_DEPTH, 0, "depth", "N", "functions: only the outermost N of each call path are recorded; 0 for all"},
    {CTL_OPT_MIN, 0, "min", "NS", "functions: calls shorter than NS nanoseconds get no events; 0 for all"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_ctl = {
    .name = "ctl",
    .summary = "start, stop, mark, copy or query a running recording",
    .usage = "PID|DIR start|stop|mode MODE|mark TEXT|functions [on|off]|snapshot [DIR]|watch [DIR]|status",
    .about = "Controls the recording of the process PID, or of all running processes of the recording DIR: starts or\n"
             "stops recording of locks and threads, changes the mode (holders, contended, all, counts), writes a mark\n"
             "to the trace, starts or stops recording of functions or selects others (functions), copies the\n"
             "recording as it is (snapshot), takes a snapshot at each trigger of the program until interrupted\n"
             "(watch), or shows the status. Only the user who owns the process can do so.\n",
    .options = ctl_options,
    .exits = "  0  done\n"
             "  1  it failed for some process, or none is running; the reason is on standard error\n"
             "  2  the command line is invalid\n",
    .run = ctl_main,
};
