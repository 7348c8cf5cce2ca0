/* SPDX-License-Identifier: MIT */
/* Runs of upmu stat: the targets are counted until they end, with a partial report at each interval. */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ui/command.h"
#include "ui/memory.h"
#include "stat.h"

extern char **environ;

/* One run while it lasts. */
struct run {
    const struct stat_request *request;
    struct output *out;
    struct stat_parts parts;
    pid_t timer; /* the command whose life is the time to count, 0: there is none */
    int wait_status;
    unsigned intervals;
};

/* ---------------------------------------------------------------------------------------------- beginning */

/* Whether a command's file is there at all, by the rules of execvp(3). */
static bool run_command_exists(const char *name)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/'))
        return access(name, F_OK) == 0;
    for (path = path ? path : "/bin:/usr/bin"; *path; path += *path == ':') {
        size_t n = strcspn(path, ":");
        char *file = n ? memory_format("%.*s/%s", (int)n, path, name) : memory_copy(name);
        bool there = access(file, F_OK) == 0;
        free(file);
        if (there)
            return true;
        path += n;
    }
    return false;
}

static int run_not_executed(const char *name)
{
    return run_command_exists(name) ? EXIT_NOT_EXECUTABLE : EXIT_NOT_FOUND;
}

/* The counters run before the command does: what it does to the targets is counted. */
static int run_start(struct run *run)
{
    const struct stat_request *q = run->request;
    int status = stat_parts_start(&run->parts);
    if (status != EXIT_OK)
        return q->target == STAT_COMMAND ? run_not_executed(q->argv[0]) : status;
    if (q->target == STAT_COMMAND || !q->argv)
        return EXIT_OK;
    int err = posix_spawnp(&run->timer, q->argv[0], NULL, NULL, q->argv, environ);
    if (err == 0)
        return EXIT_OK;
    run->timer = 0;
    complain("cannot execute '%s': %s", q->argv[0], strerror(err));
    return run_not_executed(q->argv[0]);
}

/* ---------------------------------------------------------------------------------------------- intervals */

static void run_interval_write(struct run *run)
{
    const struct stat_request *q = run->request;
    struct stat_result result = {.request = q};
    struct stat_interval interval = {.seconds = run->parts.ended - run->parts.began, .number = run->intervals++};
    stat_result_add(&result, &run->parts, true);
    if (q->format == STAT_JSON)
        stat_interval_json(run->out, &interval, &result);
    else if (q->format == STAT_CSV)
        stat_interval_csv(run->out, q, &interval, &result);
    else
        stat_interval_text(run->out, &interval, &result);
    (void)fflush(run->out->file); /* an error is found when the output is closed */
    stat_result_free(&result);
    stat_parts_next_interval(&run->parts);
}

/* The end of the next interval; after a delay the ones missed are not made up for. */
static double run_next_interval(const struct run *run)
{
    double length = run->request->interval, since = stat_seconds_now() - run->parts.began;
    return length > 0 ? run->parts.began + (floor(since / length) + 1) * length : (double)INFINITY;
}

/* The last interval ends when counting is stopped, so that the sum of all is the total. */
static bool run_is_last_interval(const struct run *run)
{
    return run->request->interval_count > 0 && run->intervals + 1 >= run->request->interval_count;
}

/* Wait until the targets end, with a report for each interval. @return EXIT_OK, or EXIT_FAILED with a message. */
static int run_watch(struct run *run, struct stat_watch *w)
{
    const struct stat_request *q = run->request;
    double end = q->seconds > 0 ? run->parts.began + q->seconds : (double)INFINITY;
    for (;;) {
        double tick = run_next_interval(run);
        int rc = stat_watch_wait(w, tick < end ? tick : end);
        if (rc < 0) {
            complain("cannot wait for the target: %s", strerror(errno));
            return EXIT_FAILED;
        }
        if (rc > 0 || stat_seconds_now() >= end || (w->signals && stat_signals_seen() != 0) ||
            run_is_last_interval(run))
            return EXIT_OK;
        if (stat_parts_read(&run->parts, false) != EXIT_OK)
            return EXIT_FAILED;
        run_interval_write(run);
    }
}

