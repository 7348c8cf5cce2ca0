/* SPDX-License-Identifier: MIT */
/* A library loaded by the path given, and used after the working directory has changed to the one given. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { TIMES = 7 };

static pthread_mutex_t relative_mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void relative_taker(void)
{
    pthread_mutex_lock(&relative_mutex);
    pthread_mutex_unlock(&relative_mutex);
    __asm__ volatile("" ::: "memory"); /* no jump */
}

int main(int argc, char **argv)
{
    void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void (*work)(pthread_mutex_t *, int) = NULL;
    if (library)
        *(void **)(void *)&work = dlsym(library, "work");
    if (!work || chdir(argv[2]) != 0) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    relative_taker();
    work(&relative_mutex, TIMES);
    return 0;
}
