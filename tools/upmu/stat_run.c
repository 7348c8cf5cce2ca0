/* SPDX-License-Identifier: MIT */
/*
 * Counting for upmu stat: one set per run, and the sums over the runs. Room: tools/upmu. Before it: cmd_stat; after it:
 * the library's sets, and the reports in stat_text.c and stat_machine.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "memory.h"
#include "stat.h"

/* One run while it lasts. */
struct run {
    const struct stat_request *request;
    struct upmu_set *set;
    struct upmu_value *values;
    double began;
    double wall;
    double user; /* of the command and its children; of no meaning for -p and -C */
    double sys;
    int wait_status;
};

/* -------------------------------------------------------------------------------------------- statistics */

void stat_mean_add(struct stat_mean *m, double x)
{
    m->n++;
    double distance = x - m->mean;
    m->mean += distance / m->n;
    m->m2 += distance * (x - m->mean);
}

double stat_mean_deviation(const struct stat_mean *m)
{
    return m->n > 1 ? sqrt(m->m2 / (m->n - 1)) : (double)NAN;
}

double stat_mean_error_percent(const struct stat_mean *m)
{
    if (m->n < 2 || m->m2 <= 0)
        return 0;
    return m->mean > 0 ? 100.0 * stat_mean_deviation(m) / sqrt(m->n) / m->mean : (double)NAN;
}

int stat_mean_decimals(const struct stat_mean *m)
{
    return m->mean == floor(m->mean) ? 0 : 2;
}

bool stat_has_number(const struct stat_event *e, const struct stat_result *result)
{
    return (e->standing == UPMU_EXACT || e->standing == UPMU_SCALED) && e->value.n == result->runs && result->runs > 0;
}

bool stat_succeeded(const struct stat_request *request, const struct stat_result *result)
{
    bool any = request->argv != NULL;
    for (size_t i = 0; i < result->n_events; i++)
        any |= result->events[i].standing != UPMU_REFUSED && result->events[i].standing != UPMU_UNSUPPORTED;
    return any;
}

double stat_counted_percent(const struct stat_event *e)
{
    return e->enabled > 0 ? 100.0 * (double)e->running / (double)e->enabled : 0;
}

/* From the sums over the runs, not from their rounded means. */
void stat_metrics(const struct stat_result *result, stat_metric_fn each, void *arg)
{
    const char **names = memory_array(result->n_events, sizeof *names);
    struct upmu_value *values = memory_array(result->n_events, sizeof *values);
    struct upmu_metric_info info = {.size = sizeof info};
    double seconds = result->wall.mean * result->wall.n;

    for (size_t i = 0; i < result->n_events; i++) {
        const struct stat_event *e = &result->events[i];
        names[i] = e->name;
        values[i] = (struct upmu_value){
            .value = UPMU_NO_VALUE,
            .enabled = e->enabled,
            .running = e->running,
            .standing = e->standing,
            .cause = e->cause,
        };
        if (!stat_has_number(e, result))
            continue;
        values[i].value = values[i].raw = e->total;
        if (e->total == UPMU_NO_VALUE)
            values[i].standing = UPMU_NOT_COUNTED;
    }
    for (size_t i = 0; upmu_metric_info(i, &info) == 0; i++) {
        struct upmu_metric_value value;
        if (upmu_metric_eval(info.name, names, values, result->n_events, seconds, &value) == 0)
            each(arg, &info, &value);
    }
    free(names);
    free(values);
}

/* ----------------------------------------------------------------------------------------------- one run */

static double seconds_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail: the clock exists and the pointer is ours */
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double seconds_of(struct timeval tv)
{
    return (double)tv.tv_sec + (double)tv.tv_usec * 1e-6;
}

