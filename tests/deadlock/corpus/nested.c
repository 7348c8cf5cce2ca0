/* SPDX-License-Identifier: MIT */
/* Lock-order cases without a deadlock: gates, thread order, unordered releases. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "cases.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER,
                       g = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER, q = PTHREAD_RWLOCK_INITIALIZER;
static pthread_t first;

static void nest(pthread_mutex_t *x, pthread_mutex_t *y)
{
    MUST(pthread_mutex_lock(x));
    MUST(pthread_mutex_lock(y));
    MUST(pthread_mutex_unlock(y));
    MUST(pthread_mutex_unlock(x));
}

static void *ab(void *arg)
{
    nest(&a, &b);
    return arg;
}

static void *ba(void *arg)
{
    nest(&b, &a);
    return arg;
}

/* A thread that has its turn, the first one or the second. */
#define IN_TURN(name_, turn_, ...) \
    static void *name_(void *arg)  \
    {                              \
        dl_turn(turn_);            \
        __VA_ARGS__;               \
        dl_next();                 \
        return arg;                \
    }

/* ---------------------------------------------------------------------------------------------------------- gates */

static void under_rw(int (*lock)(pthread_rwlock_t *), pthread_mutex_t *x, pthread_mutex_t *y)
{
    MUST(lock(&r));
    nest(x, y);
    MUST(pthread_rwlock_unlock(&r));
}

IN_TURN(read_gate_ab, 0, under_rw(pthread_rwlock_rdlock, &a, &b))
IN_TURN(read_gate_ba, 1, under_rw(pthread_rwlock_rdlock, &b, &a))
IN_TURN(write_gate_ba, 1, under_rw(pthread_rwlock_wrlock, &b, &a))

static void gate_read_and_written(void)
{
    dl_both(read_gate_ab, write_gate_ba);
}

/* Readers do not keep each other out. */
static void gate_only_read(void)
{
    dl_both(read_gate_ab, read_gate_ba);
}

static void through_gate(pthread_mutex_t *x, pthread_mutex_t *y)
{
    while (pthread_mutex_trylock(&g) == EBUSY)
        dl_rest(1);
    nest(x, y);
    MUST(pthread_mutex_unlock(&g));
}

IN_TURN(tried_gate_ab, 0, through_gate(&a, &b))
IN_TURN(tried_gate_ba, 1, through_gate(&b, &a))

static void gate_taken_by_try(void)
{
    dl_both(tried_gate_ab, tried_gate_ba);
}

/* The gate is shut again before the second lock is taken. */
static void past_gate(pthread_mutex_t *x, pthread_mutex_t *y)
{
    MUST(pthread_mutex_lock(&g));
    MUST(pthread_mutex_lock(x));
    MUST(pthread_mutex_unlock(&g));
    MUST(pthread_mutex_lock(y));
    MUST(pthread_mutex_unlock(y));
    MUST(pthread_mutex_unlock(x));
}

IN_TURN(past_gate_ab, 0, past_gate(&a, &b))
IN_TURN(past_gate_ba, 1, past_gate(&b, &a))

static void gate_left_early(void)
{
    dl_both(past_gate_ab, past_gate_ba);
}

static void three_in_turn(void *(*x)(void *), void *(*y)(void *), void *(*z)(void *))
{
    pthread_t t = dl_start(z, NULL);
    dl_both(x, y);
    MUST(pthread_join(t, NULL));
}

IN_TURN(third_ca, 2, nest(&c, &a))
IN_TURN(second_gate_bc, 1, through_gate(&b, &c))

/* Of three in a circle two cannot be there at once. */
static void gate_for_two_of_three(void)
{
    three_in_turn(tried_gate_ab, second_gate_bc, third_ca);
}

/* ------------------------------------------------------------------------------------------ who comes before whom */

static void *join_first_then_ba(void *arg)
{
    MUST(pthread_join(first, NULL));
    return ba(arg);
}

static void ordered_by_join_of_sibling(void)
{
    first = dl_start(ab, NULL);
    MUST(pthread_join(dl_start(join_first_then_ba, NULL), NULL));
}

static void ordered_by_try_join(void)
{
    pthread_t t = dl_start(ab, NULL);
    while (pthread_tryjoin_np(t, NULL) == EBUSY)
        dl_rest(1);
    MUST(pthread_join(dl_start(ba, NULL), NULL));
}

static void *grandparent(void *arg)
{
    MUST(pthread_join(dl_start(ba, NULL), NULL));
    return arg;
}

static void ordered_by_join_of_grandchild(void)
{
    MUST(pthread_join(dl_start(grandparent, NULL), NULL));
    ab(NULL);
}

static void *ba_and_next(void *arg)
{
    ba(arg);
    dl_next();
    return arg;
}

static void *leave_a_child(void *arg)
{
    MUST(pthread_detach(dl_start(ba_and_next, NULL)));
    return arg;
}

/* The child may outlive its parent, who is joined. */
static void not_ordered_by_join_of_parent(void)
{
    MUST(pthread_join(dl_start(leave_a_child, NULL), NULL));
    dl_turn(1);
    ab(NULL);
}

static void a_b_c_in_pairs(void)
{
    nest(&a, &b);
    nest(&b, &c);
}

IN_TURN(pairs_first, 0, a_b_c_in_pairs())
IN_TURN(second_ca, 1, nest(&c, &a))

