/* SPDX-License-Identifier: MIT */
/* Counts, holds and lifetimes of locks against streams counted by hand. */
#include "stream.h"

#include "unit/suite.h"

enum { LOCK = 0xa0, COND = 0xc0 };

START_TEST(recorded_counts_are_exact_and_the_last_ones_are_valid)
{
    begin_stream(true);
    counts(101, 1000, LOCK, 10, 2);
    counts(102, 1100, LOCK, 5, 1);
    counts(101, 1200, LOCK, 40, 3);
    finish();
    struct upmu_overview_object o = object(LOCK, 0, NULL);
    ck_assert_uint_eq(o.acquisitions, 45);
    ck_assert_uint_eq(o.contended, 4);
    ck_assert_uint_eq(o.counts_exact, 1);
    end_stream();
}
END_TEST

START_TEST(counts_of_a_killed_process_are_lower_bounds)
{
    begin_stream(false);
    counts(101, 1000, LOCK, 10, 2);
    block(101, 1100, LOCK, 0, 0);
    put(UPMU_TRACE_LOCK_ACQUIRED, 101, 1200, LOCK);
    finish();
    struct upmu_overview_object o = object(LOCK, 0, NULL);
    ck_assert_uint_eq(o.acquisitions, 11);
    ck_assert_uint_eq(o.contended, 3);
    ck_assert_uint_eq(o.counts_exact, 0);
    end_stream();
}
END_TEST

START_TEST(counts_that_begin_anew_are_added)
{
    begin_stream(true);
    counts(101, 1000, LOCK, 10, 2);
    counts(101, 1100, LOCK, 4, 1);
    finish();
    ck_assert_uint_eq(object(LOCK, 0, NULL).acquisitions, 14);
    ck_assert_uint_eq(object(LOCK, 0, NULL).contended, 3);
    end_stream();
}
END_TEST

START_TEST(counts_of_two_locks_at_one_address_are_not_mixed)
{
    begin_stream(true);
    counts(101, 1000, LOCK, 10, 2);
    put(UPMU_TRACE_LOCK_DESTROY, 101, 1100, LOCK);
    put(UPMU_TRACE_LOCK_INIT, 101, 1200, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1250, LOCK);
    counts(101, 1300, LOCK, 30, 5); /* some of the 20 may be the first one's */
    counts(101, 1400, LOCK, 33, 5); /* 3 more are surely the second one's */
    finish();
    struct upmu_overview_object first = object(LOCK, 0, NULL), second = object(LOCK, 1, NULL);
    ck_assert_uint_eq(first.acquisitions, 10);
    ck_assert_uint_eq(first.destroyed, 1);
    ck_assert_uint_eq(second.acquisitions, 1 + 3); /* one was seen */
    ck_assert_uint_eq(second.counts_exact, 0);
    ck_assert_uint_eq(second.created, 1);
    end_stream();
}
END_TEST

START_TEST(counts_recorded_after_the_end_belong_to_the_ended_lock)
{
    begin_stream(true);
    put(UPMU_TRACE_LOCK_INIT, 101, 1000, LOCK);
    put(UPMU_TRACE_LOCK_DESTROY, 101, 1100, LOCK);
    counts(101, 1200, LOCK, 8, 0);
    finish();
    ck_assert_uint_eq(totals().n_objects, 1);
    ck_assert_uint_eq(object(LOCK, 0, NULL).acquisitions, 8);
    ck_assert_uint_eq(object(LOCK, 0, NULL).counts_exact, 1);
    end_stream();
}
END_TEST

START_TEST(address_of_another_type_is_another_object)
{
    begin_stream(true);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK);
    put_typed(UPMU_TRACE_SEM_POST, UPMU_OBJECT_SEM, 101, 1100, LOCK);
    finish();
    ck_assert_int_eq(object(LOCK, 0, NULL).type, UPMU_OBJECT_MUTEX);
    ck_assert_int_eq(object(LOCK, 1, NULL).type, UPMU_OBJECT_SEM);
    ck_assert_uint_eq(object(LOCK, 1, NULL).signals, 1);
    end_stream();
}
END_TEST

