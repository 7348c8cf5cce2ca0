/* SPDX-License-Identifier: MIT */
/* Group members that the scripted kernel runs for less time than their leader have no number, in sets and in regions. */
#include <string.h>

#include "core/set/counters.h"
#include "region/region.h"
#include "support/region_stats.h"
#include "support/machine.h"
#include "unit/suite.h"
#include "upmu/region.h"

static const struct scripted_sample steady[] = {{100, 1000, 1000}, {250, 2000, 2000}, {300, 3000, 3000}};

static void set_up(void)
{
    machine_plain(steady, 3);
    scripted_counter(KERNEL_TYPE_SOFTWARE, KERNEL_SW_PAGE_FAULTS, steady, 3);
}

static void page_faults_late(uint64_t ns)
{
    scripted_late(KERNEL_TYPE_SOFTWARE, KERNEL_SW_PAGE_FAULTS, ns);
}

static struct upmu_set *started(const char *events)
{
    struct upmu_set *set;
    int rc = upmu_set_open(&set, events, NULL);
    ck_assert_msg(rc == 0, "%s: %s", events, upmu_error());
    ck_assert_int_eq(upmu_set_start(set), 0);
    return set;
}

static void expect_late(const struct upmu_value *v)
{
    ck_assert_int_eq(v->status, UPMU_NOT_COUNTED);
    ck_assert_int_eq(v->cause, UPMU_E_PARTIAL);
    ck_assert_uint_eq(v->value, UPMU_NO_VALUE);
}

