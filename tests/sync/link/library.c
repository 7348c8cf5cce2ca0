/* SPDX-License-Identifier: MIT */
/* A library of a traced program, whose constructor locks before all other code. */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void early(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

__attribute__((visibility("default"))) void in_c_library(void);
void in_c_library(void)
{
    for (int i = 0; i < 22; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}
