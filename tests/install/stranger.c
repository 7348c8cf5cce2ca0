/* SPDX-License-Identifier: MIT */
/*
 * Events, a set, the three forms of a region and reading back with the installed library, in the common part of C11 and
 * C++11. Ends with 0 only if every step worked as the headers document.
 */
#include <stdio.h>
#include <string.h>

#include "upmu/region.h"
#include "upmu/upmu.h"

enum { ROUNDS = 10 };

static volatile unsigned sink;

static void work(void)
{
    for (unsigned i = 0; i < 100000; i++)
        sink += i;
}

static int count(void)
{
    struct upmu_set *set;
    struct upmu_value value;
    if (upmu_set_open(&set, "task-clock", NULL) < 0)
        return -1;
    int bad = upmu_set_start(set) < 0;
    work();
    bad = bad || upmu_set_stop(set) < 0 || upmu_set_read(set, &value, 1) < 0;
    /* Where the kernel refuses perf_event_open there is a status, and no number. */
    if (!bad && value.status == UPMU_EXACT)
        bad = value.value == 0 || value.value == UPMU_NO_VALUE;
    else if (!bad)
        bad = value.value != UPMU_NO_VALUE || upmu_set_reason(set, 0)[0] == '\0';
    upmu_set_close(set);
    return bad ? -1 : 0;
}

static void measured(void)
{
    static upmu_region_t handle = UPMU_REGION("by handle");
    for (int i = 0; i < ROUNDS; i++) {
        upmu_region_begin("by name");
        upmu_region_enter(&handle);
        {
            UPMU_SCOPE("by scope");
            work();
        }
        upmu_region_leave(&handle);
        upmu_region_end("by name");
    }
    upmu_mark("done");
}

static int seen(const char *name)
{
    struct upmu_region_stats stats;
    memset(&stats, 0, sizeof stats);
    stats.size = sizeof stats;
    return upmu_region_stats_read(name, UPMU_ALL_THREADS, &stats) == 0 && stats.count == ROUNDS && stats.wall.sum > 0;
}

int main(void)
{
    struct upmu_region_opts opts;
    memset(&opts, 0, sizeof opts);
    opts.size = sizeof opts;
    int rc = upmu_region_setup(&opts);
    if (strcmp(upmu_version(), UPMU_VERSION_STRING) != 0 || count() < 0 || rc < 0) {
        fprintf(stderr, "stranger: %s\n", upmu_error());
        return 1;
    }
    measured();
    if (!seen("by name") || !seen("by handle") || !seen("by scope")) {
        fprintf(stderr, "stranger: a region was not measured %d times\n", ROUNDS);
        return 1;
    }
    printf("libupmu %s works for a stranger\n", upmu_version());
    return 0;
}
