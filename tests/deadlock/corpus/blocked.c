/* SPDX-License-Identifier: MIT */
/* Deadlock cases other than cycles of locks: own lock, ended holder, joins, missing wakeups. */
#include <semaphore.h>
#include <stdint.h>

#include "cases.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t sems[2];
static pthread_barrier_t barrier;
static struct dl_meeting meeting;

/* -------------------------------------------------------------------------------------------------- one's own lock */

static void self_lock(void)
{
    MUST(pthread_mutex_lock(&m));
    MUST(pthread_mutex_lock(&m));
}

static void self_after_try(void)
{
    MUST(pthread_mutex_trylock(&m));
    MUST(pthread_mutex_lock(&m));
}

static void *self_thread(void *arg)
{
    self_lock();
    return arg;
}

static void self_beside_work(void)
{
    dl_start(self_thread, NULL);
    for (;;)
        dl_rest(20);
}

/* -------------------------------------------------------------------------------------------------- ended holders */

static void *take(void *arg)
{
    MUST(pthread_mutex_lock(&m));
    return arg;
}

static void owner_returned(void)
{
    MUST(pthread_join(dl_start(take, NULL), NULL));
    MUST(pthread_mutex_lock(&m));
}

static void *take_and_exit(void *arg)
{
    MUST(pthread_mutex_lock(&m));
    pthread_exit(arg);
}

static void owner_exited(void)
{
    MUST(pthread_join(dl_start(take_and_exit, NULL), NULL));
    MUST(pthread_mutex_lock(&m));
}

static void *take_and_sleep(void *arg)
{
    MUST(pthread_mutex_lock(&m));
    dl_meet(&meeting, 2);
    for (;;)
        dl_rest(1000);
    return arg;
}

static void owner_cancelled(void)
{
    pthread_t t = dl_start(take_and_sleep, NULL);
    dl_meet(&meeting, 2);
    MUST(pthread_cancel(t));
    MUST(pthread_join(t, NULL));
    MUST(pthread_mutex_lock(&m));
}

/* ---------------------------------------------------------------------------------------------------------- joins */

static pthread_t joiners[3];

static void *join_next(void *arg)
{
    uintptr_t me = (uintptr_t)arg;
    dl_meet(&meeting, 4);
    MUST(pthread_join(joiners[(me + 1) % 3], NULL));
    return NULL;
}

static void join_ring(void)
{
    for (uintptr_t i = 0; i < 3; i++)
        joiners[i] = dl_start(join_next, (void *)i);
    dl_meet(&meeting, 4);
    for (;;)
        dl_rest(20);
}

static void join_with_its_lock(void)
{
    MUST(pthread_mutex_lock(&m));
    pthread_t t = dl_start(take, NULL);
    MUST(pthread_join(t, NULL));
}

/* ------------------------------------------------------------------------------------- posts, signals, arrivals */

static void *wait_sem(void *arg)
{
    MUST(sem_wait(arg));
    return NULL;
}

static void sem_nobody_posts(void)
{
    MUST(sem_init(&sems[0], 0, 0));
    pthread_t t = dl_start(wait_sem, &sems[0]);
    MUST(pthread_join(t, NULL));
}

/* Two semaphores used as locks, taken in opposite orders. */
static void *take_sems(void *arg)
{
    uintptr_t first = (uintptr_t)arg;
    MUST(sem_wait(&sems[first]));
    dl_meet(&meeting, 2);
    MUST(sem_wait(&sems[1 - first]));
    return NULL;
}

static void sem_crossed(void)
{
    MUST(sem_init(&sems[0], 0, 1));
    MUST(sem_init(&sems[1], 0, 1));
    pthread_t s = dl_start(take_sems, (void *)0), t = dl_start(take_sems, (void *)1);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

static void *wait_cond(void *arg)
{
    MUST(pthread_mutex_lock(&m));
    for (;;)
        MUST(pthread_cond_wait(&c, &m));
    return arg;
}

/* The signal came before a thread waited. */
static void cond_signal_lost(void)
{
    MUST(pthread_cond_signal(&c));
    pthread_t t = dl_start(wait_cond, NULL);
    MUST(pthread_join(t, NULL));
}

static void cond_all_wait(void)
{
    for (int i = 0; i < 3; i++)
        dl_start(wait_cond, NULL);
    wait_cond(NULL);
}

/* The thread that should signal needs a lock that the waiter holds. */
static void *wait_keeping_outer(void *arg)
{
    MUST(pthread_mutex_lock(&outer));
    MUST(pthread_mutex_lock(&m));
    dl_meet(&meeting, 2);
    MUST(pthread_cond_wait(&c, &m));
    return arg;
}

static void *signal_with_outer(void *arg)
{
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&outer));
    MUST(pthread_cond_signal(&c));
    return arg;
}

static void cond_outer_kept(void)
{
    pthread_t s = dl_start(wait_keeping_outer, NULL), t = dl_start(signal_with_outer, NULL);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

static void *arrive(void *arg)
{
    (void)pthread_barrier_wait(&barrier); /* one of the threads gets PTHREAD_BARRIER_SERIAL_THREAD */
    return arg;
}

static void barrier_short(void)
{
    MUST(pthread_barrier_init(&barrier, NULL, 4));
    pthread_t s = dl_start(arrive, NULL), t = dl_start(arrive, NULL);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

/* The main thread has ended; the rest waits. */
static void main_gone(void)
{
    dl_start(wait_cond, NULL);
    pthread_exit(NULL);
}

/* The last thread that could have posted ends. */
static void *rest_and_end(void *arg)
{
    dl_rest(100);
    return arg;
}

static void last_runner_ends(void)
{
    MUST(sem_init(&sems[0], 0, 0));
    MUST(pthread_detach(dl_start(rest_and_end, NULL)));
    MUST(sem_wait(&sems[0]));
}

/* The main thread has ended before the last one begins to wait. */
static void *rest_and_wait(void *arg)
{
    dl_rest(100);
    return wait_sem(arg);
}

static void main_gone_before(void)
{
    MUST(sem_init(&sems[0], 0, 0));
    dl_start(rest_and_wait, &sems[0]);
    pthread_exit(NULL);
}

/* A function run once that calls for itself to be run. */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void run_once(void)
{
    MUST(pthread_once(&once, run_once));
}

static void once_in_itself(void)
{
    MUST(pthread_once(&once, run_once));
}

const struct dl_case cases_blocked[] = {
    {"self_lock", self_lock},
    {"self_after_try", self_after_try},
    {"self_beside_work", self_beside_work},
    {"owner_returned", owner_returned},
    {"owner_exited", owner_exited},
    {"owner_cancelled", owner_cancelled},
    {"join_ring", join_ring},
    {"join_with_its_lock", join_with_its_lock},
    {"sem_nobody_posts", sem_nobody_posts},
    {"sem_crossed", sem_crossed},
    {"cond_signal_lost", cond_signal_lost},
    {"cond_all_wait", cond_all_wait},
    {"cond_outer_kept", cond_outer_kept},
    {"barrier_short", barrier_short},
    {"main_gone", main_gone},
    {"main_gone_before", main_gone_before},
    {"last_runner_ends", last_runner_ends},
    {"once_in_itself", once_in_itself},
    {NULL, NULL},
};
