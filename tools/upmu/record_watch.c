/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the end of a recorded command, and telling of its deadlocks while they stand. Room: tools/upmu. Before it:
 * record_run.c; after it: libupmu_analysis, which reads what the threads wrote down before they blocked.
 */
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deadlock.h"
#include "record.h"

enum { LOOK_MS = 100 };

static void tell(const char *process)
{
    struct deadlock_report r = {.subject = process};
    struct upmu_deadlock d = {.size = sizeof d};
    struct output out;
    if (upmu_deadlocks_open(&r.deadlocks, process, NULL) < 0) {
        complain("there is a deadlock, and it cannot be told: %s", upmu_error());
        return;
    }
    r.places = (struct report){.overview = upmu_deadlocks_overview(r.deadlocks), .dir = process};
    if (output_standard(&out, OUTPUT_STDERR) == 0) {
        for (size_t i = 0; upmu_deadlocks_item(r.deadlocks, i, &d) == 0; i++)
            if (d.standing == UPMU_DEADLOCK_CERTAIN && !d.suppressed)
                deadlock_write_one(&out, &r, i);
        (void)output_close(&out); /* it has said what is wrong, and the command goes on */
    }
    upmu_deadlocks_close(r.deadlocks);
}

static bool is_over(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) != 0 ? errno != EINTR : info.si_pid == pid;
}

void record_watch(pid_t pid, const char *dir)
{
    struct upmu_deadlock_watch *watch;
    const char *process;
    /* Without one (before Linux 5.3) poll() takes the descriptor -1 for nothing to wait for, and the time passes. */
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    if (upmu_deadlock_watch_open(&watch, dir) != 0) {
        complain("no deadlock will be told of: %s", upmu_error());
        watch = NULL;
    }
    while (!is_over(pid)) {
        if (poll(&end, 1, LOOK_MS) == 0 && watch && upmu_deadlock_watch_look(watch, &process) > 0)
            tell(process);
    }
    upmu_deadlock_watch_close(watch);
    if (end.fd >= 0)
        close(end.fd);
}
