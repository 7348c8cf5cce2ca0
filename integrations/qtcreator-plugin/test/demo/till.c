/* SPDX-License-Identifier: MIT */
/* Threads that contend for one mutex, and on request a deadlock of two: the program that the plugin's proof records. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N_CLERKS = 3 };

static pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t safe = PTHREAD_MUTEX_INITIALIZER;
static atomic_int holders;
static atomic_bool closing;

static void work(long ns)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += ns;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    do {
        for (volatile int i = 0; i < 10000; i++)
            ;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

/* The contention: the till is held while the receipt is printed. */
static void *clerk(void *arg)
{
    while (!atomic_load(&closing)) {
        pthread_mutex_lock(&till);
        usleep(2000);
        pthread_mutex_unlock(&till);
        work(200000);
    }
    return arg;
}

/* The deadlock: each of the two holds what the other one wants. */
static void *both(void *arg)
{
    int first = *(const int *)arg;
    pthread_mutex_lock(first ? &safe : &till);
    atomic_fetch_add(&holders, 1);
    while (atomic_load(&holders) < 2)
        usleep(1000);
    pthread_mutex_lock(first ? &till : &safe);
    return arg;
}

int main(int argc, char **argv)
{
    static int sides[2] = {0, 1};
    pthread_t threads[N_CLERKS], pair[2];
    for (int i = 0; i < N_CLERKS; i++)
        pthread_create(&threads[i], NULL, clerk, NULL);
    /* Contend until a line arrives, or the file given as the argument exists. */
    while (argc > 1 && access(argv[1], F_OK) != 0)
        usleep(50000);
    if (argc == 1)
        (void)getchar();
    atomic_store(&closing, 1);
    for (int i = 0; i < N_CLERKS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&pair[i], NULL, both, &sides[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(pair[i], NULL);
    return 0;
}
