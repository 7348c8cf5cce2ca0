/* SPDX-License-Identifier: MIT */
/* Threads that can be canceled at any time, and are while they call instrumented functions, often the first ones. Prints how many ended as
 * canceled, and how many ran their cleanup handlers with the signal mask that they had. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define OWN __attribute__((noinline))

enum { THREADS = 200, LATEST_US = 300, LEVELS = 5 };

static int ready, clean;
static volatile long sink;

OWN static int deep(int n)
{
    int below = n > 0 ? deep(n - 1) : 0;
    sink++;
    return below + 1;
}

PLAIN static void cleanup(void *arg)
{
    sigset_t now;
    (void)arg;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &now);
    if (!sigismember(&now, SIGUSR1))
        __atomic_fetch_add(&clean, 1, __ATOMIC_RELAXED);
}

PLAIN static void *compute(void *arg)
{
    pthread_cleanup_push(cleanup, NULL);
    __atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
    (void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;)
        (void)deep(LEVELS);
    pthread_cleanup_pop(0);
    return arg;
}

PLAIN int main(void)
{
    int canceled = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        void *result = NULL;
        if (pthread_create(&thread, NULL, compute, NULL) != 0)
            return 1;
        while (!__atomic_exchange_n(&ready, 0, __ATOMIC_SEQ_CST))
            (void)sched_yield();
        (void)usleep((useconds_t)(rand() % LATEST_US));
        (void)pthread_cancel(thread);
        (void)pthread_join(thread, &result);
        canceled += result == PTHREAD_CANCELED;
    }
    printf("%d canceled, %d clean\n", canceled, clean);
    return 0;
}
