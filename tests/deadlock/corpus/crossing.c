/* SPDX-License-Identifier: MIT */
/* Deadlock cases in unusual code: signal handlers, destructors, exit, rwlocks, waits with locks held. */
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, d = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem, full;
static struct dl_meeting meeting;

static void *b_then_a(void *arg)
{
    MUST(pthread_mutex_lock(&b));
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&a));
    return arg;
}

/* ---------------------------------------------------------------- where a thread, a handler, or the program ends */

static void lock_both(void *arg)
{
    (void)arg;
    MUST(pthread_mutex_lock(&a));
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&b));
}

static pthread_key_t key;

static void *end_with_destructor(void *arg)
{
    MUST(pthread_setspecific(key, &key));
    return arg;
}

static void cross_in_destructor(void)
{
    MUST(pthread_key_create(&key, lock_both));
    dl_both(end_with_destructor, b_then_a);
}

static void lock_b(void *arg)
{
    (void)arg;
    MUST(pthread_mutex_lock(&b));
}

static void *end_with_cleanup(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    dl_meet(&meeting, 2);
    pthread_cleanup_push(lock_b, NULL);
    pthread_exit(arg);
    pthread_cleanup_pop(0);
}

static void cross_in_cleanup(void)
{
    dl_both(end_with_cleanup, b_then_a);
}

static void lock_a_again(void)
{
    MUST(pthread_mutex_lock(&a));
}

static void self_at_exit(void)
{
    MUST(atexit(lock_a_again));
    MUST(pthread_mutex_lock(&a));
    exit(0);
}

static void handle(int sig)
{
    (void)sig;
    lock_a_again();
}

static void self_in_handler(void)
{
    struct sigaction action = {.sa_handler = handle};
    MUST(sigaction(SIGUSR1, &action, NULL));
    MUST(pthread_mutex_lock(&a));
    MUST(raise(SIGUSR1));
}

static void unlock_a(void)
{
    MUST(pthread_mutex_unlock(&a));
}

/* The handlers of fork() forget the child. */
static void self_in_child_after_fork(void)
{
    MUST(pthread_atfork(lock_a_again, unlock_a, NULL));
    pid_t pid = fork();
    if (pid == 0)
        lock_a_again();
    (void)waitpid(pid, NULL, 0);
}

static void *wait_with_a(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    dl_meet(&meeting, 2);
    MUST(pthread_cond_wait(&c, &a));
    return arg;
}

/* The wait takes the mutex again before the thread ends. */
static void owner_cancelled_in_cond_wait(void)
{
    pthread_t t = dl_start(wait_with_a, NULL);
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&a)); /* it waits by now */
    MUST(pthread_mutex_unlock(&a));
    MUST(pthread_cancel(t));
    MUST(pthread_join(t, NULL));
    MUST(pthread_mutex_lock(&a));
}

static void *keep_a(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    return arg;
}

static void self_after_recovery(void)
{
    pthread_mutexattr_t attr;
    MUST(pthread_mutexattr_init(&attr));
    MUST(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST));
    MUST(pthread_mutex_init(&a, &attr));
    MUST(pthread_join(dl_start(keep_a, NULL), NULL));
    (void)pthread_mutex_lock(&a); /* EOWNERDEAD */
    MUST(pthread_mutex_consistent(&a));
    MUST(pthread_mutex_lock(&a));
}

/* ------------------------------------------------------------------------------------------------- many at a lock */

static void *read_for_a_while(void *arg)
{
    MUST(pthread_rwlock_rdlock(&r));
    dl_meet(&meeting, 6);
    dl_rest(50);
    MUST(pthread_rwlock_unlock(&r));
    return arg;
}

static void *read_and_sleep(void *arg)
{
    MUST(pthread_rwlock_rdlock(&r));
    dl_meet(&meeting, 6);
    for (;;)
        dl_rest(1000);
    return arg;
}

static void *read_then_a(void *arg)
{
    MUST(pthread_rwlock_rdlock(&r));
    dl_meet(&meeting, 6);
    MUST(pthread_mutex_lock(&a));
    return arg;
}