/* Three locks in a circle, but one thread is not in two places. */
static void circle_of_three_by_two(void)
{
    dl_both(pairs_first, second_ca);
}

/* ------------------------------------------------------------------------------------ not last taken, first given */

static void hand_over_hand(void)
{
    MUST(pthread_mutex_lock(&a));
    MUST(pthread_mutex_lock(&b));
    MUST(pthread_mutex_unlock(&a));
    MUST(pthread_mutex_lock(&c));
    MUST(pthread_mutex_unlock(&c));
    MUST(pthread_mutex_unlock(&b));
}

IN_TURN(hand_over_hand_first, 0, hand_over_hand())
IN_TURN(second_cb, 1, nest(&c, &b))

/* `a` was released when `c` was acquired. */
static void handed_on(void)
{
    dl_both(hand_over_hand_first, second_ca);
}

static void handed_on_against(void)
{
    dl_both(hand_over_hand_first, second_cb);
}

static void b_between(void)
{
    MUST(pthread_mutex_lock(&a));
    nest(&b, &g);
    MUST(pthread_mutex_lock(&c));
    MUST(pthread_mutex_unlock(&c));
    MUST(pthread_mutex_unlock(&a));
}

IN_TURN(b_between_first, 0, b_between())

static void outer_kept_throughout(void)
{
    dl_both(b_between_first, second_ca);
}

static void rw_nest(int (*lock)(pthread_rwlock_t *), int (*other)(pthread_rwlock_t *), pthread_rwlock_t *x,
                    pthread_rwlock_t *y)
{
    MUST(lock(x));
    MUST(other(y));
    MUST(pthread_rwlock_unlock(y));
    MUST(pthread_rwlock_unlock(x));
}

IN_TURN(read_both, 0, rw_nest(pthread_rwlock_rdlock, pthread_rwlock_rdlock, &r, &q))
IN_TURN(read_then_write_back, 1, rw_nest(pthread_rwlock_rdlock, pthread_rwlock_wrlock, &q, &r))
IN_TURN(write_both_back, 1, rw_nest(pthread_rwlock_wrlock, pthread_rwlock_wrlock, &q, &r))

/* The readers of `q` never wait for each other. */
static void rw_one_writes_one_lock(void)
{
    dl_both(read_both, read_then_write_back);
}

static void rw_one_writes_both(void)
{
    dl_both(read_both, write_both_back);
}

/* --------------------------------------------------------------------------------------------------- many objects */

enum { ACCOUNTS = 4, TRANSFERS = 60 };
static pthread_mutex_t accounts[ACCOUNTS];

static void transfer(int from, int to)
{
    int low = from < to ? from : to;
    nest(&accounts[low], &accounts[from + to - low]);
}

static void *transfer_up(void *arg)
{
    for (int i = 0; i < TRANSFERS; i++)
        transfer(i % ACCOUNTS, (i + 1) % ACCOUNTS);
    return arg;
}

static void *transfer_down(void *arg)
{
    for (int i = TRANSFERS; i-- > 0;)
        transfer((i + 1) % ACCOUNTS, i % ACCOUNTS);
    return arg;
}

static void transfers_by_number(void)
{
    for (int i = 0; i < ACCOUNTS; i++)
        dl_mutex(&accounts[i], PTHREAD_MUTEX_NORMAL);
    dl_both(transfer_up, transfer_down);
}

IN_TURN(transfer_there, 0, nest(&accounts[0], &accounts[1]))
IN_TURN(transfer_back, 1, nest(&accounts[1], &accounts[0]))

static void transfers_as_they_come(void)
{
    for (int i = 0; i < ACCOUNTS; i++)
        dl_mutex(&accounts[i], PTHREAD_MUTEX_NORMAL);
    dl_both(transfer_there, transfer_back);
}

static void *hold_up(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    return arg;
}

/* The program ends while others wait for what it has. */
static void end_beside_waiters(void)
{
    MUST(pthread_mutex_lock(&a));
    for (int i = 0; i < 10; i++)
        dl_start(hold_up, NULL);
    dl_rest(100);
    exit(0);
}

const struct dl_case cases_nested[] = {
    {"gate_read_and_written", gate_read_and_written},
    {"gate_only_read", gate_only_read},
    {"gate_taken_by_try", gate_taken_by_try},
    {"gate_left_early", gate_left_early},
    {"gate_for_two_of_three", gate_for_two_of_three},
    {"ordered_by_join_of_sibling", ordered_by_join_of_sibling},
    {"ordered_by_try_join", ordered_by_try_join},
    {"ordered_by_join_of_grandchild", ordered_by_join_of_grandchild},
    {"not_ordered_by_join_of_parent", not_ordered_by_join_of_parent},
    {"circle_of_three_by_two", circle_of_three_by_two},
    {"handed_on", handed_on},
    {"handed_on_against", handed_on_against},
    {"outer_kept_throughout", outer_kept_throughout},
    {"rw_one_writes_one_lock", rw_one_writes_one_lock},
    {"rw_one_writes_both", rw_one_writes_both},
    {"transfers_by_number", transfers_by_number},
    {"transfers_as_they_come", transfers_as_they_come},
    {"end_beside_waiters", end_beside_waiters},
    {NULL, NULL},
};
