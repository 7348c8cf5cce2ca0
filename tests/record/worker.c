/* SPDX-License-Identifier: MIT */
/*
 * Two threads that alternate on a contended mutex; not linked with libupmu.
 *
 *   record_worker FILE|ROUNDS
 *
 * Rounds of a millisecond until FILE exists, or ROUNDS of them.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static bool over(const char *end, long round)
{
    char *rest;
    long rounds = strtol(end, &rest, 10);
    return *rest ? access(end, F_OK) == 0 : round >= rounds;
}

static void *work(void *end)
{
    const struct timespec millisecond = {.tv_nsec = 1000000};
    for (long i = 0; !over(end, i); i++) {
        pthread_mutex_lock(&mutex);
        nanosleep(&millisecond, NULL);
        pthread_mutex_unlock(&mutex);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t other;
    if (argc != 2 || pthread_create(&other, NULL, work, argv[1]) != 0)
        return 1;
    puts("ready");
    fflush(stdout);
    work(argv[1]);
    return pthread_join(other, NULL) == 0 ? 0 : 1;
}
