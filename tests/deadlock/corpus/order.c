/* SPDX-License-Identifier: MIT */
/* Lock-order cases without a deadlock: real and apparent inversions. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, g = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t ra = PTHREAD_RWLOCK_INITIALIZER, rb = PTHREAD_RWLOCK_INITIALIZER;

static void nest(pthread_mutex_t *x, pthread_mutex_t *y)
{
    MUST(pthread_mutex_lock(x));
    MUST(pthread_mutex_lock(y));
    MUST(pthread_mutex_unlock(y));
    MUST(pthread_mutex_unlock(x));
}

static void *ab_first(void *arg)
{
    dl_turn(0);
    nest(&a, &b);
    dl_next();
    return arg;
}

static void *ab_second(void *arg)
{
    dl_turn(1);
    nest(&a, &b);
    dl_next();
    return arg;
}

static void *ba_second(void *arg)
{
    dl_turn(1);
    nest(&b, &a);
    dl_next();
    return arg;
}

static void inversion(void)
{
    dl_both(ab_first, ba_second);
}

/* --------------------------------------------------------------------------------------------------- three and many */

enum { RING = 5 };
static pthread_mutex_t ring[RING];

static void *ring_turn(void *arg)
{
    uintptr_t i = (uintptr_t)arg;
    dl_turn((unsigned)i);
    nest(&ring[i], &ring[(i + 1) % RING]);
    dl_next();
    return NULL;
}

static void inversion_of_five(void)
{
    pthread_t t[RING];
    for (int i = 0; i < RING; i++)
        MUST(pthread_mutex_init(&ring[i], NULL));
    for (uintptr_t i = 0; i < RING; i++)
        t[i] = dl_start(ring_turn, (void *)i);
    for (int i = 0; i < RING; i++)
        MUST(pthread_join(t[i], NULL));
}

/* ------------------------------------------------------------------------------------------------------------- gates */

static void *gated_ab(void *arg)
{
    dl_turn(0);
    MUST(pthread_mutex_lock(&g));
    nest(&a, &b);
    MUST(pthread_mutex_unlock(&g));
    dl_next();
    return arg;
}

static void *gated_ba(void *arg)
{
    dl_turn(1);
    MUST(pthread_mutex_lock(&g));
    nest(&b, &a);
    MUST(pthread_mutex_unlock(&g));
    dl_next();
    return arg;
}

static void gated(void)
{
    dl_both(gated_ab, gated_ba);
}

/* The same once more, without the gate, after the gated one was known. */
static void *gated_then_bare(void *arg)
{
    gated_ba(arg);
    nest(&b, &a);
    return arg;
}

static void *bare_at_last(void *arg)
{
    dl_turn(0);
    nest(&a, &b);
    dl_next();
    return arg;
}

static void gate_left_out_once(void)
{
    dl_both(bare_at_last, gated_then_bare);
}

/* ------------------------------------------------------------------------------------------ threads that do not meet */

static void one_thread(void)
{
    nest(&a, &b);
    nest(&b, &a);
}

static void *ba(void *arg)
{
    nest(&b, &a);
    return arg;
}

static void before_create(void)
{
    nest(&a, &b);
    MUST(pthread_join(dl_start(ba, NULL), NULL));
}

static void after_join(void)
{
    MUST(pthread_join(dl_start(ba, NULL), NULL));
    nest(&a, &b);
}

/* First before, then beside the other thread: the second time counts, though the order was known. */
static void *ba_beside(void *arg)
{
    dl_turn(1);
    nest(&b, &a);
    dl_next();
    return arg;
}

static void before_and_beside(void)
{
    nest(&a, &b);
    pthread_t t = dl_start(ba_beside, NULL);
    nest(&a, &b);
    dl_next();
    MUST(pthread_join(t, NULL));
}

/* ------------------------------------------------------------------------------------------------- tries, time limits */

static void *try_ba(void *arg)
{
    dl_turn(1);
    MUST(pthread_mutex_lock(&b));
    if (pthread_mutex_trylock(&a) == 0)
        MUST(pthread_mutex_unlock(&a));
    MUST(pthread_mutex_unlock(&b));
    dl_next();
    return arg;
}

static void broken_by_try(void)
{
    dl_both(ab_first, try_ba);
}

