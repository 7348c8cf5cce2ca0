/* SPDX-License-Identifier: MIT */
/* Readers, barriers, once functions and futexes against streams counted by hand. */
#include <errno.h>

#include "stream.h"

#include "unit/suite.h"

enum { LOCK = 0xa0, OTHER = 0xb0, SERIAL = -1 };

/* An event with everything that matters here. */
static void put_full(int kind, int type, pid_t tid, uint64_t time, uint32_t flags, int32_t result)
{
    struct upmu_trace_event e = event(kind, tid, time, LOCK);
    e.object_type = type;
    e.flags = flags;
    e.result = result;
    e.lock_block.holder = kind == UPMU_TRACE_LOCK_BLOCK ? 101 : 0;
    add(&e);
}

static void put_counts(pid_t tid, uint64_t time, uint32_t flags, uint64_t count, uint64_t contended)
{
    struct upmu_trace_event e = event(UPMU_TRACE_LOCK_COUNTS, tid, time, LOCK);
    e.object_type = UPMU_OBJECT_RWLOCK;
    e.flags = flags;
    e.lock_counts = (struct upmu_trace_lock_counts){.acquisitions = count, .contended = contended, .thread = tid};
    add(&e);
}

static struct upmu_overview_object the_object(size_t *index)
{
    struct upmu_overview_object o = object(LOCK, 0, index);
    ck_assert_uint_eq(totals().n_objects, 1);
    return o;
}

START_TEST(readers_and_writers_have_counts_of_their_own)
{
    size_t at;
    begin_stream(true);
    put_counts(101, 1000, UPMU_TRACE_FLAG_SHARED, 10, 2);
    put_counts(101, 1000, 0, 3, 1);
    put_counts(102, 1000, UPMU_TRACE_FLAG_SHARED, 5, 0);
    put_counts(101, 2000, UPMU_TRACE_FLAG_SHARED, 30, 4);
    put_counts(101, 2000, 0, 7, 1);
    finish();
    struct upmu_overview_object o = the_object(&at);
    ck_assert_uint_eq(o.acquisitions, 42);
    ck_assert_uint_eq(o.shared, 35);
    ck_assert_uint_eq(o.contended, 5);
    ck_assert_uint_eq(o.counts_exact, 1);
    ck_assert_uint_eq(use(at, 101).shared, 30);
    ck_assert_uint_eq(use(at, 102).shared, 5);
    end_stream();
}
END_TEST

START_TEST(acquisitions_since_the_last_count_are_readers_or_writers)
{
    begin_stream(true);
    put_counts(101, 1000, UPMU_TRACE_FLAG_SHARED, 10, 0);
    put_full(UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_RWLOCK, 101, 1100, UPMU_TRACE_FLAG_SHARED, 0);
    put_full(UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_RWLOCK, 101, 1200, UPMU_TRACE_FLAG_SHARED, 0);
    put_full(UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_RWLOCK, 101, 1300, 0, 0);
    finish();
    struct upmu_overview_object o = the_object(NULL);
    ck_assert_uint_eq(o.acquisitions, 12);
    ck_assert_uint_eq(o.shared, 11);
    ck_assert_uint_eq(o.counts_exact, 0);
    end_stream();
}
END_TEST

START_TEST(waits_of_readers_are_distinguished)
{
    begin_stream(true);
    put_full(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_RWLOCK, 102, 1000, UPMU_TRACE_FLAG_SHARED, 0);
    put_full(UPMU_TRACE_LOCK_ACQUIRED, UPMU_OBJECT_RWLOCK, 102, 1300, UPMU_TRACE_FLAG_SHARED, 0);
    put_full(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_RWLOCK, 103, 2000, UPMU_TRACE_FLAG_HOLDER_SHARED, 0);
    put_full(UPMU_TRACE_LOCK_ACQUIRED, UPMU_OBJECT_RWLOCK, 103, 2500, 0, 0);
    finish();
    struct upmu_overview_object o = the_object(NULL);
    ck_assert_uint_eq(o.waits.count, 2);
    ck_assert_uint_eq(o.waits.total_ns, 800);
    ck_assert_uint_eq(o.shared_waits.count, 1);
    ck_assert_uint_eq(o.shared_waits.total_ns, 300);
    ck_assert_int_eq(o.longest.waiter, 103);
    ck_assert(!o.longest.shared && o.longest.holder_shared);
    ck_assert_uint_eq(thread_waits(102, UPMU_WAIT_RWLOCK).total_ns, 300);
    ck_assert_uint_eq(thread_waits(103, UPMU_WAIT_RWLOCK).total_ns, 500);
    end_stream();
}
END_TEST

