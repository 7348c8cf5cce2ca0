/* SPDX-License-Identifier: MIT */
/*
 * Statistics of regions from known readings: sums, statuses and refusals.
 *
 * Each test is a process of its own, since regions are set up once.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "region/recorder.h"
#include "region/region.h"
#include "support/region_stats.h"
#include "support/machine.h"
#include "unit/suite.h"
#include "upmu/trace.h"

/* The same count at each read, a second later: times that do not advance while a busy machine lets the thread wait would be
 * taken for those of a stopped counter. */
enum { STEADY_READS = 256 };
static struct scripted_sample steady[STEADY_READS];

static void setup(const char *events)
{
    struct upmu_region_opts opts = {.size = sizeof opts, .events = events};
    int rc = upmu_region_setup(&opts);
    ck_assert_msg(rc == 0, "%s: %s", events, upmu_error());
    /* The scripted counters' times do not advance while a loaded machine lets a region take long: that is not the event
     * being stopped. */
    upmu_regions.step_ticks = UINT64_MAX;
}

static void instances(const char *name, int n)
{
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(upmu_region_begin(name), 0);
        ck_assert_int_eq(upmu_region_end(name), 0);
    }
}

static struct test_region stats(const char *name, pid_t thread)
{
    struct test_region s;
    int rc = test_region_read(name, thread, &s);
    ck_assert_msg(rc == 0, "%s: %s", name, upmu_error());
    return s;
}

static void set_up(void)
{
    for (size_t i = 0; i < STEADY_READS; i++) {
        uint64_t ns = (i + 1) * UINT64_C(1000000000);
        steady[i] = (struct scripted_sample){100, ns, ns};
    }
    machine_plain(steady, STEADY_READS);
}

/* What libupmu_func reads at each call: without a page nothing, unless system calls are permitted. */
START_TEST(reads_for_functions_make_no_system_call_unless_permitted)
{
    const struct scripted_sample reads[] = {{10, 1000, 1000}, {17, 2000, 2000}, {20, 3000, 2500}, {25, 4000, 3500}};
    struct recorder_count now[RECORDER_EVENTS_MAX];
    const char *reason;
    int cause;
    scripted_counter(KERNEL_TYPE_SOFTWARE, KERNEL_SW_PAGE_FAULTS, reads, 4);
    setup("page-faults");
    ck_assert_uint_eq(upmu_recorder_read_(now, true), 0); /* a thread without counters */
    instances("r", 1);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(upmu_recorder_read_(now, false), 1);
        ck_assert_uint_eq(now[0].known, 0);
    }
    ck_assert_uint_eq(upmu_recorder_read_(now, true), 1);
    ck_assert_uint_eq(now[0].known, 1);
    ck_assert_uint_eq(now[0].count, 20); /* the two before were read by the instance */
    ck_assert_uint_eq(now[0].enabled, 3000);
    ck_assert_uint_eq(now[0].running, 2500);
    ck_assert_str_eq(upmu_recorder_event_(0, &cause, &reason), "page-faults");
    ck_assert_ptr_null(upmu_recorder_event_(1, &cause, &reason));
    ck_assert(upmu_recorder_events_asked_());
}
END_TEST

START_TEST(distributions_of_exact_instances)
{
    /* One row for each read: three instances of 7, 0 and 30. */
    const struct scripted_sample reads[] = {{10, 1000, 1000}, {17, 2000, 2000}, {20, 3000, 3000},
                                            {20, 4000, 4000}, {25, 5000, 5000}, {55, 6000, 6000}};
    scripted_counter(KERNEL_TYPE_SOFTWARE, KERNEL_SW_PAGE_FAULTS, reads, 6);
    setup("page-faults");
    instances("r", 3);
    struct test_region s = stats("r", UPMU_ALL_THREADS);
    const struct upmu_region_event_stats *e = &s.events[0];
    ck_assert_uint_eq(s.count, 3);
    ck_assert_uint_eq(s.n_events, 1);
    ck_assert_int_eq(e->status, UPMU_EXACT);
    ck_assert_uint_eq(e->without_value, 0);
    ck_assert_uint_eq(e->stat.count, 3);
    ck_assert_uint_eq(e->stat.sum, 37);
    ck_assert_uint_eq(e->stat.min, 0);
    ck_assert_uint_eq(e->stat.max, 30);
    ck_assert_uint_eq(e->stat.last, 30);
    ck_assert_double_eq(e->stat.sum_squares, 49.0 + 900.0);
    ck_assert_uint_eq(e->enabled, 3000);
    ck_assert_uint_eq(e->running, 3000);
}
END_TEST

