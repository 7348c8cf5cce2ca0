/* SPDX-License-Identifier: MIT */
/* Events of fixed counters are refused on Zhaoxin where a kernel from 6.11 on counts no instructions in known work. */
#include <string.h>

#include "core/check/self_check_fixed.h"
#include "support/machine.h"
#include "unit/suite.h"
#include "upmu/upmu.h"

static const char *machines;

static const struct kernel_work each = {.faults = 4, .switches = 1, .cpu_ns = 5000};

static void on_kernel(const char *release, uint64_t instructions)
{
    static const struct scripted_sample usual[] = {{900, 4000, 4000}};
    machine_recorded(machines, "zhaoxin_kx6780a");
    scripted_file("/proc/sys/kernel/osrelease", release);
    scripted_file("/proc/sys/kernel/perf_event_paranoid", "2\n");
    scripted_counter(KERNEL_TYPE_HARDWARE, SCRIPTED_ANY, usual, 1);
    scripted_counter(KERNEL_TYPE_RAW, SCRIPTED_ANY, usual, 1);
    scripted_counter(KERNEL_TYPE_HARDWARE, 1, &(struct scripted_sample){instructions, 4000, 4000}, 1);
    scripted_work(each);
}

static struct upmu_value value_of(const char *event, const char *reason)
{
    struct upmu_value v = {0};
    struct upmu_set *set;
    int rc = upmu_set_open(&set, event, NULL);
    ck_assert_msg(rc == 0, "%s: %s", event, upmu_error());
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, &v, 1), 1);
    if (reason)
        ck_assert_msg(strstr(upmu_set_reason(set, 0), reason) != NULL, "%s: %s", event, upmu_set_reason(set, 0));
    upmu_set_close(set);
    return v;
}

START_TEST(no_instructions_in_known_work_refuse_the_fixed_counters)
{
    static const char *const fixed[] = {"instructions", "cycles", "bus-cycles", "rc0", "native::instructions"};
    on_kernel("6.12.1\n", 0);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        struct upmu_value v = value_of(fixed[i], "0 instructions in 5000 ns");
        ck_assert_msg(v.status == UPMU_REFUSED && v.value == UPMU_NO_VALUE, "%s", fixed[i]);
    }
    ck_assert_int_eq(value_of("branches", NULL).status, UPMU_EXACT);
    ck_assert_int_eq(value_of("r28", NULL).status, UPMU_EXACT);
}
END_TEST

START_TEST(impossibly_many_instructions_refuse_them_too)
{
    on_kernel("6.17.0\n", UINT64_C(1) << 47);
    ck_assert_int_eq(value_of("cycles", NULL).status, UPMU_REFUSED);
}
END_TEST

START_TEST(a_kernel_that_counts_the_work_is_believed)
{
    on_kernel("6.12.1\n", 900);
    ck_assert_int_eq(value_of("instructions", NULL).status, UPMU_EXACT);
    ck_assert_uint_eq(self_check_fixed_result()->counted, 900);
}
END_TEST

/* Instructions may read 0 there for other reasons; no check is made. */
START_TEST(older_kernels_are_not_tried)
{
    on_kernel("6.10.14\n", 0);
    ck_assert_int_eq(value_of("cycles", NULL).status, UPMU_EXACT);
    ck_assert(!self_check_fixed_result()->failed);
}
END_TEST

START_TEST(other_makers_are_not_tried)
{
    on_kernel("6.12.1\n", 0);
    machine_forget();
    scripted_file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: NoVendor\n");
    ck_assert_int_eq(value_of("cycles", NULL).status, UPMU_EXACT);
    ck_assert(!self_check_fixed_result()->failed);
}
END_TEST

int main(int argc, char **argv)
{
    machines = argc > 1 ? argv[1] : "tests/machines";
    TCase *cases = tcase_create("self-check-fixed");
    tcase_add_test(cases, no_instructions_in_known_work_refuse_the_fixed_counters);
    tcase_add_test(cases, impossibly_many_instructions_refuse_them_too);
    tcase_add_test(cases, a_kernel_that_counts_the_work_is_believed);
    tcase_add_test(cases, older_kernels_are_not_tried);
    tcase_add_test(cases, other_makers_are_not_tried);
    return run_suite("self-check-fixed", cases);
}
