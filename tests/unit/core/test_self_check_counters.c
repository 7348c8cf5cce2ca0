/* SPDX-License-Identifier: MIT */
/* A virtual PMU that shows six counters of which five count: events are planned for five, and the others are refused. */
#include <string.h>

#include "core/check/self_check_counters.h"
#include "support/machine.h"
#include "unit/suite.h"

enum { SHOWN = 6, COUNT = 400000 };

static struct kernel_ops guest;
static unsigned dead; /* copies at the end of a full group that do not advance */
static bool jumps;

static ssize_t guest_read(int fd, void *buf, size_t bytes)
{
    ssize_t n = upmu_kernel_scripted.read(fd, buf, bytes);
    uint64_t *words = buf;
    for (unsigned i = SHOWN - dead; n > 0 && words[0] == SHOWN && i < SHOWN; i++)
        words[KERNEL_READ_GROUP_HEAD + 2 * i] = 41;
    if (n > 0 && words[0] == SHOWN && jumps)
        words[KERNEL_READ_GROUP_HEAD] += UINT64_C(1) << 47;
    return n;
}

static void machine_guest(bool hypervisor)
{
    static const struct scripted_sample sample[] = {{COUNT, 1000000, 1000000}};
    char text[256];
    machine_plain(sample, 1);
    snprintf(text, sizeof text,
             "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC\n"
             "stepping\t: 1\nflags\t\t: fpu%s perfctr_core\n",
             hypervisor ? " hypervisor" : "");
    scripted_file("/proc/cpuinfo", text);
    scripted_work((struct kernel_work){.faults = 1, .switches = 1, .cpu_ns = 1000});
    guest = upmu_kernel_scripted;
    guest.read = guest_read;
    core_kernel_use(&guest);
    machine_forget();
    dead = 0;
    jumps = false;
}

static const char six[] = "stores:u,cycles:u,branch-misses:u,uops-retired:u,branches:u,instructions:u";

START_TEST(events_beyond_the_counters_that_count_are_refused)
{
    struct upmu_set *set;
    struct upmu_value v[SHOWN];
    unsigned exact = 0, refused = 0;
    machine_guest(true);
    dead = 1;
    ck_assert_uint_eq(self_check_counters(SHOWN), SHOWN - 1);
    ck_assert_int_eq(upmu_set_open(&set, six, NULL), 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    ck_assert_int_eq(upmu_set_read(set, v, SHOWN), SHOWN);
    for (size_t i = 0; i < SHOWN; i++) {
        exact += v[i].status == UPMU_EXACT;
        refused += v[i].status == UPMU_REFUSED && v[i].cause == UPMU_E_FIT &&
                   strstr(upmu_set_reason(set, i), "5 counters") != NULL;
    }
    ck_assert_uint_eq(exact, SHOWN - 1);
    ck_assert_uint_eq(refused, 1);
    upmu_set_close(set);
    ck_assert_uint_eq(scripted_open_now(), 0);
}
END_TEST

START_TEST(a_virtual_pmu_with_counters_that_all_count_is_used_whole)
{
    machine_guest(true);
    ck_assert_uint_eq(self_check_counters(SHOWN), SHOWN);
}
END_TEST

START_TEST(a_jump_does_not_affect_the_others)
{
    machine_guest(true);
    jumps = true;
    ck_assert_uint_eq(self_check_counters(SHOWN), SHOWN);
}
END_TEST

START_TEST(a_real_machine_is_not_tried)
{
    struct upmu_set *set;
    machine_guest(false);
    dead = 1;
    ck_assert_int_eq(upmu_set_open(&set, six, NULL), 0);
    ck_assert_uint_eq(scripted_count(SCRIPTED_OPEN), SHOWN);
    ck_assert_uint_eq(upmu_set_group_count(set), 1);
    upmu_set_close(set);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("self-check of counters");
    tcase_add_test(cases, events_beyond_the_counters_that_count_are_refused);
    tcase_add_test(cases, a_virtual_pmu_with_counters_that_all_count_is_used_whole);
    tcase_add_test(cases, a_jump_does_not_affect_the_others);
    tcase_add_test(cases, a_real_machine_is_not_tried);
    return run_suite("self-check of counters", cases);
}
