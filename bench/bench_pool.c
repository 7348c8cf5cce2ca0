/* SPDX-License-Identifier: MIT */
/*
 * Cost of sync tracing for a thread pool with small tasks.
 *
 * A queue, a mutex, condition variables, four workers. Two pools alternate: one through libupmu_sync, one through the C
 * library's own functions; both call through a table, so nothing else differs. All threads run on one CPU and their CPU
 * time is measured: overlap on several CPUs varies more than the difference to be measured.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sanitizer.h"
#include "base/tick.h"
#include "bench.h"
#include "files.h"
#include "upmu/sync.h"

enum { WORKERS = 4, BATCH_US = 1500 };

struct calls {
    int (*lock)(pthread_mutex_t *);
    int (*unlock)(pthread_mutex_t *);
    int (*wait)(pthread_cond_t *, pthread_mutex_t *);
    int (*signal)(pthread_cond_t *);
};

struct pool {
    struct calls calls;
    pthread_mutex_t mutex;
    pthread_cond_t work, idle;
    pthread_t threads[WORKERS];
    bool over;
    size_t first, last; /* tasks taken and put, ever */
    size_t unfinished;
    unsigned long steps; /* of a task */
    int mode;            /* of recording, -1: none */
};

static char dir[PATH_MAX];

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

/* ------------------------------------------------------------------------------------------------------ a pool */

static void task(unsigned long steps)
{
    for (unsigned long i = 0; i < steps; i++)
        bench_barrier();
}

/* How many steps take so long here: the fastest of several tries, since other load only makes them longer. */
static unsigned long steps_of(const struct bench *b, double ns)
{
    enum { TRIES = 20, STEPS = 100000 };
    double best = 0;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = tick_now();
        task(STEPS);
        double took = (double)(tick_now() - before) * b->ns_per_tick;
        best = best == 0 || took < best ? took : best;
    }
    return (unsigned long)(ns / best * STEPS);
}

static void *worker(void *arg)
{
    struct pool *p = arg;
    const struct calls *c = &p->calls;
    c->lock(&p->mutex);
    for (;;) {
        while (p->first == p->last && !p->over)
            c->wait(&p->work, &p->mutex);
        if (p->over)
            break;
        p->first++;
        c->unlock(&p->mutex);
        task(p->steps);
        c->lock(&p->mutex);
        if (--p->unfinished == 0)
            c->signal(&p->idle);
    }
    c->unlock(&p->mutex);
    return NULL;
}

static void tasks(void *arg, size_t n)
{
    struct pool *p = arg;
    const struct calls *c = &p->calls;
    c->lock(&p->mutex);
    p->unfinished = n;
    c->unlock(&p->mutex);
    for (size_t i = 0; i < n; i++) {
        c->lock(&p->mutex);
        p->last++;
        c->unlock(&p->mutex);
        c->signal(&p->work);
    }
    c->lock(&p->mutex);
    while (p->unfinished > 0)
        c->wait(&p->idle, &p->mutex);
    c->unlock(&p->mutex);
}

static void start(struct pool *p, const struct calls *calls)
{
    *p = (struct pool){.calls = *calls,
                       .mutex = PTHREAD_MUTEX_INITIALIZER,
                       .work = PTHREAD_COND_INITIALIZER,
                       .idle = PTHREAD_COND_INITIALIZER,
                       .mode = -1};
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&p->threads[i], NULL, worker, p) != 0)
            give_up("pthread_create");
}

static void stop(struct pool *p)
{
    p->calls.lock(&p->mutex);
    p->over = true;
    p->calls.unlock(&p->mutex);
    for (int i = 0; i < WORKERS; i++)
        p->calls.signal(&p->work);
    for (int i = 0; i < WORKERS; i++)
        if (pthread_join(p->threads[i], NULL) != 0)
            give_up("pthread_join");
}

/* ------------------------------------------------------------------------------------------------------- rows */

