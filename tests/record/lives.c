/* SPDX-License-Identifier: MIT */
/*
 * Lives and holds of which a part is recorded.
 *
 *   record_lives regions|fork
 *
 * regions: a thread with a region ends, then main() has one of 300 ms; fork: a child's first call about its mutex is in the middle of a
 * hold.
 */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "upmu/region.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void *region(void *unused)
{
    upmu_region_begin("short");
    pause_ms(10);
    upmu_region_end("short");
    return unused;
}

static int regions(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, region, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    upmu_region_begin("long");
    pause_ms(300);
    upmu_region_end("long");
    return 0;
}

static int forks(void)
{
    int status = 1;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_lock(&mutex);
        pthread_cond_signal(&cond);
        pthread_mutex_unlock(&mutex);
        return 0;
    }
    return child > 0 && waitpid(child, &status, 0) == child ? status : 1;
}

int main(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[1], "fork") == 0 ? forks() : regions();
}
