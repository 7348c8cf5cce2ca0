/* SPDX-License-Identifier: MIT */
/* Critical paths, gains and waits between threads, against streams computed by hand. */
#include <stdio.h>

#include "stream.h"

#include "unit/suite.h"

enum { LOCK = 0xa0, OTHER = 0xb0, COND = 0xc0, HANDLE = 0x77 };

static struct upmu_overview_path path(void)
{
    struct upmu_overview_path p = {.size = sizeof p};
    ck_assert_int_eq(upmu_overview_path_read(&subject, 0, &p), 0);
    ck_assert_uint_eq(p.end_ns - p.begin_ns, p.run_ns + p.wake_ns + p.unknown_ns + p.stopped_ns);
    return p;
}

/* "R101 1000-1500, W102 1500-1510 by 101": the whole path, which has no gaps. */
static void ck_path(const char *expected)
{
    struct upmu_overview_path p = path();
    struct upmu_overview_path_segment s = {.size = sizeof s};
    struct upmu_overview_thread t = {.size = sizeof t};
    char text[512] = "";
    uint64_t end = p.begin_ns;
    for (size_t i = 0; upmu_overview_path_segment_at(&subject, 0, i, &s) == 0; i++) {
        size_t n = strlen(text);
        ck_assert_uint_eq(s.begin_ns, end);
        end = s.end_ns;
        ck_assert_int_eq(upmu_overview_thread_at(&subject, s.thread, &t), 0);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%c%d %d-%d", i ? ", " : "", "RWUS"[s.kind], (int)t.tid,
                              (int)s.begin_ns, (int)s.end_ns);
        if (s.waker == UINT32_MAX)
            continue;
        ck_assert_int_eq(upmu_overview_thread_at(&subject, s.waker, &t), 0);
        snprintf(text + n, sizeof text - n, " by %d", (int)t.tid);
    }
    ck_assert_uint_eq(end, p.end_ns);
    ck_assert_str_eq(text, expected);
}

static struct upmu_overview_path_object on_path(uint64_t address)
{
    struct upmu_overview_path_object l = {.size = sizeof l};
    struct upmu_overview_object o = {.size = sizeof o};
    for (size_t i = 0; upmu_overview_path_object_at(&subject, 0, i, &l) == 0; i++) {
        ck_assert_int_eq(upmu_overview_object_at(&subject, l.object, &o), 0);
        if (o.address == address)
            return l;
    }
    return (struct upmu_overview_path_object){0};
}

static struct upmu_wait_sum waited_for(pid_t waiter, pid_t other)
{
    struct upmu_overview_pair p = {.size = sizeof p};
    for (size_t i = 0; upmu_overview_pair_at(&subject, i, &p) == 0; i++)
        if (p.waiter_tid == waiter && p.other_tid == other)
            return p.waits;
    return (struct upmu_wait_sum){0};
}

static void put_cond(int kind, pid_t tid, uint64_t time, int result)
{
    struct upmu_trace_event e = event(kind, tid, time, COND);
    e.object_type = UPMU_OBJECT_COND;
    e.cond.mutex = LOCK;
    e.result = result;
    add(&e);
}

START_TEST(path_goes_through_the_holder_and_gains_are_what_a_replay_gives)
{
    begin_stream(true);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK);
    block(102, 1100, LOCK, 101, 1000);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 1500, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRED, 102, 1510, LOCK);
    put(UPMU_TRACE_THREAD_EXIT, 101, 1700, 0);
    put(UPMU_TRACE_LOCK_RELEASE, 102, 1900, LOCK);
    put(UPMU_TRACE_THREAD_EXIT, 102, 2000, 0);
    finish();
    ck_path("R101 1000-1500, W102 1500-1510 by 101, R102 1510-2000");
    struct upmu_overview_path_object l = on_path(LOCK);
    ck_assert_uint_eq(l.held_ns, 500 + 390);
    ck_assert_uint_eq(l.wakes, 1);
    ck_assert_uint_eq(l.wake_ns, 10);
    /* Without its sections 102 would not wait: it continues at 1100 and ends at 1200. */
    ck_assert_uint_eq(l.gain_ns, 800);
    /* With half of them the release comes at 1250, and the end at 1260 + 490 - 195. */
    ck_assert_uint_eq(l.gain_half_ns, 2000 - 1555);
    ck_assert_uint_eq(waited_for(102, 101).total_ns, 410);
    ck_assert_uint_eq(waited_for(102, 101).count, 1);
    ck_assert_uint_eq(path().handoffs, 1);
    end_stream();
}
END_TEST

