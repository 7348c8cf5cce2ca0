/* SPDX-License-Identifier: MIT */
/* Groups that fit on the counters, on machines at hand and others. */
#include <string.h>

#include "core/set/counters.h"
#include "core/plan/plan.h"
#include "support/machine.h"
#include "unit/suite.h"

static const char *machines;

/* Plan a list of names on a recorded machine; the groups as text: "0 0 1 -" in the order of the names. */
static const char *planned(const char *machine, const char *names)
{
    static char text[256];
    struct counter_list list;
    machine_recorded(machines, machine);
    int rc = counter_list_make(&list, names, PLAN_EVENTS_MAX, false, KERNEL_BACKEND_PERF);
    ck_assert_msg(rc == 0, "%s: %s", names, upmu_error());
    text[0] = '\0';
    for (size_t i = 0; i < list.n; i++) {
        char one[8];
        unsigned group = list.plan.entry[i].group;
        snprintf(one, sizeof one, group == PLAN_NONE ? "%s-" : "%s%u", i ? " " : "", group);
        strcat(text, one);
    }
    counter_list_free(&list);
    return text;
}

START_TEST(core3b_ties_each_event_to_one_counter)
{
    /* Both on counter 0: never together. */
    ck_assert_str_eq(planned("sunway_sw3231", "cycles,instructions"), "0 1");
    /* One on each; a ratio keeps its own two. */
    ck_assert_str_eq(planned("sunway_sw3231", "cycles,branch-misses"), "0 0");
    ck_assert_str_eq(planned("sunway_sw3231", "cycles,instructions,branches,branch-misses,l1d-miss"), "0 1 2 2 0");
}
END_TEST

START_TEST(gs464_has_two_banks)
{
    ck_assert_str_eq(planned("loongson3a1000", "cycles,instructions"), "0 0");
    ck_assert_str_eq(planned("loongson3a1000", "cycles,branches"), "0 1");
    ck_assert_str_eq(planned("loongson3a1000", "instructions,branch-misses,cycles,branches"), "0 1 0 1");
}
END_TEST

START_TEST(intel_has_fixed_counters_beside_four_general_ones)
{
    ck_assert_str_eq(planned("intel_skx", "cycles,instructions,branches,branch-misses,cache-misses,cache-references"),
                     "0 0 0 0 0 0");
    ck_assert_str_eq(planned("intel_skx", "branches,branch-misses,cache-misses,cache-references,cycles,instructions,"
                                          "l1d-load-miss"),
                     "0 0 0 0 0 0 1");
}
END_TEST

START_TEST(amd_has_six_counters_for_anything)
{
    ck_assert_str_eq(planned("amd_zen3", "cycles,instructions,branches,branch-misses,rc0,r76"), "0 0 0 0 0 0");
    ck_assert_str_eq(planned("amd_zen3", "cycles,instructions,branches,branch-misses,rc0,r76,rc1"), "0 0 0 0 0 0 1");
}
END_TEST

START_TEST(software_events_are_a_group_of_their_own)
{
    ck_assert_str_eq(planned("intel_skx", "cycles,page-faults,instructions,task-clock"), "0 1 0 1");
    ck_assert_str_eq(planned("loongarch_3a5000", "page-faults,cycles,task-clock"), "0 1 0");
}
END_TEST

START_TEST(absent_events_have_no_group)
{
    ck_assert_str_eq(planned("loongson3a1000", "dtlb-walk,cycles"), "- 0");
    ck_assert_str_eq(planned("loongson3a1000", "dtlb-walk,itlb-walk"), "- -");
}
END_TEST

static struct event core_event(uint32_t counters)
{
    struct event e;
    static uint64_t codes;
    memset(&e, 0, sizeof e);
    e.class = EVENT_CORE;
    e.type = KERNEL_TYPE_RAW;
    e.config = ++codes; /* no two are the same event */
    e.raw_encoding = UINT64_MAX;
    e.counters = counters;
    e.user = e.kernel = true;
    return e;
}

static struct plan plan_of(const struct event *events, size_t n, const struct arch_counters *counters)
{
    struct plan plan;
    uint8_t absent[PLAN_EVENTS_MAX] = {0};
    struct plan_rules rules[PLAN_CORE_TYPES_MAX];
    for (size_t k = 0; k < PLAN_CORE_TYPES_MAX; k++)
        rules[k] = (struct plan_rules){.counters = *counters};
    plan_groups(events, absent, n, rules, NULL, &plan);
    ck_assert_uint_eq(plan.n_events, n);
    return plan;
}

