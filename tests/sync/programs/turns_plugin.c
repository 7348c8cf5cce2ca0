/* SPDX-License-Identifier: MIT */
/* One of two plugins for turns.c, which differ only in the name of a function. */
#include <pthread.h>

__attribute__((visibility("default"))) void work(pthread_mutex_t *m, int n);

__attribute__((noinline)) static void FUNCTION(pthread_mutex_t *m)
{
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m);
    __asm__ volatile("");
}

void work(pthread_mutex_t *m, int n)
{
    for (int i = 0; i < n; i++)
        FUNCTION(m);
}
