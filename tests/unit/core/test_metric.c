/* SPDX-License-Identifier: MIT */
/* Derived metrics: a number only where all parts have one and belong together. */
#include <math.h>
#include <string.h>

#include "core/set/value.h"
#include "support/machine.h"
#include "unit/suite.h"

static struct upmu_value exact(uint64_t n)
{
    return (struct upmu_value){.value = n, .raw = n, .enabled = 100, .running = 100, .status = UPMU_EXACT};
}

static struct upmu_value scaled(uint64_t n)
{
    return (struct upmu_value){.value = n, .raw = n / 2, .enabled = 100, .running = 50, .status = UPMU_SCALED};
}

/* A metric of two events. */
static int two(const char *metric, const char *a, struct upmu_value va, const char *b, struct upmu_value vb,
               struct upmu_metric_value *out)
{
    const char *const names[] = {a, b};
    const struct upmu_value values[] = {va, vb};
    return upmu_metric_eval(metric, names, values, 2, 2.0, out);
}

static struct upmu_metric_value ipc(struct upmu_value instructions, struct upmu_value cycles)
{
    struct upmu_metric_value out;
    ck_assert_int_eq(two("ipc", "instructions", instructions, "cycles", cycles, &out), 0);
    return out;
}

static void expect(struct upmu_metric_value v, int status, double value)
{
    ck_assert_msg(v.status == status, "%s instead of %s", upmu_status_name(v.status), upmu_status_name(status));
    if (isnan(value))
        ck_assert_msg(isnan(v.value), "%g where there is no number", v.value);
    else
        ck_assert_double_eq_tol(v.value, value, 1e-12);
}

START_TEST(a_quotient_has_the_weakest_status_of_its_parts)
{
    expect(ipc(exact(300), exact(200)), UPMU_EXACT, 1.5);
    expect(ipc(scaled(300), exact(200)), UPMU_SCALED, 1.5);
    expect(ipc(exact(0), exact(200)), UPMU_EXACT, 0);
    expect(ipc(exact(300), value_without(UPMU_NOT_COUNTED, 0)), UPMU_NOT_COUNTED, NAN);
    struct upmu_metric_value v = ipc(value_without(UPMU_REFUSED, UPMU_E_PERM), exact(200));
    expect(v, UPMU_REFUSED, NAN);
    ck_assert_int_eq(v.cause, UPMU_E_PERM);
    v = ipc(value_without(UPMU_REFUSED, UPMU_E_PERM), value_without(UPMU_UNSUPPORTED, UPMU_E_NO_PMU));
    expect(v, UPMU_UNSUPPORTED, NAN);
    ck_assert_int_eq(v.cause, UPMU_E_NO_PMU);
}
END_TEST

START_TEST(nothing_is_divided_by_zero)
{
    expect(ipc(exact(300), exact(0)), UPMU_NOT_COUNTED, NAN);
    expect(ipc(exact(0), exact(0)), UPMU_NOT_COUNTED, NAN);
    const char *const names[] = {"page-faults"};
    const struct upmu_value values[] = {exact(5)};
    struct upmu_metric_value out;
    ck_assert_int_eq(upmu_metric_eval("page-faults-per-second", names, values, 1, 0.0, &out), 0);
    expect(out, UPMU_NOT_COUNTED, NAN);
    ck_assert_int_eq(upmu_metric_eval("page-faults-per-second", names, values, 1, NAN, &out), 0);
    expect(out, UPMU_NOT_COUNTED, NAN);
}
END_TEST

START_TEST(a_missing_part_is_reported)
{
    const char *const names[] = {"instructions"};
    const struct upmu_value values[] = {exact(5)};
    struct upmu_metric_value out;
    ck_assert_int_eq(upmu_metric_eval("ipc", names, values, 1, 1.0, &out), UPMU_E_NAME);
    expect(out, UPMU_NOT_COUNTED, NAN);
    ck_assert_msg(strstr(upmu_error(), "were not counted") != NULL, "%s", upmu_error());
    ck_assert_int_eq(upmu_metric_eval("ipc", NULL, NULL, 0, 1.0, &out), UPMU_E_NAME);
}
END_TEST

START_TEST(parts_counted_in_different_modes_do_not_make_a_quotient)
{
    struct upmu_metric_value out;
    ck_assert_int_eq(two("ipc", "instructions:u", exact(300), "cycles", exact(200), &out), UPMU_E_NAME);
    ck_assert_int_eq(two("ipc", "instructions:u", exact(300), "cycles:k", exact(200), &out), UPMU_E_NAME);
    ck_assert_int_eq(two("ipc", "instructions:u", exact(300), "cycles:u", exact(200), &out), 0);
    expect(out, UPMU_EXACT, 1.5);
    /* A clock has no modes. */
    ck_assert_int_eq(two("clock-ghz", "cycles:u", exact(300), "task-clock", exact(100), &out), 0);
    expect(out, UPMU_EXACT, 3.0);
}
END_TEST

START_TEST(parts_are_found_by_any_of_their_names)
{
    struct upmu_metric_value out;
    ck_assert_int_eq(two("ipc", "PAPI_TOT_INS", exact(300), "cpu-cycles", exact(200), &out), 0);
    expect(out, UPMU_EXACT, 1.5);
}
END_TEST