START_TEST(gain_ends_where_another_path_becomes_critical)
{
    begin_stream(true);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK);
    put(UPMU_TRACE_MARK, 103, 1000, 0);
    block(102, 1100, LOCK, 101, 1000);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 1500, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRED, 102, 1500, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 102, 1500, LOCK);
    put_typed(UPMU_TRACE_BARRIER_ARRIVE, UPMU_OBJECT_BARRIER, 103, 1600, OTHER);
    put_typed(UPMU_TRACE_BARRIER_ARRIVE, UPMU_OBJECT_BARRIER, 102, 1700, OTHER);
    put_typed(UPMU_TRACE_BARRIER_LEAVE, UPMU_OBJECT_BARRIER, 102, 1700, OTHER);
    put_typed(UPMU_TRACE_BARRIER_LEAVE, UPMU_OBJECT_BARRIER, 103, 1700, OTHER);
    put(UPMU_TRACE_THREAD_EXIT, 102, 1750, 0);
    put(UPMU_TRACE_THREAD_EXIT, 103, 1800, 0);
    finish();
    ck_path("R101 1000-1500, R102 1500-1700, R103 1700-1800");
    ck_assert_uint_eq(on_path(LOCK).held_ns, 500);
    ck_assert_uint_eq(on_path(LOCK).gain_ns, 100); /* 103 arrives at 1600 whatever 102 does */
    end_stream();
}
END_TEST

static void put_futex(int kind, pid_t tid, uint64_t time, uint64_t word, uint64_t count)
{
    struct upmu_trace_event e = event(kind, tid, time, word);
    e.object_type = UPMU_OBJECT_FUTEX;
    if (kind == UPMU_TRACE_FUTEX_WAIT)
        e.futex_wait.n_futexes = count;
    else if (kind == UPMU_TRACE_FUTEX_WOKEN)
        e.futex_woken.index = count;
    else if (kind == UPMU_TRACE_FUTEX_WAKE)
        e.futex_wake.n_woken = count;
    add(&e);
}

/* The first word is woken too, without a waiter: of several futexes waited for, the one that woke the thread counts. */
START_TEST(wait_for_several_futexes_is_ended_by_whoever_woke_that_word)
{
    enum { FIRST = 0xf0, SECOND = 0xf8 };
    begin_stream(true);
    put(UPMU_TRACE_MARK, 101, 1000, 0);
    put(UPMU_TRACE_MARK, 103, 1000, 0);
    put_futex(UPMU_TRACE_FUTEX_WAIT, 102, 1100, FIRST, 2);
    put_futex(UPMU_TRACE_FUTEX_ALSO, 102, 1101, SECOND, 0);
    put_futex(UPMU_TRACE_FUTEX_WAKE, 101, 1500, SECOND, 1);
    put_futex(UPMU_TRACE_FUTEX_WAKE, 103, 1505, FIRST, 0);
    put_futex(UPMU_TRACE_FUTEX_WOKEN, 102, 1510, FIRST, 1);
    put(UPMU_TRACE_THREAD_EXIT, 102, 2000, 0);
    finish();
    ck_path("R101 1000-1500, W102 1500-1510 by 101, R102 1510-2000");
    ck_assert_uint_eq(waited_for(102, 101).total_ns, 410);
    ck_assert_uint_eq(object(FIRST, 0, NULL).waits.count, 1);
    ck_assert_uint_eq(object(SECOND, 0, NULL).waits.count, 0);
    end_stream();
}
END_TEST

START_TEST(path_goes_through_creation_and_join)
{
    begin_stream(true);
    put_typed(UPMU_TRACE_THREAD_CREATE, UPMU_OBJECT_THREAD, 100, 100, HANDLE);
    put_typed(UPMU_TRACE_THREAD_START, UPMU_OBJECT_THREAD, 101, 110, HANDLE);
    put_typed(UPMU_TRACE_THREAD_JOIN, UPMU_OBJECT_THREAD, 100, 120, HANDLE);
    put(UPMU_TRACE_THREAD_EXIT, 101, 500, 0);
    put_typed(UPMU_TRACE_THREAD_JOINED, UPMU_OBJECT_THREAD, 100, 510, HANDLE);
    put(UPMU_TRACE_THREAD_EXIT, 100, 600, 0);
    finish();
    ck_path("R100 1-100, W101 100-110 by 100, R101 110-500, W100 500-510 by 101, R100 510-600");
    ck_assert_uint_eq(waited_for(100, 101).total_ns, 390);
    ck_assert_int_eq(object(HANDLE, 0, NULL).peer, 101); /* by its pthread_t: the event has no thread */
    end_stream();
}
END_TEST

/* Its start was not recorded: its end has its pthread_t. */
START_TEST(path_goes_through_the_join_of_a_thread_without_a_start)
{
    begin_stream(true);
    put_typed(UPMU_TRACE_THREAD_JOIN, UPMU_OBJECT_THREAD, 100, 120, HANDLE);
    put(UPMU_TRACE_MARK, 101, 200, 0);
    put_typed(UPMU_TRACE_THREAD_EXIT, UPMU_OBJECT_THREAD, 101, 500, HANDLE);
    put_typed(UPMU_TRACE_THREAD_JOINED, UPMU_OBJECT_THREAD, 100, 510, HANDLE);
    put(UPMU_TRACE_THREAD_EXIT, 100, 600, 0);
    finish();
    ck_path("R101 200-500, W100 500-510 by 101, R100 510-600");
    ck_assert_uint_eq(waited_for(100, 101).total_ns, 390);
    ck_assert_int_eq(object(HANDLE, 0, NULL).peer, 101);
    end_stream();
}
END_TEST