START_TEST(an_estimate_makes_the_sum_one_for_good)
{
    const struct scripted_sample reads[] = {{0, 1000, 1000}, {10, 2000, 1500}, {10, 2000, 1500}, {15, 3000, 2500}};
    scripted_counter(KERNEL_TYPE_HARDWARE, 0, reads, 4);
    setup("cycles");
    instances("r", 2);
    struct test_region s = stats("r", UPMU_ALL_THREADS);
    ck_assert_int_eq(s.events[0].status, UPMU_SCALED);
    ck_assert_uint_eq(s.events[0].stat.sum, 20 + 5);
    ck_assert_uint_eq(s.events[0].enabled, 2000);
    ck_assert_uint_eq(s.events[0].running, 1500);
}
END_TEST

START_TEST(an_instance_off_the_counters_has_no_number)
{
    const struct scripted_sample reads[] = {{0, 1000, 1000}, {10, 2000, 2000}, {10, 3000, 2000}, {10, 4000, 2000}};
    scripted_counter(KERNEL_TYPE_HARDWARE, 0, reads, 4);
    setup("cycles");
    instances("r", 2);
    struct test_region s = stats("r", UPMU_ALL_THREADS);
    ck_assert_uint_eq(s.count, 2);
    ck_assert_int_eq(s.events[0].status, UPMU_NOT_COUNTED);
    ck_assert_uint_eq(s.events[0].without_value, 1);
    ck_assert_uint_eq(s.events[0].stat.count, 1);
    ck_assert_uint_eq(s.events[0].stat.sum, 10);
    ck_assert_uint_eq(s.events[0].stat.min, 10);
}
END_TEST

/* A core that may lack the event: its events are not published. */
START_TEST(an_unconfirmed_sum_of_0_is_no_number)
{
    /* the first reading checks the times of the group's members */
    const struct scripted_sample zeros[] = {{0, 500, 500}, {0, 1000, 1000}, {0, 2000, 2000}},
                                 ones[] = {{0, 500, 500}, {0, 1000, 1000}, {1, 2000, 2000}};
    scripted_file("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x70\nCPU architecture: 8\nCPU part\t: 0x663\n");
    machine_forget();
    scripted_counter(KERNEL_TYPE_RAW, 0x40, zeros, 3);
    scripted_counter(KERNEL_TYPE_RAW, 0x41, ones, 3);
    scripted_counter(KERNEL_TYPE_HW_CACHE, 0, zeros, 3);
    setup("l1d-load,l1d-store,l1d-access");
    instances("r", 1);
    struct test_region s = stats("r", UPMU_ALL_THREADS);
    ck_assert_int_eq(s.events[0].status, UPMU_NOT_COUNTED);
    ck_assert_uint_eq(s.events[0].without_value, 1);
    ck_assert_int_eq(s.events[1].status, UPMU_EXACT);
    ck_assert_uint_eq(s.events[1].stat.sum, 1);
    ck_assert_int_eq(s.events[2].status, UPMU_EXACT); /* a perf generic event: the kernel has asked the core */
    ck_assert_uint_eq(s.events[2].without_value, 0);
}
END_TEST

static const ssize_t bad_reads[] = {-EIO, 0, 8, 24};

START_TEST(a_bad_read_costs_the_group_its_numbers_from_then_on_and_nothing_else)
{
    setup("page-faults,context-switches");
    instances("r", 1);
    scripted_read_fault(KERNEL_TYPE_SOFTWARE, SCRIPTED_ANY, bad_reads[_i], 1);
    instances("r", 1);
    instances("r", 1);
    struct test_region s = stats("r", UPMU_ALL_THREADS);
    ck_assert_uint_eq(s.count, 3);
    ck_assert_uint_eq(s.wall.count, 3);
    ck_assert_int_eq(s.events[0].status, UPMU_REFUSED);
    ck_assert_int_eq(s.events[0].cause, UPMU_E_IO);
    ck_assert_uint_eq(s.events[0].without_value, 2); /* a group that failed once is not read again */
    ck_assert_uint_eq(s.events[0].stat.count, 1);
    ck_assert_int_eq(s.events[1].status, UPMU_EXACT);
    ck_assert_uint_eq(s.events[1].stat.count, 3);
}
END_TEST

static const struct {
    int err, code, status;
} denials[] = {
    {EACCES, UPMU_E_PERM, UPMU_REFUSED},
    {EPERM, UPMU_E_SECCOMP, UPMU_REFUSED},
    {ENOSYS, UPMU_E_NO_SYSCALL, UPMU_UNSUPPORTED},
};

