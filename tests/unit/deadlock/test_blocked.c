/* SPDX-License-Identifier: MIT */
/* Wait states of processes built by hand, and their blocked threads. */
#include <stdlib.h>
#include <string.h>

#include "deadlock/graph/blocked.h"
#include "unit/suite.h"

enum { THREADS = 2048, HOLDS = 4096 };

static struct wg_thread threads[THREADS];
static struct wg_hold holds[HOLDS];
static struct wg_holder holders[HOLDS];
static uint32_t members[THREADS];
static struct wg_deadlock found[THREADS];
static struct wg_snapshot snapshot;

static void begin(void)
{
    memset(threads, 0, sizeof threads);
    snapshot = (struct wg_snapshot){
        .threads = threads, .holds = holds, .holders = holders, .members = members, .deadlocks = found};
}

static uint32_t thread(enum wg_wait wait, uint64_t object)
{
    threads[snapshot.n_threads] =
        (struct wg_thread){.wait = wait, .object = object, .target = WG_NONE, .first_hold = (uint32_t)snapshot.n_holds};
    return (uint32_t)snapshot.n_threads++;
}

/* The thread made last holds it. */
static void hold(uint64_t lock, bool shared)
{
    holds[snapshot.n_holds++] = (struct wg_hold){.lock = lock, .shared = shared};
    threads[snapshot.n_threads - 1].n_holds++;
}

static void join(uint32_t who, uint32_t target)
{
    threads[who].wait = WG_JOIN;
    threads[who].target = target;
}

static void is_deadlock(size_t i, enum wg_deadlock_kind kind, enum wg_certainty certainty, uint32_t n)
{
    ck_assert_uint_lt(i, snapshot.n_deadlocks);
    ck_assert_int_eq((int)found[i].kind, (int)kind);
    ck_assert_int_eq((int)found[i].certainty, (int)certainty);
    ck_assert_uint_eq(found[i].n, n);
}

START_TEST(two_threads_in_opposite_order_are_a_cycle)
{
    begin();
    thread(WG_RUNNING, 0);
    uint32_t a = thread(WG_LOCK, 2);
    hold(1, false);
    uint32_t b = thread(WG_LOCK, 1);
    hold(2, false);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 1);
    is_deadlock(0, WG_CYCLE, WG_CERTAIN, 2);
    ck_assert_uint_eq(members[0], a);
    ck_assert_uint_eq(members[1], b);
    ck_assert_uint_eq(threads[0].deadlock, WG_NONE);
}
END_TEST

START_TEST(cycle_of_a_thousand_is_one_cycle)
{
    enum { N = 1000 };
    begin();
    for (uint64_t i = 0; i < N; i++) {
        thread(WG_LOCK, (i + 1) % N);
        hold(i, false);
    }
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 1);
    is_deadlock(0, WG_CYCLE, WG_CERTAIN, N);
}
END_TEST

START_TEST(a_waiter_for_a_stuck_thread_is_behind_not_in_the_cycle)
{
    begin();
    thread(WG_LOCK, 2);
    hold(1, false);
    thread(WG_LOCK, 1);
    hold(2, false);
    uint32_t c = thread(WG_LOCK, 1);
    uint32_t joiner = thread(WG_RUNNING, 0);
    join(joiner, c);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 1);
    is_deadlock(0, WG_CYCLE, WG_CERTAIN, 2);
    ck_assert(threads[c].behind && threads[joiner].behind);
    ck_assert_uint_eq(threads[joiner].deadlock, 0);
}
END_TEST

START_TEST(a_wait_for_a_signal_beside_a_cycle_is_behind_it)
{
    begin();
    thread(WG_LOCK, 2);
    hold(1, false);
    thread(WG_LOCK, 1);
    hold(2, false);
    uint32_t c = thread(WG_COND, 5);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 1);
    is_deadlock(0, WG_CYCLE, WG_CERTAIN, 2);
    ck_assert(threads[c].behind);
    ck_assert_uint_eq(threads[c].deadlock, 0);
    threads[c].outside = true; /* a handler could signal */
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 2);
    is_deadlock(1, WG_NO_SIGNAL, WG_WAKEABLE, 1);
}
END_TEST

START_TEST(waiting_for_a_thread_that_runs_is_nothing)
{
    begin();
    thread(WG_RUNNING, 0);
    hold(1, false);
    thread(WG_LOCK, 1);
    hold(2, false);
    thread(WG_LOCK, 2);
    thread(WG_LOCK, 77); /* its holder is unknown */
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
}
END_TEST

START_TEST(lock_acquired_twice_by_one_thread_is_a_deadlock)
{
    begin();
    thread(WG_RUNNING, 0);
    thread(WG_LOCK, 1);
    hold(1, false);
    wg_find_blocked(&snapshot);
    is_deadlock(0, WG_SELF, WG_CERTAIN, 1);
}
END_TEST

