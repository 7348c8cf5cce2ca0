/* SPDX-License-Identifier: MIT */
/* Regions and their counters in the analysis pass. */
#include "stream.h"

#include "unit/suite.h"

static struct upmu_value exact(uint64_t value, uint64_t time)
{
    return (struct upmu_value){.value = value, .raw = value, .enabled = time, .running = time, .status = UPMU_EXACT};
}

static void mark_region(int kind, pid_t tid, uint64_t time, const char *name, const struct upmu_value *values)
{
    struct upmu_trace_event e = event(kind, tid, time, 0);
    e.name = name;
    e.values = values;
    e.n_values = 2;
    add(&e);
}

static struct upmu_overview_region region(const char *name)
{
    struct upmu_overview_region r = {.size = sizeof r};
    for (size_t i = 0; upmu_overview_region_at(&subject, i, &r) == 0; i++)
        if (strcmp(r.name, name) == 0)
            return r;
    ck_abort_msg("no region %s", name);
}

START_TEST(counters_are_differences_added_over_threads)
{
    begin_stream(true);
    struct upmu_value a[2] = {exact(10, 100), exact(5, 100)}, b[2] = {exact(30, 200), exact(6, 200)};
    struct upmu_value c[2] = {exact(1000, 300), exact(0, 300)}, d[2] = {exact(1500, 900), exact(0, 900)};
    mark_region(UPMU_TRACE_REGION_BEGIN, 101, 1000, "load", a);
    mark_region(UPMU_TRACE_REGION_BEGIN, 102, 1100, "load", c);
    mark_region(UPMU_TRACE_REGION_END, 101, 1300, "load", b);
    mark_region(UPMU_TRACE_REGION_END, 102, 1200, "load", d);
    finish();
    struct upmu_overview_region r = region("load");
    ck_assert_uint_eq(r.count, 2);
    ck_assert_uint_eq(r.wall_ns, 300 + 100);
    ck_assert_uint_eq(r.min_ns, 100);
    ck_assert_uint_eq(r.max_ns, 300);
    ck_assert_uint_eq(r.n_counts, 2);
    ck_assert_uint_eq(r.counts[0].sum.value, 520);
    ck_assert_int_eq(r.counts[0].sum.status, UPMU_EXACT);
    ck_assert_uint_eq(r.counts[1].sum.value, 1);
    ck_assert_uint_eq(thread(101, 0).switches.value, 30); /* counter 0 is declared as the switches */
    end_stream();
}
END_TEST

START_TEST(multiplexed_counter_is_scaled_over_the_region)
{
    begin_stream(true);
    struct upmu_value a[2] = {exact(0, 100), exact(0, 100)}, b[2] = {exact(50, 200), exact(7, 200)};
    b[0].running = 150; /* half of the hundred */
    b[0].status = UPMU_SCALED;
    mark_region(UPMU_TRACE_REGION_BEGIN, 101, 1000, "load", a);
    mark_region(UPMU_TRACE_REGION_END, 101, 1100, "load", b);
    finish();
    ck_assert_int_eq(region("load").counts[0].sum.status, UPMU_SCALED);
    ck_assert_uint_eq(region("load").counts[0].sum.value, 100);
    ck_assert_int_eq(region("load").counts[1].sum.status, UPMU_EXACT);
    end_stream();
}
END_TEST

START_TEST(what_has_no_time_of_its_own_is_exact)
{
    begin_stream(true);
    struct upmu_value a[2] = {exact(3, 0), exact(0, 100)}, b[2] = {exact(8, 0), exact(7, 200)};
    mark_region(UPMU_TRACE_REGION_BEGIN, 101, 1000, "load", a);
    mark_region(UPMU_TRACE_REGION_END, 101, 1100, "load", b);
    finish();
    ck_assert_int_eq(region("load").counts[0].sum.status, UPMU_EXACT);
    ck_assert_uint_eq(region("load").counts[0].sum.value, 5);
    end_stream();
}
END_TEST