START_TEST(without_perf_events_time_and_switches_are_true_and_the_rest_has_its_reason)
{
    int err = denials[_i].err;
    scripted_file("/proc/self/status", err == EPERM
                                           ? "Name:\tt\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0\nSeccomp:\t2\n"
                                           : "Name:\tt\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0\nSeccomp:\t0\n");
    scripted_file("/proc/self/uid_map", "         0          0 4294967295\n");
    scripted_file("/proc/sys/kernel/perf_event_paranoid", err == EACCES ? "3\n" : "1\n");
    scripted_rule(scripted_rule_deny, &err);
    setup("page-faults,context-switches,cycles");
    size_t asked = scripted_count(SCRIPTED_OPEN);
    ck_assert_int_eq(upmu_region_begin("r"), 0);
    scripted_switch(3, false);
    ck_assert_int_eq(upmu_region_end("r"), 0);
    instances("r", 4);
    struct test_region s = stats("r", UPMU_ALL_THREADS);
    ck_assert_uint_eq(s.count, 5);
    ck_assert_uint_gt(s.wall.sum, 0);
    for (int i = 0; i < 3; i += 2) {
        ck_assert_int_eq(s.events[i].status, denials[_i].status);
        ck_assert_msg(s.events[i].cause == denials[_i].code, "%s", upmu_strerror(s.events[i].cause));
        ck_assert_uint_eq(s.events[i].stat.count, 0);
        ck_assert_uint_eq(s.events[i].stat.min, UPMU_NO_VALUE);
        ck_assert_uint_eq(s.events[i].stat.last, UPMU_NO_VALUE);
        ck_assert_uint_eq(s.events[i].without_value, 5);
    }
    ck_assert_int_eq(s.events[1].status, UPMU_EXACT);
    ck_assert_uint_eq(s.events[1].stat.sum, 3);
    ck_assert_uint_eq(s.deschedule_unknown, 5);
    ck_assert_msg(scripted_count(SCRIPTED_OPEN) == asked, "what is denied for good was asked for again");
}
END_TEST

static void *one_instance(void *arg)
{
    (void)arg;
    instances("r", 1);
    return NULL;
}

START_TEST(a_thread_without_counters_has_no_numbers_and_the_others_keep_theirs)
{
    const struct scripted_sample reads[] = {{10, 1000, 1000}, {17, 2000, 2000}};
    pthread_t thread;
    scripted_counter(KERNEL_TYPE_SOFTWARE, KERNEL_SW_PAGE_FAULTS, reads, 2);
    setup("page-faults");
    instances("r", 1);
    scripted_open_limit(scripted_open_now());
    ck_assert_int_eq(pthread_create(&thread, NULL, one_instance, NULL), 0);
    pthread_join(thread, NULL);
    struct test_region s = stats("r", UPMU_ALL_THREADS);
    ck_assert_uint_eq(s.threads, 2);
    ck_assert_uint_eq(s.count, 2);
    ck_assert_int_eq(s.events[0].status, UPMU_REFUSED);
    ck_assert_int_eq(s.events[0].cause, UPMU_E_NFILES);
    ck_assert_uint_eq(s.events[0].stat.count, 1);
    ck_assert_uint_eq(s.events[0].stat.sum, 7);
    ck_assert_uint_eq(s.events[0].without_value, 1);
    struct upmu_region_health health = {.size = sizeof health};
    ck_assert_int_eq(upmu_region_health_read(&health), 0);
    ck_assert_uint_eq(health.threads_without_counters, 1);
}
END_TEST

START_TEST(a_thread_gives_its_counters_back_when_it_ends)
{
    pthread_t thread;
    setup("page-faults,task-clock,cycles");
    instances("r", 1);
    size_t open = scripted_open_now(), mapped = scripted_mapped_now();
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, one_instance, NULL), 0);
        pthread_join(thread, NULL);
        ck_assert_uint_eq(scripted_open_now(), open);
        ck_assert_uint_eq(scripted_mapped_now(), mapped);
    }
    ck_assert_uint_eq(stats("r", UPMU_ALL_THREADS).count, 21);
    ck_assert_uint_eq(scripted_misuse(), 0);
}
END_TEST

