/* SPDX-License-Identifier: MIT */
/* Deadlock cases of semaphores: used as locks, or only apparently. */
#include <semaphore.h>
#include <stdint.h>

#include "cases.h"

enum { ROUNDS = 300 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static sem_t a, b;
static struct dl_meeting meeting;

static void make(unsigned of_a, unsigned of_b)
{
    MUST(sem_init(&a, 0, of_a));
    MUST(sem_init(&b, 0, of_b));
}

static void in_lock(sem_t *outer, pthread_mutex_t *inner)
{
    MUST(sem_wait(outer));
    MUST(pthread_mutex_lock(inner));
    MUST(pthread_mutex_unlock(inner));
    MUST(sem_post(outer));
}

static void under_lock(pthread_mutex_t *outer, sem_t *inner)
{
    MUST(pthread_mutex_lock(outer));
    MUST(sem_wait(inner));
    MUST(sem_post(inner));
    MUST(pthread_mutex_unlock(outer));
}

static void nest(sem_t *x, sem_t *y)
{
    MUST(sem_wait(x));
    MUST(sem_wait(y));
    MUST(sem_post(y));
    MUST(sem_post(x));
}

/* ------------------------------------------------------------------------------------------------------- as locks */

static void *nest_ab(void *arg)
{
    dl_turn(0);
    nest(&a, &b);
    dl_next();
    return arg;
}

static void *nest_ba(void *arg)
{
    dl_turn(1);
    nest(&b, &a);
    dl_next();
    return arg;
}

static void sem_inversion(void)
{
    make(1, 1);
    dl_both(nest_ab, nest_ba);
}

static void *a_then_m(void *arg)
{
    dl_turn(0);
    in_lock(&a, &m);
    dl_next();
    return arg;
}

static void *m_then_a(void *arg)
{
    dl_turn(1);
    under_lock(&m, &a);
    dl_next();
    return arg;
}

static void sem_and_mutex_inversion(void)
{
    make(1, 1);
    dl_both(a_then_m, m_then_a);
}

static void *gated_mn(void *arg)
{
    dl_turn(0);
    MUST(sem_wait(&a));
    MUST(pthread_mutex_lock(&m));
    MUST(pthread_mutex_lock(&n));
    MUST(pthread_mutex_unlock(&n));
    MUST(pthread_mutex_unlock(&m));
    MUST(sem_post(&a));
    dl_next();
    return arg;
}

static void *gated_nm(void *arg)
{
    dl_turn(1);
    MUST(sem_wait(&a));
    MUST(pthread_mutex_lock(&n));
    MUST(pthread_mutex_lock(&m));
    MUST(pthread_mutex_unlock(&m));
    MUST(pthread_mutex_unlock(&n));
    MUST(sem_post(&a));
    dl_next();
    return arg;
}

static void sem_is_gate(void)
{
    make(1, 1);
    dl_both(gated_mn, gated_nm);
}

/* With two permits it excludes no thread. */
static void sem_of_two_is_no_gate(void)
{
    make(2, 1);
    dl_both(gated_mn, gated_nm);
}

/* Dining philosophers that acquire a permit first, one after the other. */
enum { SEATS_MAX = 5 };
static pthread_mutex_t fork_at[SEATS_MAX];
static unsigned seats;

static void eat(unsigned seat)
{
    MUST(pthread_mutex_lock(&fork_at[seat]));
    MUST(pthread_mutex_lock(&fork_at[(seat + 1) % seats]));
    MUST(pthread_mutex_unlock(&fork_at[(seat + 1) % seats]));
    MUST(pthread_mutex_unlock(&fork_at[seat]));
}

static void *eat_with_permit(void *arg)
{
    unsigned seat = (unsigned)(uintptr_t)arg;
    dl_turn(seat);
    MUST(sem_wait(&a));
    eat(seat);
    MUST(sem_post(&a));
    dl_next();
    return NULL;
}

/* The last one posts without a wait: the semaphore counts something else. */
static void *eat_and_let_in(void *arg)
{
    unsigned seat = (unsigned)(uintptr_t)arg;
    dl_turn(seat);
    if (seat < seats - 1)
        MUST(sem_wait(&a));
    eat(seat);
    if (seat == seats - 1)
        MUST(sem_post(&a));
    dl_next();
    return NULL;
}

static void dinner(unsigned guests, unsigned permits, void *(*eats)(void *))
{
    pthread_t t[SEATS_MAX];
    seats = guests;
    make(permits, 1);
    for (uintptr_t i = 0; i < guests; i++)
        MUST(pthread_mutex_init(&fork_at[i], NULL));
    for (uintptr_t i = 0; i < guests; i++)
        t[i] = dl_start(eats, (void *)i);
    for (unsigned i = 0; i < guests; i++)
        MUST(pthread_join(t[i], NULL));
}

static void permits_for_all_but_one(void)
{
    dinner(3, 2, eat_with_permit);
}

static void permits_four_of_five(void)
{
    dinner(5, 4, eat_with_permit);
}

static void permits_for_all(void)
{
    dinner(3, 3, eat_with_permit);
}

static void sem_that_is_no_gate(void)
{
    dinner(3, 2, eat_and_let_in);
}

static void *try_a_under_m(void *arg)
{
    dl_turn(1);
    MUST(pthread_mutex_lock(&m));
    MUST(sem_trywait(&a));
    MUST(sem_post(&a));
    MUST(pthread_mutex_unlock(&m));
    dl_next();
    return arg;
}

static void sem_broken_by_try(void)
{
    make(1, 1);
    dl_both(a_then_m, try_a_under_m);
}

static void *m_then_new_a(void *arg)
{
    dl_turn(1);
    MUST(sem_destroy(&a));
    MUST(sem_init(&a, 0, 1));
    under_lock(&m, &a);
    dl_next();
    return arg;
}

static void sem_made_anew(void)
{
    make(1, 1);
    dl_both(a_then_m, m_then_new_a);
}

static void *hold_a_want_m(void *arg)
{
    MUST(sem_wait(&a));
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&m));
    return arg;
}