START_TEST(two_readings_of_one_thread_are_one_hold)
{
    size_t at;
    begin_stream(true);
    for (uint64_t i = 0; i < 2; i++)
        put_full(UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_RWLOCK, 101, 1000 + 100 * i, UPMU_TRACE_FLAG_SHARED, 0);
    for (uint64_t i = 0; i < 2; i++)
        put_full(UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_RWLOCK, 101, 1300 + 100 * i, UPMU_TRACE_FLAG_SHARED, 0);
    put_counts(101, 1500, UPMU_TRACE_FLAG_SHARED, 2, 0);
    finish();
    struct upmu_overview_object o = the_object(&at);
    ck_assert_uint_eq(o.holds, 1);
    ck_assert_uint_eq(o.hold_ns, 400);
    ck_assert_uint_eq(o.holds_complete, 1);
    end_stream();
}
END_TEST

START_TEST(samples_are_holds_whatever_was_left_out)
{
    begin_stream(true);
    put_full(UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_MUTEX, 101, 1000, UPMU_TRACE_FLAG_SAMPLED, 0);
    put_full(UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_MUTEX, 101, 1300, UPMU_TRACE_FLAG_SAMPLED, 0);
    /* Begun, then paused; what comes later is the end of another one. */
    put_full(UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_MUTEX, 101, 2000, UPMU_TRACE_FLAG_SAMPLED, 0);
    put_full(UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_MUTEX, 101, 9000, 0, 0);
    put_full(UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_MUTEX, 101, 9100, UPMU_TRACE_FLAG_SAMPLED, 0);
    put_full(UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_MUTEX, 101, 9200, UPMU_TRACE_FLAG_SAMPLED, 0);
    put_full(UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_MUTEX, 101, 9300, UPMU_TRACE_FLAG_SAMPLED, 0);
    struct upmu_trace_event e = event(UPMU_TRACE_LOCK_COUNTS, 101, 9900, LOCK);
    e.lock_counts = (struct upmu_trace_lock_counts){.acquisitions = 3000, .thread = 101};
    add(&e);
    finish();
    struct upmu_overview_object o = the_object(NULL);
    ck_assert_uint_eq(o.samples, 2);
    ck_assert_uint_eq(o.sample_ns, 400);
    ck_assert_uint_eq(o.sample_max_ns, 300);
    ck_assert_uint_eq(o.holds, 0);
    end_stream();
}
END_TEST

START_TEST(failed_tries_are_no_waits)
{
    begin_stream(true);
    put_full(UPMU_TRACE_LOCK_FAILED, UPMU_OBJECT_SPIN, 102, 1000, UPMU_TRACE_FLAG_TRIED, EBUSY);
    put_full(UPMU_TRACE_LOCK_FAILED, UPMU_OBJECT_SPIN, 102, 1100, UPMU_TRACE_FLAG_TRIED, EBUSY);
    finish();
    struct upmu_overview_object o = the_object(NULL);
    ck_assert_uint_eq(o.tries_failed, 2);
    ck_assert_uint_eq(o.failed, 0);
    ck_assert_uint_eq(o.waits.count, 0);
    ck_assert_uint_eq(totals().unmatched, 0);
    end_stream();
}
END_TEST