START_TEST(one_instance_without_a_number_leaves_the_sum_without_one)
{
    begin_stream(true);
    struct upmu_value a[2] = {exact(0, 100), exact(0, 100)}, b[2] = {exact(50, 200), exact(7, 200)};
    struct upmu_value none = {.value = UPMU_NO_VALUE, .status = UPMU_REFUSED, .cause = UPMU_E_NFILES};
    struct upmu_value c[2] = {none, exact(7, 300)}, d[2] = {none, exact(9, 400)};
    mark_region(UPMU_TRACE_REGION_BEGIN, 101, 1000, "load", a);
    mark_region(UPMU_TRACE_REGION_END, 101, 1100, "load", b);
    mark_region(UPMU_TRACE_REGION_BEGIN, 102, 1200, "load", c);
    mark_region(UPMU_TRACE_REGION_END, 102, 1300, "load", d);
    finish();
    struct upmu_overview_region r = region("load");
    ck_assert_int_eq(r.counts[0].sum.status, UPMU_REFUSED);
    ck_assert_int_eq(r.counts[0].sum.cause, UPMU_E_NFILES);
    ck_assert_uint_eq(r.counts[0].sum.value, UPMU_NO_VALUE);
    ck_assert_uint_eq(r.counts[0].without_value, 1);
    ck_assert_uint_eq(r.counts[1].sum.value, 9);
    end_stream();
}
END_TEST

START_TEST(counter_that_did_not_run_is_not_zero)
{
    begin_stream(true);
    struct upmu_value a[2] = {exact(10, 100), exact(0, 100)}, b[2] = {exact(10, 100), exact(0, 100)};
    b[0].enabled = 200;
    mark_region(UPMU_TRACE_REGION_BEGIN, 101, 1000, "load", a);
    mark_region(UPMU_TRACE_REGION_END, 101, 1100, "load", b);
    finish();
    ck_assert_int_eq(region("load").counts[0].sum.status, UPMU_NOT_COUNTED);
    ck_assert_uint_eq(region("load").counts[0].sum.value, UPMU_NO_VALUE);
    ck_assert_int_eq(region("load").counts[1].sum.status, UPMU_EXACT); /* both readings at the same moment */
    end_stream();
}
END_TEST

START_TEST(region_not_ended_inside_another_has_no_time)
{
    begin_stream(true);
    struct upmu_value v[2] = {exact(0, 100), exact(0, 100)};
    mark_region(UPMU_TRACE_REGION_BEGIN, 101, 1000, "outer", v);
    mark_region(UPMU_TRACE_REGION_BEGIN, 101, 1100, "inner", v);
    mark_region(UPMU_TRACE_REGION_END, 101, 1500, "outer", v);
    mark_region(UPMU_TRACE_REGION_END, 101, 1600, "outer", v);
    mark_region(UPMU_TRACE_REGION_BEGIN, 101, 1700, "last", v);
    finish();
    ck_assert_uint_eq(region("outer").wall_ns, 500);
    ck_assert_uint_eq(region("inner").count, 0);
    ck_assert_uint_eq(region("inner").unfinished, 1);
    ck_assert_uint_eq(region("inner").min_ns, UPMU_NO_VALUE);
    ck_assert_uint_eq(region("last").unfinished, 1);
    ck_assert_uint_eq(totals().unmatched, 1);
    end_stream();
}
END_TEST

START_TEST(region_in_itself_is_counted_twice)
{
    begin_stream(true);
    struct upmu_value v[2] = {exact(0, 100), exact(0, 100)};
    for (unsigned depth = 0; depth < 40; depth++)
        mark_region(UPMU_TRACE_REGION_BEGIN, 101, 1000 + depth, "deep", v);
    for (unsigned depth = 0; depth < 40; depth++)
        mark_region(UPMU_TRACE_REGION_END, 101, 2000 + depth, "deep", v);
    finish();
    ck_assert_uint_eq(region("deep").count, 40);
    ck_assert_uint_eq(region("deep").max_ns, 1039);
    ck_assert_uint_eq(region("deep").min_ns, 961);
    end_stream();
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("regions");
    tcase_add_test(cases, counters_are_differences_added_over_threads);
    tcase_add_test(cases, multiplexed_counter_is_scaled_over_the_region);
    tcase_add_test(cases, what_has_no_time_of_its_own_is_exact);
    tcase_add_test(cases, one_instance_without_a_number_leaves_the_sum_without_one);
    tcase_add_test(cases, counter_that_did_not_run_is_not_zero);
    tcase_add_test(cases, region_not_ended_inside_another_has_no_time);
    tcase_add_test(cases, region_in_itself_is_counted_twice);
    return run_suite("analysis regions", cases);
}
