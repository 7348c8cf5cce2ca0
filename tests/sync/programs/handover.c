/* SPDX-License-Identifier: MIT */
/*
 * Two threads alternate: each signals the other one and then waits itself, with the same mutex. For a moment both wait, and the
 * one that was signaled continues as soon as the wait releases the mutex. Prints the milliseconds of all hand-overs.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { HANDOVERS = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static int next;

static void alternate(int own)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < HANDOVERS; i++) {
        while (next != own)
            pthread_cond_wait(&changed[own], &lock);
        next = !own;
        pthread_cond_signal(&changed[!own]);
    }
    pthread_mutex_unlock(&lock);
}

static void *other(void *unused)
{
    alternate(1);
    return unused;
}

int main(void)
{
    struct timespec begin, end;
    pthread_t thread;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    pthread_create(&thread, NULL, other, NULL);
    alternate(0);
    pthread_join(thread, NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.0f\n", (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
    return 0;
}
