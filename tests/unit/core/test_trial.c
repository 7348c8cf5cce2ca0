/* SPDX-License-Identifier: MIT */
/* Trials of events: seen counting, opened but not seen, refused. */
#include <errno.h>
#include <string.h>

#include "support/machine.h"
#include "unit/suite.h"
#include "upmu/upmu.h"

enum { CYCLES = 0, INSTRUCTIONS = 1 };

static void counter(uint64_t config, const struct scripted_sample *samples, size_t n)
{
    scripted_counter(KERNEL_TYPE_HARDWARE, config, samples, n);
}

static void machine_counting(void)
{
    machine_plain((struct scripted_sample[]){{700, 50, 50}}, 1);
}

START_TEST(event_that_counts_is_seen)
{
    uint64_t seen = 99;
    machine_counting();
    ck_assert_int_eq(upmu_event_probe("cycles", &seen), 0);
    ck_assert_uint_eq(seen, 700);
    ck_assert_uint_eq(scripted_open_now(), 0);
}
END_TEST

START_TEST(event_that_opens_and_never_counts_is_not_seen)
{
    uint64_t seen = 99;
    machine_counting();
    counter(CYCLES, (struct scripted_sample[]){{0, 50, 50}}, 1);
    ck_assert_int_eq(upmu_event_probe("cycles", &seen), 0);
    ck_assert_uint_eq(seen, 0);
    ck_assert_int_eq(upmu_event_probe("cycles", NULL), 0);
    ck_assert_uint_eq(scripted_open_now(), 0);
}
END_TEST

START_TEST(rare_event_gets_a_second_and_longer_load)
{
    uint64_t seen = 99;
    machine_counting();
    counter(CYCLES, (struct scripted_sample[]){{0, 50, 50}, {3, 900, 900}}, 2);
    ck_assert_int_eq(upmu_event_probe("cycles", &seen), 0);
    ck_assert_uint_eq(seen, 3);
}
END_TEST

/* Multiplexed, it has a number: the raw one is what was seen. */
START_TEST(multiplexed_event_is_seen)
{
    uint64_t seen = 99;
    machine_counting();
    counter(CYCLES, (struct scripted_sample[]){{5, 100, 10}}, 1);
    ck_assert_int_eq(upmu_event_probe("cycles", &seen), 0);
    ck_assert_uint_eq(seen, 5);
}
END_TEST

START_TEST(event_that_never_gets_a_counter_is_refused)
{
    uint64_t seen = 99;
    machine_counting();
    counter(CYCLES, (struct scripted_sample[]){{0, 50, 0}}, 1);
    ck_assert_int_eq(upmu_event_probe("cycles", &seen), UPMU_E_BUSY);
    ck_assert_uint_eq(seen, 0);
    ck_assert_ptr_nonnull(strstr(upmu_error(), "gets no counter"));
}
END_TEST

START_TEST(refusals_keep_their_cause)
{
    uint64_t seen = 99;
    machine_counting();
    scripted_open_error(KERNEL_TYPE_HARDWARE, INSTRUCTIONS, EOPNOTSUPP);
    ck_assert_int_eq(upmu_event_probe("instructions", &seen), UPMU_E_UNSUPPORTED);
    scripted_rule(scripted_rule_deny, &(int){ENOSYS});
    ck_assert_int_eq(upmu_event_probe("cycles", &seen), UPMU_E_NO_SYSCALL);
    ck_assert_int_eq(upmu_event_probe("no-such-event", &seen), UPMU_E_NAME);
    ck_assert_int_eq(upmu_event_probe(NULL, &seen), UPMU_E_INVAL);
    ck_assert_uint_eq(seen, 0);
}
END_TEST

/* A counter that cannot be read has no number, and 0 would be one. */
START_TEST(unreadable_counter_is_refused)
{
    uint64_t seen = 99;
    machine_counting();
    counter(CYCLES, (struct scripted_sample[]){{700, 50, 50}}, 1);
    scripted_read_fault(KERNEL_TYPE_HARDWARE, CYCLES, 8, 0);
    ck_assert_int_lt(upmu_event_probe("cycles", &seen), 0);
    ck_assert_uint_eq(seen, 0);
}
END_TEST

/* What any Linux counts itself moves under the load, or the load is none. */
START_TEST(load_moves_the_kernels_own_events)
{
    uint64_t seen;
    core_kernel_use(&upmu_kernel_perf);
    machine_forget();
    int rc = upmu_event_probe("page-faults", &seen);
    if (rc == UPMU_E_NO_SYSCALL || rc == UPMU_E_SECCOMP || rc == UPMU_E_PERM) {
        printf("the real kernel's part is skipped, because it refuses: %s\n", upmu_error());
        return;
    }
    ck_assert_msg(rc == 0, "%s", upmu_error());
    ck_assert_uint_ge(seen, 96);
    ck_assert_int_eq(upmu_event_probe("context-switches", &seen), 0);
    ck_assert_uint_ge(seen, 1);
    ck_assert_int_eq(upmu_event_probe("task-clock", &seen), 0);
    ck_assert_uint_ge(seen, 1);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("trial");
    tcase_add_test(cases, event_that_counts_is_seen);
    tcase_add_test(cases, event_that_opens_and_never_counts_is_not_seen);
    tcase_add_test(cases, rare_event_gets_a_second_and_longer_load);
    tcase_add_test(cases, multiplexed_event_is_seen);
    tcase_add_test(cases, event_that_never_gets_a_counter_is_refused);
    tcase_add_test(cases, refusals_keep_their_cause);
    tcase_add_test(cases, unreadable_counter_is_refused);
    tcase_add_test(cases, load_moves_the_kernels_own_events);
    tcase_set_timeout(cases, 60);
    return run_suite("trial", cases);
}
