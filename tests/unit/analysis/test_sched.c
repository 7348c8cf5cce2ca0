/* SPDX-License-Identifier: MIT */
/* Scheduling states of threads from the kernel's switch records. */
#include <stdio.h>

#include "stream.h"
#include "support/sized.h"
#include "unit/suite.h"

enum { HANDLE = 0x7f00 };

static void sched(int kind, pid_t tid, uint64_t time, uint64_t count, uint32_t flags)
{
    struct upmu_trace_event e = event(kind, tid, time, 0);
    e.object_type = UPMU_OBJECT_NONE;
    if (kind == UPMU_TRACE_SCHED_LOST || kind == UPMU_TRACE_SCHED_SEEN)
        e.sched_count.switches = count;
    else
        e.sched.cpu = (uint32_t)count;
    e.flags = flags;
    add(&e);
}

static void begins(pid_t tid, uint64_t time)
{
    sched(UPMU_TRACE_SCHED_BEGIN, tid, time, 0, 0);
}

static void waits(pid_t tid, uint64_t from, uint64_t to)
{
    sched(UPMU_TRACE_SCHED_OUT, tid, from, 0, 0);
    sched(UPMU_TRACE_SCHED_IN, tid, to, 1, 0);
}

static void is_preempted(pid_t tid, uint64_t from, uint64_t to)
{
    sched(UPMU_TRACE_SCHED_OUT, tid, from, 0, UPMU_TRACE_FLAG_PREEMPTED);
    sched(UPMU_TRACE_SCHED_IN, tid, to, 1, 0);
}

/* Of the thread of that id, the one that came `nth`. */
static struct upmu_overview_sched ran(pid_t tid, size_t nth)
{
    struct upmu_overview_sched s = {.size = sizeof s};
    struct upmu_overview_thread t = {.size = sizeof t};
    uint64_t begin = thread(tid, nth).begin_ns;
    for (size_t i = 0; upmu_overview_thread_at(&subject, i, &t) == 0; i++)
        if (t.tid == tid && t.begin_ns == begin) {
            ck_assert_int_eq(upmu_overview_sched_at(&subject, i, &s), 0);
            ck_assert_uint_eq(s.running_ns + s.preempted_ns + s.blocked_ns + s.unknown_ns, t.end_ns - t.begin_ns);
            return s;
        }
    ck_abort_msg("no thread %d", (int)tid);
}

START_TEST(every_moment_of_a_life_is_one_of_running_preempted_and_blocked)
{
    begin_stream(true);
    begins(101, 990);
    put(UPMU_TRACE_THREAD_START, 101, 1000, HANDLE);
    waits(101, 1100, 1400);
    is_preempted(101, 1500, 1700);
    waits(101, 1800, 1900);
    put(UPMU_TRACE_THREAD_EXIT, 101, 2000, HANDLE);
    sched(UPMU_TRACE_SCHED_OUT, 101, 2100, 0, 0); /* behind its last event: no part of its life */
    finish();
    struct upmu_overview_sched s = ran(101, 0);
    ck_assert_uint_eq(s.recorded, 1);
    ck_assert_uint_eq(s.running_ns, 100 + 100 + 100 + 100);
    ck_assert_uint_eq(s.blocked_ns, 300 + 100);
    ck_assert_uint_eq(s.preempted_ns, 200);
    ck_assert_uint_eq(s.unknown_ns, 0);
    ck_assert_uint_eq(s.voluntary, 2);
    ck_assert_uint_eq(s.involuntary, 1);
    ck_assert_uint_eq(s.lost, 0);
    end_stream();
}
END_TEST

START_TEST(counters_never_read_are_unknown)
{
    begin_stream(true);
    put(UPMU_TRACE_MARK, 100, 1000, 0);
    begins(100, 1500);
    waits(100, 1600, 1700);
    sched(UPMU_TRACE_SCHED_SEEN, 100, 2000, 2, 0);
    put(UPMU_TRACE_MARK, 100, 5000, 0); /* then it was killed */
    finish();
    struct upmu_overview_sched s = ran(100, 0);
    ck_assert_uint_eq(s.running_ns, 100 + 300);
    ck_assert_uint_eq(s.blocked_ns, 100);
    ck_assert_uint_eq(s.unknown_ns, 1499 + 3000); /* it was there from 1 on */
    end_stream();
}
END_TEST

