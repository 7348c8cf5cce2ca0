/* SPDX-License-Identifier: MIT */
/*
 * The kernel's switch records on their way into the trace.
 *
 * The scripted kernel sets the times of switches; each test is a process of its own.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "region/recorder.h"
#include "region/region.h"
#include "trace/format/control.h"
#include "trace/write/stream.h"
#include "scheduled.h"
#include "upmu/trace.h"

static uint64_t raw_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* What the trace has of how threads run, up to now. */
struct seen {
    struct upmu_trace_event events[64];
    size_t n;
    uint64_t begin_ns, end_ns; /* of the region */
};

static struct seen read_events(void)
{
    static struct seen s;
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    int rc;
    s = (struct seen){.n = 0};
    ck_assert_msg(upmu_trace_open(&t, dir) == 0, "%s", upmu_error());
    while ((rc = upmu_trace_next(t, &e)) > 0) {
        if (e->kind == UPMU_TRACE_REGION_BEGIN)
            s.begin_ns = e->time_ns;
        if (e->kind == UPMU_TRACE_REGION_END)
            s.end_ns = e->time_ns;
        if (e->kind >= UPMU_TRACE_SCHED_BEGIN && e->kind <= UPMU_TRACE_KERNEL_LOCK_DONE && s.n < 64)
            s.events[s.n++] = *e;
    }
    ck_assert_int_eq(rc, 0);
    upmu_trace_close(t);
    return s;
}

static void note_of(char *note, size_t size)
{
    struct upmu_trace *t;
    struct upmu_trace_process p = {.size = sizeof p};
    ck_assert_int_eq(upmu_trace_open(&t, dir), 0);
    ck_assert_int_eq(upmu_trace_process_at(t, 0, &p), 0);
    snprintf(note, size, "%s", p.sched_note);
    upmu_trace_close(t);
}

START_TEST(records_have_the_time_of_their_switch)
{
    setup();
    ck_assert_int_eq(upmu_region_begin("r"), 0);
    usleep(2000);
    struct kernel_switch records[] = {{.kind = KERNEL_SWITCH_OUT, .cpu = 5}, {.kind = KERNEL_SWITCH_IN, .cpu = 6}};
    records[0].raw_ns = raw_now();
    usleep(3000);
    records[1].raw_ns = raw_now();
    scripted_switches(records, 2);
    ck_assert_int_eq(upmu_region_end("r"), 0);
    struct seen s = read_events();
    const struct upmu_trace_event *e = s.events;
    ck_assert_uint_ge(s.n, 3);
    ck_assert_int_eq(e[0].kind, UPMU_TRACE_SCHED_BEGIN);
    if (e[1].kind == UPMU_TRACE_SCHED_SEEN) /* a slow machine may already have recorded that nothing is missing */
        e++;
    ck_assert_int_eq(e[1].kind, UPMU_TRACE_SCHED_OUT);
    ck_assert_int_eq(e[2].kind, UPMU_TRACE_SCHED_IN);
    ck_assert_uint_eq(e[1].sched.cpu, 5);
    ck_assert_uint_eq(e[2].sched.cpu, 6);
    ck_assert_int_eq(e[1].tid, getpid());
    ck_assert_uint_eq(e[1].flags, 0);
    ck_assert_uint_ge(e[1].time_ns, s.begin_ns);
    ck_assert_uint_le(e[2].time_ns, s.end_ns);
    /* The same line leads through both; its slope is off by what an interrupt may take between the two clocks. */
    uint64_t wanted = records[1].raw_ns - records[0].raw_ns, got = e[2].time_ns - e[1].time_ns;
    ck_assert_uint_le(got, wanted + wanted / 20);
    ck_assert_uint_ge(got, wanted - wanted / 20);
}
END_TEST

START_TEST(preemption_and_loss_are_distinguished)
{
    setup();
    region();
    uint64_t now = raw_now();
    const struct kernel_switch records[] = {
        {.kind = KERNEL_SWITCH_PREEMPTED, .raw_ns = now},
        {.kind = KERNEL_SWITCH_IN, .raw_ns = now + 1},
        {.kind = KERNEL_SWITCH_LOST, .raw_ns = now + 2, .value = 77},
        {.kind = KERNEL_SWITCH_OUT, .raw_ns = now + 3},
    };
    scripted_switches(records, 4);
    region_sched_finish();
    struct seen s = read_events();
    const struct upmu_trace_event *e = s.events;
    ck_assert_uint_ge(s.n, 6);
    size_t first = s.n - 5; /* a slow machine may already have recorded that nothing is missing */
    ck_assert_int_eq(e[first].kind, UPMU_TRACE_SCHED_OUT);
    ck_assert_uint_eq(e[first].flags, UPMU_TRACE_FLAG_PREEMPTED);
    ck_assert_int_eq(e[first + 1].kind, UPMU_TRACE_SCHED_IN);
    ck_assert_int_eq(e[first + 2].kind, UPMU_TRACE_SCHED_LOST);
    ck_assert_uint_eq(e[first + 2].sched_count.switches, 77);
    ck_assert_int_eq(e[first + 3].kind, UPMU_TRACE_SCHED_OUT);
    ck_assert_uint_eq(e[first + 3].flags, 0);
    ck_assert_int_eq(e[first + 4].kind, UPMU_TRACE_SCHED_SEEN);
    ck_assert_uint_eq(e[first + 4].sched_count.switches, 77 + 3);
}
END_TEST

