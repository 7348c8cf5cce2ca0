/* SPDX-License-Identifier: MIT */
/* Waits against streams counted by hand. */
#include "stream.h"

#include "unit/suite.h"

enum { LOCK = 0xa0, OTHER = 0xb0, COND = 0xc0 };

START_TEST(wait_is_charged_to_lock_waiter_holder_and_places)
{
    size_t i;
    begin_stream(true);
    block(101, 1000, LOCK, 102, 400);
    struct upmu_trace_event release = event(UPMU_TRACE_LOCK_RELEASE, 102, 1200, LOCK);
    release.stack = 9;
    add(&release);
    put(UPMU_TRACE_LOCK_ACQUIRED, 101, 1250, LOCK);
    block(101, 2000, LOCK, 102, 0);
    put(UPMU_TRACE_LOCK_ACQUIRED, 101, 2100, LOCK);
    finish();

    struct upmu_overview_object o = object(LOCK, 0, &i);
    ck_assert_uint_eq(o.waits.count, 2);
    ck_assert_uint_eq(o.waits.total_ns, 350);
    ck_assert_uint_eq(o.waits.max_ns, 250);
    ck_assert_uint_eq(o.longest.begin_ns, 1000);
    ck_assert_uint_eq(o.longest.ns, 250);
    ck_assert_int_eq(o.longest.waiter, 101);
    ck_assert_int_eq(o.longest.holder, 102);
    ck_assert_uint_eq(o.longest.holder_since, 400);
    ck_assert_uint_eq(o.longest.waiter_stack, 7);
    ck_assert_uint_eq(o.longest.release_stack, 9);
    ck_assert_uint_eq(o.longest.unfinished, 0);
    ck_assert_uint_eq(use(i, 101).waits.total_ns, 350);
    ck_assert_uint_eq(use(i, 102).blocked, 2);
    ck_assert_uint_eq(use(i, 102).blocked_ns, 350);
    ck_assert_uint_eq(site(i, 0x1000).waits.total_ns, 350);
    ck_assert_uint_eq(site(i, 0x2000).blocked_ns, 350);
    ck_assert_uint_eq(thread(101, 0).blocked_ns, 350);
    ck_assert_uint_eq(thread_waits(101, UPMU_WAIT_MUTEX).count, 2);
    ck_assert_uint_eq(thread(102, 0).blocked_ns, 0);
    end_stream();
}
END_TEST

START_TEST(waiter_from_before_that_owns_the_lock_already_has_not_waited_for_itself)
{
    size_t i;
    begin_stream(true);
    struct upmu_trace_event wait = event(UPMU_TRACE_LOCK_BLOCK, 101, 1000, LOCK);
    wait.lock_block.holder = 101;
    wait.flags |= UPMU_TRACE_FLAG_BEFORE | UPMU_TRACE_FLAG_RECURSIVE;
    add(&wait);
    put(UPMU_TRACE_LOCK_ACQUIRED, 101, 1250, LOCK);
    struct upmu_trace_event release = event(UPMU_TRACE_LOCK_RELEASE, 101, 1300, LOCK);
    release.lock_release.held_since = 1250;
    add(&release);
    finish();

    struct upmu_overview_object o = object(LOCK, 0, &i);
    ck_assert_uint_eq(o.waits.total_ns, 250);
    ck_assert_int_eq(o.longest.holder, 0);
    ck_assert_uint_eq(o.hold_ns, 50);
    ck_assert_uint_eq(o.partial_holds, 0);
    ck_assert_uint_eq(use(i, 101).blocked, 0);
    end_stream();
}
END_TEST

START_TEST(wait_inside_a_wait_blocks_the_thread_once)
{
    begin_stream(true);
    put_typed(UPMU_TRACE_COND_WAIT, UPMU_OBJECT_COND, 101, 1000, COND);
    block(101, 1300, LOCK, 0, 0);
    put(UPMU_TRACE_LOCK_ACQUIRED, 101, 1500, LOCK);
    put_typed(UPMU_TRACE_COND_WAKE, UPMU_OBJECT_COND, 101, 1600, COND);
    finish();
    ck_assert_uint_eq(thread(101, 0).blocked_ns, 600);
    ck_assert_uint_eq(thread_waits(101, UPMU_WAIT_COND).total_ns, 600);
    ck_assert_uint_eq(thread_waits(101, UPMU_WAIT_MUTEX).total_ns, 200);
    ck_assert_uint_eq(totals().unmatched, 0);
    end_stream();
}
END_TEST

