/* SPDX-License-Identifier: MIT */
/** @file The statistics of a region and of its events, read at once. */
#ifndef UPMU_TESTS_REGION_STATS_H
#define UPMU_TESTS_REGION_STATS_H

#include "upmu/region.h"

struct test_region {
    uint64_t count, open;
    struct upmu_stat wall;
    uint64_t self_ns, descheduled, deschedule_unknown;
    uint32_t threads, n_events;
    struct upmu_region_event_stats events[UPMU_REGION_EVENTS_MAX];
};

/** @return as upmu_region_stats_read(). */
static inline int test_region_read(const char *name, pid_t thread, struct test_region *out)
{
    struct upmu_region_stats s = {.size = sizeof s};
    struct upmu_region_event_stats events[UPMU_REGION_EVENTS_MAX] = {{.size = sizeof events[0]}};
    int rc = upmu_region_stats_read_all(name, thread, &s, events, UPMU_REGION_EVENTS_MAX);
    *out = (struct test_region){
        .count = s.count,
        .open = s.open,
        .wall = s.wall,
        .self_ns = s.self_ns,
        .descheduled = s.descheduled,
        .deschedule_unknown = s.deschedule_unknown,
        .threads = s.threads,
        .n_events = s.n_events,
    };
    for (int i = 0; i < rc; i++)
        out->events[i] = events[i];
    return rc < 0 ? rc : 0;
}

/** Name of event `i`, "(none)" past the last. */
static inline const char *test_region_event(size_t i)
{
    const char *name;
    return upmu_region_event_name_at(i, &name) == 0 ? name : "(none)";
}

#endif
