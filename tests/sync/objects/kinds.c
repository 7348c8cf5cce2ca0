/* SPDX-License-Identifier: MIT */
/* One of every sync event, in a fixed order.
 *
 * Built twice: plain (for the preload) and linked with libupmu_sync. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHECK(x)                                               \
    do {                                                       \
        if (!(x)) {                                            \
            fprintf(stderr, "kinds.c:%d: %s\n", __LINE__, #x); \
            exit(1);                                           \
        }                                                      \
    } while (0)

static pthread_mutex_t mutex;
static pthread_cond_t cond;
static sem_t sem;
static bool flag;

static struct timespec in_ms(clockid_t clock, long ms)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    ts.tv_sec += ms / 1000;
    ts.tv_nsec += ms % 1000 * 1000000;
    ts.tv_sec += ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    return ts;
}

static atomic_int other; /* the other thread that is there */

static void announce(void)
{
    atomic_store(&other, (int)syscall(SYS_gettid));
}

/* The other thread's state in /proc: 'S' asleep, 0 ended. */
static char state_of_other(void)
{
    char path[64], text[256];
    int tid;
    while ((tid = atomic_load(&other)) == 0)
        usleep(1000);
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *f = fopen(path, "r");
    const char *end = f && fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
    if (f)
        fclose(f);
    return end ? end[2] : 0;
}

/* Until the other thread is asleep in its call. Who was woken is not asleep any more when the waking call returns. */
static void let_other_block(void)
{
    while (state_of_other() != 'S')
        usleep(1000);
}

static void let_other_end(void)
{
    while (state_of_other() != 0)
        usleep(1000);
}

static void *locker(void *arg)
{
    announce();
    CHECK(pthread_mutex_lock(&mutex) == 0); /* held by main: a block */
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    struct timespec soon = in_ms(CLOCK_REALTIME, 20);
    CHECK(sem_wait(&sem) == 0); /* a block, ended by main's post, who holds the mutex by now */
    CHECK(pthread_mutex_timedlock(&mutex, &soon) == ETIMEDOUT);
    soon = in_ms(CLOCK_MONOTONIC, 20);
    CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon) == ETIMEDOUT);
    CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
    CHECK(pthread_mutex_unlock(&mutex) == 0); /* not ours: glibc does it all the same */
    return arg;
}

static void mutex_and_sem(void)
{
    pthread_t t;
    CHECK(pthread_mutex_init(&mutex, NULL) == 0 && sem_init(&sem, 0, 0) == 0);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_create(&t, NULL, locker, NULL) == 0);
    let_other_block();
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    let_other_block();
    CHECK(pthread_mutex_trylock(&mutex) == 0);
    CHECK(sem_post(&sem) == 0);
    CHECK(pthread_join(t, NULL) == 0);
    CHECK(sem_post(&sem) == 0 && sem_wait(&sem) == 0);
    CHECK(sem_post(&sem) == 0 && sem_trywait(&sem) == 0);
    CHECK(sem_destroy(&sem) == 0);
}

static void *waiter(void *arg)
{
    announce();
    CHECK(pthread_setname_np(pthread_self(), "waiter") == 0);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    while (!flag)
        CHECK(pthread_cond_wait(&cond, &mutex) == 0);
    struct timespec soon = in_ms(CLOCK_REALTIME, 10);
    CHECK(pthread_cond_timedwait(&cond, &mutex, &soon) == ETIMEDOUT);
    soon = in_ms(CLOCK_MONOTONIC, 10);
    CHECK(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &soon) == ETIMEDOUT);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    pthread_exit(arg);
}

static void *nothing(void *arg)
{
    announce();
    return arg;
}

static void cond_and_thread(void)
{
    pthread_t t;
    CHECK(pthread_mutex_init(&mutex, NULL) == 0 && pthread_cond_init(&cond, NULL) == 0);
    atomic_store(&other, 0);
    CHECK(pthread_create(&t, NULL, waiter, NULL) == 0);
    let_other_block();
    CHECK(pthread_mutex_lock(&mutex) == 0);
    flag = true;
    CHECK(pthread_cond_signal(&cond) == 0);
    CHECK(pthread_cond_broadcast(&cond) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    struct timespec later = in_ms(CLOCK_REALTIME, 100000);
    CHECK(pthread_timedjoin_np(t, NULL, &later) == 0);
    atomic_store(&other, 0);
    CHECK(pthread_create(&t, NULL, nothing, NULL) == 0);
    CHECK(pthread_detach(t) == 0);
    let_other_end();
    CHECK(pthread_cond_destroy(&cond) == 0 && pthread_mutex_destroy(&mutex) == 0);
}

int main(void)
{
    mutex_and_sem();
    cond_and_thread();
    printf("kinds: all done\n");
    return 0;
}