START_TEST(a_setup_that_fails_leaves_regions_off_and_may_be_tried_again)
{
    struct upmu_region_opts opts = {.size = sizeof opts, .events = "cylces"};
    struct test_region s;
    ck_assert_int_eq(upmu_region_setup(&opts), UPMU_E_NAME);
    ck_assert_msg(strstr(upmu_error(), "did you mean 'cycles'?") != NULL, "%s", upmu_error());
    ck_assert_int_eq(upmu_region_begin("r"), 0); /* off */
    ck_assert_int_eq(test_region_read("r", UPMU_ALL_THREADS, &s), UPMU_E_STATE);
    opts = (struct upmu_region_opts){.size = sizeof opts, .report = "jsno"};
    ck_assert_int_eq(upmu_region_setup(&opts), UPMU_E_INVAL);
    ck_assert_msg(strstr(upmu_error(), "did you mean 'json'?") != NULL, "%s", upmu_error());
    opts = (struct upmu_region_opts){.size = sizeof opts, .trace = "/proc/no-such-folder/trace"};
    ck_assert_int_eq(upmu_region_setup(&opts), UPMU_E_IO);
    opts = (struct upmu_region_opts){.size = 3};
    ck_assert_int_eq(upmu_region_setup(&opts), UPMU_E_INVAL);
    ck_assert_uint_eq(scripted_open_now(), 0);
    setup("page-faults");
    ck_assert_int_eq(upmu_region_setup(NULL), UPMU_E_STATE);
    instances("r", 2);
    ck_assert_uint_eq(stats("r", UPMU_ALL_THREADS).count, 2);
}
END_TEST

START_TEST(too_many_events_are_refused_by_the_program)
{
    char names[17 * 12 + 1] = "";
    struct upmu_region_opts opts = {.size = sizeof opts, .events = names};
    for (int i = 0; i < 17; i++)
        strcat(names, "page-faults,");
    ck_assert_int_eq(upmu_region_setup(&opts), UPMU_E_LIMIT);
    names[16 * 12] = '\0';
    setup(names);
    instances("r", 1);
    ck_assert_uint_eq(stats("r", UPMU_ALL_THREADS).n_events, 16);
    ck_assert_str_eq(test_region_event(16), "(none)");
}
END_TEST

START_TEST(names_of_events_show_the_modes_in_force)
{
    scripted_user(2);
    setup("instructions,task-clock,cpu-migrations");
    ck_assert_str_eq(test_region_event(0), "instructions:u");
    ck_assert_str_eq(test_region_event(1), "task-clock");
    ck_assert_str_eq(test_region_event(2), "cpu-migrations");
    instances("r", 1);
    struct test_region s = stats("r", UPMU_ALL_THREADS);
    ck_assert_int_eq(s.events[2].status, UPMU_REFUSED);
    ck_assert_int_eq(s.events[2].cause, UPMU_E_PERM);
}
END_TEST

START_TEST(arguments_of_readback_are_checked)
{
    struct upmu_region_stats s = {.size = sizeof s};
    struct upmu_region_health h = {.size = 8};
    setup("page-faults");
    instances("r", 1);
    ck_assert_int_eq(upmu_region_stats_read("q", UPMU_ALL_THREADS, &s), UPMU_E_NAME);
    ck_assert_int_eq(upmu_region_stats_read("r", 1, &s), UPMU_E_NAME);
    ck_assert_int_eq(upmu_region_stats_read(NULL, UPMU_ALL_THREADS, &s), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_region_stats_read("r", UPMU_ALL_THREADS, NULL), UPMU_E_INVAL);
    s.size = 8;
    ck_assert_int_eq(upmu_region_stats_read("r", UPMU_ALL_THREADS, &s), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_region_health_read(&h), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_region_health_read(NULL), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_region_report(-1), UPMU_E_STATE);
}
END_TEST

/* ------------------------------------------------------------------------------- for events of other modules */

static char dir[] = "/tmp/upmu-unit-counts-XXXXXX";

/* The counters recorded for `object`, in order. */
static size_t recorded_values(uint64_t object, uint64_t *ticks, struct upmu_value (*values)[2], size_t max)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    size_t n = 0;
    int rc;
    ck_assert_msg(upmu_trace_open(&t, dir) == 0, "%s", upmu_error());
    while ((rc = upmu_trace_next(t, &e)) > 0) {
        if (e->kind != UPMU_TRACE_COUNTERS)
            continue;
        ck_assert_uint_eq(e->object, object);
        ck_assert_uint_eq(e->n_values, 2);
        ck_assert_uint_lt(n, max);
        ticks[n] = e->tick;
        memcpy(values[n++], e->values, 2 * sizeof **values);
    }
    ck_assert_int_eq(rc, 0);
    upmu_trace_close(t);
    return n;
}

static void setup_traced(const char *events)
{
    struct upmu_region_opts opts = {.size = sizeof opts, .events = events, .trace = dir};
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_msg(upmu_region_setup(&opts) == 0, "%s", upmu_error());
}

