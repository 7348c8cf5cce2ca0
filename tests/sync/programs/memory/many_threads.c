/* SPDX-License-Identifier: MIT */
/* Threads that lock a mutex once: many_threads AT_ONCE TOTAL. AT_ONCE of them exist at a time, and TOTAL in all. Prints
 * "locked N", or "no more than N threads" where the system allows fewer. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_there;
static unsigned long locked;

static void *work(void *arg)
{
    if (pthread_mutex_lock(&mutex) != 0)
        abort();
    locked++;
    if (pthread_mutex_unlock(&mutex) != 0)
        abort();
    if (arg)
        pthread_barrier_wait(&all_there);
    return NULL;
}

int main(int argc, char **argv)
{
    long at_once = argc == 3 ? atol(argv[1]) : 0, total = argc == 3 ? atol(argv[2]) : 0;
    pthread_t *threads = calloc(at_once > 0 ? (size_t)at_once : 1, sizeof *threads);
    pthread_attr_t attr;
    if (at_once < 1 || total % at_once != 0 || !threads || pthread_attr_init(&attr) != 0 ||
        pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN + 65536) != 0)
        return 2;
    for (long done = 0; done < total; done += at_once) {
        if (pthread_barrier_init(&all_there, NULL, (unsigned)at_once) != 0)
            return 2;
        for (long i = 0; i < at_once; i++)
            if (pthread_create(&threads[i], &attr, work, at_once > 1 ? threads : NULL) != 0) {
                printf("no more than %ld threads\n", i);
                exit(3);
            }
        for (long i = 0; i < at_once; i++)
            if (pthread_join(threads[i], NULL) != 0)
                return 2;
        pthread_barrier_destroy(&all_there);
    }
    printf("locked %lu\n", locked);
    return 0;
}