static void *a_then_write(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    dl_meet(&meeting, 6);
    MUST(pthread_rwlock_wrlock(&r));
    return arg;
}

/* Of five readers three leave and one sleeps: what counts is the one that waits for the writer. */
static void rw_one_reader_of_many(void)
{
    for (int i = 0; i < 3; i++)
        dl_start(read_for_a_while, NULL);
    dl_start(read_and_sleep, NULL);
    dl_both(read_then_a, a_then_write);
}

static void *a_then_read_late(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    dl_meet(&meeting, 3);
    dl_rest(100); /* until the writer waits */
    MUST(pthread_rwlock_rdlock(&r));
    return arg;
}

static void *read_then_a_late(void *arg)
{
    MUST(pthread_rwlock_rdlock(&r));
    dl_meet(&meeting, 3);
    MUST(pthread_mutex_lock(&a));
    return arg;
}

static void *write_between(void *arg)
{
    dl_meet(&meeting, 3);
    MUST(pthread_rwlock_wrlock(&r));
    return arg;
}

/* Two readers and a mutex would do each other nothing, were it not for the writer that waits between them. */
static void rw_readers_around_writer(void)
{
    pthread_rwlockattr_t attr;
    MUST(pthread_rwlockattr_init(&attr));
    MUST(pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP));
    MUST(pthread_rwlock_init(&r, &attr));
    dl_start(write_between, NULL);
    dl_both(read_then_a_late, a_then_read_late);
}

/* One joins a thread that waits for a lock of one that waits for a lock of the first. */
static void *b_then_wait_for_a(void *arg)
{
    MUST(pthread_mutex_lock(&b));
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&a));
    return arg;
}

static void *want_b(void *arg)
{
    MUST(pthread_mutex_lock(&b));
    return arg;
}

static void join_across_two_locks(void)
{
    MUST(pthread_mutex_lock(&a));
    dl_start(b_then_wait_for_a, NULL);
    dl_meet(&meeting, 2);
    MUST(pthread_join(dl_start(want_b, NULL), NULL));
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void initialise(void)
{
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&a));
}

static void *run_once(void *arg)
{
    MUST(pthread_once(&once, initialise));
    return arg;
}

static void *a_then_once(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    dl_meet(&meeting, 2);
    MUST(pthread_once(&once, initialise));
    return arg;
}

static void once_and_mutex_cross(void)
{
    dl_both(run_once, a_then_once);
}

enum { PHILOSOPHERS = 5 };
static sem_t forks[PHILOSOPHERS];

static void *dine(void *arg)
{
    uintptr_t i = (uintptr_t)arg;
    MUST(sem_wait(&forks[i]));
    dl_meet(&meeting, PHILOSOPHERS);
    MUST(sem_wait(&forks[(i + 1) % PHILOSOPHERS]));
    return NULL;
}

static void sem_philosophers(void)
{
    pthread_t t[PHILOSOPHERS];
    for (int i = 0; i < PHILOSOPHERS; i++)
        MUST(sem_init(&forks[i], 0, 1));
    for (uintptr_t i = 0; i < PHILOSOPHERS; i++)
        t[i] = dl_start(dine, (void *)i);
    for (int i = 0; i < PHILOSOPHERS; i++)
        MUST(pthread_join(t[i], NULL));
}

/* ----------------------------------------------------------------------------------------------- no waker is left */

static int ready, at_wait;

static void *await_ready(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    at_wait++;
    while (ready == 0)
        MUST(pthread_cond_wait(&c, &a));
    ready--;
    MUST(pthread_mutex_unlock(&a));
    return arg;
}

