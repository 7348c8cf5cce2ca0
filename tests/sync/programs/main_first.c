/* SPDX-License-Identifier: MIT */
/* The first thread ends long before the last one, which joins it and then ends the process by ending itself. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t first;

static void *last(void *arg)
{
    int rc = pthread_join(first, NULL);
    pthread_mutex_lock(&lock);
    printf("joined: %d\n", rc);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t t;
    first = pthread_self();
    if (pthread_create(&t, NULL, last, NULL) != 0)
        return 1;
    pthread_exit(NULL);
}
