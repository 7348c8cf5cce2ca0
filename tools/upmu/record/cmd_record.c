/* SPDX-License-Identifier: MIT */
/* upmu record: run an unmodified program and record its locks and threads. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ui/command.h"
#include "ui/memory.h"
#include "ui/modes.h"
#include "ui/numbers.h"
#include "ui/options.h"
#include "ui/output.h"
#include "job.h"
#include "mpi/rank_list.h"
#include "record.h"
#include "upmu/upmu.h"

enum {
    RECORD_OPT_EVENT = 1,
    RECORD_OPT_MODE,
    RECORD_OPT_PAUSED,
    RECORD_OPT_NO_STACKS,
    RECORD_OPT_DEPTH,
    RECORD_OPT_SAMPLE,
    RECORD_OPT_REQUESTS,
    RECORD_OPT_ALL_STACKS,
    RECORD_OPT_NO_CALLS,
    RECORD_OPT_RING,
    RECORD_OPT_LIMIT,
    RECORD_OPT_STOP,
    RECORD_OPT_PACKET,
    RECORD_OPT_SCHED,
    RECORD_OPT_KERNEL_LOCKS,
    RECORD_OPT_FUNCTIONS,
    RECORD_OPT_FUNCTION_EVENTS,
    RECORD_OPT_WRAP_CALLS,
    RECORD_OPT_MPI,
    RECORD_OPT_MPI_LOCKS,
    RECORD_OPT_MPI_RANKS,
    RECORD_OPT_OPENMP,
    RECORD_OPT_HEAP,
    RECORD_OPT_HEAP_PERIOD,
    RECORD_OPT_DEADLOCKS,
    RECORD_OPT_WAIT_ALL,
    RECORD_OPT_SNAPSHOT_ON,
    RECORD_OPT_SNAPSHOTS,
    RECORD_OPT_SNAPSHOT_EVERY,
    RECORD_OPT_SNAPSHOT_MOST,
    RECORD_OPT_FREQUENCY,
    RECORD_OPT_PERIOD,
    RECORD_OPT_CALL_GRAPH,
    RECORD_OPT_PID,
    RECORD_OPT_OUTPUT
};

enum { DEPTH_MAX = 256, SAMPLE_MAX = 2000000000, SNAPSHOTS_MAX = 1000000, FREQUENCY_MAX = 100000, PID_MAX = 1 << 22 };

#define HEAP_PERIOD_MAX (UINT64_C(1) << 30)
#define RING_MIN (UINT64_C(64) << 10)
#define RING_MAX (UINT64_C(16) << 30)
#define PACKET_MIN (UINT64_C(16) << 10)
#define PACKET_MAX (UINT64_C(64) << 20)
#define LIMIT_MIN (UINT64_C(256) << 10)
#define LIMIT_MAX (UINT64_C(1024) << 30)

struct record_line {
    const struct command *self;
    struct record_request request;
    const char *output;
};

static int record_stacks(struct record_line *l, const char *value)
{
    long depth;
    if (l->request.stacks)
        return options_usage(l->self, "--no-stacks and --stack-depth exclude each other and are given once");
    if (value && !number_long(value, 1, DEPTH_MAX, &depth))
        return options_usage(l->self, "--stack-depth needs a number from 1 to %d, not '%s'", DEPTH_MAX, value);
    l->request.stacks = value ? value : "none";
    return 0;
}

static bool is_without_stacks(const struct record_line *l)
{
    return l->request.stacks && strcmp(l->request.stacks, "none") == 0;
}

static int record_policy(struct record_line *l, const char *policy, const char *needs, const char *value,
                         uint64_t least, uint64_t most)
{
    if (l->request.policy)
        return options_usage(l->self, "--ring, --limit and --stop-at exclude each other and are given once");
    l->request.policy = policy;
    l->request.policy_size = value;
    return number_is_size(value, least, most) ? 0 : options_usage(l->self, needs, value);
}

static int record_sample(struct record_line *l, const char *value)
{
    long n;
    if (strcmp(value, "none") != 0 && !number_long(value, 1, SAMPLE_MAX, &n))
        return options_usage(l->self, "--sample needs none or a number from 1 to %d, not '%s'", SAMPLE_MAX, value);
    l->request.sample = value;
    return 0;
}

/* An unknown event name is an error before the command runs. */
static int record_check_events(const struct record_request *q)
{
    struct upmu_plan *plan = NULL;
    if (q->events && strcmp(q->events, "none") != 0 && upmu_plan_open(&plan, NULL, q->events) < 0) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    upmu_plan_close(plan);
    return 0;
}