START_TEST(thread_that_sleeps_at_its_last_record_is_blocked_to_the_end)
{
    begin_stream(true);
    begins(100, 1);
    sched(UPMU_TRACE_SCHED_OUT, 100, 1000, 0, 0);
    sched(UPMU_TRACE_SCHED_SEEN, 100, 4000, 1, 0);
    finish();
    ck_assert_uint_eq(ran(100, 0).blocked_ns, 3000);
    ck_assert_uint_eq(ran(100, 0).running_ns, 999);
    end_stream();
}
END_TEST

START_TEST(loss_is_a_gap_and_what_follows_is_known_again)
{
    begin_stream(true);
    begins(100, 1);
    sched(UPMU_TRACE_SCHED_OUT, 100, 101, 0, 0);
    sched(UPMU_TRACE_SCHED_SEEN, 100, 151, 1, 0);
    sched(UPMU_TRACE_SCHED_LOST, 100, 901, 7, 0);
    sched(UPMU_TRACE_SCHED_OUT, 100, 1001, 0, UPMU_TRACE_FLAG_PREEMPTED);
    sched(UPMU_TRACE_SCHED_IN, 100, 1101, 0, 0);
    sched(UPMU_TRACE_SCHED_SEEN, 100, 1201, 10, 0);
    finish();
    struct upmu_overview_sched s = ran(100, 0);
    ck_assert_uint_eq(s.lost, 7);
    ck_assert_uint_eq(s.running_ns, 100 + 100);
    ck_assert_uint_eq(s.blocked_ns, 50);
    ck_assert_uint_eq(s.preempted_ns, 100);
    ck_assert_uint_eq(s.unknown_ns, 850);
    end_stream();
}
END_TEST

START_TEST(two_moments_that_do_not_fit_enclose_the_unknown)
{
    begin_stream(true);
    begins(100, 1);
    sched(UPMU_TRACE_SCHED_OUT, 100, 101, 0, 0);
    sched(UPMU_TRACE_SCHED_OUT, 100, 201, 0, 0);
    sched(UPMU_TRACE_SCHED_IN, 100, 301, 0, 0);
    sched(UPMU_TRACE_SCHED_IN, 100, 401, 0, 0);
    finish();
    struct upmu_overview_sched s = ran(100, 0);
    ck_assert_uint_eq(s.running_ns, 100);
    ck_assert_uint_eq(s.blocked_ns, 100);
    ck_assert_uint_eq(s.unknown_ns, 200);
    end_stream();
}
END_TEST

START_TEST(ring_without_its_beginning_is_known_from_its_first_record)
{
    begin_stream(true);
    put(UPMU_TRACE_MARK, 100, 500, 0);
    sched(UPMU_TRACE_SCHED_OUT, 100, 1000, 0, 0);
    sched(UPMU_TRACE_SCHED_IN, 100, 1200, 0, 0);
    sched(UPMU_TRACE_SCHED_SEEN, 100, 1300, 900, 0);
    finish();
    struct upmu_overview_sched s = ran(100, 0);
    ck_assert_uint_eq(s.blocked_ns, 200);
    ck_assert_uint_eq(s.running_ns, 100);
    ck_assert_uint_eq(s.unknown_ns, 999);
    end_stream();
}
END_TEST