static int run_open(struct run *run)
{
    const struct stat_request *q = run->request;
    struct upmu_set_opts opts = {.size = sizeof opts, .pid = q->pid, .cpu = q->cpu, .argv = q->argv};

    opts.flags = q->together ? UPMU_SET_TOGETHER : 0;
    opts.target = q->argv ? UPMU_TARGET_COMMAND : q->pid > 0 ? UPMU_TARGET_PROCESS : UPMU_TARGET_CPU;
    if (upmu_set_open(&run->set, q->events, &opts) < 0) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    run->values = memory_array(upmu_set_size(run->set), sizeof *run->values);
    return EXIT_OK;
}

/* Whether a command's file is there at all, by the rules of execvp(3). */
static bool command_exists(const char *name)
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

static int run_start(struct run *run)
{
    if (upmu_set_start(run->set) == 0)
        return EXIT_OK;
    complain("%s", upmu_error());
    if (!run->request->argv)
        return EXIT_FAILED;
    return command_exists(run->request->argv[0]) ? EXIT_NOT_EXECUTABLE : EXIT_NOT_FOUND;
}

/* Whether something stands against every event, so that waiting would be for nothing. */
static bool run_in_vain(const struct run *run)
{
    for (size_t i = 0; i < upmu_set_size(run->set); i++)
        if (upmu_set_reason(run->set, i)[0] == '\0')
            return false;
    return true;
}

/* The command's end is waited for before it is reaped, so that no signal is ever passed on to a number that the kernel
 * has given to somebody else. */
static int run_wait_command(struct run *run)
{
    pid_t pid = upmu_set_pid(run->set);
    stat_signals_forward(pid);
    stat_wait_command(pid);
    stat_signals_forward(0);
    return upmu_set_wait(run->set, &run->wait_status);
}

static int run_wait(struct run *run)
{
    const struct stat_request *q = run->request;
    struct rusage before, after;
    int rc = 0;

    /* getrusage cannot fail with these arguments. */
    getrusage(RUSAGE_CHILDREN, &before);
    if (q->argv)
        rc = run_wait_command(run);
    else if (!run_in_vain(run))
        rc = stat_wait_time(q->pid, q->seconds);
    run->wall = seconds_now() - run->began;
    getrusage(RUSAGE_CHILDREN, &after);
    run->user = seconds_of(after.ru_utime) - seconds_of(before.ru_utime);
    run->sys = seconds_of(after.ru_stime) - seconds_of(before.ru_stime);
    if (rc != 0)
        complain("waiting failed: %s", q->argv ? upmu_error() : strerror(errno));
    return rc != 0 ? EXIT_FAILED : EXIT_OK;
}

static int run_count(struct run *run)
{
    run->began = seconds_now();
    int status = run_start(run);
    if (status != EXIT_OK)
        return status;
    status = run_wait(run);
    if (status != EXIT_OK)
        return status;
    if (upmu_set_stop(run->set) < 0 || upmu_set_read(run->set, run->values, upmu_set_size(run->set)) < 0) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    return EXIT_OK;
}

/* ------------------------------------------------------------------------------------------ all the runs */

static char *event_unit(const char *name)
{
    struct upmu_event_info info = {.size = sizeof info};
    int rc = upmu_event_info(name, &info);
    return memory_copy(rc == 0 || rc == UPMU_E_UNSUPPORTED ? info.unit : "");
}

/* Most machines have one kind of core, of which there is nothing to say. */
static void kinds_begin(struct stat_event *e, const struct upmu_set *set, size_t i)
{
    if (!upmu_set_kind(set, i, 1))
        return;
    while (upmu_set_kind(set, i, e->n_kinds))
        e->n_kinds++;
    e->kinds = memory_array(e->n_kinds, sizeof *e->kinds);
    for (size_t k = 0; k < e->n_kinds; k++)
        e->kinds[k] = (struct stat_kind){.pmu = memory_copy(upmu_set_kind(set, i, k))};
}

