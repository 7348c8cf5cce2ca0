/* SPDX-License-Identifier: MIT */
/* Counters that are refused as ticks, by configuration words and readings of machines that are not here. */
#include <string.h>

#include "base/clock.h"
#include "base/tick_problem.h"
#include "unit/suite.h"

enum { READINGS = 4, STEP_NS = 1000000, WIDTH = 40 };

/* Readings of a counter of 1450 MHz, 1 ms apart. */
static void readings(struct tick_reading at[READINGS])
{
    memset(at, 0, READINGS * sizeof *at);
    for (int i = 0; i < READINGS; i++) {
        at[i].raw_ns = 5000000000u + (uint64_t)i * STEP_NS;
        at[i].tick = 7000000000u + (uint64_t)i * 1450000;
        at[i].width = WIDTH;
    }
}

START_TEST(mips_needs_the_timer_of_constant_rate)
{
    const uint32_t extensions = 3, llftp = 1u << 23; /* LEXT1 and LEXT2 are those of older models, too */
    ck_assert_str_eq(tick_problem_mips(true, extensions | llftp), "");
    ck_assert_ptr_nonnull(strstr(tick_problem_mips(true, extensions), "LLFTP"));
    ck_assert_ptr_nonnull(strstr(tick_problem_mips(true, ~llftp), "LLFTP"));
    ck_assert_ptr_nonnull(strstr(tick_problem_mips(false, UINT32_MAX), "LLFTP"));
}
END_TEST

START_TEST(a_constant_rate_is_accepted_as_precisely_as_it_was_read)
{
    struct tick_reading at[READINGS];
    readings(at);
    ck_assert_str_eq(tick_problem_rate(at, READINGS), "");
    at[1].tick += 2 * WIDTH;
    ck_assert_str_eq(tick_problem_rate(at, READINGS), "");
    at[2].width = 100000; /* an interrupt between its two ticks */
    at[2].tick += 90000;
    ck_assert_str_eq(tick_problem_rate(at, READINGS), "");
}
END_TEST

START_TEST(a_rate_that_changes_is_refused)
{
    struct tick_reading at[READINGS];
    readings(at);
    at[3].tick += 1450000 / 50; /* 2 % faster in the last ms */
    ck_assert_ptr_nonnull(strstr(tick_problem_rate(at, READINGS), "not constant"));
    readings(at);
    at[2].tick = at[1].tick - 1; /* of another core, behind */
    ck_assert_ptr_nonnull(strstr(tick_problem_rate(at, READINGS), "not constant"));
}
END_TEST

START_TEST(a_counter_that_does_not_advance_is_refused)
{
    struct tick_reading at[READINGS];
    readings(at);
    for (int i = 0; i < READINGS; i++)
        at[i].tick = 7;
    ck_assert_ptr_nonnull(strstr(tick_problem_rate(at, READINGS), "does not advance"));
}
END_TEST

START_TEST(the_tick_of_this_machine_is_measured)
{
    clock_start();
    const char *problem = "not measured";
    for (int tries = 0; tries < 100 && problem[0]; tries++) { /* an emulator's tick may move in steps */
        struct tick_reading at[READINGS];
        struct clock_triple now = {0};
        for (int i = 0; i < READINGS; i++) {
            do
                clock_sample(&now);
            while (i > 0 && now.raw_ns - at[i - 1].raw_ns < STEP_NS);
            at[i] = (struct tick_reading){.tick = now.tick, .raw_ns = now.raw_ns, .width = now.width};
        }
        problem = tick_problem_rate(at, READINGS);
    }
    ck_assert_str_eq(problem, "");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("tick_problem");
    tcase_add_test(cases, mips_needs_the_timer_of_constant_rate);
    tcase_add_test(cases, a_constant_rate_is_accepted_as_precisely_as_it_was_read);
    tcase_add_test(cases, a_rate_that_changes_is_refused);
    tcase_add_test(cases, a_counter_that_does_not_advance_is_refused);
    tcase_add_test(cases, the_tick_of_this_machine_is_measured);
    return run_suite("tick_problem", cases);
}
