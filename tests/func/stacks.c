/* SPDX-License-Identifier: MIT */
/* Two threads that lock a mutex below the same functions, from two callers. */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int sink;

static void inner(void)
{
    pthread_mutex_lock(&mutex);
    sink++;
    pthread_mutex_unlock(&mutex);
    sink = 1;
}

static void middle(void)
{
    inner();
    sink = 2;
}

static void first(void)
{
    middle();
    sink = 3;
}

static void second(void)
{
    middle();
    sink = 4;
}

static void *loop(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        first();
        second();
    }
    return arg;
}

int main(void)
{
    pthread_t t;
    if (pthread_create(&t, NULL, loop, NULL) != 0)
        return 1;
    loop(NULL);
    return pthread_join(t, NULL);
}