static size_t groups_of(const struct event *events, size_t n, const struct arch_counters *counters)
{
    struct plan plan = plan_of(events, n, counters);
    bool sound = plan.proven;
    for (size_t i = 0; i < n; i++)
        sound = sound && plan.entry[i].group < plan.n_groups;
    ck_assert(sound);
    return plan.n_groups;
}

static bool fits(const struct event *const *events, size_t n, const struct arch_counters *counters)
{
    const struct plan_rules rules = {.counters = *counters};
    return plan_fits(events, n, &rules);
}

START_TEST(matching_moves_events_to_free_a_counter)
{
    /* The first takes counter 0, where the second must go; 0 and 1 are free for the first, 1 and 2 for the third. */
    const struct event events[] = {core_event(3), core_event(1), core_event(6), core_event(4)};
    const struct arch_counters three = {.general = 3}, two = {.general = 2};
    const struct event *all[] = {&events[0], &events[1], &events[2], &events[3]};
    ck_assert_int_eq(fits(all, 3, &three), 1);
    ck_assert_int_eq(fits(all, 4, &three), 0);
    ck_assert_int_eq(fits(all, 2, &two), 1);
    ck_assert_uint_eq(groups_of(events, 4, &three), 2);
}
END_TEST

START_TEST(an_event_no_counter_can_hold_is_refused_and_spoils_no_group)
{
    const struct event events[] = {core_event(1u << 9), core_event(ARCH_ANY), core_event(ARCH_ANY)};
    const struct arch_counters two = {.general = 2};
    const struct event *alone[] = {&events[0]};
    ck_assert(!fits(alone, 1, &two));
    struct plan plan = plan_of(events, 3, &two);
    ck_assert_uint_eq(plan.n_groups, 1);
    ck_assert_uint_eq(plan.entry[0].group, PLAN_NONE);
    ck_assert_uint_eq(plan.entry[0].refusal, PLAN_NO_COUNTER);
    ck_assert_uint_eq(plan.entry[1].group, 0);
    ck_assert_uint_eq(plan.entry[2].group, 0);
}
END_TEST

START_TEST(unknown_counters_are_the_kernels_to_check)
{
    struct event events[20];
    const struct arch_counters unknown = {.general = 0};
    for (int i = 0; i < 20; i++)
        events[i] = core_event(ARCH_ANY);
    ck_assert_uint_eq(groups_of(events, 20, &unknown), 1);
}
END_TEST

START_TEST(events_of_other_pmus_are_planned_alone)
{
    struct event events[] = {core_event(ARCH_ANY), core_event(ARCH_ANY), core_event(ARCH_ANY)};
    const struct arch_counters four = {.general = 4};
    events[0].class = events[2].class = EVENT_OTHER;
    events[0].type = events[2].type = 11;
    ck_assert_uint_eq(groups_of(events, 3, &four), 3);
}
END_TEST

START_TEST(the_most_events_allowed_are_planned)
{
    struct event events[PLAN_EVENTS_MAX];
    const struct arch_counters one = {.general = 1};
    for (int i = 0; i < PLAN_EVENTS_MAX; i++)
        events[i] = core_event(ARCH_ANY);
    ck_assert_uint_eq(groups_of(events, PLAN_EVENTS_MAX, &one), PLAN_EVENTS_MAX);
}
END_TEST

int main(int argc, char **argv)
{
    machines = argc > 1 ? argv[1] : "tests/machines";
    TCase *cases = tcase_create("plan");
    tcase_add_test(cases, core3b_ties_each_event_to_one_counter);
    tcase_add_test(cases, gs464_has_two_banks);
    tcase_add_test(cases, intel_has_fixed_counters_beside_four_general_ones);
    tcase_add_test(cases, amd_has_six_counters_for_anything);
    tcase_add_test(cases, software_events_are_a_group_of_their_own);
    tcase_add_test(cases, absent_events_have_no_group);
    tcase_add_test(cases, matching_moves_events_to_free_a_counter);
    tcase_add_test(cases, an_event_no_counter_can_hold_is_refused_and_spoils_no_group);
    tcase_add_test(cases, unknown_counters_are_the_kernels_to_check);
    tcase_add_test(cases, events_of_other_pmus_are_planned_alone);
    tcase_add_test(cases, the_most_events_allowed_are_planned);
    return run_suite("plan", cases);
}
