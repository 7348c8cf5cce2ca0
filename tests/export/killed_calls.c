/* SPDX-License-Identifier: MIT */
/* Threads that sleep in a recorded function, the one with the lowest number the longest, when the process is killed. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#define NOT_RECORDED __attribute__((no_instrument_function))

enum { THREADS = 4, APART_US = 5000, SLEEP_S = 600 };

__attribute__((noinline)) static void sleep_in_function(void)
{
    (void)sleep(SLEEP_S);
}

NOT_RECORDED static void *work(void *arg)
{
    usleep((useconds_t)(uintptr_t)arg * APART_US);
    sleep_in_function();
    return arg;
}

NOT_RECORDED int main(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(THREADS - i)) != 0)
            return 1;
    usleep(4 * THREADS * APART_US);
    kill(getpid(), SIGKILL);
    return 1;
}
