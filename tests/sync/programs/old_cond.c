/* SPDX-License-Identifier: MIT */
/* Condition variables of glibc before 2.3.2, a pointer each, beside those of today.
 *
 * A wrapper that called the wrong version would overwrite the memory after the pointer. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define OLD "GLIBC_2.2.5"
#elif defined(__i386__) || defined(__mips__)
#define OLD "GLIBC_2.0"
#endif

#ifdef OLD
struct old_cond {
    void *cond;
    uintptr_t canary;
};

int old_init(struct old_cond *, const pthread_condattr_t *);
int old_destroy(struct old_cond *);
int old_wait(struct old_cond *, pthread_mutex_t *);
int old_timedwait(struct old_cond *, pthread_mutex_t *, const struct timespec *);
int old_signal(struct old_cond *);
int old_broadcast(struct old_cond *);
__asm__(".symver old_init, pthread_cond_init@" OLD);
__asm__(".symver old_destroy, pthread_cond_destroy@" OLD);
__asm__(".symver old_wait, pthread_cond_wait@" OLD);
__asm__(".symver old_timedwait, pthread_cond_timedwait@" OLD);
__asm__(".symver old_signal, pthread_cond_signal@" OLD);
__asm__(".symver old_broadcast, pthread_cond_broadcast@" OLD);

enum { CANARY = 0x5ca1ab1e };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct old_cond old = {.canary = CANARY};
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int turn;

static void *other(void *arg)
{
    pthread_mutex_lock(&mutex);
    turn = 1;
    printf("signal %d, broadcast %d\n", old_signal(&old), old_broadcast(&old));
    while (turn != 2)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void)
{
    const struct timespec past = {.tv_sec = 1};
    pthread_t t;
    printf("init %d\n", old_init(&old, NULL));
    pthread_mutex_lock(&mutex);
    if (pthread_create(&t, NULL, other, NULL) != 0)
        return 1;
    while (turn != 1)
        if (old_wait(&old, &mutex) != 0)
            return 1;
    printf("timed out: %d\n", old_timedwait(&old, &mutex, &past) == ETIMEDOUT);
    turn = 2;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    pthread_join(t, NULL);
    printf("destroy %d, canary %s\n", old_destroy(&old), old.canary == CANARY ? "alive" : "dead");
    return old.canary == CANARY ? 0 : 1;
}
#else
int main(void)
{
    printf("skipped, because glibc has one version of condition variables here\n");
    return 77;
}
#endif
