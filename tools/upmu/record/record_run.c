/* SPDX-License-Identifier: MIT */
/* Running a command with the library preloaded. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ui/command.h"
#include "ui/memory.h"
#include "ui/output.h"
#include "job.h"
#include "record.h"
#include "stat/stat.h"

/* What the user preloads already stays, and comes first. */
static int record_set_preload(const char *library)
{
    const char *before = getenv("LD_PRELOAD");
    char *value = before && *before ? memory_format("%s:%s", before, library) : memory_copy(library);
    int rc = setenv("LD_PRELOAD", value, 1);
    free(value);
    return rc;
}

static int record_set_heap(const struct record_request *q)
{
    const uint64_t standard = 512 << 10;
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, q->heap_period ? q->heap_period : standard);
    return record_set_preload(q->heap) == 0 ? setenv("UPMU_HEAP", text, 1) : -1;
}

static int record_set_mode(const struct record_request *q)
{
    char *value = memory_format("%s%s", q->paused ? "paused:" : "", q->mode);
    int rc = setenv("UPMU_SYNC", value, 1);
    free(value);
    return rc;
}

static int record_set_policy(const struct record_request *q)
{
    if (!q->policy)
        return 0;
    char *value = memory_format("%s:%s", q->policy, q->policy_size);
    int rc = setenv("UPMU_TRACE_POLICY", value, 1);
    free(value);
    return rc;
}

/* The environment of the command; called in the child. */
static int record_set_environment(const struct record_request *q)
{
    /* Before libupmu_sync, which asks the allocator behind its own free() for the size of blocks. */
    int rc = q->heap ? record_set_heap(q) : 0;
    if (rc == 0)
        rc = record_set_preload(q->library);
    if (rc == 0 && q->functions)
        rc = record_set_preload(q->functions);
    if (rc == 0 && q->functions)
        rc = setenv("UPMU_FUNC_MODE", q->function_events ? "trace" : "tree", 1);
    if (rc == 0 && q->wrap_calls)
        rc = setenv("UPMU_FUNC_WRAP", q->wrap_calls, 1);
    if (rc == 0 && q->functions && q->paused)
        rc = setenv("UPMU_FUNC_PAUSED", "1", 1);
    if (rc == 0 && q->mpi)
        rc = record_set_preload(q->mpi);
    if (rc == 0 && q->mpi)
        rc = setenv("UPMU_MPI", job_is_launcher(q->argv[0]) ? "ranks" : "1", 1);
    if (rc == 0 && q->mpi_locks)
        rc = setenv("UPMU_MPI_LOCKS", "1", 1);
    if (rc == 0 && q->mpi_ranks)
        rc = setenv("UPMU_MPI_RANKS", q->mpi_ranks, 1);
    if (rc == 0 && q->openmp)
        rc = record_set_preload(q->openmp);
    if (rc == 0 && q->openmp)
        rc = setenv("UPMU_OPENMP", "1", 1);
    if (rc == 0)
        rc = record_set_mode(q);
    if (rc == 0)
        rc = setenv("UPMU_TRACE", q->dir, 1);
    if (rc == 0 && q->sample)
        rc = setenv("UPMU_SYNC_SAMPLE", q->sample, 1);
    char frequency[24];
    snprintf(frequency, sizeof frequency, "%" PRIu64, q->timer_frequency);
    if (rc == 0 && q->timer_frequency)
        rc = setenv("UPMU_SYNC_CPU_SAMPLES", frequency, 1);
    if (rc == 0 && q->requests)
        rc = setenv("UPMU_SYNC_REQUESTS", "1", 1);
    if (rc == 0 && q->all_stacks)
        rc = setenv("UPMU_SYNC_ALL_STACKS", "1", 1);
    if (rc == 0 && q->no_calls)
        rc = setenv("UPMU_SYNC_NO_CALLS", "1", 1);
    if (rc == 0)
        rc = record_set_policy(q);
    if (rc == 0 && q->snapshots.triggers)
        rc = setenv("UPMU_SNAPSHOT_ON", q->snapshots.triggers, 1);
    if (rc == 0 && q->packet)
        rc = setenv("UPMU_TRACE_PACKET", q->packet, 1);
    if (rc == 0 && q->stacks)
        rc = setenv("UPMU_SYNC_STACKS", q->stacks, 1);
    if (rc == 0 && q->sched)
        rc = setenv("UPMU_SCHED", "1", 1);
    if (rc == 0 && q->kernel_locks)
        rc = setenv("UPMU_KERNEL_LOCKS", "1", 1);
    if (rc == 0 && q->events)
        rc = setenv("UPMU_EVENTS", q->events, 1);
    if (rc == 0 && q->events) /* and what they count while locks are waited for and held */
        rc = setenv("UPMU_SYNC_COUNTERS", "1", 1);
    if (rc == 0 && q->events) /* a program without regions has something to count, too */
        rc = setenv("UPMU_REGION_THREADS", "1", 1);
    /* Events named bring a table at the end of the process; here it is the trace that was asked for. */
    return rc == 0 ? setenv("UPMU_REPORT", "none", 0) : rc;
}

