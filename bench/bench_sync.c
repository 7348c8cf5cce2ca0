/* SPDX-License-Identifier: MIT */
/*
 * Cost of sync tracing for an uncontended mutex pair while a second thread is alive.
 *
 * The floor of a mode is the C library's own pair. Mode all has a second floor: that pair with a tick per event and as
 * many bytes stored into the same kind of mapping, a file that grows packet by packet or, built with BENCH_RING, one
 * that is mapped whole and overwritten (the trace policy is per process, hence a program of its own). Few pairs per
 * batch stay within one packet and show the event alone; many include new packets on both sides. Call stacks are those
 * of one call site, sixteen frames deep.
 */
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sanitizer.h"
#include "base/tick.h"
#include "bench.h"
#include "files.h"
#include "sync_trace/leave_out.h"
#include "upmu/sync.h"

#ifdef BENCH_RING
#define RING_SIZE "1M"
enum { RING = 1, PIECE_BYTES = 1024 * 1024 };
#else
#define RING_SIZE ""
enum { RING = 0, PIECE_BYTES = 256 * 1024 };
#endif

enum {
    EVENT_BYTES = 16,
    FEW = 2000,
    MANY = 60000,
    NEW_STACKS = 100, /* of a call: all of them fit in the table */
    BLOCK_BYTES = 100,
    OWNERS = 1000,
    DEEP = 16,
    UNWOUND = 25,
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static char dir[PATH_MAX];

/* One side of a row. */
struct side {
    int (*lock)(pthread_mutex_t *); /* the C library's */
    int (*unlock)(pthread_mutex_t *);
    void (*free)(void *);
    int mode; /* of the subject; -1: recording is off */
    bool requests;
    uint32_t depth; /* of call stacks; 0: none */
    int events;     /* stored for a pair, of the floor */
    struct bench_file file;
};

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

/* ------------------------------------------------------------------------------------------------------- ours */

static void pairs(void *arg, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static __attribute__((noinline)) void pairs_below(unsigned calls, size_t n)
{
    if (calls > 0)
        pairs_below(calls - 1, n);
    else
        pairs(NULL, n);
    bench_barrier(); /* after a call that is the last thing done nothing of this one would be left on the stack */
}

static void deep_pairs(void *arg, size_t n)
{
    (void)arg;
    pairs_below(DEEP, n);
}

/* Two nested ones, in an order that has been reported. */
static void nested_pairs(void *arg, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i += 2) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&inner);
        pthread_mutex_unlock(&inner);
        pthread_mutex_unlock(&mutex);
    }
}

/* A block that the compiler may not optimize away. */
static inline void *block(void)
{
    void *p = malloc(BLOCK_BYTES);
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

static void blocks(void *arg, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++)
        free(block());
}