START_TEST(variants_over_other_events)
{
    struct upmu_metric_value out;
    ck_assert_int_eq(two("l1d-miss-ratio", "l1d-load-miss", exact(5), "l1d-load", exact(100), &out), 0);
    expect(out, UPMU_EXACT, 5.0);
    ck_assert_int_eq(two("l1d-miss-ratio", "l1d-miss", exact(7), "l1d-access", exact(100), &out), 0);
    expect(out, UPMU_EXACT, 7.0);
    ck_assert_int_eq(two("l1d-miss-ratio", "l1d-miss", exact(7), "l1d-load", exact(100), &out), UPMU_E_NAME);
}
END_TEST

START_TEST(parts_of_equal_modes_find_each_other)
{
    const char *const names[] = {"cycles:u", "cycles", NULL, "instructions"};
    const struct upmu_value values[] = {exact(1), exact(200), exact(7), exact(300)};
    struct upmu_metric_value v;
    ck_assert_int_eq(upmu_metric_eval("ipc", names, values, 4, 1.0, &v), 0);
    expect(v, UPMU_EXACT, 1.5);
}
END_TEST

START_TEST(a_variant_without_a_number_leaves_the_word_to_the_next)
{
    const char *const names[] = {"l1d-miss", "l1d-access", "l1d-load-miss", "l1d-load"};
    const struct upmu_value none = value_without(UPMU_REFUSED, UPMU_E_PERM);
    const struct upmu_value second[] = {none, exact(100), exact(5), exact(50)};
    const struct upmu_value neither[] = {none, exact(100), value_without(UPMU_NOT_COUNTED, 0), exact(50)};
    struct upmu_metric_value v;
    ck_assert_int_eq(upmu_metric_eval("l1d-miss-ratio", names, second, 4, 1.0, &v), 0);
    expect(v, UPMU_EXACT, 10);
    ck_assert_int_eq(upmu_metric_eval("l1d-miss-ratio", names, neither, 4, 1.0, &v), 0);
    expect(v, UPMU_REFUSED, NAN);
}
END_TEST

START_TEST(rates_are_over_wall_time)
{
    const char *const names[] = {"context-switches", "task-clock"};
    const struct upmu_value values[] = {exact(10), exact(3000000000)};
    struct upmu_metric_value out;
    ck_assert_int_eq(upmu_metric_eval("context-switches-per-second", names, values, 2, 2.0, &out), 0);
    expect(out, UPMU_EXACT, 5.0);
    ck_assert_int_eq(upmu_metric_eval("cpus-used", names, values, 2, 2.0, &out), 0);
    expect(out, UPMU_EXACT, 1.5);
}
END_TEST

START_TEST(unknown_metrics_and_bad_arguments)
{
    struct upmu_metric_value out;
    ck_assert_int_eq(upmu_metric_eval("icp", NULL, NULL, 0, 1.0, &out), UPMU_E_NAME);
    ck_assert_msg(strstr(upmu_error(), "did you mean 'ipc'?") != NULL, "%s", upmu_error());
    ck_assert_int_eq(upmu_metric_eval(NULL, NULL, NULL, 0, 1.0, &out), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_metric_eval("ipc", NULL, NULL, 1, 1.0, &out), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_metric_eval("ipc", NULL, NULL, 0, 1.0, NULL), UPMU_E_INVAL);
}
END_TEST

START_TEST(each_metric_is_listed_once_with_events_a_set_can_open)
{
    struct scripted_sample sample = {1, 1, 1};
    struct upmu_metric_info info = {.size = sizeof info}, before = {.size = sizeof before};
    size_t n = 0;
    machine_plain(&sample, 1);
    for (; upmu_metric_at(n, &info) == 0; n++) {
        struct upmu_set *set;
        ck_assert(n == 0 || strcmp(info.name, before.name) != 0);
        ck_assert_msg(info.formula[0] && info.summary[0], "%s", info.name);
        if (info.missing_event[0] == '\0') {
            ck_assert_int_eq(upmu_set_open(&set, info.events, NULL), 0);
            ck_assert_uint_ge(upmu_set_event_count(set), 1);
            upmu_set_close(set);
        }
        before = info;
    }
    ck_assert_uint_ge(n, 8);
    ck_assert_int_eq(upmu_metric_at(n, &info), UPMU_E_END);
    ck_assert_int_eq(upmu_metric_at(0, NULL), UPMU_E_INVAL);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("metric");
    tcase_add_test(cases, a_quotient_has_the_weakest_status_of_its_parts);
    tcase_add_test(cases, nothing_is_divided_by_zero);
    tcase_add_test(cases, a_missing_part_is_reported);
    tcase_add_test(cases, parts_counted_in_different_modes_do_not_make_a_quotient);
    tcase_add_test(cases, parts_are_found_by_any_of_their_names);
    tcase_add_test(cases, variants_over_other_events);
    tcase_add_test(cases, parts_of_equal_modes_find_each_other);
    tcase_add_test(cases, a_variant_without_a_number_leaves_the_word_to_the_next);
    tcase_add_test(cases, rates_are_over_wall_time);
    tcase_add_test(cases, unknown_metrics_and_bad_arguments);
    tcase_add_test(cases, each_metric_is_listed_once_with_events_a_set_can_open);
    return run_suite("metric", cases);
}
