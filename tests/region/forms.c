/* SPDX-License-Identifier: MIT */
/* The three forms of a region: one name, nesting, recursion, self time, distribution of times. */
#include "support/behavior.h"

/* What the program sees of an instance: at least the time between its two inner readings, at most between the outer. */
struct seen {
    uint64_t sum, min, max, last;
    double squares;
};

static void see(struct seen *s, uint64_t ns)
{
    s->min = s->sum == 0 || ns < s->min ? ns : s->min;
    s->max = ns > s->max ? ns : s->max;
    s->sum += ns;
    s->last = ns;
    s->squares += (double)ns * (double)ns;
}

/* Between the two, but for the fit of the tick to nanoseconds and their rounding. */
static void between(const char *what, double value, double least, double most)
{
    double slack = most * 1e-3 + 100;
    CHECK(value + slack >= least && value <= most + slack, "%s is %.0f, not between %.0f and %.0f", what, value, least,
          most);
}

static void distribution(void)
{
    struct seen inner = {0}, outer = {0};
    enum { INSTANCES = 40 };
    for (uint64_t i = 0; i < INSTANCES; i++) {
        uint64_t a = nanoseconds(CLOCK_MONOTONIC_RAW);
        CHECK(upmu_region_begin("timed") == 0, "begin");
        uint64_t b = nanoseconds(CLOCK_MONOTONIC_RAW);
        pass(20000 * (1 + (i * 7) % 11));
        uint64_t c = nanoseconds(CLOCK_MONOTONIC_RAW);
        CHECK(upmu_region_end("timed") == 0, "end");
        uint64_t d = nanoseconds(CLOCK_MONOTONIC_RAW);
        see(&inner, c - b);
        see(&outer, d - a);
    }
    struct test_region s = region_of("timed", UPMU_ALL_THREADS);
    CHECK(s.count == INSTANCES && s.wall.count == INSTANCES, "%llu instances", (unsigned long long)s.count);
    between("sum", (double)s.wall.sum, (double)inner.sum, (double)outer.sum);
    between("min", (double)s.wall.min, (double)inner.min, (double)outer.min);
    between("max", (double)s.wall.max, (double)inner.max, (double)outer.max);
    between("last", (double)s.wall.last, (double)inner.last, (double)outer.last);
    CHECK(s.wall.sum_squares >= inner.squares * 0.999 && s.wall.sum_squares <= outer.squares * 1.001,
          "%g, not between %g and %g", s.wall.sum_squares, inner.squares, outer.squares);
    CHECK(s.self_ns == s.wall.sum, "%llu ns without regions inside, %llu with", (unsigned long long)s.self_ns,
          (unsigned long long)s.wall.sum);
}

/* ----------------------------------------------------------------------------------------------------------- forms */

static int leaves_by_return(void)
{
    UPMU_SCOPE("form");
    return 1;
}

static void scopes(void)
{
    {
        UPMU_SCOPE("form");
        CHECK(region_of("form", UPMU_ALL_THREADS).open == 1, "the block is not a region");
    }
    for (int i = 0; i < 3; i++) {
        UPMU_SCOPE("form");
        if (i == 0)
            continue;
        if (i == 1)
            break;
        CHECK(false, "break left the scope but not the loop");
    }
    {
        char name[] = "form";
        UPMU_SCOPE_NAMED(name);
    }
    {
        UPMU_SCOPE("form");
        goto out;
    }
out:
    CHECK(leaves_by_return() == 1, "return");
}

static void forms(void)
{
    static upmu_region_t one = UPMU_REGION("form"), other = UPMU_REGION("form");
    char text[] = "form";
    instance("form");
    instance(text);
    CHECK(upmu_region_enter(&one) == 0 && upmu_region_leave(&one) == 0, "handle");
    CHECK(upmu_region_enter(&one) == 0 && upmu_region_leave(&other) == 0, "two handles");
    CHECK(upmu_region_begin(text) == 0 && upmu_region_leave(&other) == 0, "text and handle");
    scopes();
    CHECK(one.id != 0 && one.id == other.id, "%u and %u", one.id, other.id);
    struct test_region s = region_of("form", UPMU_ALL_THREADS);
    CHECK(s.count == 5 + 1 + 2 + 1 + 1 + 1, "%llu instances", (unsigned long long)s.count);
    CHECK(s.open == 0 && s.threads == 1, "%llu open, %u threads", (unsigned long long)s.open, s.threads);
}

/* --------------------------------------------------------------------------------------------------------- nesting */

static void near_to(const char *what, uint64_t a, uint64_t b)
{
    CHECK((a > b ? a - b : b - a) <= 10, "%s: %llu and %llu ns", what, (unsigned long long)a, (unsigned long long)b);
}

static void nesting(void)
{
    for (int i = 0; i < 5; i++) {
        CHECK(upmu_region_begin("outer") == 0, "begin");
        pass(50000);
        CHECK(upmu_region_begin("inner") == 0, "begin");
        pass(100000);
        CHECK(upmu_region_end("inner") == 0, "end");
        instance("sibling");
        CHECK(upmu_region_end("outer") == 0, "end");
    }
    struct test_region outer = region_of("outer", UPMU_ALL_THREADS), inner = region_of("inner", 0);
    struct test_region sibling = region_of("sibling", own_tid());
    near_to("self time", outer.self_ns, outer.wall.sum - inner.wall.sum - sibling.wall.sum);
    CHECK(outer.self_ns >= 5 * 49000 && inner.self_ns >= 5 * 99000, "%llu, %llu", (unsigned long long)outer.self_ns,
          (unsigned long long)inner.self_ns);
}

static void recurse(int depth)
{
    CHECK(upmu_region_begin("recursive") == 0, "begin");
    pass(20000);
    if (depth > 1)
        recurse(depth - 1);
    CHECK(upmu_region_end("recursive") == 0, "end");
}

static void recursion(void)
{
    recurse(6);
    struct test_region s = region_of("recursive", UPMU_ALL_THREADS);
    CHECK(s.count == 6 && s.open == 0, "%llu instances", (unsigned long long)s.count);
    near_to("own time of all levels is the time of the outermost", s.self_ns, s.wall.max);
    CHECK(s.wall.last == s.wall.max, "the outermost ends last");
}

int main(void)
{
    instance("before the regions are on");
    regions_on("page-faults");
    distribution();
    forms();
    nesting();
    recursion();
    struct upmu_region_health h = health_now();
    CHECK(h.end_without_begin == 0 && h.closed_by_outer == 0 && h.never_ended == 0, "misuse where there was none");
    return 0;
}