/* ------------------------------------------------------------------------------------------------- the end */

/* The command's end is waited for before it is reaped, so that no signal is ever passed on to a number that the kernel
 * has given to another process. */
static int run_wait_for(struct run *run, pid_t pid)
{
    struct stat_watch w;
    stat_watch_command(&w, pid);
    stat_signals_forward(pid);
    int status = run_watch(run, &w);
    stat_signals_forward(0);
    stat_watch_end(&w);
    return status;
}

static int run_reap(struct run *run)
{
    if (run->timer == 0) {
        if (upmu_set_wait(run->parts.part[0].set, &run->wait_status) == 0)
            return EXIT_OK;
        complain("cannot wait for the target: %s", upmu_error());
        return EXIT_FAILED;
    }
    while (waitpid(run->timer, &run->wait_status, 0) < 0)
        if (errno != EINTR) {
            complain("cannot wait for the target: %s", strerror(errno));
            return EXIT_FAILED;
        }
    return EXIT_OK;
}

/* Whether something stands against every event, so that waiting would be for nothing. */
static bool run_in_vain(struct run *run)
{
    bool any = false;
    if (stat_parts_read(&run->parts, false) != EXIT_OK)
        return true;
    for (size_t k = 0; k < run->parts.n_events; k++)
        for (size_t p = 0; p < run->parts.n; p++) {
            int status = run->parts.part[p].now[k].v.status;
            any |= status != UPMU_REFUSED && status != UPMU_UNSUPPORTED;
        }
    return !any;
}

static int run_wait(struct run *run)
{
    const struct stat_request *q = run->request;
    struct stat_watch w;
    if (q->argv)
        return run_wait_for(run, run->timer ? run->timer : upmu_set_pid(run->parts.part[0].set));
    if (run_in_vain(run))
        return EXIT_OK;
    stat_watch_ids(&w, q->target == STAT_CPUS ? NULL : &q->ids, q->target == STAT_THREADS);
    int status = run_watch(run, &w);
    stat_watch_end(&w);
    return status;
}

/* What a command used is known once it was reaped; its counters stay until then. */
static int run_count(struct run *run)
{
    int status = run_start(run);
    if (status == EXIT_OK)
        status = run_wait(run);
    if (run->timer > 0 || (status == EXIT_OK && run->request->target == STAT_COMMAND))
        status = run_reap(run) == EXIT_OK ? status : EXIT_FAILED;
    return status == EXIT_OK ? stat_parts_read(&run->parts, true) : status;
}

/* ------------------------------------------------------------------------------------------ all the runs */

static int exit_status_of(int wait_status)
{
    if (WIFSIGNALED(wait_status))
        return EXIT_SIGNAL_BASE + WTERMSIG(wait_status);
    return WEXITSTATUS(wait_status);
}

/* A run cut short by a signal is left out, unless it is the only one. */
static void run_take(struct run *run, struct stat_result *result)
{
    if (run->request->interval > 0)
        run_interval_write(run);
    if (stat_signals_seen() != 0 && result->runs > 0)
        result->interrupted = result->runs + 1;
    else
        stat_result_add(result, &run->parts, false);
    if (run->request->argv && result->status == 0)
        result->status = exit_status_of(run->wait_status);
}

int stat_run(const struct stat_request *request, struct output *out, struct stat_result *result)
{
    int status = EXIT_OK;

    *result = (struct stat_result){.request = request};
    stat_signals_catch();
    for (unsigned i = 0; i < request->runs && status == EXIT_OK && stat_signals_seen() == 0; i++) {
        struct run run = {.request = request, .out = out};
        status = stat_parts_open(&run.parts, request);
        if (status == EXIT_OK)
            status = run_count(&run);
        if (status == EXIT_OK)
            run_take(&run, result);
        stat_parts_close(&run.parts);
    }
    if (status == EXIT_OK && result->runs == 0)
        status = EXIT_SIGNAL_BASE + stat_signals_seen(); /* it came before the first run */
    return status;
}