static int record_snapshot_every(struct record_line *l, const char *value)
{
    double seconds;
    if (!number_seconds(value, &seconds))
        return options_usage(l->self, "--snapshot-every needs a number of seconds above 0, not '%s'", value);
    l->request.snapshots.interval_ns = (uint64_t)(seconds * 1e9);
    return 0;
}

static int record_snapshot_most(struct record_line *l, const char *value)
{
    long n;
    if (!number_long(value, 1, SNAPSHOTS_MAX, &n))
        return options_usage(l->self, "--snapshot-most needs a number from 1 to %d, not '%s'", SNAPSHOTS_MAX, value);
    l->request.snapshots.most = (uint32_t)n;
    return 0;
}

static int record_rate(struct record_line *l, int id, const char *value)
{
    long n;
    struct upmu_sampler_opts *o = &l->request.sampler_opts;
    bool is_period = id == RECORD_OPT_PERIOD;
    if (o->frequency || o->period)
        return options_usage(l->self, "-F and -c exclude each other and are given once");
    if (!number_long(value, 1, is_period ? LONG_MAX : FREQUENCY_MAX, &n))
        return is_period
                   ? options_usage(l->self, "-c needs a number of events, not '%s'", value)
                   : options_usage(l->self, "-F needs samples per second, 1 to %d, not '%s'", FREQUENCY_MAX, value);
    *(is_period ? &o->period : &o->frequency) = (uint64_t)n;
    l->request.sampling = true;
    return 0;
}

static int record_call_graph(struct record_line *l, const char *value)
{
    static const char *const names[] = {
        [UPMU_SAMPLER_FRAME_POINTERS] = "fp", [UPMU_SAMPLER_COPY] = "dwarf", [UPMU_SAMPLER_NONE] = "none"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(names[i], value) == 0) {
            l->request.sampler_opts.stacks = i;
            return 0;
        }
    return options_usage(l->self, "--call-graph is one of fp, dwarf and none, not '%s'", value);
}

static int record_option(void *arg, int id, const char *value)
{
    struct record_line *l = arg;
    switch (id) {
    case RECORD_OPT_EVENT:
        return options_events(l->self, value, &l->request.events);
    case RECORD_OPT_FREQUENCY:
    case RECORD_OPT_PERIOD:
        return record_rate(l, id, value);
    case RECORD_OPT_CALL_GRAPH:
        return record_call_graph(l, value);
    case RECORD_OPT_PID:
        return number_long(value, 1, PID_MAX, &l->request.pid)
                   ? 0
                   : options_usage(l->self, "-p needs the id of a process, not '%s'", value);
    case RECORD_OPT_PAUSED:
        l->request.paused = true;
        return 0;
    case RECORD_OPT_KERNEL_LOCKS:
        l->request.kernel_locks = true;
        return 0;
    case RECORD_OPT_SCHED:
        l->request.sched = true;
        return 0;
    case RECORD_OPT_FUNCTIONS:
        l->request.record_functions = true;
        return 0;
    case RECORD_OPT_FUNCTION_EVENTS:
        l->request.record_functions = l->request.function_events = true;
        return 0;
    case RECORD_OPT_WRAP_CALLS:
        l->request.record_functions = true;
        l->request.wrap_calls = value;
        return 0;
    case RECORD_OPT_MPI_LOCKS:
        l->request.mpi_locks = l->request.record_mpi = true;
        return 0;
    case RECORD_OPT_MPI_RANKS:
        l->request.record_mpi = true;
        l->request.mpi_ranks = value;
        return rank_list_has(value, -1)
                   ? 0
                   : options_usage(l->self, "--ranks needs a list as 0-15,every:64, not '%s'", value);
    case RECORD_OPT_HEAP_PERIOD:
        l->request.record_heap = true;
        return number_size(value, 1, HEAP_PERIOD_MAX, &l->request.heap_period)
                   ? 0
                   : options_usage(l->self, "--heap-period needs a size up to 1G, not '%s'", value);
    case RECORD_OPT_HEAP:
        l->request.record_heap = true;
        return 0;
    case RECORD_OPT_OPENMP:
        l->request.record_openmp = true;
        return 0;
    case RECORD_OPT_MPI:
        l->request.record_mpi = true;
        return 0;
    case RECORD_OPT_REQUESTS:
        l->request.requests = true;
        return 0;
    case RECORD_OPT_ALL_STACKS:
        l->request.all_stacks = true;
        return 0;
    case RECORD_OPT_NO_CALLS:
        l->request.no_calls = true;
        return 0;
    case RECORD_OPT_NO_STACKS:
    case RECORD_OPT_DEPTH:
        return record_stacks(l, value);
    case RECORD_OPT_SAMPLE:
        return record_sample(l, value);
    case RECORD_OPT_RING:
        return record_policy(l, "ring", "--ring needs a size from 64K to 16G, not '%s'", value, RING_MIN, RING_MAX);
    case RECORD_OPT_LIMIT:
        return record_policy(l, "limit", "--limit needs a size from 256K to 1024G, not '%s'", value, LIMIT_MIN,
                             LIMIT_MAX);
    case RECORD_OPT_STOP:
        return record_policy(l, "stop", "--stop-at needs a size from 256K to 1024G, not '%s'", value, LIMIT_MIN,
                             LIMIT_MAX);
    case RECORD_OPT_PACKET:
        l->request.packet = value;
        if (number_is_size(value, PACKET_MIN, PACKET_MAX))
            return 0;
        return options_usage(l->self, "--packet needs a size from 16K to 64M, not '%s'", value);
    case RECORD_OPT_SNAPSHOT_ON:
        return snapshots_add(&l->request.snapshots, value) == 0
                   ? 0
                   : options_usage(l->self, "--snapshot-on: %s", upmu_error());
    case RECORD_OPT_SNAPSHOTS:
        l->request.snapshots.dir = value;
        return 0;
    case RECORD_OPT_SNAPSHOT_EVERY:
        return record_snapshot_every(l, value);
    case RECORD_OPT_SNAPSHOT_MOST:
        return record_snapshot_most(l, value);
    case RECORD_OPT_WAIT_ALL:
        l->request.wait_all = true;
        return 0;
    case RECORD_OPT_DEADLOCKS:
        l->request.deadlocks = value;
        return 0;
    case RECORD_OPT_OUTPUT:
        l->output = value;
        return 0;
    default:
        l->request.mode = value;
        if (mode_number(value) >= 0)
            return 0;
        return options_usage(l->self, "--mode is one of holders, contended, all and counts, not '%s'", value);
    }
}

