/* SPDX-License-Identifier: MIT */
/*
 * The critical path of waits that do not end as usual.
 *
 * jumps: signal handlers jump out of waits; jumps_before: before the recording. The thread's later waits are on the path. signal: a thread
 * that was woken at a condition variable waits for the mutex, which the one that woke it still holds.
 */
#include "read_object.h"

#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>

#include "upmu/analysis.h"

static sigjmp_buf back;
static pthread_t main_thread;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pid_t waiter;
static int held, over;

static void jump(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

/* Until the thread sleeps in a system call whose first argument is in this object. */
static void until_it_waits_for(pid_t tid, const void *object, size_t size)
{
    char path[64], text[256];
    unsigned long at = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)tid);
    do {
        usleep(1000);
        FILE *f = fopen(path, "r");
        bool read = f && fgets(text, sizeof text, f);
        if (f)
            fclose(f);
        if (!read) {
            printf("skipped, because %s cannot be read\n", path);
            exit(77);
        }
    } while (sscanf(text, "%*d %lx", &at) != 1 || at - (uintptr_t)object >= size);
}

static void until_set(const int *step)
{
    while (!__atomic_load_n(step, __ATOMIC_ACQUIRE))
        usleep(1000);
}

/* How the mutex is part of the process's path. */
static struct upmu_overview_path_object mutex_on_path(void)
{
    struct upmu_overview *o;
    struct upmu_overview_path_object l = {.size = sizeof l}, found = {0};
    struct upmu_overview_object x = {.size = sizeof x};
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    for (size_t i = 0; upmu_overview_path_object_at(o, 0, i, &l) == 0; i++) {
        CHECK(upmu_overview_object_at(o, l.object, &x) == 0);
        if (x.address == (uintptr_t)&m)
            found = l;
    }
    upmu_overview_close(o);
    return found;
}

/* ------------------------------------------------------------------------------------------------------ jumps */

enum { THREAD_SIZE = 2048 }; /* about; what a pthread_t refers to */

static void *interrupt(void *object)
{
    until_it_waits_for(getpid(), object, THREAD_SIZE);
    CHECK(pthread_kill(main_thread, SIGUSR1) == 0);
    return NULL;
}

static void *sleep_until_over(void *arg)
{
    until_set(&over);
    return arg;
}

static void *hold(void *arg)
{
    lock(&m);
    __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
    until_it_waits_for(getpid(), &m, sizeof m);
    unlock(&m);
    return arg;
}

/* Two waits in a row that each end by a jump. */
static void leave_waits(void)
{
    pthread_t sleeper, interrupter;
    sem_t s;
    CHECK(sem_init(&s, 0, 0) == 0);
    CHECK(pthread_create(&sleeper, NULL, sleep_until_over, NULL) == 0);
    for (volatile int i = 0; i < 2; i++) {
        CHECK(pthread_create(&interrupter, NULL, interrupt, i ? (void *)sleeper : &s) == 0);
        if (sigsetjmp(back, 1) == 0) {
            CHECK((i ? pthread_join(sleeper, NULL) : sem_wait(&s)) == 0);
            CHECK(false); /* the wait is left by a jump */
        }
        CHECK(pthread_join(interrupter, NULL) == 0);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    CHECK(pthread_join(sleeper, NULL) == 0);
}

static void wait_after_jumps(bool before)
{
    struct sigaction action = {.sa_handler = jump};
    pthread_t holder;
    main_thread = pthread_self();
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    if (before)
        leave_waits();
    begin(UPMU_SYNC_HOLDERS);
    if (!before)
        leave_waits();
    CHECK(pthread_create(&holder, NULL, hold, NULL) == 0);
    until_set(&held);
    lock(&m);
    unlock(&m);
    CHECK(pthread_join(holder, NULL) == 0);
    end();
    struct seen s = read_object(&m);
    CHECK(s.kind[UPMU_TRACE_LOCK_BLOCK] == 1 && s.kind[UPMU_TRACE_LOCK_ACQUIRED] == 1);
    /* The holder runs on the path meanwhile, and wakes the main thread by its release, or by its end. */
    CHECK(mutex_on_path().held_ns >= s.release_time - s.block_time);
}

/* ------------------------------------------------------------------------------------------------------ signal */

static void *wait_for_signal(void *arg)
{
    lock(&m);
    __atomic_store_n(&waiter, gettid(), __ATOMIC_RELEASE);
    CHECK(pthread_cond_wait(&c, &m) == 0); /* no spurious wake is known of glibc's and musl's */
    unlock(&m);
    return arg;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void hold_after_signal(void)
{
    enum { PERCENT = 98 }; /* of two clocks */
    pthread_t t;
    begin(UPMU_SYNC_HOLDERS);
    CHECK(pthread_create(&t, NULL, wait_for_signal, NULL) == 0);
    until_set(&waiter);
    until_it_waits_for(waiter, &c, sizeof c);
    lock(&m);
    CHECK(pthread_cond_signal(&c) == 0);
    uint64_t since = now_ns();
    until_it_waits_for(waiter, &m, sizeof m);
    usleep(10000);
    uint64_t ns = now_ns() - since;
    unlock(&m);
    CHECK(pthread_join(t, NULL) == 0);
    end();
    struct seen s = read_object(&m);
    CHECK(s.kind[UPMU_TRACE_LOCK_RELEASE] >= 1 && s.release_since != 0);
    CHECK(mutex_on_path().held_ns >= ns / 100 * PERCENT);
}

int main(int argc, char **argv)
{
    if (UNDER_THREAD_SANITIZER) {
        puts("skipped, because ThreadSanitizer delays signals, and does not follow jumps out of their handlers");
        return 77;
    }
    CHECK(argc == 2 && mkdtemp(dir));
    if (strcmp(argv[1], "signal") == 0)
        hold_after_signal();
    else
        wait_after_jumps(strcmp(argv[1], "jumps_before") == 0);
    return remove_recording();
}
