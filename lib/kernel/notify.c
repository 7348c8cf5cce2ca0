/* SPDX-License-Identifier: MIT */
/* Signals of overflowing events and of timers of CPU time, each to one thread. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kernel/parts.h"

int kernel_overflow_signal(int fd, int signal)
{
    const struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
    if (fcntl(fd, F_SETOWN_EX, &owner) < 0 || fcntl(fd, F_SETSIG, signal) < 0 || fcntl(fd, F_SETFL, O_ASYNC) < 0)
        return -errno;
    return 0;
}

/* By system calls: timer_create() needs librt before glibc 2.34, and its identifiers are not always those of the kernel. */
int kernel_cpu_timer(int signal, int *id)
{
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    return syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, id) < 0 ? -errno : 0;
}

int kernel_cpu_timer_set(int id, uint64_t period_ns)
{
    const uint64_t second = 1000000000;
    const struct timespec period = {(time_t)(period_ns / second), (long)(period_ns % second)};
    const struct itimerspec each = {period, period};
    return syscall(SYS_timer_settime, id, 0, &each, NULL) < 0 ? -errno : 0;
}

void kernel_cpu_timer_delete(int id)
{
    int saved = errno;
    (void)syscall(SYS_timer_delete, id);
    errno = saved;
}

bool kernel_thread_lives(pid_t tid)
{
    int saved = errno;
    bool lives = syscall(SYS_tgkill, getpid(), tid, 0) == 0 || errno != ESRCH;
    errno = saved;
    return lives;
}
