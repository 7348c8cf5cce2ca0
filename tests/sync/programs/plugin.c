/* SPDX-License-Identifier: MIT */
/* Plugin for plugins.c: unloaded while its locks are in use and its functions are in call stacks. */
#include <pthread.h>

__attribute__((visibility("default"))) int plugin_work(pthread_mutex_t *of_the_program);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int initialized, count;

static void initialize(void)
{
    initialized++;
}

static void *count_up(void *arg)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        count++;
        pthread_mutex_unlock(&mutex);
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
    return arg;
}

/* Locks and unlocks a lock of the program with the functions that this library is bound to. */
int plugin_work(pthread_mutex_t *of_the_program)
{
    pthread_t t;
    pthread_once(&once, initialize);
    pthread_mutex_lock(of_the_program);
    pthread_mutex_unlock(of_the_program);
    if (pthread_create(&t, NULL, count_up, NULL) != 0)
        return -1;
    count_up(NULL);
    pthread_join(t, NULL);
    return initialized == 1 ? count : -1;
}
