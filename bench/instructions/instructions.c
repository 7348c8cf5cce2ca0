/* SPDX-License-Identifier: MIT */
/*
 * A hot path, some times, for instructions.sh: it runs under callgrind, twice with different numbers of repetitions.
 *
 *     bench_instructions_subject PATH REPETITIONS DIR     DIR: an empty directory for the recording
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "upmu/region.h"
#include "upmu/sync.h"

static const struct path {
    const char *name;
    int mode; /* enum upmu_sync_mode; -1: nothing is recorded */
    int reader, region;
} paths[] = {
    {"mutex pair, not recorded", -1, 0, 0},
    {"mutex pair, counts", UPMU_SYNC_COUNTS, 0, 0},
    {"mutex pair, contended", UPMU_SYNC_CONTENDED, 0, 0},
    {"mutex pair, holders", UPMU_SYNC_HOLDERS, 0, 0},
    {"mutex pair, all", UPMU_SYNC_ALL, 0, 0},
    {"rwlock reader pair, holders", UPMU_SYNC_HOLDERS, 1, 0},
    {"region, times", -1, 0, 1},
};

enum { PATHS = sizeof paths / sizeof *paths };

static void repeat(const struct path *p, long n)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    for (long i = 0; i < n; i++) {
        if (p->region) {
            upmu_region_begin("work");
            upmu_region_end("work");
        } else if (p->reader) {
            pthread_rwlock_rdlock(&rwlock);
            pthread_rwlock_unlock(&rwlock);
        } else {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
        }
    }
}

static int begin(const struct path *p, const char *dir)
{
    struct upmu_sync_opts sync = {.size = sizeof sync, .mode = (uint32_t)p->mode, .trace = dir};
    struct upmu_region_opts region = {.size = sizeof region};
    if (p->region)
        return upmu_region_setup(&region);
    return p->mode < 0 ? 0 : upmu_sync_begin(&sync);
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        for (int i = 0; i < PATHS; i++)
            puts(paths[i].name);
        return 0;
    }
    for (int i = 0; argc == 4 && i < PATHS; i++) {
        if (strcmp(paths[i].name, argv[1]) != 0)
            continue;
        if (begin(&paths[i], argv[3]) != 0) {
            fprintf(stderr, "%s\n", upmu_error());
            return 1;
        }
        repeat(&paths[i], strtol(argv[2], NULL, 10));
        return 0;
    }
    return 2;
}
