/* SPDX-License-Identifier: MIT */
/* Hybrid machines: each event is opened on each core type's PMU and the counts are added. */
#include <errno.h>
#include <string.h>

#include "core/set/counters.h"
#include "region/region.h"
#include "core/names/registry.h"
#include "support/region_stats.h"
#include "support/machine.h"
#include "unit/suite.h"

enum { BIG = 4, SMALL = 10 };

static const char *machines;

/* A hybrid Intel: each kind's PMU counts cycles (0x3c) and instructions (0xc0) as in the samples. */
static void hybrid(struct scripted_sample big, struct scripted_sample small)
{
    machine_bare();
    scripted_file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 151\n"
                                   "model name\t: hybrid\nflags\t\t: fpu arch_perfmon hybrid_cpu\n\n");
    scripted_file(TEST_DEVICES "/cpu_core/type", "4\n");
    scripted_file(TEST_DEVICES "/cpu_core/cpus", "0-3\n");
    scripted_file(TEST_DEVICES "/cpu_atom/type", "10\n");
    scripted_file(TEST_DEVICES "/cpu_atom/cpus", "4-7,9\n");
    scripted_file(TEST_DEVICES "/software/type", "1\n");
    scripted_counter(BIG, SCRIPTED_ANY, &big, 1);
    scripted_counter(SMALL, SCRIPTED_ANY, &small, 1);
    scripted_counter(KERNEL_TYPE_SOFTWARE, SCRIPTED_ANY, &big, 1);
}

static struct upmu_set *opened(const char *events, const struct upmu_set_opts *opts)
{
    struct upmu_set *set;
    int rc = upmu_set_open(&set, events, opts);
    ck_assert_msg(rc == 0, "%s: %s", events, upmu_error());
    ck_assert_int_eq(upmu_set_start(set), 0);
    return set;
}

static void closed(struct upmu_set *set)
{
    upmu_set_close(set);
    ck_assert_uint_eq(scripted_open_now(), 0);
    ck_assert_uint_eq(scripted_misuse(), 0);
}

static void is(const struct upmu_value *v, int status, uint64_t value)
{
    ck_assert_msg(v->status == status, "%s instead of %s", upmu_status_name(v->status), upmu_status_name(status));
    ck_assert_uint_eq(v->value, value);
}

static void total_is(struct upmu_set *set, size_t i, int status, uint64_t value)
{
    struct upmu_value v[8];
    ck_assert_int_gt(upmu_set_read(set, v, 8), (int)i);
    is(&v[i], status, value);
}

static void kind_is(struct upmu_set *set, size_t i, size_t kind, const char *pmu, int status, uint64_t value)
{
    struct upmu_value v;
    ck_assert_str_eq(upmu_set_core_type(set, i, kind), pmu);
    ck_assert_int_eq(upmu_set_read_core_type(set, i, kind, &v), 0);
    is(&v, status, value);
}