/* A lock() of the program's own that sleeps between two tries. */
START_TEST(sleep_in_the_wait_for_an_announced_lock_is_that_wait)
{
    struct upmu_overview_pair pair = {.size = sizeof pair};
    struct upmu_trace_event e;
    begin_stream(true);
    e = event(UPMU_TRACE_LOCK_BLOCK, 101, 1000, LOCK);
    e.object_type = UPMU_OBJECT_CUSTOM;
    e.lock_block.holder = 102;
    add(&e);
    for (uint64_t time = 1100; time < 1900; time += 200) {
        e = event(UPMU_TRACE_CALL_BLOCK, 101, time, OTHER);
        e.object_type = UPMU_OBJECT_CALL;
        e.call.call = UPMU_CALL_SLEEP;
        add(&e);
        e.kind = UPMU_TRACE_CALL_RETURN;
        e.time_ns = time + 150;
        add(&e);
    }
    put_typed(UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_CUSTOM, 102, 1890, LOCK);
    put_typed(UPMU_TRACE_LOCK_ACQUIRED, UPMU_OBJECT_CUSTOM, 101, 2000, LOCK);
    finish();
    ck_assert_uint_eq(thread_waits(101, UPMU_WAIT_CUSTOM).total_ns, 1000);
    ck_assert_uint_eq(thread_waits(101, UPMU_WAIT_SLEEP).count, 0);
    ck_assert_uint_eq(thread(101, 0).blocked_ns, 1000);
    ck_assert_int_eq(upmu_overview_pair_at(&subject, 0, &pair), 0);
    ck_assert_uint_eq(pair.waits.total_ns, 1000);
    ck_assert_int_eq(upmu_overview_pair_at(&subject, 1, &pair), UPMU_E_END);
    ck_assert_uint_eq(totals().unmatched, 0);
    end_stream();
}
END_TEST

START_TEST(end_without_its_begin_is_no_wait)
{
    begin_stream(true);
    put(UPMU_TRACE_LOCK_ACQUIRED, 101, 1000, LOCK);
    finish();
    ck_assert_uint_eq(totals().unmatched, 1);
    ck_assert_uint_eq(object(LOCK, 0, NULL).waits.count, 0);
    ck_assert_uint_eq(object(LOCK, 0, NULL).acquisitions, 1);
    end_stream();
}
END_TEST

START_TEST(wait_still_going_on_lasts_until_the_end)
{
    begin_stream(false);
    block(101, 1000, LOCK, 102, 0);
    counts(101, 1100, LOCK, 3, 1); /* written for the thread, not by it */
    put(UPMU_TRACE_MARK, 102, 5000, 0);
    finish();
    struct upmu_overview_object o = object(LOCK, 0, NULL);
    ck_assert_uint_eq(o.waits.count, 0);
    ck_assert_uint_eq(o.waits.unfinished, 1);
    ck_assert_uint_eq(o.waits.unfinished_ns, 4000);
    ck_assert_uint_eq(thread(101, 0).blocked_ns, 4000);
    ck_assert_uint_eq(o.longest.unfinished, 1);
    ck_assert_uint_eq(totals().unfinished, 1);
    end_stream();
}
END_TEST

START_TEST(thread_that_did_something_since_does_not_wait)
{
    begin_stream(false);
    block(101, 1000, LOCK, 102, 0);
    put(UPMU_TRACE_MARK, 101, 2000, 0);
    put(UPMU_TRACE_MARK, 102, 9000, 0);
    finish();
    ck_assert_uint_eq(totals().unfinished, 0);
    ck_assert_uint_eq(totals().unmatched, 1);
    ck_assert_uint_eq(thread(101, 0).blocked_ns, 0);
    end_stream();
}
END_TEST

START_TEST(same_wait_twice_is_the_second_one)
{
    begin_stream(true);
    block(101, 1000, LOCK, 0, 0);
    block(101, 3000, LOCK, 0, 0);
    put(UPMU_TRACE_LOCK_ACQUIRED, 101, 3010, LOCK);
    finish();
    ck_assert_uint_eq(object(LOCK, 0, NULL).waits.total_ns, 10);
    ck_assert_uint_eq(totals().unmatched, 1);
    end_stream();
}
END_TEST

START_TEST(failed_wait_is_a_wait_but_no_acquisition)
{
    begin_stream(true);
    block(101, 1000, LOCK, 0, 0);
    put(UPMU_TRACE_LOCK_FAILED, 101, 1500, LOCK);
    finish();
    struct upmu_overview_object o = object(LOCK, 0, NULL);
    ck_assert_uint_eq(o.waits.total_ns, 500);
    ck_assert_uint_eq(o.failed, 1);
    ck_assert_uint_eq(o.acquisitions, 0);
    end_stream();
}
END_TEST