/* What was taken by trying is held like anything else. */
static void *tried_then_a(void *arg)
{
    dl_turn(1);
    MUST(pthread_mutex_trylock(&b));
    MUST(pthread_mutex_lock(&a));
    MUST(pthread_mutex_unlock(&a));
    MUST(pthread_mutex_unlock(&b));
    dl_next();
    return arg;
}

static void try_is_outside(void)
{
    dl_both(ab_first, tried_then_a);
}

static void *timed_ba(void *arg)
{
    struct timespec until;
    dl_turn(1);
    MUST(clock_gettime(CLOCK_REALTIME, &until));
    until.tv_sec += 10;
    MUST(pthread_mutex_lock(&b));
    MUST(pthread_mutex_timedlock(&a, &until));
    MUST(pthread_mutex_unlock(&a));
    MUST(pthread_mutex_unlock(&b));
    dl_next();
    return arg;
}

static void broken_by_time(void)
{
    dl_both(ab_first, timed_ba);
}

/* -------------------------------------------------------------------------------------------------- lives of locks */

/* At the same two addresses there are other locks by the time of the other order. */
static void *ba_other_life(void *arg)
{
    dl_turn(1);
    MUST(pthread_mutex_destroy(&a));
    MUST(pthread_mutex_destroy(&b));
    MUST(pthread_mutex_init(&a, NULL));
    MUST(pthread_mutex_init(&b, NULL));
    nest(&b, &a);
    dl_next();
    return arg;
}

static void other_locks_at_one_place(void)
{
    dl_both(ab_first, ba_other_life);
}

/* The order is repeated in the second life, by a thread that used it in the first. */
static void *ab_in_both_lives(void *arg)
{
    dl_turn(0);
    nest(&a, &b);
    dl_next();
    dl_turn(2);
    nest(&a, &b);
    dl_next();
    return arg;
}

static void inversion_in_second_life(void)
{
    dl_both(ab_in_both_lives, ba_other_life);
}

static void recursive_is_no_order(void)
{
    static pthread_mutex_t r;
    dl_mutex(&r, PTHREAD_MUTEX_RECURSIVE);
    MUST(pthread_mutex_lock(&r));
    nest(&a, &r);
    MUST(pthread_mutex_unlock(&r));
    dl_both(ab_first, ab_second);
}

/* A wait for a condition takes its mutex again while others are held. */
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void *wait_inside(void *arg)
{
    struct timespec until;
    dl_turn(0);
    MUST(clock_gettime(CLOCK_REALTIME, &until));
    MUST(pthread_mutex_lock(&a));
    MUST(pthread_mutex_lock(&b));
    (void)pthread_cond_timedwait(&c, &a, &until); /* its time is over: a is given up and taken again, with b held */
    MUST(pthread_mutex_unlock(&b));
    MUST(pthread_mutex_unlock(&a));
    dl_next();
    return arg;
}

static void inversion_by_cond_wait(void)
{
    dl_both(wait_inside, ab_second);
}

/* --------------------------------------------------------------------------------------------------- many, and readers */

/* A hundred pairs of one kind, taken in opposite orders at the same two places. */
enum { PAIRS = 100 };
static pthread_mutex_t left[PAIRS], right[PAIRS];

static void *pairs_one_way(void *arg)
{
    dl_turn(0);
    for (int i = 0; i < PAIRS; i++)
        nest(&left[i], &right[i]);
    dl_next();
    return arg;
}

static void *pairs_other_way(void *arg)
{
    dl_turn(1);
    for (int i = 0; i < PAIRS; i++)
        nest(&right[i], &left[i]);
    dl_next();
    return arg;
}

static void inversions_of_one_kind(void)
{
    for (int i = 0; i < PAIRS; i++) {
        MUST(pthread_mutex_init(&left[i], NULL));
        MUST(pthread_mutex_init(&right[i], NULL));
    }
    dl_both(pairs_one_way, pairs_other_way);
}

/* Locks of one kind, taken both ways at places that differ each time. */
enum { KIND = 3 };
static pthread_mutex_t of_kind[KIND][2];

static void *kind_one_way(void *arg)
{
    dl_turn(0);
    nest(&of_kind[0][0], &of_kind[0][1]);
    nest(&of_kind[1][0], &of_kind[1][1]);
    nest(&of_kind[2][0], &of_kind[2][1]);
    dl_next();
    return arg;
}

