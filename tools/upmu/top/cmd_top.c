/* SPDX-License-Identifier: MIT */
/* upmu top: threads and locks of a process while it is recorded. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ui/command.h"
#include "ui/memory.h"
#include "ui/modes.h"
#include "ui/numbers.h"
#include "ui/options.h"
#include "ui/output.h"
#include "record/record.h"
#include "stat/stat.h"
#include "top.h"
#include "upmu/control.h"

enum { TOP_PID = 1, TOP_JSON, TOP_INTERVAL, TOP_COUNT, TOP_EVENT, TOP_MODE, TOP_OUTPUT, TOP_GROUP, TOP_SERVE };
enum { PID_MAX = 1 << 22, COUNT_MAX = 1000000000 };

struct top_request {
    const struct command *self;
    long pid;
    const struct top_view *view;
    double interval;
    long count; /* looks, 0: until it is over */
    long group; /* locks of one call site that are shown as one */
    const char *events, *mode, *output;
    bool serves; /* the live page instead of a view */
    const char *address;
    char **argv; /* NULL: no command */
};

static int top_option(void *arg, int id, const char *value)
{
    struct top_request *q = arg;
    switch (id) {
    case TOP_PID:
        return number_long(value, 1, PID_MAX, &q->pid) ? 0 : options_usage(q->self, "-p needs a process id");
    case TOP_JSON:
        q->view = &top_json;
        return 0;
    case TOP_INTERVAL:
        return number_seconds(value, &q->interval) && q->interval >= 0.01 && q->interval <= 3600
                   ? 0
                   : options_usage(q->self, "--interval needs seconds from 0.01 to 3600, not '%s'", value);
    case TOP_COUNT:
        return number_long(value, 1, COUNT_MAX, &q->count)
                   ? 0
                   : options_usage(q->self, "-n needs a number from 1 to %d", COUNT_MAX);
    case TOP_EVENT:
        return options_events(q->self, value, &q->events);
    case TOP_OUTPUT:
        q->output = value;
        return 0;
    case TOP_SERVE:
        q->serves = true;
        q->address = value;
        return 0;
    case TOP_GROUP:
        return number_long(value, 0, COUNT_MAX, &q->group)
                   ? 0
                   : options_usage(q->self, "--group-locks needs a number, 0 for no groups, not '%s'", value);
    default:
        q->mode = value;
        return mode_number(value) >= 0
                   ? 0
                   : options_usage(q->self, "--mode is one of holders, contended, all and counts, not '%s'", value);
    }
}

/* ------------------------------------------------------------------------------------------------------ looking */

/* Whether any process of the recording still writes. */
static bool top_any_running(const struct upmu_control *control)
{
    struct upmu_control_status s = {.size = sizeof s};
    for (size_t i = 0; i < upmu_control_process_count(control); i++)
        if (upmu_control_status_read(control, i, &s) == 0 && s.running)
            return true;
    return false;
}

/* The command is a process of ours that is not reaped yet. */
static bool top_command_runs(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == 0;
}

/* Look until it is over, one last time behind the end: what is shown then is the whole. */
static int top_watch_updates(const struct top_request *q, struct top *t, const struct upmu_control *control)
{
    int rc = q->view->begin();
    if (rc != 0)
        return EXIT_FAILED;
    bool go_on = true;
    for (long n = 1; go_on; n++) {
        t->running = q->argv ? top_command_runs(t->pid) : control ? top_any_running(control) : top_bare_runs(t->pid);
        rc = top_update(t);
        bool last = !t->running || (q->count > 0 && n >= q->count);
        go_on = rc == 0 && q->view->show(t, last ? 0 : q->interval) && !last;
    }
    q->view->end();
    return rc == 0 ? EXIT_OK : EXIT_FAILED;
}

/* `deadlocked`: whether the last update had a deadlock; or NULL. */
static int top_watch(const struct top_request *q, const struct upmu_control *control, pid_t pid, const char *dir,
                     const char *subject, bool *deadlocked)
{
    struct top t = {.pid = pid, .subject = subject, .group_locks = (size_t)q->group};
    int status = top_open(&t, dir, q->events) == 0 ? top_watch_updates(q, &t, control) : EXIT_FAILED;
    if (deadlocked)
        *deadlocked = t.n_deadlocks > 0;
    top_close(&t);
    return status;
}

/* ------------------------------------------------------------------------------------------- a process, a command */

static int top_watch_process(const struct top_request *q)
{
    struct upmu_control *control;
    struct upmu_control_status s = {.size = sizeof s};
    int status = EXIT_FAILED, rc = upmu_control_open_pid(&control, (pid_t)q->pid);
    if (rc < 0 && (rc != UPMU_E_STATE || q->serves)) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    char *subject = memory_format("process %ld", q->pid);
    stat_signals_catch();
    if (rc < 0)
        status = top_watch(q, NULL, (pid_t)q->pid, NULL, subject, NULL);
    else if (upmu_control_status_read(control, 0, &s) < 0)
        complain("%s", upmu_error());
    else if (q->serves)
        status = top_serve(q->address, q->events, (pid_t)q->pid, s.dir);
    else
        status = top_watch(q, control, (pid_t)q->pid, s.dir, subject, NULL);
    free(subject);
    if (rc == 0)
        upmu_control_close(control);
    return status;
}

