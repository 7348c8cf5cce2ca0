/* SPDX-License-Identifier: MIT */
/*
 * Sync tracing linked into the program, limited to the waits between begin and end.
 *
 * The trace is "upmu-trace", or the value of UPMU_TRACE. Read it with examples/read_trace or `upmu report`.
 *
 *     cc sync_linked.c $(pkg-config --cflags --libs upmu-sync) -pthread
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <upmu/sync.h>

enum { THREADS = 4, ROUNDS = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        usleep(100); /* what all threads want takes its time, as a write to a disk does */
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[THREADS];

    if (upmu_sync_begin(NULL) < 0) {
        fprintf(stderr, "no sync tracing: %s\n", upmu_error());
        return 1;
    }
    upmu_lock_name(&lock, "disk lock"); /* reports print the name instead of an address */
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (upmu_sync_end() < 0)
        return 1;
    printf("%d threads took the lock %d times each\n", THREADS, ROUNDS);
    return 0;
}