static void put_thread_created_in_stop(uint64_t begin, uint64_t end)
{
    put(UPMU_TRACE_MARK, 105, begin, 0);
    put_typed(UPMU_TRACE_THREAD_EXIT, UPMU_OBJECT_THREAD, 105, end, HANDLE + 5);
    put_typed(UPMU_TRACE_THREAD_JOINED, UPMU_OBJECT_THREAD, 100, end + 10, HANDLE + 5);
    put(UPMU_TRACE_THREAD_EXIT, 100, end + 100, 0);
}

START_TEST(path_before_a_thread_created_in_a_stop_is_that_of_the_main_thread)
{
    begin_stream(true);
    stop(500, 700);
    stop(2000, 3000);
    put(UPMU_TRACE_MARK, 100, 1000, 0);
    put_typed(UPMU_TRACE_THREAD_JOIN, UPMU_OBJECT_THREAD, 100, 3500, HANDLE + 5);
    put_thread_created_in_stop(3100, 4000);
    finish();
    ck_path("R100 1-500, S100 500-700, R100 700-2000, S105 2000-3000, R105 3000-4000, W100 4000-4010 by 105, R100 "
            "4010-4100");
    ck_assert_uint_eq(path().stopped_ns, 1200);
    end_stream();
}
END_TEST

/* The main thread was blocked when recording was stopped: the path is that of the thread it waited for. */
START_TEST(path_before_a_thread_created_in_a_stop_is_that_of_the_holder)
{
    begin_stream(true);
    stop(2000, 3000);
    put_typed(UPMU_TRACE_THREAD_CREATE, UPMU_OBJECT_THREAD, 100, 100, HANDLE);
    put_typed(UPMU_TRACE_THREAD_START, UPMU_OBJECT_THREAD, 101, 110, HANDLE);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK);
    block(100, 1100, LOCK, 101, 1000);
    put(UPMU_TRACE_MARK, 105, 3100, 0);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 3500, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRED, 100, 3510, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 100, 3510, LOCK);
    put_typed(UPMU_TRACE_THREAD_JOIN, UPMU_OBJECT_THREAD, 100, 3600, HANDLE + 5);
    put_thread_created_in_stop(3700, 4000);
    finish();
    ck_path("R100 1-100, W101 100-110 by 100, R101 110-2000, S105 2000-3000, R105 3000-4000, W100 4000-4010 by 105, "
            "R100 4010-4100");
    /* Of its 1500 recorded nanoseconds those before the stop are on the path, in proportion to the step that they are in. */
    ck_assert_uint_eq(on_path(LOCK).held_ns, UINT64_C(1500) * (2000 - 110) / (2000 - 110 + 500));
    end_stream();
}
END_TEST

/* Recording began stopped, and nothing is known before. */
START_TEST(path_of_a_process_recorded_later_has_the_time_before)
{
    begin_stream(true);
    stop(1, 2000);
    put_typed(UPMU_TRACE_THREAD_JOIN, UPMU_OBJECT_THREAD, 100, 2000, HANDLE + 5);
    put_thread_created_in_stop(2100, 4000);
    finish();
    ck_path("S105 1-2000, R105 2000-4000, W100 4000-4010 by 105, R100 4010-4100");
    end_stream();
}
END_TEST

START_TEST(join_of_a_thread_that_has_ended_is_no_wait)
{
    begin_stream(true);
    put_typed(UPMU_TRACE_THREAD_CREATE, UPMU_OBJECT_THREAD, 100, 100, HANDLE);
    put_typed(UPMU_TRACE_THREAD_START, UPMU_OBJECT_THREAD, 101, 110, HANDLE);
    put(UPMU_TRACE_THREAD_EXIT, 101, 120, 0);
    put_typed(UPMU_TRACE_THREAD_JOIN, UPMU_OBJECT_THREAD, 100, 200, HANDLE);
    put_typed(UPMU_TRACE_THREAD_JOINED, UPMU_OBJECT_THREAD, 100, 204, HANDLE);
    put(UPMU_TRACE_THREAD_EXIT, 100, 600, 0);
    finish();
    ck_path("R100 1-600");
    end_stream();
}
END_TEST

START_TEST(condition_is_ended_by_the_signal_or_the_mutex_if_that_comes_later)
{
    begin_stream(true);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK);
    put_cond(UPMU_TRACE_COND_WAIT, 101, 1100, 0);
    put_typed(UPMU_TRACE_COND_SIGNAL, UPMU_OBJECT_COND, 102, 1200, COND);
    put_cond(UPMU_TRACE_COND_WAKE, 101, 1210, 0);
    put_cond(UPMU_TRACE_COND_WAIT, 101, 1300, 0);
    put(UPMU_TRACE_LOCK_ACQUIRE, 103, 1310, LOCK);
    put_typed(UPMU_TRACE_COND_SIGNAL, UPMU_OBJECT_COND, 102, 1320, COND);
    put(UPMU_TRACE_LOCK_RELEASE, 103, 1400, LOCK);
    put_cond(UPMU_TRACE_COND_WAKE, 101, 1410, 0);
    put(UPMU_TRACE_THREAD_EXIT, 101, 1500, 0);
    finish();
    ck_path("R103 1310-1400, W101 1400-1410 by 103, R101 1410-1500");
    ck_assert_uint_eq(waited_for(101, 102).total_ns, 110);
    ck_assert_uint_eq(waited_for(101, 103).total_ns, 110);
    ck_assert_uint_eq(on_path(LOCK).held_ns, 90);
    end_stream();
}
END_TEST

