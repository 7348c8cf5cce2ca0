/* SPDX-License-Identifier: MIT */
/* Deadlock cases of mixed primitives: condition variables with their mutexes, custom locks. */
#include <time.h>
#include <upmu/sync.h>

#include "cases.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static struct dl_meeting meeting;

static struct timespec in_ms(long ms)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* ------------------------------------------------------------ a wait for a signal ends with the mutex, or not at all */

static void *wait_keeping_b(void *arg)
{
    MUST(pthread_mutex_lock(&b));
    MUST(pthread_mutex_lock(&a));
    dl_meet(&meeting, 2);
    MUST(pthread_cond_wait(&c, &a));
    return arg;
}

/* Comes to `a` only when the other one has given it up for its wait. */
static void *signal_then_take_b(void *arg)
{
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&a));
    MUST(pthread_cond_signal(&c));
    MUST(pthread_mutex_lock(&b));
    return arg;
}

static void cond_signalled_in_vain(void)
{
    dl_both(wait_keeping_b, signal_then_take_b);
}

static bool a_is_kept; /* under `a` */

static void *wait_a_while_keeping_b(void *arg)
{
    MUST(pthread_mutex_lock(&b));
    MUST(pthread_mutex_lock(&a));
    dl_meet(&meeting, 2);
    /* From the last one it does not come back. On a busy machine its time may be over before the other one has come. */
    while (!a_is_kept) {
        struct timespec until = in_ms(50);
        (void)pthread_cond_timedwait(&c, &a, &until);
    }
    return arg;
}

static void *take_a_then_b(void *arg)
{
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&a));
    a_is_kept = true;
    MUST(pthread_mutex_lock(&b));
    return arg;
}

/* The timeout does not end it, nor does the first thread, which keeps running. */
static void cond_time_over_in_vain(void)
{
    dl_start(wait_a_while_keeping_b, NULL);
    dl_start(take_a_then_b, NULL);
    for (;;)
        dl_rest(1000);
}

static void *wait_holding_nothing_else(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    dl_meet(&meeting, 2);
    MUST(pthread_cond_wait(&c, &a));
    return arg;
}

static void *signal_and_keep_a(void *arg)
{
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&a));
    MUST(pthread_cond_signal(&c));
    return arg;
}

static void cond_mutex_kept_at_end(void)
{
    dl_both(wait_holding_nothing_else, signal_and_keep_a);
}

/* Both threads lock a, then b; but the wait reacquires a while b is held. */
static void *wait_keeping_b_taken_last(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    MUST(pthread_mutex_lock(&b));
    dl_meet(&meeting, 2);
    MUST(pthread_cond_wait(&c, &a));
    return arg;
}

static void cond_takes_again_in_other_order(void)
{
    dl_both(wait_keeping_b_taken_last, take_a_then_b);
}

/* ------------------------------------------------------------------------------------- locks of the program's own */

static unsigned own[2];

static void own_lock(unsigned *word)
{
    if (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE) != 0) {
        upmu_lock_will_acquire(word);
        while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE) != 0)
            dl_rest(1);
    }
    upmu_lock_acquired(word);
}

static bool own_try(unsigned *word)
{
    if (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE) != 0)
        return false;
    upmu_lock_tried(word);
    return true;
}

static void own_unlock(unsigned *word)
{
    upmu_lock_released(word);
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

static void *own_both(void *arg)
{
    dl_turn(0);
    own_lock(&own[0]);
    own_lock(&own[1]);
    own_unlock(&own[1]);
    own_unlock(&own[0]);
    dl_next();
    return arg;
}

static void *own_both_back(void *arg)
{
    dl_turn(1);
    own_lock(&own[1]);
    own_lock(&own[0]);
    own_unlock(&own[0]);
    own_unlock(&own[1]);
    dl_next();
    return arg;
}

static void *own_both_back_trying(void *arg)
{
    dl_turn(1);
    own_lock(&own[1]);
    if (own_try(&own[0]))
        own_unlock(&own[0]);
    own_unlock(&own[1]);
    dl_next();
    return arg;
}

/* No thread waits, so no wait is announced. */
static void own_inversion(void)
{
    dl_both(own_both, own_both_back);
}

static void own_broken_by_try(void)
{
    dl_both(own_both, own_both_back_trying);
}

const struct dl_case cases_mixed[] = {
    {"cond_signalled_in_vain", cond_signalled_in_vain},
    {"cond_time_over_in_vain", cond_time_over_in_vain},
    {"cond_mutex_kept_at_end", cond_mutex_kept_at_end},
    {"cond_takes_again_in_other_order", cond_takes_again_in_other_order},
    {"own_inversion", own_inversion},
    {"own_broken_by_try", own_broken_by_try},
    {NULL, NULL},
};
