/* SPDX-License-Identifier: MIT */
/*
 * Regions on modeled machines: the count of one instance while other events take the counters away.
 *
 * Each test is a process of its own: regions are set up once.
 */
#include <stdio.h>
#include <string.h>

#include "trial.h"
#include "unit/suite.h"
#include "support/region_stats.h"
#include "upmu/region.h"
#include "upmu/upmu.h"

static const char *recordings;

enum {
    RIVALS = 12,
    BEFORE_US = 1003000,
    INSIDE_US = 100000,
    BRANCH_MISSES = 0x00c5,
    BRANCHES = 0x00c4,
    DTLB_LOAD_WALKS = 0x0e08,
    DTLB_STORE_WALKS = 0x0e49
};

static void set_up_for(const char *name, const char *events)
{
    const struct upmu_region_opts opts = {.size = sizeof opts, .events = events};
    for (size_t i = 0; i < model_n_machines; i++)
        if (strcmp(model_machines[i].name, name) == 0)
            trial_machine(&model_machines[i], recordings);
    int rc = upmu_region_setup(&opts);
    ck_assert_msg(rc == 0, "%s", upmu_error());
}

static void set_up_on(const char *name)
{
    set_up_for(name, "branch-misses");
}

static int open_rival(unsigned i)
{
    const struct kernel_open req = {.type = KERNEL_TYPE_RAW, .config = 0xd0 + i, .cpu = -1, .group_fd = -1};
    int fd = model_kernel()->open(&req);
    ck_assert_int_ge(fd, 0);
    return fd;
}

/* An instance after a long time alone on the counters; `rivals` appear in it. */
static struct upmu_region_event_stats instance(bool rivals)
{
    struct test_region s;
    ck_assert_int_eq(upmu_region_begin("first"), 0);
    ck_assert_int_eq(upmu_region_end("first"), 0);
    model_run(BEFORE_US / 2, 0);
    model_kernel()->close(open_rival(0)); /* the kernel writes the pages anew, and then not again */
    model_run(BEFORE_US - BEFORE_US / 2, 0);
    ck_assert_int_eq(upmu_region_begin("r"), 0);
    for (unsigned i = 0; rivals && i < RIVALS; i++)
        open_rival(i);
    model_run(INSIDE_US, 0);
    ck_assert_int_eq(upmu_region_end("r"), 0);
    int rc = test_region_read("r", UPMU_ALL_THREADS, &s);
    ck_assert_msg(rc == 0, "%s", upmu_error());
    ck_assert_uint_eq(s.n_events, 1);
    return s.events[0];
}

static uint64_t truth(void)
{
    return load_count(MODEL_STEADY, BRANCH_MISSES, MODEL_ALL_MODES, BEFORE_US + INSIDE_US) -
           load_count(MODEL_STEADY, BRANCH_MISSES, MODEL_ALL_MODES, BEFORE_US);
}

START_TEST(an_instance_alone_on_the_counters_is_exact)
{
    set_up_on(_i ? "Skylake, a guest" : "Skylake");
    struct upmu_region_event_stats e = instance(false);
    ck_assert_int_eq(e.status, UPMU_EXACT);
    ck_assert_uint_eq(e.stat.sum, truth());
}
END_TEST

START_TEST(an_instance_that_had_to_wait_is_scaled)
{
    set_up_on("Skylake");
    struct upmu_region_event_stats e = instance(true);
    ck_assert_int_eq(e.status, UPMU_SCALED);
    ck_assert_uint_lt(e.running, e.enabled);
    ck_assert_double_eq_tol((double)e.stat.sum / (double)truth(), 1.0, 1e-5);
}
END_TEST

/* Its begin has a current count and old times: the time that the rest covers is unknown. */
START_TEST(without_a_clock_in_pages_it_has_no_number)
{
    set_up_on("Skylake, a guest");
    struct upmu_region_event_stats e = instance(true);
    ck_assert_int_eq(e.status, UPMU_NOT_COUNTED);
    ck_assert_uint_eq(e.without_value, 1);
    ck_assert_uint_eq(e.stat.sum, 0);
}
END_TEST

static uint64_t truth_of(uint64_t code, uint64_t from, uint64_t us)
{
    return load_count(MODEL_STEADY, code, MODEL_ALL_MODES, from + us) -
           load_count(MODEL_STEADY, code, MODEL_ALL_MODES, from);
}

/* Each instance has the weighted sum of its own interval. */
START_TEST(derived_events_of_instances_are_the_sums_of_their_terms)
{
    enum { INSTANCES = 3 };
    struct test_region s;
    uint64_t walks = 0, operations = 0;
    set_up_for("Skylake", "dtlb-miss,branches");
    for (int i = 0; i < INSTANCES; i++) {
        uint64_t from = model_now();
        ck_assert_int_eq(upmu_region_begin("r"), 0);
        model_run(INSIDE_US, 0);
        ck_assert_int_eq(upmu_region_end("r"), 0);
        walks += truth_of(DTLB_LOAD_WALKS, from, INSIDE_US) + truth_of(DTLB_STORE_WALKS, from, INSIDE_US);
        operations += truth_of(BRANCHES, from, INSIDE_US);
        model_run(INSIDE_US, 0);
    }
    ck_assert_int_eq(test_region_read("r", UPMU_ALL_THREADS, &s), 0);
    ck_assert_uint_eq(s.n_events, 2);
    ck_assert_int_eq(s.events[0].status, UPMU_EXACT);
    ck_assert_uint_eq(s.events[0].stat.sum, walks);
    ck_assert_uint_eq(s.events[1].stat.sum, operations);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s RECORDINGS\n", argv[0]);
        return EXIT_FAILURE;
    }
    recordings = argv[1];
    TCase *cases = tcase_create("regions");
    tcase_add_test(cases, derived_events_of_instances_are_the_sums_of_their_terms);
    tcase_add_loop_test(cases, an_instance_alone_on_the_counters_is_exact, 0, 2);
#if defined __x86_64__ /* elsewhere the library may have no way to read a counter in user mode, and asks the kernel */
    tcase_add_test(cases, without_a_clock_in_pages_it_has_no_number);
#endif
    tcase_add_test(cases, an_instance_that_had_to_wait_is_scaled);
    return run_suite("regions on driver models", cases);
}
