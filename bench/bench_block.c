/* SPDX-License-Identifier: MIT */
/*
 * Cost of sync tracing for a wait that sleeps.
 *
 * The floor is the same hand-over through the C library's own functions. Two threads hand over in both directions, so
 * both sides of a block, before the sleep and after, in the waiter and in the waker, are on the measured path.
 *
 * On two CPUs the woken thread would release the lock before the other one sleeps. There each thread holds the lock for
 * HOLD_NS after a wait; the time of holding is subtracted. What the waiter does before it sleeps then costs only idle
 * CPU time: the row "time of both CPUs" includes it.
 *
 * Mutexes: three in a ring. Each thread holds one and acquires the next before it releases that one, so it always meets
 * a mutex that the other thread holds until its own next wait. SCHED_BATCH keeps the woken thread from preempting the
 * waker.
 *
 * Least: the same mutexes with what no recorder can leave out: trylock first, three ticks, the bytes of three events
 * stored into a mapped file, two stack walks by libunwind.
 *
 * Semaphores: each thread posts the other's and waits for its own. A post is recorded with its call stack.
 */
#include <dlfcn.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/sanitizer.h"
#include "base/tick.h"
#include "bench.h"
#include "upmu/region.h"
#include "upmu/sync.h"

enum { HANDOVERS = 100, MUTEXES = 3, FRAMES = 24, PIECE_BYTES = 1024 * 1024, HOLD_NS = 20000, SETTLE_US = 200 };

static const double bar = 1.15, most = 0.75;
static char dir[PATH_MAX];

/* The C library's own, and libunwind's. */
static struct {
    int (*lock)(pthread_mutex_t *);
    int (*unlock)(pthread_mutex_t *);
    int (*wait)(sem_t *);
    int (*post)(sem_t *);
    int (*trylock)(pthread_mutex_t *);
    int (*walk)(void **, int); /* libunwind's; NULL: it is not there */
} bare;

/* Two threads that hand a lock to each other. */
struct handover {
    pthread_mutex_t mutex[MUTEXES];
    size_t held; /* of these, by the thread that measures */
    sem_t first, second;
    int partner_cpu;
    uint32_t begun; /* atomic: the partner has its first mutex */
    void *(*partner)(void *arg);
    void (*pass)(struct handover *p, size_t held);
    int (*lock)(pthread_mutex_t *);
    uint64_t hold;        /* ticks for which each thread holds a lock after a wait */
    uint64_t holds;       /* atomic: ticks of this batch spent holding, of both threads */
    double blocks, slept; /* of both threads, in all batches */
    long slept_before;
};

static void fail_errno(const char *what)
{
    perror(what);
    exit(1);
}

static void move(int cpu)
{
    if (!bench_pin(cpu))
        fail_errno("sched_setaffinity");
}

/* The buffer for the bytes of a thread's events. */
static _Thread_local struct {
    uint8_t *bytes;
    size_t used;
} piece;

static uint8_t *map_piece(void)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/least-XXXXXX", dir);
    int fd = mkstemp(path);
    if (fd < 0 || unlink(path) != 0 || ftruncate(fd, PIECE_BYTES) != 0)
        fail_errno(path);
    void *p = mmap(NULL, PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        fail_errno("mmap");
    return p;
}

/* ------------------------------------------------------------------------------------------------------- mutexes */

static void hold(struct handover *p)
{
    uint64_t begin = tick_now(), now = begin;
    if (p->hold == 0)
        return;
    while (now - begin < p->hold)
        now = tick_now();
    __atomic_fetch_add(&p->holds, now - begin, __ATOMIC_RELAXED);
}

static void pass_ours(struct handover *p, size_t held)
{
    pthread_mutex_lock(&p->mutex[(held + 1) % MUTEXES]);
    hold(p);
    pthread_mutex_unlock(&p->mutex[held]);
}

static void pass_bare(struct handover *p, size_t held)
{
    bare.lock(&p->mutex[(held + 1) % MUTEXES]);
    hold(p);
    bare.unlock(&p->mutex[held]);
}

/* The bytes of a wait's begin event, its end event or a release event. */
static void store(uint64_t tick, size_t bytes)
{
    if (!piece.bytes || piece.used + bytes > PIECE_BYTES) {
        if (!piece.bytes)
            piece.bytes = map_piece();
        piece.used = 0;
    }
    for (size_t i = 0; i < bytes / sizeof tick; i++)
        ((volatile uint64_t *)(void *)(piece.bytes + piece.used))[i] = tick;
    piece.used += bytes;
}

static void pass_least(struct handover *p, size_t held)
{
    void *frames[FRAMES];
    pthread_mutex_t *next = &p->mutex[(held + 1) % MUTEXES];
    if (bare.trylock(next) != 0) {
        (void)bare.walk(frames, FRAMES);
        store(tick_now(), 48);
        bare.lock(next);
        store(tick_now(), 32);
    }
    uint64_t tick = tick_now();
    bare.unlock(&p->mutex[held]);
    (void)bare.walk(frames, FRAMES);
    store(tick, 16);
}

