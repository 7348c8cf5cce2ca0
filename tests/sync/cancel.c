/* SPDX-License-Identifier: MIT */
/* Cancellation at every point where the traced calls allow it, blocked and pending; prints what happened, which must be
 * the same with and without the library. Room: tests; knows nothing of libupmu. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t empty, full;
static pthread_t sleeper;
static int cleanups;

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

/* These are no cancellation points: the thread must get to its end. */
static void in_none(void)
{
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&cond);
    pthread_cond_broadcast(&cond);
    sem_post(&full);
    sem_trywait(&full);
    pthread_mutex_unlock(&mutex);
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
    {"sem_wait, full", in_sem_wait_full},
    {"sem_timedwait, full", in_sem_timedwait_full},
    {"none", in_none},
};

static void *run(void *arg)
{
    const size_t i = (size_t)(uintptr_t)arg;
    pthread_cleanup_push(count_cleanup, NULL);
    points[i].call();
    pthread_cleanup_pop(0);
    return NULL;
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
    printf("%s in %s: %s, %d cleanups, full %d, mutex %s\n", how, points[i].name,
           value == PTHREAD_CANCELED ? "cancelled" : "ended", cleanups, semaphores,
           pthread_mutex_trylock(&mutex) == 0 ? "free" : "locked");
    pthread_mutex_unlock(&mutex);
    cleanups = 0;
}

int main(void)
{
    pthread_t t;
    sem_init(&empty, 0, 0);
    sem_init(&full, 0, 5);
    pthread_barrier_init(&ready, NULL, 2);
    if (pthread_create(&sleeper, NULL, sleep_long, NULL) != 0)
        return 1;
    for (size_t i = 0; i < 8; i++) {
        if (pthread_create(&t, NULL, run, (void *)(uintptr_t)i) != 0)
            return 1;
        usleep(20000);
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
