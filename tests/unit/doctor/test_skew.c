/* SPDX-License-Identifier: MIT */
/* Clock skew between CPUs: bounds from messages of known truth, and between clocks made wrong. */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>

#include "base/clock.h"
#include "doctor/skew.h"
#include "base/tick.h"
#include "unit/suite.h"

enum { ROUNDS = 1000, NS_PER_S = 1000000000 };

/* ------------------------------------------------------------------------------------------ messages by hand */

static uint32_t seed = 1;

static uint64_t between(uint64_t low, uint64_t high)
{
    seed = seed * 1664525u + 1013904223u;
    return low + (seed >> 8) % (high - low + 1);
}

/* Messages take from `fast` to `slow` ticks, to a clock that is `ahead`. */
static struct skew_pair messages(int64_t ahead, uint64_t fast, uint64_t slow)
{
    struct skew_pair p = {0};
    uint64_t now = UINT64_C(1) << 40;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t sent = now, there = sent + between(fast, slow), back = there + between(fast, slow);
        skew_note(&p, sent, there + (uint64_t)ahead, back);
        now = back + between(1, slow);
    }
    return p;
}

START_TEST(bounds_hold_the_truth_and_are_as_tight_as_the_fastest_message)
{
    const int64_t truths[] = {0, 1, -1, 90, -5000, INT64_C(1) << 41, -(INT64_C(1) << 41)};
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        struct skew_pair p = messages(truths[i], 100, 10000);
        ck_assert_int_le(p.low, truths[i]);
        ck_assert_int_ge(p.high, truths[i]);
        ck_assert_int_le(p.high - p.low, 2 * 200); /* a hundredth of a thousand messages is about that fast */
        ck_assert_uint_eq(p.rounds, ROUNDS);
    }
}
END_TEST

static struct skew skew_of(const int64_t *ahead, size_t n)
{
    struct skew s;
    skew_begin(&s, (unsigned)n + 1);
    for (size_t i = 0; i < n; i++) {
        struct skew_pair p = messages(ahead[i], 100, 200);
        skew_join(&s, &p);
    }
    return s;
}

START_TEST(clocks_that_are_one_are_not_known_to_differ)
{
    struct skew s = skew_of((const int64_t[]){0, 0, 0}, 3);
    ck_assert_uint_eq(s.compared, 4);
    ck_assert_uint_eq(s.at_least, 0);
    ck_assert_uint_ge(s.at_most, 200);
    ck_assert_uint_le(s.at_most, 400);
}
END_TEST

/* A skew smaller than the time of a message reverses no observable order. */
START_TEST(less_than_the_way_of_a_message_is_not_known)
{
    struct skew s = skew_of((const int64_t[]){60}, 1);
    ck_assert_uint_eq(s.at_least, 0);
    ck_assert_uint_ge(s.at_most, 60);
}
END_TEST

START_TEST(the_furthest_two_are_reported)
{
    struct skew s = skew_of((const int64_t[]){-3000, 0, 4000, 500}, 4);
    ck_assert_uint_ge(s.at_most, 7000);
    ck_assert_uint_le(s.at_most, 7400);
    ck_assert_uint_le(s.at_least, 7000);
    ck_assert_uint_ge(s.at_least, 6600);
}
END_TEST

/* Neither ahead nor behind: the clock has moved while it was looked at. */
START_TEST(a_clock_that_steps_is_one_that_differs)
{
    struct skew_pair p = messages(0, 100, 200), later = messages(5000, 100, 200);
    struct skew s;
    p.low = later.low;
    ck_assert_int_gt(p.low, p.high);
    skew_begin(&s, 2);
    skew_join(&s, &p);
    ck_assert_uint_ge(s.at_least, 4000);
}
END_TEST