START_TEST(holder_that_ended_is_distinguished_from_a_cycle)
{
    begin();
    thread(WG_RUNNING, 0);
    uint32_t gone = thread(WG_ENDED, 0);
    hold(1, false);
    thread(WG_LOCK, 1);
    thread(WG_LOCK, 1);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 1);
    is_deadlock(0, WG_OWNER_ENDED, WG_CERTAIN, 2);
    ck_assert_uint_eq(found[0].other, gone);
}
END_TEST

START_TEST(joins_in_a_circle)
{
    begin();
    for (int i = 0; i < 3; i++)
        thread(WG_RUNNING, 0);
    for (uint32_t i = 0; i < 3; i++)
        join(i, (i + 1) % 3);
    uint32_t self = thread(WG_RUNNING, 0);
    join(self, self);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 2);
    is_deadlock(0, WG_JOIN_CYCLE, WG_CERTAIN, 3);
    is_deadlock(1, WG_JOIN_SELF, WG_CERTAIN, 1);
}
END_TEST

START_TEST(join_of_a_thread_that_wants_the_joiners_lock_is_a_cycle)
{
    begin();
    uint32_t m = thread(WG_RUNNING, 0);
    hold(1, false);
    uint32_t w = thread(WG_LOCK, 1);
    join(m, w);
    wg_find_blocked(&snapshot);
    is_deadlock(0, WG_CYCLE, WG_CERTAIN, 2);
}
END_TEST

START_TEST(parent_waits_for_a_child_none_of_whose_threads_can_end_it)
{
    begin();
    uint32_t parent = thread(WG_CHILD, 0);
    hold(1, false);
    threads[parent].target = 1;
    threads[parent].n_targets = 3;
    thread(WG_ENDED, 0);
    uint32_t child = thread(WG_LOCK, 1), other = thread(WG_LOCK, 1);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 1);
    is_deadlock(0, WG_CYCLE, WG_CERTAIN, 2);
    ck_assert_uint_eq(members[0], parent);
    ck_assert_uint_eq(members[1], child);
    ck_assert(threads[other].behind);
    threads[other].wait = WG_RUNNING; /* it may call exit() */
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
    threads[child].wait = threads[other].wait = WG_ENDED; /* the process is about to end */
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
}
END_TEST

START_TEST(parent_waits_for_any_of_several_children)
{
    begin();
    uint32_t parent = thread(WG_CHILD, 0);
    hold(1, false);
    uint32_t first = thread(WG_LOCK, 1), other = thread(WG_RUNNING, 0), second = thread(WG_LOCK, 1);
    threads[parent].target = first;
    threads[parent].n_targets = 3;
    threads[parent].target_group = threads[first].group = threads[second].group = 7; /* `other` is no child */
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 1);
    is_deadlock(0, WG_CYCLE, WG_CERTAIN, 2);
    threads[other].group = 7;
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
}
END_TEST

START_TEST(join_of_an_ended_or_unknown_thread_is_nothing)
{
    begin();
    uint32_t gone = thread(WG_ENDED, 0), m = thread(WG_RUNNING, 0), n = thread(WG_RUNNING, 0);
    join(m, gone);
    join(n, WG_NONE);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
}
END_TEST

START_TEST(writer_waits_for_all_readers)
{
    begin();
    thread(WG_RUNNING, 0);
    hold(1, true);
    uint32_t reader = thread(WG_LOCK, 2);
    hold(1, true);
    uint32_t writer = thread(WG_LOCK, 1);
    hold(2, false);
    wg_find_blocked(&snapshot); /* the running reader does not help: the other one must give it back, too */
    is_deadlock(0, WG_CYCLE, WG_CERTAIN, 2);
    ck_assert_uint_eq(threads[reader].deadlock, 0);
    ck_assert_uint_eq(threads[writer].deadlock, 0);
}
END_TEST

START_TEST(two_readers_that_want_to_write_are_a_cycle)
{
    begin();
    thread(WG_LOCK, 1);
    hold(1, true);
    thread(WG_LOCK, 1);
    hold(1, true);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 1);
    is_deadlock(0, WG_CYCLE, WG_CERTAIN, 2);
}
END_TEST

START_TEST(readers_pass_readers_unless_writers_come_first)
{
    begin();
    thread(WG_READ_LOCK, 2); /* holds 1 for reading, waits to read 2, which a writer wants */
    hold(1, true);
    thread(WG_READ_LOCK, 1);
    hold(2, true);
    thread(WG_LOCK, 1);
    thread(WG_LOCK, 2);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
    threads[0].writers_first = threads[1].writers_first = true;
    snapshot.n_holds = 2;
    wg_find_blocked(&snapshot);
    ck_assert_uint_ge(snapshot.n_deadlocks, 1);
    is_deadlock(0, WG_CYCLE, WG_CERTAIN, 4);
}
END_TEST

