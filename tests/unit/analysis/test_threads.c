/* SPDX-License-Identifier: MIT */
/* Names and lifetimes of threads. */
#include "stream.h"

#include "analysis/pass/tables.h"
#include "unit/suite.h"

enum { HANDLE = 0x7f00, LOCK = 0xa0 };

START_TEST(thread_lives_from_start_to_exit)
{
    begin_stream(true);
    struct upmu_trace_event e = event(UPMU_TRACE_THREAD_START, 101, 1000, HANDLE);
    e.thread.peer = 100;
    add(&e);
    put(UPMU_TRACE_THREAD_EXIT, 101, 4000, HANDLE);
    put(UPMU_TRACE_MARK, 100, 5000, 0);
    finish();
    struct upmu_overview_thread t = thread(101, 0), first = thread(100, 0);
    ck_assert_uint_eq(t.begin_ns, 1000);
    ck_assert_uint_eq(t.end_ns, 4000);
    ck_assert_uint_eq(t.started, 1);
    ck_assert_uint_eq(t.ended, 1);
    ck_assert_int_eq(t.creator, 100);
    ck_assert_uint_eq(first.begin_ns, 1); /* the main thread was there when recording began */
    ck_assert_uint_eq(first.started, 0);
    ck_assert_uint_eq(first.end_ns, 5000);
    end_stream();
}
END_TEST

START_TEST(thread_id_given_again_is_another_thread)
{
    begin_stream(true);
    put(UPMU_TRACE_THREAD_START, 101, 1000, HANDLE);
    put(UPMU_TRACE_THREAD_EXIT, 101, 2000, HANDLE);
    put(UPMU_TRACE_THREAD_START, 101, 3000, HANDLE);
    put(UPMU_TRACE_MARK, 101, 3500, 0);
    put(UPMU_TRACE_THREAD_EXIT, 101, 4000, HANDLE);
    finish();
    ck_assert_uint_eq(totals().n_threads, 2);
    ck_assert_uint_eq(thread(101, 0).end_ns, 2000);
    ck_assert_uint_eq(thread(101, 1).begin_ns, 3000);
    ck_assert_uint_eq(thread(101, 1).events, 3);
    end_stream();
}
END_TEST

START_TEST(name_given_by_the_creator_before_the_start_arrives)
{
    begin_stream(true);
    put(UPMU_TRACE_THREAD_CREATE, 100, 1000, HANDLE);
    named(UPMU_TRACE_THREAD_NAME, 100, 1100, HANDLE, "worker");
    put(UPMU_TRACE_THREAD_START, 101, 1200, HANDLE);
    finish();
    ck_assert_str_eq(thread(101, 0).name, "worker");
    ck_assert_str_eq(thread(100, 0).name, "");
    end_stream();
}
END_TEST

START_TEST(thread_names_itself)
{
    begin_stream(true);
    named(UPMU_TRACE_THREAD_NAME, 100, 1000, HANDLE, "first");
    put(UPMU_TRACE_THREAD_START, 101, 1200, HANDLE + 1);
    named(UPMU_TRACE_THREAD_NAME, 101, 1300, HANDLE + 1, "second");
    finish();
    ck_assert_str_eq(thread(100, 0).name, "first");
    ck_assert_str_eq(thread(101, 0).name, "second");
    end_stream();
}
END_TEST

START_TEST(cancelled_thread_waited_until_its_end)
{
    begin_stream(true);
    put(UPMU_TRACE_THREAD_START, 101, 1000, HANDLE);
    put_typed(UPMU_TRACE_COND_WAIT, UPMU_OBJECT_COND, 101, 1500, 0xc0);
    put(UPMU_TRACE_THREAD_EXIT, 101, 2500, HANDLE);
    put(UPMU_TRACE_MARK, 100, 9000, 0);
    finish();
    ck_assert_uint_eq(thread(101, 0).blocked_ns, 1000);
    ck_assert_uint_eq(thread_waits(101, UPMU_WAIT_COND).unfinished, 1);
    end_stream();
}
END_TEST

