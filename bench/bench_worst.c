/* SPDX-License-Identifier: MIT */
/*
 * The worst calls: what a wrapper adds to one call in a thousand, and to the slowest one, in the default mode.
 *
 * Every call is timed alone, in rounds of 5000, alternately with the C library's own function. An interrupt or another thread on
 * the CPU makes single calls of both sides slow, in some rounds more than in others; what the wrapper itself does now and then
 * (sampled acquisitions, new packets) is in most of them. So both numbers are the median of the rounds, of the slowest call
 * only of those rounds in which the thread was not switched out.
 */
#include <dlfcn.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <threads.h>
#include <unistd.h>

#include "base/sanitizer.h"
#include "base/tick.h"
#include "bench.h"
#include "files.h"
#include "upmu/sync.h"

enum { CALLS = 5000, ROUNDS_MOST = 100, ROUNDS_BRIEF = 30, SERIES_BRIEF = 5 };

static const double share = 0.999;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static mtx_t mtx;
static sem_t sem;
static int filled[2], notified[2];
static char dir[PATH_MAX];

typedef long call(void *object);

/* A function of the program, as its compiler binds it, and the C library's own. */
struct function {
    const char *name;
    call *ours;
};

/* A timed call, and one that undoes it or makes it possible. */
struct subject {
    const char *title;
    struct function timed, other;
    call *bare; /**< for a timed call without a name */
    void *object;
    bool other_first;
    double bar_share, bar_slowest; /* nanoseconds added */
};

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

#define FUNCTION(name)                        \
    {                                         \
#name, (call *)(void (*)(void))(name) \
    }

static call *real(const char *name)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW), *symbol = libc ? dlsym(libc, name) : NULL;
    call *found = NULL;
    memcpy(&found, &symbol, sizeof found);
    return found;
}

/* --------------------------------------------------------------------------------------------- calls with arguments */

static ssize_t (*bare_read)(int, void *, size_t);
static int (*bare_poll)(struct pollfd *, nfds_t, int);
static void (*bare_free)(void *);

static long read_ours(void *object)
{
    char byte;
    return read(*(int *)object, &byte, 1);
}

static long read_bare(void *object)
{
    char byte;
    return bare_read(*(int *)object, &byte, 1);
}

static long fill(void *object)
{
    static ssize_t (*bare_write)(int, const void *, size_t);
    char byte = 0;
    (void)object;
    if (!bare_write) {
        call *found = real("write");
        memcpy(&bare_write, &found, sizeof found);
    }
    return bare_write(filled[1], &byte, 1);
}

static long poll_ours(void *object)
{
    struct pollfd one = {.fd = *(int *)object, .events = POLLIN};
    return poll(&one, 1, 1000);
}

static long poll_bare(void *object)
{
    struct pollfd one = {.fd = *(int *)object, .events = POLLIN};
    return bare_poll(&one, 1, 1000);
}

static long nothing(void *object)
{
    return object == NULL;
}

/* Each signal without a waiter is an event: it is compared with its bytes stored into a growing file, since what new pages of a file
 * cost is up to the machine. */
enum { SIGNAL_BYTES = 38, PIECE_BYTES = 256 << 10 };

static struct bench_file file;

static long signal_ours(void *object)
{
    return pthread_cond_signal(object);
}

static long signal_bare(void *object)
{
    static const uint8_t event[SIGNAL_BYTES];
    (void)object;
    bench_file_store(&file, event, sizeof event);
    return 0;
}

static void *block;

static long allocate(void *object)
{
    (void)object;
    block = malloc(64);
    return block == NULL;
}

static long free_ours(void *object)
{
    (void)object;
    free(block);
    return 0;
}

static long free_bare(void *object)
{
    (void)object;
    bare_free(block);
    return 0;
}

/* --------------------------------------------------------------------------------------------------------- rounds */

struct side {
    call *timed, *other;
    double nanoseconds[CALLS];
};

