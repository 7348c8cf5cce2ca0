/* SPDX-License-Identifier: MIT */
/*
 * A thread with many context switches before, in and after its first region.
 *
 * Prints the pages of events before the region and in it, and the kernel's number of switches before, within and around
 * it, and in the thread's function.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "upmu/region.h"

static int pages(void)
{
    char line[512];
    int n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f))
        n += strstr(line, "perf_event") != NULL;
    if (f)
        (void)fclose(f);
    return n;
}

static long switches(void)
{
    struct rusage u = {0};
    (void)getrusage(RUSAGE_THREAD, &u);
    return u.ru_nvcsw + u.ru_nivcsw;
}

static void sleep_often(int n)
{
    for (int i = 0; i < n; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void *work(void *arg)
{
    pthread_mutex_t *m = arg;
    long start = switches(); /* those of its creation are not of its life */
    pthread_mutex_lock(m);   /* it is recorded from here on */
    pthread_mutex_unlock(m);
    sleep_often(20);
    int before = pages();
    long begin = switches();
    upmu_region_begin("region");
    long first = switches();
    sleep_often(10);
    long last = switches();
    upmu_region_end("region");
    long end = switches();
    int within = pages();
    sleep_often(5);
    printf("%d %d %ld %ld %ld %ld\n", before, within, begin - start, last - first, end - begin, switches() - start);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    return pthread_create(&t, NULL, work, &m) != 0 || pthread_join(t, NULL) != 0;
}
