/* SPDX-License-Identifier: MIT */
/* Events disabled by prctl(PR_TASK_PERF_EVENTS_DISABLE): no number, and never an exact 0. */
#include "support/behavior.h"

#include <sys/prctl.h>

enum { PAGES = 100 };

static void touch_in(const char *name)
{
    unsigned char *p = fresh_pages(PAGES);
    CHECK(upmu_region_begin(name) == 0, "begin");
    touch_pages(p, PAGES, (size_t)sysconf(_SC_PAGESIZE));
    pass(5000000);
    CHECK(upmu_region_end(name) == 0, "end");
    free_pages(p, PAGES);
}

int main(void)
{
    if (rights_here() == RIGHTS_NONE)
        skip("perf events are denied: there is nothing to stop");
    regions_on("page-faults");
    instance("warm");
    CHECK(prctl(PR_TASK_PERF_EVENTS_DISABLE) == 0, "prctl");
    touch_in("stopped");
    CHECK(prctl(PR_TASK_PERF_EVENTS_ENABLE) == 0, "prctl");
    touch_in("going");
    struct upmu_region_event_stats stopped = region_of("stopped", UPMU_ALL_THREADS).events[0];
    struct upmu_region_event_stats going = region_of("going", UPMU_ALL_THREADS).events[0];
    CHECK(stopped.stat.count == 0 && stopped.without_value == 1 && stopped.status == UPMU_NOT_COUNTED, "%llu, %s",
          (unsigned long long)stopped.stat.sum, upmu_status_name(stopped.status));
    CHECK(going.stat.sum >= PAGES && going.status == UPMU_EXACT, "%llu, %s", (unsigned long long)going.stat.sum,
          upmu_status_name(going.status));
    return 0;
}
