/* SPDX-License-Identifier: MIT */
/*
 * The three forms of a region, nested, in several threads.
 *
 *     UPMU_EVENTS=task-clock,page-faults UPMU_REPORT=text ./regions
 *
 * Without a UPMU_ variable it prints its own line and nothing else.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "upmu/region.h"

enum { THREADS = 4, ROUNDS = 200, ITEMS = 4096 };

static int compare(const void *a, const void *b)
{
    const unsigned *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void fill(unsigned *items, unsigned seed)
{
    /* Scope form: the region lasts to the end of the block. */
    UPMU_SCOPE("fill");
    for (size_t i = 0; i < ITEMS; i++) {
        seed = seed * 1664525u + 1013904223u;
        items[i] = seed;
    }
}

static unsigned median(unsigned *items)
{
    /* Handle form, for places that run often: the name is looked up once. */
    static upmu_region_t sorting = UPMU_REGION("sort");
    upmu_region_enter(&sorting);
    qsort(items, ITEMS, sizeof *items, compare);
    upmu_region_leave(&sorting);
    return items[ITEMS / 2];
}

static void *work(void *arg)
{
    unsigned *sum = arg;
    unsigned *items = malloc(ITEMS * sizeof *items);
    if (!items)
        return NULL;
    /* String form: nothing to define. "fill" and "sort" nest inside, so "work" shows their time apart from its own. */
    upmu_region_begin("work");
    for (unsigned round = 0; round < ROUNDS; round++) {
        fill(items, round);
        *sum += median(items);
    }
    upmu_region_end("work");
    free(items);
    return sum;
}

int main(void)
{
    pthread_t threads[THREADS];
    unsigned sums[THREADS] = {0};
    upmu_mark("threads start");
    for (size_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, &sums[i]) != 0) {
            fprintf(stderr, "cannot create a thread\n");
            return 1;
        }
    }
    int failed = 0;
    for (size_t i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        failed |= result == NULL || sums[i] != sums[0];
    }
    upmu_mark("threads joined");
    if (failed) {
        fprintf(stderr, "the threads disagree\n");
        return 1;
    }
    printf("%d threads agree on %u\n", THREADS, sums[0]);
    return 0;
}
