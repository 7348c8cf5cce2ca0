/* SPDX-License-Identifier: MIT */
/*
 * What reading four software events before and after a piece of code costs, by the kernel's interface, ours and PAPI's.
 *
 *   peers_counters floor|upmu|papi|papi_hl TIMES
 *
 * Prints the CPU nanoseconds of one pair; ends with status 1 and the reason if they cannot be counted. `floor` is two reads of
 * a group of the same events.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "floor.h"
#include "upmu/region.h"
#ifdef PEERS_HAVE_PAPI
#include <papi.h>
#endif

enum { NS_PER_S = 1000000000, N_EVENTS = 4 };

static int unable(const char *what, int rc)
{
    (void)fprintf(stderr, "peers_counters: %s returned %d\n", what, rc);
    return 1;
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * NS_PER_S + (double)t.tv_nsec;
}

static void print(double begin, long times)
{
    printf("%.2f\n", (cpu_ns() - begin) / (double)times);
    (void)fflush(stdout);
}

static int by_floor(long times)
{
    struct floor_group group;
    int rc = floor_group_open(&group);
    if (rc != 0)
        return unable("perf_event_open()", rc);
    double begin = cpu_ns();
    floor_group_pairs(&group, (size_t)times);
    print(begin, times);
    floor_group_close(&group);
    return 0;
}

static int by_upmu(long times)
{
    static upmu_region_t pair = UPMU_REGION("pair");
    const struct upmu_region_opts opts = {.size = sizeof opts,
                                          .events = "task-clock,page-faults,context-switches,cpu-migrations"};
    int rc = upmu_region_setup(&opts);
    if (rc != 0)
        return unable(upmu_error(), rc);
    upmu_region_enter(&pair);
    upmu_region_leave(&pair);
    double begin = cpu_ns();
    for (long i = 0; i < times; i++) {
        upmu_region_enter(&pair);
        upmu_region_leave(&pair);
    }
    print(begin, times);
    return 0;
}

#ifdef PEERS_HAVE_PAPI
static int by_papi(long times)
{
    static const char *const names[N_EVENTS] = {"perf::TASK-CLOCK", "perf::PAGE-FAULTS", "perf::CONTEXT-SWITCHES",
                                                "perf::CPU-MIGRATIONS"};
    long long before[N_EVENTS], after[N_EVENTS];
    int set = PAPI_NULL, rc = PAPI_library_init(PAPI_VER_CURRENT);
    if (rc != PAPI_VER_CURRENT || (rc = PAPI_create_eventset(&set)) != PAPI_OK)
        return unable("PAPI_library_init()", rc);
    for (int i = 0; i < N_EVENTS; i++)
        if ((rc = PAPI_add_named_event(set, names[i])) != PAPI_OK)
            return unable("PAPI_add_named_event()", rc);
    if ((rc = PAPI_start(set)) != PAPI_OK)
        return unable("PAPI_start()", rc);
    double begin = cpu_ns();
    for (long i = 0; i < times && rc == PAPI_OK; i++)
        if ((rc = PAPI_read(set, before)) == PAPI_OK)
            rc = PAPI_read(set, after);
    if (rc != PAPI_OK)
        return unable("PAPI_read()", rc);
    print(begin, times);
    return 0;
}

/* It keeps one record of each pair, and would write them at exit. */
static int by_papi_hl(long times)
{
    (void)setenv("PAPI_EVENTS", "perf::TASK-CLOCK,perf::PAGE-FAULTS,perf::CONTEXT-SWITCHES,perf::CPU-MIGRATIONS", 1);
    int rc = PAPI_hl_region_begin("pair");
    if (rc != PAPI_OK || (rc = PAPI_hl_region_end("pair")) != PAPI_OK)
        return unable("PAPI_hl_region_begin()", rc);
    double begin = cpu_ns();
    for (long i = 0; i < times && rc == PAPI_OK; i++)
        if ((rc = PAPI_hl_region_begin("pair")) == PAPI_OK)
            rc = PAPI_hl_region_end("pair");
    if (rc != PAPI_OK)
        return unable("PAPI_hl_region_begin()", rc);
    print(begin, times);
    _exit(0);
}
#endif

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(long);
    } ways[] = {{"floor", by_floor},
                {"upmu", by_upmu},
#ifdef PEERS_HAVE_PAPI
                {"papi", by_papi},
                {"papi_hl", by_papi_hl}
#endif
    };
    long times = argc == 3 ? atol(argv[2]) : 0;
    for (size_t i = 0; times > 0 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, argv[1]) == 0)
            return ways[i].run(times);
    (void)fprintf(stderr, "usage: peers_counters floor|upmu|papi|papi_hl TIMES (papi: if built with it)\n");
    return 2;
}
