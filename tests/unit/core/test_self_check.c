/* SPDX-License-Identifier: MIT */
/* Software events that the scripted kernel counts too low in a group are refused there, with the reason, and count alone. */
#include <string.h>

#include "core/set/counters.h"
#include "core/check/self_check.h"
#include "support/region_stats.h"
#include "support/machine.h"
#include "unit/suite.h"
#include "upmu/region.h"

/* Enough for the work of both cycles of a check. */
static const struct scripted_sample plenty[] = {{4000, 4000, 4000}};
static const struct kernel_work each = {.faults = 16, .switches = 1, .cpu_ns = 2000};

static void page_faults_count(uint64_t n)
{
    scripted_counter(KERNEL_TYPE_SOFTWARE, KERNEL_SW_PAGE_FAULTS, &(struct scripted_sample){n, 4000, 4000}, 1);
}

static void set_up(void)
{
    machine_plain(plenty, 1);
    scripted_work(each);
}

static struct upmu_set *opened(const char *events)
{
    struct upmu_set *set;
    int rc = upmu_set_open(&set, events, NULL);
    ck_assert_msg(rc == 0, "%s: %s", events, upmu_error());
    ck_assert_int_eq(upmu_set_start(set), 0);
    return set;
}

START_TEST(events_that_count_the_work_are_not_refused)
{
    struct upmu_value v[3];
    struct upmu_set *set = opened("page-faults,task-clock,context-switches:k");
    ck_assert_int_eq(upmu_set_read(set, v, 3), 3);
    ck_assert_int_eq(v[0].status, UPMU_EXACT);
    ck_assert_int_eq(v[1].status, UPMU_EXACT);
    upmu_set_close(set);
    for (size_t i = 0; i < SELF_CHECKS; i++)
        ck_assert(self_check_results()[i].tried && !self_check_failed(&self_check_results()[i]));
    ck_assert_uint_eq(scripted_open_now(), 0);
    ck_assert_uint_eq(scripted_misuse(), 0);
}
END_TEST

/* One fault short of 2 x 16. */
START_TEST(an_event_one_short_of_the_work_is_refused_in_groups)
{
    struct upmu_value v[3];
    page_faults_count(31);
    struct upmu_set *set = opened("task-clock,page-faults,minor-faults");
    ck_assert_int_eq(upmu_set_read(set, v, 3), 3);
    ck_assert_int_eq(v[0].status, UPMU_EXACT);
    ck_assert_int_eq(v[1].status, UPMU_REFUSED);
    ck_assert_uint_eq(v[1].value, UPMU_NO_VALUE);
    ck_assert_int_eq(v[2].status, UPMU_EXACT);
    ck_assert_ptr_nonnull(strstr(upmu_set_reason(set, 1), "31 of 32"));
    upmu_set_close(set);
}
END_TEST

START_TEST(the_remedy_for_a_refused_event_works)
{
    struct upmu_value v;
    page_faults_count(31);
    struct upmu_set *set = opened("task-clock,page-faults");
    ck_assert_ptr_nonnull(strstr(upmu_set_reason(set, 1), "Count it as the only software event"));
    upmu_set_close(set);
    set = opened("page-faults");
    ck_assert_int_eq(upmu_set_read(set, &v, 1), 1);
    ck_assert_int_eq(v.status, UPMU_EXACT);
    ck_assert_uint_eq(v.value, 31);
    upmu_set_close(set);
}
END_TEST

/* Each reading is later than the one before: where time passes and a counter's does not, it is not counted, and on a loaded
 * machine much time may pass in the region. */
static void task_clock_runs_on(void)
{
    static struct scripted_sample growing[64];
    for (size_t i = 0; i < sizeof growing / sizeof *growing; i++)
        growing[i] = (struct scripted_sample){4000 * (i + 1), 4000 * (i + 1), 4000 * (i + 1)};
    scripted_counter(KERNEL_TYPE_SOFTWARE, KERNEL_SW_TASK_CLOCK, growing, sizeof growing / sizeof *growing);
}

START_TEST(regions_refuse_it_too)
{
    struct upmu_region_opts opts = {.size = sizeof opts, .events = "task-clock,page-faults"};
    struct test_region s;
    page_faults_count(0);
    task_clock_runs_on();
    ck_assert_int_eq(upmu_region_setup(&opts), 0);
    ck_assert_int_eq(upmu_region_begin("r"), 0);
    ck_assert_int_eq(upmu_region_end("r"), 0);
    ck_assert_int_eq(test_region_read("r", UPMU_ALL_THREADS, &s), 0);
    ck_assert_int_eq(s.events[0].status, UPMU_EXACT);
    ck_assert_int_eq(s.events[1].status, UPMU_REFUSED);
    ck_assert_int_eq(s.events[1].cause, UPMU_E_SYSTEM);
}
END_TEST

START_TEST(one_software_event_needs_no_check)
{
    struct upmu_set *set = opened("page-faults,cycles");
    ck_assert_uint_eq(scripted_count(SCRIPTED_OPEN), 2);
    upmu_set_close(set);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("self-check");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, events_that_count_the_work_are_not_refused);
    tcase_add_test(cases, an_event_one_short_of_the_work_is_refused_in_groups);
    tcase_add_test(cases, the_remedy_for_a_refused_event_works);
    tcase_add_test(cases, regions_refuse_it_too);
    tcase_add_test(cases, one_software_event_needs_no_check);
    return run_suite("self-check", cases);
}
