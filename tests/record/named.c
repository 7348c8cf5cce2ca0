/* SPDX-License-Identifier: MIT */
/* Threads that are given names, and record far more afterwards than a ring keeps; the unnamed one has that of its function. */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int started, named;

static void until_set(const int *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void *use_mutex(void *name)
{
    enum { ROUNDS = 20000 };
    if (name)
        pthread_setname_np(pthread_self(), name);
    __atomic_fetch_add(&started, 1, __ATOMIC_RELEASE);
    until_set(&named);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[3];
    static char name[] = "by-itself";
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread[i], NULL, use_mutex, i == 0 ? name : NULL) != 0)
            return 1;
    while (__atomic_load_n(&started, __ATOMIC_ACQUIRE) < 3)
        sched_yield();
    pthread_setname_np(thread[1], "by-another");
    __atomic_store_n(&named, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