START_TEST(kinds_of_waits_are_distinguished)
{
    begin_stream(true);
    put_typed(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_SEM, 101, 1000, LOCK);
    put_typed(UPMU_TRACE_LOCK_ACQUIRED, UPMU_OBJECT_SEM, 101, 1001, LOCK);
    put_typed(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_CUSTOM, 101, 1100, OTHER);
    put_typed(UPMU_TRACE_LOCK_ACQUIRED, UPMU_OBJECT_CUSTOM, 101, 1102, OTHER);
    put_typed(UPMU_TRACE_THREAD_JOIN, UPMU_OBJECT_THREAD, 101, 1200, LOCK);
    put_typed(UPMU_TRACE_THREAD_JOINED, UPMU_OBJECT_THREAD, 101, 1204, LOCK);
    finish();
    ck_assert_uint_eq(thread_waits(101, UPMU_WAIT_SEM).total_ns, 1);
    ck_assert_uint_eq(thread_waits(101, UPMU_WAIT_CUSTOM).total_ns, 2);
    ck_assert_uint_eq(thread_waits(101, UPMU_WAIT_JOIN).total_ns, 4);
    ck_assert_uint_eq(thread(101, 0).blocked_ns, 7);
    struct upmu_overview_thread_wait none = {.size = sizeof none};
    ck_assert_uint_eq(upmu_overview_thread_wait_count(&subject, 0), UPMU_WAIT_CHILD + 1);
    ck_assert_uint_eq(upmu_overview_thread_wait_count(&subject, 1), 0);
    ck_assert_int_eq(upmu_overview_thread_wait_at(&subject, 0, UPMU_WAIT_CHILD + 1, &none), UPMU_E_END);
    ck_assert_int_eq(upmu_overview_thread_wait_at(&subject, 0, -1, &none), UPMU_E_END);
    ck_assert_int_eq(upmu_overview_thread_wait_at(&subject, 1, UPMU_WAIT_MUTEX, &none), UPMU_E_END);
    ck_assert_uint_eq(totals().n_objects, 3); /* a thread and a semaphore of the same number are two */
    end_stream();
}
END_TEST

START_TEST(longest_total_comes_first)
{
    struct upmu_overview_object o = {.size = sizeof o};
    begin_stream(true);
    block(101, 1000, LOCK, 0, 0);
    put(UPMU_TRACE_LOCK_ACQUIRED, 101, 1010, LOCK);
    block(101, 2000, OTHER, 0, 0);
    put(UPMU_TRACE_LOCK_ACQUIRED, 101, 2050, OTHER);
    finish();
    ck_assert_int_eq(upmu_overview_object_at(&subject, 0, &o), 0);
    ck_assert_uint_eq(o.address, OTHER);
    ck_assert_int_eq(upmu_overview_object_at(&subject, 1, &o), 0);
    ck_assert_uint_eq(o.address, LOCK);
    ck_assert_int_eq(upmu_overview_object_at(&subject, 2, &o), UPMU_E_END);
    o.size = UPMU_OVERVIEW_OBJECT_SIZE_V1 - 1;
    ck_assert_int_eq(upmu_overview_object_at(&subject, 0, &o), UPMU_E_INVAL);
    end_stream();
}
END_TEST

START_TEST(kind_of_a_later_version_is_passed_over)
{
    begin_stream(true);
    put(999, 101, 1000, LOCK);
    finish();
    ck_assert_uint_eq(totals().unknown, 1);
    ck_assert_uint_eq(totals().events, 0);
    ck_assert_uint_eq(totals().n_threads, 0);
    end_stream();
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("waits");
    tcase_add_test(cases, wait_is_charged_to_lock_waiter_holder_and_places);
    tcase_add_test(cases, waiter_from_before_that_owns_the_lock_already_has_not_waited_for_itself);
    tcase_add_test(cases, wait_inside_a_wait_blocks_the_thread_once);
    tcase_add_test(cases, sleep_in_the_wait_for_an_announced_lock_is_that_wait);
    tcase_add_test(cases, end_without_its_begin_is_no_wait);
    tcase_add_test(cases, wait_still_going_on_lasts_until_the_end);
    tcase_add_test(cases, thread_that_did_something_since_does_not_wait);
    tcase_add_test(cases, same_wait_twice_is_the_second_one);
    tcase_add_test(cases, failed_wait_is_a_wait_but_no_acquisition);
    tcase_add_test(cases, kinds_of_waits_are_distinguished);
    tcase_add_test(cases, longest_total_comes_first);
    tcase_add_test(cases, kind_of_a_later_version_is_passed_over);
    return run_suite("analysis waits", cases);
}