/* Woken at `time`, the thread finds nothing to do and waits again 100 later; `in_call`: for half of that it sleeps. */
static void put_vain(pid_t tid, uint64_t time, bool in_call)
{
    struct upmu_trace_event e = event(UPMU_TRACE_COND_WAIT, tid, time + 100, COND);
    put_cond(UPMU_TRACE_COND_WAKE, tid, time, 0);
    if (in_call) {
        put_typed(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_CALL, tid, time + 20, OTHER);
        put_typed(UPMU_TRACE_LOCK_ACQUIRED, UPMU_OBJECT_CALL, tid, time + 70, OTHER);
    }
    e.object_type = UPMU_OBJECT_COND;
    e.cond.mutex = LOCK;
    e.cond.held_since = time;
    add(&e);
}

/* A broadcast at 1200 wakes three threads, of which the last one can continue. */
static void herd(bool in_call)
{
    begin_stream(true);
    for (pid_t tid = 101; tid <= 103; tid++) {
        put(UPMU_TRACE_LOCK_ACQUIRE, tid, 900 + 10 * (uint64_t)(tid - 100), LOCK);
        put_cond(UPMU_TRACE_COND_WAIT, tid, 905 + 10 * (uint64_t)(tid - 100), 0);
    }
    put(UPMU_TRACE_LOCK_ACQUIRE, 100, 1100, LOCK);
    put_typed(UPMU_TRACE_COND_BROADCAST, UPMU_OBJECT_COND, 100, 1200, COND);
    put(UPMU_TRACE_LOCK_RELEASE, 100, 1210, LOCK);
    put_vain(101, 1230, in_call);
    put_vain(102, 1340, in_call);
    put_cond(UPMU_TRACE_COND_WAKE, 103, 1450, 0);
    put_typed(UPMU_TRACE_COND_BROADCAST, UPMU_OBJECT_COND, 103, 1500, COND);
    put(UPMU_TRACE_LOCK_RELEASE, 103, 1500, LOCK);
    put_cond(UPMU_TRACE_COND_WAKE, 102, 1510, 0);
    put(UPMU_TRACE_THREAD_EXIT, 103, 1600, 0);
    put(UPMU_TRACE_THREAD_EXIT, 102, 1700, 0);
    finish();
}

START_TEST(gain_of_a_herd_is_that_of_waking_who_can_continue)
{
    for (int in_call = 0; in_call < 2; in_call++) {
        herd(in_call);
        ck_assert_uint_eq(object(COND, 0, NULL).in_vain, 2);
        /* 103 continues at 1230 as the first one did, broadcasts 50 later, and 102 ends 200 after that. */
        ck_assert_uint_eq(on_path(COND).gain_ns, 1700 - (1230 + 50 + 10 + 190));
        ck_assert(on_path(COND).gain_half_ns == UPMU_NO_VALUE);
        end_stream();
    }
}
END_TEST

/* Who has woken another thread before it waits again was not woken in vain. */
START_TEST(gain_of_a_herd_keeps_wakes_that_had_an_effect)
{
    begin_stream(true);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 990, LOCK);
    put_cond(UPMU_TRACE_COND_WAIT, 101, 1000, 0);
    put_typed(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_SEM, 102, 1010, OTHER);
    put(UPMU_TRACE_LOCK_ACQUIRE, 100, 1100, LOCK);
    put_typed(UPMU_TRACE_COND_BROADCAST, UPMU_OBJECT_COND, 100, 1200, COND);
    put(UPMU_TRACE_LOCK_RELEASE, 100, 1210, LOCK);
    put_cond(UPMU_TRACE_COND_WAKE, 101, 1230, 0);
    put_typed(UPMU_TRACE_SEM_POST, UPMU_OBJECT_SEM, 101, 1250, OTHER);
    struct upmu_trace_event e = event(UPMU_TRACE_COND_WAIT, 101, 1300, COND);
    e.object_type = UPMU_OBJECT_COND;
    e.cond.mutex = LOCK;
    e.cond.held_since = 1230;
    add(&e);
    put_typed(UPMU_TRACE_LOCK_ACQUIRED, UPMU_OBJECT_SEM, 102, 1310, OTHER);
    put(UPMU_TRACE_THREAD_EXIT, 102, 1400, 0);
    finish();
    ck_path("R100 1-1210, W101 1210-1230 by 100, R101 1230-1250, W102 1250-1310 by 101, R102 1310-1400");
    ck_assert_uint_eq(on_path(COND).gain_ns, 0);
    end_stream();
}
END_TEST

