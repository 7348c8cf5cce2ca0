/* SPDX-License-Identifier: MIT */
/* Events that belong into one group: braces are kept together or refused as a whole. */
#include <stdio.h>
#include <string.h>

#include "core/set/counters.h"
#include "support/machine.h"
#include "unit/suite.h"

static struct counter_list list;

/* Plan on a CPU by its name: per event its group, "-" where it is in none. */
static const char *planned(const char *cpu, const char *events)
{
    static struct machine m;
    static char text[256];
    machine_bare();
    ck_assert_int_eq(machine_of_cpu(cpu, &m), 0);
    counter_list_free(&list);
    int rc = counter_list_make_on(&m, &list, events, PLAN_EVENTS_MAX, false);
    if (rc < 0)
        return upmu_error();
    text[0] = '\0';
    for (size_t i = 0; i < list.n; i++) {
        size_t used = strlen(text);
        bool none = list.absent[i] || list.plan.entry[i].group == PLAN_NONE;
        snprintf(text + used, sizeof text - used, none ? "%s-" : "%s%u", used ? " " : "",
                 (unsigned)list.plan.entry[i].group);
    }
    return text;
}

START_TEST(braces_keep_events_together)
{
    ck_assert_str_eq(planned("sw831", "branch-misses,cycles,instructions"), "0 0 1");
    ck_assert_str_eq(planned("sw831", "{branch-misses,instructions},cycles"), "0 0 1");
    ck_assert_str_eq(planned("sw831", "cycles,{branch-misses,instructions}"), "0 1 1");
    ck_assert_str_eq(planned("zen3", "{cycles,instructions},{branches,branch-misses}"), "0 0 0 0");
}
END_TEST

START_TEST(braces_that_cannot_be_kept_are_refused_as_a_whole)
{
    ck_assert_str_eq(planned("sw831", "{cycles,instructions,branch-misses},branches"), "- - - 0");
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(list.cause[i], UPMU_E_FIT);
        ck_assert_msg(strstr(list.reason[i], "'cycles' and 'instructions' need the same counter") != NULL, "%s",
                      list.reason[i]);
    }
    ck_assert_str_eq(planned("sw831", "{cycles:u,branch-misses:k}"), "- -");
    ck_assert_msg(strstr(list.reason[0], "modes") != NULL, "%s", list.reason[0]);
    ck_assert_str_eq(planned("zen3", "{rc0,rc1,rc2,rc3,rc4,rc5}"), "0 0 0 0 0 0");
    ck_assert_str_eq(planned("zen3", "{rc0,rc1,rc2,rc3,rc4,rc5,rc6}"), "- - - - - - -");
    ck_assert_msg(strstr(list.reason[6], "more counters") != NULL, "%s", list.reason[6]);
}
END_TEST

/* Whether two events of the plan are in one group. */
static bool together(const char *a, const char *b)
{
    int group[2] = {-1, -2};
    for (size_t i = 0; i < list.n; i++) {
        if (strcmp(list.events[i].name, a) == 0)
            group[0] = list.plan.entry[i].group;
        if (strcmp(list.events[i].name, b) == 0)
            group[1] = list.plan.entry[i].group;
    }
    return group[0] == group[1];
}

struct ratio {
    const char *parts[2];
};

/* Plan these names in every order; each time the ratios' events must be together. */
static void in_every_order(const char *cpu, const char **names, size_t n, size_t from, const struct ratio *ratios,
                           size_t n_ratios)
{
    if (from < n) {
        for (size_t i = from; i < n; i++) {
            const char *moved = names[i];
            names[i] = names[from];
            names[from] = moved;
            in_every_order(cpu, names, n, from + 1, ratios, n_ratios);
            names[from] = names[i];
            names[i] = moved;
        }
        return;
    }
    char text[256] = "";
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", i ? "," : "", names[i]);
    }
    (void)planned(cpu, text);
    for (size_t r = 0; r < n_ratios; r++)
        ck_assert_msg(together(ratios[r].parts[0], ratios[r].parts[1]), "%s: %s and %s are apart in %s", cpu,
                      ratios[r].parts[0], ratios[r].parts[1], text);
    ck_assert(list.plan.proven);
}

START_TEST(the_events_of_a_ratio_are_together_in_every_order)
{
    const struct ratio ratios[] = {{{"branch-misses", "branches"}}, {{"cache-misses", "cache-references"}}};
    const char *names[] = {"cycles", "instructions", "branches", "branch-misses", "cache-references", "cache-misses"};
    in_every_order("sw831", names, 6, 0, ratios, 2);
    in_every_order("3a1000", names, 4, 0, (const struct ratio[]){{{"instructions", "cycles"}}}, 1);
    const struct ratio more[] = {{{"instructions", "cycles"}}, {{"branch-misses", "branches"}}};
    in_every_order("core2", names, 6, 0, more, 2);
}
END_TEST

START_TEST(events_of_a_ratio_in_different_modes_are_no_ratio)
{
    ck_assert_str_eq(planned("sw831", "branches:u,branch-misses:k"), "0 1");
    ck_assert_str_eq(planned("sw831", "cycles:u,branch-misses:u,branches:u"), "0 1 1");
}
END_TEST

START_TEST(an_absent_member_does_not_cost_the_others)
{
    ck_assert_str_eq(planned("3a1000", "{cycles,dtlb-walk,instructions}"), "0 - 0");
}
END_TEST

START_TEST(an_event_of_two_braces_is_counted_in_both)
{
    ck_assert_str_eq(planned("sw831", "{instructions,branch-misses},{instructions,cache-misses}"), "0 0 1 1");
    ck_assert_uint_eq(list.plan.entry[2].same_as, 2);
    ck_assert_str_eq(planned("sw831", "instructions,{instructions,branch-misses}"), "0 0 0");
    ck_assert_uint_eq(list.plan.entry[1].same_as, 0);
}
END_TEST

START_TEST(software_events_in_braces_stay_with_their_kind)
{
    ck_assert_str_eq(planned("zen3", "{cycles,page-faults},task-clock"), "0 1 1");
    ck_assert_str_eq(planned("zen3", "{cycles,user-time},task-clock"), "0 - 1");
    ck_assert_uint_eq(list.absent[1], 0);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("bonds");
    tcase_add_test(cases, braces_keep_events_together);
    tcase_add_test(cases, braces_that_cannot_be_kept_are_refused_as_a_whole);
    tcase_add_test(cases, the_events_of_a_ratio_are_together_in_every_order);
    tcase_add_test(cases, events_of_a_ratio_in_different_modes_are_no_ratio);
    tcase_add_test(cases, an_absent_member_does_not_cost_the_others);
    tcase_add_test(cases, an_event_of_two_braces_is_counted_in_both);
    tcase_add_test(cases, software_events_in_braces_stay_with_their_kind);
    return run_suite("bonds", cases);
}
