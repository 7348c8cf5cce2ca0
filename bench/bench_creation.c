/* SPDX-License-Identifier: MIT */
/*
 * Processor time that recording adds to the life of a thread, which is created, locks a mutex once and is joined.
 *
 * The floor is the same by the C library's own functions, which are not recorded. Blocks of threads that have ended are used
 * again by the next ones; threads that live at the same time need one each.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sanitizer.h"
#include "bench.h"
#include "files.h"
#include "upmu/region.h"
#include "upmu/sync.h"

enum { ONE_AFTER_THE_OTHER = 20, UNPOOLED = 200, AT_ONCE = 200, WARM = 400 };

static const double steady_ns = 60000, unpooled_us = 150;
static char dir[PATH_MAX];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_live;
static int (*barrier_wait)(pthread_barrier_t *); /* the C library's own */

struct calls {
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*join)(pthread_t, void **);
    int (*lock)(pthread_mutex_t *);
    int (*unlock)(pthread_mutex_t *);
};

static const struct calls recorded = {pthread_create, pthread_join, pthread_mutex_lock, pthread_mutex_unlock};
static struct calls bare;

static bool find_bare(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    void *create = libc ? dlsym(libc, "pthread_create") : NULL, *join = libc ? dlsym(libc, "pthread_join") : NULL,
         *lock = libc ? dlsym(libc, "pthread_mutex_lock") : NULL,
         *unlock = libc ? dlsym(libc, "pthread_mutex_unlock") : NULL;
    *(void **)(void *)&barrier_wait = libc ? dlsym(libc, "pthread_barrier_wait") : NULL;
    *(void **)(void *)&bare.create = create;
    *(void **)(void *)&bare.join = join;
    *(void **)(void *)&bare.lock = lock;
    *(void **)(void *)&bare.unlock = unlock;
    return create && join && lock && unlock && barrier_wait;
}

static void *lock_once(void *arg)
{
    const struct calls *c = arg;
    c->lock(&mutex);
    c->unlock(&mutex);
    return NULL;
}

static void threads(void *arg, size_t n)
{
    const struct calls *c = arg;
    for (size_t i = 0; i < n; i++) {
        pthread_t thread;
        if (c->create(&thread, NULL, lock_once, arg) != 0 || c->join(thread, NULL) != 0) {
            fprintf(stderr, "bench_creation: no thread can be created\n");
            exit(2);
        }
    }
}

static void *lock_and_stay(void *arg)
{
    (void)lock_once(arg);
    barrier_wait(&all_live);
    return NULL;
}

/* As threads(), all of which live until the last one has locked. */
static void threads_at_once(void *arg, size_t n)
{
    const struct calls *c = arg;
    pthread_t thread[AT_ONCE];
    pthread_barrier_init(&all_live, NULL, (unsigned)n + 1);
    for (size_t i = 0; i < n; i++)
        if (c->create(&thread[i], NULL, lock_and_stay, arg) != 0) {
            fprintf(stderr, "bench_creation: no thread can be created\n");
            exit(2);
        }
    barrier_wait(&all_live);
    for (size_t i = 0; i < n; i++)
        c->join(thread[i], NULL);
    pthread_barrier_destroy(&all_live);
}

static double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Of each of `n` threads, in microseconds. */
static double thread_us(void (*loop)(void *, size_t), const struct calls *c, size_t n)
{
    double begin = cpu_us();
    loop((void *)c, n);
    return (cpu_us() - begin) / (double)n;
}

/* Added to each thread, in microseconds. */
static double added_us(size_t n)
{
    double floor = thread_us(threads, &bare, n);
    return thread_us(threads, &recorded, n) - floor;
}

/* Mostly the pages and the file of each thread, which cost what the kernel takes for them: without a bar. */
static void measure_at_once(struct bench *b, const char *name)
{
    double floor = thread_us(threads_at_once, &bare, AT_ONCE);
    bench_added(b, name, thread_us(threads_at_once, &recorded, AT_ONCE) * 1e3, floor * 1e3, 0)->judge = BENCH_NOTHING;
}

/* Mode 0 is the default. */
static void measure(struct bench *b, uint32_t mode, const char *unpooled, const char *steady, const char *at_once)
{
    const struct upmu_sync_opts opts = UPMU_INIT(struct upmu_sync_opts, .mode = mode, .trace = dir);
    const struct bench_pair pair = {
        .subject = {.name = steady, .loop = threads, .arg = (void *)&recorded},
        .floor = {.name = "the same, not recorded", .loop = threads, .arg = &bare},
        .n = ONE_AFTER_THE_OTHER,
        .work = true,
        .judge = BENCH_ADDED,
        .bar = steady_ns,
    };
    if (upmu_sync_begin(&opts) != 0) {
        bench_skip(b, steady, "%s", upmu_error());
        return;
    }
    bench_count(b, unpooled, added_us(UNPOOLED),
                unpooled_us * (b->slack > 0 ? b->slack : 1)); /* a time, unlike other counts */
    threads((void *)&recorded, WARM);
    bench_compare(b, &pair);
    measure_at_once(b, at_once);
    upmu_sync_end();
}

static void part_default(struct bench *b)
{
    measure(b, 0, "thread, default mode, first 200: added us", "thread, default mode, later ones",
            "thread, default mode, 200 at once");
}

static void part_all(struct bench *b)
{
    measure(b, UPMU_SYNC_ALL, "thread, mode all, first 200: added us", "thread, mode all, later ones",
            "thread, mode all, 200 at once");
}

int main(int argc, char **argv)
{
    struct bench *b = bench_start("creation", argc, argv);
    if (UNDER_TSAN || !find_bare()) {
        bench_skip(b, "thread", "the C library's own functions cannot be called beside the recorded ones");
        return bench_end(b);
    }
    bench_folder_make(dir);
    bench_part(b, "thread, default mode", part_default);
    bench_part(b, "thread, mode all", part_all);
    int status = bench_end(b);
    bench_folder_remove(dir);
    return status;
}