/* Two wait, and one is signalled. */
static void cond_one_signal_for_two(void)
{
    pthread_t s = dl_start(await_ready, NULL), t = dl_start(await_ready, NULL);
    for (int both = 0; both < 2; dl_rest(1)) {
        MUST(pthread_mutex_lock(&a));
        both = at_wait;
        MUST(pthread_mutex_unlock(&a));
    }
    MUST(pthread_mutex_lock(&a));
    ready = 1;
    MUST(pthread_cond_signal(&c));
    MUST(pthread_mutex_unlock(&a));
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

static void *arrive_locked(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    (void)pthread_barrier_wait(&barrier);
    MUST(pthread_mutex_unlock(&a));
    return arg;
}

/* The other one who is to come waits for the lock of the one who has come. */
static void barrier_within_lock(void)
{
    MUST(pthread_barrier_init(&barrier, NULL, 2));
    dl_both(arrive_locked, arrive_locked);
}

static void *arrive_twice(void *arg)
{
    for (int i = 0; i < 2; i++)
        (void)pthread_barrier_wait(&barrier);
    return arg;
}

static void *arrive_three_times(void *arg)
{
    for (int i = 0; i < 3; i++)
        (void)pthread_barrier_wait(&barrier);
    return arg;
}

static void barrier_once_too_often(void)
{
    MUST(pthread_barrier_init(&barrier, NULL, 2));
    dl_both(arrive_twice, arrive_three_times);
}

static void *take_two(void *arg)
{
    MUST(sem_wait(&sem));
    dl_meet(&meeting, 2);
    MUST(sem_wait(&sem));
    return arg;
}

/* Two of two are taken, and each wants another one. */
static void sem_two_for_two_each(void)
{
    MUST(sem_init(&sem, 0, 2));
    dl_both(take_two, take_two);
}

static void *produce_locked(void *arg)
{
    for (;;) {
        MUST(pthread_mutex_lock(&a));
        MUST(sem_wait(&sem));
        MUST(sem_post(&full));
        MUST(pthread_mutex_unlock(&a));
    }
    return arg;
}

static void *consume_locked(void *arg)
{
    for (;;) {
        MUST(sem_wait(&full));
        MUST(pthread_mutex_lock(&a));
        MUST(sem_post(&sem));
        MUST(pthread_mutex_unlock(&a));
    }
    return arg;
}

/* The producer waits for free space with the lock that the consumer needs. */
static void sem_space_awaited_in_lock(void)
{
    MUST(sem_init(&sem, 0, 1));
    MUST(sem_init(&full, 0, 0));
    dl_both(produce_locked, consume_locked);
}

static void *want_a(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    return arg;
}

/* The join is a part of it, through a spin lock and a thread between. */
static pthread_spinlock_t spin;

static void *spin_then_a(void *arg)
{
    MUST(pthread_spin_lock(&spin));
    dl_meet(&meeting, 2);
    return want_a(arg);
}

static void *want_spin(void *arg)
{
    MUST(pthread_mutex_lock(&d));
    MUST(pthread_spin_lock(&spin));
    return arg;
}

static void spin_mutex_and_join(void)
{
    MUST(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
    MUST(pthread_mutex_lock(&a));
    dl_start(spin_then_a, NULL);
    dl_meet(&meeting, 2);
    MUST(pthread_join(dl_start(want_spin, NULL), NULL));
}

const struct dl_case cases_crossing[] = {
    {"cross_in_destructor", cross_in_destructor},
    {"cross_in_cleanup", cross_in_cleanup},
    {"self_at_exit", self_at_exit},
    {"self_in_handler", self_in_handler},
    {"self_in_child_after_fork", self_in_child_after_fork},
    {"owner_cancelled_in_cond_wait", owner_cancelled_in_cond_wait},
    {"self_after_recovery", self_after_recovery},
    {"rw_one_reader_of_many", rw_one_reader_of_many},
    {"rw_readers_around_writer", rw_readers_around_writer},
    {"join_across_two_locks", join_across_two_locks},
    {"once_and_mutex_cross", once_and_mutex_cross},
    {"sem_philosophers", sem_philosophers},
    {"cond_one_signal_for_two", cond_one_signal_for_two},
    {"barrier_within_lock", barrier_within_lock},
    {"barrier_once_too_often", barrier_once_too_often},
    {"sem_two_for_two_each", sem_two_for_two_each},
    {"sem_space_awaited_in_lock", sem_space_awaited_in_lock},
    {"spin_mutex_and_join", spin_mutex_and_join},
    {NULL, NULL},
};
