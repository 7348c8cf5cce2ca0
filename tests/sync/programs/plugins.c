/* SPDX-License-Identifier: MIT */
/* Loads a library, uses it and unloads it, again and again, in the usual way and bound to the C library before anything
 * else (RTLD_DEEPBIND), while another thread locks all the time. Arguments: the library, and how often. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool stop;

static void *lock_all_the_time(void *arg)
{
    while (!atomic_load(&stop)) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

static int use(const char *path, int flags)
{
    int (*work)(pthread_mutex_t *);
    void *library = dlopen(path, RTLD_NOW | flags);
    void *symbol = library ? dlsym(library, "plugin_work") : NULL;
    if (!symbol) {
        printf("%s\n", dlerror());
        return -1;
    }
    memcpy(&work, &symbol, sizeof work);
    int n = work(&mutex);
    return dlclose(library) == 0 ? n : -1;
}

int main(int argc, char **argv)
{
    pthread_t t;
    int sum = 0, rounds = argc == 3 ? atoi(argv[2]) : 0;
    if (rounds == 0 || pthread_create(&t, NULL, lock_all_the_time, NULL) != 0)
        return 1;
    for (int i = 0; i < rounds; i++)
        sum += use(argv[1], RTLD_LOCAL) + use(argv[1], RTLD_LOCAL | RTLD_DEEPBIND);
    atomic_store(&stop, true);
    pthread_join(t, NULL);
    printf("plugins: %d\n", sum);
    return sum != rounds * 2 * 200;
}
