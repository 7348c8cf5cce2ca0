/* SPDX-License-Identifier: MIT */
/*
 * What sync tracing costs a wait that sleeps. Room: bench; before it the program's calls, which libupmu_sync takes over
 * here as it does anywhere, after it the table of bench.c. The floor is the same through the C library's own functions.
 *
 * Nothing but the hand-over is measured: two threads take turns, and whoever has his turn waits for the other at once, so
 * all that a block costs, before the thread sleeps and after, in who waits and in who wakes, lies on the way of the turns.
 * A program that does something between its locks has less of it.
 *
 * On two CPUs who is woken is fast enough to give the lock up before the other one has fallen asleep, and then nobody
 * sleeps. So there a thread holds what it has got until the other one surely sleeps, as a program does that works while it
 * holds a lock; the time of holding is taken off. What is left is the way from a release to the other's going on. What comes
 * before the sleep costs time of a CPU that has nothing to do: the row of both CPUs' time has it.
 *
 * - Mutexes: three of them in a ring. Each thread holds one and takes the next before it gives that one back, so that it
 *   always comes to a mutex which the other one holds and will give up only when it goes on itself.
 *   Who is woken must not push the other one aside, or that one would find its next mutex free: batch threads do not.
 * - The least: the same mutexes through the C library alone, with what no recorder of blocks can leave out: trying first,
 *   three ticks, the bytes of three events stored into a mapped file, and two walks of the call stack by libunwind.
 * - Semaphores: each thread posts the other's and waits for its own. A turn holds a post beside the block; it is recorded
 *   with its call stack, too.
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

enum { TURNS = 100, MUTEXES = 3, FRAMES = 24, PIECE_BYTES = 1024 * 1024, HOLD_NS = 20000, SETTLE_US = 200 };

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

/* Two threads that take turns. */
struct turns {
    pthread_mutex_t mutex[MUTEXES];
    size_t held; /* of these, by the thread that measures */
    sem_t first, second;
    int partner_cpu;
    uint32_t begun; /* atomic: the partner has its first mutex */
    void *(*partner)(void *arg);
    void (*pass)(struct turns *p, size_t held);
    int (*lock)(pthread_mutex_t *);
    uint64_t hold;        /* ticks that each has a lock for, after it was waited for */
    uint64_t holds;       /* atomic: ticks of this batch that were that, of both threads */
    double blocks, slept; /* of both threads, in all batches */
    long slept_before;
};

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static void move(int cpu)
{
    if (!bench_pin(cpu))
        give_up("sched_setaffinity");
}

/* Where a thread stores what stands for its events. */
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
        give_up(path);
    void *p = mmap(NULL, PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        give_up("mmap");
    return p;
}

/* ------------------------------------------------------------------------------------------------------- mutexes */

static void hold(struct turns *p)
{
    uint64_t begin = tick_now(), now = begin;
    if (p->hold == 0)
        return;
    while (now - begin < p->hold)
        now = tick_now();
    __atomic_fetch_add(&p->holds, now - begin, __ATOMIC_RELAXED);
}

static void pass_ours(struct turns *p, size_t held)
{
    pthread_mutex_lock(&p->mutex[(held + 1) % MUTEXES]);
    hold(p);
    pthread_mutex_unlock(&p->mutex[held]);
}

static void pass_bare(struct turns *p, size_t held)
{
    bare.lock(&p->mutex[(held + 1) % MUTEXES]);
    hold(p);
    bare.unlock(&p->mutex[held]);
}

/* As many bytes as an event of a wait's beginning, of its end and of a release have. */
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

static void pass_least(struct turns *p, size_t held)
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

/* The other side: it lives as long as the process. */
static void *mutex_partner(void *arg)
{
    struct turns *p = arg;
    move(p->partner_cpu);
    p->lock(&p->mutex[1]);
    __atomic_store_n(&p->begun, 1, __ATOMIC_RELEASE);
    for (size_t held = 1;; held = (held + 1) % MUTEXES)
        p->pass(p, held);
    return NULL;
}

static void mutex_turns(void *arg, size_t n)
{
    struct turns *p = arg;
    for (size_t i = 0; i < n; i++, p->held = (p->held + 1) % MUTEXES)
        p->pass(p, p->held);
}

/* ---------------------------------------------------------------------------------------------------- semaphores */

static void *sem_partner_ours(void *arg)
{
    struct turns *p = arg;
    for (;;) {
        sem_wait(&p->first);
        sem_post(&p->second);
    }
    return NULL;
}

static void *sem_partner_bare(void *arg)
{
    struct turns *p = arg;
    for (;;) {
        bare.wait(&p->first);
        bare.post(&p->second);
    }
    return NULL;
}

