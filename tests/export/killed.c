/* SPDX-License-Identifier: MIT */
/* A child is killed inside two regions; its parent continues for a multiple of the child's life. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "upmu/region.h"

static void nap(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static void *live(void *arg)
{
    upmu_region_begin("left open");
    upmu_region_begin("left inside");
    nap(20);
    upmu_mark("last");
    kill(getpid(), SIGKILL);
    return arg;
}

int main(void)
{
    pid_t child = fork();
    pthread_t thread;
    if (child == 0 && pthread_create(&thread, NULL, live, NULL) == 0)
        pthread_join(thread, NULL);
    if (child <= 0 || waitpid(child, NULL, 0) != child)
        return 1;
    upmu_region_begin("alone");
    nap(300);
    upmu_region_end("alone");
    return 0;
}