/* ------------------------------------------------------------------------------------------------------- all */

/* Nothing was recorded. */
static void record_remove(const struct record_request *q)
{
    static const char *const files[] = {"samples", ".vdso"}; /* of the sampler */
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = memory_format("%s/%s", q->dir, files[i]);
        (void)unlink(path);
        free(path);
    }
    (void)rmdir(q->dir); /* if it cannot be taken away, it only is an empty one */
}

static int record_process(struct record_line *line)
{
    char *shown;
    int status = record_prepare(&line->request, line->output, &shown);
    if (status == EXIT_OK)
        status = record_running(&line->request, shown);
    if (status != EXIT_OK && line->request.dir)
        record_remove(&line->request);
    record_release(&line->request, shown);
    return status;
}

static int record_program(struct record_line *line)
{
    bool started;
    char *shown;
    struct record_request *q = &line->request;
    const char *view = q->record_mpi         ? "--mpi "
                       : q->record_openmp    ? "--openmp "
                       : q->record_functions ? "--functions "
                       : q->record_heap      ? "--heap "
                                             : "";
    int status = record_prepare(q, line->output, &shown);
    if (status == EXIT_OK)
        status = record_sample_open(q);
    if (status == EXIT_OK) {
        status = record_run(q, &started);
        const char *failed = q->record_mpi && status != EXIT_OK && job_is_launcher(q->argv[0]) ? q->argv[0] : NULL;
        int sampled = record_sample_close(q, started);
        if (!started)
            record_remove(q);
        else if ((((!q->is_rank || job_is_last(q->dir)) &&
                   record_summary(q->dir, shown, view, q->ran_ns, failed) != 0) ||
                  sampled != EXIT_OK) &&
                 status == EXIT_OK)
            status = EXIT_FAILED;
        if (started && (q->sched || q->kernel_locks))
            record_explain_switches(q->dir);
    } else if (q->dir) {
        record_remove(q);
    }
    record_release(q, shown);
    return status;
}

static bool has_snapshot_options(const struct snapshot_request *q)
{
    return q->dir || q->interval_ns || q->most;
}