/* The other thread; it runs until the process ends. */
static void *mutex_partner(void *arg)
{
    struct handover *p = arg;
    move(p->partner_cpu);
    p->lock(&p->mutex[1]);
    __atomic_store_n(&p->begun, 1, __ATOMIC_RELEASE);
    for (size_t held = 1;; held = (held + 1) % MUTEXES)
        p->pass(p, held);
    return NULL;
}

static void mutex_handovers(void *arg, size_t n)
{
    struct handover *p = arg;
    for (size_t i = 0; i < n; i++, p->held = (p->held + 1) % MUTEXES)
        p->pass(p, p->held);
}

/* ---------------------------------------------------------------------------------------------------- semaphores */

static void *sem_partner_ours(void *arg)
{
    struct handover *p = arg;
    for (;;) {
        sem_wait(&p->first);
        sem_post(&p->second);
    }
    return NULL;
}

static void *sem_partner_bare(void *arg)
{
    struct handover *p = arg;
    for (;;) {
        bare.wait(&p->first);
        bare.post(&p->second);
    }
    return NULL;
}

static void sem_handovers_ours(void *arg, size_t n)
{
    struct handover *p = arg;
    for (size_t i = 0; i < n; i++) {
        sem_post(&p->first);
        sem_wait(&p->second);
    }
}

static void sem_handovers_bare(void *arg, size_t n)
{
    struct handover *p = arg;
    for (size_t i = 0; i < n; i++) {
        bare.post(&p->first);
        bare.wait(&p->second);
    }
}

/* ------------------------------------------------------------------------------------------------------ measuring */

static long sleeps_now(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        fail_errno("getrusage");
    return usage.ru_nvcsw;
}

static void before_batch(void *arg)
{
    struct handover *p = arg;
    if (p->hold) /* until the other thread holds the next mutex */
        usleep(SETTLE_US);
    __atomic_store_n(&p->holds, 0, __ATOMIC_RELAXED);
    p->slept_before = sleeps_now();
}

static uint64_t held_aside(const void *arg)
{
    const struct handover *p = arg;
    return __atomic_load_n(&p->holds, __ATOMIC_RELAXED);
}

static void after_batch(void *arg)
{
    struct handover *p = arg;
    p->slept += (double)(sleeps_now() - p->slept_before);
    p->blocks += 2 * HANDOVERS;
}

static bool find_bare(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    if (!libc)
        return false;
    void *lock = dlsym(libc, "pthread_mutex_lock"), *unlock = dlsym(libc, "pthread_mutex_unlock"),
         *wait = dlsym(libc, "sem_wait"), *post = dlsym(libc, "sem_post"),
         *trylock = dlsym(libc, "pthread_mutex_trylock");
    void *unwinder = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    void *walk = unwinder ? dlsym(unwinder, "unw_backtrace") : NULL;
    *(void **)(void *)&bare.lock = lock;
    *(void **)(void *)&bare.unlock = unlock;
    *(void **)(void *)&bare.wait = wait;
    *(void **)(void *)&bare.post = post;
    *(void **)(void *)&bare.trylock = trylock;
    *(void **)(void *)&bare.walk = walk;
    return lock && unlock && wait && post && trylock;
}

/* What is measured, and how it is recorded. */
struct what {
    const char *title;
    bool mutexes, two_cpus, work, least;
    const char *events;
    struct upmu_sync_opts opts;
    enum bench_judge judge;
};

static void start_handovers(const struct bench *b, struct handover *p, const struct what *w, bool ours)
{
    pthread_t thread;
    const struct sched_param none = {0};
    *p = (struct handover){.partner_cpu = w->two_cpus ? b->other : b->cpu,
                           .hold = w->two_cpus ? (uint64_t)(HOLD_NS / b->ns_per_tick) : 0};
    p->partner = w->mutexes ? mutex_partner : ours ? sem_partner_ours : sem_partner_bare;
    p->pass = !ours ? pass_bare : w->least ? pass_least : pass_ours;
    p->lock = ours && !w->least ? pthread_mutex_lock : bare.lock;
    for (size_t i = 0; i < MUTEXES; i++)
        if (pthread_mutex_init(&p->mutex[i], NULL) != 0)
            fail_errno("pthread_mutex_init");
    if (sem_init(&p->first, 0, 0) != 0 || sem_init(&p->second, 0, 0) != 0)
        fail_errno("sem_init");
    p->lock(&p->mutex[0]);
    /* Without the permission other processes interrupt, and there are fewer rounds. */
    (void)setpriority(PRIO_PROCESS, 0, -20);
    if (!w->two_cpus && sched_setscheduler(0, SCHED_BATCH, &none) != 0)
        fail_errno("sched_setscheduler");
    if (pthread_create(&thread, NULL, p->partner, p) != 0)
        fail_errno("pthread_create");
    while (w->mutexes && !__atomic_load_n(&p->begun, __ATOMIC_ACQUIRE))
        sched_yield();
}

