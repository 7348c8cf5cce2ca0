/* SPDX-License-Identifier: MIT */
/*
 * Cost of sync tracing for an uncontended pair of each lock type except the mutex.
 *
 * A second thread is alive. The floor is the same pair through the C library. Recording adds about the same nanoseconds
 * to all types; the bare pairs of spin locks and semaphores are shorter, so their ratios are larger.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "base/tick.h"
#include "bench.h"
#include "files.h"
#include "upmu/sync.h"

enum { PAIRS = 2000 };

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static mtx_t mtx;
static sem_t sem;
static char dir[PATH_MAX];

typedef int call(void *object);

/* A kind: how the program takes and gives one, and what these functions are called. */
struct kind {
    const char *title;
    void (*pairs)(void *arg, size_t n);
    const char *take, *give;
    void *object;
    double contended; /* the bar of that mode */
    double holders;   /* the bar of the default mode, against a pair and a tick */
};

/* One side of a row: what the C library's own functions are, or the mode of recording, -1: off. */
struct side {
    call *take, *give;
    void *object;
    int mode;
};

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

/* ------------------------------------------------------------------------------------------------------ pairs */

static void read_pairs(void *arg, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++) {
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
}

static void write_pairs(void *arg, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++) {
        pthread_rwlock_wrlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
}

static void spin_pairs(void *arg, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++) {
        pthread_spin_lock(&spin);
        pthread_spin_unlock(&spin);
    }
}

static void mtx_pairs(void *arg, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++) {
        (void)mtx_lock(&mtx);
        (void)mtx_unlock(&mtx);
    }
}

static void sem_pairs(void *arg, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++) {
        sem_wait(&sem);
        sem_post(&sem);
    }
}

static void bare_pairs(void *arg, size_t n)
{
    const struct side *s = arg;
    for (size_t i = 0; i < n; i++) {
        s->take(s->object);
        s->give(s->object);
    }
}

/* Mode holders needs a tick, which costs as much as the pair on some CPUs. */
static void ticked_pairs(void *arg, size_t n)
{
    const struct side *s = arg;
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        s->take(s->object);
        last ^= tick_now();
        s->give(s->object);
    }
    __asm__ volatile("" ::"r"(last));
}

/* ------------------------------------------------------------------------------------------------------- rows */

static void begin(void *arg)
{
    const struct side *s = arg;
    struct upmu_sync_opts o = {.size = sizeof o, .stack_depth = UPMU_SYNC_NO_STACKS, .trace = dir};
    if (s->mode < 0)
        return;
    o.mode = (uint32_t)s->mode;
    if (upmu_sync_begin(&o) < 0)
        give_up(upmu_error());
}

static void end(void *arg)
{
    const struct side *s = arg;
    if (s->mode >= 0 && upmu_sync_end() < 0)
        give_up(upmu_error());
}

static call *real(const char *name)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW), *symbol = libc ? dlsym(libc, name) : NULL;
    call *found = NULL;
    memcpy(&found, &symbol, sizeof found);
    return found;
}

static void row(struct bench *b, const struct kind *k, const char *mode_name, int mode, double bar)
{
    bool ticked = mode == UPMU_SYNC_HOLDERS;
    struct side ours = {.mode = mode};
    struct side floor = {.take = real(k->take), .give = real(k->give), .object = k->object};
    char title[BENCH_NAME_MAX];
    snprintf(title, sizeof title, "%s, %s", k->title, mode_name);
    if (!floor.take || !floor.give) {
        bench_skip(b, title, "the C library's own functions were not found");
        return;
    }
    const struct bench_pair pair = {
        .subject = {title, k->pairs, &ours, begin, end},
        .floor = {ticked ? "bare pair and a tick" : "bare pair", ticked ? ticked_pairs : bare_pairs, &floor, NULL,
                  NULL},
        .n = PAIRS,
        .judge = BENCH_RATIO,
        .bar = bar,
    };
    (void)bench_compare(b, &pair);
}

static void *wait_for_ever(void *arg)
{
    pause();
    return arg;
}

int main(int argc, char **argv)
{
    static const struct kind kinds[] = {
        {"rwlock, read", read_pairs, "pthread_rwlock_rdlock", "pthread_rwlock_unlock", &rwlock, 1.5, 1.6},
        {"rwlock, write", write_pairs, "pthread_rwlock_wrlock", "pthread_rwlock_unlock", &rwlock, 1.5, 1.6},
        {"spin lock", spin_pairs, "pthread_spin_lock", "pthread_spin_unlock", (void *)(uintptr_t)&spin, 2.2, 2.2},
        {"mtx_t", mtx_pairs, "mtx_lock", "mtx_unlock", &mtx, 1.5, 1.6},
        {"semaphore as a lock", sem_pairs, "sem_wait", "sem_post", &sem, 2.2, 2.2},
    };
    struct bench *b = bench_start("locks", argc, argv);
    pthread_t other;
    bench_folder_make(dir);
    if (pthread_spin_init(&spin, 0) != 0 || mtx_init(&mtx, mtx_plain) != thrd_success || sem_init(&sem, 0, 1) != 0 ||
        pthread_create(&other, NULL, wait_for_ever, NULL) != 0)
        give_up("bench_locks");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        row(b, &kinds[i], "off, never begun", -1, 1.10);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        row(b, &kinds[i], "contended", UPMU_SYNC_CONTENDED, kinds[i].contended);
        row(b, &kinds[i], "holders", UPMU_SYNC_HOLDERS, kinds[i].holders);
        row(b, &kinds[i], "off, after recording", -1, 1.10);
    }
    int status = bench_end(b);
    bench_folder_remove(dir);
    return status;
}
