/* SPDX-License-Identifier: MIT */
/*
 * Memory of a recording: of the process, of each thread that uses a lock, of each lock.
 *
 * Resident memory, from the kernel, of the same threads and locks without and with a recording, each in a process of its own.
 * It includes the mapped files, which the kernel can write and drop at any time.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sanitizer.h"
#include "bench.h"
#include "files.h"
#include "upmu/sync.h"

enum { THREADS = 64, LOCKS = 100000, KIB = 1024 };

static const double process_kib = 3072, thread_kib = 400, lock_bytes = 400;
static char dir[PATH_MAX];
static pthread_mutex_t locks[LOCKS];

/* What is resident, in KiB, at each point. */
struct footprint {
    double process, threads, locks;
};
static struct footprint *found; /* shared with the children: without and with a recording */

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static double resident_kib(void)
{
    char line[256];
    double kib = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "Rss:", 4) == 0)
            kib = strtod(line + 4, NULL);
    if (f)
        (void)fclose(f);
    return kib;
}

static pthread_barrier_t ready, measured;

static void *use_lock(void *arg)
{
    pthread_mutex_lock(arg);
    pthread_mutex_unlock(arg);
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&measured);
    return NULL;
}

static double resident_with_threads(void)
{
    pthread_t thread[THREADS];
    if (pthread_barrier_init(&ready, NULL, THREADS + 1) != 0 || pthread_barrier_init(&measured, NULL, THREADS + 1) != 0)
        give_up("pthread_barrier_init");
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, use_lock, &locks[i]) != 0)
            give_up("pthread_create");
    pthread_barrier_wait(&ready);
    double kib = resident_kib();
    pthread_barrier_wait(&measured);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_join(thread[i], NULL) != 0)
            give_up("pthread_join");
    return kib;
}

/* The locks are in memory that both runs have touched before. */
static void take(struct footprint *f, bool recorded)
{
    const struct upmu_sync_opts opts = {.size = sizeof opts, .trace = dir};
    memset(locks, 0, sizeof locks);
    double begin = resident_kib();
    if (recorded && upmu_sync_begin(&opts) < 0)
        give_up(upmu_error());
    pthread_mutex_lock(&locks[0]);
    pthread_mutex_unlock(&locks[0]);
    double one = resident_kib();
    for (size_t i = 0; i < LOCKS; i++) {
        pthread_mutex_lock(&locks[i]);
        pthread_mutex_unlock(&locks[i]);
    }
    double many = resident_kib();
    double threads = resident_with_threads();
    *f = (struct footprint){.process = one - begin, .locks = many - one, .threads = threads - many};
}

static void part_bare(struct bench *b)
{
    (void)b;
    take(&found[0], false);
}

static void part_recorded(struct bench *b)
{
    (void)b;
    take(&found[1], true);
}

int main(int argc, char **argv)
{
    struct bench *b = bench_start("memory", argc, argv);
    found = mmap(NULL, 2 * sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED)
        give_up("mmap");
    if (UNDER_TSAN || resident_kib() == 0) {
        bench_skip(b, "memory", UNDER_TSAN ? "ThreadSanitizer's memory is in it" : "the kernel has no smaps_rollup");
        return bench_end(b);
    }
    bench_folder_make(dir);
    bench_part(b, "memory without a recording", part_bare);
    bench_part(b, "memory of a recording", part_recorded);
    const struct footprint *bare = &found[0], *ours = &found[1];
    bench_count(b, "KiB of a recording with one thread", ours->process - bare->process, process_kib);
    bench_count(b, "KiB of a further thread", (ours->threads - bare->threads) / THREADS, thread_kib);
    bench_count(b, "bytes of a lock that a thread uses", (ours->locks - bare->locks) * KIB / LOCKS, lock_bytes);
    bench_folder_remove(dir);
    return bench_end(b);
}