START_TEST(timeouts_and_missing_causes_are_unknown)
{
    begin_stream(true);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK);
    put_cond(UPMU_TRACE_COND_WAIT, 101, 1100, 0);
    put_typed(UPMU_TRACE_COND_SIGNAL, UPMU_OBJECT_COND, 102, 1200, COND); /* not for 101, which timed out */
    put_cond(UPMU_TRACE_COND_WAKE, 101, 1300, 110);
    block(101, 1400, OTHER, 0, 0);
    put(UPMU_TRACE_LOCK_ACQUIRED, 101, 1450, OTHER);
    put(UPMU_TRACE_THREAD_EXIT, 101, 1500, 0);
    finish();
    ck_path("R101 1000-1100, U101 1100-1300, R101 1300-1400, U101 1400-1450, R101 1450-1500");
    ck_assert_uint_eq(on_path(COND).unknown_ns, 200);
    ck_assert_uint_eq(on_path(OTHER).unknown_ns, 50);
    ck_assert_uint_eq(waited_for(101, 0).total_ns, 250);
    end_stream();
}
END_TEST

START_TEST(post_before_the_wait_did_not_end_it)
{
    begin_stream(true);
    put_typed(UPMU_TRACE_SEM_POST, UPMU_OBJECT_SEM, 102, 900, LOCK);
    put_typed(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_SEM, 101, 1000, LOCK);
    put_typed(UPMU_TRACE_SEM_POST, UPMU_OBJECT_SEM, 103, 1100, LOCK);
    put_typed(UPMU_TRACE_LOCK_ACQUIRED, UPMU_OBJECT_SEM, 101, 1110, LOCK);
    put_typed(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_SEM, 101, 1200, LOCK);
    put_typed(UPMU_TRACE_LOCK_ACQUIRED, UPMU_OBJECT_SEM, 101, 1300, LOCK);
    put(UPMU_TRACE_THREAD_EXIT, 101, 1400, 0);
    finish();
    ck_path("W101 1100-1110 by 103, R101 1110-1200, U101 1200-1300, R101 1300-1400");
    end_stream();
}
END_TEST

static bool lost_of_102(void *arg, uint32_t process, pid_t tid)
{
    (void)arg;
    (void)process;
    return tid == 102;
}

START_TEST(thread_does_not_run_after_its_last_event_where_events_were_lost)
{
    begin_stream(true);
    subject.pass.events_lost = lost_of_102;
    put(UPMU_TRACE_LOCK_ACQUIRE, 102, 1000, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 102, 1300, LOCK);
    block(102, 1400, OTHER, 0, 0); /* its end is lost, and all events up to the thread's */
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1500, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 1600, LOCK);
    put(UPMU_TRACE_THREAD_EXIT, 101, 1700, 0);
    put(UPMU_TRACE_THREAD_EXIT, 102, 9000, 0);
    finish();
    ck_path("R102 1000-1400, S102 1400-9000");
    ck_assert_uint_eq(path().run_ns, 400);
    ck_assert_uint_eq(path().stopped_ns, 7600);
    end_stream();
}
END_TEST

/* A thread that arrives for the next round while others still leave the last one did not end that. */
START_TEST(barrier_is_ended_by_the_last_arrival_of_the_round)
{
    begin_stream(true);
    put_typed(UPMU_TRACE_BARRIER_ARRIVE, UPMU_OBJECT_BARRIER, 101, 1000, OTHER);
    put_typed(UPMU_TRACE_BARRIER_ARRIVE, UPMU_OBJECT_BARRIER, 102, 1100, OTHER);
    put_typed(UPMU_TRACE_BARRIER_ARRIVE, UPMU_OBJECT_BARRIER, 103, 1200, OTHER);
    put_typed(UPMU_TRACE_BARRIER_LEAVE, UPMU_OBJECT_BARRIER, 102, 1210, OTHER);
    put_typed(UPMU_TRACE_BARRIER_ARRIVE, UPMU_OBJECT_BARRIER, 102, 1220, OTHER);
    put_typed(UPMU_TRACE_BARRIER_LEAVE, UPMU_OBJECT_BARRIER, 103, 1225, OTHER);
    put_typed(UPMU_TRACE_BARRIER_LEAVE, UPMU_OBJECT_BARRIER, 101, 1230, OTHER);
    put_typed(UPMU_TRACE_BARRIER_ARRIVE, UPMU_OBJECT_BARRIER, 103, 1240, OTHER);
    put_typed(UPMU_TRACE_BARRIER_ARRIVE, UPMU_OBJECT_BARRIER, 101, 1300, OTHER);
    put_typed(UPMU_TRACE_BARRIER_LEAVE, UPMU_OBJECT_BARRIER, 101, 1301, OTHER);
    put_typed(UPMU_TRACE_BARRIER_LEAVE, UPMU_OBJECT_BARRIER, 102, 1310, OTHER);
    put_typed(UPMU_TRACE_BARRIER_LEAVE, UPMU_OBJECT_BARRIER, 103, 1312, OTHER);
    put(UPMU_TRACE_THREAD_EXIT, 101, 1320, 0);
    put(UPMU_TRACE_THREAD_EXIT, 103, 1330, 0);
    put(UPMU_TRACE_THREAD_EXIT, 102, 1400, 0);
    finish();
    ck_path("W101 1200-1230 by 103, R101 1230-1300, W102 1300-1310 by 101, R102 1310-1400");
    ck_assert_uint_eq(waited_for(102, 103).total_ns, 110);
    ck_assert_uint_eq(waited_for(102, 101).total_ns, 90);
    ck_assert_uint_eq(waited_for(101, 103).total_ns, 230);
    ck_assert_uint_eq(waited_for(103, 101).total_ns, 72);
    ck_assert_uint_eq(waited_for(101, 102).count, 0);
    end_stream();
}
END_TEST

