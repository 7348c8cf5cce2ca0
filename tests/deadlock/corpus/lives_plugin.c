/* SPDX-License-Identifier: MIT */
/* Plugin with two locks of its own, loaded more than once by lives.cpp. */
#include <pthread.h>
#include <stdbool.h>

__attribute__((visibility("default"))) void plugin_nest(bool swapped);

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

void plugin_nest(bool swapped)
{
    pthread_mutex_lock(swapped ? &b : &a);
    pthread_mutex_lock(swapped ? &a : &b);
    pthread_mutex_unlock(swapped ? &a : &b);
    pthread_mutex_unlock(swapped ? &b : &a);
}
