/* SPDX-License-Identifier: MIT */
/*
 * Many events of all kinds: nested regions and a few locks, one of them contended.
 *
 *   crowd THREADS EVENTS     about EVENTS events of regions, and what the locks add
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "upmu/region.h"
#include "upmu/sync.h"

enum { LOCKS = 6, ITEMS = 12, THREADS_MAX = 512 };

struct crowd {
    pthread_mutex_t locks[LOCKS];
    long batches; /* of each thread */
};

struct worker {
    struct crowd *crowd;
    unsigned number;
};

/* Some work that no compiler leaves out. */
static void work(unsigned iterations)
{
    for (volatile unsigned i = 0; i < iterations; i++)
        ;
}

static void pass(struct crowd *c, unsigned lock, unsigned iterations)
{
    pthread_mutex_lock(&c->locks[lock]);
    work(iterations);
    if (iterations > 400)
        sched_yield(); /* others come to wait, on one processor too */
    pthread_mutex_unlock(&c->locks[lock]);
}

static void *run(void *arg)
{
    const struct worker *w = arg;
    static upmu_region_t batch = UPMU_REGION("batch"), item = UPMU_REGION("item"), rest = UPMU_REGION("tidy up");
    unsigned seed = w->number * 2654435761u + 1;
    for (long i = 0; i < w->crowd->batches; i++) {
        upmu_region_enter(&batch);
        for (int k = 0; k < ITEMS; k++) {
            upmu_region_enter(&item);
            seed = seed * 1664525u + 1013904223u;
            work(seed >> 26);
            if (k % 4 == 0)
                pass(w->crowd, seed >> 24 & 3 ? (seed >> 20) % LOCKS : 0, seed % 64 == 0 ? 500 : 20);
            upmu_region_leave(&item);
        }
        upmu_region_enter(&rest);
        work(200);
        upmu_region_leave(&rest);
        upmu_region_leave(&batch);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct crowd crowd;
    static struct worker workers[THREADS_MAX];
    static pthread_t threads[THREADS_MAX];
    static const char *const names[LOCKS] = {"queue", "cache", "log", "index", "pool", "statistics"};
    long n = argc == 3 ? strtol(argv[1], NULL, 10) : 0, events = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    if (n < 1 || n > THREADS_MAX || events < 1) {
        fprintf(stderr, "crowd THREADS EVENTS\n");
        return 2;
    }
    crowd.batches = events / n / (2 * (ITEMS + 2)) + 1;
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_init(&crowd.locks[i], NULL);
        upmu_lock_name(&crowd.locks[i], names[i]);
    }
    for (long i = 0; i < n; i++) {
        char name[16];
        workers[i] = (struct worker){.crowd = &crowd, .number = (unsigned)i};
        if (pthread_create(&threads[i], NULL, run, &workers[i]) != 0)
            return 1;
        snprintf(name, sizeof name, "worker %02ld", i % 1000);
        pthread_setname_np(threads[i], name);
    }
    for (long i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
