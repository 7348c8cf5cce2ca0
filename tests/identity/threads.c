/* SPDX-License-Identifier: MIT */
/* Threads named in every way, all of which wait; with an argument, two of them for each other. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t named, waited;
static int deadlock;

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* Each thread is behind the one before it. */
static void wait_once(void)
{
    pthread_mutex_lock(&first);
    sleep_ms(2);
    pthread_mutex_unlock(&first);
    pthread_barrier_wait(&waited);
}

static void cross(pthread_mutex_t *mine, pthread_mutex_t *other)
{
    if (!deadlock)
        return;
    pthread_mutex_lock(mine);
    sleep_ms(20);
    pthread_mutex_lock(other);
}

static void *worker_main(void *arg)
{
    pthread_barrier_wait(&named);
    wait_once();
    cross(&first, &second);
    return arg;
}

static void *named_by_another(void *arg)
{
    pthread_barrier_wait(&named);
    wait_once();
    cross(&second, &first);
    return arg;
}

static void *names_itself(void *arg)
{
    pthread_setname_np(pthread_self(), "by-itself");
    pthread_barrier_wait(&named);
    wait_once();
    return arg;
}

static void *names_itself_by_prctl(void *arg)
{
    prctl(PR_SET_NAME, "by-prctl");
    pthread_barrier_wait(&named);
    wait_once();
    return arg;
}

int main(int argc, char **argv)
{
    void *(*const functions[])(void *) = {names_itself, names_itself_by_prctl, worker_main, named_by_another};
    enum { N = sizeof functions / sizeof *functions };
    pthread_t threads[N];
    (void)argv;
    deadlock = argc > 1;
    pthread_barrier_init(&named, NULL, N + 1);
    pthread_barrier_init(&waited, NULL, N);
    if (deadlock)
        alarm(60);
    for (int i = 0; i < N; i++)
        if (pthread_create(&threads[i], NULL, functions[i], NULL) != 0)
            return 1;
    pthread_setname_np(threads[N - 1], "by-another");
    pthread_barrier_wait(&named);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