static void run_side(const struct bench *b, const struct subject *s, struct side *side)
{
    for (size_t i = 0; i < CALLS; i++) {
        if (s->other_first)
            (void)side->other(s->object);
        uint64_t begin = tick_now();
        (void)side->timed(s->object);
        uint64_t end = tick_now();
        if (!s->other_first)
            (void)side->other(s->object);
        side->nanoseconds[i] = (double)(end - begin) * b->ns_per_tick;
    }
}

/* A rate of each round, of both sides. */
struct rounds {
    double shares[ROUNDS_MOST], slowest[ROUNDS_MOST];
    size_t n, n_slowest; /**< of rounds, and of those in which the thread was not switched out */
};

static long switches(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw + usage.ru_nvcsw : 0;
}

static void round_of(const struct bench *b, const struct subject *s, struct side *side, struct rounds *r)
{
    long before = switches();
    run_side(b, s, side);
    r->shares[r->n++] = bench_share(side->nanoseconds, CALLS, share);
    if (switches() == before)
        r->slowest[r->n_slowest++] = bench_share(side->nanoseconds, CALLS, 1);
}

/* What is measured of a subject: the share, and the slowest call. */
struct worst {
    double share_ns, share_bare_ns, slowest_ns, slowest_bare_ns; /**< -1: not known */
};

static struct worst measure(const struct bench *b, const struct subject *s, struct side *ours, struct side *bare)
{
    struct rounds of_ours = {.n = 0}, of_bare = {.n = 0};
    size_t n = b->brief ? ROUNDS_BRIEF : ROUNDS_MOST;
    for (size_t i = 0; i < n; i++) {
        round_of(b, s, i % 2 ? bare : ours, i % 2 ? &of_bare : &of_ours);
        round_of(b, s, i % 2 ? ours : bare, i % 2 ? &of_ours : &of_bare);
    }
    bool known = of_ours.n_slowest > 0 && of_bare.n_slowest > 0;
    return (struct worst){.share_ns = bench_share(of_ours.shares, n, 0.5),
                          .share_bare_ns = bench_share(of_bare.shares, n, 0.5),
                          .slowest_ns = known ? bench_share(of_ours.slowest, of_ours.n_slowest, 0.5) : -1,
                          .slowest_bare_ns = known ? bench_share(of_bare.slowest, of_bare.n_slowest, 0.5) : 0};
}

/* Nanoseconds that may be added: where interrupts and system calls are slow, a tenth of the bare call is more than the usual bar,
 * and less than what two measurements of it differ. */
static double bar_of(double usual, double bare)
{
    return fmax(bare / 10, usual);
}

/* Another load may disturb a short run: it fails only if every series is too slow. */
static void row(struct bench *b, const struct subject *s)
{
    static struct side ours, bare;
    char title[BENCH_NAME_MAX];
    ours.timed = s->timed.ours;
    ours.other = s->other.ours;
    bare.timed = s->timed.name ? real(s->timed.name) : s->bare;
    bare.other = s->other.name ? real(s->other.name) : s->other.ours;
    if ((UNDER_ASAN || UNDER_TSAN) && s->bare == free_bare) {
        bench_skip(b, s->title, "the block is a sanitizer's");
        return;
    }
    if (!bare.timed || !bare.other) {
        bench_skip(b, s->title, "the C library's own functions were not found");
        return;
    }
    struct worst w = measure(b, s, &ours, &bare);
    for (int more = SERIES_BRIEF - 1; b->brief && b->slack > 0 && more > 0; more--) {
        if (w.share_ns - w.share_bare_ns <= bar_of(s->bar_share, w.share_bare_ns) * b->slack &&
            w.slowest_ns - w.slowest_bare_ns <= bar_of(s->bar_slowest, w.slowest_bare_ns) * b->slack)
            break;
        w = measure(b, s, &ours, &bare);
    }
    snprintf(title, sizeof title, "%s: 99.9 %% of calls", s->title);
    bench_added(b, title, w.share_ns, w.share_bare_ns, bar_of(s->bar_share, w.share_bare_ns));
    snprintf(title, sizeof title, "%s: slowest call", s->title);
    if (w.slowest_ns >= 0)
        bench_added(b, title, w.slowest_ns, w.slowest_bare_ns, bar_of(s->bar_slowest, w.slowest_bare_ns));
    else
        bench_skip(b, title, "the thread was switched out in every round");
}