START_TEST(members_run_as_long_as_their_leader_are_exact)
{
    struct upmu_value v[3];
    struct upmu_set *set = started("task-clock,page-faults,minor-faults");
    ck_assert_int_eq(upmu_set_read(set, v, 3), 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(v[i].status, UPMU_EXACT);
    upmu_set_close(set);
}
END_TEST

START_TEST(a_late_member_of_a_set_is_not_counted_and_has_the_reason)
{
    struct upmu_value v[3];
    page_faults_late(1);
    struct upmu_set *set = started("task-clock,page-faults,minor-faults");
    ck_assert_int_eq(upmu_set_read(set, v, 3), 3);
    ck_assert_int_eq(v[0].status, UPMU_EXACT);
    expect_late(&v[1]);
    ck_assert_int_eq(v[2].status, UPMU_EXACT);
    ck_assert_str_eq(upmu_set_reason(set, 1), upmu_strerror(UPMU_E_PARTIAL));
    ck_assert_str_eq(upmu_set_reason(set, 0), "");
    page_faults_late(0);
    ck_assert_int_eq(upmu_set_read(set, v, 3), 3);
    expect_late(&v[1]); /* what it missed stays missed */
    upmu_set_close(set);
}
END_TEST

START_TEST(the_same_event_asked_for_twice_is_late_twice)
{
    struct upmu_value v[3];
    page_faults_late(500);
    struct upmu_set *set = started("task-clock,page-faults,page-faults");
    ck_assert_int_eq(upmu_set_read(set, v, 3), 3);
    expect_late(&v[1]);
    expect_late(&v[2]);
    upmu_set_close(set);
}
END_TEST

START_TEST(a_leader_alone_is_never_late)
{
    struct upmu_value v[1];
    page_faults_late(500);
    struct upmu_set *set = started("page-faults");
    ck_assert_int_eq(upmu_set_read(set, v, 1), 1);
    ck_assert_int_eq(v[0].status, UPMU_EXACT);
    upmu_set_close(set);
}
END_TEST

START_TEST(readings_of_a_running_set_cost_no_second_check)
{
    struct upmu_value v[2];
    struct upmu_set *set = started("task-clock,page-faults");
    ck_assert_int_eq(upmu_set_read(set, v, 2), 2);
    size_t before = scripted_count(SCRIPTED_READ);
    ck_assert_int_eq(upmu_set_read(set, v, 2), 2);
    ck_assert_uint_eq(scripted_count(SCRIPTED_READ), before + 1);
    ck_assert_int_eq(upmu_set_stop(set), 0);
    ck_assert_int_eq(upmu_set_read(set, v, 2), 2);
    ck_assert_uint_eq(scripted_count(SCRIPTED_READ), before + 3); /* the group and its member */
    upmu_set_close(set);
}
END_TEST

START_TEST(members_are_opened_enabled_below_a_stopped_leader_and_never_started_themselves)
{
    struct upmu_set *set = started("task-clock,page-faults,minor-faults");
    ck_assert_uint_eq(scripted_count(SCRIPTED_OPEN), 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(scripted_nth(SCRIPTED_OPEN, i)->req.disabled, i == 0);
    ck_assert_int_eq(upmu_set_stop(set), 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_uint_eq(scripted_count(SCRIPTED_ENABLE), 2);
    ck_assert_uint_eq(scripted_count(SCRIPTED_DISABLE), 1);
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(scripted_nth(SCRIPTED_ENABLE, i)->fd, scripted_nth(SCRIPTED_OPEN, 0)->fd);
    upmu_set_close(set);
}
END_TEST

static struct test_region stats_of(const char *name)
{
    struct test_region s;
    ck_assert_int_eq(test_region_read(name, UPMU_ALL_THREADS, &s), 0);
    return s;
}

static void regions_with(const char *events)
{
    struct upmu_region_opts opts = {.size = sizeof opts, .events = events};
    ck_assert_int_eq(upmu_region_setup(&opts), 0);
    ck_assert_int_eq(upmu_region_begin("r"), 0);
    ck_assert_int_eq(upmu_region_end("r"), 0);
}

START_TEST(a_member_late_from_the_start_has_no_number_in_regions)
{
    page_faults_late(1);
    regions_with("task-clock,page-faults");
    struct test_region s = stats_of("r");
    ck_assert_int_eq(s.events[0].status, UPMU_EXACT);
    ck_assert_int_eq(s.events[1].status, UPMU_NOT_COUNTED);
    ck_assert_int_eq(s.events[1].cause, UPMU_E_PARTIAL);
    ck_assert_uint_eq(s.events[1].without_value, 1);
    ck_assert_uint_eq(s.events[1].stat.count, 0);
}
END_TEST

START_TEST(a_member_found_late_before_a_report_has_no_number_in_it)
{
    regions_with("task-clock,page-faults");
    ck_assert_int_eq(stats_of("r").events[1].status, UPMU_EXACT);
    page_faults_late(1);
    struct test_region s = stats_of("r");
    ck_assert_int_eq(s.events[0].status, UPMU_EXACT);
    ck_assert_int_eq(s.events[1].status, UPMU_NOT_COUNTED);
    ck_assert_int_eq(s.events[1].cause, UPMU_E_PARTIAL);
    ck_assert_uint_eq(s.events[1].stat.count, 0);
    ck_assert_uint_eq(s.events[1].without_value, 1);
    ck_assert_str_eq(upmu_regions.event_reasons[1], upmu_strerror(UPMU_E_PARTIAL));
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("late");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, members_run_as_long_as_their_leader_are_exact);
    tcase_add_test(cases, a_late_member_of_a_set_is_not_counted_and_has_the_reason);
    tcase_add_test(cases, the_same_event_asked_for_twice_is_late_twice);
    tcase_add_test(cases, a_leader_alone_is_never_late);
    tcase_add_test(cases, readings_of_a_running_set_cost_no_second_check);
    tcase_add_test(cases, members_are_opened_enabled_below_a_stopped_leader_and_never_started_themselves);
    tcase_add_test(cases, a_member_late_from_the_start_has_no_number_in_regions);
    tcase_add_test(cases, a_member_found_late_before_a_report_has_no_number_in_it);
    return run_suite("late", cases);
}