static void *hold_m_want_a(void *arg)
{
    MUST(pthread_mutex_lock(&m));
    dl_meet(&meeting, 2);
    MUST(sem_wait(&a));
    return arg;
}

static void sem_and_mutex_cross(void)
{
    make(1, 1);
    dl_both(hold_a_want_m, hold_m_want_a);
}

/* The same, while a thread runs that could post: no deadlock. */
static void *post_late(void *arg)
{
    dl_meet(&meeting, 3);
    dl_rest(700);
    MUST(sem_post(&a));
    return arg;
}

static void *hold_a_for_m(void *arg)
{
    MUST(sem_wait(&a));
    dl_meet(&meeting, 3);
    MUST(pthread_mutex_lock(&m));
    MUST(pthread_mutex_unlock(&m));
    return arg;
}

static void *hold_m_for_a(void *arg)
{
    MUST(pthread_mutex_lock(&m));
    dl_meet(&meeting, 3);
    MUST(sem_wait(&a));
    MUST(pthread_mutex_unlock(&m));
    return arg;
}

static void sem_posted_from_aside(void)
{
    make(1, 1);
    pthread_t t = dl_start(post_late, NULL);
    dl_both(hold_a_for_m, hold_m_for_a);
    MUST(pthread_join(t, NULL));
}

/* --------------------------------------------------------------------------------------------------- no locks at all */

static void *produce(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        MUST(sem_wait(&a));
        MUST(pthread_mutex_lock(&m));
        MUST(pthread_mutex_unlock(&m));
        MUST(sem_post(&b));
    }
    return arg;
}

static void *consume(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        MUST(pthread_mutex_lock(&n));
        MUST(sem_wait(&b));
        MUST(pthread_mutex_lock(&m));
        MUST(pthread_mutex_unlock(&m));
        MUST(sem_post(&a));
        MUST(pthread_mutex_unlock(&n));
    }
    return arg;
}

/* One place in the queue: "free" begins at 1, as a lock does. */
static void sem_queue_of_one(void)
{
    make(1, 0);
    dl_both(produce, consume);
}

/* Both begin at 1 and are given across: they look like locks, taken in both orders with m, until the first post. */
static void *give_b(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        MUST(sem_wait(&a));
        MUST(pthread_mutex_lock(&m));
        MUST(pthread_mutex_unlock(&m));
        MUST(sem_post(&b));
    }
    return arg;
}

static void *give_a(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        MUST(pthread_mutex_lock(&m));
        if (sem_trywait(&a) == 0)
            MUST(sem_post(&a));
        MUST(pthread_mutex_unlock(&m));
        MUST(sem_wait(&b));
        MUST(sem_post(&a));
    }
    return arg;
}

static void sem_given_across(void)
{
    make(1, 1);
    dl_both(give_b, give_a);
}

/* Like a lock in both orders, until a thread posts it that does not hold it. */
static void sem_no_lock_at_last(void)
{
    make(1, 1);
    dl_both(a_then_m, m_then_a);
    MUST(sem_post(&a));
}

static void *wait_a(void *arg)
{
    MUST(sem_wait(&a));
    return arg;
}

static void *wait_then_post_late(void *arg)
{
    dl_rest(700);
    MUST(sem_post(&a));
    return arg;
}

/* Its taker has ended; another posts it. */
static void sem_posted_for_an_ended(void)
{
    make(1, 0);
    MUST(pthread_join(dl_start(wait_a, NULL), NULL));
    dl_both(wait_a, wait_then_post_late);
}

const struct dl_case cases_semaphores[] = {
    {"sem_inversion", sem_inversion},
    {"sem_and_mutex_inversion", sem_and_mutex_inversion},
    {"sem_is_gate", sem_is_gate},
    {"sem_of_two_is_no_gate", sem_of_two_is_no_gate},
    {"permits_for_all_but_one", permits_for_all_but_one},
    {"permits_four_of_five", permits_four_of_five},
    {"permits_for_all", permits_for_all},
    {"sem_that_is_no_gate", sem_that_is_no_gate},
    {"sem_broken_by_try", sem_broken_by_try},
    {"sem_made_anew", sem_made_anew},
    {"sem_and_mutex_cross", sem_and_mutex_cross},
    {"sem_posted_from_aside", sem_posted_from_aside},
    {"sem_queue_of_one", sem_queue_of_one},
    {"sem_given_across", sem_given_across},
    {"sem_no_lock_at_last", sem_no_lock_at_last},
    {"sem_posted_for_an_ended", sem_posted_for_an_ended},
    {NULL, NULL},
};
