/* SPDX-License-Identifier: MIT */
/* A preloaded library whose functions for times, files and their times use locks, as libraries that fake the time, the user or
 * the root directory do: each call initializes once, locks a mutex, and takes a semaphore and returns it. None of them may be
 * called while these are recorded. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t one;

static void make(void)
{
    (void)sem_init(&one, 0, 1);
}

/* The time functions are no cancellation points. */
static void use_locks(void)
{
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pthread_once(&once, make);
    while (sem_wait(&one) != 0)
        continue;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    (void)sem_post(&one);
    pthread_setcancelstate(cancel, NULL);
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    use_locks();
    return (int)syscall(SYS_clock_gettime, clock, at);
}

time_t time(time_t *out)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    *at = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

int fstat(int fd, struct stat *out)
{
    int rc = fstatat(fd, "", out, AT_EMPTY_PATH);
    use_locks(); /* to change the times */
    return rc;
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, int) : 0;
    va_end(more);
    use_locks();
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int close(int fd)
{
    use_locks();
    return (int)syscall(SYS_close, fd);
}