/* In the child: become the command; the pipe closes by that, or brings our errno. execvp gives a script without a first
 * line to the shell, as the user's own shell does. */
static _Noreturn void record_exec(const struct record_request *q, int gate, int report)
{
    char opened;
    while (gate >= 0 && read(gate, &opened, 1) < 0 && errno == EINTR) /* the end of the pipe opens it */
        ;
    bool redirected = q->output < 0 || (dup2(q->output, STDOUT_FILENO) >= 0 && dup2(q->output, STDERR_FILENO) >= 0);
    if (redirected && record_set_environment(q) == 0)
        execvp(q->program, q->argv);
    int err = errno;
    ssize_t n = write(report, &err, sizeof err);
    _exit(n == (ssize_t)sizeof err ? EXIT_NOT_EXECUTABLE : EXIT_FAILED);
}

/* @return 0 once the command runs, or the errno that kept it from that. */
static int record_wait_for_exec(int report)
{
    int err = 0;
    ssize_t n;
    do
        n = read(report, &err, sizeof err);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno;
    return n == (ssize_t)sizeof err ? err : 0;
}

int record_end(pid_t pid)
{
    int status;
    stat_signals_forward(0);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) {
            complain("cannot wait for the command: %s", strerror(errno));
            return EXIT_FAILED;
        }
    return WIFSIGNALED(status) ? EXIT_SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
}

static int record_not_started(const char *name, int err)
{
    complain("'%s' cannot be executed: %s", name, strerror(err));
    return err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* The command waits at the gate, if there is one, until its samples are requested, and is not executed if they are refused. */
static int record_open_gate(const struct record_request *q, pid_t pid, int gate)
{
    int status = EXIT_OK;
    if (pid > 0 && q->sampler && upmu_sampler_attach(q->sampler, pid, UPMU_SAMPLER_AT_EXEC) != 0) {
        complain("%s", upmu_error());
        (void)kill(pid, SIGKILL);
        (void)record_end(pid);
        status = EXIT_FAILED;
    }
    if (gate >= 0)
        close(gate);
    return status;
}

int record_start(const struct record_request *request, pid_t *pid)
{
    int report[2], gate[2] = {-1, -1};
    stat_signals_catch();
    if (pipe2(report, O_CLOEXEC) != 0) {
        complain("cannot create a pipe: %s", strerror(errno));
        return EXIT_FAILED;
    }
    if (request->sampler && pipe2(gate, O_CLOEXEC) != 0) {
        complain("cannot create a pipe: %s", strerror(errno));
        close(report[0]);
        close(report[1]);
        return EXIT_FAILED;
    }
    *pid = fork();
    if (*pid == 0) {
        if (request->sampler)
            close(gate[1]);
        record_exec(request, gate[0], report[1]);
    }
    int fork_error = errno;
    if (request->sampler)
        close(gate[0]);
    close(report[1]);
    if (record_open_gate(request, *pid, gate[1]) != EXIT_OK) {
        close(report[0]);
        return EXIT_FAILED;
    }
    if (*pid < 0) {
        close(report[0]);
        complain("cannot start a process: %s", strerror(fork_error));
        return EXIT_FAILED;
    }
    int err = record_wait_for_exec(report[0]);
    close(report[0]);
    if (err == 0)
        return EXIT_OK;
    (void)record_end(*pid);
    return record_not_started(request->argv[0], err);
}

int record_run(struct record_request *request, bool *started)
{
    pid_t pid;
    int status = record_start(request, &pid);
    *started = status == EXIT_OK;
    if (!*started)
        return status;
    stat_signals_forward(pid);
    if (!request->is_rank || job_is_first_of_host()) /* it watches all processes of the recording */
        record_watch(request, pid);
    return record_end(pid);
}