START_TEST(joining_without_waiting_is_no_wait)
{
    begin_stream(true);
    put_full(UPMU_TRACE_THREAD_JOINED, UPMU_OBJECT_THREAD, 101, 1000, UPMU_TRACE_FLAG_TRIED, EBUSY);
    put_full(UPMU_TRACE_THREAD_JOINED, UPMU_OBJECT_THREAD, 101, 1100, UPMU_TRACE_FLAG_TRIED, 0);
    finish();
    struct upmu_overview_object o = the_object(NULL);
    ck_assert_uint_eq(o.tries_failed, 1);
    ck_assert_uint_eq(o.failed, 0);
    ck_assert_uint_eq(o.waits.count, 0);
    ck_assert_uint_eq(totals().unmatched, 0);
    end_stream();
}
END_TEST

START_TEST(last_arrival_at_a_barrier_is_no_wait)
{
    size_t at;
    begin_stream(true);
    for (uint64_t round = 0; round < 3; round++) {
        uint64_t begin = 1000 * (round + 1);
        put_full(UPMU_TRACE_BARRIER_ARRIVE, UPMU_OBJECT_BARRIER, 101, begin, 0, 0);
        put_full(UPMU_TRACE_BARRIER_ARRIVE, UPMU_OBJECT_BARRIER, 102, begin + 400, 0, 0);
        put_full(UPMU_TRACE_BARRIER_LEAVE, UPMU_OBJECT_BARRIER, 101, begin + 410, 0, 0);
        put_full(UPMU_TRACE_BARRIER_LEAVE, UPMU_OBJECT_BARRIER, 102, begin + 420, 0, SERIAL);
    }
    finish();
    struct upmu_overview_object o = the_object(&at);
    ck_assert_uint_eq(o.rounds, 3);
    ck_assert_uint_eq(o.failed, 0);
    ck_assert_uint_eq(use(at, 101).last_arrivals, 0);
    ck_assert_uint_eq(use(at, 102).last_arrivals, 3);
    ck_assert_uint_eq(thread_waits(101, UPMU_WAIT_BARRIER).total_ns, 3 * 410);
    ck_assert_uint_eq(thread_waits(102, UPMU_WAIT_BARRIER).count, 0);
    ck_assert_uint_eq(thread(102, 0).blocked_ns, 0);
    ck_assert_uint_eq(use(at, 102).waits.count, 0);
    ck_assert_uint_eq(o.waits.count, 3);
    ck_assert_uint_eq(o.waits.total_ns, 3 * 410);
    ck_assert_uint_eq(totals().unmatched + totals().unfinished, 0);
    end_stream();
}
END_TEST

START_TEST(who_waits_for_a_function_to_run_once_holds_nothing)
{
    size_t at;
    begin_stream(true);
    put_full(UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_ONCE, 101, 1000, 0, 0);
    put_full(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_ONCE, 102, 1100, 0, 0);
    put_full(UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_ONCE, 101, 1500, 0, 0);
    put_full(UPMU_TRACE_LOCK_ACQUIRED, UPMU_OBJECT_ONCE, 102, 1510, 0, 0);
    struct upmu_trace_event counted = event(UPMU_TRACE_LOCK_COUNTS, 101, 1600, LOCK);
    counted.object_type = UPMU_OBJECT_ONCE;
    counted.lock_counts = (struct upmu_trace_lock_counts){.acquisitions = 1, .thread = 101};
    add(&counted);
    finish();
    struct upmu_overview_object o = the_object(&at);
    ck_assert_uint_eq(o.acquisitions, 1);
    ck_assert_uint_eq(o.waits.total_ns, 410);
    ck_assert_uint_eq(o.holds, 1);
    ck_assert_uint_eq(o.hold_ns, 500);
    ck_assert_uint_eq(o.holds_complete, 1);
    ck_assert_uint_eq(use(at, 101).blocked_ns, 410);
    end_stream();
}
END_TEST

