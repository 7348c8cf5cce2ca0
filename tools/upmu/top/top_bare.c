/* SPDX-License-Identifier: MIT */
/*
 * Threads of a process that has no recorder, from /proc: scheduling, and the kind of call that each is asleep in.
 *
 * Nothing runs in the process, and it is not stopped. Which lock a thread waits for, and for how long, is not known.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ui/memory.h"
#include "top.h"

/* Kernel functions that threads sleep in, by the begin of their names. */
static const struct {
    const char *function;
    int kind;
} bare_channels[] = {
    {"futex_", UPMU_WAIT_FUTEX},
    {"hrtimer_nanosleep", UPMU_WAIT_SLEEP},
    {"do_nanosleep", UPMU_WAIT_SLEEP},
    {"ep_poll", UPMU_WAIT_POLL},
    {"do_epoll_wait", UPMU_WAIT_POLL},
    {"poll_schedule_timeout", UPMU_WAIT_POLL},
    {"do_sys_poll", UPMU_WAIT_POLL},
    {"do_select", UPMU_WAIT_POLL},
    {"do_sigtimedwait", UPMU_WAIT_SIGNAL},
    {"sigsuspend", UPMU_WAIT_SIGNAL},
    {"sys_pause", UPMU_WAIT_SIGNAL},
    {"pipe_read", UPMU_WAIT_READ},
    {"anon_pipe_read", UPMU_WAIT_READ},
    {"inet_csk_accept", UPMU_WAIT_READ},
    {"sk_wait_data", UPMU_WAIT_READ},
    {"unix_stream_read_generic", UPMU_WAIT_READ},
    {"pipe_write", UPMU_WAIT_WRITE},
    {"anon_pipe_write", UPMU_WAIT_WRITE},
    {"sk_stream_wait_memory", UPMU_WAIT_WRITE},
    {"do_wait", UPMU_WAIT_CHILD},
};

/* The first line of a file of a task; "" if it cannot be read. To be freed. */
static char *bare_line(pid_t pid, pid_t tid, const char *name)
{
    char line[128] = "";
    FILE *f = top_task_open(pid, tid, name);
    if (f && !fgets(line, sizeof line, f))
        line[0] = '\0';
    if (f)
        (void)fclose(f);
    line[strcspn(line, "\n")] = '\0';
    return memory_copy(line);
}

/* @return enum upmu_wait_kind; -1: it runs, or the call is unknown. */
static int bare_wait_kind(pid_t pid, pid_t tid)
{
    char *function = bare_line(pid, tid, "wchan");
    int kind = -1;
    for (size_t i = 0; kind < 0 && i < sizeof bare_channels / sizeof *bare_channels; i++)
        if (strncmp(function, bare_channels[i].function, strlen(bare_channels[i].function)) == 0)
            kind = bare_channels[i].kind;
    free(function);
    return kind;
}

void top_bare_free_names(struct top *t)
{
    for (size_t i = 0; i < t->n_names; i++)
        free(t->names[i]);
    t->n_names = 0;
}

void top_bare_read(struct top *t)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    t->totals.now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    t->totals.interval_ns = (uint64_t)(t->interval_s * 1e9);
    top_bare_free_names(t);
    t->names = memory_resize(t->names, t->tasks.n + 1, sizeof *t->names);
    t->threads = memory_resize(t->threads, t->tasks.n + 1, sizeof *t->threads);
    t->n_threads = t->n_locks = 0;
    for (size_t i = 0; i < t->tasks.n; i++) {
        pid_t tid = t->tasks.all[i].tid;
        int kind = bare_wait_kind(t->pid, tid);
        char *name = bare_line(t->pid, tid, "comm");
        t->names[t->n_names++] = name;
        t->threads[t->n_threads++].live = (struct upmu_monitor_thread){.size = sizeof(struct upmu_monitor_thread),
                                                                       .pid = t->pid,
                                                                       .tid = tid,
                                                                       .name = name,
                                                                       .wait_kind = kind,
                                                                       .object_type = UPMU_OBJECT_CALL,
                                                                       .object_name = upmu_wait_kind_name(kind),
                                                                       .holder_name = ""};
    }
}

bool top_bare_runs(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return kill(pid, 0) == 0 || errno == EPERM; /* before Linux 5.3 */
    struct pollfd end = {.fd = fd, .events = POLLIN};
    bool runs = poll(&end, 1, 0) == 0;
    close(fd);
    return runs;
}
