/* SPDX-License-Identifier: MIT */
/* Programs written for PAPI and LIKWID: the calls have the results they have there. */
#define LIKWID_PERFMON
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "upmu/compat/likwid-marker.h"
#include "upmu/compat/papi_hl.h"

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, upmu_error()); \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

extern int compat_other_file(void);

static void papi_regions(void)
{
    setenv("PAPI_EVENTS", "task-clock,page-faults", 1);
    for (int i = 0; i < 3; i++) {
        CHECK(PAPI_hl_region_begin("papi") == PAPI_OK);
        CHECK(compat_other_file() == PAPI_OK);
        CHECK(PAPI_hl_region_end("papi") == PAPI_OK);
    }
    CHECK(PAPI_hl_region_end("papi") != PAPI_OK);
    struct upmu_region_stats stats = UPMU_INIT(struct upmu_region_stats);
    CHECK(upmu_region_stats_read("papi", UPMU_ALL_THREADS, &stats) == 0 && stats.count == 3 && stats.n_events == 2);
    CHECK(upmu_region_stats_read("other", UPMU_ALL_THREADS, &stats) == 0 && stats.count == 3);
}

static void likwid_markers(void)
{
    int n = 2, count = -1;
    double events[2] = {-2, -2}, seconds = -1;
    LIKWID_MARKER_INIT;
    LIKWID_MARKER_THREADINIT;
    LIKWID_MARKER_REGISTER("likwid");
    for (int i = 0; i < 4; i++) {
        LIKWID_MARKER_START("likwid");
        LIKWID_MARKER_STOP("likwid");
    }
    LIKWID_MARKER_GET("likwid", &n, events, &seconds, &count);
    CHECK(n == 2 && count == 4 && seconds > 0 && events[0] > 0 && events[1] >= 0);
    LIKWID_MARKER_GET("no such region", &n, events, &seconds, &count);
    CHECK(n == 0 && count == 0);
    LIKWID_MARKER_CLOSE;
}

/* Hardware counters are there, or the call fails with PAPI's code for that. */
static void papi_counters(void)
{
    int events[] = {PAPI_TOT_INS, PAPI_TOT_CYC}, wrong[] = {12345};
    long long values[2] = {-5, -5}, sums[2] = {0, 0};
    CHECK(PAPI_read_counters(values, 2) == PAPI_ENOTRUN);
    CHECK(PAPI_start_counters(wrong, 1) == PAPI_EINVAL);
    int rc = PAPI_start_counters(events, 2);
    CHECK(rc == PAPI_OK || rc == PAPI_ENOEVNT || rc == PAPI_EPERM);
    if (rc != PAPI_OK) {
        CHECK(PAPI_stop_counters(values, 2) == PAPI_ENOTRUN && values[0] == -5 && strlen(PAPI_strerror(rc)) > 10);
        return;
    }
    CHECK(PAPI_start_counters(events, 2) == PAPI_EISRUN);
    CHECK(PAPI_accum_counters(sums, 2) == PAPI_OK && PAPI_read_counters(values, 2) == PAPI_OK);
    CHECK(sums[0] > 0 && values[0] > 0);
    CHECK(PAPI_stop_counters(values, 2) == PAPI_OK && PAPI_stop_counters(values, 2) == PAPI_ENOTRUN);
}

int main(void)
{
    papi_regions();
    likwid_markers();
    papi_counters();
    CHECK(PAPI_hl_stop() == PAPI_OK && PAPI_hl_region_begin("stopped") == PAPI_OK);
    puts("fine");
    return 0;
}
