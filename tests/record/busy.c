/* SPDX-License-Identifier: MIT */
/*
 * Two threads that lock and unlock a mutex as fast as possible; not linked with libupmu.
 *
 *   record_busy TIMES
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
    for (long n = *(const long *)arg; n > 0; n--) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t other;
    long times = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    if (times <= 0 || pthread_create(&other, NULL, work, &times) != 0)
        return 1;
    work(&times);
    return pthread_join(other, NULL) == 0 ? 0 : 1;
}