/* 101 does not return from its wait for the semaphore: a signal handler jumps out of it. */
START_TEST(wait_after_one_that_a_jump_left_is_on_the_path)
{
    begin_stream(true);
    put(UPMU_TRACE_MARK, 101, 900, 0);
    put_typed(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_SEM, 101, 1000, OTHER);
    put(UPMU_TRACE_LOCK_ACQUIRE, 102, 1010, LOCK);
    put(UPMU_TRACE_MARK, 101, 1020, 0);
    block(101, 1100, LOCK, 102, 1010);
    put(UPMU_TRACE_LOCK_RELEASE, 102, 1500, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRED, 101, 1510, LOCK);
    put(UPMU_TRACE_THREAD_EXIT, 102, 1520, 0);
    put(UPMU_TRACE_THREAD_EXIT, 101, 1600, 0);
    finish();
    ck_path("R102 1010-1500, W101 1500-1510 by 102, R101 1510-1600");
    ck_assert_uint_eq(on_path(LOCK).held_ns, 490);
    ck_assert_uint_eq(waited_for(101, 102).total_ns, 410);
    ck_assert_uint_eq(totals().unmatched, 1);
    end_stream();
}
END_TEST

/* When it left the wait is not known: after its begin, and before its next event. */
START_TEST(wait_that_a_jump_left_is_unknown_until_the_next_event)
{
    begin_stream(true);
    put(UPMU_TRACE_MARK, 101, 900, 0);
    put_typed(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_SEM, 101, 1000, OTHER);
    put_typed(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_SEM, 101, 1200, OTHER);
    put_typed(UPMU_TRACE_LOCK_ACQUIRED, UPMU_OBJECT_SEM, 101, 1210, OTHER);
    put_typed(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_SEM, 101, 1300, COND);
    put(UPMU_TRACE_MARK, 101, 1350, 0);
    put(UPMU_TRACE_THREAD_EXIT, 101, 1600, 0);
    finish();
    ck_path("R101 900-1000, U101 1000-1200, U101 1200-1210, R101 1210-1300, U101 1300-1350, R101 1350-1600");
    ck_assert_uint_eq(on_path(OTHER).unknown_ns, 210);
    ck_assert_uint_eq(totals().unmatched, 2);
    end_stream();
}
END_TEST

/* While 101 waits for a semaphore, its signal handler waits for a lock, and wakes 104. */
START_TEST(signal_handler_in_a_wait_does_not_end_it)
{
    enum { SEM_104 = 0xd0 };
    begin_stream(true);
    put_typed(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_SEM, 104, 900, SEM_104);
    put_typed(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_SEM, 101, 1000, OTHER);
    put(UPMU_TRACE_MARK, 103, 1010, 0);
    block(101, 1200, LOCK, 102, 0);
    put(UPMU_TRACE_LOCK_RELEASE, 102, 1290, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRED, 101, 1300, LOCK);
    put_typed(UPMU_TRACE_SEM_POST, UPMU_OBJECT_SEM, 101, 1310, SEM_104);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 1320, LOCK);
    put_typed(UPMU_TRACE_LOCK_ACQUIRED, UPMU_OBJECT_SEM, 104, 1330, SEM_104);
    put_typed(UPMU_TRACE_SEM_POST, UPMU_OBJECT_SEM, 103, 1400, OTHER);
    put_typed(UPMU_TRACE_LOCK_ACQUIRED, UPMU_OBJECT_SEM, 101, 1410, OTHER);
    put(UPMU_TRACE_THREAD_EXIT, 104, 1420, 0);
    put(UPMU_TRACE_THREAD_EXIT, 101, 1600, 0);
    finish();
    ck_path("R103 1010-1400, W101 1400-1410 by 103, R101 1410-1600");
    ck_assert_uint_eq(waited_for(101, 102).total_ns, 100);
    ck_assert_uint_eq(waited_for(101, 103).total_ns, 310); /* without the wait of the handler */
    ck_assert_uint_eq(waited_for(104, 101).total_ns, 430);
    ck_assert_uint_eq(totals().unmatched, 0);
    end_stream();
}
END_TEST

/* The outer lock is held while other threads are woken; what is held while waiting is not on the path. */
START_TEST(hold_counts_where_the_path_runs_inside_it)
{
    begin_stream(true);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK);
    put_typed(UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_SEM, 102, 1050, COND);
    put_typed(UPMU_TRACE_SEM_POST, UPMU_OBJECT_SEM, 101, 1100, COND);
    put_typed(UPMU_TRACE_LOCK_ACQUIRED, UPMU_OBJECT_SEM, 102, 1110, COND);
    block(101, 1200, OTHER, 103, 0);
    put(UPMU_TRACE_LOCK_RELEASE, 103, 1300, OTHER);
    put(UPMU_TRACE_LOCK_ACQUIRED, 101, 1310, OTHER);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 1400, OTHER);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 1500, LOCK);
    put(UPMU_TRACE_THREAD_EXIT, 102, 1550, 0);
    put(UPMU_TRACE_THREAD_EXIT, 101, 1600, 0);
    finish();
    ck_path("R103 1200-1300, W101 1300-1310 by 103, R101 1310-1600");
    ck_assert_uint_eq(on_path(LOCK).held_ns, 190);
    ck_assert_uint_eq(on_path(OTHER).held_ns, 100 + 90); /* by 103 at least since 101 waited */
    end_stream();
}
END_TEST