START_TEST(switches_of_an_id_given_again_are_those_of_its_new_thread)
{
    begin_stream(true);
    begins(101, 990);
    put(UPMU_TRACE_THREAD_START, 101, 1000, HANDLE);
    waits(101, 1100, 1200);
    put(UPMU_TRACE_THREAD_EXIT, 101, 2000, HANDLE);
    begins(101, 2990);
    put(UPMU_TRACE_THREAD_START, 101, 3000, HANDLE);
    is_preempted(101, 3100, 3400);
    put(UPMU_TRACE_THREAD_EXIT, 101, 4000, HANDLE);
    finish();
    ck_assert_uint_eq(totals().n_threads, 2);
    ck_assert_uint_eq(ran(101, 0).blocked_ns, 100);
    ck_assert_uint_eq(ran(101, 0).involuntary, 0);
    ck_assert_uint_eq(ran(101, 1).preempted_ns, 300);
    ck_assert_uint_eq(ran(101, 1).voluntary, 0);
    end_stream();
}
END_TEST

START_TEST(switches_are_no_doing_of_the_thread)
{
    begin_stream(true);
    begins(100, 1);
    put(UPMU_TRACE_MARK, 100, 500, 0);
    block(100, 1000, 0xa0, 0, 0);
    waits(100, 1100, 1200);
    put(UPMU_TRACE_MARK, 101, 3000, 0);
    finish();
    ck_assert_uint_eq(thread(100, 0).events, 2);
    ck_assert_uint_eq(totals().unfinished, 1); /* it still waits */
    ck_assert_uint_eq(object(0xa0, 0, NULL).waits.unfinished_ns, 2000);
    ck_assert_uint_eq(totals().unknown, 0);
    end_stream();
}
END_TEST

START_TEST(without_switches_all_is_unknown_and_said_so)
{
    begin_stream(true);
    put(UPMU_TRACE_MARK, 100, 1001, 0);
    finish();
    ck_assert_uint_eq(ran(100, 0).recorded, 0);
    ck_assert_uint_eq(ran(100, 0).unknown_ns, 1000);
    struct upmu_overview_sched s = {.size = sizeof s};
    ck_assert_int_eq(upmu_overview_sched_at(&subject, 1, &s), UPMU_E_END);
    s.size = 8;
    ck_assert_int_eq(upmu_overview_sched_at(&subject, 0, &s), UPMU_E_INVAL);
    ck_assert_str_eq(upmu_sched_state_name(UPMU_SCHED_PREEMPTED), "preempted");
    ck_assert_str_eq(upmu_sched_state_name(UPMU_SCHED_BLOCKED + 1), "?");
    end_stream();
}
END_TEST

/* ------------------------------------------------------------------------------------------------- tracepoints */

static void wakes(pid_t waker, uint64_t time, pid_t wakee)
{
    struct upmu_trace_event e = event(UPMU_TRACE_SCHED_WAKE, waker, time, 0);
    e.object_type = UPMU_OBJECT_NONE;
    e.sched_wake.woken = wakee;
    add(&e);
}

static struct upmu_overview_waker waker(pid_t tid, size_t k)
{
    struct upmu_overview_waker w = {.size = sizeof w};
    struct upmu_overview_thread t = {.size = sizeof t};
    for (size_t i = 0; upmu_overview_thread_at(&subject, i, &t) == 0; i++)
        if (t.tid == tid) {
            int rc = upmu_overview_waker_at(&subject, i, k, &w);
            ck_assert(rc == 0 || rc == UPMU_E_END);
            return rc == 0 ? w : (struct upmu_overview_waker){.tid = -1};
        }
    ck_abort_msg("no thread %d", (int)tid);
}

