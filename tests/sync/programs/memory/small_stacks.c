/* SPDX-License-Identifier: MIT */
/* Threads with the smallest stacks there may be: lock, wait for each other, and all wait at once for a while. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, PAIRS = 200, ALL_WAIT_MS = 100, NS_PER_MS = 1000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static bool over;

static void must(int rc, const char *what)
{
    if (rc != 0) {
        (void)fprintf(stderr, "%s: %d\n", what, rc);
        exit(1);
    }
}

/* The first one to come ends all waits, after a time in which every thread has waited. */
static void *work(void *first)
{
    struct timespec until;
    for (int i = 0; i < PAIRS; i++) {
        must(pthread_mutex_lock(&lock), "pthread_mutex_lock");
        if (i % (PAIRS / 4) == 0)
            (void)usleep(500);
        must(pthread_mutex_unlock(&lock), "pthread_mutex_unlock");
    }
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)ALL_WAIT_MS * NS_PER_MS;
    until.tv_sec += until.tv_nsec / (1000L * NS_PER_MS);
    until.tv_nsec %= 1000L * NS_PER_MS;
    must(pthread_mutex_lock(&lock), "pthread_mutex_lock");
    while (!over) {
        if (!first)
            must(pthread_cond_wait(&turn, &lock), "pthread_cond_wait");
        else if (pthread_cond_timedwait(&turn, &lock, &until) == ETIMEDOUT)
            over = true;
    }
    must(pthread_cond_broadcast(&turn), "pthread_cond_broadcast");
    must(pthread_mutex_unlock(&lock), "pthread_mutex_unlock");
    return NULL;
}

int main(void)
{
    pthread_attr_t attr;
    pthread_t thread[THREADS];
    static char first;
    must(pthread_attr_init(&attr), "pthread_attr_init");
    must(pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN)), "pthread_attr_setstacksize");
    for (int i = 0; i < THREADS; i++)
        must(pthread_create(&thread[i], &attr, work, i == 0 ? &first : NULL), "pthread_create");
    for (int i = 0; i < THREADS; i++)
        must(pthread_join(thread[i], NULL), "pthread_join");
    puts("done");
    return 0;
}
