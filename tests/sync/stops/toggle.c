/* SPDX-License-Identifier: MIT */
/*
 * Stopping and starting recording three thousand times while threads compete for locks.
 *
 * Each acquisition while it is on is an event, none while it is off; no hold is lost or permanent; no event is lost, and no
 * call is reported as misuse.
 */
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

#include "../read_object.h"

#include "upmu/analysis.h"
#include "upmu/control.h"

enum { ROUNDS = 3000, PAIRS = 5, WORKERS = 3, ROUNDS_OF_WORKERS = 30 };

static pthread_mutex_t mine = PTHREAD_MUTEX_INITIALIZER, first = PTHREAD_MUTEX_INITIALIZER,
                       second = PTHREAD_MUTEX_INITIALIZER, kept = PTHREAD_MUTEX_INITIALIZER,
                       unseen = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t slots;
static unsigned rounds;
static int over;
static int budget; /* rounds of the workers; without a limit a slow main thread records millions of events */

static void *work(void *arg)
{
    uintptr_t number = (uintptr_t)arg;
    for (unsigned i = 0; !__atomic_load_n(&over, __ATOMIC_ACQUIRE); i++) {
        while (__atomic_load_n(&budget, __ATOMIC_RELAXED) <= 0 && !__atomic_load_n(&over, __ATOMIC_ACQUIRE))
            sched_yield();
        __atomic_fetch_sub(&budget, 1, __ATOMIC_RELAXED);
        lock(&first);
        rounds++;
        if (i % 8 == number)
            CHECK(pthread_cond_broadcast(&changed) == 0);
        if (i % 64 == number && rounds % 2 && !__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
            struct timespec until;
            CHECK(clock_gettime(CLOCK_REALTIME, &until) == 0);
            int rc = pthread_cond_timedwait(&changed, &first, &until);
            CHECK(rc == 0 || rc == ETIMEDOUT);
        }
        lock(&second);
        unlock(&second);
        unlock(&first);
        CHECK((i % 4 ? pthread_rwlock_rdlock(&shared) : pthread_rwlock_wrlock(&shared)) == 0);
        CHECK(pthread_rwlock_unlock(&shared) == 0);
        /* ThreadSanitizer's own sem_wait() precedes ours, and within it reports ordered accesses as races. */
        if (!UNDER_THREAD_SANITIZER) {
            CHECK(sem_wait(&slots) == 0);
            CHECK(sem_post(&slots) == 0);
        }
    }
    return NULL;
}

static void *wait_for(void *object)
{
    lock(object);
    unlock(object);
    return NULL;
}

/* Of the C++ library. */
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
int __cxa_guard_acquire(int64_t *guard);
void __cxa_guard_release(int64_t *guard);
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

static int64_t unseen_guard;

static void *wait_for_guard(void *arg)
{
    CHECK(__cxa_guard_acquire(&unseen_guard) == 0);
    return arg;
}

/* Acquired while it is off: the library's wakeup belongs to the release then, too. */
static void guards(const struct upmu_control *control)
{
    pthread_t waiter;
    CHECK(upmu_control_stop(control, 0) == 0);
    CHECK(__cxa_guard_acquire(&unseen_guard) == 1);
    CHECK(upmu_control_start(control, 0) == 0);
    CHECK(pthread_create(&waiter, NULL, wait_for_guard, NULL) == 0);
    until_blocked(&unseen_guard, 1);
    __cxa_guard_release(&unseen_guard);
    CHECK(pthread_join(waiter, NULL) == 0);
}

static void pairs(void)
{
    for (int i = 0; i < PAIRS; i++) {
        lock(&mine);
        unlock(&mine);
    }
}

static void toggle(const struct upmu_control *control)
{
    static const int modes[] = {UPMU_SYNC_CONTENDED, UPMU_SYNC_COUNTS, UPMU_SYNC_HOLDERS};

    lock(&kept);
    for (int i = 0; i < ROUNDS; i++) {
        __atomic_fetch_add(&budget, ROUNDS_OF_WORKERS, __ATOMIC_RELAXED);
        pairs();
        CHECK(upmu_control_stop(control, 0) == 0);
        if (i == ROUNDS / 2)
            lock(&unseen);
        pairs();
        CHECK(upmu_control_start(control, 0) == 0);
        if (i % 10 == 0) {
            CHECK(upmu_control_set_mode(control, 0, modes[i / 10 % 3]) == 0);
            CHECK(upmu_sync_set_mode(UPMU_SYNC_ALL) == modes[i / 10 % 3]);
        }
    }
    pthread_t one, other;
    CHECK(pthread_create(&one, NULL, wait_for, &kept) == 0);
    CHECK(pthread_create(&other, NULL, wait_for, &unseen) == 0);
    until_blocked(&kept, 1);
    until_blocked(&unseen, 1);
    unlock(&kept);
    unlock(&unseen);
    CHECK(pthread_join(one, NULL) == 0);
    CHECK(pthread_join(other, NULL) == 0);
}

static void check_whole(void)
{
    struct upmu_overview *o;
    struct upmu_overview_totals totals = {.size = sizeof totals};
    struct upmu_overview_object object = {.size = sizeof object};
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    CHECK(upmu_overview_totals_read(o, &totals) == 0);
    CHECK(totals.lost == 0 && totals.n_damages == 0);
    for (size_t i = 0; upmu_overview_object_at(o, i, &object) == 0; i++)
        CHECK(object.misuses == 0);
    upmu_overview_close(o);
}

int main(void)
{
    pthread_t workers[WORKERS];
    struct upmu_control *control;

    CHECK(mkdtemp(dir) != NULL);
    CHECK(sem_init(&slots, 0, 2) == 0);
    begin(UPMU_SYNC_ALL);
    CHECK(upmu_control_open(&control, dir) == 0);
    for (uintptr_t i = 0; i < WORKERS; i++)
        CHECK(pthread_create(&workers[i], NULL, work, (void *)i) == 0);
    toggle(control);
    if (!UNDER_THREAD_SANITIZER) /* its own functions for guards precede ours, too */
        guards(control);
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < WORKERS; i++)
        CHECK(pthread_join(workers[i], NULL) == 0);
    upmu_control_close(control);
    end();

    struct seen s = read_object(&mine);
    CHECK(s.kind[UPMU_TRACE_LOCK_ACQUIRE] == ROUNDS * PAIRS);
    CHECK(s.kind[UPMU_TRACE_LOCK_RELEASE] == ROUNDS * PAIRS);
    CHECK(s.counted == ROUNDS * PAIRS && s.contended == 0);

    s = read_object(&kept);
    CHECK(s.kind[UPMU_TRACE_LOCK_BLOCK] == 1 && s.block.lock_block.holder == getpid());
    CHECK(s.block.lock_block.holder_site != 0 && s.block.lock_block.holder_since == s.acquire_time);
    s = read_object(&unseen);
    CHECK(s.kind[UPMU_TRACE_LOCK_BLOCK] == 1 && s.block.lock_block.holder == getpid());
    CHECK(s.block.lock_block.holder_since == 0 && s.misuse_result == 0);
    s = read_object(&unseen_guard);
    unsigned waits = UNDER_THREAD_SANITIZER ? 0 : 1;
    CHECK(s.kind[UPMU_TRACE_LOCK_BLOCK] == waits && s.kind[UPMU_TRACE_LOCK_ACQUIRED] == waits);
    CHECK(s.kind[UPMU_TRACE_FUTEX_WAKE] == 0);

    check_whole();
    return remove_recording();
}