static void *kind_other_way(void *arg)
{
    dl_turn(1);
    nest(&of_kind[0][1], &of_kind[0][0]);
    MUST(pthread_mutex_lock(&of_kind[1][1]));
    MUST(pthread_mutex_lock(&of_kind[1][0]));
    MUST(pthread_mutex_unlock(&of_kind[1][0]));
    MUST(pthread_mutex_unlock(&of_kind[1][1]));
    MUST(pthread_mutex_lock(&of_kind[2][1]));
    MUST(pthread_mutex_lock(&of_kind[2][0]));
    MUST(pthread_mutex_unlock(&of_kind[2][0]));
    MUST(pthread_mutex_unlock(&of_kind[2][1]));
    dl_next();
    return arg;
}

static void inversions_of_one_class(void)
{
    volatile int all = 2 * KIND; /* one call site of initialization: no compiler may unroll the loop */
    for (int i = 0; i < all; i++)
        MUST(pthread_mutex_init(&of_kind[i / 2][i % 2], NULL));
    dl_both(kind_one_way, kind_other_way);
}

enum { DEEP = 1000 };
static pthread_mutex_t deep[DEEP];

static void *all_at_once(void *arg)
{
    dl_turn(0);
    for (int i = 0; i < DEEP; i++)
        MUST(pthread_mutex_lock(&deep[i]));
    for (int i = DEEP; i-- > 0;)
        MUST(pthread_mutex_unlock(&deep[i]));
    dl_next();
    return arg;
}

static void *last_then_first(void *arg)
{
    dl_turn(1);
    nest(&deep[DEEP - 1], &deep[0]);
    dl_next();
    return arg;
}

static void inversion_under_1000(void)
{
    for (int i = 0; i < DEEP; i++)
        MUST(pthread_mutex_init(&deep[i], NULL));
    dl_both(all_at_once, last_then_first);
}

static void rw_nest(int (*first)(pthread_rwlock_t *), pthread_rwlock_t *x, int (*second)(pthread_rwlock_t *),
                    pthread_rwlock_t *y)
{
    MUST(first(x));
    MUST(second(y));
    MUST(pthread_rwlock_unlock(y));
    MUST(pthread_rwlock_unlock(x));
}

static void *rw_write_ab(void *arg)
{
    dl_turn(0);
    rw_nest(pthread_rwlock_rdlock, &ra, pthread_rwlock_wrlock, &rb);
    dl_next();
    return arg;
}

static void *rw_write_ba(void *arg)
{
    dl_turn(1);
    rw_nest(pthread_rwlock_rdlock, &rb, pthread_rwlock_wrlock, &ra);
    dl_next();
    return arg;
}

static void rw_inversion(void)
{
    dl_both(rw_write_ab, rw_write_ba);
}

static void *rw_read_ab(void *arg)
{
    dl_turn(0);
    rw_nest(pthread_rwlock_rdlock, &ra, pthread_rwlock_rdlock, &rb);
    dl_next();
    return arg;
}

static void *rw_read_ba(void *arg)
{
    dl_turn(1);
    rw_nest(pthread_rwlock_rdlock, &rb, pthread_rwlock_rdlock, &ra);
    dl_next();
    return arg;
}

static void rw_readers_both_ways(void)
{
    dl_both(rw_read_ab, rw_read_ba);
}

const struct dl_case cases_order[] = {
    {"inversion", inversion},
    {"inversion_of_five", inversion_of_five},
    {"gated", gated},
    {"gate_left_out_once", gate_left_out_once},
    {"one_thread", one_thread},
    {"before_create", before_create},
    {"after_join", after_join},
    {"before_and_beside", before_and_beside},
    {"broken_by_try", broken_by_try},
    {"try_is_outside", try_is_outside},
    {"broken_by_time", broken_by_time},
    {"other_locks_at_one_place", other_locks_at_one_place},
    {"inversion_in_second_life", inversion_in_second_life},
    {"recursive_is_no_order", recursive_is_no_order},
    {"inversion_by_cond_wait", inversion_by_cond_wait},
    {"inversions_of_one_kind", inversions_of_one_kind},
    {"inversions_of_one_class", inversions_of_one_class},
    {"inversion_under_1000", inversion_under_1000},
    {"rw_inversion", rw_inversion},
    {"rw_readers_both_ways", rw_readers_both_ways},
    {NULL, NULL},
};