/* The row measures blocks that sleep. On a busy machine they may not, which is no failure of a --short run. */
static void judge_sleep(const struct bench *b, struct bench_row *row, const char *whose, const struct handover *p)
{
    if (p->slept >= most * p->blocks)
        return;
    if (b->brief)
        snprintf(row->skipped, sizeof row->skipped, "only %.0f of %.0f blocks %s slept", p->slept, p->blocks, whose);
    else
        bench_fail(row, "only %.0f of %.0f blocks %s slept", p->slept, p->blocks, whose);
}

/* Runs in a child process: recording stays on. */
static void measure(struct bench *b, const struct what *w)
{
    static struct handover ours, untraced;
    struct upmu_sync_opts opts = w->opts;
    const struct upmu_region_opts regions = {.size = sizeof regions, .events = w->events, .trace = dir};
    const struct bench_pair pair = {
        .subject = {w->title, w->mutexes ? mutex_handovers : sem_handovers_ours, &ours, before_batch, after_batch},
        .floor = {"the same untraced", w->mutexes ? mutex_handovers : sem_handovers_bare, &untraced, before_batch,
                  after_batch},
        .n = HANDOVERS,
        .calls = 2, /* both threads block once in a handover */
        .work = w->work,
        .aside = w->two_cpus ? held_aside : NULL,
        .judge = w->judge,
        .bar = bar,
    };
    if (!find_bare()) {
        bench_skip(b, w->title, "the C library's own functions were not found");
        return;
    }
    if (w->two_cpus && b->other < 0) {
        bench_skip(b, w->title, "there is one CPU only");
        return;
    }
    if (w->least && !bare.walk) {
        bench_skip(b, w->title, "there is no libunwind.so.8");
        return;
    }
    opts.size = sizeof opts;
    opts.trace = dir;
    if (!w->least && (upmu_region_setup(&regions) < 0 || upmu_sync_begin(&opts) < 0))
        fail_errno(upmu_error());
    start_handovers(b, &ours, w, true);
    start_handovers(b, &untraced, w, false);
    struct bench_row *row = bench_compare(b, &pair);
    judge_sleep(b, row, "under the recorder", &ours);
    judge_sleep(b, row, "without it", &untraced);
}

static void mutex_one_cpu(struct bench *b)
{
    measure(b, &(struct what){.title = "mutex, one CPU", .mutexes = true, .events = "none", .judge = BENCH_RATIO});
}

static void mutex_one_cpu_no_stacks(struct bench *b)
{
    measure(b, &(struct what){.title = "mutex, one CPU, without stacks",
                              .mutexes = true,
                              .events = "none",
                              .opts = {.stack_depth = UPMU_SYNC_NO_STACKS}});
}

static void mutex_least(struct bench *b)
{
    measure(b, &(struct what){.title = "mutex, one CPU, the least", .mutexes = true, .least = true});
}

static void mutex_two_cpus(struct bench *b)
{
    measure(b,
            &(struct what){
                .title = "mutex, two CPUs", .mutexes = true, .two_cpus = true, .events = "none", .judge = BENCH_RATIO});
}

static void mutex_two_cpus_work(struct bench *b)
{
    measure(b, &(struct what){.title = "mutex, two CPUs, time of both CPUs",
                              .mutexes = true,
                              .two_cpus = true,
                              .work = true,
                              .events = "none",
                              .judge = BENCH_RATIO});
}

static void semaphore(struct bench *b)
{
    measure(b, &(struct what){.title = "semaphore with its post, one CPU", .events = "none"});
}

static void semaphore_no_stacks(struct bench *b)
{
    measure(b, &(struct what){.title = "semaphore, one CPU, without stacks",
                              .events = "none",
                              .opts = {.stack_depth = UPMU_SYNC_NO_STACKS}});
}

static void with_counters(struct bench *b)
{
    measure(b, &(struct what){.title = "semaphore, and two counters",
                              .events = "page-faults,context-switches",
                              .opts = {.counters = 1}});
}

static void with_switches(struct bench *b)
{
    measure(b, &(struct what){.title = "semaphore, and the kernel's switches", .events = "none", .opts = {.sched = 1}});
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
    enum { MUTEX_PARTS = 5 };
    static void (*const parts[])(struct bench *) = {
        mutex_one_cpu, mutex_one_cpu_no_stacks, mutex_least,   mutex_two_cpus, mutex_two_cpus_work,
        semaphore,     semaphore_no_stacks,     with_counters, with_switches,
    };
    struct bench *b = bench_start("block", argc, argv);
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/upmu-bench-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        fail_errno(dir);
    /* ThreadSanitizer interposes semaphores before the library, and reports our tables as the program's. */
    const size_t n_parts = UNDER_TSAN ? MUTEX_PARTS : sizeof parts / sizeof *parts;
    for (size_t i = 0; i < n_parts; i++)
        bench_part(b, "a wait that sleeps", parts[i]);
    if (UNDER_TSAN)
        bench_skip(b, "semaphores", "ThreadSanitizer interposes them before the library");
    int status = bench_end(b);
    if (nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS) != 0)
        fail_errno(dir);
    return status;
}