START_TEST(futex_calls_that_do_not_sleep_are_no_waits)
{
    begin_stream(true);
    put_full(UPMU_TRACE_FUTEX_WAIT, UPMU_OBJECT_FUTEX, 101, 1000, 0, 0);
    put_full(UPMU_TRACE_FUTEX_WOKEN, UPMU_OBJECT_FUTEX, 101, 1001, 0, EAGAIN);
    put_full(UPMU_TRACE_FUTEX_WAIT, UPMU_OBJECT_FUTEX, 101, 1100, 0, 0);
    put_full(UPMU_TRACE_FUTEX_WAKE, UPMU_OBJECT_FUTEX, 102, 1150, 0, 0);
    put_full(UPMU_TRACE_FUTEX_WOKEN, UPMU_OBJECT_FUTEX, 101, 1160, 0, 0);
    put_full(UPMU_TRACE_FUTEX_WAIT, UPMU_OBJECT_FUTEX, 101, 1200, UPMU_TRACE_FLAG_TIMED, 0);
    put_full(UPMU_TRACE_FUTEX_WOKEN, UPMU_OBJECT_FUTEX, 101, 1300, UPMU_TRACE_FLAG_TIMED, ETIMEDOUT);
    finish();
    struct upmu_overview_object o = the_object(NULL);
    ck_assert_uint_eq(o.waits.count, 2);
    ck_assert_uint_eq(o.waits.total_ns, 160);
    ck_assert_uint_eq(o.failed, 1);
    ck_assert_uint_eq(o.signals, 1);
    ck_assert_uint_eq(totals().unmatched, 0);
    end_stream();
}
END_TEST

START_TEST(opening_a_semaphore_names_it_and_begins_no_other)
{
    begin_stream(true);
    struct upmu_trace_event e = event(UPMU_TRACE_SEM_OPEN, 101, 1000, LOCK);
    e.object_type = UPMU_OBJECT_SEM;
    e.name = "/jobs";
    add(&e);
    put_full(UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_SEM, 101, 1100, 0, 0);
    add(&e);
    put_full(UPMU_TRACE_SEM_CLOSE, UPMU_OBJECT_SEM, 101, 1200, 0, 0);
    e = event(UPMU_TRACE_SEM_UNLINK, 101, 1300, 0);
    e.object_type = UPMU_OBJECT_SEM;
    e.name = "/jobs";
    add(&e);
    put_full(UPMU_TRACE_SEM_VALUE, UPMU_OBJECT_SEM, 101, 1400, 0, 0);
    finish();
    struct upmu_overview_object o = the_object(NULL);
    ck_assert_str_eq(o.name, "/jobs");
    ck_assert_uint_eq(o.acquisitions, 1);
    end_stream();
}
END_TEST

/* Processes 1, 2, ... with pid 100, in other PID namespaces. */
static void add_processes(uint32_t n)
{
    const struct ov_process p = {.start_ns = 1, .whole = true};
    for (uint32_t i = 0; i < n; i++)
        ck_assert_int_eq(overview_process(&subject.pass, &p), 0);
}

/* Thread `tid` of a process begins, and uses the lock if `uses`. */
static void live(uint32_t process, pid_t tid, uint64_t time, bool uses)
{
    struct upmu_trace_event e = event(UPMU_TRACE_THREAD_START, tid, time, 0);
    e.process = process;
    add(&e);
    e = event(UPMU_TRACE_LOCK_INIT, tid, time + 1, LOCK);
    e.process = process;
    if (uses)
        add(&e);
}

/* Thread 102 of process 0 waits for the lock: the process of the thread that is the holder, -1: unknown. */
static int64_t holder_of(pid_t tid, uint64_t since, uint32_t flags)
{
    struct upmu_trace_event e = event(UPMU_TRACE_LOCK_BLOCK, 102, 9000, LOCK);
    e.lock_block = (struct upmu_trace_lock_block){.holder = tid, .holder_since = since};
    e.flags = flags;
    add(&e);
    uint32_t waiter = map_find(&subject.pass.by_tid, 0, 102), holder = subject.pass.threads[waiter].pending[0].holder;
    ck_assert(holder == MAP_NONE || subject.pass.threads[holder].tid == tid);
    int64_t process = holder == MAP_NONE ? -1 : (int64_t)subject.pass.threads[holder].process;
    e.kind = UPMU_TRACE_LOCK_ACQUIRED;
    e.time_ns = 9100;
    add(&e);
    finish();
    end_stream();
    return process;
}

