/* SPDX-License-Identifier: MIT */
/*
 * Recording is started while many threads wait: a lock call of the program notes only a few of them, since it holds locks, and yet each
 * waits from the start of the recording on.
 */
#include <time.h>

#include "../read_object.h"

#include "upmu/analysis.h"
#include "upmu/control.h"

enum { WAITERS = 32, NOTED_MOST = 8, SLACK_NS = 2000000 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, contended = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int n_waiting, go, is_held, may_release;

static uint64_t now(void)
{
    struct timespec t;
    CHECK(clock_gettime(CLOCK_MONOTONIC_RAW, &t) == 0);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* Without a recorded call, which would note waits, too. */
static void until_at_least(const int *value, int least)
{
    while (__atomic_load_n(value, __ATOMIC_ACQUIRE) < least)
        sched_yield();
}

static void *wait_for_condition(void *arg)
{
    lock(&m);
    __atomic_fetch_add(&n_waiting, 1, __ATOMIC_RELEASE); /* the mutex is released in the wait */
    while (!go)
        CHECK(pthread_cond_wait(&c, &m) == 0);
    unlock(&m);
    return arg;
}

static void *hold(void *arg)
{
    lock(&contended);
    __atomic_store_n(&is_held, 1, __ATOMIC_RELEASE);
    until_at_least(&may_release, 1);
    unlock(&contended);
    return arg;
}

static void *lock_contended(void *arg)
{
    lock(&contended);
    unlock(&contended);
    return arg;
}

static uint64_t started, woken;

static void record(void)
{
    struct upmu_control *control;
    pthread_t waiter[WAITERS], holder, other;
    begin(UPMU_SYNC_ALL);
    CHECK(upmu_control_open(&control, dir) == 0 && upmu_control_stop(control, 0) == 0);
    for (int i = 0; i < WAITERS; i++)
        CHECK(pthread_create(&waiter[i], NULL, wait_for_condition, NULL) == 0);
    CHECK(pthread_create(&holder, NULL, hold, NULL) == 0);
    until_at_least(&is_held, 1);
    until_at_least(&n_waiting, WAITERS);
    lock(&m); /* all are in the wait */
    unlock(&m);
    CHECK(upmu_control_start(control, 0) == 0);
    upmu_control_close(control);
    started = now();
    CHECK(pthread_create(&other, NULL, lock_contended, NULL) == 0);
    while (read_object(&contended).kind[UPMU_TRACE_LOCK_BLOCK] == 0)
        sched_yield();
    unsigned noted = read_object(&c).kind[UPMU_TRACE_COND_WAIT];
    CHECK(noted > 0 && noted <= NOTED_MOST);
    woken = now();
    lock(&m);
    go = 1;
    CHECK(pthread_cond_broadcast(&c) == 0);
    unlock(&m);
    for (int i = 0; i < WAITERS; i++)
        CHECK(pthread_join(waiter[i], NULL) == 0);
    __atomic_store_n(&may_release, 1, __ATOMIC_RELEASE);
    CHECK(pthread_join(holder, NULL) == 0 && pthread_join(other, NULL) == 0);
    end();
}

int main(void)
{
    struct upmu_overview *o;
    struct upmu_overview_object x = {.size = sizeof x};
    struct upmu_overview_object_thread t = {.size = sizeof t};
    unsigned threads = 0;
    if (UNDER_THREAD_SANITIZER) {
        puts("skipped, because waits from before the recording are not noted under ThreadSanitizer");
        return 77;
    }
    CHECK(mkdtemp(dir) != NULL);
    record();
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    size_t i = 0;
    while (upmu_overview_object_at(o, i, &x) == 0 && x.address != (uintptr_t)&c)
        i++;
    CHECK(x.address == (uintptr_t)&c && x.before_waits == WAITERS && x.waits.count == WAITERS);
    for (size_t k = 0; upmu_overview_object_thread_at(o, i, k, &t) == 0; k++) {
        if (t.waits.count == 0)
            continue;
        threads++;
        CHECK(t.waits.count == 1 && t.waits.total_ns + SLACK_NS >= woken - started);
    }
    CHECK(threads == WAITERS);
    upmu_overview_close(o);
    return remove_recording();
}
