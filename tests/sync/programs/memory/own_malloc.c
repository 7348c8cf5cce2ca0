/* SPDX-License-Identifier: MIT */
/*
 * A program whose own allocator uses a mutex, as jemalloc's does.
 *
 * It aborts when called from inside a traced call: the recorder must never allocate there, not even through the loader,
 * which allocates thread-local storage of libraries opened at run time by malloc().
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Else the C library and the loader would not find them. */
#define EXPORTED __attribute__((visibility("default")))

enum { ARENA = 64 << 20, ALIGN = 16 };

static pthread_mutex_t arena_lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(ALIGN) unsigned char arena[ARENA];
static size_t used;
static __thread bool no_malloc __attribute__((tls_model("initial-exec")));

static void refuse(void)
{
    static const char text[] = "malloc was called from inside a traced call\n";
    no_malloc = false;
    if (write(STDERR_FILENO, text, sizeof text - 1) > 0)
        _exit(99);
    _exit(98);
}

EXPORTED void *malloc(size_t n)
{
    if (no_malloc)
        refuse();
    n = (n + ALIGN + ALIGN - 1) / ALIGN * ALIGN;
    pthread_mutex_lock(&arena_lock);
    size_t at = used;
    used += n;
    pthread_mutex_unlock(&arena_lock);
    if (used > ARENA) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(&arena[at], &n, sizeof n);
    return &arena[at + ALIGN];
}

EXPORTED void free(void *p)
{
    if (no_malloc && p)
        refuse();
}

EXPORTED void *calloc(size_t n, size_t size)
{
    return malloc(n * size); /* the arena is never used twice */
}

EXPORTED void *realloc(void *p, size_t size)
{
    size_t old = 0;
    void *larger = malloc(size);
    if (p)
        memcpy(&old, (unsigned char *)p - ALIGN, sizeof old);
    return p && larger ? memcpy(larger, p, old < size ? old : size) : larger;
}

EXPORTED void *memalign(size_t align, size_t size)
{
    uintptr_t p = (uintptr_t)malloc(size + align);
    return (void *)((p + align - 1) / align * align);
}

EXPORTED int posix_memalign(void **out, size_t align, size_t size)
{
    *out = memalign(align, size);
    return *out ? 0 : ENOMEM;
}

EXPORTED void *aligned_alloc(size_t align, size_t size)
{
    return memalign(align, size);
}

/* ------------------------------------------------------------------------------------------------------------ */

static pthread_mutex_t mutex[200];
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;

static void *work(void *arg)
{
    no_malloc = true; /* from the thread's first event on */
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_t *m = &mutex[i % (int)(sizeof mutex / sizeof *mutex)];
        pthread_mutex_lock(m);
        if (i % 1000 == 0)
            pthread_cond_signal(&cond);
        if (i % 5000 == 0) {
            struct timespec ts;
            clock_gettime(CLOCK_REALTIME, &ts);
            pthread_cond_timedwait(&cond, m, &ts);
        }
        pthread_mutex_unlock(m);
        sem_wait(&sem);
        sem_post(&sem);
    }
    no_malloc = false;
    return arg;
}

/* Whether the allocator is the one that the C library itself uses. */
static bool is_ours(void)
{
    char *copy = strdup("a text that strdup allocates");
    return copy && (unsigned char *)copy >= arena && (unsigned char *)copy < arena + ARENA;
}

int main(void)
{
    pthread_t t[4];
    if (!is_ours()) {
        printf("the allocator is not used: this program shows nothing\n");
        return 1;
    }
    sem_init(&sem, 0, 1);
    for (size_t i = 0; i < sizeof mutex / sizeof *mutex; i++)
        pthread_mutex_init(&mutex[i], NULL);
    for (int i = 0; i < 4; i++)
        if (pthread_create(&t[i], NULL, work, NULL) != 0)
            return 1;
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    free(malloc(100));
    printf("allocated, but not where it must not be\n");
    return 0;
}