/* A process that runs already can be sampled; the rest is recorded from its start only. */
static int record_check_process(struct record_line *l)
{
    struct record_request *q = &l->request;
    bool other = q->paused || q->stacks || q->sample || q->requests || q->all_stacks || q->no_calls || q->policy ||
                 q->packet || q->sched || q->kernel_locks || q->record_functions || q->record_mpi || q->record_openmp ||
                 q->record_heap || q->deadlocks || q->wait_all || q->snapshots.triggers ||
                 has_snapshot_options(&q->snapshots);
    if (other || strcmp(q->mode, "holders") != 0)
        return options_usage(
            l->self, "with -p only samples are recorded: it can be combined with -F, -c, -e, --call-graph and -o");
    q->sampling = true;
    q->sampler_opts.event = q->events;
    return record_process(l);
}

static int record_main(const struct command *self, int argc, char **argv)
{
    struct record_line line = {
        .self = self,
        .request = {.mode = "holders", .output = -1, .sampler_opts.size = sizeof line.request.sampler_opts}};
    int rest = argc;
    int status = options_parse(self, argc, argv, record_option, &line, &rest);
    if (status != OPTIONS_CONTINUE)
        return status;
    struct record_request *q = &line.request;
    if (q->pid)
        return rest < argc ? options_usage(self, "-p and a COMMAND exclude each other") : record_check_process(&line);
    if (rest >= argc)
        return options_usage(self, "COMMAND is missing: give the program to record");
    if (q->sampling && q->record_mpi)
        return options_usage(self, "--mpi and samples (-F, -c) exclude each other");
    if (q->sampling) {
        if (q->events && strchr(q->events, ','))
            return options_usage(self, "with -F or -c, -e names the one event that is sampled, not '%s'", q->events);
        q->sampler_opts.event = q->events;
        q->events = NULL;
    } else if (q->events && (strncmp(q->events, "uprobe:", 7) == 0 || strncmp(q->events, "uprobe-time:", 12) == 0)) {
        return options_usage(self, "calls of a function are recorded as samples: add -c 1 to -e %s", q->events);
    } else if (q->sampler_opts.stacks != 0) {
        return options_usage(self, "--call-graph needs samples: add -F 999, or -c N");
    }
    status = record_check_events(q);
    if (status != 0)
        return status;
    if (line.request.requests && strcmp(line.request.mode, "all") != 0)
        return options_usage(self, "--requests are recorded in mode all: add '--mode all'");
    if (line.request.all_stacks && (strcmp(line.request.mode, "all") != 0 || is_without_stacks(&line)))
        return options_usage(self,
                             "--all-stacks needs mode all and call stacks: add '--mode all', without --no-stacks");
    if (line.request.snapshots.triggers && (!line.request.policy || strcmp(line.request.policy, "ring") != 0))
        return options_usage(self, "--snapshot-on needs a ring: add '--ring 64M'");
    if (has_snapshot_options(&line.request.snapshots) && !line.request.snapshots.triggers)
        return options_usage(self, "there is no trigger of snapshots: add '--snapshot-on \"wait > 100 ms\"'");
    line.request.argv = argv + rest;
    return record_program(&line);
}