static void *wait_for_ever(void *arg)
{
    pause();
    return arg;
}

static void prepare(void)
{
    pthread_t other;
    call *found[] = {real("read"), real("poll"), real("free")};
    memcpy(&bare_read, &found[0], sizeof bare_read);
    memcpy(&bare_poll, &found[1], sizeof bare_poll);
    memcpy(&bare_free, &found[2], sizeof bare_free);
    if (pthread_spin_init(&spin, 0) != 0 || mtx_init(&mtx, mtx_plain) != thrd_success || sem_init(&sem, 0, 1) != 0 ||
        pipe(filled) != 0 || pipe(notified) != 0 || write(notified[1], "", 1) != 1 ||
        pthread_create(&other, NULL, wait_for_ever, NULL) != 0)
        give_up("bench_worst");
}

int main(int argc, char **argv)
{
    const double usual = 500, most = 20000;
    void *spin_lock = (void *)(uintptr_t)&spin;
    const struct subject subjects[] = {
        {"mutex lock", FUNCTION(pthread_mutex_lock), FUNCTION(pthread_mutex_unlock), NULL, &mutex, false, usual, most},
        {"mutex unlock", FUNCTION(pthread_mutex_unlock), FUNCTION(pthread_mutex_lock), NULL, &mutex, true, usual, most},
        {"rwlock read", FUNCTION(pthread_rwlock_rdlock), FUNCTION(pthread_rwlock_unlock), NULL, &rwlock, false, usual,
         most},
        {"rwlock write", FUNCTION(pthread_rwlock_wrlock), FUNCTION(pthread_rwlock_unlock), NULL, &rwlock, false, usual,
         most},
        {"rwlock unlock", FUNCTION(pthread_rwlock_unlock), FUNCTION(pthread_rwlock_wrlock), NULL, &rwlock, true, usual,
         most},
        {"spin lock", FUNCTION(pthread_spin_lock), FUNCTION(pthread_spin_unlock), NULL, spin_lock, false, usual, most},
        {"mtx_t lock", FUNCTION(mtx_lock), FUNCTION(mtx_unlock), NULL, &mtx, false, usual, most},
        {"semaphore wait", FUNCTION(sem_wait), FUNCTION(sem_post), NULL, &sem, false, usual, most},
        {"semaphore post", FUNCTION(sem_post), FUNCTION(sem_wait), NULL, &sem, true, usual, most},
        {"signal without a waiter", {NULL, signal_ours}, {NULL, nothing}, signal_bare, &cond, false, usual, most},
        {"read of 1 byte", {NULL, read_ours}, {NULL, fill}, read_bare, &filled[0], true, usual, most},
        {"poll, ready", {NULL, poll_ours}, {NULL, nothing}, poll_bare, &notified[0], true, usual, most},
        {"free", {NULL, free_ours}, {NULL, allocate}, free_bare, NULL, true, usual, most},
    };
    struct bench *b = bench_start("worst", argc, argv);
    const struct upmu_sync_opts opts = {.size = sizeof opts, .trace = dir};
    bench_folder_make(dir);
    bench_file_open(&file, dir, PIECE_BYTES);
    prepare();
    if (!bench_pin(b->cpu))
        perror("bench: sched_setaffinity");
    if (upmu_sync_begin(&opts) < 0)
        give_up(upmu_error());
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        row(b, &subjects[i]);
    if (upmu_sync_end() < 0)
        give_up(upmu_error());
    int status = bench_end(b);
    bench_file_close(&file);
    bench_folder_remove(dir);
    return status;
}
