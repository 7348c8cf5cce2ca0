/* SPDX-License-Identifier: MIT */
/* Threads that live at the same time while locks are recorded: each of them touches few pages for the recorder. */
#include "support/behavior.h"
#include "upmu/sync.h"

enum { THREADS = 100, PAGES_MAX = 8 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;

static void *lock_once(void *arg)
{
    long *faults = arg;
    struct rusage usage;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0, "getrusage");
    *faults = usage.ru_minflt;
    pthread_barrier_wait(&all);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const long *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Page faults of a thread until it has locked: their median. */
static long faults_of_threads(void)
{
    pthread_t threads[THREADS];
    long faults[THREADS];
    CHECK(pthread_barrier_init(&all, NULL, THREADS + 1) == 0, "pthread_barrier_init");
    for (int i = 0; i < THREADS; i++)
        threads[i] = start_thread(lock_once, &faults[i]);
    pthread_barrier_wait(&all);
    for (int i = 0; i < THREADS; i++)
        join_thread(threads[i]);
    pthread_barrier_destroy(&all);
    qsort(faults, THREADS, sizeof *faults, compare);
    return faults[THREADS / 2];
}

int main(void)
{
    char dir[] = "/tmp/upmu-threads-at-once.XXXXXX", command[sizeof dir + 16];
    if (SANITIZED)
        skip("a sanitizer has memory of its own for threads");
    if (sysconf(_SC_PAGESIZE) != 4096)
        skip("pages are larger than 4 KiB");
    CHECK(mkdtemp(dir) != NULL, "mkdtemp");
    const struct upmu_sync_opts opts = UPMU_INIT(struct upmu_sync_opts, .trace = dir);
    long bare = faults_of_threads();
    CHECK(upmu_sync_begin(&opts) == 0, "%s", upmu_error());
    long recorded = faults_of_threads();
    CHECK(upmu_sync_end() == 0, "%s", upmu_error());
    printf("%ld page faults of a recorded thread, %ld of others\n", recorded, bare);
    CHECK(recorded <= bare + PAGES_MAX, "more than %d pages for the recorder", PAGES_MAX);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) != 0;
}
