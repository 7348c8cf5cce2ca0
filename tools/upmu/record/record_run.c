/* SPDX-License-Identifier: MIT */
/* Running a command with the library preloaded. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
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

/* The variables of the command; all memory is its own. */
struct record_environment {
    size_t n;
    char **vars; /* ended by NULL */
};

static void environment_init(struct record_environment *e)
{
    for (e->n = 0; environ[e->n]; e->n++)
        ;
    e->vars = memory_array(e->n + 1, sizeof *e->vars);
    for (size_t i = 0; i < e->n; i++)
        e->vars[i] = memory_copy(environ[i]);
}

static void environment_free(struct record_environment *e)
{
    for (size_t i = 0; i < e->n; i++)
        free(e->vars[i]);
    free(e->vars);
}

/* @return the index of the variable, or the number of variables if it is not set. */
static size_t environment_index(const struct record_environment *e, const char *name)
{
    size_t length = strlen(name), i = 0;
    while (i < e->n && (strncmp(e->vars[i], name, length) != 0 || e->vars[i][length] != '='))
        i++;
    return i;
}

static void UPMU_PRINTF(3, 4) environment_set(struct record_environment *e, const char *name, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *value = memory_vformat(fmt, ap);
    va_end(ap);
    size_t i = environment_index(e, name);
    if (i == e->n) {
        e->vars = memory_resize(e->vars, ++e->n + 1, sizeof *e->vars);
        e->vars[e->n] = NULL;
    } else {
        free(e->vars[i]);
    }
    e->vars[i] = memory_format("%s=%s", name, value);
    free(value);
}

/* What the user preloads already stays, and comes first. */
static void environment_preload(struct record_environment *e, const char *library)
{
    static const char name[] = "LD_PRELOAD";
    size_t i = environment_index(e, name);
    const char *before = i < e->n ? e->vars[i] + sizeof name : "";
    environment_set(e, name, "%s%s%s", before, *before ? ":" : "", library);
}

static void environment_libraries(struct record_environment *e, const struct record_request *q)
{
    const uint64_t standard = 512 << 10;
    if (q->heap) { /* before libupmu_sync, which asks the allocator behind its own free() for the size of blocks */
        environment_preload(e, q->heap);
        environment_set(e, "UPMU_HEAP", "%" PRIu64, q->heap_period ? q->heap_period : standard);
    }
    environment_preload(e, q->library);
    if (q->functions) {
        environment_preload(e, q->functions);
        environment_set(e, "UPMU_FUNC_MODE", "%s", q->function_events ? "trace" : "tree");
    }
    if (q->wrap_calls)
        environment_set(e, "UPMU_FUNC_WRAP", "%s", q->wrap_calls);
    if (q->functions && q->paused)
        environment_set(e, "UPMU_FUNC_PAUSED", "1");
    if (q->mpi) {
        environment_preload(e, q->mpi);
        environment_set(e, "UPMU_MPI", "%s", job_is_launcher(q->argv[0]) ? "ranks" : "1");
    }
    if (q->mpi_locks)
        environment_set(e, "UPMU_MPI_LOCKS", "1");
    if (q->mpi_ranks)
        environment_set(e, "UPMU_MPI_RANKS", "%s", q->mpi_ranks);
    if (q->openmp) {
        environment_preload(e, q->openmp);
        environment_set(e, "UPMU_OPENMP", "1");
    }
}

/* The environment of the command; our own stays as it is. */
static void environment_of(struct record_environment *e, const struct record_request *q)
{
    environment_init(e);
    environment_libraries(e, q);
    environment_set(e, "UPMU_SYNC", "%s%s", q->paused ? "paused:" : "", q->mode);
    environment_set(e, "UPMU_TRACE", "%s", q->dir);
    if (q->sample)
        environment_set(e, "UPMU_SYNC_SAMPLE", "%s", q->sample);
    if (q->timer_frequency)
        environment_set(e, "UPMU_SYNC_CPU_SAMPLES", "%" PRIu64, q->timer_frequency);
    if (q->requests)
        environment_set(e, "UPMU_SYNC_REQUESTS", "1");
    if (q->all_stacks)
        environment_set(e, "UPMU_SYNC_ALL_STACKS", "1");
    if (q->no_calls)
        environment_set(e, "UPMU_SYNC_NO_CALLS", "1");
    if (q->policy)
        environment_set(e, "UPMU_TRACE_POLICY", "%s:%s", q->policy, q->policy_size);
    if (q->snapshots.triggers)
        environment_set(e, "UPMU_SNAPSHOT_ON", "%s", q->snapshots.triggers);
    if (q->packet)
        environment_set(e, "UPMU_TRACE_PACKET", "%s", q->packet);
    if (q->stacks)
        environment_set(e, "UPMU_SYNC_STACKS", "%s", q->stacks);
    if (q->sched)
        environment_set(e, "UPMU_SCHED", "1");
    if (q->kernel_locks)
        environment_set(e, "UPMU_KERNEL_LOCKS", "1");
    if (q->events) {
        environment_set(e, "UPMU_EVENTS", "%s", q->events);
        environment_set(e, "UPMU_SYNC_COUNTERS", "1");  /* and what they count while locks are waited for and held */
        environment_set(e, "UPMU_REGION_THREADS", "1"); /* a program without regions has something to count, too */
    }
    /* Events named bring a table at the end of the process; here it is the trace that was asked for. */
    if (environment_index(e, "UPMU_REPORT") == e->n)
        environment_set(e, "UPMU_REPORT", "none");
}

/* In the child, whose memory can be the parent's: become the command; the pipe closes by that, or brings our errno.
 * execvpe gives a script without a first line to the shell, as the user's own shell does. */
static _Noreturn void record_exec(const struct record_request *q, char *const *vars, int gate, int report)
{
    char opened;
    while (gate >= 0 && read(gate, &opened, 1) < 0 && errno == EINTR) /* the end of the pipe opens it */
        ;
    bool redirected = q->output < 0 || (dup2(q->output, STDOUT_FILENO) >= 0 && dup2(q->output, STDERR_FILENO) >= 0);
    if (redirected)
        execvpe(q->program, q->argv, vars);
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
    struct record_environment e;
    environment_of(&e, request);
    /* vfork() copies no page tables, and this process then has no page to copy; at a gate the command waits for this process.
     * The child writes only its own variables and `*pid`, which the parent then sets. */
    *pid = request->sampler ? fork() : vfork(); // NOLINT(clang-analyzer-unix.Vfork)
    if (*pid == 0) {
        if (request->sampler)
            close(gate[1]);
        record_exec(request, e.vars, gate[0], report[1]);
    }
    int fork_error = errno;
    environment_free(&e);
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