START_TEST(release_that_was_left_out_makes_no_long_hold)
{
    begin_stream(true);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 5000, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 5100, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 7000, LOCK);
    put(UPMU_TRACE_THREAD_EXIT, 101, 8000, 0);
    finish();
    ck_assert_uint_eq(on_path(LOCK).held_ns, 100);
    end_stream();
}
END_TEST

START_TEST(recursive_mutex_is_held_until_the_last_release)
{
    begin_stream(true);
    struct upmu_trace_event init = event(UPMU_TRACE_LOCK_INIT, 101, 900, LOCK);
    init.flags = UPMU_TRACE_FLAG_RECURSIVE;
    add(&init);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1100, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 1200, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 1500, LOCK);
    put(UPMU_TRACE_THREAD_EXIT, 101, 2000, 0);
    finish();
    ck_assert_uint_eq(on_path(LOCK).held_ns, 500);
    ck_assert_uint_eq(on_path(LOCK).gain_ns, 500);
    end_stream();
}
END_TEST

/* Of the threads alive when the process ends, the one that acted last, not a deadlocked one. */
START_TEST(blocked_process_has_a_path_to_its_last_action)
{
    begin_stream(false);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK);
    block(102, 1100, LOCK, 101, 1000);
    put(UPMU_TRACE_MARK, 101, 3000, 0);
    finish();
    ck_path("R101 1000-3000");
    ck_assert_uint_eq(waited_for(102, 101).unfinished_ns, 1900);
    ck_assert_uint_eq(waited_for(102, 101).unfinished, 1);
    end_stream();
}
END_TEST

static uint32_t dice(uint32_t *state, uint32_t sides)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % sides;
}

/* Whatever the order of events: threads that continue without having blocked, release what they do not hold, begin twice. */
static int put_any(uint32_t *state, uint64_t time)
{
    static const int kinds[] = {
        UPMU_TRACE_LOCK_BLOCK,     UPMU_TRACE_LOCK_ACQUIRED, UPMU_TRACE_LOCK_ACQUIRE,   UPMU_TRACE_LOCK_RELEASE,
        UPMU_TRACE_LOCK_FAILED,    UPMU_TRACE_COND_WAIT,     UPMU_TRACE_COND_WAKE,      UPMU_TRACE_COND_SIGNAL,
        UPMU_TRACE_COND_BROADCAST, UPMU_TRACE_SEM_POST,      UPMU_TRACE_BARRIER_ARRIVE, UPMU_TRACE_BARRIER_LEAVE,
        UPMU_TRACE_FUTEX_WAIT,     UPMU_TRACE_FUTEX_WOKEN,   UPMU_TRACE_FUTEX_WAKE,     UPMU_TRACE_THREAD_CREATE,
        UPMU_TRACE_THREAD_START,   UPMU_TRACE_THREAD_EXIT,   UPMU_TRACE_THREAD_JOIN,    UPMU_TRACE_THREAD_JOINED,
        UPMU_TRACE_LOCK_INIT,      UPMU_TRACE_LOCK_DESTROY,  UPMU_TRACE_MARK,           UPMU_TRACE_FUTEX_ALSO,
    };
    static const int results[] = {0, 0, 0, 11, 110, -1};
    struct upmu_trace_event e = event(kinds[dice(state, sizeof kinds / sizeof *kinds)], 100 + (pid_t)dice(state, 6),
                                      time, 0xa0 + dice(state, 4));
    e.object_type = (int32_t)dice(state, 11);
    uint64_t mutex = 0xa0 + dice(state, 4), since = dice(state, 2) ? time - dice(state, 50) : 0;
    pid_t peer = dice(state, 2) ? 100 + (pid_t)dice(state, 6) : 0;
    if (e.kind == UPMU_TRACE_LOCK_BLOCK)
        e.lock_block = (struct upmu_trace_lock_block){.holder = peer, .holder_since = since};
    else if (e.kind == UPMU_TRACE_COND_WAIT || e.kind == UPMU_TRACE_COND_WAKE)
        e.cond.mutex = mutex;
    else if (e.kind >= UPMU_TRACE_THREAD_CREATE && e.kind <= UPMU_TRACE_THREAD_JOINED)
        e.thread.peer = peer;
    e.result = results[dice(state, sizeof results / sizeof *results)];
    e.flags = dice(state, 4) ? 0 : dice(state, 2048);
    return overview_add(&subject.pass, &e);
}

