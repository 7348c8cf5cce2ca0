/* SPDX-License-Identifier: MIT */
/*
 * A program for the flight recorder, until a given file exists.
 *
 *   record_flight regions|deadlock|both FILE
 *
 * regions: a region "parse 2" of 20 ms, again and again; deadlock: two threads that wait for each other, while the first one
 * records nothing; both: the second begins once FILE.deadlock exists.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "upmu/region.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_hold;

static void *take_first(void *unused)
{
    pthread_mutex_lock(&first);
    pthread_barrier_wait(&both_hold);
    pthread_mutex_lock(&second);
    return unused;
}

static void *take_second(void *unused)
{
    pthread_mutex_lock(&second);
    pthread_barrier_wait(&both_hold);
    pthread_mutex_lock(&first);
    return unused;
}

static bool deadlock(void)
{
    pthread_t threads[2];
    return pthread_barrier_init(&both_hold, NULL, 2) == 0 && pthread_create(&threads[0], NULL, take_first, NULL) == 0 &&
           pthread_create(&threads[1], NULL, take_second, NULL) == 0;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

int main(int argc, char **argv)
{
    char begin[4096];
    if (argc != 3)
        return 1;
    bool regions = strcmp(argv[1], "deadlock") != 0, later = strcmp(argv[1], "both") == 0;
    snprintf(begin, sizeof begin, "%s.deadlock", argv[2]);
    if (!regions && !deadlock())
        return 1;
    puts("ready");
    fflush(stdout);
    while (access(argv[2], F_OK) != 0) {
        if (regions) {
            upmu_region_begin("parse 2");
            pause_ms(20);
            upmu_region_end("parse 2");
        }
        if (later && access(begin, F_OK) == 0) {
            later = false;
            if (!deadlock())
                return 1;
        }
        pause_ms(1);
    }
    _exit(0); /* the threads do not end */
}
