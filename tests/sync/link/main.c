/* SPDX-License-Identifier: MIT */
/* A program with locks of its own and of two libraries between upmu_sync_begin() and upmu_sync_end().
 *
 * Built with WITHOUT_UPMU it has no reference to libupmu. */
#include <pthread.h>
#include <stdio.h>

#ifndef WITHOUT_UPMU
#include "upmu/sync.h"
#endif

void in_c_library(void);
void in_cpp_library(void);

static pthread_mutex_t inside = PTHREAD_MUTEX_INITIALIZER;
#ifndef WITHOUT_UPMU
static pthread_mutex_t before_and_after = PTHREAD_MUTEX_INITIALIZER;
#endif

static void lock_times(pthread_mutex_t *m, int n)
{
    for (int i = 0; i < n; i++) {
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
}

int main(void)
{
#ifndef WITHOUT_UPMU
    lock_times(&before_and_after, 1000);
    if (upmu_sync_begin(NULL) < 0) {
        fprintf(stderr, "%s\n", upmu_error());
        return 1;
    }
#endif
    lock_times(&inside, 11);
    in_c_library();
    in_cpp_library();
#ifndef WITHOUT_UPMU
    if (upmu_sync_end() < 0)
        return 1;
    lock_times(&before_and_after, 1000);
#endif
    return 0;
}