static void sem_turns_ours(void *arg, size_t n)
{
    struct turns *p = arg;
    for (size_t i = 0; i < n; i++) {
        sem_post(&p->first);
        sem_wait(&p->second);
    }
}

static void sem_turns_bare(void *arg, size_t n)
{
    struct turns *p = arg;
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
        give_up("getrusage");
    return usage.ru_nvcsw;
}

static void before_batch(void *arg)
{
    struct turns *p = arg;
    if (p->hold) /* the other one has begun to hold for the turn that comes */
        usleep(SETTLE_US);
    __atomic_store_n(&p->holds, 0, __ATOMIC_RELAXED);
    p->slept_before = sleeps_now();
}

static uint64_t held_aside(const void *arg)
{
    const struct turns *p = arg;
    return __atomic_load_n(&p->holds, __ATOMIC_RELAXED);
}

static void after_batch(void *arg)
{
    struct turns *p = arg;
    p->slept += (double)(sleeps_now() - p->slept_before);
    p->blocks += 2 * TURNS;
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

static void start_turns(const struct bench *b, struct turns *p, const struct what *w, bool ours)
{
    pthread_t thread;
    const struct sched_param none = {0};
    *p = (struct turns){.partner_cpu = w->two_cpus ? b->other : b->cpu,
                        .hold = w->two_cpus ? (uint64_t)(HOLD_NS / b->ns_per_tick) : 0};
    p->partner = w->mutexes ? mutex_partner : ours ? sem_partner_ours : sem_partner_bare;
    p->pass = !ours ? pass_bare : w->least ? pass_least : pass_ours;
    p->lock = ours && !w->least ? pthread_mutex_lock : bare.lock;
    for (size_t i = 0; i < MUTEXES; i++)
        if (pthread_mutex_init(&p->mutex[i], NULL) != 0)
            give_up("pthread_mutex_init");
    if (sem_init(&p->first, 0, 0) != 0 || sem_init(&p->second, 0, 0) != 0)
        give_up("sem_init");
    p->lock(&p->mutex[0]);
    /* Without the right to it others come in between, and there are fewer rounds. */
    (void)setpriority(PRIO_PROCESS, 0, -20);
    if (!w->two_cpus && sched_setscheduler(0, SCHED_BATCH, &none) != 0)
        give_up("sched_setscheduler");
    if (pthread_create(&thread, NULL, p->partner, p) != 0)
        give_up("pthread_create");
    while (w->mutexes && !__atomic_load_n(&p->begun, __ATOMIC_ACQUIRE))
        sched_yield();
}

/* A block that does not sleep is not what the row is about. A machine with much else to do may not let it; that is no
 * fault of what only sees that the benchmark works. */
static void judge_sleep(const struct bench *b, struct bench_row *row, const char *whose, const struct turns *p)
{
    if (p->slept >= most * p->blocks)
        return;
    if (b->brief)
        snprintf(row->skipped, sizeof row->skipped, "only %.0f of %.0f blocks %s slept", p->slept, p->blocks, whose);
    else
        bench_fail(row, "only %.0f of %.0f blocks %s slept", p->slept, p->blocks, whose);
}

/* In a process of its own: what is switched on here stays on. */
static void measure(struct bench *b, const struct what *w)
{
    static struct turns ours, untraced;
    struct upmu_sync_opts opts = w->opts;
    const struct upmu_region_opts regions = {.size = sizeof regions, .events = w->events, .trace = dir};
    const struct bench_pair pair = {
        .subject = {w->title, w->mutexes ? mutex_turns : sem_turns_ours, &ours, before_batch, after_batch},
        .floor = {"the same untraced", w->mutexes ? mutex_turns : sem_turns_bare, &untraced, before_batch, after_batch},
        .n = TURNS,
        .calls = 2, /* both threads block once in a turn */
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
        give_up(upmu_error());
    start_turns(b, &ours, w, true);
    start_turns(b, &untraced, w, false);
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
        give_up(dir);
    /* ThreadSanitizer's own semaphores stand before ours, and it takes our tables for the program's. */
    const size_t n_parts = UNDER_TSAN ? MUTEX_PARTS : sizeof parts / sizeof *parts;
    for (size_t i = 0; i < n_parts; i++)
        bench_part(b, "a wait that sleeps", parts[i]);
    if (UNDER_TSAN)
        bench_skip(b, "semaphores", "ThreadSanitizer's own stand before the library's");
    int status = bench_end(b);
    if (nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS) != 0)
        give_up(dir);
    return status;
}
