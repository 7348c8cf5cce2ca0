/* SPDX-License-Identifier: MIT */
/* Prints how many regions were open at the end of their thread: two of a thread that has ended. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "upmu/region.h"

static void *leave_open(void *arg)
{
    upmu_region_begin("left open");
    upmu_region_begin("left inside");
    upmu_region_begin("ended");
    upmu_region_end("ended");
    return arg;
}

int main(void)
{
    pthread_t thread;
    struct upmu_region_health h = {.size = sizeof h};
    upmu_region_begin("of main");
    if (pthread_create(&thread, NULL, leave_open, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    if (upmu_region_health_read(&h) != 0)
        return 1;
    printf("never ended %" PRIu64 ", closed %" PRIu64 "\n", h.never_ended, h.closed_by_outer);
    return 0;
}
