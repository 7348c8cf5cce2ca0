/* SPDX-License-Identifier: MIT */
/*
 * A program with known waits, for the tests of upmu report and upmu top.
 *
 *   scene                 two threads: "keeper" holds "till" until "customer" waits for it, and 50 ms more; then a join
 *   scene busy MS         for that long "keeper" takes the till for 20 ms at a time, with pauses of 5 ms, and "customer" pays
 *                         there again and again
 *   scene many THREADS PAIRS   each thread locks and unlocks a mutex of its own PAIRS times
 *   scene stuck [SECONDS] two threads, each with a mutex that the other waits for, until SIGALRM ends it (after 1 s)
 *   scene timed           a thread tries to lock the till for 20 ms, twice, while the other one holds it and waits for its end
 *
 * Whether another thread waits is read from /proc: on a busy machine no fixed delay is long enough.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "upmu/region.h"
#include "upmu/sync.h"

enum { HELD_US = 200000, THREADS_MAX = 64 };

static pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t held;
static long pairs;
static atomic_int about_to_wait; /* the thread whose next step is its wait */

static bool is_asleep(pid_t tid)
{
    char path[64], text[512] = "";
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    const char *state = n > 0 ? strrchr(text, ')') : NULL;
    return state && state[2] == 'S';
}

static void until_other_waits(void)
{
    while (atomic_load(&about_to_wait) == 0 || !is_asleep(atomic_load(&about_to_wait)))
        usleep(500);
}

static __attribute__((noinline)) void keep_till(void)
{
    pthread_mutex_lock(&till);
    pthread_barrier_wait(&held);
    until_other_waits();
    usleep(HELD_US);
    pthread_mutex_unlock(&till);
}

static __attribute__((noinline)) void pay_at_till(void)
{
    pthread_mutex_lock(&till);
    pthread_mutex_unlock(&till);
}

static void *keeper(void *arg)
{
    (void)arg;
    pthread_setname_np(pthread_self(), "keeper");
    keep_till();
    return NULL;
}

static void *customer(void *arg)
{
    (void)arg;
    pthread_setname_np(pthread_self(), "customer");
    pthread_barrier_wait(&held);
    upmu_region_begin("shopping");
    atomic_store(&about_to_wait, gettid());
    pay_at_till();
    upmu_region_end("shopping");
    return NULL;
}

static int scene(void)
{
    pthread_t threads[2];
    upmu_lock_name(&till, "the till");
    if (pthread_barrier_init(&held, NULL, 2) != 0 || pthread_create(&threads[0], NULL, keeper, NULL) != 0 ||
        pthread_create(&threads[1], NULL, customer, NULL) != 0)
        return 1;
    return pthread_join(threads[0], NULL) != 0 || pthread_join(threads[1], NULL) != 0;
}

enum { BUSY_HELD_US = 20000, BUSY_PAUSE_US = 5000 };

static int busy; /* until it is 0 */

static void *busy_keeper(void *arg)
{
    (void)arg;
    pthread_setname_np(pthread_self(), "keeper");
    while (__atomic_load_n(&busy, __ATOMIC_RELAXED)) {
        pthread_mutex_lock(&till);
        usleep(BUSY_HELD_US);
        pthread_mutex_unlock(&till);
        usleep(BUSY_PAUSE_US);
    }
    return NULL;
}

static void *busy_customer(void *arg)
{
    (void)arg;
    pthread_setname_np(pthread_self(), "customer");
    while (__atomic_load_n(&busy, __ATOMIC_RELAXED)) {
        pay_at_till();
        usleep(BUSY_PAUSE_US / 2);
    }
    return NULL;
}

static int busy_for(long ms)
{
    pthread_t threads[2];
    busy = 1;
    upmu_lock_name(&till, "the till");
    if (pthread_create(&threads[0], NULL, busy_keeper, NULL) != 0 ||
        pthread_create(&threads[1], NULL, busy_customer, NULL) != 0)
        return 1;
    usleep((useconds_t)ms * 1000);
    __atomic_store_n(&busy, 0, __ATOMIC_RELAXED);
    return pthread_join(threads[0], NULL) != 0 || pthread_join(threads[1], NULL) != 0;
}

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void *right_then_left(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&right);
    pthread_barrier_wait(&held);
    atomic_store(&about_to_wait, gettid());
    pthread_mutex_lock(&left);
    return NULL;
}

static int stuck(unsigned seconds)
{
    pthread_t thread;
    pthread_mutex_lock(&left);
    if (pthread_barrier_init(&held, NULL, 2) != 0 || pthread_create(&thread, NULL, right_then_left, NULL) != 0)
        return 1;
    pthread_barrier_wait(&held);
    until_other_waits();
    alarm(seconds);
    return pthread_mutex_lock(&right);
}

static void *pairs_of_one(void *arg)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    (void)arg;
    for (long i = 0; i < pairs; i++) {
        pthread_mutex_lock(&own);
        pthread_mutex_unlock(&own);
    }
    return NULL;
}

static int many(int n)
{
    pthread_t threads[THREADS_MAX];
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, pairs_of_one, NULL) != 0)
            return 1;
    for (int i = 0; i < n; i++)
        if (pthread_join(threads[i], NULL) != 0)
            return 1;
    return 0;
}

static void *impatient_customer(void *arg)
{
    int *timeouts = arg;
    for (int i = 0; i < 2; i++) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        *timeouts += pthread_mutex_timedlock(&till, &until) == ETIMEDOUT;
    }
    return NULL;
}

static int timed(void)
{
    pthread_t thread;
    int timeouts = 0;
    upmu_lock_name(&till, "the till");
    pthread_mutex_lock(&till);
    if (pthread_create(&thread, NULL, impatient_customer, &timeouts) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    pthread_mutex_unlock(&till);
    return timeouts != 2;
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return scene();
    if (argc == 2 && strcmp(argv[1], "timed") == 0)
        return timed();
    if (argc <= 3 && strcmp(argv[1], "stuck") == 0)
        return stuck(argc == 3 ? (unsigned)atoi(argv[2]) : 1);
    if (argc == 3 && strcmp(argv[1], "busy") == 0 && atol(argv[2]) > 0)
        return busy_for(atol(argv[2]));
    int n = argc == 4 && strcmp(argv[1], "many") == 0 ? atoi(argv[2]) : 0;
    if (n < 1 || n > THREADS_MAX)
        return 2;
    pairs = atol(argv[3]);
    return many(n);
}