/* @return whether the path has no gaps, and gains are possible. */
static bool path_is_sound(void)
{
    struct upmu_overview_path p = {.size = sizeof p};
    struct upmu_overview_path_segment s = {.size = sizeof s};
    struct upmu_overview_path_object l = {.size = sizeof l};
    if (upmu_overview_path_read(&subject, 0, &p) != 0 ||
        p.end_ns - p.begin_ns != p.run_ns + p.wake_ns + p.unknown_ns + p.stopped_ns)
        return false;
    uint64_t at = p.begin_ns, run = 0;
    for (size_t i = 0; upmu_overview_path_segment_at(&subject, 0, i, &s) == 0; i++) {
        if (s.begin_ns != at || s.end_ns < s.begin_ns)
            return false;
        at = s.end_ns;
        run += s.kind == UPMU_PATH_RUNNING ? s.end_ns - s.begin_ns : 0;
    }
    for (size_t i = 0; upmu_overview_path_object_at(&subject, 0, i, &l) == 0; i++)
        if (l.held_ns > 0 && l.gain_ns != UPMU_NO_VALUE && (l.gain_ns > l.held_ns || l.gain_half_ns > l.gain_ns))
            return false;
    return at == p.end_ns && run == p.run_ns;
}

START_TEST(any_order_of_events_makes_a_path_without_gaps)
{
    for (uint32_t seed = 1; seed <= 300; seed++) {
        uint32_t state = seed;
        uint64_t time = 1000;
        int rc = 0;
        begin_stream(seed % 2 == 0);
        for (uint64_t at = 1; seed % 3 == 0 && at < 6000; at += 1000)
            stop(at, at + 1 + dice(&state, 500));
        for (int i = 0; rc == 0 && i < 400; i++)
            rc = put_any(&state, time += dice(&state, 30));
        ck_assert_int_eq(rc, 0);
        finish();
        ck_assert_msg(path_is_sound(), "seed %u", seed);
        end_stream();
    }
}
END_TEST

START_TEST(arguments_are_checked)
{
    begin_stream(true);
    put(UPMU_TRACE_MARK, 101, 3000, 0);
    finish();
    struct upmu_overview_path p = {.size = UPMU_OVERVIEW_PATH_SIZE_V1 - 1};
    struct upmu_overview_path_segment s = {.size = sizeof s};
    struct upmu_overview_path_object l = {.size = sizeof l};
    struct upmu_overview_pair pair = {.size = sizeof pair};
    ck_assert_int_eq(upmu_overview_path_read(&subject, 0, &p), UPMU_E_INVAL);
    p.size = sizeof p;
    ck_assert_int_eq(upmu_overview_path_read(&subject, 1, &p), UPMU_E_END);
    ck_assert_int_eq(upmu_overview_path_read(&subject, 0, NULL), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_overview_path_segment_at(&subject, 0, 0, &s), UPMU_E_END);
    ck_assert_int_eq(upmu_overview_path_object_at(&subject, 0, 0, &l), UPMU_E_END);
    ck_assert_int_eq(upmu_overview_path_object_at(&subject, 7, 0, &l), UPMU_E_END);
    ck_assert_int_eq(upmu_overview_pair_at(&subject, 0, &pair), UPMU_E_END);
    ck_assert_int_eq(upmu_overview_pair_at(NULL, 0, &pair), UPMU_E_INVAL);
    end_stream();
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("paths");
    tcase_add_test(cases, path_goes_through_the_holder_and_gains_are_what_a_replay_gives);
    tcase_add_test(cases, gain_ends_where_another_path_becomes_critical);
    tcase_add_test(cases, wait_for_several_futexes_is_ended_by_whoever_woke_that_word);
    tcase_add_test(cases, path_goes_through_creation_and_join);
    tcase_add_test(cases, path_goes_through_the_join_of_a_thread_without_a_start);
    tcase_add_test(cases, path_before_a_thread_created_in_a_stop_is_that_of_the_main_thread);
    tcase_add_test(cases, path_before_a_thread_created_in_a_stop_is_that_of_the_holder);
    tcase_add_test(cases, path_of_a_process_recorded_later_has_the_time_before);
    tcase_add_test(cases, join_of_a_thread_that_has_ended_is_no_wait);
    tcase_add_test(cases, condition_is_ended_by_the_signal_or_the_mutex_if_that_comes_later);
    tcase_add_test(cases, gain_of_a_herd_is_that_of_waking_who_can_continue);
    tcase_add_test(cases, gain_of_a_herd_keeps_wakes_that_had_an_effect);
    tcase_add_test(cases, timeouts_and_missing_causes_are_unknown);
    tcase_add_test(cases, post_before_the_wait_did_not_end_it);
    tcase_add_test(cases, thread_does_not_run_after_its_last_event_where_events_were_lost);
    tcase_add_test(cases, barrier_is_ended_by_the_last_arrival_of_the_round);
    tcase_add_test(cases, wait_after_one_that_a_jump_left_is_on_the_path);
    tcase_add_test(cases, wait_that_a_jump_left_is_unknown_until_the_next_event);
    tcase_add_test(cases, signal_handler_in_a_wait_does_not_end_it);
    tcase_add_test(cases, hold_counts_where_the_path_runs_inside_it);
    tcase_add_test(cases, release_that_was_left_out_makes_no_long_hold);
    tcase_add_test(cases, recursive_mutex_is_held_until_the_last_release);
    tcase_add_test(cases, blocked_process_has_a_path_to_its_last_action);
    tcase_add_test(cases, any_order_of_events_makes_a_path_without_gaps);
    tcase_add_test(cases, arguments_are_checked);
    return run_suite("analysis paths", cases);
}
