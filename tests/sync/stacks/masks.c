/* SPDX-License-Identifier: MIT */
/*
 * Threads that initialize a mutex at the end of 64 different functions, each thread for the first time, so that each walk finds
 * frames that are new to the thread, while a timer's handler blocks and unblocks a signal and takes a mutex itself.
 *
 * No signal mask may change. With "quiet" there are no signals.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

enum { THREADS = 50, TIMES = 20 };

static atomic_uint handled;

static void leaf(int n)
{
    pthread_mutex_t m;
    (void)n;
    pthread_mutex_init(&m, NULL);
    pthread_mutex_destroy(&m);
}

#define CALLS(name, next)                                \
    static __attribute__((noinline)) void name(int n)    \
    {                                                    \
        next(n + 1);                                     \
        __asm__ volatile("" ::: "memory"); /* no jump */ \
    }
#define FOUR(name, next)      \
    CALLS(name##_3, next)     \
    CALLS(name##_2, name##_3) \
    CALLS(name##_1, name##_2) \
    CALLS(name, name##_1)
#define SIXTEEN(name, next)  \
    FOUR(name##_c, next)     \
    FOUR(name##_b, name##_c) \
    FOUR(name##_a, name##_b) \
    FOUR(name, name##_a)
SIXTEEN(inner, leaf)
SIXTEEN(third, inner)
SIXTEEN(second, third)
SIXTEEN(outer, second)

static void handle(int signal)
{
    sigset_t some, before;
    (void)signal;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    sigprocmask(SIG_BLOCK, &some, &before);
    leaf(0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    atomic_fetch_add(&handled, 1);
}

static void *work(void *failed)
{
    sigset_t before, after;
    memset(&before, 0, sizeof before);
    memset(&after, 0, sizeof after);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    for (int i = 0; i < TIMES; i++)
        outer(0);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    if (memcmp(&before, &after, sizeof before) != 0)
        atomic_store((atomic_int *)failed, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    atomic_int failed = 0;
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    const struct itimerval often = {{0, 100}, {0, 100}};
    bool quiet = argc > 1 && strcmp(argv[1], "quiet") == 0; /* without signals */
    sigaction(SIGALRM, &action, NULL);
    if (!quiet)
        setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, &failed) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    if (failed)
        puts("a signal mask has changed");
    if (!quiet && atomic_load(&handled) == 0)
        puts("no signal came");
    printf("%d threads\n", THREADS);
    return failed || (!quiet && atomic_load(&handled) == 0);
}
