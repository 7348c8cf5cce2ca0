/* SPDX-License-Identifier: MIT */
/*
 * Events of a process that is started, or that runs.
 *
 * Each thread has one event per CPU: the kernel refuses a ring of an inherited event that is not bound to a CPU. Threads
 * created later inherit the events of their creator.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampling/sampling.h"

enum { SETTLE_MS = 2, PASSES_MAX = 100 };

/* The first event of a CPU has its ring, all others write to it. */
static int attach_connect(struct upmu_sampler *s, size_t cpu, int fd)
{
    if (!s->rings[cpu].page)
        return sampling_ring_map(s, cpu, fd);
    return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, s->rings[cpu].fd) == 0 ? 0 : -errno;
}

static int attach_event(struct upmu_sampler *s, struct perf_event_attr *attr, pid_t tid, size_t cpu)
{
    int *all = array_reserve(s->events, s->n_events, &s->cap_events, sizeof *all);
    if (!all)
        return -ENOMEM;
    s->events = all;
    long fd = syscall(SYS_perf_event_open, attr, tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno == ENODEV && s->header.flags & SAMPLING_NS ? 0 : -errno; /* the CPU is offline */
    s->events[s->n_events++] = (int)fd;
    return attach_connect(s, cpu, (int)fd);
}

int sampling_attach_thread(struct upmu_sampler *s, pid_t tid, bool at_exec)
{
    size_t first = s->n_events;
    int rc = 0;
    s->attr.enable_on_exec = s->exit_attr.enable_on_exec = at_exec;
    for (size_t cpu = 0; rc == 0 && cpu < s->n_rings; cpu++) {
        rc = attach_event(s, &s->attr, tid, cpu);
        if (rc == 0 && s->timed)
            rc = attach_event(s, &s->exit_attr, tid, cpu);
    }
    for (size_t i = s->n_events; rc == 0 && !at_exec && i-- > first;) /* exits before calls: none is missed */
        if (ioctl(s->events[i], PERF_EVENT_IOC_ENABLE, 0) != 0)
            rc = -errno;
    return rc;
}

/* ------------------------------------------------------------------------------------------ a process that runs */

static void attach_pause(void)
{
    const struct timespec settle = {.tv_nsec = SETTLE_MS * 1000000L};
    (void)nanosleep(&settle, NULL);
}

/* Threads that are neither attached nor known to have inherited the event; `seen` has those of the pass before. A new thread
 * is attached in the second pass that finds it: by then the kernel has reported whether it inherited. */
static int attach_pass(struct upmu_sampler *s, DIR *tasks, struct map *attached, struct map *seen, size_t pass,
                       size_t *pending)
{
    const struct dirent *entry;
    int rc = 0;
    *pending = 0;
    rewinddir(tasks);
    sampling_rings_drain(s);
    while (rc == 0 && (entry = readdir(tasks)) != NULL) {
        long tid = strtol(entry->d_name, NULL, 10);
        if (tid <= 0 || map_find(attached, (uint64_t)tid, 0) != MAP_NONE ||
            map_find(&s->forked, (uint64_t)tid, 0) != MAP_NONE)
            continue;
        (*pending)++;
        if (pass > 0 && map_find(seen, (uint64_t)tid, 0) == MAP_NONE) {
            rc = map_put(seen, (uint64_t)tid, 0, 0) ? 0 : -ENOMEM;
            continue;
        }
        rc = sampling_attach_thread(s, (pid_t)tid, false);
        if (rc == -ESRCH) /* it has ended meanwhile */
            rc = 0;
        if (rc == 0 && !map_put(attached, (uint64_t)tid, 0, 0))
            rc = -ENOMEM;
    }
    return rc;
}

int sampling_attach_running(struct upmu_sampler *s, pid_t pid)
{
    char path[64];
    struct map attached = {0}, seen = {0};
    size_t pending = 1;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return errno == ENOENT ? -ESRCH : -errno;
    int rc = 0;
    for (size_t pass = 0; rc == 0 && pending > 0 && pass < PASSES_MAX; pass++) {
        rc = attach_pass(s, tasks, &attached, &seen, pass, &pending);
        if (pending > 0)
            attach_pause();
    }
    closedir(tasks);
    map_free(&attached);
    map_free(&seen);
    return rc == 0 && s->n_events == 0 ? -ESRCH : rc;
}
