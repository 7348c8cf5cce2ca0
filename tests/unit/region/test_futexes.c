/* SPDX-License-Identifier: MIT */
/*
 * Waits for futexes without recorded waits.
 *
 * The scripted kernel counts the thread's futex calls; each test is a process of its own.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "region/recorder.h"
#include "region/region.h"
#include "scheduled.h"
#include "upmu/trace.h"

struct futexes {
    size_t n;
    uint64_t waits, recorded; /* as last recorded */
    char note[300];
};

static struct futexes read_futexes(void)
{
    struct futexes futexes = {.n = 0};
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    struct upmu_trace_process p = {.size = sizeof p};
    int rc;
    ck_assert_msg(upmu_trace_open(&t, dir) == 0, "%s", upmu_error());
    while ((rc = upmu_trace_next(t, &e)) > 0)
        if (e->kind == UPMU_TRACE_FUTEX_COUNTS) {
            futexes.n++;
            futexes.waits = e->futex_counts.waits;
            futexes.recorded = e->futex_counts.recorded;
        }
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(upmu_trace_process_at(t, 0, &p), 0);
    snprintf(futexes.note, sizeof futexes.note, "%s", p.futex_note);
    upmu_trace_close(t);
    return futexes;
}

START_TEST(futexes_of_recorded_waits_are_distinguished_from_others)
{
    setup();
    scripted_futex_waits(1000); /* before the thread was known */
    region();
    upmu_recorder_wait_(false); /* of a wait that began before: of nothing that is known */
    scripted_futex_waits(5);
    upmu_recorder_wait_(true);
    scripted_futex_waits(2);
    upmu_recorder_wait_(true); /* a wait within the wait */
    scripted_futex_waits(1);
    upmu_recorder_wait_(false);
    scripted_futex_waits(4);
    upmu_recorder_wait_(false);
    scripted_futex_waits(6);
    region_sched_finish();
    struct futexes futexes = read_futexes();
    ck_assert_uint_eq(futexes.waits - 1000, 5 + 2 + 1 + 4 + 6);
    ck_assert_uint_eq(futexes.recorded, 2 + 1 + 4);
    ck_assert_str_eq(futexes.note, "");
}
END_TEST

START_TEST(a_wait_that_goes_on_is_recorded_up_to_now)
{
    setup();
    region();
    upmu_recorder_wait_(true);
    scripted_futex_waits(3);
    region_sched_finish();
    ck_assert_uint_eq(read_futexes().waits, 3);
    ck_assert_uint_eq(read_futexes().recorded, 3);
    upmu_recorder_wait_(false);
    scripted_futex_waits(2);
    region_sched_finish();
    ck_assert_uint_eq(read_futexes().waits, 5);
    ck_assert_uint_eq(read_futexes().recorded, 3);
}
END_TEST

START_TEST(unchanged_counts_are_recorded_once)
{
    setup();
    region();
    for (int i = 0; i < 3; i++)
        region_sched_finish();
    ck_assert_uint_eq(read_futexes().n, 1);
    ck_assert_uint_eq(read_futexes().waits, 0);
}
END_TEST

static void *worker(void *arg)
{
    region();
    scripted_futex_waits(7);
    return arg;
}

START_TEST(a_thread_reports_at_its_end_and_its_count_is_removed)
{
    pthread_t t;
    setup();
    ck_assert_int_eq(pthread_create(&t, NULL, worker, NULL), 0);
    ck_assert_int_eq(pthread_join(t, NULL), 0);
    ck_assert_uint_eq(read_futexes().waits, 7);
    ck_assert_uint_eq(scripted_futexes_now(), 0);
}
END_TEST

START_TEST(tracepoints_that_are_not_there_are_noted)
{
    scripted_futexes_errors(EACCES, 0);
    setup();
    region();
    upmu_recorder_wait_(true);
    upmu_recorder_wait_(false);
    region_sched_finish();
    ck_assert_uint_eq(read_futexes().n, 0);
    ck_assert_ptr_nonnull(strstr(read_futexes().note, "root"));
    ck_assert_uint_eq(scripted_futexes_now(), 0);
}
END_TEST

START_TEST(counts_that_cannot_be_believed_are_none_and_that_is_noted_at_the_end)
{
    scripted_futexes_errors(0, EPROTO);
    setup();
    region();
    scripted_futex_waits(3);
    region_sched_finish();
    trace_writer_close(upmu_regions.trace);
    upmu_regions.trace = NULL;
    ck_assert_uint_eq(read_futexes().n, 0);
    ck_assert_ptr_nonnull(strstr(read_futexes().note, "do not count as they should"));
}
END_TEST

START_TEST(nothing_is_counted_unless_requested)
{
    ck_assert_int_eq(unsetenv("UPMU_SCHED"), 0);
    setup();
    region();
    region_sched_finish();
    ck_assert_uint_eq(scripted_futexes_now(), 0);
    ck_assert_str_eq(read_futexes().note, "");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("futexes");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, futexes_of_recorded_waits_are_distinguished_from_others);
    tcase_add_test(cases, a_wait_that_goes_on_is_recorded_up_to_now);
    tcase_add_test(cases, unchanged_counts_are_recorded_once);
    tcase_add_test(cases, a_thread_reports_at_its_end_and_its_count_is_removed);
    tcase_add_test(cases, tracepoints_that_are_not_there_are_noted);
    tcase_add_test(cases, counts_that_cannot_be_believed_are_none_and_that_is_noted_at_the_end);
    tcase_add_test(cases, nothing_is_counted_unless_requested);
    return run_suite("region futexes", cases);
}
