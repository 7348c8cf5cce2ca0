/* SPDX-License-Identifier: MIT */
/* Loading and unloading libupmu and a plugin with dlopen() while threads run.
 *
 * Names and counts outlive the code of the plugin. Not linked to libupmu: its functions come from dlsym(). */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "upmu/region.h"

enum { ROUNDS = 20, THREADS = 3 };

static int (*stats)(const char *name, pid_t thread, struct upmu_region_stats *out);
static pthread_barrier_t barrier;
static int (*plugin_work)(void);

static void fail(const char *what)
{
    const char *why = dlerror();
    fprintf(stderr, "FAILED: %s%s%s\n", what, why ? ": " : "", why ? why : "");
    exit(1);
}

static void *symbol(void *library, const char *name)
{
    void *s = dlsym(library, name);
    if (!s)
        fail(name);
    return s;
}

/* Threads that were there before the library was. */
static void *old_thread(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&barrier);
        if (plugin_work() != 0)
            fail("a region in the plugin");
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static uint64_t count_of(const char *name)
{
    struct upmu_region_stats s = {.size = sizeof s};
    if (stats(name, UPMU_ALL_THREADS, &s) < 0)
        fail(name);
    return s.count;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    if (argc != 3)
        fail("usage: dlopen LIBUPMU PLUGIN");
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, old_thread, NULL);
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail(argv[1]);
    __extension__ int (*setup)(const struct upmu_region_opts *) =
        (int (*)(const struct upmu_region_opts *))symbol(library, "upmu_region_setup");
    __extension__ stats =
        (int (*)(const char *, pid_t, struct upmu_region_stats *))symbol(library, "upmu_region_stats_read");
    struct upmu_region_opts opts = {.size = sizeof opts, .events = "page-faults,context-switches"};
    if (setup(&opts) != 0)
        fail("upmu_region_setup");
    dlclose(library); /* it must stay: threads have its blocks */
    for (int i = 0; i < ROUNDS; i++) {
        void *plugin = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
        if (!plugin)
            fail(argv[2]);
        __extension__ plugin_work = (int (*)(void))symbol(plugin, "plugin_work");
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        dlclose(plugin);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    static const char *const names[] = {"plugin handle", "plugin string", "plugin scope"};
    for (int i = 0; i < 3; i++)
        if (count_of(names[i]) != ROUNDS * THREADS)
            fail(names[i]);
    return 0;
}
