/* SPDX-License-Identifier: MIT */
/* A thread waits for a semaphore that is never posted, until it is canceled. */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t never;

static void *canceled_thread(void *arg)
{
    (void)arg;
    sem_wait(&never);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    void *result;
    sem_init(&never, 0, 0);
    pthread_create(&thread, NULL, canceled_thread, NULL);
    usleep(100000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result == PTHREAD_CANCELED ? 0 : 1;
}