START_TEST(lock_of_a_former_type_at_an_address_is_a_new_one_to_each_thread)
{
    begin_stream(true);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 1050, LOCK);
    put_typed(UPMU_TRACE_SEM_POST, UPMU_OBJECT_SEM, 102, 1100, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1200, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 1250, LOCK);
    finish();
    ck_assert_uint_eq(totals().n_objects, 3);
    ck_assert_uint_eq(object(LOCK, 0, NULL).acquisitions, 1);
    ck_assert_int_eq(object(LOCK, 2, NULL).type, UPMU_OBJECT_MUTEX);
    ck_assert_uint_eq(object(LOCK, 2, NULL).acquisitions, 1);
    end_stream();
}
END_TEST

START_TEST(name_given_before_the_first_use_stays)
{
    begin_stream(true);
    named(UPMU_TRACE_LOCK_NAME, 101, 1000, LOCK, "cache lock");
    put(UPMU_TRACE_LOCK_INIT, 101, 1050, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1100, LOCK);
    finish();
    ck_assert_str_eq(object(LOCK, 0, NULL).name, "cache lock");
    ck_assert_uint_eq(totals().n_objects, 1);
    end_stream();
}
END_TEST

START_TEST(holds_are_complete_when_every_pair_was_recorded)
{
    size_t i;
    begin_stream(true);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1010, LOCK); /* recursive */
    put(UPMU_TRACE_LOCK_RELEASE, 101, 1020, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 1100, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 2000, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 2007, LOCK);
    counts(101, 3000, LOCK, 3, 0);
    finish();
    struct upmu_overview_object o = object(LOCK, 0, &i);
    ck_assert_uint_eq(o.holds, 2);
    ck_assert_uint_eq(o.hold_ns, 107);
    ck_assert_uint_eq(o.hold_max_ns, 100);
    ck_assert_uint_eq(o.holds_complete, 1);
    ck_assert_uint_eq(use(i, 101).hold_ns, 107);
    end_stream();
}
END_TEST

START_TEST(release_is_not_paired_with_an_acquisition_that_may_not_be_its_own)
{
    begin_stream(true);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK); /* its release was left out, and so was the next acquisition */
    block(102, 8000, LOCK, 101, 0);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 9000, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRED, 102, 9001, LOCK);
    counts(101, 9500, LOCK, 2, 0);
    counts(102, 9600, LOCK, 1, 1);
    finish();
    struct upmu_overview_object o = object(LOCK, 0, NULL);
    ck_assert_uint_eq(o.holds, 0);
    ck_assert_uint_eq(o.hold_ns, 0);
    ck_assert_uint_eq(o.holds_complete, 0);
    end_stream();
}
END_TEST

START_TEST(hold_that_a_waiter_learned_of_is_known)
{
    begin_stream(true);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK);
    block(102, 8000, LOCK, 101, 7500);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 9000, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRED, 102, 9001, LOCK);
    counts(101, 9500, LOCK, 50, 0);
    finish();
    struct upmu_overview_object o = object(LOCK, 0, NULL);
    ck_assert_uint_eq(o.holds, 1);
    ck_assert_uint_eq(o.hold_ns, 1500);
    ck_assert_uint_eq(o.holds_complete, 0);
    end_stream();
}
END_TEST

/* A release of thread 101 with the hold it ends. */
static void release_of(uint64_t time, uint64_t since, uint64_t site, uint32_t flags)
{
    struct upmu_trace_event e = event(UPMU_TRACE_LOCK_RELEASE, 101, time, LOCK);
    e.lock_release.held_since = since;
    e.lock_release.held_site = site;
    e.flags = flags;
    add(&e);
}

START_TEST(hold_in_a_release_is_known_by_lock_thread_and_call_site)
{
    size_t i;
    begin_stream(true);
    block(102, 8000, LOCK, 101, 0); /* could not read since when */
    release_of(9000, 1000, 0x5000, 0);
    put(UPMU_TRACE_LOCK_ACQUIRED, 102, 9001, LOCK);
    release_of(9500, 9400, 0x5000, 0);
    release_of(9900, 9800, 0x6000, UPMU_TRACE_FLAG_SAMPLED);
    counts(101, 9950, LOCK, 50, 0);
    finish();
    struct upmu_overview_object o = object(LOCK, 0, &i);
    ck_assert_uint_eq(o.holds, 2);
    ck_assert_uint_eq(o.hold_ns, 8100);
    ck_assert_uint_eq(o.hold_max_ns, 8000);
    ck_assert_uint_eq(o.partial_holds, 0);
    ck_assert_uint_eq(o.holds_complete, 0);
    ck_assert_uint_eq(use(i, 101).hold_ns, 8100);
    ck_assert_uint_eq(site(i, 0x5000).holds, 2);
    ck_assert_uint_eq(site(i, 0x5000).hold_ns, 8100);
    ck_assert_uint_eq(site(i, 0x5000).hold_max_ns, 8000);
    end_stream();
}
END_TEST

