/* SPDX-License-Identifier: MIT */
/* Regions without an end: of a thread that ends in two of them, and of two threads that are in regions when regions are paused. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "upmu/region.h"

static sem_t begun, released;

static void nap(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void *leave_open(void *arg)
{
    upmu_region_begin("left open");
    upmu_region_begin("left inside");
    return arg;
}

static void *wait_inside(void *arg)
{
    upmu_region_begin("around the wait");
    sem_post(&begun);
    sem_wait(&released);
    nap(5);
    upmu_region_begin("after the wait");
    upmu_region_end("after the wait");
    return arg;
}

int main(void)
{
    pthread_t thread;
    if (sem_init(&begun, 0, 0) != 0 || sem_init(&released, 0, 0) != 0)
        return 1;
    if (pthread_create(&thread, NULL, leave_open, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    upmu_mark("left");
    if (pthread_create(&thread, NULL, wait_inside, NULL) != 0 || sem_wait(&begun) != 0)
        return 1;
    nap(30); /* the other thread waits */
    upmu_region_begin("dropped");
    upmu_region_begin("dropped inside");
    upmu_mark("pausing");
    upmu_region_switch(0);
    upmu_region_begin("not recorded");
    nap(20);
    upmu_region_end("not recorded");
    upmu_region_switch(1);
    upmu_mark("resumed");
    sem_post(&released);
    upmu_region_begin("after");
    nap(5);
    upmu_region_end("after");
    return pthread_join(thread, NULL);
}