static void result_begin(struct stat_result *result, const struct upmu_set *set)
{
    result->n_events = upmu_set_size(set);
    result->events = memory_array(result->n_events, sizeof *result->events);
    for (size_t i = 0; i < result->n_events; i++) {
        const char *name = upmu_set_name(set, i);
        result->events[i] = (struct stat_event){
            .name = memory_copy(name),
            .unit = event_unit(name),
            .reason = memory_copy(upmu_set_reason(set, i)),
            .standing = UPMU_EXACT,
        };
        kinds_begin(&result->events[i], set, i);
    }
    result->instances = upmu_set_instances(set);
    result->groups = upmu_set_groups(set);
}

static bool is_number(const struct upmu_value *v)
{
    return v->standing == UPMU_EXACT || v->standing == UPMU_SCALED;
}

static void event_add(struct stat_event *e, const struct upmu_value *v)
{
    int weakest = upmu_standing_weakest(e->standing, v->standing);

    if (weakest != e->standing)
        e->cause = v->cause;
    e->standing = weakest;
    e->enabled += v->enabled;
    e->running += v->running;
    if (!is_number(v))
        return;
    if (__builtin_add_overflow(e->total, v->value, &e->total))
        e->total = UPMU_NO_VALUE;
    stat_mean_add(&e->value, (double)v->value);
}

/* The kinds have a number where the sum has one. */
static void kinds_add(struct stat_event *e, struct upmu_set *set, size_t i)
{
    for (size_t k = 0; k < e->n_kinds; k++) {
        struct upmu_value v;
        if (upmu_set_read_kind(set, i, k, &v) < 0 || !is_number(&v))
            continue;
        if (__builtin_add_overflow(e->kinds[k].total, v.value, &e->kinds[k].total))
            e->kinds[k].total = UPMU_NO_VALUE;
        stat_mean_add(&e->kinds[k].value, (double)v.value);
    }
}

static int exit_status_of(int wait_status)
{
    if (WIFSIGNALED(wait_status))
        return EXIT_SIGNAL_BASE + WTERMSIG(wait_status);
    return WEXITSTATUS(wait_status);
}

static void result_add(struct stat_result *result, const struct run *run)
{
    for (size_t i = 0; i < result->n_events; i++) {
        event_add(&result->events[i], &run->values[i]);
        kinds_add(&result->events[i], run->set, i);
    }
    stat_mean_add(&result->wall, run->wall);
    if (run->request->argv) {
        stat_mean_add(&result->user, run->user);
        stat_mean_add(&result->sys, run->sys);
    }
    result->runs++;
}

/* A run cut short by a signal says nothing about the others; alone it is all there is. */
static void result_take(struct stat_result *result, const struct run *run)
{
    if (!result->events)
        result_begin(result, run->set);
    if (stat_signals_seen() != 0 && result->runs > 0)
        result->interrupted = result->runs + 1;
    else
        result_add(result, run);
    if (run->request->argv && result->status == 0)
        result->status = exit_status_of(run->wait_status);
}

int stat_run(const struct stat_request *request, struct stat_result *result)
{
    int status = EXIT_OK;

    *result = (struct stat_result){0};
    stat_signals_catch();
    for (unsigned i = 0; i < request->runs && status == EXIT_OK && stat_signals_seen() == 0; i++) {
        struct run run = {.request = request};
        status = run_open(&run);
        if (status == EXIT_OK)
            status = run_count(&run);
        if (status == EXIT_OK)
            result_take(result, &run);
        upmu_set_close(run.set);
        free(run.values);
    }
    if (status == EXIT_OK && result->runs == 0)
        status = EXIT_SIGNAL_BASE + stat_signals_seen(); /* it came before the first run */
    return status;
}

void stat_free(struct stat_result *result)
{
    for (size_t i = 0; i < result->n_events; i++) {
        free(result->events[i].name);
        free(result->events[i].unit);
        free(result->events[i].reason);
        for (size_t k = 0; k < result->events[i].n_kinds; k++)
            free(result->events[i].kinds[k].pmu);
        free(result->events[i].kinds);
    }
    free(result->events);
}