static void begin(void *arg)
{
    const struct pool *p = arg;
    struct upmu_sync_opts o = {.size = sizeof o, .trace = dir};
    if (p->mode < 0)
        return;
    o.mode = (uint32_t)p->mode;
    if (upmu_sync_begin(&o) < 0)
        give_up(upmu_error());
}

static void end(void *arg)
{
    const struct pool *p = arg;
    if (p->mode >= 0 && upmu_sync_end() < 0)
        give_up(upmu_error());
}

static void row(struct bench *b, struct pool *ours, struct pool *bare, const char *title, int mode, double us,
                double bar)
{
    ours->mode = mode;
    ours->steps = bare->steps = steps_of(b, us * 1000);
    const struct bench_pair pair = {
        .subject = {title, tasks, ours, begin, end},
        .floor = {"the same pool, bare", tasks, bare, NULL, NULL},
        .n = (size_t)(BATCH_US / us),
        .work = true,
        .judge = bar > 0 ? BENCH_RATIO : BENCH_NOTHING,
        .bar = bar,
    };
    (void)bench_compare(b, &pair);
}

static void *real(const char *name)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    return libc ? dlsym(libc, name) : NULL;
}

static bool find_real(struct calls *out)
{
    void *const found[] = {real("pthread_mutex_lock"), real("pthread_mutex_unlock"), real("pthread_cond_wait"),
                           real("pthread_cond_signal")};
    _Static_assert(sizeof found == sizeof *out, "one each");
    memcpy(out, found, sizeof found);
    return found[0] && found[1] && found[2] && found[3];
}

#ifdef BENCH_FLIGHT
/* A ring with a trigger of each kind, none of which holds. */
static void rows(struct bench *b, struct pool *ours, struct pool *bare)
{
    row(b, ours, bare, "pool, tasks of 10 us, flight recorder", UPMU_SYNC_HOLDERS, 10, 1.10);
}

static bool arm(void)
{
    return setenv("UPMU_TRACE_POLICY", "ring:64M", 1) == 0 &&
           setenv("UPMU_SNAPSHOT_ON", "region parse > 100 s; wait any > 100 s; deadlock", 1) == 0;
}
#define POOL_TITLE "flight"
#else
static void rows(struct bench *b, struct pool *ours, struct pool *bare)
{
    row(b, ours, bare, "pool, tasks of 3 us, off", -1, 3, 1.10);
    row(b, ours, bare, "pool, tasks of 3 us, contended", UPMU_SYNC_CONTENDED, 3, 1.10);
    row(b, ours, bare, "pool, tasks of 10 us, contended", UPMU_SYNC_CONTENDED, 10, 1.10);
    row(b, ours, bare, "pool, tasks of 3 us, all", UPMU_SYNC_ALL, 3, 0);
}

static bool arm(void)
{
    return true;
}
#define POOL_TITLE "pool"
#endif

int main(int argc, char **argv)
{
    struct pool ours, bare;
    const struct calls traced = {pthread_mutex_lock, pthread_mutex_unlock, pthread_cond_wait, pthread_cond_signal};
    struct bench *b = bench_start(POOL_TITLE, argc, argv);
    struct calls own;
    if (UNDER_TSAN) {
        bench_skip(b, "thread pool", "ThreadSanitizer does not see the C library's own functions");
        return bench_end(b);
    }
    if (!find_real(&own)) {
        bench_skip(b, "thread pool", "the C library's own functions were not found");
        return bench_end(b);
    }
    if (!bench_pin(b->cpu)) {
        bench_skip(b, "thread pool", "this process may not choose its CPU");
        return bench_end(b);
    }
    bench_folder_make(dir);
    if (!arm())
        give_up("setenv");
    /* Threads that were there before the first recording are unwound in a slower way: here all are made after it. */
    ours.mode = UPMU_SYNC_CONTENDED;
    begin(&ours);
    end(&ours);
    start(&ours, &traced);
    start(&bare, &own);
    rows(b, &ours, &bare);
    stop(&ours);
    stop(&bare);
    int status = bench_end(b);
    bench_folder_remove(dir);
    return status;
}
