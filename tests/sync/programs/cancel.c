/* SPDX-License-Identifier: MIT */
/* Cancellation, blocked and pending, at every cancellation point of the traced calls.
 *
 * The output must be the same with and without the library. */
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, taken = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t empty, full;
static pthread_t sleeper;
static mtx_t c11_mutex;
static cnd_t c11_cond;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag c11_once = ONCE_FLAG_INIT;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t alone;
static int cleanups, once_runs;

static void unlock_mutex(void *arg)
{
    cleanups++;
    if (pthread_mutex_unlock(arg) != 0)
        printf("  the mutex was not ours\n");
}

static void count_cleanup(void *arg)
{
    (void)arg;
    cleanups++;
}

static struct timespec far_away(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    ts.tv_sec += 100;
    return ts;
}

static void in_cond_wait(void)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock_mutex, &mutex);
    for (;;)
        pthread_cond_wait(&cond, &mutex);
    pthread_cleanup_pop(1);
}

static void in_cond_timedwait(void)
{
    struct timespec ts = far_away(CLOCK_REALTIME);
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock_mutex, &mutex);
    for (;;)
        pthread_cond_timedwait(&cond, &mutex, &ts);
    pthread_cleanup_pop(1);
}

static void in_cond_clockwait(void)
{
    struct timespec ts = far_away(CLOCK_MONOTONIC);
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock_mutex, &mutex);
    for (;;)
        pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &ts);
    pthread_cleanup_pop(1);
}

static void in_sem_wait(void)
{
    sem_wait(&empty);
}

static void in_sem_timedwait(void)
{
    struct timespec ts = far_away(CLOCK_REALTIME);
    sem_timedwait(&empty, &ts);
}

static void in_sem_clockwait(void)
{
    struct timespec ts = far_away(CLOCK_MONOTONIC);
    sem_clockwait(&empty, CLOCK_MONOTONIC, &ts);
}

static void in_join(void)
{
    pthread_join(sleeper, NULL);
}

static void in_timedjoin(void)
{
    struct timespec ts = far_away(CLOCK_REALTIME);
    pthread_timedjoin_np(sleeper, NULL, &ts);
}

static void in_clockjoin(void)
{
    struct timespec ts = far_away(CLOCK_MONOTONIC);
    pthread_clockjoin_np(sleeper, NULL, CLOCK_MONOTONIC, &ts);
}

static void unlock_c11_mutex(void *arg)
{
    cleanups++;
    if (mtx_unlock(arg) != thrd_success)
        printf("  the C11 mutex was not ours\n");
}

static void in_cnd_wait(void)
{
    mtx_lock(&c11_mutex);
    pthread_cleanup_push(unlock_c11_mutex, &c11_mutex);
    for (;;)
        cnd_wait(&c11_cond, &c11_mutex);
    pthread_cleanup_pop(1);
}

static void in_cnd_timedwait(void)
{
    struct timespec ts = far_away(CLOCK_REALTIME);
    mtx_lock(&c11_mutex);
    pthread_cleanup_push(unlock_c11_mutex, &c11_mutex);
    for (;;)
        cnd_timedwait(&c11_cond, &c11_mutex, &ts);
    pthread_cleanup_pop(1);
}

static void in_thrd_join(void)
{
    thrd_join(sleeper, NULL);
}

/* Canceled in the function that is run once: the next call runs it again. */
static void sleep_in_once(void)
{
    once_runs++;
    pause();
}

static void in_once(void)
{
    pthread_once(&once, sleep_in_once);
}

static void in_call_once(void)
{
    call_once(&c11_once, sleep_in_once);
}

/* These would not wait: only a pending cancellation ends them. */
static void in_sem_wait_full(void)
{
    sem_wait(&full);
}

static void in_sem_timedwait_full(void)
{
    struct timespec ts = far_away(CLOCK_REALTIME);
    sem_timedwait(&full, &ts);
}

static void in_sem_clockwait_full(void)
{
    struct timespec ts = far_away(CLOCK_MONOTONIC);
    sem_clockwait(&full, CLOCK_MONOTONIC, &ts);
}

/* These are no cancellation points: the thread must get to its end. */
static void in_none(void)
{
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&cond);
    pthread_cond_broadcast(&cond);
    sem_post(&full);
    sem_trywait(&full);
    pthread_mutex_unlock(&mutex);
    mtx_lock(&c11_mutex);
    cnd_signal(&c11_cond);
    mtx_unlock(&c11_mutex);
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    pthread_barrier_wait(&alone);
    syscall(SYS_futex, &cleanups, FUTEX_WAIT_PRIVATE, -1, NULL, NULL, 0);
}

