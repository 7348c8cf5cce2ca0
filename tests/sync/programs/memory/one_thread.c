/* SPDX-License-Identifier: MIT */
/* A program that makes one thread: its status is that of pthread_create(). */
#include <pthread.h>

static void *work(void *arg)
{
    return arg;
}

int main(void)
{
    pthread_t t;
    int rc = pthread_create(&t, NULL, work, NULL);
    if (rc == 0)
        pthread_join(t, NULL);
    return rc;
}
