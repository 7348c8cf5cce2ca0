/* SPDX-License-Identifier: MIT */
/* A program that brackets its work with begin and end, uses locks of its own, and two libraries that do. Room: tests. */
#include <pthread.h>
#include <stdio.h>

#include "upmu/sync.h"

void in_c_library(void);
void in_cpp_library(void);

static pthread_mutex_t before_and_after = PTHREAD_MUTEX_INITIALIZER, inside = PTHREAD_MUTEX_INITIALIZER;

static void lock_times(pthread_mutex_t *m, int n)
{
    for (int i = 0; i < n; i++) {
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
}

int main(void)
{
    lock_times(&before_and_after, 1000);
    if (upmu_sync_begin(NULL) < 0) {
        fprintf(stderr, "%s\n", upmu_error());
        return 1;
    }
    lock_times(&inside, 11);
    in_c_library();
    in_cpp_library();
    if (upmu_sync_end() < 0)
        return 1;
    lock_times(&before_and_after, 1000);
    return 0;
}
