/* SPDX-License-Identifier: MIT */
/* upmu metrics: running recorded processes for Prometheus and what reads OpenMetrics. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "metrics.h"
#include "ui/command.h"
#include "ui/memory.h"
#include "ui/numbers.h"
#include "ui/options.h"
#include "ui/output.h"
#include "upmu/control.h"

enum { METRICS_PROMETHEUS = 1, METRICS_OUTPUT, METRICS_TOP };
enum { PID_MAX = 1 << 22, TOP_USUAL = 20, TOP_MAX = 100000 };

struct metrics_request {
    const struct command *self;
    bool prometheus;
    const char *output;
    long top;
    pid_t *pids; /* that were given: one that cannot be read is an error */
    size_t n_pids;
    struct metrics_process *processes;
    size_t n;
    bool failed;
};

static void metrics_add(struct metrics_request *q, pid_t pid)
{
    struct metrics_process p;
    int rc = metrics_open(&p, pid, (size_t)q->top);
    if (rc == 0) {
        q->processes = memory_resize(q->processes, q->n + 1, sizeof *q->processes);
        q->processes[q->n++] = p;
    } else if (q->n_pids > 0) {
        complain("%s", upmu_error());
        q->failed = true;
    }
}

static int metrics_option(void *arg, int id, const char *value)
{
    struct metrics_request *q = arg;
    long pid;
    switch (id) {
    case METRICS_PROMETHEUS:
        q->prometheus = true;
        return 0;
    case METRICS_OUTPUT:
        q->output = value;
        return 0;
    case METRICS_TOP:
        return number_long(value, 0, TOP_MAX, &q->top) ? 0 : options_usage(q->self, "--top needs a number");
    default:
        if (!number_long(value, 1, PID_MAX, &pid))
            return options_usage(q->self, "'%s' is not a process id", value);
        q->pids = memory_resize(q->pids, q->n_pids + 1, sizeof *q->pids);
        q->pids[q->n_pids++] = (pid_t)pid;
        return 0;
    }
}

/* Every process of this user that is being recorded. */
static void metrics_find(struct metrics_request *q)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    long pid;
    while (proc && (entry = readdir(proc)))
        if (number_long(entry->d_name, 1, PID_MAX, &pid))
            metrics_add(q, (pid_t)pid);
    if (proc)
        closedir(proc);
}

static bool metrics_write(struct output *out, const struct metrics_request *q)
{
    metrics_print(out->file, q->processes, q->n, q->prometheus);
    return output_close(out) == 0;
}

/* A collector that reads files must not see half of one: it is made beside its name. */
static bool metrics_write_file(const struct metrics_request *q)
{
    struct output out;
    char *temporary = memory_format("%s.upmu-%ld", q->output, (long)getpid());
    bool opened = output_file(&out, temporary) == 0;
    bool written = opened && metrics_write(&out, q);
    if (written && rename(temporary, q->output) != 0) {
        complain("cannot write %s: %s", q->output, strerror(errno));
        written = false;
    }
    if (opened && !written)
        (void)unlink(temporary);
    free(temporary);
    return written;
}

static bool metrics_show(const struct metrics_request *q)
{
    struct output out;
    if (q->output && !output_is_standard(q->output))
        return metrics_write_file(q);
    return output_standard(&out, OUTPUT_STDOUT) == 0 && metrics_write(&out, q);
}

static int metrics_main(const struct command *self, int argc, char **argv)
{
    struct metrics_request q = {.self = self, .top = TOP_USUAL};
    int status = options_parse(self, argc, argv, metrics_option, &q, NULL);
    if (status != OPTIONS_CONTINUE)
        return status;
    for (size_t i = 0; i < q.n_pids; i++)
        metrics_add(&q, q.pids[i]);
    if (q.n_pids == 0)
        metrics_find(&q);
    metrics_find_deadlocks(q.processes, q.n);
    bool shown = !(q.n_pids > 0 && q.n == 0) && metrics_show(&q);
    for (size_t i = 0; i < q.n; i++)
        metrics_close(&q.processes[i]);
    free(q.processes);
    free(q.pids);
    return shown && !q.failed ? EXIT_OK : EXIT_FAILED;
}

static const struct option_spec metrics_options[] = {
    {METRICS_PROMETHEUS, 0, "prometheus", NULL, "Prometheus text format 0.0.4 (default: OpenMetrics 1.0)"},
    {METRICS_TOP, 'n', "top", "N", "N locks of each process, those with the longest waits (default: 20)"},
    {METRICS_OUTPUT, 'o', "output", "FILE", "output file, replaced as a whole (default, and -: standard output)"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_metrics = {
    .name = "metrics",
    .summary = "print metrics of running recorded processes for Prometheus",
    .usage = "[--prometheus] [--top N] [-o FILE] [PID...]",
    .about =
        "Prints, for each process PID that is being recorded, or for all of this user: time that threads waited for\n"
        "locks, waits, waiters, deadlocked threads, processor time and context switches of threads, and events "
        "recorded\n"
        "and lost. Sums begin with the recording. The traces are read: the processes have no extra work.\n",
    .options = metrics_options,
    .exits = "  0  printed; also if no process is being recorded\n"
             "  1  PID is not being recorded, or the output could not be written\n"
             "  2  the command line is invalid\n",
    .run = metrics_main,
};
