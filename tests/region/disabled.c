/* SPDX-License-Identifier: MIT */
/* Every function and macro of region.h in a program built with UPMU_DISABLE, which links no library. */
#include <stdio.h>
#include <string.h>

#include "upmu/region.h"

static int failures;

static void expect(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "FAILED: %s\n", what);
        failures++;
    }
}

static int measured(int n)
{
    static upmu_region_t handle = UPMU_REGION("handle");
    const char *names[] = {"first", "second"};
    size_t used = 0;
    int failed = upmu_region_begin("work") + upmu_region_enter(&handle);
    for (int i = 0; i < n; i++) {
        UPMU_SCOPE("scope");
        UPMU_SCOPE_NAMED(names[used++ % 2]);
        if (i == 3)
            break;
    }
    expect(used == 4, "UPMU_SCOPE_NAMED evaluates its argument, and break leaves the loop");
    return failed + upmu_mark("mark") + upmu_region_leave(&handle) + upmu_region_end("work");
}

int main(void)
{
    struct upmu_region_opts opts;
    struct upmu_region_stats stats;
    struct upmu_region_health health;
    memset(&opts, 0, sizeof opts);
    memset(&stats, 0, sizeof stats);
    memset(&health, 0, sizeof health);
    opts.size = sizeof opts;
    expect(upmu_region_setup(&opts) == 0, "upmu_region_setup");
    expect(measured(10) == 0, "regions");
    expect(upmu_region_switch(1) == 0 && upmu_region_switch(0) == 0, "upmu_region_switch");
    expect(upmu_region_stats_read("work", UPMU_ALL_THREADS, &stats) == UPMU_E_STATE, "upmu_region_stats_read");
    expect(upmu_region_health_read(&health) == UPMU_E_STATE, "upmu_region_health_read");
    expect(upmu_region_report(-1) == UPMU_E_STATE, "upmu_region_report");
    const char *name;
    expect(upmu_region_name_at(0, &name) == UPMU_E_END && name == NULL && upmu_region_count() == 0, "names");
    expect(upmu_region_event_name_at(0, &name) == UPMU_E_END && upmu_region_event_count() == 0, "names of events");
    struct upmu_region_event_stats event;
    memset(&event, 0, sizeof event);
    expect(upmu_region_event_stats_at("work", UPMU_ALL_THREADS, 0, &event) == UPMU_E_STATE, "statistics of an event");
    expect(upmu_region_stats_read_all("work", UPMU_ALL_THREADS, &stats, &event, 1) == UPMU_E_STATE, "all statistics");
    return failures != 0;
}
