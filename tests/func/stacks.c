/* SPDX-License-Identifier: MIT */
/* Two threads that lock a mutex below the same functions, from two callers, and wait for each other whatever else runs. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int sink, done;

enum { EACH = 50 };

static void inner(void)
{
    pthread_mutex_lock(&mutex);
    if (++sink % EACH == 0)
        usleep(1000);
    pthread_mutex_unlock(&mutex);
    done = 1;
}

static void middle(void)
{
    inner();
    done = 2;
}

static void first(void)
{
    middle();
    done = 3;
}

static void second(void)
{
    middle();
    done = 4;
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