START_TEST(a_waiter_is_woken_by_the_first_wake_up)
{
    begin_stream(true);
    begins(100, 1);
    begins(101, 2);
    sched(UPMU_TRACE_SCHED_OUT, 101, 100, 0, 0);
    wakes(100, 300, 101);
    wakes(100, 310, 101);
    sched(UPMU_TRACE_SCHED_IN, 101, 350, 0, 0);
    wakes(100, 400, 101); /* it runs */
    sched(UPMU_TRACE_SCHED_OUT, 101, 500, 0, UPMU_TRACE_FLAG_PREEMPTED);
    wakes(100, 550, 101); /* it could run */
    sched(UPMU_TRACE_SCHED_IN, 101, 600, 0, 0);
    sched(UPMU_TRACE_SCHED_OUT, 101, 700, 0, 0);
    wakes(102, 800, 101);
    sched(UPMU_TRACE_SCHED_IN, 101, 900, 0, 0);
    sched(UPMU_TRACE_SCHED_OUT, 101, 1000, 0, 0);
    wakes(100, 1100, 4711); /* of another process */
    wakes(100, 1200, 101);
    sched(UPMU_TRACE_SCHED_IN, 101, 1220, 0, 0);
    finish();
    ck_assert_int_eq(waker(101, 0).tid, 100);
    ck_assert_uint_eq(waker(101, 0).waits.count, 2);
    ck_assert_uint_eq(waker(101, 0).waits.total_ns, 50 + 20);
    ck_assert_uint_eq(waker(101, 0).waits.max_ns, 50);
    ck_assert_int_eq(waker(101, 1).tid, 102);
    ck_assert_uint_eq(waker(101, 1).waits.total_ns, 100);
    ck_assert_int_eq(waker(101, 2).tid, -1);
    ck_assert_int_eq(waker(100, 0).tid, -1);
    int wrong_sizes = 0;
    size_t woken = 0;
    while (upmu_overview_waker_count(&subject, woken) == 0)
        woken++;
    SIZED_RUN(wrong_sizes, upmu_overview_waker, UPMU_OVERVIEW_WAKER_SIZE_V1,
              upmu_overview_waker_at(&subject, woken, 0, p));
    ck_assert_int_eq(wrong_sizes, 0);
    ck_assert_uint_eq(ran(101, 0).blocked_ns, 250 + 200 + 220);
    end_stream();
}
END_TEST

static void kernel_lock(int kind, pid_t tid, uint64_t time, uint64_t address, uint64_t kinds)
{
    struct upmu_trace_event e = event(kind, tid, time, address);
    e.object_type = UPMU_OBJECT_NONE;
    e.kernel_lock.kinds = (uint32_t)kinds;
    add(&e);
}

START_TEST(kernel_locks_are_added_up_and_the_longest_is_first)
{
    enum { A = 0x8000, B = 0x9000 };
    const int block = UPMU_TRACE_KERNEL_LOCK_BLOCK, done = UPMU_TRACE_KERNEL_LOCK_DONE;
    struct upmu_overview_kernel_lock l = {.size = sizeof l};
    begin_stream(true);
    kernel_lock(done, 100, 50, A, 0); /* its begin was before the recording */
    kernel_lock(block, 100, 100, A, UPMU_KERNEL_LOCK_MUTEX | UPMU_KERNEL_LOCK_SPIN);
    kernel_lock(block, 101, 110, B, UPMU_KERNEL_LOCK_READ);
    kernel_lock(block, 100, 120, A, UPMU_KERNEL_LOCK_MUTEX); /* it sleeps now */
    kernel_lock(block, 100, 130, B, UPMU_KERNEL_LOCK_WRITE); /* inside that */
    kernel_lock(done, 100, 140, B, 0);
    kernel_lock(done, 101, 510, B, 0);
    kernel_lock(done, 100, 200, A, 0);
    kernel_lock(block, 101, 600, A, 0); /* without an end */
    finish();
    ck_assert_int_eq(upmu_overview_kernel_lock_at(&subject, 0, &l), 0);
    ck_assert_uint_eq(l.address, B);
    ck_assert_uint_eq(l.kinds, UPMU_KERNEL_LOCK_READ | UPMU_KERNEL_LOCK_WRITE);
    ck_assert_uint_eq(l.waits.count, 2);
    ck_assert_uint_eq(l.waits.total_ns, 400 + 10);
    ck_assert_int_eq(upmu_overview_kernel_lock_at(&subject, 1, &l), 0);
    ck_assert_uint_eq(l.address, A);
    ck_assert_uint_eq(l.waits.count, 1);
    ck_assert_uint_eq(l.waits.max_ns, 100);
    ck_assert_int_eq(upmu_overview_kernel_lock_at(&subject, 2, &l), UPMU_E_END);
    int wrong_sizes = 0;
    SIZED_RUN(wrong_sizes, upmu_overview_kernel_lock, UPMU_OVERVIEW_KERNEL_LOCK_SIZE_V1,
              upmu_overview_kernel_lock_at(&subject, 0, p));
    ck_assert_int_eq(wrong_sizes, 0);
    end_stream();
}
END_TEST