/* Objects with a mutex between other blocks, as a program's heap has them; all have been used. */
static void make_owners(void)
{
    static void *between[OWNERS];
    for (int i = 0; i < OWNERS; i++) {
        pthread_mutex_t *m = malloc(sizeof *m + BLOCK_BYTES);
        between[i] = malloc((size_t)i);
        if (!m)
            give_up("malloc");
        *m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
    for (int i = 0; i < OWNERS; i++)
        free(between[i]);
}

static void begin(void *arg)
{
    const struct side *s = arg;
    struct upmu_sync_opts o = {.size = sizeof o, .trace = dir, .requests = s->requests};
    o.stack_depth = s->depth ? s->depth : UPMU_SYNC_NO_STACKS;
    if (s->mode < 0)
        return;
    o.mode = (uint32_t)s->mode;
    if (upmu_sync_begin(&o) < 0)
        give_up(upmu_error());
    pairs(NULL, 1); /* what is made at a thread's first event is no part of a pair */
}

static void end(void *arg)
{
    const struct side *s = arg;
    if (s->mode >= 0 && upmu_sync_end() < 0)
        give_up(upmu_error());
}

/* ------------------------------------------------------------------------------------------------------ floor */

static void bare_pairs(void *arg, size_t n)
{
    const struct side *s = arg;
    for (size_t i = 0; i < n; i++) {
        s->lock(&mutex);
        s->unlock(&mutex);
    }
}

static void ticked_pairs(void *arg, size_t n)
{
    const struct side *s = arg;
    volatile uint64_t since;
    for (size_t i = 0; i < n; i++) {
        s->lock(&mutex);
        since = tick_now();
        s->unlock(&mutex);
    }
    (void)since;
}

static void bare_nested_pairs(void *arg, size_t n)
{
    const struct side *s = arg;
    for (size_t i = 0; i < n; i += 2) {
        s->lock(&mutex);
        s->lock(&inner);
        s->unlock(&inner);
        s->unlock(&mutex);
    }
}

static void bare_blocks(void *arg, size_t n)
{
    const struct side *s = arg;
    for (size_t i = 0; i < n; i++)
        s->free(block());
}

static void open_file(void *arg)
{
    struct side *s = arg;
    bench_file_open(&s->file, dir, PIECE_BYTES);
    if (RING) /* its pages are not new */
        memset(s->file.piece, 1, PIECE_BYTES);
}

static void close_file(void *arg)
{
    struct side *s = arg;
    bench_file_close(&s->file);
}

static inline void store_event(struct side *s, uint64_t tick)
{
    const uint64_t event[EVENT_BYTES / 8] = {tick, (uintptr_t)&mutex};
    if (RING && s->file.used + EVENT_BYTES > PIECE_BYTES)
        s->file.used = 0;
    bench_file_store(&s->file, event, sizeof event);
    bench_barrier();
}

static void stored_pairs(void *arg, size_t n)
{
    struct side *s = arg;
    for (size_t i = 0; i < n; i++) {
        if (s->events > 2)
            store_event(s, tick_now());
        s->lock(&mutex);
        store_event(s, tick_now());
        uint64_t tick = tick_now();
        s->unlock(&mutex);
        store_event(s, tick);
    }
}

/* ------------------------------------------------------------------------------------------------------- rows */

/* What is recorded in a row. */
struct what {
    const char *title;
    int mode;
    bool requests;
    uint32_t depth;
};

static const char *stored_title(int stored)
{
    return stored == 3   ? "bare pair, 3 ticks, 3 x 16 bytes"
           : stored == 2 ? "bare pair, 2 ticks, 2 x 16 bytes"
                         : "bare pair";
}

static void row(struct bench *b, const struct side *real, const struct what *w, int stored, size_t n, double bar)
{
    struct side ours = *real, floor = *real;
    ours.mode = w->mode;
    ours.requests = w->requests;
    ours.depth = w->depth;
    floor.events = stored;
    struct bench_pair pair = {
        .subject = {w->title, w->depth ? deep_pairs : pairs, &ours, begin, end},
        .floor = {stored_title(stored), stored ? stored_pairs : bare_pairs, &floor, stored ? open_file : NULL,
                  stored ? close_file : NULL},
        .n = n,
        .judge = bar > 0 ? BENCH_RATIO : BENCH_NOTHING,
        .bar = bar,
    };
    (void)bench_compare(b, &pair);
}

/* A mode without stacks and requests, against the bare pair. */
static void mode_row(struct bench *b, const struct side *real, const char *title, int mode, double bar)
{
    const struct what w = {.title = title, .mode = mode};
    row(b, real, &w, 0, FEW, bar);
}

/* Mode holders against the pair with a tick after the lock, which it cannot do without: on some CPUs a tick beside a locked
 * instruction costs as much as the pair. The first row has the tick alone. */
static void tick_rows(struct bench *b, const struct side *real, double bar, double bar_stacks)
{
    struct side ours = *real, floor = *real;
    const struct bench_pair tick = {
        .subject = {"bare pair and a tick", ticked_pairs, &ours, NULL, NULL},
        .floor = {"bare pair", bare_pairs, &floor, NULL, NULL},
        .n = FEW,
        .judge = BENCH_NOTHING,
    };
    struct bench_pair holders = {
        .subject = {"holders", pairs, &ours, begin, end},
        .floor = {"bare pair and a tick", ticked_pairs, &floor, NULL, NULL},
        .n = FEW,
        .judge = BENCH_RATIO,
        .bar = bar,
    };
    (void)bench_compare(b, &tick);
    ours.mode = UPMU_SYNC_HOLDERS;
    (void)bench_compare(b, &holders);
    ours.depth = DEEP; /* now the stack is copied, too */
    holders.subject.name = "holders, with stacks";
    holders.bar = bar_stacks;
    (void)bench_compare(b, &holders);
}

/* How many times a bare pair its events cost at least, only stored. Where new pages of a file are slow, that is more than the bars. */
static double stored_ratio(struct bench *b, const struct side *real, int stored)
{
    struct side ours = *real, floor = *real;
    ours.events = stored;
    const struct bench_pair pair = {
        .subject = {stored_title(stored), stored_pairs, &ours, open_file, close_file},
        .floor = {"bare pair", bare_pairs, &floor, NULL, NULL},
        .n = FEW,
        .judge = BENCH_NOTHING,
    };
    return bench_compare(b, &pair)->ratio;
}

/* Every event of mode all: against the pair, and against what storing it costs at least. */
static void all_rows(struct bench *b, const struct side *real)
{
    static const char *const policy = RING ? "ring" : "growing";
    static const char *const round = RING ? "a ring that wraps around" : "with new packets";
    const double two = stored_ratio(b, real, 2), three = stored_ratio(b, real, 3);
    char title[BENCH_NAME_MAX];
    struct what w = {.title = title, .mode = UPMU_SYNC_ALL};
    snprintf(title, sizeof title, "all, %s", policy);
    row(b, real, &w, 0, FEW, fmax(3.0, 1.25 * two));
    row(b, real, &w, 2, FEW, 1.25);
    snprintf(title, sizeof title, "all, %s", round);
    row(b, real, &w, 2, MANY, 1.25);
    w.requests = true;
    snprintf(title, sizeof title, "all and requests, %s", policy);
    row(b, real, &w, 0, FEW, fmax(3.6, 1.25 * three));
    row(b, real, &w, 3, FEW, 1.25);
    w.depth = DEEP;
    snprintf(title, sizeof title, "all and requests, stacks of %d, %s", DEEP, policy);
    row(b, real, &w, 0, FEW, fmax(5, 1.75 * three));
}

#ifndef BENCH_RING
/* ------------------------------------------------------------------------------------------------------ call stacks */

static int (*unw_backtrace)(void **frames, int max);

static __attribute__((noinline)) void take_stack(bool ours)
{
    void *frames[UNWOUND];
    if (ours ? upmu_sync_stack_(tick_now(), (uintptr_t)__builtin_return_address(0), __builtin_frame_address(0)) == 0
             : unw_backtrace(frames, UNWOUND) < UNWOUND)
        give_up("a call stack");
}

/* `calls` below, by one of two call sites each as the bits of `way` are; there n times. */
static __attribute__((noinline)) void stacks_below(unsigned calls, size_t way, bool ours, size_t n)
{
    if (calls > 0 && way % 2) {
        stacks_below(calls - 1, way / 2, ours, n);
        __asm__ volatile("# odd"); /* else the two calls become one */
    } else if (calls > 0) {
        stacks_below(calls - 1, way / 2, ours, n);
        __asm__ volatile("# even");
    }
    for (size_t i = 0; calls == 0 && i < n; i++)
        take_stack(ours);
}

static void same_stack(void *arg, size_t n)
{
    const struct side *s = arg;
    stacks_below(UNWOUND, 0, s->depth > 0, n);
}

static void new_stacks(void *arg, size_t n)
{
    static size_t way;
    const struct side *s = arg;
    for (size_t i = 0; i < n; i++)
        stacks_below(UNWOUND, way++, s->depth > 0, 1);
}

static void stack_rows(struct bench *b, const struct side *real)
{
    void *library = dlopen("libunwind.so.8", RTLD_NOW), *symbol = library ? dlsym(library, "unw_backtrace") : NULL;
    *(void **)(void *)&unw_backtrace = symbol;
    struct side ours = *real, floor = *real;
    ours.mode = UPMU_SYNC_CONTENDED;
    ours.depth = UNWOUND;
    struct bench_pair pair = {
        .subject = {"call stack of 25 frames, the same again", same_stack, &ours, begin, end},
        .floor = {"unw_backtrace", same_stack, &floor, NULL, NULL},
        .n = FEW,
        .judge = BENCH_NS,
        .bar = 250,
    };
    if (!unw_backtrace) {
        bench_skip(b, pair.subject.name, "libunwind.so.8 is not there");
        return;
    }
    (void)bench_compare(b, &pair);
    pair.subject.name = "call stack of 25 frames, each another one";
    pair.subject.loop = pair.floor.loop = new_stacks;
    pair.n = NEW_STACKS;
    pair.judge = BENCH_NOTHING;
    (void)bench_compare(b, &pair);
}
#endif

static void nested_row(struct bench *b, const struct side *real, double bar)
{
    struct side ours = *real, floor = *real;
    ours.mode = UPMU_SYNC_CONTENDED;
    struct bench_pair pair = {
        .subject = {"contended, nested, per pair", nested_pairs, &ours, begin, end},
        .floor = {"bare nested, per pair", bare_nested_pairs, &floor, NULL, NULL},
        .n = FEW,
        .judge = BENCH_RATIO,
        .bar = bar,
    };
    (void)bench_compare(b, &pair);
}

/* Freed memory that holds no lock. */
static void free_row(struct bench *b, const struct side *real, const char *title, int mode, double bar)
{
    struct side ours = *real, floor = *real;
    ours.mode = mode;
    struct bench_pair pair = {
        .subject = {title, blocks, &ours, begin, end},
        .floor = {"bare malloc and free", bare_blocks, &floor, NULL, NULL},
        .n = FEW,
        .judge = BENCH_RATIO,
        .bar = bar,
    };
    (void)bench_compare(b, &pair);
}

static void free_rows(struct bench *b, const struct side *real)
{
    struct side owners = *real;
    owners.mode = UPMU_SYNC_CONTENDED;
    if (UNDER_ASAN || UNDER_TSAN) {
        bench_skip(b, "malloc and free", "a sanitizer has both of its own");
        return;
    }
    free_row(b, real, "malloc and free, off, never begun", -1, 1.4);
    free_row(b, real, "malloc and free, contended", UPMU_SYNC_CONTENDED, 2);
    begin(&owners);
    make_owners();
    end(&owners);
    free_row(b, real, "malloc and free, off, after recording", -1, 1.4);
    free_row(b, real, "malloc and free beside a lock, contended", UPMU_SYNC_CONTENDED, 4);
}

static void *wait_forever(void *arg)
{
    pause();
    return arg;
}

int main(int argc, char **argv)
{
    struct bench *b = bench_start("sync", argc, argv);
    pthread_t other;
    bench_folder_make(dir);
    if (pthread_create(&other, NULL, wait_forever, NULL) != 0)
        give_up("pthread_create");
    if (setenv("UPMU_TRACE_POLICY", RING ? "ring:" RING_SIZE : "grow", 1) != 0)
        give_up("setenv");
    struct side real = {.mode = -1};
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    void *symbol = libc ? dlsym(libc, "pthread_mutex_lock") : NULL;
    *(void **)(void *)&real.lock = symbol;
    symbol = libc ? dlsym(libc, "pthread_mutex_unlock") : NULL;
    *(void **)(void *)&real.unlock = symbol;
    symbol = libc ? dlsym(libc, "free") : NULL;
    *(void **)(void *)&real.free = symbol;
    if (!real.lock || !real.unlock || !real.free) {
        bench_skip(b, "mutex pair", "the C library's own functions were not found");
        return bench_end(b);
    }
    if (!RING) {
        mode_row(b, &real, "off, never begun", -1, 1.10);
        free_rows(b, &real);
        mode_row(b, &real, "counts", UPMU_SYNC_COUNTS, 1.5);
        mode_row(b, &real, "off, after recording", -1, 1.10);
        mode_row(b, &real, "contended", UPMU_SYNC_CONTENDED, 1.42);
        nested_row(b, &real, 1.6);
        mode_row(b, &real, "holders", UPMU_SYNC_HOLDERS, 0);
        tick_rows(b, &real, 1.42, 1.50);
    }
#ifndef BENCH_RING
    stack_rows(b, &real);
#endif
    all_rows(b, &real);
    int status = bench_end(b);
    bench_folder_remove(dir);
    return status;
}
