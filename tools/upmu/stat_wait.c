/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the end of what is counted. Room: tools/upmu. Before it: stat_run; after it: the kernel.
 * A process that is not our child is watched through a pidfd; where the kernel has none (before 5.3), or `pid` is a
 * single thread, its state in /proc is looked at twenty times a second.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stat.h"

enum { LOOK_NS = 50000000 };

static int64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail: the clock exists and the pointer is ours */
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void stat_wait_command(pid_t pid)
{
    siginfo_t info;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        ;
}

/* A zombie is over: nothing of it will be counted any more. */
static bool process_over(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return true;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *after_name = strrchr(text, ')'); /* the name itself may hold anything */
    return !after_name || after_name[1] == '\0' || after_name[2] == 'Z' || after_name[2] == 'X';
}

/* One wait, at most until `deadline`; `mask` lets the signals in. @return 1 when the process is over, 0, or -1. */
static int wait_once(int pidfd, pid_t pid, int64_t deadline, const sigset_t *mask)
{
    struct pollfd watched = {.fd = pidfd, .events = POLLIN};
    int64_t left = deadline - now_ns();
    bool look = pid > 0 && pidfd < 0;

    if (left < 0)
        left = 0;
    if (look && left > LOOK_NS)
        left = LOOK_NS;
    struct timespec ts = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    int rc = ppoll(&watched, pidfd >= 0 ? 1 : 0, &ts, mask);
    if (rc < 0)
        return errno == EINTR ? 0 : -1;
    return rc > 0 || (look && process_over(pid));
}

int stat_wait_time(pid_t pid, double seconds)
{
    int64_t deadline = seconds > 0 ? now_ns() + (int64_t)(seconds * 1e9) : INT64_MAX;
    int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    sigset_t all, before;
    int rc = 0;

    /* Signals are let in only inside ppoll, so that none falls between the question and the wait. */
    sigfillset(&all);
    if (sigprocmask(SIG_BLOCK, &all, &before) != 0)
        return -1;
    while (rc == 0 && stat_signals_seen() == 0 && now_ns() < deadline)
        rc = wait_once(pidfd, pid, deadline, &before);
    int saved = errno;
    (void)sigprocmask(SIG_SETMASK, &before, NULL); /* the mask came from the kernel */
    if (pidfd >= 0)
        close(pidfd);
    errno = saved;
    return rc < 0 ? -1 : 0;
}