/* -------------------------------------------------------------------------------------------- hooks */

static char seen[256];

static int stop_at_first(void *arg, const struct sched_span *span)
{
    (void)arg;
    size_t len = strlen(seen);
    snprintf(seen + len, sizeof seen - len, "%s %lu-%lu cpu %u;", upmu_sched_state_name(span->state),
             (unsigned long)span->begin_ns, (unsigned long)span->end_ns, span->cpu);
    return 0;
}

START_TEST(intervals_come_in_turn_with_the_cpu)
{
    const struct timeline_hooks hooks = {.sched = stop_at_first};
    begin_stream(true);
    subject.pass.hooks = &hooks;
    begins(100, 1);
    waits(100, 101, 201);
    is_preempted(100, 301, 401);
    sched(UPMU_TRACE_SCHED_SEEN, 100, 501, 4, 0);
    put(UPMU_TRACE_MARK, 100, 601, 0);
    finish();
    ck_assert_str_eq(seen, "running 1-101 cpu 0;blocked 101-201 cpu 0;running 201-301 cpu 1;"
                           "preempted 301-401 cpu 0;running 401-501 cpu 1;unknown 501-601 cpu 1;");
    end_stream();
}
END_TEST

/* They are written when the thread's stream is released, behind its last event. */
START_TEST(waits_for_futexes_are_those_of_the_thread_that_has_just_ended)
{
    begin_stream(true);
    struct upmu_trace_event e = event(UPMU_TRACE_FUTEX_COUNTS, 101, 1500, 0);
    begins(101, 990);
    put(UPMU_TRACE_THREAD_START, 101, 1000, HANDLE);
    e.futex_counts.waits = 3;
    e.futex_counts.recorded = 1;
    add(&e);
    put(UPMU_TRACE_THREAD_EXIT, 101, 2000, HANDLE);
    e.time_ns = 2100;
    e.futex_counts.waits = 9;
    e.futex_counts.recorded = 7;
    add(&e);
    begins(101, 2990); /* the next thread of that id */
    put(UPMU_TRACE_THREAD_START, 101, 3000, HANDLE);
    put(UPMU_TRACE_THREAD_EXIT, 101, 4000, HANDLE);
    finish();
    ck_assert_uint_eq(ran(101, 0).futexes_counted, 1);
    ck_assert_uint_eq(ran(101, 0).futex_waits, 9);
    ck_assert_uint_eq(ran(101, 0).futex_recorded, 7);
    ck_assert_uint_eq(ran(101, 1).futexes_counted, 0);
    end_stream();
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("sched");
    tcase_add_test(cases, every_moment_of_a_life_is_one_of_running_preempted_and_blocked);
    tcase_add_test(cases, counters_never_read_are_unknown);
    tcase_add_test(cases, thread_that_sleeps_at_its_last_record_is_blocked_to_the_end);
    tcase_add_test(cases, loss_is_a_gap_and_what_follows_is_known_again);
    tcase_add_test(cases, two_moments_that_do_not_fit_enclose_the_unknown);
    tcase_add_test(cases, ring_without_its_beginning_is_known_from_its_first_record);
    tcase_add_test(cases, switches_of_an_id_given_again_are_those_of_its_new_thread);
    tcase_add_test(cases, switches_are_no_doing_of_the_thread);
    tcase_add_test(cases, without_switches_all_is_unknown_and_said_so);
    tcase_add_test(cases, a_waiter_is_woken_by_the_first_wake_up);
    tcase_add_test(cases, kernel_locks_are_added_up_and_the_longest_is_first);
    tcase_add_test(cases, waits_for_futexes_are_those_of_the_thread_that_has_just_ended);
    tcase_add_test(cases, intervals_come_in_turn_with_the_cpu);
    return run_suite("sched", cases);
}
