/* SPDX-License-Identifier: MIT */
/* Samples of a command, or of a process that runs. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ui/command.h"
#include "ui/output.h"
#include "record.h"
#include "stat/stat.h"

/* CPU time of a command can be sampled in the program itself. @return whether that is done, in place of what failed with `rc`. */
static bool sample_by_timers(struct record_request *q, int rc)
{
    const uint64_t second = 1000000000, usual = 999;
    const struct upmu_sampler_opts *o = &q->sampler_opts;
    bool is_clock = !o->event || strcmp(o->event, "task-clock") == 0 || strcmp(o->event, "cpu-clock") == 0;
    bool is_refused = rc == UPMU_E_PERM || rc == UPMU_E_SECCOMP || rc == UPMU_E_NO_SYSCALL || rc == UPMU_E_NO_PMU;
    if (!is_clock || !is_refused || q->pid != 0)
        return false;
    q->timer_frequency = o->frequency ? o->frequency : o->period ? second / o->period : usual;
    q->timer_frequency = q->timer_frequency ? q->timer_frequency : 1;
    complain("%s; each thread gets a timer of its CPU time instead, which does not sample kernel functions",
             upmu_error());
    return true;
}

int record_sample_open(struct record_request *request)
{
    if (!request->sampling)
        return EXIT_OK;
    int rc = upmu_sampler_open(&request->sampler, request->dir, &request->sampler_opts);
    if (rc == 0 || sample_by_timers(request, rc))
        return EXIT_OK;
    complain("%s", upmu_error());
    return EXIT_FAILED;
}

/* A process whose threads all wait has no samples. */
static void sample_hint_waiting(const struct record_request *request)
{
    pid_t pid = (pid_t)request->pid;
    if (!request->sampler_opts.event && kill(pid, 0) == 0)
        fprintf(stderr, "upmu: no thread of process %d ran. If it hangs: upmu deadlock %d\n", (int)pid, (int)pid);
}

int record_sample_close(struct record_request *request, bool attached)
{
    struct upmu_sampler_result r = {.size = sizeof r};
    const char *event = request->sampler_opts.event;
    bool timed = event && strncmp(event, "uprobe-time:", strlen("uprobe-time:")) == 0;
    if (!request->sampler)
        return EXIT_OK;
    int rc = upmu_sampler_close(request->sampler, &r);
    request->sampler = NULL;
    if (rc != 0)
        complain("%s", upmu_error());
    else if (attached)
        fprintf(stderr, "upmu: %" PRIu64 " %s%s, %" PRIu64 " lost\n", r.samples,
                timed ? "records of calls and returns" : "sample", timed || r.samples == 1 ? "" : "s", r.lost);
    if (rc == 0 && attached && r.samples == 0 && r.lost == 0)
        sample_hint_waiting(request);
    return rc == 0 ? EXIT_OK : EXIT_FAILED;
}

/* @return whether the process has ended. */
static bool running_wait(const struct record_request *q, struct pollfd *end, int ms)
{
    int n = poll(end, 1, ms);
    if (end->fd >= 0)
        return n > 0;
    return kill((pid_t)q->pid, 0) != 0 && errno == ESRCH; /* before Linux 5.3 */
}

int record_running(struct record_request *request, const char *shown_dir)
{
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, (pid_t)request->pid, 0), .events = POLLIN};
    int status = record_sample_open(request);
    stat_signals_catch();
    if (status == EXIT_OK && upmu_sampler_attach(request->sampler, (pid_t)request->pid, UPMU_SAMPLER_RUNNING) != 0) {
        complain("%s", upmu_error());
        status = EXIT_FAILED;
    }
    if (status == EXIT_OK && request->begun)
        request->begun(request, request->begun_arg);
    while (status == EXIT_OK && stat_signals_seen() == 0) {
        int ms = upmu_sampler_drain(request->sampler);
        if (ms < 0 || running_wait(request, &end, ms))
            break; /* that the file cannot be written is reported when it is closed */
    }
    if (end.fd >= 0)
        close(end.fd);
    int closed = record_sample_close(request, status == EXIT_OK);
    if (status != EXIT_OK)
        return status;
    fputs("upmu: in ", stderr);
    output_clean(stderr, shown_dir);
    char *path = output_shell_path(shown_dir);
    fprintf(stderr, "; next: upmu report --samples %s\n", path);
    free(path);
    return closed;
}
