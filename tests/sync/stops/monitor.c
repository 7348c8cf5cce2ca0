/* SPDX-License-Identifier: MIT */
/*
 * The monitor of a recording that is stopped and started, and of a wait that a thread left by siglongjmp().
 *
 * One thread waits from before a stop to after it, one ends its wait in the stop: neither waits meanwhile.
 */
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>

#include "../read_object.h"

#include "upmu/control.h"
#include "upmu/monitor.h"

enum { STOPPED_US = 100000 };

static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER, freed = PTHREAD_MUTEX_INITIALIZER,
                       used = PTHREAD_MUTEX_INITIALIZER;
static sem_t never;
static int acquired, left, over;
static pid_t tids[3];
static struct upmu_monitor *monitor;
static sigjmp_buf before_wait;

static void until_set(const int *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        usleep(1000);
}

static void set(int *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

static void *wait_over_stop(void *arg)
{
    tids[0] = gettid();
    lock(&kept);
    unlock(&kept);
    return arg;
}

static void *wait_into_stop(void *arg)
{
    tids[1] = gettid();
    lock(&freed);
    set(&acquired);
    until_set(&over);
    unlock(&freed);
    return arg;
}

static void leave(int signal)
{
    (void)signal;
    siglongjmp(before_wait, 1);
}

static void *leave_wait(void *arg)
{
    tids[2] = gettid();
    if (sigsetjmp(before_wait, 1) == 0)
        (void)sem_wait(&never);
    lock(&used);
    unlock(&used);
    usleep(1000); /* its next wait: the thread has left the first one */
    set(&left);
    until_set(&over);
    return arg;
}

static struct upmu_monitor_totals update(void)
{
    struct upmu_monitor_totals t = {.size = sizeof t};
    CHECK(upmu_monitor_update(monitor) == 0 && upmu_monitor_totals_read(monitor, &t) == 0);
    return t;
}

static struct upmu_monitor_thread thread_at(pid_t tid)
{
    struct upmu_monitor_thread t = {.size = sizeof t};
    for (size_t i = 0; upmu_monitor_thread_at(monitor, i, &t) == 0; i++)
        if (t.tid == tid)
            return t;
    CHECK(0 && "the thread is shown");
    return t;
}

static struct upmu_monitor_lock lock_at(const void *address)
{
    struct upmu_monitor_lock l = {.size = sizeof l};
    for (size_t i = 0; upmu_monitor_lock_at(monitor, i, &l) == 0; i++)
        if (l.address == (uintptr_t)address)
            return l;
    return (struct upmu_monitor_lock){0};
}

static void check_stop(void)
{
    struct upmu_control *control;
    pthread_t over_stop, into_stop;
    CHECK(upmu_control_open(&control, dir) == 0);
    lock(&kept);
    lock(&freed);
    CHECK(pthread_create(&over_stop, NULL, wait_over_stop, NULL) == 0);
    CHECK(pthread_create(&into_stop, NULL, wait_into_stop, NULL) == 0);
    until_blocked(&kept, 1);
    until_blocked(&freed, 1);
    CHECK(upmu_control_stop(control, 0) == 0);
    unlock(&freed);
    until_set(&acquired);
    CHECK(update().n_stopped == 1);
    uint64_t before = lock_at(&kept).total_ns;
    CHECK(before > 0 && lock_at(&kept).waiters == 1);
    CHECK(lock_at(&freed).waiters == 0 && thread_at(tids[1]).wait_kind == -1);
    usleep(STOPPED_US);
    struct upmu_monitor_totals t = update();
    struct upmu_monitor_thread w = thread_at(tids[0]);
    CHECK(w.stopped_ns == t.interval_ns && w.waited_ns == 0 && w.wait_kind == UPMU_WAIT_MUTEX);
    CHECK(t.now_ns - w.since_ns >= t.interval_ns && lock_at(&kept).total_ns == before);
    CHECK(upmu_control_start(control, 0) == 0);
    CHECK(update().n_stopped == 0);
    w = thread_at(tids[0]);
    CHECK(w.wait_kind == UPMU_WAIT_MUTEX && w.waited_ns <= t.interval_ns);
    CHECK(thread_at(tids[1]).wait_kind == -1 || thread_at(tids[1]).object != (uintptr_t)&freed);
    unlock(&kept);
    set(&over);
    CHECK(pthread_join(over_stop, NULL) == 0 && pthread_join(into_stop, NULL) == 0);
    t = update();
    CHECK(lock_at(&kept).waiters == 0 && lock_at(&kept).waits == 1);
    CHECK(lock_at(&kept).total_ns + STOPPED_US * UINT64_C(1000) < t.now_ns - w.since_ns);
    upmu_control_close(control);
}

static void check_left(void)
{
    pthread_t leaves;
    struct sigaction jump = {.sa_handler = leave};
    over = 0;
    CHECK(sem_init(&never, 0, 0) == 0 && sigaction(SIGUSR1, &jump, NULL) == 0);
    CHECK(pthread_create(&leaves, NULL, leave_wait, NULL) == 0);
    do
        update();
    while (lock_at(&never).waiters == 0);
    CHECK(thread_at(tids[2]).object == (uintptr_t)&never);
    CHECK(pthread_kill(leaves, SIGUSR1) == 0);
    until_set(&left);
    update();
    struct upmu_monitor_thread t = thread_at(tids[2]);
    CHECK(lock_at(&never).waiters == 0 && (t.wait_kind == -1 || t.object != (uintptr_t)&never));
    set(&over);
    CHECK(pthread_join(leaves, NULL) == 0);
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    begin(UPMU_SYNC_ALL);
    CHECK(upmu_monitor_open(&monitor, dir) == 0);
    (void)update();
    check_stop();
    if (!UNDER_THREAD_SANITIZER) /* its own sem_wait() is not made to be left */
        check_left();
    upmu_monitor_close(monitor);
    end();
    return remove_recording();
}
