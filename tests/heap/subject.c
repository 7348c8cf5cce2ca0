/* SPDX-License-Identifier: MIT */
/*
 * Allocations by each function of malloc()'s family, and what they add up to: lines of "FUNCTION ALLOCATED BLOCKS LIVE".
 *
 *     subject all      one function for each way to allocate
 *     subject many     blocks of 1000 bytes, 32 MB in all, a quarter of them left live
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 10, BYTES = 1000, TOP_BYTES = 8 << 20, MANY = 32000 };

#define CHECK(condition) ((condition) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #condition), exit(1)))
#define PLACE __attribute__((noinline)) static

static pthread_barrier_t barrier;
static void *volatile kept[MANY]; /* volatile: the compiler removes no pair of malloc() and free() */

PLACE void by_malloc(void)
{
    for (int i = 0; i < N; i++)
        kept[i] = malloc(BYTES);
    for (int i = 0; i < N / 2; i++)
        free(kept[i]);
}

PLACE void by_calloc(void)
{
    for (int i = 0; i < N; i++) {
        kept[i] = calloc(10, BYTES / 10);
        CHECK(((char *)kept[i])[BYTES - 1] == 0);
        free(kept[i]);
    }
    errno = 0;
    kept[0] = calloc(SIZE_MAX / 2, 4);
    CHECK(!kept[0] && errno == ENOMEM);
}

/* Each step counts as a block. What failed, or was of size 0, does not. */
PLACE void by_realloc(void)
{
    char *p = NULL;
    for (int i = 1; i <= N; i++) {
        p = realloc(p, (size_t)i * BYTES);
        memset(p, i, (size_t)i * BYTES);
    }
    CHECK(!realloc(p, SIZE_MAX / 4) && p[0] == N && p[N * BYTES - 1] == N);
    p = reallocarray(p, 20, BYTES);
    CHECK(p[0] == N && !reallocarray(p, SIZE_MAX / 4, 16) && errno == ENOMEM);
    kept[0] = p;
}

PLACE void by_alignment(void)
{
    void *p;
    CHECK(posix_memalign(&p, 4096, BYTES) == 0 && (uintptr_t)p % 4096 == 0);
    kept[0] = p;
    CHECK(posix_memalign(&p, 3, BYTES) == EINVAL);
    kept[1] = aligned_alloc(256, 1024);
    kept[2] = memalign(512, BYTES);
    kept[3] = valloc(BYTES);
    kept[4] = pvalloc(BYTES);
    CHECK((uintptr_t)kept[1] % 256 == 0 && (uintptr_t)kept[2] % 512 == 0 && (uintptr_t)kept[3] % 4096 == 0);
    for (int i = 0; i < 5; i++)
        free(kept[i]);
}

PLACE void *by_threads(void *arg)
{
    void *volatile *mine = arg;
    for (int i = 0; i < N; i++)
        mine[i] = malloc(BYTES);
    return NULL;
}

/* Blocks of one thread that another one frees. */
static void run_threads(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, by_threads, (void *)(uintptr_t)(kept + (size_t)i * N)) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < THREADS * N; i++)
        free(kept[i]);
}

/* The most that is live at one time. */
PLACE void at_peak(void)
{
    kept[0] = malloc(TOP_BYTES);
    free(kept[0]);
}

PLACE void in_child(void)
{
    kept[1] = malloc(BYTES);
    kept[2] = malloc(BYTES);
    free(kept[2]);
}

static void run_child(void)
{
    int status;
    CHECK(pthread_barrier_init(&barrier, NULL, 1) == 0);
    kept[0] = malloc(BYTES);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)pthread_barrier_wait(&barrier); /* recorded from here on */
        in_child();
        free(kept[0]); /* of the parent: not an allocation of the child */
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    free(kept[0]);
}

PLACE void many(void)
{
    for (int i = 0; i < MANY; i++)
        kept[i] = malloc(BYTES);
    for (int i = 0; i < MANY; i++)
        if (i % 4)
            free(kept[i]);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "many") == 0) {
        many();
        printf("many %d %d %d\n", MANY * BYTES, MANY, MANY * BYTES / 4);
        return 0;
    }
    free(NULL);
    kept[0] = malloc(SIZE_MAX / 4 * 3); /* fails, and is no negative number of bytes: what follows is sampled */
    CHECK(!kept[0]);
    errno = EXFULL;
    by_malloc();
    CHECK(errno == EXFULL);
    by_calloc();
    by_realloc();
    by_alignment();
    run_threads();
    at_peak();
    run_child();
    printf("by_malloc %d %d %d\n", N * BYTES, N, N / 2 * BYTES);
    printf("by_calloc %d %d 0\n", N * BYTES, N);
    printf("by_realloc %d %d %d\n", N * (N + 1) / 2 * BYTES + 20 * BYTES, N + 1, 20 * BYTES);
    printf("by_alignment %d 5 0\n", 4 * BYTES + 1024);
    printf("by_threads %d %d 0\n", 4 * N * BYTES, 4 * N);
    printf("at_peak %d 1 0\n", TOP_BYTES);
    return 0;
}