START_TEST(semaphore_is_hopeless_only_when_no_thread_can_continue)
{
    begin();
    uint32_t other = thread(WG_RUNNING, 0);
    thread(WG_SEM, 5);
    thread(WG_COND, 6);
    thread(WG_BARRIER, 7);
    thread(WG_FUTEX, 8);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
    threads[other].wait = WG_SEM;
    threads[other].object = 5;
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 4);
    is_deadlock(0, WG_NO_POST, WG_CERTAIN, 2);
    is_deadlock(1, WG_NO_SIGNAL, WG_CERTAIN, 1);
    is_deadlock(2, WG_BARRIER_SHORT, WG_CERTAIN, 1);
    is_deadlock(3, WG_NO_WAKE, WG_CERTAIN, 1);
}
END_TEST

START_TEST(what_could_come_from_outside_makes_it_a_stall)
{
    begin();
    thread(WG_SEM, 5);
    snapshot.woken_from_outside = true;
    wg_find_blocked(&snapshot);
    is_deadlock(0, WG_NO_POST, WG_WAKEABLE, 1);
    snapshot.woken_from_outside = false;
    threads[0].outside = true;
    wg_find_blocked(&snapshot);
    is_deadlock(0, WG_NO_POST, WG_WAKEABLE, 1);
}
END_TEST

START_TEST(timed_wait_keeps_posters_alive_and_makes_a_cycle_breakable)
{
    begin();
    thread(WG_SEM, 5);
    threads[0].timed = true;
    thread(WG_COND, 6);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
    begin();
    thread(WG_LOCK, 2);
    threads[0].timed = true;
    hold(1, false);
    thread(WG_LOCK, 1);
    hold(2, false);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 1);
    is_deadlock(0, WG_CYCLE, WG_BREAKABLE, 2);
}
END_TEST

START_TEST(semaphores_held_as_locks_make_a_cycle_where_no_thread_is_left_to_post)
{
    begin();
    thread(WG_SEM, 2);
    hold(1, false);
    thread(WG_SEM, 1);
    hold(2, false);
    uint32_t behind = thread(WG_SEM, 1);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 1);
    is_deadlock(0, WG_CYCLE, WG_CERTAIN, 2);
    ck_assert(threads[behind].behind);
    threads[0].outside = true;
    wg_find_blocked(&snapshot);
    is_deadlock(0, WG_CYCLE, WG_WAKEABLE, 2);
    thread(WG_RUNNING, 0);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
}
END_TEST

START_TEST(semaphore_held_by_the_waiter_itself_or_an_ended_thread_only_lacks_a_post)
{
    begin();
    thread(WG_SEM, 1);
    hold(1, false);
    thread(WG_SEM, 2);
    thread(WG_ENDED, 0);
    hold(2, false);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 2);
    is_deadlock(0, WG_NO_POST, WG_CERTAIN, 1);
    is_deadlock(1, WG_NO_POST, WG_CERTAIN, 1);
}
END_TEST

START_TEST(wait_for_a_signal_ends_only_with_its_mutex)
{
    begin();
    thread(WG_RUNNING, 0); /* it could signal, and does not help */
    uint32_t waiter = thread(WG_COND, 7);
    threads[waiter].mutex = 1;
    threads[waiter].timed = true;
    hold(2, false);
    uint32_t holder = thread(WG_LOCK, 2);
    hold(1, false);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 1);
    is_deadlock(0, WG_CYCLE, WG_CERTAIN, 2);
    ck_assert_uint_eq(wg_mutex_holder(&snapshot, waiter), holder);
    threads[holder].wait = WG_RUNNING;
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
    ck_assert_uint_eq(wg_mutex_holder(&snapshot, waiter), WG_NONE);
    threads[holder].wait = WG_ENDED;
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 1);
    is_deadlock(0, WG_OWNER_ENDED, WG_CERTAIN, 1);
    ck_assert_uint_eq(found[0].object, 1);
    ck_assert_uint_eq(found[0].other, holder);
}
END_TEST

START_TEST(mutex_that_the_waiter_still_holds_is_not_in_its_way)
{
    begin();
    thread(WG_RUNNING, 0);
    uint32_t waiter = thread(WG_COND, 7);
    threads[waiter].mutex = 1; /* a recursive one, taken twice */
    hold(1, false);
    thread(WG_LOCK, 1);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
}
END_TEST

/* A thread of which only the kernel shows that it sleeps, and another one. */
static void asleep(enum wg_wait wait)
{
    begin();
    thread(WG_UNKNOWN, 5);
    thread(wait, 6);
    snapshot.all_asleep = true;
}

