/* SPDX-License-Identifier: MIT */
/* Two libraries loaded alternately at the same addresses, each used by two threads.
 *
 * Arguments: the libraries. Prints how often each was used and whether their addresses were the same. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 3, TIMES = 7 };

typedef void (*work_function)(pthread_mutex_t *, int);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begin, end;
static work_function work; /* NULL: it is over */

static void *other_thread(void *arg)
{
    for (;;) {
        pthread_barrier_wait(&begin);
        if (!work)
            return arg;
        work(&mutex, TIMES);
        pthread_barrier_wait(&end);
    }
}

/* @return where it was loaded, 0 if it was not. */
static uintptr_t use(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "work") : NULL;
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        return 0;
    }
    struct link_map *map = NULL;
    uintptr_t place = dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? (uintptr_t)map->l_addr : 0;
    *(void **)(void *)&work = symbol;
    pthread_barrier_wait(&begin);
    work(&mutex, TIMES);
    pthread_barrier_wait(&end);
    return dlclose(library) == 0 ? place : 0;
}

int main(int argc, char **argv)
{
    pthread_t other;
    uintptr_t place = 0;
    int same = 1;
    if (argc < 2 || pthread_barrier_init(&begin, NULL, 2) != 0 || pthread_barrier_init(&end, NULL, 2) != 0 ||
        pthread_create(&other, NULL, other_thread, NULL) != 0)
        return 1;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 1; i < argc; i++) {
            uintptr_t now = use(argv[i]);
            if (now == 0)
                return 1;
            same = same && (place == 0 || place == now);
            place = now;
        }
    }
    work = NULL;
    pthread_barrier_wait(&begin);
    pthread_join(other, NULL);
    printf("%d %s\n", ROUNDS * TIMES * 2, same ? "same" : "different");
    return 0;
}
