/* SPDX-License-Identifier: MIT */
/*
 * A module that is loaded after a thread's stacks were walked does not make the stacks of that thread dear for good: it prints the
 * time of a recorded signal before the module was called, and afterwards. The least of many rounds counts.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 200, SIGNALS = 100, DEEP = 12 };

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static __attribute__((noinline)) void deep(int n)
{
    if (n > 0)
        deep(n - 1);
    else
        for (int i = 0; i < SIGNALS; i++)
            pthread_cond_signal(&cond);
    __asm__ volatile("" ::: "memory"); /* no jump */
}

static uint64_t least_ns(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t from = now_ns();
        deep(DEEP);
        uint64_t took = now_ns() - from;
        least = took < least ? took : least;
    }
    return least / SIGNALS;
}

static void signal_once(void)
{
    pthread_cond_signal(&cond);
}

int main(int argc, char **argv)
{
    uint64_t before = least_ns();
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void (*call)(void (*)(void)) = NULL;
    if (module)
        *(void **)(void *)&call = dlsym(module, "late_module_call");
    if (!call) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    call(signal_once);
    printf("%llu %llu\n", (unsigned long long)before, (unsigned long long)least_ns());
    return 0;
}
