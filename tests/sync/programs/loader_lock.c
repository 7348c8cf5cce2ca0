/* SPDX-License-Identifier: MIT */
/*
 * A mutex wait with the loader's lock held, inside a callback of dl_iterate_phdr().
 *
 * The mutex's holder meanwhile blocks on another one, through call frames that were not unwound before. An unwinder that
 * takes the loader's lock deadlocks here.
 */
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t wanted_by_callback = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static sem_t in_callback, has_it;
static char order[4] = "cba";

static int compare(const void *a, const void *b)
{
    static int calls;
    if (calls++ == 0) {
        pthread_mutex_lock(&other); /* main has it */
        pthread_mutex_unlock(&other);
    }
    return *(const char *)a - *(const char *)b;
}

static void *holder(void *arg)
{
    pthread_mutex_lock(&wanted_by_callback);
    sem_post(&has_it);
    sem_wait(&in_callback);
    usleep(20000);
    qsort(order, 3, 1, compare); /* a way through libc that no stack has gone before */
    pthread_mutex_unlock(&wanted_by_callback);
    return arg;
}

static int callback(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)info;
    (void)size;
    (void)arg;
    sem_post(&in_callback);
    pthread_mutex_lock(&wanted_by_callback);
    pthread_mutex_unlock(&wanted_by_callback);
    return 1;
}

static void *iterator(void *arg)
{
    printf("the callback returned %d\n", dl_iterate_phdr(callback, NULL));
    return arg;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&in_callback, 0, 0);
    sem_init(&has_it, 0, 0);
    alarm(200); /* ends the program if it hangs */
    pthread_mutex_lock(&other);
    if (pthread_create(&a, NULL, holder, NULL) != 0)
        return 1;
    sem_wait(&has_it);
    if (pthread_create(&b, NULL, iterator, NULL) != 0)
        return 1;
    usleep(100000);
    pthread_mutex_unlock(&other);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%s\n", order);
    return 0;
}
