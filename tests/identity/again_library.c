/* SPDX-License-Identifier: MIT */
/* A library for again.c. */
#include <pthread.h>

__attribute__((visibility("default"))) void work(void);

/* PLACE words before the lock. */
static volatile long before[PLACE] = {1};
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

void work(void)
{
    pthread_mutex_lock(&library_lock);
    before[0]++;
    pthread_mutex_unlock(&library_lock);
}