START_TEST(hold_that_others_still_wait_for_lasts_to_the_end)
{
    size_t i;
    begin_stream(true);
    block(102, 3000, LOCK, 101, 2000);
    put(UPMU_TRACE_MARK, 101, 7000, 0);
    finish();
    struct upmu_overview_object o = object(LOCK, 0, &i);
    ck_assert_uint_eq(o.holds, 0);
    ck_assert_uint_eq(o.partial_holds, 1);
    ck_assert_uint_eq(o.partial_ns, 5000);
    end_stream();
}
END_TEST

START_TEST(longest_wait_has_the_whole_hold)
{
    begin_stream(true);
    block(102, 8000, LOCK, 101, 1000);
    release_of(9000, 1000, 0x5000, 0);
    put(UPMU_TRACE_LOCK_ACQUIRED, 102, 9001, LOCK);
    finish();
    ck_assert_uint_eq(object(LOCK, 0, NULL).longest.hold_ns, 8000);
    end_stream();
}
END_TEST

START_TEST(longest_wait_has_the_hold_it_found_although_the_lock_was_acquired_again)
{
    begin_stream(true);
    block(102, 3000, LOCK, 101, 2000);
    release_of(5000, 2000, 0x5000, 0);
    release_of(6000, 5500, 0x6000, 0); /* before the waiter ran */
    put(UPMU_TRACE_LOCK_ACQUIRED, 102, 7000, LOCK);
    finish();
    ck_assert_uint_eq(object(LOCK, 0, NULL).longest.ns, 4000);
    ck_assert_uint_eq(object(LOCK, 0, NULL).longest.hold_ns, 3000);
    end_stream();
}
END_TEST

START_TEST(hold_from_before_the_recording_is_a_lower_bound_beside_complete_ones)
{
    size_t i;
    begin_stream(true);
    release_of(3000, 1000, 0, UPMU_TRACE_FLAG_BEFORE);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 4000, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 4500, LOCK);
    counts(101, 5000, LOCK, 1, 0);
    finish();
    struct upmu_overview_object o = object(LOCK, 0, &i);
    ck_assert_uint_eq(o.holds, 1);
    ck_assert_uint_eq(o.hold_ns, 500);
    ck_assert_uint_eq(o.holds_complete, 0);
    ck_assert_uint_eq(use(i, 101).holds_complete, 0);
    ck_assert_uint_eq(o.partial_holds, 1);
    ck_assert_uint_eq(o.partial_ns, 2000);
    ck_assert_uint_eq(o.before_holds, 1);
    ck_assert_uint_eq(use(i, 101).partial_ns, 2000);
    end_stream();
}
END_TEST

START_TEST(mutex_from_before_the_recording_is_resumed_after_a_condition_wait)
{
    struct upmu_trace_event e;
    begin_stream(true);
    put(UPMU_TRACE_LOCK_ACQUIRE, 102, 900, LOCK); /* so that the mutex is known */
    put(UPMU_TRACE_LOCK_RELEASE, 102, 950, LOCK);
    e = event(UPMU_TRACE_COND_WAIT, 101, 3000, COND);
    e.object_type = UPMU_OBJECT_COND;
    e.flags = UPMU_TRACE_FLAG_BEFORE;
    e.cond.mutex = LOCK;
    e.cond.held_since = 1000;
    add(&e);
    e = event(UPMU_TRACE_COND_WAKE, 101, 5000, COND);
    e.object_type = UPMU_OBJECT_COND;
    e.cond.mutex = LOCK;
    add(&e);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 5700, LOCK);
    counts(102, 6000, LOCK, 1, 0);
    finish();
    struct upmu_overview_object o = object(LOCK, 0, NULL), c = object(COND, 0, NULL);
    ck_assert_uint_eq(o.before_holds, 1);
    ck_assert_uint_eq(o.partial_ns, 2000);
    ck_assert_uint_eq(c.before_waits, 0);
    end_stream();
}
END_TEST

