/* SPDX-License-Identifier: MIT */
/* Threads without regions, one after the other, while locks are recorded: each uses the memory of the one before. */
#include "support/behavior.h"
#include "upmu/sync.h"

enum { THREADS = 200, WARM = 5 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *lock_once(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void run(int n)
{
    for (int i = 0; i < n; i++)
        join_thread(start_thread(lock_once, NULL));
}

int main(void)
{
    char dir[] = "/tmp/upmu-short-threads.XXXXXX", command[sizeof dir + 16];
    if (SANITIZED_THREAD)
        skip("ThreadSanitizer maps memory of its own for threads");
    CHECK(mkdtemp(dir) != NULL, "mkdtemp");
    const struct upmu_sync_opts opts = UPMU_INIT(struct upmu_sync_opts, .trace = dir);
    CHECK(upmu_sync_begin(&opts) == 0, "%s", upmu_error());
    run(WARM);
    size_t before = mappings();
    run(THREADS);
    CHECK(mappings() <= before + 8, "%zu mappings, %zu before", mappings(), before);
    CHECK(upmu_sync_end() == 0, "%s", upmu_error());
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) != 0;
}
