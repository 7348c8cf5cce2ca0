/* SPDX-License-Identifier: MIT */
/*
 * Zeros with healthy times on PMUs where they mean that nothing was counted: never reported.
 *
 * The scripted kernels behave as those of the guests were seen to behave.
 */
#include <errno.h>
#include <string.h>

#include "core/names/event.h"
#include "support/region_stats.h"
#include "support/machine.h"
#include "unit/suite.h"
#include "upmu/region.h"
#include "upmu/upmu.h"

enum { EVENTS_MAX = 16, ARM_TYPE = 8, ARM_COUNTERS = 6 };

static const struct scripted_sample steady[] = {{1000, 1000, 1000}};

/* A Cortex-A72. */
static void machine_arm(void)
{
    machine_bare();
    scripted_file("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\n"
                                   "CPU part\t: 0xd08\nCPU revision\t: 3\n");
    scripted_file("/proc/sys/kernel/perf_event_paranoid", "2\n");
    scripted_file(TEST_DEVICES "/armv8_pmuv3/type", "8\n");
    scripted_counter(ARM_TYPE, SCRIPTED_ANY, steady, 1);
}

static struct upmu_set *opened(const char *events)
{
    struct upmu_set *set;
    int rc = upmu_set_open(&set, events, NULL);
    ck_assert_msg(rc == 0, "%s: %s", events, upmu_error());
    return set;
}

static void count(struct upmu_set *set, struct upmu_value *v)
{
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, v, EVENTS_MAX), (int)upmu_set_event_count(set));
}

/* -------------------------------------------------------------------------------- groups with a leader not looked at */

/* Arm's driver: the members that are enabled must fit, and a leader that was opened stopped is not. */
static int without_a_stopped_leader(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg)
{
    size_t members = 1;
    (void)req;
    (void)arg;
    for (size_t i = 0; i < n; i++)
        members += !group[i].disabled;
    return n > 0 && members > ARM_COUNTERS ? -EINVAL : 0;
}

static bool all_at_once(const struct kernel_open *group, size_t n, void *arg)
{
    (void)group;
    (void)arg;
    return n <= ARM_COUNTERS;
}

START_TEST(group_of_one_event_too_many_is_not_opened)
{
    struct upmu_value v[EVENTS_MAX];
    machine_arm();
    scripted_rule(without_a_stopped_leader, NULL);
    scripted_place(all_at_once, NULL);
    struct upmu_set *set = opened("r1:u,r2:u,r3:u,r4:u,r5:u,r6:u,r7:u,r9:u");
    ck_assert_uint_eq(upmu_set_group_count(set), 2);
    count(set, v);
    for (size_t i = 0; i < upmu_set_event_count(set); i++)
        ck_assert_msg(v[i].status == UPMU_EXACT, "%s: %s", upmu_set_name(set, i), upmu_status_name(v[i].status));
    upmu_set_close(set);
    ck_assert_uint_eq(scripted_open_now(), 0);
}
END_TEST

/* --------------------------------------------------------------------------------------- a second copy reads 0 */

static const struct scripted_sample nothing[] = {{0, 1000, 1000}, {0, 2000, 2000}};

START_TEST(cycles_and_instructions_that_do_not_advance_are_not_counted)
{
    struct upmu_value v[EVENTS_MAX];
    machine_plain(nothing, 2);
    struct upmu_set *set = opened("cycles:u,instructions,branches,page-faults");
    count(set, v);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(v[i].status, UPMU_NOT_COUNTED);
        ck_assert_uint_eq(v[i].value, UPMU_NO_VALUE);
        ck_assert_ptr_nonnull(strstr(upmu_set_reason(set, i), "another user of the PMU"));
    }
    for (size_t i = 2; i < 4; i++) { /* what may well not have happened */
        ck_assert_int_eq(v[i].status, UPMU_EXACT);
        ck_assert_uint_eq(v[i].value, 0);
    }
    upmu_set_close(set);
}
END_TEST

START_TEST(thread_of_another_may_have_been_in_the_kernel_all_the_time)
{
    struct upmu_value v[EVENTS_MAX];
    const pid_t tids[] = {4711};
    struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_PROCESS, .pid = 4711};
    struct upmu_set *set;
    machine_plain(nothing, 2);
    scripted_threads(4711, tids, 1);
    ck_assert_int_eq(upmu_set_open(&set, "instructions:u,cycles:uk", &opts), 0);
    count(set, v);
    ck_assert_int_eq(v[0].status, UPMU_EXACT);
    ck_assert_int_eq(v[1].status, UPMU_NOT_COUNTED);
    upmu_set_close(set);
}
END_TEST

