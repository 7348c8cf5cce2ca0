/* SPDX-License-Identifier: MIT */
/*
 * Threads that end by pthread_exit(), open files and try how many more they could, under a low limit of descriptors. Prints
 * what it saw; with and without counters it must be the same (few.sh). Arguments: LIMIT THREADS.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "upmu/region.h"

enum { FILES_MAX = 64 };

static int openable(void)
{
    int fds[FILES_MAX], n = 0;
    while (n < FILES_MAX && (fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    int highest = n > 0 ? fds[n - 1] : -1;
    for (int i = 0; i < n; i++)
        close(fds[i]);
    return highest;
}

static void *work(void *arg)
{
    int *highest = arg;
    upmu_region_begin("outer");
    upmu_region_begin("inner");
    *highest = openable();
    upmu_region_end("inner");
    upmu_region_end("outer");
    pthread_exit(arg); /* opens libgcc_s when it is called for the first time */
}

/* The threads run one after the other: what each can open must not depend on the others. */
int main(int argc, char **argv)
{
    struct rlimit limit;
    if (argc != 3 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 2;
    limit.rlim_cur = (rlim_t)atoi(argv[1]);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 2;
    printf("main %d\n", openable());
    for (int i = 0; i < atoi(argv[2]); i++) {
        pthread_t thread;
        int highest = -2, err = pthread_create(&thread, NULL, work, &highest);
        if (err == 0)
            err = pthread_join(thread, NULL);
        printf("thread %d: %s, %d\n", i, strerror(err), highest);
    }
    FILE *file = fopen("/proc/self/comm", "r");
    printf("file %s\n", file ? "open" : strerror(errno));
    if (file)
        (void)fclose(file);
    int ends[2];
    printf("pipe %s\n", pipe(ends) == 0 ? "open" : strerror(errno));
    return 0;
}
