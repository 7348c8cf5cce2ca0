/* SPDX-License-Identifier: MIT */
/* Two threads that contend for a mutex; writes "ready", and when it has read a byte, does so again. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t twin_mutex = PTHREAD_MUTEX_INITIALIZER;

static void *twin_thread(void *arg)
{
    (void)arg;
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&twin_mutex);
        usleep(100);
        pthread_mutex_unlock(&twin_mutex);
    }
    return NULL;
}

static void twin_contend(void)
{
    pthread_t other;
    pthread_create(&other, NULL, twin_thread, NULL);
    twin_thread(NULL);
    pthread_join(other, NULL);
}

int main(void)
{
    char byte;
    twin_contend();
    if (write(STDOUT_FILENO, "ready\n", 6) != 6 || read(STDIN_FILENO, &byte, 1) != 1)
        return 1;
    twin_contend();
    return 0;
}
