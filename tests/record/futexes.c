/* SPDX-License-Identifier: MIT */
/*
 * Two threads that wait for futexes: one by syscall() of libc, one by a condition variable.
 *
 * syscall() is looked up in libc itself, so that no wrapper records it. Prints the number of waits of each.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { UNSEEN = 400, SEEN = 100 };

typedef long syscall_function(long number, ...);

static syscall_function *unseen_syscall;

/* Half of them for a word that has changed already, half for one that does not. */
static void *waits_unseen(void *arg)
{
    static uint32_t word = 1;
    const struct timespec soon = {.tv_nsec = 1000};
    for (int i = 0; i < UNSEEN; i++) {
        long rc = unseen_syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, i % 2, &soon, NULL, 0);
        if (rc != -1 || errno != (i % 2 ? ETIMEDOUT : EAGAIN))
            return NULL;
        (void)unseen_syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    printf("unseen %ld %d\n", (long)gettid(), UNSEEN);
    return arg;
}

static void *waits_seen(void *arg)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < SEEN; i++) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 100000;
        soon.tv_sec += soon.tv_nsec / 1000000000;
        soon.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&cond, &mutex, &soon) != ETIMEDOUT)
            return NULL;
    }
    pthread_mutex_unlock(&mutex);
    printf("seen %ld %d\n", (long)gettid(), SEEN);
    return arg;
}

int main(void)
{
    static void *(*const work[])(void *) = {waits_unseen, waits_seen};
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), *done;
    void *found = libc ? dlsym(libc, "syscall") : NULL;
    if (!found) {
        fprintf(stderr, "no syscall() in libc: %s\n", dlerror());
        return 1;
    }
    void *well = &found;
    memcpy(&unseen_syscall, &found, sizeof found);
    for (size_t i = 0; i < sizeof work / sizeof *work; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, work[i], well) != 0 || pthread_join(t, &done) != 0 || done != well)
            return 1;
    }
    return 0;
}
