/* SPDX-License-Identifier: MIT */
/* One of two plugins for turns.c, which differ only in the names of a function and of a mutex. */
#include <pthread.h>

__attribute__((visibility("default"))) void work(pthread_mutex_t *m, int n);

__attribute__((noinline)) static void FUNCTION(pthread_mutex_t *m)
{
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m);
    __asm__ volatile("");
}

static pthread_mutex_t MUTEX = PTHREAD_MUTEX_INITIALIZER;

void work(pthread_mutex_t *m, int n)
{
    FUNCTION(&MUTEX);
    for (int i = 0; i < n; i++)
        FUNCTION(m);
}