START_TEST(an_event_is_opened_on_each_kind_and_added_up)
{
    struct upmu_value v;
    hybrid((struct scripted_sample){100, 1000000, 400000}, (struct scripted_sample){30, 1000000, 600000});
    struct upmu_set *set = opened("cycles,instructions", NULL);
    ck_assert_uint_eq(scripted_open_now(), 4);
    ck_assert_uint_eq(upmu_set_group_count(set), 2);
    ck_assert_uint_eq(upmu_set_event_count(set), 2);
    const struct kernel_open *first = &scripted_nth(SCRIPTED_OPEN, 0)->req;
    ck_assert_uint_eq(first->type, BIG);
    ck_assert_uint_eq(first->config, 0x3c);
    total_is(set, 0, UPMU_EXACT, 130);
    kind_is(set, 0, 0, "cpu_core", UPMU_EXACT, 100);
    kind_is(set, 0, 1, "cpu_atom", UPMU_EXACT, 30);
    ck_assert_ptr_null(upmu_set_core_type(set, 0, 2));
    ck_assert_ptr_null(upmu_set_core_type(set, 2, 0));
    ck_assert_int_eq(upmu_set_read_core_type(set, 0, 2, &v), UPMU_E_END);
    ck_assert_int_eq(upmu_set_reset(set), 0);
    total_is(set, 0, UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    closed(set);
}
END_TEST

START_TEST(what_waited_for_a_counter_is_scaled_by_the_time_on_all_kinds)
{
    hybrid((struct scripted_sample){100, 1000000, 200000}, (struct scripted_sample){30, 1000000, 300000});
    struct upmu_set *set = opened("cycles", NULL);
    total_is(set, 0, UPMU_SCALED, 260);
    kind_is(set, 0, 0, "cpu_core", UPMU_SCALED, 200);
    kind_is(set, 0, 1, "cpu_atom", UPMU_SCALED, 60);
    closed(set);
    hybrid((struct scripted_sample){0, 1000000, 0}, (struct scripted_sample){0, 1000000, 0});
    set = opened("cycles", NULL);
    total_is(set, 0, UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    kind_is(set, 0, 1, "cpu_atom", UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    closed(set);
}
END_TEST

START_TEST(a_thread_that_stays_on_one_kind_is_counted_exactly)
{
    hybrid((struct scripted_sample){100, 1000000, 1000000}, (struct scripted_sample){0, 1000300, 0});
    struct upmu_set *set = opened("cycles", NULL);
    total_is(set, 0, UPMU_EXACT, 100);
    kind_is(set, 0, 1, "cpu_atom", UPMU_EXACT, 0);
    closed(set);
}
END_TEST

START_TEST(a_sum_that_lacks_a_kind_is_no_number)
{
    hybrid((struct scripted_sample){100, 1000, 400}, (struct scripted_sample){30, 1000, 600});
    scripted_open_error(SMALL, 0x3c, EBUSY);
    struct upmu_set *set = opened("cycles,instructions", NULL);
    total_is(set, 0, UPMU_REFUSED, UPMU_NO_VALUE);
    kind_is(set, 0, 0, "cpu_core", UPMU_REFUSED, UPMU_NO_VALUE);
    ck_assert_str_ne(upmu_set_reason(set, 0), "");
    total_is(set, 1, UPMU_EXACT, 130);
    closed(set);
}
END_TEST

START_TEST(a_cpu_is_counted_by_the_pmu_of_its_kind)
{
    static const struct {
        int cpu;
        uint32_t type;
        uint64_t value;
    } cpus[] = {{3, BIG, 100}, {4, SMALL, 30}, {9, SMALL, 30}};
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
        hybrid((struct scripted_sample){100, 1000, 1000}, (struct scripted_sample){30, 1000, 1000});
        const struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_CPU, .cpu = cpus[i].cpu};
        struct upmu_set *set = opened("cycles", &opts);
        ck_assert_uint_eq(scripted_open_now(), 1);
        ck_assert_uint_eq(scripted_nth(SCRIPTED_OPEN, 0)->req.type, cpus[i].type);
        total_is(set, 0, UPMU_EXACT, cpus[i].value);
        kind_is(set, 0, 0, cpus[i].type == BIG ? "cpu_core" : "cpu_atom", UPMU_EXACT, cpus[i].value);
        ck_assert_ptr_null(upmu_set_core_type(set, 0, 1));
        closed(set);
    }
    hybrid((struct scripted_sample){100, 1000, 1000}, (struct scripted_sample){30, 1000, 1000});
    const struct upmu_set_opts none = {.size = sizeof none, .target = UPMU_TARGET_CPU, .cpu = 8};
    struct upmu_set *set = opened("cycles", &none);
    total_is(set, 0, UPMU_UNSUPPORTED, UPMU_NO_VALUE); /* of a kind that has no PMU */
    closed(set);
}
END_TEST

START_TEST(a_name_of_one_pmu_stays_with_it)
{
    hybrid((struct scripted_sample){100, 1000, 1000}, (struct scripted_sample){30, 1000, 1000});
    scripted_file(TEST_DEVICES "/cpu_atom/format/event", "config:0-7\n");
    struct upmu_set *set = opened("cpu_atom/event=0x3c/,cycles", NULL);
    ck_assert_uint_eq(scripted_open_now(), 2); /* what the sum needs is open already */
    total_is(set, 0, UPMU_EXACT, 30);
    total_is(set, 1, UPMU_EXACT, 130);
    closed(set);
}
END_TEST

START_TEST(regions_add_the_kinds_up)
{
    const struct scripted_sample big[] = {{100, 1000000, 400000}, {150, 2000000, 1000000}};
    const struct scripted_sample small[] = {{30, 1000000, 600000}, {37, 2000000, 1000000}};
    struct upmu_region_opts opts = {.size = sizeof opts, .events = "cycles"};
    struct test_region s;
    hybrid(big[0], small[0]);
    scripted_counter(BIG, 0x3c, big, 2);
    scripted_counter(SMALL, 0x3c, small, 2);
    ck_assert_int_eq(upmu_region_setup(&opts), 0);
    ck_assert_int_eq(upmu_region_begin("r"), 0);
    ck_assert_int_eq(upmu_region_end("r"), 0);
    ck_assert_int_eq(test_region_read("r", UPMU_ALL_THREADS, &s), 0);
    ck_assert_int_eq(s.events[0].status, UPMU_EXACT);
    ck_assert_uint_eq(s.events[0].stat.sum, 57);
}
END_TEST

static void e2000(struct scripted_sample big, struct scripted_sample small)
{
    machine_recorded(machines, "phytium_e2000q");
    scripted_file(TEST_DEVICES "/armv8_pmuv3_0/type", "8\n");
    scripted_file(TEST_DEVICES "/armv8_pmuv3_0/cpus", "0-1\n");
    scripted_file(TEST_DEVICES "/armv8_pmuv3_1/type", "9\n");
    scripted_file(TEST_DEVICES "/armv8_pmuv3_1/cpus", "2-3\n");
    scripted_counter(8, SCRIPTED_ANY, &big, 1);
    scripted_counter(9, SCRIPTED_ANY, &small, 1);
    machine_forget();
}

START_TEST(arm_kinds_have_their_own_tables)
{
    e2000((struct scripted_sample){100, 1000000, 400000}, (struct scripted_sample){30, 1000000, 600000});
    struct upmu_set *set = opened("cycles", NULL);
    total_is(set, 0, UPMU_EXACT, 130);
    kind_is(set, 0, 0, "armv8_pmuv3_0", UPMU_EXACT, 100);
    kind_is(set, 0, 1, "armv8_pmuv3_1", UPMU_EXACT, 30);
    ck_assert_uint_eq(scripted_nth(SCRIPTED_OPEN, 0)->req.config, 0x11);
    ck_assert_str_ne(machine_core_type(0)->family->name, machine_core_type(1)->family->name);
    closed(set);
}
END_TEST

/* The architecture's own names are those of both kinds. */
START_TEST(own_names_are_counted_on_each_kind)
{
    static const char *const names[] = {"native::L1D_CACHE_REFILL_WR", "PAPI_L2_STM"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        e2000((struct scripted_sample){100, 1000000, 400000}, (struct scripted_sample){30, 1000000, 600000});
        struct upmu_set *set = opened(names[i], NULL);
        total_is(set, 0, UPMU_EXACT, 130);
        kind_is(set, 0, 1, "armv8_pmuv3_1", UPMU_EXACT, 30);
        closed(set);
    }
}
END_TEST

/* A neutral name whose raw code is unconfirmed on either core type. */
static const char *unsure_name(void)
{
    size_t n;
    const struct registry_event *events = registry_events(&n);
    for (size_t i = 0; i < n; i++) {
        struct event big, small;
        if (event_resolve_on(machine_core_type(0), events[i].name, &big) == 0 && big.zero_unsure &&
            event_resolve_on(machine_core_type(1), events[i].name, &small) == 0 && small.zero_unsure)
            return events[i].name;
    }
    ck_abort_msg("no event of the E2000 is in doubt");
}

START_TEST(a_zero_of_one_kind_that_may_lack_the_event_spoils_the_sum)
{
    e2000((struct scripted_sample){100, 1000000, 400000}, (struct scripted_sample){0, 1000000, 600000});
    struct upmu_set *set = opened(unsure_name(), NULL);
    total_is(set, 0, UPMU_NOT_COUNTED, UPMU_NO_VALUE);
    closed(set);
    /* A core type that the thread never ran on has no count. */
    e2000((struct scripted_sample){100, 1000000, 1000000}, (struct scripted_sample){0, 1000000, 0});
    set = opened(unsure_name(), NULL);
    total_is(set, 0, UPMU_EXACT, 100);
    closed(set);
}
END_TEST

int main(int argc, char **argv)
{
    machines = argc > 1 ? argv[1] : "tests/machines";
    TCase *cases = tcase_create("plan kinds");
    tcase_add_test(cases, an_event_is_opened_on_each_kind_and_added_up);
    tcase_add_test(cases, what_waited_for_a_counter_is_scaled_by_the_time_on_all_kinds);
    tcase_add_test(cases, a_thread_that_stays_on_one_kind_is_counted_exactly);
    tcase_add_test(cases, a_sum_that_lacks_a_kind_is_no_number);
    tcase_add_test(cases, a_cpu_is_counted_by_the_pmu_of_its_kind);
    tcase_add_test(cases, a_name_of_one_pmu_stays_with_it);
    tcase_add_test(cases, regions_add_the_kinds_up);
    tcase_add_test(cases, arm_kinds_have_their_own_tables);
    tcase_add_test(cases, own_names_are_counted_on_each_kind);
    tcase_add_test(cases, a_zero_of_one_kind_that_may_lack_the_event_spoils_the_sum);
    return run_suite("plan_kinds", cases);
}