START_TEST(wait_from_before_the_recording_is_marked)
{
    begin_stream(true);
    struct upmu_trace_event e = event(UPMU_TRACE_LOCK_BLOCK, 102, 1000, LOCK);
    e.flags = UPMU_TRACE_FLAG_BEFORE;
    e.lock_block.holder = 101;
    add(&e);
    release_of(4000, 1000, 0, UPMU_TRACE_FLAG_BEFORE);
    put(UPMU_TRACE_LOCK_ACQUIRED, 102, 4001, LOCK);
    finish();
    struct upmu_overview_object o = object(LOCK, 0, NULL);
    ck_assert_uint_eq(o.before_waits, 1);
    ck_assert_uint_eq(o.waits.count, 1);
    ck_assert_uint_eq(o.waits.total_ns, 3001);
    ck_assert_uint_eq(o.longest.before, 1);
    ck_assert_int_eq(o.longest.holder, 101);
    end_stream();
}
END_TEST

START_TEST(condition_wait_is_no_hold_of_its_mutex)
{
    struct upmu_trace_event e;
    begin_stream(true);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK);
    e = event(UPMU_TRACE_COND_WAIT, 101, 1100, COND);
    e.object_type = UPMU_OBJECT_COND;
    e.cond.mutex = LOCK;
    add(&e);
    e.kind = UPMU_TRACE_COND_WAKE;
    e.time_ns = 5000;
    add(&e);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 5030, LOCK);
    counts(101, 6000, LOCK, 1, 0);
    finish();
    struct upmu_overview_object o = object(LOCK, 0, NULL);
    ck_assert_uint_eq(o.holds, 2);
    ck_assert_uint_eq(o.hold_ns, 130);
    ck_assert_uint_eq(object(COND, 0, NULL).waits.total_ns, 3900);
    end_stream();
}
END_TEST

static uint64_t site_of_stack(void *arg, uint32_t process, uint64_t site, uint32_t stack)
{
    (void)arg;
    (void)process;
    return stack == 3 ? 0x5000 : site;
}

START_TEST(site_of_a_compact_event_is_on_top_of_its_stack)
{
    size_t i;
    begin_stream(true);
    subject.pass.call_site = site_of_stack;
    struct upmu_trace_event e = event(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK);
    e.stack = 3;
    add(&e);
    finish();
    object(LOCK, 0, &i);
    ck_assert_uint_eq(site(i, 0x5000).acquisitions, 1);
    end_stream();
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("locks");
    tcase_add_test(cases, recorded_counts_are_exact_and_the_last_ones_are_valid);
    tcase_add_test(cases, counts_of_a_killed_process_are_lower_bounds);
    tcase_add_test(cases, counts_that_begin_anew_are_added);
    tcase_add_test(cases, counts_of_two_locks_at_one_address_are_not_mixed);
    tcase_add_test(cases, counts_recorded_after_the_end_belong_to_the_ended_lock);
    tcase_add_test(cases, address_of_another_type_is_another_object);
    tcase_add_test(cases, lock_of_a_former_type_at_an_address_is_a_new_one_to_each_thread);
    tcase_add_test(cases, name_given_before_the_first_use_stays);
    tcase_add_test(cases, holds_are_complete_when_every_pair_was_recorded);
    tcase_add_test(cases, release_is_not_paired_with_an_acquisition_that_may_not_be_its_own);
    tcase_add_test(cases, hold_that_a_waiter_learned_of_is_known);
    tcase_add_test(cases, hold_in_a_release_is_known_by_lock_thread_and_call_site);
    tcase_add_test(cases, hold_that_others_still_wait_for_lasts_to_the_end);
    tcase_add_test(cases, longest_wait_has_the_whole_hold);
    tcase_add_test(cases, longest_wait_has_the_hold_it_found_although_the_lock_was_acquired_again);
    tcase_add_test(cases, hold_from_before_the_recording_is_a_lower_bound_beside_complete_ones);
    tcase_add_test(cases, mutex_from_before_the_recording_is_resumed_after_a_condition_wait);
    tcase_add_test(cases, wait_from_before_the_recording_is_marked);
    tcase_add_test(cases, condition_wait_is_no_hold_of_its_mutex);
    tcase_add_test(cases, site_of_a_compact_event_is_on_top_of_its_stack);
    return run_suite("analysis locks", cases);
}