START_TEST(order_is_kept_whatever_the_clocks_say)
{
    setup();
    region();
    uint64_t now = raw_now();
    const struct kernel_switch records[] = {
        {.kind = KERNEL_SWITCH_OUT, .raw_ns = 1}, /* before the recording */
        {.kind = KERNEL_SWITCH_IN, .raw_ns = now + 1000000},
        {.kind = KERNEL_SWITCH_OUT, .raw_ns = now},
        {.kind = KERNEL_SWITCH_IN, .raw_ns = 0},
    };
    scripted_switches(records, 4);
    region();
    struct seen s = read_events();
    ck_assert_uint_ge(s.n, 5);
    for (size_t i = 1; i < s.n; i++)
        ck_assert_uint_ge(s.events[i].tick, s.events[i - 1].tick);
    ck_assert_uint_eq(trace_writer_control(upmu_regions.trace)->clamped, 0);
}
END_TEST

START_TEST(tracepoints_are_recorded_where_they_can_be_read)
{
    char note[300];
    setup();
    region();
    uint64_t now = raw_now();
    const struct kernel_switch records[] = {
        {.kind = KERNEL_SWITCH_WAKES, .raw_ns = now, .value = 4711},
        {.kind = KERNEL_SWITCH_LOCK_BEGIN, .raw_ns = now + 1, .value = UINT64_MAX - 7, .more = 33},
        {.kind = KERNEL_SWITCH_LOCK_END, .raw_ns = now + 2, .value = UINT64_MAX - 7, .more = (uint32_t)-EINTR},
        {.kind = KERNEL_SWITCH_POINTS_LOST, .raw_ns = now + 3, .value = 5},
    };
    scripted_switches(records, 4);
    ck_assert_uint_eq(scripted_points_open(), 1u << KERNEL_POINT_WAKING); /* locks were not requested */
    region_sched_finish();
    struct seen s = read_events();
    const struct upmu_trace_event *e = &s.events[s.n - 4];
    ck_assert_int_eq(e[0].kind, UPMU_TRACE_SCHED_WAKE);
    ck_assert_int_eq(e[0].sched_wake.woken, 4711);
    ck_assert_int_eq(e[1].kind, UPMU_TRACE_KERNEL_LOCK_BLOCK);
    ck_assert_uint_eq(e[1].object, UINT64_MAX - 7);
    ck_assert_uint_eq(e[1].kernel_lock.kinds, 33);
    ck_assert_int_eq(e[2].kind, UPMU_TRACE_KERNEL_LOCK_DONE);
    ck_assert_int_eq(e[2].result, -EINTR);
    ck_assert_int_eq(e[3].kind, UPMU_TRACE_SCHED_SEEN);
    ck_assert_uint_eq(e[3].sched_count.switches, 0); /* none of them is a switch */
    ck_assert_uint_eq(trace_writer_lost(upmu_regions.trace), 5);
    note_of(note, sizeof note);
    ck_assert_str_eq(note, "");
}
END_TEST

START_TEST(kernel_locks_that_cannot_be_recorded_are_noted_and_switches_are_recorded)
{
    char note[300];
    ck_assert_int_eq(setenv("UPMU_KERNEL_LOCKS", "1", 1), 0);
    scripted_points_error(EACCES);
    setup();
    region();
    note_of(note, sizeof note);
    ck_assert_ptr_nonnull(strstr(note, "EACCES"));
    ck_assert_int_eq(read_events().events[0].kind, UPMU_TRACE_SCHED_BEGIN);
    ck_assert_uint_eq(scripted_points_open(), 0);
}
END_TEST

START_TEST(kernel_locks_are_asked_for_by_name)
{
    ck_assert_int_eq(unsetenv("UPMU_SCHED"), 0);
    ck_assert_int_eq(setenv("UPMU_KERNEL_LOCKS", "1", 1), 0);
    setup();
    region();
    ck_assert_uint_eq(scripted_points_open(), (1u << KERNEL_POINTS) - 1);
}
END_TEST

static void *worker(void *arg)
{
    const struct kernel_switch records[] = {{.kind = KERNEL_SWITCH_OUT, .raw_ns = raw_now()},
                                            {.kind = KERNEL_SWITCH_IN, .raw_ns = raw_now()}};
    region();
    scripted_switches(records, 2);
    return arg;
}

