/* SPDX-License-Identifier: MIT */
/*
 * A program that reads its own regions while it runs, without environment variables.
 *
 * upmu_region_setup() enables the regions, upmu_region_stats_read() reads them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "upmu/region.h"

enum { ROUNDS = 50, STEP = 4096 };

/* A fault per page of fresh memory. Volatile, or the compiler would remove the accesses. */
static int touch(size_t bytes)
{
    volatile char *memory = malloc(bytes);
    if (!memory)
        return -1;
    for (size_t i = 0; i < bytes; i += STEP)
        memory[i] = 1;
    free((void *)memory);
    return 0;
}

static double deviation(const struct upmu_stat *s)
{
    double n = (double)s->count;
    double mean = (double)s->sum / n;
    double variance = s->sum_squares / n - mean * mean;
    return variance > 0 ? sqrt(variance) : 0;
}

static void print_event(const char *name, const struct upmu_region_event_stats *e)
{
    if (e->stat.count == 0) {
        printf("  %-18s %s (%s)\n", name, upmu_status_name(e->status), upmu_strerror(e->cause));
        return;
    }
    printf("  %-18s sum %" PRIu64 ", min %" PRIu64 ", max %" PRIu64 ", deviation %.1f, %s\n", name, e->stat.sum,
           e->stat.min, e->stat.max, deviation(&e->stat), upmu_status_name(e->status));
}

static int print_region(const char *name)
{
    struct upmu_region_stats stats = {.size = sizeof stats};
    if (upmu_region_stats_read(name, UPMU_ALL_THREADS, &stats) < 0) {
        fprintf(stderr, "readback: %s\n", upmu_error());
        return 1;
    }
    printf("%s: %" PRIu64 " times, %.3f ms in all, the CPU was lost in %" PRIu64 " of them\n", name, stats.count,
           (double)stats.wall.sum / 1e6, stats.descheduled);
    for (size_t i = 0; i < stats.n_events; i++) {
        struct upmu_region_event_stats event = UPMU_INIT(struct upmu_region_event_stats);
        const char *event_name;
        if (upmu_region_event_name_at(i, &event_name) == 0 &&
            upmu_region_event_stats_at(name, UPMU_ALL_THREADS, i, &event) == 0)
            print_event(event_name, &event);
    }
    return stats.count == ROUNDS ? 0 : 1;
}

int main(void)
{
    struct upmu_region_opts opts = {.size = sizeof opts, .events = "page-faults,task-clock,instructions"};
    /* 1: the environment has switched regions on already, which takes precedence. */
    int rc = upmu_region_setup(&opts);
    if (rc < 0) {
        fprintf(stderr, "readback: %s\n", upmu_error());
        return 1;
    }
    static upmu_region_t region = UPMU_REGION("touch");
    for (size_t i = 1; i <= ROUNDS; i++) {
        upmu_region_enter(&region);
        int touched = touch(i << 16);
        upmu_region_leave(&region);
        if (touched < 0) {
            fprintf(stderr, "readback: out of memory\n");
            return 1;
        }
    }
    return print_region("touch");
}