/* The next thread gets the pthread_t of the first one, and is joined before its first event. */
START_TEST(join_of_a_thread_that_has_not_started_is_not_of_one_that_ended)
{
    begin_stream(true);
    put(UPMU_TRACE_THREAD_CREATE, 100, 1000, HANDLE);
    put(UPMU_TRACE_THREAD_START, 101, 1100, HANDLE);
    put_typed(UPMU_TRACE_THREAD_JOIN, UPMU_OBJECT_THREAD, 100, 1200, HANDLE);
    put(UPMU_TRACE_THREAD_EXIT, 101, 1300, HANDLE);
    put_typed(UPMU_TRACE_THREAD_JOINED, UPMU_OBJECT_THREAD, 100, 1400, HANDLE);
    put(UPMU_TRACE_THREAD_CREATE, 100, 2000, HANDLE);
    put_typed(UPMU_TRACE_THREAD_JOIN, UPMU_OBJECT_THREAD, 100, 2100, HANDLE);
    ck_assert_uint_eq(thread_of_handle(&subject.pass, 0, HANDLE), MAP_NONE);
    put(UPMU_TRACE_THREAD_START, 102, 2200, HANDLE);
    ck_assert_int_eq(subject.pass.threads[thread_of_handle(&subject.pass, 0, HANDLE)].tid, 102);
    put(UPMU_TRACE_MARK, 102, 3000, 0);
    finish();
    ck_assert_int_eq(object(HANDLE, 0, NULL).peer, 101);
    ck_assert_int_eq(object(HANDLE, 1, NULL).peer, 102);
    end_stream();
}
END_TEST

/* A thread may have started, and ended, before pthread_create() returned. */
START_TEST(thread_that_ends_before_its_creation_is_recorded_is_joined)
{
    begin_stream(true);
    put(UPMU_TRACE_THREAD_START, 101, 1000, HANDLE);
    put(UPMU_TRACE_THREAD_EXIT, 101, 1100, HANDLE);
    put(UPMU_TRACE_THREAD_CREATE, 100, 1200, HANDLE);
    put_typed(UPMU_TRACE_THREAD_JOIN, UPMU_OBJECT_THREAD, 100, 1300, HANDLE);
    put_typed(UPMU_TRACE_THREAD_JOINED, UPMU_OBJECT_THREAD, 100, 1400, HANDLE);
    finish();
    ck_assert_int_eq(object(HANDLE, 0, NULL).peer, 101);
    end_stream();
}
END_TEST

START_TEST(many_threads_and_locks_are_found_again)
{
    enum { MANY = 3000 };
    begin_stream(true);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < MANY; i++)
            put(UPMU_TRACE_LOCK_ACQUIRE, 200 + i, (uint64_t)(10 + round * MANY + i), LOCK + (uint64_t)i * 64);
    finish();
    ck_assert_uint_eq(totals().n_threads, MANY);
    ck_assert_uint_eq(totals().n_objects, MANY);
    ck_assert_uint_eq(thread(200 + MANY - 1, 0).events, 2);
    ck_assert_uint_eq(object(LOCK + 64 * 17, 0, NULL).acquisitions, 2);
    end_stream();
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("threads");
    tcase_add_test(cases, thread_lives_from_start_to_exit);
    tcase_add_test(cases, thread_id_given_again_is_another_thread);
    tcase_add_test(cases, name_given_by_the_creator_before_the_start_arrives);
    tcase_add_test(cases, thread_names_itself);
    tcase_add_test(cases, cancelled_thread_waited_until_its_end);
    tcase_add_test(cases, join_of_a_thread_that_has_not_started_is_not_of_one_that_ended);
    tcase_add_test(cases, thread_that_ends_before_its_creation_is_recorded_is_joined);
    tcase_add_test(cases, many_threads_and_locks_are_found_again);
    return run_suite("analysis threads", cases);
}