/* A multiplexed event, and an event that is refused: their statuses come through. */
START_TEST(counters_for_an_event_keep_their_status)
{
    const struct scripted_sample reads[] = {{10, 1000, 1000}, {60, 2000, 1500}, {90, 3000, 1500}};
    uint64_t ticks[4] = {0}, tick = 0;
    struct upmu_value values[4][2];
    scripted_counter(KERNEL_TYPE_HARDWARE, KERNEL_HW_INSTRUCTIONS, reads, 3);
    scripted_open_error(KERNEL_TYPE_SOFTWARE, KERNEL_SW_PAGE_FAULTS, EACCES);
    setup_traced("instructions,page-faults");
    ck_assert_ptr_nonnull(upmu_recorder_stream_());
    ck_assert(upmu_recorder_counters_(&tick, 0xabc));
    ck_assert_uint_ne(tick, 0); /* the moment behind the reading */
    uint64_t given = tick + 1000;
    ck_assert(upmu_recorder_counters_(&given, 0xabc));
    ck_assert_uint_eq(given, tick + 1000);
    ck_assert_uint_eq(recorded_values(0xabc, ticks, values, 4), 2);
    ck_assert_uint_eq(ticks[0], tick);
    ck_assert_uint_eq(ticks[1], given);
    ck_assert_int_eq(values[0][0].status, UPMU_EXACT);
    ck_assert_uint_eq(values[0][0].value, 10);
    ck_assert_int_eq(values[1][0].status, UPMU_SCALED);
    ck_assert_uint_eq(values[1][0].raw, 60);
    ck_assert_uint_eq(values[1][0].value, 80);
    ck_assert_uint_eq(values[1][0].enabled, 2000);
    ck_assert_uint_eq(values[1][0].running, 1500);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(values[i][1].status, UPMU_REFUSED);
        ck_assert_uint_eq(values[i][1].value, UPMU_NO_VALUE);
    }
}
END_TEST

START_TEST(counters_for_an_event_wait_for_no_thread)
{
    uint64_t tick = 5;
    setup_traced("page-faults");
    ck_assert_ptr_nonnull(upmu_recorder_stream_());
    errno = 77;
    region_tls.thread->busy = 1; /* as a signal handler finds it that has hit a region's begin */
    ck_assert(!upmu_recorder_counters_(&tick, 1));
    region_tls.thread->busy = 0;
    ck_assert(upmu_recorder_counters_(&tick, 1));
    ck_assert_int_eq(errno, 77);
}
END_TEST

START_TEST(without_counters_nothing_is_reported)
{
    uint64_t tick = 5;
    setup_traced("none");
    ck_assert_ptr_nonnull(upmu_recorder_stream_());
    ck_assert(!upmu_recorder_counters_(&tick, 1));
    ck_assert_uint_eq(recorded_values(1, NULL, NULL, 0), 0);
}
END_TEST

/* If there is one. */
static void remove_recording(void)
{
    char command[sizeof dir + 16];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}

int main(void)
{
    TCase *cases = tcase_create("region counts");
    tcase_add_checked_fixture(cases, set_up, remove_recording);
    tcase_add_test(cases, reads_for_functions_make_no_system_call_unless_permitted);
    tcase_add_test(cases, distributions_of_exact_instances);
    tcase_add_test(cases, an_estimate_makes_the_sum_one_for_good);
    tcase_add_test(cases, an_instance_off_the_counters_has_no_number);
    tcase_add_test(cases, an_unconfirmed_sum_of_0_is_no_number);
    tcase_add_loop_test(cases, a_bad_read_costs_the_group_its_numbers_from_then_on_and_nothing_else, 0, 4);
    tcase_add_loop_test(cases, without_perf_events_time_and_switches_are_true_and_the_rest_has_its_reason, 0, 3);
    tcase_add_test(cases, a_thread_without_counters_has_no_numbers_and_the_others_keep_theirs);
    tcase_add_test(cases, a_thread_gives_its_counters_back_when_it_ends);
    tcase_add_test(cases, a_setup_that_fails_leaves_regions_off_and_may_be_tried_again);
    tcase_add_test(cases, too_many_events_are_refused_by_the_program);
    tcase_add_test(cases, names_of_events_show_the_modes_in_force);
    tcase_add_test(cases, arguments_of_readback_are_checked);
    tcase_set_timeout(cases, 30);
    tcase_add_test(cases, counters_for_an_event_keep_their_status);
    tcase_add_test(cases, counters_for_an_event_wait_for_no_thread);
    tcase_add_test(cases, without_counters_nothing_is_reported);
    return run_suite("region counts", cases);
}