START_TEST(all_threads_asleep_for_something_unknown_are_stalled)
{
    static const enum wg_wait waits[] = {WG_UNKNOWN, WG_LOCK, WG_READ_LOCK, WG_SEM, WG_COND, WG_BARRIER, WG_FUTEX};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        asleep(waits[i]);
        wg_find_blocked(&snapshot);
        ck_assert_uint_eq(snapshot.n_deadlocks, 1);
        is_deadlock(0, WG_ALL_ASLEEP, WG_STALLED, 2);
        ck_assert(found[0].no_waker);
        ck_assert_uint_eq(threads[0].deadlock, 0);
        ck_assert_uint_eq(threads[1].deadlock, 0);
    }
}
END_TEST

START_TEST(an_ended_thread_is_not_among_those_asleep)
{
    asleep(WG_ENDED);
    wg_find_blocked(&snapshot);
    is_deadlock(0, WG_ALL_ASLEEP, WG_STALLED, 1);
    ck_assert_uint_eq(threads[1].deadlock, WG_NONE);
}
END_TEST

START_TEST(what_may_end_the_sleep_is_no_stall)
{
    asleep(WG_UNKNOWN);
    snapshot.all_asleep = false; /* the kernel shows one that waits for something else */
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
    asleep(WG_RUNNING);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
    asleep(WG_UNKNOWN);
    threads[1].timed = true;
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
    asleep(WG_UNKNOWN);
    threads[0].outside = true;
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
}
END_TEST

START_TEST(a_deadlock_that_is_found_is_no_stall_as_well)
{
    asleep(WG_LOCK);
    hold(6, false);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 1);
    is_deadlock(0, WG_SELF, WG_CERTAIN, 1);
}
END_TEST

START_TEST(an_unknown_wait_counts_as_able_to_continue)
{
    begin();
    thread(WG_UNKNOWN, 5);
    hold(1, false);
    thread(WG_LOCK, 1);
    thread(WG_SEM, 2);
    thread(WG_COND, 3);
    wg_find_blocked(&snapshot);
    ck_assert_uint_eq(snapshot.n_deadlocks, 0);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("blocked");
    tcase_set_timeout(c, 60); /* sanitizers and loaded machines are slow */
    tcase_add_test(c, two_threads_in_opposite_order_are_a_cycle);
    tcase_add_test(c, cycle_of_a_thousand_is_one_cycle);
    tcase_add_test(c, a_waiter_for_a_stuck_thread_is_behind_not_in_the_cycle);
    tcase_add_test(c, a_wait_for_a_signal_beside_a_cycle_is_behind_it);
    tcase_add_test(c, waiting_for_a_thread_that_runs_is_nothing);
    tcase_add_test(c, lock_acquired_twice_by_one_thread_is_a_deadlock);
    tcase_add_test(c, holder_that_ended_is_distinguished_from_a_cycle);
    tcase_add_test(c, joins_in_a_circle);
    tcase_add_test(c, join_of_a_thread_that_wants_the_joiners_lock_is_a_cycle);
    tcase_add_test(c, parent_waits_for_a_child_none_of_whose_threads_can_end_it);
    tcase_add_test(c, parent_waits_for_any_of_several_children);
    tcase_add_test(c, join_of_an_ended_or_unknown_thread_is_nothing);
    tcase_add_test(c, writer_waits_for_all_readers);
    tcase_add_test(c, two_readers_that_want_to_write_are_a_cycle);
    tcase_add_test(c, readers_pass_readers_unless_writers_come_first);
    tcase_add_test(c, semaphore_is_hopeless_only_when_no_thread_can_continue);
    tcase_add_test(c, what_could_come_from_outside_makes_it_a_stall);
    tcase_add_test(c, timed_wait_keeps_posters_alive_and_makes_a_cycle_breakable);
    tcase_add_test(c, semaphores_held_as_locks_make_a_cycle_where_no_thread_is_left_to_post);
    tcase_add_test(c, semaphore_held_by_the_waiter_itself_or_an_ended_thread_only_lacks_a_post);
    tcase_add_test(c, wait_for_a_signal_ends_only_with_its_mutex);
    tcase_add_test(c, mutex_that_the_waiter_still_holds_is_not_in_its_way);
    tcase_add_test(c, all_threads_asleep_for_something_unknown_are_stalled);
    tcase_add_test(c, an_ended_thread_is_not_among_those_asleep);
    tcase_add_test(c, what_may_end_the_sleep_is_no_stall);
    tcase_add_test(c, a_deadlock_that_is_found_is_no_stall_as_well);
    tcase_add_test(c, an_unknown_wait_counts_as_able_to_continue);
    return run_suite("deadlock.blocked", c);
}
