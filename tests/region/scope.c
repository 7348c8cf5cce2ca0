/* SPDX-License-Identifier: MIT */
/* UPMU_SCOPE changes no control flow and ends on every way out. In the common part of C11 and C++11; scope.sh compiles it in
 * every way. */
#include <stdio.h>
#include <string.h>

#include "upmu/region.h"

#define FLOW(name) plain_##name
#define SCOPE(name) (void)0
#define SCOPE_NAMED(name) (void)(name)
#include "scope_flow.h"
#undef FLOW
#undef SCOPE
#undef SCOPE_NAMED
#define FLOW(name) scoped_##name
#define SCOPE(name) UPMU_SCOPE(name)
#define SCOPE_NAMED(name) UPMU_SCOPE_NAMED(name)
#include "scope_flow.h"

static int failures;

static void compare(const char *what, int (*plain)(int), int (*scoped)(int))
{
    for (int n = 0; n < 10; n++) {
        int expected = plain(n), found = scoped(n);
        if (expected != found) {
            fprintf(stderr, "FAILED: %s(%d) is %d with a scope and %d without\n", what, n, found, expected);
            failures++;
        }
    }
}

#define COMPARE(name) compare(#name, plain_##name, scoped_##name)

/* Every scope that began has ended, in order. */
static void balanced(void)
{
#ifndef UPMU_DISABLE
    struct upmu_region_health health;
    memset(&health, 0, sizeof health);
    health.size = sizeof health;
    if (upmu_region_health_read(&health) < 0 || health.end_without_begin || health.closed_by_outer) {
        fprintf(stderr, "FAILED: %llu ends without begin, %llu closed by an outer one\n",
                (unsigned long long)health.end_without_begin, (unsigned long long)health.closed_by_outer);
        failures++;
    }
    const char *name;
    for (size_t i = 0; upmu_region_name_at(i, &name) == 0; i++) {
        struct upmu_region_stats stats;
        memset(&stats, 0, sizeof stats);
        stats.size = sizeof stats;
        if (upmu_region_stats_read(name, UPMU_ALL_THREADS, &stats) < 0 || stats.open || !stats.count) {
            fprintf(stderr, "FAILED: region \"%s\": %llu open, %llu ended\n", name, (unsigned long long)stats.open,
                    (unsigned long long)stats.count);
            failures++;
        }
    }
#endif
}

#if defined(__GNUC__) && !defined(__clang__) && !defined(__cplusplus)
/* gcc accepts this in C; the scope that was jumped over neither begins nor ends, also where an earlier one was. */
static int jumped(int over)
{
    if (over)
        goto behind;
    UPMU_SCOPE("jumped over");
    UPMU_SCOPE_NAMED("named, jumped over");
behind:
    return over;
}

static void jumps(void)
{
    for (int i = 0; i < 10; i++) {
        if (jumped(i % 2) != i % 2)
            failures++;
    }
}
#else
static void jumps(void)
{
}
#endif

static void run(void)
{
    COMPARE(break_);
    COMPARE(continue_);
    COMPARE(nested_loops);
    COMPARE(while_);
    COMPARE(return_);
    COMPARE(goto_);
    COMPARE(goto_back);
    COMPARE(switch_);
    COMPARE(else_);
    COMPARE(recursive);
    COMPARE(named);
#ifdef __cplusplus
    COMPARE(exception);
    COMPARE(lambda);
#endif
    jumps();
}

int main(void)
{
    struct upmu_region_opts opts;
    memset(&opts, 0, sizeof opts);
    opts.size = sizeof opts;
    run(); /* while off */
    if (upmu_region_setup(&opts) < 0)
        failures++;
    run();
    balanced();
    return failures != 0;
}
