/* SPDX-License-Identifier: MIT */
/* Statuses of values: exact, scaled, or without a number. */
#include "core/set/value.h"
#include "unit/suite.h"

static struct reading at(uint64_t count, uint64_t enabled, uint64_t running)
{
    return (struct reading){.count = count, .enabled = enabled, .running = running};
}

static struct upmu_value total(uint64_t count, uint64_t enabled, uint64_t running)
{
    struct reading r = at(count, enabled, running);
    return value_total(&r);
}

static struct upmu_value between(struct reading a, struct reading b)
{
    return value_between(&a, &b);
}

static void expect(struct upmu_value v, int status, uint64_t value)
{
    ck_assert_msg(v.status == status, "%s instead of %s", upmu_status_name(v.status), upmu_status_name(status));
    ck_assert_uint_eq(v.value, value);
}

START_TEST(counted_all_the_time_is_exact)
{
    struct upmu_value v = total(42, 1000, 1000);
    expect(v, UPMU_EXACT, 42);
    ck_assert_uint_eq(v.raw, 42);
    ck_assert_uint_eq(v.enabled, 1000);
    ck_assert_uint_eq(v.running, 1000);
    ck_assert_int_eq(v.cause, 0);
    expect(total(0, 1000, 1000), UPMU_EXACT, 0); /* a true 0 */
}
END_TEST

START_TEST(counted_part_of_the_time_is_extrapolated_and_marked)
{
    struct upmu_value v = total(100, 1000, 250);
    expect(v, UPMU_SCALED, 400);
    ck_assert_uint_eq(v.raw, 100);
    expect(total(1, 3, 2), UPMU_SCALED, 2); /* 1.5, to nearest */
    expect(total(UINT64_C(1) << 39, UINT64_MAX / 2, 1), UPMU_SCALED, UINT64_MAX - 1);
}
END_TEST

