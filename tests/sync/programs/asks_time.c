/* SPDX-License-Identifier: MIT */
/* Threads that ask for the time so often that packets of the trace fill while its function has a lock. */
#include <pthread.h>
#include <stddef.h>
#include <time.h>

enum { THREADS = 2, TIMES = 20000 };

static void *ask(void *arg)
{
    struct timespec at;
    for (int i = 0; i < TIMES; i++)
        (void)clock_gettime(CLOCK_REALTIME, &at);
    return arg;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, ask, NULL) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    return 0;
}
