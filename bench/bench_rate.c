/* SPDX-License-Identifier: MIT */
/*
 * Completeness of the trace at ten million events a second from each of two threads.
 *
 * Each thread, on a CPU of its own, locks and unlocks its own mutex at a fixed rate in mode all; then the events in the
 * trace are counted. A machine that cannot store that many bytes into such files gets four fifths of what it can store.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/tick.h"
#include "bench.h"
#include "files.h"
#include "upmu/sync.h"
#include "upmu/trace.h"

enum {
    THREADS = 2,
    EVENT_BYTES = 16,
    PIECE_BYTES = 256 * 1024,
    AT_ONCE = 500,
    LEAST = 2000000, /* events of a thread, so that what the files have once is little beside them */
    NS_PER_S = 1000000000,
};
static const double wanted_rate = 1e7, share_of_raw = 0.8;

/* One of the threads; by itself in its cache lines. */
struct worker {
    _Alignas(128) pthread_mutex_t lock;
    pthread_t thread;
    const char *folder;
    int cpu;
    double seconds;
    double rate; /* events a second; INFINITY: as fast as it goes */
    double done; /* events, per second that it took */
    uint64_t sent;
};

static pthread_barrier_t together;

static void give_up(const char *what)
{
    (void)fprintf(stderr, "bench_rate: %s\n", what);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / NS_PER_S;
}

/* All of a worker's events, some at once, and then none until the next ones are due. */
static void pace(struct worker *w, void (*some)(struct worker *w, void *arg), void *arg)
{
    (void)bench_pin(w->cpu);
    (void)pthread_barrier_wait(&together);
    double begin = now(), passed = 0;
    while (passed < w->seconds || w->sent < LEAST) {
        some(w, arg);
        w->sent += 2 * AT_ONCE;
        do
            passed = now() - begin;
        while (passed < (double)w->sent / w->rate);
    }
    w->done = (double)w->sent / passed;
}

static void some_pairs(struct worker *w, void *arg)
{
    (void)arg;
    for (int i = 0; i < AT_ONCE; i++) {
        pthread_mutex_lock(&w->lock);
        pthread_mutex_unlock(&w->lock);
    }
}

static void some_stores(struct worker *w, void *arg)
{
    struct bench_file *f = arg;
    for (int i = 0; i < 2 * AT_ONCE; i++) {
        const uint64_t event[EVENT_BYTES / 8] = {tick_now(), (uintptr_t)w};
        bench_file_store(f, event, sizeof event);
        bench_barrier();
    }
}

static void *lock_and_unlock(void *arg)
{
    pace(arg, some_pairs, NULL);
    return NULL;
}

static void *store(void *arg)
{
    struct worker *w = arg;
    struct bench_file f;
    bench_file_open(&f, w->folder, PIECE_BYTES);
    pace(w, some_stores, &f);
    bench_file_close(&f);
    return NULL;
}

/* @return the rate of the slower one. */
static double run(struct worker w[THREADS], void *(*work)(void *), double seconds, double rate)
{
    for (int i = 0; i < THREADS; i++) {
        w[i].seconds = seconds;
        w[i].rate = rate;
        w[i].sent = 0;
        if (pthread_create(&w[i].thread, NULL, work, &w[i]) != 0)
            give_up("no thread");
    }
    for (int i = 0; i < THREADS; i++)
        if (pthread_join(w[i].thread, NULL) != 0)
            give_up("a thread is gone");
    return fmin(w[0].done, w[1].done);
}

/* The workers' events in the recording, and the number of lost events. */
static void count(const char *folder, const struct worker w[THREADS], uint64_t *stored, uint64_t *lost)
{
    struct upmu_trace *trace;
    const struct upmu_trace_event *e;
    struct upmu_trace_process p = {.size = sizeof p};
    int rc;
    if (upmu_trace_open(&trace, folder) < 0)
        give_up(upmu_error());
    *stored = 0;
    while ((rc = upmu_trace_next(trace, &e)) > 0) {
        bool ours = e->object == (uintptr_t)&w[0].lock || e->object == (uintptr_t)&w[1].lock;
        *stored += ours && (e->kind == UPMU_TRACE_LOCK_ACQUIRE || e->kind == UPMU_TRACE_LOCK_RELEASE);
    }
    if (rc < 0 || upmu_trace_process_at(trace, 0, &p) < 0)
        give_up(upmu_error());
    *lost = p.lost;
    upmu_trace_close(trace);
}

static void measure(struct bench *b, const char *folder, struct worker w[THREADS])
{
    const struct upmu_sync_opts opts = {
        .size = sizeof opts, .mode = UPMU_SYNC_ALL, .stack_depth = UPMU_SYNC_NO_STACKS, .trace = folder};
    double seconds = b->brief ? 0.2 : 10, raw = run(w, store, b->brief ? 0.2 : 1, INFINITY);
    double rate = fmin(wanted_rate, share_of_raw * raw);
    uint64_t stored, lost;
    char name[BENCH_NAME_MAX];

    if (upmu_sync_begin(&opts) < 0)
        give_up(upmu_error());
    double done = run(w, lock_and_unlock, seconds, rate);
    if (upmu_sync_end() < 0)
        give_up(upmu_error());
    count(folder, w, &stored, &lost);
    /* A short run shows that nothing is lost; the rate that it reaches depends on other load. */
    (void)snprintf(name, sizeof name, "2 x %.1f of %.1f M events/s stored raw, missed %%", rate / 1e6, raw / 1e6);
    struct bench_row *row = bench_count(b, name, fmax(0, (1 - done / rate) * 100), b->brief ? 100 : 2);
    if (stored == 0)
        bench_fail(row, "there is no event in the trace");
    (void)bench_count(b, "of them lost", (double)lost, 0);
    /* Sixteen for itself; the heads of packets and the files of names are shared by many. */
    (void)bench_count(b, "bytes of an event, all files together", bench_folder_bytes(folder) / (double)stored,
                      b->brief ? 17 : 16.05);
    (void)bench_count(b, "sent, but neither stored nor lost", (double)(w[0].sent + w[1].sent) - (double)(stored + lost),
                      0);
}

int main(int argc, char **argv)
{
    struct bench *b = bench_start("rate", argc, argv);
    static struct worker w[THREADS];
    char folder[PATH_MAX];
    if (b->other < 0) {
        bench_skip(b, "two threads at full speed", "there is but one CPU to be used");
        return bench_end(b);
    }
    bench_folder_make(folder);
    if (pthread_barrier_init(&together, NULL, THREADS) != 0)
        give_up("no barrier");
    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct worker){.folder = folder, .cpu = i == 0 ? b->cpu : b->other};
        if (pthread_mutex_init(&w[i].lock, NULL) != 0)
            give_up("no mutex");
    }
    measure(b, folder, w);
    bench_folder_remove(folder);
    return bench_end(b);
}
