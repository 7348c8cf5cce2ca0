/* SPDX-License-Identifier: MIT */
/* Waiting for the end of a recorded command, reporting deadlocks when they occur. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deadlock/deadlock.h"
#include "record.h"
#include "upmu/control.h"

enum { LOOK_MS = 100 };

/* Into the trace as well; while the whole process stands, its next event would take it along, and .live has it all. */
static void watch_mark(const char *process, const struct upmu_deadlock *d)
{
    char text[64];
    struct upmu_control *control;
    if (upmu_control_open(&control, process) != 0)
        return;
    snprintf(text, sizeof text, "%s [%s] of %zu thread%s",
             d->certainty == UPMU_DEADLOCK_CERTAIN ? "deadlock" : "stalled", upmu_deadlock_kind_name(d->kind),
             d->n_threads, d->n_threads == 1 ? "" : "s");
    int rc = upmu_control_mark(control, 0, text);
    if (rc < 0 && rc != UPMU_E_BUSY) /* another mark waits already: the process does nothing to take it along */
        complain("cannot mark the deadlock in the trace: %s", upmu_error());
    upmu_control_close(control);
}

static void watch_report(struct output *out, struct upmu_deadlock_watch *watch, const char *process)
{
    struct deadlock_report r = {.subject = process};
    struct upmu_deadlock d = {.size = sizeof d};
    if (upmu_deadlock_watch_take(watch, &r.deadlocks) < 0) {
        complain("a deadlock was found, but cannot be reported: %s", upmu_error());
        return;
    }
    r.report = (struct report){.overview = upmu_deadlocks_overview(r.deadlocks), .dir = process};
    for (size_t i = 0; upmu_deadlocks_at(r.deadlocks, i, &d) == 0; i++) {
        bool wanted = d.certainty == UPMU_DEADLOCK_CERTAIN || d.certainty == UPMU_DEADLOCK_STALLED;
        if (!wanted || d.suppressed)
            continue;
        deadlock_write_one(out, &r, i);
        watch_mark(process, &d);
    }
    (void)fflush(out->file); /* an error is reported when the output is closed */
    upmu_deadlocks_close(r.deadlocks);
}

static bool watch_is_over(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) != 0 ? errno != EINTR : info.si_pid == pid;
}

void record_watch(pid_t pid, const char *dir, const char *file)
{
    struct upmu_deadlock_watch *watch;
    struct output out;
    const char *process;
    bool open = (file && output_file(&out, file) == 0) || output_standard(&out, OUTPUT_STDERR) == 0;
    /* Without one (before Linux 5.3) poll() takes the descriptor -1 for nothing to wait for, and the time passes. */
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    if (upmu_deadlock_watch_open(&watch, dir) != 0) {
        complain("deadlocks will not be reported: %s", upmu_error());
        watch = NULL;
    }
    while (!watch_is_over(pid)) {
        if (poll(&end, 1, LOOK_MS) == 0 && watch && upmu_deadlock_watch_poll(watch, &process) > 0 && open)
            watch_report(&out, watch, process);
    }
    upmu_deadlock_watch_close(watch);
    if (open)
        (void)output_close(&out); /* an error was printed; the exit status is that of the command */
    if (end.fd >= 0)
        close(end.fd);
}
