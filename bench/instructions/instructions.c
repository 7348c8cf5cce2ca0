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

enum { AFTER = -2 };

static const struct path {
    const char *name;
    int mode; /* enum upmu_sync_mode; -1: nothing is recorded; AFTER: a recording has ended */
    enum { MUTEX, READER, WRITER, SPIN, REGION } what;
} paths[] = {
    {"mutex pair, not recorded", -1, MUTEX},
    {"mutex pair, after a recording", AFTER, MUTEX},
    {"spin lock pair, after a recording", AFTER, SPIN},
    {"mutex pair, counts", UPMU_SYNC_COUNTS, MUTEX},
    {"mutex pair, contended", UPMU_SYNC_CONTENDED, MUTEX},
    {"mutex pair, holders", UPMU_SYNC_HOLDERS, MUTEX},
    {"mutex pair, all", UPMU_SYNC_ALL, MUTEX},
    {"rwlock reader pair, holders", UPMU_SYNC_HOLDERS, READER},
    {"rwlock writer pair after a reader, holders", UPMU_SYNC_HOLDERS, WRITER},
    {"region, times", -1, REGION},
};

enum { PATHS = sizeof paths / sizeof *paths };

static void repeat(const struct path *p, long n)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_spinlock_t spin;
    (void)pthread_spin_init(&spin, 0); /* does not fail */
    if (p->what == WRITER) {
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
    for (long i = 0; i < n; i++) {
        switch (p->what) {
        case MUTEX:
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
            break;
        case READER:
            pthread_rwlock_rdlock(&rwlock);
            pthread_rwlock_unlock(&rwlock);
            break;
        case WRITER:
            pthread_rwlock_wrlock(&rwlock);
            pthread_rwlock_unlock(&rwlock);
            break;
        case SPIN:
            pthread_spin_lock(&spin);
            pthread_spin_unlock(&spin);
            break;
        case REGION:
            upmu_region_begin("work");
            upmu_region_end("work");
            break;
        }
    }
}

static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

static int begin(const struct path *p, const char *dir)
{
    struct upmu_sync_opts sync = {.size = sizeof sync, .mode = p->mode > 0 ? (uint32_t)p->mode : 0, .trace = dir};
    struct upmu_region_opts region = {.size = sizeof region};
    if (p->what == REGION)
        return upmu_region_setup(&region);
    if (p->mode == -1 || upmu_sync_begin(&sync) != 0)
        return p->mode == -1 ? 0 : -1;
    if (p->mode != AFTER)
        return 0;
    pthread_mutex_lock(&own);
    pthread_mutex_unlock(&own);
    return upmu_sync_end();
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