START_TEST(never_on_a_counter_is_no_zero)
{
    expect(total(0, 1000, 0), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    expect(total(0, 0, 0), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    expect(total(7, 1000, 0), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    expect(between(at(5, 1000, 700), at(5, 2000, 700)), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
}
END_TEST

START_TEST(an_interval_is_judged_by_its_own_times)
{
    /* Multiplexed before, counted all the time since. */
    expect(between(at(10, 1000, 500), at(25, 2000, 1500)), UPMU_EXACT, 15);
    /* The other way round. */
    expect(between(at(10, 1000, 1000), at(25, 2000, 1500)), UPMU_SCALED, 30);
}
END_TEST

START_TEST(an_interval_below_the_clocks_step_is_exact_if_the_counter_ran_all_along)
{
    expect(between(at(10, 1000, 1000), at(13, 1000, 1000)), UPMU_EXACT, 3);
    expect(between(at(10, 1000, 900), at(13, 1000, 900)), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    expect(between(at(0, 0, 0), at(0, 0, 0)), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
}
END_TEST

START_TEST(a_counter_that_went_backwards_has_no_difference)
{
    expect(between(at(10, 1000, 1000), at(9, 2000, 2000)), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    expect(between(at(10, 1000, 1000), at(11, 900, 900)), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    expect(between(at(10, 1000, 1000), at(11, 2000, 900)), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
}
END_TEST

START_TEST(a_count_that_cannot_have_happened_is_no_number)
{
    const uint64_t jump = UINT64_C(1) << 47, ms = 1000000;
    expect(total(jump + 5, ms, ms), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    ck_assert_int_eq(total(jump + 5, ms, ms).cause, UPMU_E_JUMP);
    expect(between(at(7, ms, ms), at(jump + 7, 2 * ms, 2 * ms)), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    expect(between(at(7, ms, ms), at(jump + 7, 3 * ms, 2 * ms)), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    const struct reading before[2] = {at(0, ms, ms), at(0, ms, 0)},
                         after[2] = {at(jump, 2 * ms, 2 * ms), at(0, 2 * ms, 0)};
    expect(value_of_core_types(before, after, 2, NULL), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    /* half a day at 3 billion a second */
    expect(total(jump, 43200 * 1000 * ms, 43200 * 1000 * ms), UPMU_EXACT, jump);
}
END_TEST

START_TEST(more_running_than_enabled_is_not_scaled_down)
{
    expect(total(10, 999, 1000), UPMU_EXACT, 10); /* the two clocks are read one after the other */
}
END_TEST

START_TEST(open_failures_have_the_status_refused_or_unsupported)
{
    static const int unsupported[] = {UPMU_E_UNSUPPORTED, UPMU_E_NO_PMU, UPMU_E_NAME, UPMU_E_NO_SYSCALL};
    static const int refused[] = {UPMU_E_PERM, UPMU_E_SECCOMP, UPMU_E_NFILES, UPMU_E_MLOCK,  UPMU_E_BUSY,
                                  UPMU_E_GONE, UPMU_E_FIT,     UPMU_E_IO,     UPMU_E_SYSTEM, UPMU_E_NOMEM};
    for (size_t i = 0; i < sizeof unsupported / sizeof *unsupported; i++)
        ck_assert_int_eq(value_status_of(unsupported[i]), UPMU_UNSUPPORTED);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        ck_assert_int_eq(value_status_of(refused[i]), UPMU_REFUSED);
    expect(value_without(UPMU_REFUSED, UPMU_E_PERM), UPMU_REFUSED, UPMU_NO_VALUE);
}
END_TEST

static struct upmu_value sum_of(struct upmu_value a, struct upmu_value b)
{
    value_add(&a, &b);
    return a;
}

START_TEST(a_sum_is_exact_only_if_all_parts_are)
{
    struct upmu_value exact = total(10, 100, 100), scaled = total(10, 100, 50), none = total(0, 100, 0);
    struct upmu_value refused = value_without(UPMU_REFUSED, UPMU_E_NFILES);
    expect(sum_of(exact, exact), UPMU_EXACT, 20);
    expect(sum_of(exact, scaled), UPMU_SCALED, 30);
    expect(sum_of(scaled, exact), UPMU_SCALED, 30);
    expect(sum_of(exact, none), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    expect(sum_of(exact, refused), UPMU_REFUSED, UPMU_NO_VALUE);
    expect(sum_of(refused, exact), UPMU_REFUSED, UPMU_NO_VALUE);
    struct upmu_value v = sum_of(sum_of(exact, refused), exact);
    expect(v, UPMU_REFUSED, UPMU_NO_VALUE);
    ck_assert_int_eq(v.cause, UPMU_E_NFILES);
    ck_assert_uint_eq(v.raw, 20); /* what was counted stays to be seen */
}
END_TEST

START_TEST(a_part_that_slept_takes_nothing_away)
{
    struct upmu_value exact = total(10, 100, 100), asleep = total(0, 0, 0);
    expect(sum_of(exact, asleep), UPMU_EXACT, 10);
    expect(sum_of(asleep, exact), UPMU_EXACT, 10);
    expect(sum_of(asleep, asleep), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    expect(sum_of(asleep, value_without(UPMU_REFUSED, UPMU_E_PERM)), UPMU_REFUSED, UPMU_NO_VALUE);
}
END_TEST

START_TEST(a_sums_cause_is_that_of_its_status)
{
    struct upmu_value refused = value_without(UPMU_REFUSED, UPMU_E_NFILES);
    struct upmu_value unsupported = value_without(UPMU_UNSUPPORTED, UPMU_E_NO_PMU);
    struct upmu_value v = sum_of(refused, unsupported);
    expect(v, UPMU_UNSUPPORTED, UPMU_NO_VALUE);
    ck_assert_int_eq(v.cause, UPMU_E_NO_PMU);
    v = sum_of(unsupported, refused);
    expect(v, UPMU_UNSUPPORTED, UPMU_NO_VALUE);
    ck_assert_int_eq(v.cause, UPMU_E_NO_PMU);
}
END_TEST

START_TEST(a_sum_too_large_stays_below_no_value)
{
    const uint64_t ns = UINT64_MAX / 8; /* long enough for such a count */
    struct upmu_value v = sum_of(total(UINT64_MAX - 5, ns, ns), total(100, ns, ns));
    expect(v, UPMU_EXACT, UINT64_MAX - 1);
}
END_TEST

START_TEST(statuses_are_ordered_and_named)
{
    static const int order[] = {UPMU_EXACT, UPMU_SCALED, UPMU_NOT_COUNTED, UPMU_REFUSED, UPMU_UNSUPPORTED};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 5; k++)
            ck_assert_int_eq(upmu_status_weakest(order[i], order[k]), order[i > k ? i : k]);
    ck_assert_str_eq(upmu_status_name(UPMU_EXACT), "exact");
    ck_assert_str_eq(upmu_status_name(UPMU_NOT_COUNTED), "not counted");
    ck_assert_str_eq(upmu_status_name(UPMU_UNSUPPORTED), "unsupported");
    ck_assert_str_eq(upmu_status_name(-1), "?");
    ck_assert_str_eq(upmu_status_name(5), "?");
}
END_TEST

static struct upmu_value of_two_kinds(struct reading big, struct reading small)
{
    const struct reading before[2] = {{.count = 7, .enabled = 1000, .running = 600},
                                      {.count = 9, .enabled = 1000, .running = 400}};
    const struct reading after[2] = {
        {.count = 7 + big.count, .enabled = 1000 + big.enabled, .running = 600 + big.running, .stale = big.stale},
        {.count = 9 + small.count, .enabled = 1000 + small.enabled, .running = 400 + small.running}};
    return value_of_core_types(before, after, 2, NULL);
}

START_TEST(kinds_of_cores_are_added_up_by_the_time_on_all_of_them)
{
    const uint64_t ms = 1000000;
    /* All of the time on one of them, or moved between them; the readings a little apart. */
    expect(of_two_kinds(at(5, 100, 100), at(0, 900, 0)), UPMU_EXACT, 5);
    expect(of_two_kinds(at(5, 100 * ms, 60 * ms), at(3, 100 * ms, 40 * ms)), UPMU_EXACT, 8);
    expect(of_two_kinds(at(5, 100 * ms, 60 * ms), at(3, 100 * ms, 40 * ms - 10000)), UPMU_EXACT, 8);
    /* In a short time the same gap is a large part of it, and a long gap is none between readings. */
    expect(of_two_kinds(at(5, 30000, 10000), at(3, 30000, 10000)), UPMU_SCALED, 12);
    expect(of_two_kinds(at(50, 100 * ms, 60 * ms), at(30, 100 * ms, 20 * ms)), UPMU_SCALED, 100);
    expect(of_two_kinds(at(0, 30000, 0), at(0, 30000, 0)), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    /* Shorter than a step of the clock, with counters that were on one kind or the other all along. */
    expect(of_two_kinds(at(5, 0, 0), at(0, 0, 0)), UPMU_EXACT, 5);
}
END_TEST

START_TEST(a_kind_that_went_backwards_has_no_difference)
{
    const struct reading before[2] = {{5, 100, 100, false}, {5, 100, 0, false}},
                         after[2] = {{9, 200, 200, false}, {4, 200, 0, false}};
    expect(value_of_core_types(before, after, 2, NULL), UPMU_NOT_COUNTED, UPMU_NO_VALUE);
}
END_TEST

START_TEST(a_doubted_zero_is_no_number_and_other_counts_stay)
{
    const struct reading zero = {.count = 0, .enabled = 100, .running = 100},
                         one = {.count = 1, .enabled = 100, .running = 50};
    struct upmu_value v = value_total(&zero), w = value_total(&one), refused = value_without(UPMU_REFUSED, UPMU_E_PERM);
    ck_assert(value_doubt_zero(&v));
    ck_assert_int_eq(v.status, UPMU_NOT_COUNTED);
    ck_assert(v.value == UPMU_NO_VALUE);
    ck_assert(!value_doubt_zero(&w));
    ck_assert_int_eq(w.status, UPMU_SCALED);
    ck_assert_uint_eq(w.value, 2);
    ck_assert(!value_doubt_zero(&refused));
    ck_assert_int_eq(refused.status, UPMU_REFUSED);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("value");
    tcase_add_test(cases, counted_all_the_time_is_exact);
    tcase_add_test(cases, counted_part_of_the_time_is_extrapolated_and_marked);
    tcase_add_test(cases, never_on_a_counter_is_no_zero);
    tcase_add_test(cases, an_interval_is_judged_by_its_own_times);
    tcase_add_test(cases, an_interval_below_the_clocks_step_is_exact_if_the_counter_ran_all_along);
    tcase_add_test(cases, a_counter_that_went_backwards_has_no_difference);
    tcase_add_test(cases, a_count_that_cannot_have_happened_is_no_number);
    tcase_add_test(cases, more_running_than_enabled_is_not_scaled_down);
    tcase_add_test(cases, kinds_of_cores_are_added_up_by_the_time_on_all_of_them);
    tcase_add_test(cases, a_kind_that_went_backwards_has_no_difference);
    tcase_add_test(cases, a_doubted_zero_is_no_number_and_other_counts_stay);
    tcase_add_test(cases, open_failures_have_the_status_refused_or_unsupported);
    tcase_add_test(cases, a_sum_is_exact_only_if_all_parts_are);
    tcase_add_test(cases, a_part_that_slept_takes_nothing_away);
    tcase_add_test(cases, a_sums_cause_is_that_of_its_status);
    tcase_add_test(cases, a_sum_too_large_stays_below_no_value);
    tcase_add_test(cases, statuses_are_ordered_and_named);
    return run_suite("value", cases);
}