START_TEST(regions_without_advancing_instructions_have_no_number)
{
    const struct scripted_sample still[] = {{7, 1000, 1000}, {7, 2000, 2000}, {7, 3000, 3000}, {7, 4000, 4000}};
    struct upmu_region_opts opts = {.size = sizeof opts, .events = "instructions:u,page-faults"};
    struct test_region s;
    machine_plain(still, 4);
    ck_assert_int_eq(upmu_region_setup(&opts), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(upmu_region_begin("r"), 0);
        ck_assert_int_eq(upmu_region_end("r"), 0);
    }
    ck_assert_int_eq(test_region_read("r", UPMU_ALL_THREADS, &s), 0);
    ck_assert_int_eq(s.events[0].status, UPMU_NOT_COUNTED);
    ck_assert_uint_eq(s.events[0].stat.count, 0);
    ck_assert_uint_eq(s.events[0].without_value, 2);
    ck_assert_int_eq(s.events[1].status, UPMU_EXACT);
    ck_assert_uint_eq(s.events[1].stat.count, 2);
}
END_TEST

START_TEST(a_counter_that_jumped_has_no_number_until_the_set_is_reset)
{
    const uint64_t jump = UINT64_C(1) << 47, second = 1000000000;
    const struct scripted_sample jumped[] = {
        {1000, second, second}, {jump + 2000, 2 * second, 2 * second}, {jump + 3000, 1000 * second, 1000 * second}};
    struct upmu_value v[EVENTS_MAX];
    machine_plain(jumped, 3);
    struct upmu_set *set = opened("branches");
    count(set, v);
    ck_assert_int_eq(v[0].status, UPMU_EXACT);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(upmu_set_read(set, v, EVENTS_MAX), 1);
        ck_assert_int_eq(v[0].status, UPMU_NOT_COUNTED);
        ck_assert_int_eq(v[0].cause, UPMU_E_JUMP);
        ck_assert_str_eq(upmu_set_reason(set, 0), upmu_strerror(UPMU_E_JUMP));
    }
    ck_assert_int_eq(upmu_set_reset(set), 0);
    ck_assert_str_eq(upmu_set_reason(set, 0), "");
    upmu_set_close(set);
}
END_TEST

/* A hypervisor that passes on four events takes the others all the same. */
START_TEST(events_that_read_0_in_a_virtual_machine_are_not_counted)
{
    const struct scripted_sample zero[] = {{0, 1000, 1000}};
    struct upmu_value v[EVENTS_MAX];
    for (int virtual = 0; virtual < 2; virtual ++) {
        machine_plain(steady, 1);
        scripted_file("/proc/cpuinfo",
                      virtual ? "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n"
                                "model name\t: AMD EPYC\nstepping\t: 1\nflags\t\t: fpu hypervisor perfctr_core\n"
                              : "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n"
                                "model name\t: AMD EPYC\nstepping\t: 1\nflags\t\t: fpu perfctr_core\n");
        machine_forget();
        scripted_counter(KERNEL_TYPE_RAW, SCRIPTED_ANY, zero, 1);
        struct upmu_set *set = opened("branches,r1234,page-faults");
        count(set, v);
        ck_assert_int_eq(v[0].status, UPMU_EXACT);
        ck_assert_int_eq(v[1].status, virtual ? UPMU_NOT_COUNTED : UPMU_EXACT);
        ck_assert_int_eq(strstr(upmu_set_reason(set, 1), "hypervisor") != NULL, virtual);
        ck_assert_int_eq(v[2].status, UPMU_EXACT);
        upmu_set_close(set);
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("silent zero");
    tcase_add_test(cases, group_of_one_event_too_many_is_not_opened);
    tcase_add_test(cases, cycles_and_instructions_that_do_not_advance_are_not_counted);
    tcase_add_test(cases, thread_of_another_may_have_been_in_the_kernel_all_the_time);
    tcase_add_test(cases, a_counter_that_jumped_has_no_number_until_the_set_is_reset);
    tcase_add_test(cases, events_that_read_0_in_a_virtual_machine_are_not_counted);
    tcase_add_test(cases, regions_without_advancing_instructions_have_no_number);
    return run_suite("silent zero", cases);
}