START_TEST(who_does_not_answer_is_not_compared)
{
    struct skew s;
    skew_begin(&s, 2);
    skew_join(&s, &(struct skew_pair){0});
    ck_assert_uint_eq(s.compared, 1);
    ck_assert_uint_eq(s.allowed, 2);
    ck_assert_uint_eq(s.at_most, 0);
}
END_TEST

/* ------------------------------------------------------------------------------------------------ real ones */

/* A clock of one pace for all, which the kernel keeps from going back from CPU to CPU. */
START_TEST(the_kernels_clock_is_one)
{
    struct skew s;
    ck_assert_int_eq(skew_measure(tick_portable, NS_PER_S, &s), 0);
    printf("%u of %u CPUs compared, at most %" PRIu64 " ns apart\n", s.compared, s.allowed, s.at_most);
    ck_assert_uint_ge(s.compared, 1);
    ck_assert_uint_le(s.compared, s.allowed);
    ck_assert_uint_eq(s.at_least, 0);
    ck_assert_uint_lt(s.at_most, 2u * NS_PER_S);
}
END_TEST

enum { WRONG_NS = 10 * 1000 * 1000 };
static int first_cpu;

static uint64_t wrong_elsewhere(void)
{
    return tick_portable() + (sched_getcpu() == first_cpu ? 0 : WRONG_NS);
}

static int first_allowed(void)
{
    cpu_set_t set;
    int cpu = 0;
    ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
    while (!CPU_ISSET((size_t)cpu, &set))
        cpu++;
    return cpu;
}

START_TEST(a_clock_that_is_wrong_on_one_cpu_is_found)
{
    struct skew s;
    first_cpu = first_allowed();
    ck_assert_int_eq(skew_measure(wrong_elsewhere, 2u * NS_PER_S, &s), 0);
    printf("%u of %u CPUs compared, %" PRIu64 " to %" PRIu64 " ns apart\n", s.compared, s.allowed, s.at_least,
           s.at_most);
    if (s.compared == 1) {
        printf("left out, because no other CPU can be compared here\n");
        return;
    }
    /* On a busy machine the bounds may be wide; they hold all the same. */
    ck_assert_uint_ge(s.at_most, WRONG_NS);
    ck_assert_uint_le(s.at_least, WRONG_NS);
    if (s.at_most < 2u * WRONG_NS)
        ck_assert_uint_gt(s.at_least, 0);
}
END_TEST

START_TEST(the_callers_affinity_stays)
{
    struct skew s;
    cpu_set_t before, after;
    clock_start();
    ck_assert_int_eq(sched_getaffinity(0, sizeof before, &before), 0);
    ck_assert_int_eq(skew_measure(skew_tick, NS_PER_S / 10, &s), 0);
    ck_assert_int_eq(sched_getaffinity(0, sizeof after, &after), 0);
    ck_assert(CPU_EQUAL(&before, &after));
    ck_assert_uint_eq(s.allowed, (unsigned)CPU_COUNT(&before));
}
END_TEST

START_TEST(no_time_means_no_comparison)
{
    struct skew s;
    ck_assert_int_eq(skew_measure(skew_tick, 0, &s), 0);
    ck_assert_uint_eq(s.compared, 1);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("skew");
    tcase_add_test(cases, bounds_hold_the_truth_and_are_as_tight_as_the_fastest_message);
    tcase_add_test(cases, clocks_that_are_one_are_not_known_to_differ);
    tcase_add_test(cases, less_than_the_way_of_a_message_is_not_known);
    tcase_add_test(cases, the_furthest_two_are_reported);
    tcase_add_test(cases, a_clock_that_steps_is_one_that_differs);
    tcase_add_test(cases, who_does_not_answer_is_not_compared);
    tcase_add_test(cases, the_kernels_clock_is_one);
    tcase_add_test(cases, a_clock_that_is_wrong_on_one_cpu_is_found);
    tcase_add_test(cases, the_callers_affinity_stays);
    tcase_add_test(cases, no_time_means_no_comparison);
    return run_suite("skew", cases);
}
