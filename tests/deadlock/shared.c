/* SPDX-License-Identifier: MIT */
/* Processes that share locks: a deadlock between them, a killed holder, an ordinary wait. See shared.sh. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct shared {
    pthread_mutex_t a, b;
    pthread_rwlock_t r, q;
    unsigned come, made;
} * shared;

static void must(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(rc));
    _exit(1);
}
#define MUST(call) must((call), #call)

static void meet(unsigned n)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    __atomic_fetch_add(&shared->come, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&shared->come, __ATOMIC_ACQUIRE) < n)
        nanosleep(&pause, NULL);
}

static void cross(pthread_mutex_t *x, pthread_mutex_t *y)
{
    MUST(pthread_mutex_lock(x));
    meet(2);
    MUST(pthread_mutex_lock(y));
}

static void cross_rwlocks(pthread_rwlock_t *x, pthread_rwlock_t *y)
{
    MUST(pthread_rwlock_wrlock(x));
    meet(2);
    MUST(pthread_rwlock_rdlock(y));
}

static void killed(int child)
{
    if (child) {
        MUST(pthread_mutex_lock(&shared->a));
        meet(2);
        raise(SIGKILL);
    }
    meet(2);
    MUST(pthread_mutex_lock(&shared->a));
}

static void held_long(int child)
{
    if (child) {
        MUST(pthread_mutex_lock(&shared->a));
        meet(2);
        sleep(3);
        MUST(pthread_mutex_unlock(&shared->a));
        return;
    }
    meet(2);
    MUST(pthread_mutex_lock(&shared->a));
    MUST(pthread_mutex_unlock(&shared->a));
}

/* Two processes that are not related, over a file. The first one makes it. */
static int cross_in_file(const char *path)
{
    pthread_mutexattr_t attr;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool first = fd >= 0;
    fd = first ? fd : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        return 2;
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        return 2;
    if (first) {
        MUST(pthread_mutexattr_init(&attr));
        MUST(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
        MUST(pthread_mutex_init(&shared->a, &attr));
        MUST(pthread_mutex_init(&shared->b, &attr));
        __atomic_store_n(&shared->made, 1, __ATOMIC_RELEASE);
    }
    while (!__atomic_load_n(&shared->made, __ATOMIC_ACQUIRE))
        usleep(1000);
    first ? cross(&shared->a, &shared->b) : cross(&shared->b, &shared->a);
    return 0;
}

int main(int argc, char **argv)
{
    pthread_mutexattr_t mutexes;
    pthread_rwlockattr_t rwlocks;
    if (argc == 3)
        return cross_in_file(argv[2]);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (argc != 2 || shared == MAP_FAILED)
        return 2;
    MUST(pthread_mutexattr_init(&mutexes));
    MUST(pthread_mutexattr_setpshared(&mutexes, PTHREAD_PROCESS_SHARED));
    MUST(pthread_rwlockattr_init(&rwlocks));
    MUST(pthread_rwlockattr_setpshared(&rwlocks, PTHREAD_PROCESS_SHARED));
    MUST(pthread_mutex_init(&shared->a, &mutexes));
    MUST(pthread_mutex_init(&shared->b, &mutexes));
    MUST(pthread_rwlock_init(&shared->r, &rwlocks));
    MUST(pthread_rwlock_init(&shared->q, &rwlocks));
    sem_t first;
    sem_init(&first, 0, 1);
    pid_t child = fork();
    if (child == 0)
        sem_wait(&first); /* a child does not begin to record in a lock of another kind */
    if (strcmp(argv[1], "mutexes") == 0)
        child ? cross(&shared->a, &shared->b) : cross(&shared->b, &shared->a);
    else if (strcmp(argv[1], "rwlocks") == 0)
        child ? cross_rwlocks(&shared->r, &shared->q) : cross_rwlocks(&shared->q, &shared->r);
    else if (strcmp(argv[1], "killed") == 0)
        killed(child == 0);
    else
        held_long(child == 0);
    if (child)
        waitpid(child, NULL, 0);
    return 0;
}