/* The recording is there as soon as the command's first thread has recorded anything. */
static bool top_recording_begins(const char *dir, pid_t pid)
{
    enum { STEP_MS = 5 };
    struct upmu_control *control;
    while (upmu_control_open(&control, dir) < 0) {
        if (!top_command_runs(pid) || stat_signals_seen() != 0)
            return false;
        (void)poll(NULL, 0, STEP_MS);
    }
    upmu_control_close(control);
    return true;
}

/* What the command writes must not go into the view: it goes into a file beside the recording. */
static int top_open_output(const struct record_request *r, char **name)
{
    *name = memory_format("%s/command.out", r->dir);
    int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        complain("%s: %s", *name, strerror(errno));
    return fd;
}

/* A deadlocked command would never end: it is left running. @return whether the command is waited for. */
static bool top_watch_started(const struct top_request *q, const struct record_request *r, pid_t pid, int *shown)
{
    bool deadlocked = false;
    stat_signals_forward(pid);
    bool begins = top_recording_begins(r->dir, pid);
    *shown = !begins     ? EXIT_OK
             : q->serves ? top_serve(q->address, q->events, pid, r->dir)
                         : top_watch(q, NULL, pid, r->dir, q->argv[0], &deadlocked);
    if (!top_command_runs(pid))
        return true;
    if (deadlocked)
        complain("the command is deadlocked and continues as process %d. kill %d ends it", (int)pid, (int)pid);
    else
        fputs("upmu: the command is still running; waiting for its end\n", stderr);
    return !deadlocked;
}

static int top_watch_command(const struct top_request *q)
{
    struct record_request r = {.argv = q->argv, .mode = q->mode, .output = -1};
    char *shown_dir, *name = NULL;
    pid_t pid;
    int status = record_prepare(&r, q->output, &shown_dir), shown = EXIT_OK;
    if (status == EXIT_OK && (r.output = top_open_output(&r, &name)) < 0)
        status = EXIT_FAILED;
    if (status == EXIT_OK)
        status = record_start(&r, &pid);
    if (status == EXIT_OK) {
        if (top_watch_started(q, &r, pid, &shown))
            status = record_end(pid);
        if (record_summary(r.dir, shown_dir, "", 0, NULL) != 0 && status == EXIT_OK)
            status = EXIT_FAILED;
        complain("the output of the command is in %s/command.out", shown_dir);
    }
    if (r.output >= 0)
        close(r.output);
    record_release(&r, shown_dir);
    free(name);
    return status == EXIT_OK ? shown : status;
}

static int top_main(const struct command *self, int argc, char **argv)
{
    struct top_request q = {.self = self, .view = &top_screen, .interval = 1, .group = 10, .mode = "holders"};
    int rest = argc;
    int status = options_parse(self, argc, argv, top_option, &q, &rest);
    if (status != OPTIONS_CONTINUE)
        return status;
    if (rest < argc)
        q.argv = argv + rest;
    if ((q.pid > 0) == (q.argv != NULL))
        return options_usage(self, "nothing to watch: give a process with -p, or a command");
    if (q.serves && q.view == &top_json)
        return options_usage(self, "--serve and --json exclude each other");
    if (q.argv && !q.serves && q.view->check && q.view->check() != 0)
        return EXIT_FAILED;
    return q.argv ? top_watch_command(&q) : top_watch_process(&q);
}

static const struct option_spec top_options[] = {
    {TOP_PID, 'p', "pid", "PID", "the running process PID; of one that is not being recorded, its scheduling only"},
    {TOP_JSON, 'j', "json", NULL, "one JSON document per line and update, for programs"},
    {TOP_SERVE, 0, "serve", "[ADDR]",
     "a page for a browser on this machine; prints its address (--serve=PORT: at PORT)"},
    {TOP_INTERVAL, 'i', "interval", "SECONDS", "time between updates (default: 1)"},
    {TOP_COUNT, 'n', "count", "N", "end after N updates"},
    {TOP_GROUP, 'g', "group-locks", "N",
     "one row for N or more locks created, or first used, at one call site (default: 10; 0: never)"},
    {TOP_EVENT, 'e', "event", "EVENTS", "counters of the process; see upmu list"},
    {TOP_MODE, 'm', "mode", "MODE", "of a command: holders (default), contended, all or counts"},
    {TOP_OUTPUT, 'o', "output", "DIR", "of a command: directory of the recording, new or empty"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_top = {
    .name = "top",
    .summary = "watch threads and locks of a running program",
    .usage = "[OPTIONS] -p PID | [--] COMMAND [ARGS]",
    .about =
        "Shows the threads of a process that is being recorded, with the object that each waits for and its holder,\n"
        "and the locks with the longest waits, updated periodically; deadlocks are shown in red. COMMAND is started\n"
        "and recorded as by upmu record; its output goes to a file in the directory of the recording.\n"
        "--serve shows the same as a page, whose Stop ends recording and opens the report.\n"
        "The trace is read while it grows: the process has no extra work. Of a process without a recorder there are\n"
        "the scheduling of its threads and the kind of call that each is asleep in.\n",
    .options = top_options,
    .exits = "  0    the process ended, or COMMAND succeeded\n"
             "  1    there is no process PID, or the recording cannot be read; with --serve: it is not being recorded\n"
             "  2    the command line is invalid\n"
             "  otherwise that of COMMAND, as of upmu record\n",
    .has_program = true,
    .run = top_main,
};
