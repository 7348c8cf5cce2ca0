/* SPDX-License-Identifier: MIT */
/* Loops of region pairs, and the check of their statistics. */
#include "subject.h"

#include <stdio.h>
#include <unistd.h>

#include "upmu/region.h"

/* Results are checked by subject_check(): each pair must be an instance. */
void subject_handle_pairs(void *arg, size_t n)
{
    static upmu_region_t region = UPMU_REGION(SUBJECT_HANDLE_REGION);
    (void)arg;
    for (size_t i = 0; i < n; i++) {
        upmu_region_enter(&region);
        bench_barrier();
        upmu_region_leave(&region);
    }
}

void subject_string_pairs(void *arg, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++) {
        upmu_region_begin(SUBJECT_STRING_REGION);
        bench_barrier();
        upmu_region_end(SUBJECT_STRING_REGION);
    }
}

void subject_set_up(const char *events)
{
    const struct upmu_region_opts opts = {.size = sizeof opts, .events = events};
    if (upmu_region_setup(&opts) < 0) {
        fprintf(stderr, "bench: %s\n", upmu_error());
        _exit(2);
    }
}

void subject_check(struct bench_row *row, const char *region, size_t events)
{
    struct upmu_region_stats stats = {.size = sizeof stats};
    if (upmu_region_stats_read(region, UPMU_ALL_THREADS, &stats) < 0) {
        bench_fail(row, "%s", upmu_error());
        return;
    }
    if (stats.count == 0 || stats.open != 0 || stats.wall.count != stats.count)
        bench_fail(row, "of %llu instances %llu have a time, %llu are open", (unsigned long long)stats.count,
                   (unsigned long long)stats.wall.count, (unsigned long long)stats.open);
    if (stats.n_events != events)
        bench_fail(row, "%u events were measured, not %zu", stats.n_events, events);
    for (size_t i = 0; i < stats.n_events && !row->failed[0]; i++) {
        struct upmu_region_event_stats e = {.size = sizeof e};
        const char *event = "";
        if (upmu_region_event_stats_at(region, UPMU_ALL_THREADS, i, &e) != 0 ||
            upmu_region_event_name_at(i, &event) != 0)
            bench_fail(row, "event %zu cannot be read: %s", i, upmu_error());
        else if (e.stat.count != stats.count || e.status != UPMU_EXACT)
            bench_fail(row, "%s has %llu values for %llu instances and is %s", event, (unsigned long long)e.stat.count,
                       (unsigned long long)stats.count, upmu_status_name(e.status));
    }
}
