/* SPDX-License-Identifier: MIT */
/*
 * Which releases are recorded, and which look for their lock among those held.
 *
 * The whole of sync_trace is linked in, so that a waiter's effect on a held lock can be made at the worst moment.
 */
#include <ftw.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "region/recorder.h"
#include "sync_trace/state/held.h"
#include "sync_trace/thread_life.h"
#include "unit/suite.h"
#include "upmu/sync.h"
#include "upmu/trace.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static char own, other;
static char dir[] = "/tmp/upmu-releases-XXXXXX";

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static unsigned events(int kind, const void *object)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    unsigned n = 0;
    int rc;
    ck_assert_int_eq(upmu_trace_open(&t, dir), 0);
    while ((rc = upmu_trace_next(t, &e)) > 0)
        n += e->kind == kind && e->object == (uintptr_t)object;
    ck_assert_int_eq(rc, 0);
    upmu_trace_close(t);
    return n;
}

/* The lock taken last is recorded; a waiter for another lock, previously in the same slot, writes
 * its entry only now. */
static void wait_late(const void *lock)
{
    struct sync_thread *t = sync_tls.thread;
    ck_assert_ptr_nonnull(t);
    ck_assert_uint_eq(t->depth, 1);
    ck_assert_uint_eq(t->held[0].lock, (uintptr_t)lock);
    ck_assert_uint_eq(t->held[0].wanted, HELD_RECORDED);
    t->held[0].wanted = (uintptr_t)&other;
}

START_TEST(a_late_waiter_for_another_lock_hides_no_release)
{
    const struct upmu_sync_opts opts = {.size = sizeof opts,
                                        .trace = dir,
                                        .mode = UPMU_SYNC_CONTENDED,
                                        .sample = 1,
                                        .stack_depth = UPMU_SYNC_NO_STACKS};
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(upmu_sync_begin(&opts), 0);
    pthread_mutex_lock(&mutex);
    wait_late(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_wrlock(&rwlock);
    wait_late(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    upmu_lock_tried(&own);
    wait_late(&own);
    upmu_lock_released(&own);
    ck_assert_int_eq(upmu_sync_end(), 0);

    const void *locks[] = {&mutex, &rwlock, &own};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        ck_assert_uint_eq(events(UPMU_TRACE_LOCK_ACQUIRE, locks[i]), 1);
        ck_assert_uint_eq(events(UPMU_TRACE_LOCK_RELEASE, locks[i]), 1);
    }
    nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
END_TEST

static const struct upmu_sync_opts plain = {.size = sizeof plain, .trace = dir};

START_TEST(after_the_end_a_release_finds_its_lock)
{
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(upmu_sync_begin(&plain), 0);
    pthread_mutex_lock(&mutex);
    ck_assert_int_eq(upmu_sync_end(), 0);
    ck_assert_uint_eq(sync_tls.thread->depth, 1);
    ck_assert_uint_ne(sync_gate.held, 0);
    pthread_mutex_unlock(&mutex);
    ck_assert_uint_eq(sync_tls.thread->depth, 0);
    nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
END_TEST

/* A call that saw the recording, and acquires its lock once it has ended. */
static void acquire_late(void)
{
    pthread_mutex_lock(&mutex);
    sync_held_push(sync_tls.thread, (uintptr_t)&mutex, (uintptr_t)&own, tick_now(), HELD_QUIET);
}

START_TEST(after_the_end_a_late_acquisition_is_released)
{
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(upmu_sync_begin(&plain), 0);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    ck_assert_int_eq(upmu_sync_end(), 0);
    if (upmu_recorder_filters_() == 0) /* else it is not known whether the kernel's barrier may be called */
        ck_assert_uint_eq(sync_gate.held, 0);
    acquire_late();
    ck_assert_uint_ne(sync_gate.held, 0);
    pthread_mutex_unlock(&mutex);
    ck_assert_uint_eq(sync_tls.thread->depth, 0);

    ck_assert_int_eq(upmu_sync_begin(&plain), 0); /* with what a late one may leave behind */
    pthread_mutex_lock(&mutex);
    ck_assert_uint_eq(sync_tls.thread->depth, 1);
    ck_assert_uint_ne(sync_tls.thread->origins[0].since, 0);
    pthread_mutex_unlock(&mutex);
    ck_assert_int_eq(upmu_sync_end(), 0);
    nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
END_TEST

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t locked, ended;
static bool woken;

/* Holds the mutex over the end of a recording, and waits with it into the next one. */
static void *wait_into_next(void *depth)
{
    pthread_mutex_lock(&mutex);
    sem_post(&locked);
    while (sem_wait(&ended) != 0) {
    }
    while (!woken)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
    *(uint32_t *)depth = sync_tls.thread->depth;
    return depth;
}

START_TEST(a_wait_between_two_recordings_releases_its_mutex)
{
    pthread_t waiter;
    uint32_t depth = UINT32_MAX;
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(sem_init(&locked, 0, 0), 0);
    ck_assert_int_eq(sem_init(&ended, 0, 0), 0);
    ck_assert_int_eq(upmu_sync_begin(&plain), 0);
    ck_assert_int_eq(pthread_create(&waiter, NULL, wait_into_next, &depth), 0);
    while (sem_wait(&locked) != 0) {
    }
    ck_assert_int_eq(upmu_sync_end(), 0);
    sem_post(&ended);
    pthread_mutex_lock(&mutex); /* once the other thread waits */
    ck_assert_int_eq(upmu_sync_begin(&plain), 0);
    woken = true;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    ck_assert_int_eq(pthread_join(waiter, NULL), 0);
    ck_assert_uint_eq(depth, 0);
    ck_assert_int_eq(upmu_sync_end(), 0);
    nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
END_TEST

enum { WORKERS = 2, RECORDINGS = 300 };
static bool over;
static uint32_t entries_left;

/* A thread that has released its only lock holds none, whenever recordings begin and end. */
static void *work(void *arg)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
        const struct sync_thread *t = sync_tls.thread;
        if (t && t->depth != 0)
            __atomic_fetch_add(&entries_left, 1, __ATOMIC_RELAXED);
    }
    return arg;
}

START_TEST(ends_leave_no_lock_among_those_held)
{
    pthread_t workers[WORKERS];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    for (int i = 0; i < WORKERS; i++)
        ck_assert_int_eq(pthread_create(&workers[i], NULL, work, NULL), 0);
    for (int i = 0; i < RECORDINGS; i++) {
        ck_assert_int_eq(upmu_sync_begin(&plain), 0);
        usleep((useconds_t)i);
        ck_assert_int_eq(upmu_sync_end(), 0);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < WORKERS; i++)
        ck_assert_int_eq(pthread_join(workers[i], NULL), 0);
    ck_assert_uint_eq(entries_left, 0);
    nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("releases");
    tcase_add_test(cases, a_late_waiter_for_another_lock_hides_no_release);
    tcase_add_test(cases, after_the_end_a_release_finds_its_lock);
    tcase_add_test(cases, after_the_end_a_late_acquisition_is_released);
    tcase_add_test(cases, a_wait_between_two_recordings_releases_its_mutex);
    tcase_add_test(cases, ends_leave_no_lock_among_those_held);
    return run_suite("releases", cases);
}