/* Threads 101 and 102 of process 0, and 101 of others. */
static void begin_namespaces(uint32_t others, uint32_t with_lock)
{
    begin_stream(true);
    add_processes(others);
    live(0, 101, 1000, true);
    live(0, 102, 1100, false);
    for (uint32_t p = 1; p <= others; p++)
        live(p, 101, 1200 + 10 * p, p <= with_lock);
}

START_TEST(a_holder_may_be_a_thread_of_another_process_with_the_same_id)
{
    begin_namespaces(1, 1);
    ck_assert_int_eq(holder_of(101, 0, UPMU_TRACE_FLAG_PSHARED), 1);
    begin_namespaces(1, 1);
    ck_assert_int_eq(holder_of(101, 0, UPMU_TRACE_FLAG_ROBUST), 1);
    begin_namespaces(1, 1); /* the recorder has found that its own thread holds it */
    ck_assert_int_eq(holder_of(101, 5000, UPMU_TRACE_FLAG_PSHARED), 0);
    begin_namespaces(1, 1);
    ck_assert_int_eq(holder_of(101, 0, 0), 0);
    begin_namespaces(1, 0); /* the other one does not use the lock */
    ck_assert_int_eq(holder_of(101, 0, UPMU_TRACE_FLAG_PSHARED), 0);
}
END_TEST

START_TEST(a_holder_that_may_be_one_of_several_threads_is_unknown)
{
    begin_namespaces(2, 2);
    ck_assert_int_eq(holder_of(101, 0, UPMU_TRACE_FLAG_PSHARED), -1);
    begin_namespaces(2, 1);
    ck_assert_int_eq(holder_of(101, 0, UPMU_TRACE_FLAG_PSHARED), 1);
}
END_TEST

START_TEST(a_waiter_is_not_the_holder_of_a_lock_that_another_process_holds)
{
    begin_namespaces(0, 0);
    add_processes(1);
    live(1, 102, 1500, false);
    ck_assert_int_eq(holder_of(102, 0, UPMU_TRACE_FLAG_PSHARED), 1);
    begin_namespaces(0, 0); /* it waits for itself */
    ck_assert_int_eq(holder_of(102, 0, UPMU_TRACE_FLAG_PSHARED), 0);
    begin_namespaces(1, 1); /* a thread that only the other one has */
    live(1, 103, 1500, true);
    ck_assert_int_eq(holder_of(103, 0, UPMU_TRACE_FLAG_PSHARED), 1);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("shared");
    tcase_add_test(cases, readers_and_writers_have_counts_of_their_own);
    tcase_add_test(cases, acquisitions_since_the_last_count_are_readers_or_writers);
    tcase_add_test(cases, waits_of_readers_are_distinguished);
    tcase_add_test(cases, two_readings_of_one_thread_are_one_hold);
    tcase_add_test(cases, samples_are_holds_whatever_was_left_out);
    tcase_add_test(cases, failed_tries_are_no_waits);
    tcase_add_test(cases, joining_without_waiting_is_no_wait);
    tcase_add_test(cases, last_arrival_at_a_barrier_is_no_wait);
    tcase_add_test(cases, who_waits_for_a_function_to_run_once_holds_nothing);
    tcase_add_test(cases, futex_calls_that_do_not_sleep_are_no_waits);
    tcase_add_test(cases, opening_a_semaphore_names_it_and_begins_no_other);
    tcase_add_test(cases, a_holder_may_be_a_thread_of_another_process_with_the_same_id);
    tcase_add_test(cases, a_holder_that_may_be_one_of_several_threads_is_unknown);
    tcase_add_test(cases, a_waiter_is_not_the_holder_of_a_lock_that_another_process_holds);
    return run_suite("analysis shared", cases);
}
