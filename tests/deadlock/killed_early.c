/* SPDX-License-Identifier: MIT */
/*
 * Two threads lock two mutexes crosswise, beside a thread that is not recorded: before it sleeps, the last thread looks
 * for it again and again.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STACK = 64 * 1024 };

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static atomic_int met;

__attribute__((noreturn)) static int sleep_unknown(void *arg)
{
    (void)arg;
    for (;;)
        (void)syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
}

/* Without a wait that could be the last one of all threads. */
static void meet(void)
{
    atomic_fetch_add(&met, 1);
    while (atomic_load(&met) < 2)
        ;
}

static void *take_a_then_b(void *arg)
{
    pthread_mutex_lock(&a);
    meet();
    pthread_mutex_lock(&b);
    return arg;
}

static void *take_b_then_a(void *arg)
{
    pthread_mutex_lock(&b);
    meet();
    puts("deadlock");
    fflush(stdout);
    pthread_mutex_lock(&a);
    return arg;
}

int main(void)
{
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    pthread_t threads[2];
    char *stack = malloc(STACK);
    if (!stack || clone(sleep_unknown, stack + STACK, flags, NULL) < 0)
        return 1;
    pthread_create(&threads[0], NULL, take_a_then_b, NULL);
    pthread_create(&threads[1], NULL, take_b_then_a, NULL);
    pthread_join(threads[0], NULL);
    return 0;
}
