/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the end of processes and threads, with a deadline.
 *
 * They are watched through pidfds. Where the kernel has none (before 5.3; for threads before 6.9), their state in /proc is
 * looked at twenty times a second, and when a child of ours has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ui/memory.h"
#include "stat.h"

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

struct stat_watched {
    pid_t pid;
    int fd; /* -1: looked at in /proc */
    bool thread;
    bool ended;
};

static const double poll_seconds = 0.05;

/* A zombie has ended, and nothing of it will be counted any more: but a process whose first thread has ended lives as long as
 * another one does. */
static bool watched_ended(pid_t pid, bool thread)
{
    char path[64], text[512];
    long threads = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return true;
    size_t n = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file); /* read only: no error is lost */
    text[n] = '\0';
    const char *after_name = strrchr(text, ')'); /* the name itself may hold anything */
    if (!after_name || after_name[1] == '\0')
        return true;
    bool zombie = after_name[2] == 'Z' || after_name[2] == 'X';
    bool others = !thread &&
                  sscanf(after_name + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
                         &threads) == 1 &&
                  threads > 1;
    return zombie && !others;
}

static void watch_add(struct stat_watch *w, pid_t pid, bool thread)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, thread ? PIDFD_THREAD : 0);
    w->watched = memory_resize(w->watched, w->n + 1, sizeof *w->watched);
    w->watched[w->n++] = (struct stat_watched){.pid = pid, .fd = fd, .thread = thread};
}

void stat_watch_command(struct stat_watch *w, pid_t pid)
{
    *w = (struct stat_watch){.signals = false};
    watch_add(w, pid, false);
}

void stat_watch_ids(struct stat_watch *w, const struct stat_ids *ids, bool threads)
{
    *w = (struct stat_watch){.signals = true};
    for (size_t i = 0; ids && i < ids->n; i++)
        watch_add(w, ids->id[i], threads);
}

void stat_watch_end(struct stat_watch *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->watched[i].fd >= 0)
            close(w->watched[i].fd);
    free(w->watched);
    *w = (struct stat_watch){0};
}

/* The descriptors of those that are still running. @return whether any is to be looked at in /proc. */
static bool watch_collect(const struct stat_watch *w, struct pollfd *polled, nfds_t *n)
{
    bool polled_in_proc = false;
    *n = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (w->watched[i].ended)
            continue;
        if (w->watched[i].fd >= 0)
            polled[(*n)++] = (struct pollfd){.fd = w->watched[i].fd, .events = POLLIN};
        else
            polled_in_proc = true;
    }
    return polled_in_proc;
}

/* @return whether all have ended; false where nothing is watched. */
static bool watch_update(struct stat_watch *w, const struct pollfd *polled, nfds_t n)
{
    bool all = w->n > 0;
    for (size_t i = 0; i < w->n; i++) {
        struct stat_watched *one = &w->watched[i];
        for (nfds_t k = 0; k < n; k++)
            one->ended |= polled[k].fd == one->fd && polled[k].revents != 0;
        if (one->fd < 0 && !one->ended)
            one->ended = watched_ended(one->pid, one->thread);
        all &= one->ended;
    }
    return all;
}

/* One wait; `mask` lets the signals in. @return 1 when all have ended, 0, or -1. */
static int watch_once(struct stat_watch *w, struct pollfd *polled, double deadline, const sigset_t *mask)
{
    nfds_t n;
    bool polled_in_proc = watch_collect(w, polled, &n);
    double left = deadline - stat_seconds_now();
    const double longest = 3600;
    if (polled_in_proc && left > poll_seconds)
        left = poll_seconds;
    left = left < 0 ? 0 : left > longest ? longest : left;
    struct timespec ts = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - floor(left)) * 1e9)};
    int rc = ppoll(polled, n, &ts, mask);
    if (rc < 0 && errno != EINTR)
        return -1;
    return watch_update(w, polled, rc > 0 ? n : 0);
}

int stat_watch_wait(struct stat_watch *w, double deadline)
{
    struct pollfd *polled = memory_array(w->n + 1, sizeof *polled);
    sigset_t all, before;
    int rc = 0;

    /* Signals are let in only inside ppoll, so that none falls between the question and the wait. */
    sigfillset(&all);
    if (sigprocmask(SIG_BLOCK, &all, &before) != 0)
        rc = -1;
    bool masked = rc == 0;
    if (rc == 0)
        rc = watch_update(w, NULL, 0); /* what ended before will not interrupt the wait */
    while (rc == 0 && !(w->signals && stat_signals_seen() != 0) && stat_seconds_now() < deadline)
        rc = watch_once(w, polled, deadline, &before);
    int saved = errno;
    if (masked)
        (void)sigprocmask(SIG_SETMASK, &before, NULL); /* the mask came from the kernel */
    free(polled);
    errno = saved;
    return rc;
}
