/* SPDX-License-Identifier: MIT */
/*
 * What sync tracing costs a wait that sleeps: two threads on one CPU hand each other the turn through two semaphores, so that
 * every turn is a block, a wake-up and a context switch. Room: bench; before it the program's calls, which libupmu_sync
 * takes over here as it does anywhere, after it the table of bench.c. The floor is the same through the C library's own
 * functions.
 */
#include <dlfcn.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "upmu/region.h"
#include "upmu/sync.h"

enum { TURNS = 200 };

static sem_t ours_first, ours_second, bare_first, bare_second;
static int (*bare_wait)(sem_t *), (*bare_post)(sem_t *);
static char dir[PATH_MAX];

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

/* The other side of both; it lives as long as the process. */
static void *answer_ours(void *arg)
{
    for (;;) {
        sem_wait(&ours_first);
        sem_post(&ours_second);
    }
    return arg;
}

static void *answer_bare(void *arg)
{
    for (;;) {
        bare_wait(&bare_first);
        bare_post(&bare_second);
    }
    return arg;
}

static void turns(void *arg, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++) {
        sem_post(&ours_first);
        sem_wait(&ours_second);
    }
}

static void bare_turns(void *arg, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++) {
        bare_post(&bare_first);
        bare_wait(&bare_second);
    }
}

static bool find_bare(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    void *wait = libc ? dlsym(libc, "sem_wait") : NULL, *post = libc ? dlsym(libc, "sem_post") : NULL;
    *(void **)(void *)&bare_wait = wait;
    *(void **)(void *)&bare_post = post;
    return wait && post;
}

/* In a process of its own: what is switched on here stays on. */
static void measure(struct bench *b, const char *title, const char *events, const struct upmu_sync_opts *opts,
                    enum bench_judge judge, double bar)
{
    pthread_t threads[2];
    struct upmu_region_opts regions = {.size = sizeof regions, .events = events, .trace = dir};
    const struct bench_pair pair = {
        .subject = {title, turns, NULL, NULL, NULL},
        .floor = {"the same untraced", bare_turns, NULL, NULL, NULL},
        .n = TURNS,
        .calls = 2, /* both threads block once in a turn */
        .judge = judge,
        .bar = bar,
    };
    if (!find_bare()) {
        bench_skip(b, title, "the C library's own functions were not found");
        return;
    }
    if (upmu_region_setup(&regions) < 0 || upmu_sync_begin(opts) < 0)
        give_up(upmu_error());
    if (sem_init(&ours_first, 0, 0) != 0 || sem_init(&ours_second, 0, 0) != 0 || sem_init(&bare_first, 0, 0) != 0 ||
        sem_init(&bare_second, 0, 0) != 0 || pthread_create(&threads[0], NULL, answer_ours, NULL) != 0 ||
        pthread_create(&threads[1], NULL, answer_bare, NULL) != 0)
        give_up("two threads and their semaphores");
    (void)bench_compare(b, &pair);
}

static void plain(struct bench *b)
{
    const struct upmu_sync_opts opts = {.size = sizeof opts, .trace = dir};
    measure(b, "contended, with stacks", "none", &opts, BENCH_NOTHING, 0);
}

static void with_counters(struct bench *b)
{
    const struct upmu_sync_opts opts = {.size = sizeof opts, .trace = dir, .counters = 1};
    measure(b, "and two counters", "page-faults,context-switches", &opts, BENCH_NOTHING, 0);
}

static void with_switches(struct bench *b)
{
    const struct upmu_sync_opts opts = {.size = sizeof opts, .trace = dir, .sched = 1};
    measure(b, "and the kernel's records of switches", "none", &opts, BENCH_NOTHING, 0);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

int main(int argc, char **argv)
{
    struct bench *b = bench_start("a wait that sleeps", argc, argv);
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/upmu-bench-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        give_up(dir);
    bench_part(b, "contended, with stacks", plain);
    bench_part(b, "and two counters", with_counters);
    bench_part(b, "and the kernel's records of switches", with_switches);
    int status = bench_end(b);
    if (nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS) != 0)
        give_up(dir);
    return status;
}