START_TEST(records_left_at_thread_end_are_written_and_the_buffer_is_freed)
{
    pthread_t t;
    setup();
    ck_assert_int_eq(pthread_create(&t, NULL, worker, NULL), 0);
    ck_assert_int_eq(pthread_join(t, NULL), 0);
    struct seen s = read_events();
    ck_assert_uint_ge(s.n, 4);
    ck_assert_int_eq(s.events[s.n - 1].kind, UPMU_TRACE_SCHED_SEEN);
    ck_assert_uint_eq(s.events[s.n - 1].sched_count.switches, 2);
    ck_assert_uint_eq(scripted_switch_logs(), 0);
    ck_assert_uint_eq(scripted_misuse(), 0);
}
END_TEST

START_TEST(refusal_is_noted_and_the_rest_is_recorded)
{
    char note[300];
    scripted_switches_open_error(EACCES);
    setup();
    region();
    ck_assert_ptr_nonnull(strstr((note_of(note, sizeof note), note), "perf_event_paranoid"));
    struct seen s = read_events();
    ck_assert_uint_eq(s.n, 0);
    ck_assert_uint_gt(s.end_ns, 0);
    ck_assert_uint_eq(scripted_switch_logs(), 0);
}
END_TEST

START_TEST(thread_without_a_buffer_is_recorded_without_its_switches)
{
    char note[300];
    setup();
    scripted_switches_open_error(EPERM); /* the limit of locked memory is reached meanwhile */
    region();
    ck_assert_uint_eq(read_events().n, 0);
    ck_assert_uint_gt(read_events().end_ns, 0);
    note_of(note, sizeof note);
    ck_assert_str_eq(note, "");
}
END_TEST

START_TEST(switching_on_late_reaches_threads_that_are_at_work)
{
    ck_assert_int_eq(unsetenv("UPMU_SCHED"), 0);
    setup();
    region();
    ck_assert(!upmu_recorder_sched_(false));
    ck_assert_uint_eq(read_events().n, 0);
    ck_assert(upmu_recorder_sched_(true));
    region();
    ck_assert_uint_ge(read_events().n, 1);
    ck_assert_int_eq(read_events().events[0].kind, UPMU_TRACE_SCHED_BEGIN);
}
END_TEST

/* A trace without free space, then with free space. */
START_TEST(a_full_trace_counts_a_loss)
{
    setup();
    region();
    struct trace_stream *stream = region_tls.thread->kept->sched.stream;
    struct kernel_switch r = {.kind = KERNEL_SWITCH_OUT, .raw_ns = raw_now()};
    uint32_t claimed = stream->claimed;
    stream->busy = 1; /* as a handler finds it: beyond the few pending ones all is lost */
    for (int i = 0; i < STREAM_PENDING + 3; i++) {
        r.kind = i % 2 ? KERNEL_SWITCH_IN : KERNEL_SWITCH_OUT;
        scripted_switches(&r, 1);
    }
    region_sched_finish();
    stream->busy = 0;
    stream->claimed = claimed;
    scripted_switches(&r, 1);
    region_sched_finish();
    struct seen s = read_events();
    ck_assert_uint_ge(s.n, 2);
    const struct upmu_trace_event *lost = &s.events[s.n - 3];
    ck_assert_int_eq(lost[0].kind, UPMU_TRACE_SCHED_LOST);
    ck_assert_uint_eq(lost[0].sched_count.switches, 3);
    ck_assert_int_eq(lost[1].kind, UPMU_TRACE_SCHED_OUT);
    ck_assert_int_eq(lost[2].kind, UPMU_TRACE_SCHED_SEEN);
    ck_assert_uint_eq(lost[2].sched_count.switches, STREAM_PENDING + 3 + 1);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("sched");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, records_have_the_time_of_their_switch);
    tcase_add_test(cases, preemption_and_loss_are_distinguished);
    tcase_add_test(cases, order_is_kept_whatever_the_clocks_say);
    tcase_add_test(cases, tracepoints_are_recorded_where_they_can_be_read);
    tcase_add_test(cases, kernel_locks_that_cannot_be_recorded_are_noted_and_switches_are_recorded);
    tcase_add_test(cases, kernel_locks_are_asked_for_by_name);
    tcase_add_test(cases, records_left_at_thread_end_are_written_and_the_buffer_is_freed);
    tcase_add_test(cases, refusal_is_noted_and_the_rest_is_recorded);
    tcase_add_test(cases, thread_without_a_buffer_is_recorded_without_its_switches);
    tcase_add_test(cases, switching_on_late_reaches_threads_that_are_at_work);
    tcase_add_test(cases, a_full_trace_counts_a_loss);
    return run_suite("region sched", cases);
}