/* Nor are they deep down, where an unwinder meets memory that it has not read before. */
static int at_depth(int depth)
{
    volatile char frame[3000];
    frame[0] = (char)depth;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return depth > 0 ? at_depth(depth - 1) + frame[0] : 0;
}

static void in_none_deep(void)
{
    (void)at_depth(40);
}

/* Nor is waiting for a lock, however many others the thread has. */
static void in_none_holding(void)
{
    enum { MANY = 150 };
    static pthread_mutex_t many[MANY];
    struct timespec ts;
    for (int i = 0; i < MANY; i++) {
        pthread_mutex_init(&many[i], NULL);
        pthread_mutex_lock(&many[i]);
    }
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_nsec = (ts.tv_nsec + 1000000) % 1000000000;
    (void)pthread_mutex_timedlock(&taken, &ts);
    for (int i = MANY; i-- > 0;)
        pthread_mutex_unlock(&many[i]);
}

static const struct {
    const char *name;
    void (*call)(void);
} points[] = {
    {"cond_wait", in_cond_wait},
    {"cond_timedwait", in_cond_timedwait},
    {"cond_clockwait", in_cond_clockwait},
    {"sem_wait", in_sem_wait},
    {"sem_timedwait", in_sem_timedwait},
    {"sem_clockwait", in_sem_clockwait},
    {"join", in_join},
    {"timedjoin", in_timedjoin},
    {"clockjoin", in_clockjoin},
    {"cnd_wait", in_cnd_wait},
    {"cnd_timedwait", in_cnd_timedwait},
    {"thrd_join", in_thrd_join},
    {"once", in_once},
    {"call_once", in_call_once},
    /* These have no business but with a cancellation that waits already. */
    {"sem_wait, full", in_sem_wait_full},
    {"sem_timedwait, full", in_sem_timedwait_full},
    {"sem_clockwait, full", in_sem_clockwait_full},
    {"none", in_none},
    {"none, deep", in_none_deep},
    {"none, holding many", in_none_holding},
};

enum { BLOCKED = 14 /* the first ones wait */ };

static atomic_int running;

static void *run(void *arg)
{
    const size_t i = (size_t)(uintptr_t)arg;
    pthread_cleanup_push(count_cleanup, NULL);
    atomic_store(&running, (int)syscall(SYS_gettid));
    points[i].call();
    pthread_cleanup_pop(0);
    return NULL;
}

/* Waits until the announced thread is asleep, that is in the call. */
static void until_asleep(void)
{
    char path[64], text[256];
    const char *state = NULL;
    int tid;
    while ((tid = atomic_exchange(&running, 0)) == 0)
        usleep(1000);
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    while (!state || state[2] != 'S') {
        usleep(1000);
        FILE *f = fopen(path, "r");
        state = f && fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
        if (f)
            fclose(f);
    }
}

static pthread_barrier_t ready;

/* The same with the cancellation already there when the call is made. */
static void *run_pending(void *arg)
{
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&ready);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    return run(arg);
}

static void *sleep_long(void *arg)
{
    pause();
    return arg;
}

static void report(const char *how, size_t i, pthread_t t)
{
    void *value;
    int semaphores;
    pthread_join(t, &value);
    sem_getvalue(&full, &semaphores);
    printf("%s in %s: %s, %d cleanups, full %d, once %d, mutex %s\n", how, points[i].name,
           value == PTHREAD_CANCELED ? "canceled" : "ended", cleanups, semaphores, once_runs,
           pthread_mutex_trylock(&mutex) == 0 ? "free" : "locked");
    pthread_mutex_unlock(&mutex);
    cleanups = 0;
    if (mtx_trylock(&c11_mutex) != thrd_success)
        printf("  the C11 mutex is still locked\n");
    mtx_unlock(&c11_mutex);
}

int main(void)
{
    pthread_t t;
    sem_init(&empty, 0, 0);
    sem_init(&full, 0, 5);
    pthread_barrier_init(&ready, NULL, 2);
    pthread_barrier_init(&alone, NULL, 1);
    if (mtx_init(&c11_mutex, mtx_plain) != thrd_success || cnd_init(&c11_cond) != thrd_success)
        return 1;
    if (pthread_create(&sleeper, NULL, sleep_long, NULL) != 0)
        return 1;
    pthread_mutex_lock(&taken);
    for (size_t i = 0; i < BLOCKED; i++) {
        if (pthread_create(&t, NULL, run, (void *)(uintptr_t)i) != 0)
            return 1;
        until_asleep();
        pthread_cancel(t);
        report("blocked", i, t);
    }
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        if (pthread_create(&t, NULL, run_pending, (void *)(uintptr_t)i) != 0)
            return 1;
        pthread_barrier_wait(&ready);
        pthread_cancel(t);
        pthread_barrier_wait(&ready);
        report("pending", i, t);
    }
    return 0;
}