static const struct option_spec record_options[] = {
    {RECORD_OPT_FREQUENCY, 'F', "frequency", "N", "samples with call stacks, N per second of CPU time of each thread"},
    {RECORD_OPT_PERIOD, 'c', "period", "N", "samples with call stacks, one every N events (nanoseconds of task-clock)"},
    {RECORD_OPT_CALL_GRAPH, 0, "call-graph", "HOW",
     "stacks of samples: fp (frame pointers; default), dwarf (copies, unwound by upmu report) or none"},
    {RECORD_OPT_PID, 'p', "pid", "PID", "sample a process that runs, until it ends or Ctrl-C"},
    {RECORD_OPT_EVENT, 'e', "event", "EVENTS",
     "counters of its threads and regions, see upmu list; with -F or -c the event that is sampled"},
    {RECORD_OPT_MODE, 'm', "mode", "MODE", "holders (default), contended, all or counts"},
    {RECORD_OPT_PAUSED, 0, "paused", NULL, "record no locks and functions until 'upmu ctl ... start'"},
    {RECORD_OPT_NO_STACKS, 0, "no-stacks", NULL, "call sites only"},
    {RECORD_OPT_DEPTH, 0, "stack-depth", "N", "frames per call stack, 1 to 256 (default: 16)"},
    {RECORD_OPT_SAMPLE, 0, "sample", "N", "record 1 in N uncontended acquisitions (default: 1024), or none"},
    {RECORD_OPT_NO_CALLS, 0, "no-calls", NULL, "no waits in calls that are not about locks: read, poll, sleep, ..."},
    {RECORD_OPT_REQUESTS, 0, "requests", NULL, "with mode all: each lock call, besides its acquisition"},
    {RECORD_OPT_ALL_STACKS, 0, "all-stacks", NULL, "with mode all: a call stack for releases and ends of waits, too"},
    {RECORD_OPT_RING, 0, "ring", "SIZE",
     "keep the latest SIZE bytes of each thread (64K to 16G), overwriting older events"},
    {RECORD_OPT_SNAPSHOT_ON, 0, "snapshot-on", "TRIGGER",
     "with --ring, copy the recording at 'region NAME > 50 ms', 'wait > 100 ms' or 'deadlock'"},
    {RECORD_OPT_SNAPSHOTS, 0, "snapshots", "DIR", "directory of these copies (default: beside the recording)"},
    {RECORD_OPT_SNAPSHOT_EVERY, 0, "snapshot-every", "SECONDS", "least time between two of them (default: 10)"},
    {RECORD_OPT_SNAPSHOT_MOST, 0, "snapshot-most", "N", "most of them in all (default: 16)"},
    {RECORD_OPT_LIMIT, 0, "limit", "SIZE", "at most SIZE bytes of events of each process; later events are lost"},
    {RECORD_OPT_STOP, 0, "stop-at", "SIZE", "end recording a process once it has SIZE bytes of events"},
    {RECORD_OPT_PACKET, 0, "packet", "SIZE", "event buffer of each thread, 16K to 64M (default: 256K)"},
    {RECORD_OPT_SCHED, 0, "sched", NULL,
     "record when each thread runs, is preempted and waits (kernel switch records)"},
    {RECORD_OPT_KERNEL_LOCKS, 0, "kernel-locks", NULL, "as --sched, and waits for kernel locks (root)"},
    {RECORD_OPT_FUNCTIONS, 0, "functions", NULL, "calls of functions built with -finstrument-functions, too"},
    {RECORD_OPT_FUNCTION_EVENTS, 0, "function-events", NULL, "as --functions, with the time of each call and return"},
    {RECORD_OPT_WRAP_CALLS, 0, "wrap-calls", "PATTERNS",
     "as --functions, and calls of functions without hooks: 'libopenblas:*gemm*', by LIBRARY:NAME"},
    {RECORD_OPT_HEAP, 0, "heap", NULL, "allocations, too, sampled by bytes: malloc and its family, by call site"},
    {RECORD_OPT_HEAP_PERIOD, 0, "heap-period", "SIZE", "as --heap, one sample every SIZE bytes (default: 512K)"},
    {RECORD_OPT_OPENMP, 0, "openmp", NULL,
     "parallel regions of OpenMP, too: work and waits of threads (libgomp, libomp)"},
    {RECORD_OPT_MPI, 0, "mpi", NULL, "calls of MPI, too; COMMAND is mpirun ..., or one rank under mpirun"},
    {RECORD_OPT_MPI_LOCKS, 0, "mpi-locks", NULL, "as --mpi, with the locks and threads of the MPI library"},
    {RECORD_OPT_MPI_RANKS, 0, "ranks", "LIST",
     "as --mpi, but only ranks in LIST (0-15,every:64) record their calls; the others count them"},
    {RECORD_OPT_DEADLOCKS, 0, "deadlocks", "FILE", "report deadlocks to FILE instead of standard error"},
    {RECORD_OPT_WAIT_ALL, 0, "wait-all", NULL, "continue until all recorded processes have ended, or Ctrl-C"},
    {RECORD_OPT_OUTPUT, 'o', "output", "DIR", "directory of the recording, new or empty"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_record = {
    .name = "record",
    .summary = "run a program and record its locks, threads and regions",
    .usage = "[OPTIONS] [--] COMMAND [ARGS] | -p PID [-F N] [-o DIR]",
    .about = "Runs an unmodified COMMAND and records the lock waits of its threads: the waiting thread, the lock, the\n"
             "duration and the holder. Its child processes are recorded, too. Its output and exit status do not\n"
             "change; one line on standard error reports what was recorded and where.\n",
    .options = record_options,
    .exits = "  that of COMMAND; 128 + N if signal N ended it\n"
             "  126  COMMAND cannot be executed\n"
             "  127  COMMAND does not exist\n"
             "  1    COMMAND cannot be recorded, or it succeeded and the recording is incomplete\n"
             "  2    the command line is invalid\n",
    .has_program = true,
    .run = record_main,
};
