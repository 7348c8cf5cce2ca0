/* SPDX-License-Identifier: MIT */
/*
 * Threads asleep in calls that are not about locks.
 *
 * pool: the shape of a parallel compressor: a thread in sigwait() until the main thread sends the signal at the end, and workers
 *       that compute; another thread is in read() until the process ends.
 * killed: the same, and the process computes for a while, and kills itself.
 * exec: a thread waits for a mutex while another one calls exec(): the program sleeps for 300 ms then.
 * child: a forked child whose first call is for a reader-writer lock that its parent holds.
 * short: threads that sleep a few times each, one after the other; then a forked child and threads of it do the same. Each prints its
 *       id, and how many of its sleeps the kernel counted as switches.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(x)                                                 \
    do {                                                         \
        if (!(x)) {                                              \
            fprintf(stderr, "waiting.c:%d: %s\n", __LINE__, #x); \
            exit(1);                                             \
        }                                                        \
    } while (0)

enum { WORKERS = 2, WORK_MS = 150 };

static int never[2];

/* CPU time, so that it takes as long on a busy machine. */
static void compute(void)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec == 0 && now.tv_nsec < WORK_MS * 1000000L);
}

static void *work(void *arg)
{
    pthread_setname_np(pthread_self(), "worker");
    compute();
    return arg;
}

static void *wait_for_signal(void *arg)
{
    sigset_t set;
    int sig;
    pthread_setname_np(pthread_self(), "signals");
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(sigwait(&set, &sig) == 0 && sig == SIGUSR1);
    return arg;
}

static void *read_never(void *arg)
{
    char byte;
    pthread_setname_np(pthread_self(), "idle");
    CHECK(read(never[0], &byte, 1) == 1);
    return arg;
}

static void pool(bool killed)
{
    pthread_t signals, idle, workers[WORKERS];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(pipe(never) == 0 && pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(pthread_create(&signals, NULL, wait_for_signal, NULL) == 0);
    CHECK(pthread_create(&idle, NULL, read_never, NULL) == 0);
    for (int i = 0; i < WORKERS; i++)
        CHECK(pthread_create(&workers[i], NULL, work, NULL) == 0);
    for (int i = 0; i < WORKERS; i++)
        CHECK(pthread_join(workers[i], NULL) == 0);
    if (killed) {
        compute();
        kill(getpid(), SIGKILL);
    }
    CHECK(pthread_kill(signals, SIGUSR1) == 0 && pthread_join(signals, NULL) == 0);
}

static void child(void)
{
    pthread_rwlockattr_t attr;
    pthread_rwlock_t *lock = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(lock != MAP_FAILED && pthread_rwlockattr_init(&attr) == 0 &&
          pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0 && pthread_rwlock_init(lock, &attr) == 0 &&
          pthread_rwlock_wrlock(lock) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        CHECK(pthread_rwlock_rdlock(lock) == 0 && pthread_rwlock_unlock(lock) == 0);
        return;
    }
    usleep(50000);
    CHECK(pthread_rwlock_unlock(lock) == 0 && waitpid(pid, NULL, 0) == pid);
}

static long switches(void)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
    return usage.ru_nvcsw;
}

static void *sleep_often(void *times)
{
    int slept = 0;
    for (int i = 0; i < *(int *)times; i++) {
        long before = switches();
        usleep(2000);
        slept += switches() > before;
    }
    printf("%d %d\n", (int)gettid(), slept);
    return times;
}

static void sleep_in_threads(void)
{
    static int times[] = {1, 1, 2, 1, 3, 1, 1, 2, 2, 1, 4, 1, 3, 2, 1, 1};
    pthread_t t;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        CHECK(pthread_create(&t, NULL, sleep_often, &times[i]) == 0 && pthread_join(t, NULL) == 0);
}

static void short_lives(void)
{
    static int once = 1, more = 5;
    sleep_often(&more);
    sleep_in_threads();
    CHECK(fflush(stdout) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        sleep_in_threads(); /* it records from the first thread on */
        sleep_often(&once);
        return;
    }
    CHECK(waitpid(pid, NULL, 0) == pid);
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *wait_forever(void *arg)
{
    pthread_mutex_lock(&held);
    return arg;
}

static void *become_another(void *arg)
{
    usleep(50000);
    execl("/proc/self/exe", arg, "after", (char *)NULL);
    return NULL;
}

static void exec_from_thread(char *name)
{
    pthread_t waiter, t;
    pthread_mutex_lock(&held);
    CHECK(pthread_create(&waiter, NULL, wait_forever, NULL) == 0);
    CHECK(pthread_create(&t, NULL, become_another, name) == 0 && pthread_join(t, NULL) == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    if (strcmp(argv[1], "child") == 0)
        child();
    else if (strcmp(argv[1], "short") == 0)
        short_lives();
    else if (strcmp(argv[1], "exec") == 0)
        exec_from_thread(argv[0]);
    else if (strcmp(argv[1], "after") == 0)
        usleep(300000);
    else
        pool(strcmp(argv[1], "killed") == 0);
    return 0;
}
