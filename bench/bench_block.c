/* SPDX-License-Identifier: MIT */
/*
 * What sync tracing costs a wait that sleeps. Room: bench; before it the program's calls, which libupmu_sync takes over
 * here as it does anywhere, after it the table of bench.c. The floor is the same through the C library's own functions.
 *
 * Nothing but the hand-over is measured: two threads take turns, and whoever has his turn waits for the other at once, so
 * all that a block costs, before the thread sleeps and after, in who waits and in who wakes, lies on the way of the turns.
 * A program that does something between its locks has less of it; where the lock's holder is at work on another CPU what
 * comes before the sleep costs time of a CPU that has nothing to do.
 *
 * - Mutexes: three of them in a ring. Each thread holds one and takes the next before it gives that one back, so that it
 *   always comes to a mutex which the other one holds and will give up only when it goes on itself.
 *   Who is woken must not push the other one aside, or that one would find its next mutex free: batch threads do not.
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
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "upmu/region.h"
#include "upmu/sync.h"

enum { TURNS = 100, MUTEXES = 3 };

static const double bar = 1.15, most = 0.75;
static char dir[PATH_MAX];

/* The C library's own. */
static struct {
    int (*lock)(pthread_mutex_t *);
    int (*unlock)(pthread_mutex_t *);
    int (*wait)(sem_t *);
    int (*post)(sem_t *);
} bare;

/* Two threads that take turns. */
struct turns {
    pthread_mutex_t mutex[MUTEXES];
    size_t held; /* of these, by the thread that measures */
    sem_t first, second;
    int partner_cpu;
    uint32_t begun; /* atomic: the partner has its first mutex */
    void *(*partner)(void *arg);
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

/* ------------------------------------------------------------------------------------------------------- mutexes */

static void pass_ours(struct turns *p, size_t held)
{
    pthread_mutex_lock(&p->mutex[(held + 1) % MUTEXES]);
    pthread_mutex_unlock(&p->mutex[held]);
}

static void pass_bare(struct turns *p, size_t held)
{
    bare.lock(&p->mutex[(held + 1) % MUTEXES]);
    bare.unlock(&p->mutex[held]);
}

/* The other side of all loops: it lives as long as the process. */
static void *mutex_partner_ours(void *arg)
{
    struct turns *p = arg;
    move(p->partner_cpu);
    pthread_mutex_lock(&p->mutex[1]);
    __atomic_store_n(&p->begun, 1, __ATOMIC_RELEASE);
    for (size_t held = 1;; held = (held + 1) % MUTEXES)
        pass_ours(p, held);
    return NULL;
}

static void *mutex_partner_bare(void *arg)
{
    struct turns *p = arg;
    move(p->partner_cpu);
    bare.lock(&p->mutex[1]);
    __atomic_store_n(&p->begun, 1, __ATOMIC_RELEASE);
    for (size_t held = 1;; held = (held + 1) % MUTEXES)
        pass_bare(p, held);
    return NULL;
}

static void mutex_turns_ours(void *arg, size_t n)
{
    struct turns *p = arg;
    for (size_t i = 0; i < n; i++, p->held = (p->held + 1) % MUTEXES)
        pass_ours(p, p->held);
}

static void mutex_turns_bare(void *arg, size_t n)
{
    struct turns *p = arg;
    for (size_t i = 0; i < n; i++, p->held = (p->held + 1) % MUTEXES)
        pass_bare(p, p->held);
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
    p->slept_before = sleeps_now();
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
         *wait = dlsym(libc, "sem_wait"), *post = dlsym(libc, "sem_post");
    *(void **)(void *)&bare.lock = lock;
    *(void **)(void *)&bare.unlock = unlock;
    *(void **)(void *)&bare.wait = wait;
    *(void **)(void *)&bare.post = post;
    return lock && unlock && wait && post;
}

/* What is measured, and how it is recorded. */
struct what {
    const char *title;
    bool mutexes, two_cpus, work;
    const char *events;
    struct upmu_sync_opts opts;
    enum bench_judge judge;
};

static void start_turns(struct turns *p, const struct what *w, bool ours, int cpu)
{
    pthread_t thread;
    const struct sched_param none = {0};
    *p = (struct turns){.partner_cpu = cpu};
    if (w->mutexes)
        p->partner = ours ? mutex_partner_ours : mutex_partner_bare;
    else
        p->partner = ours ? sem_partner_ours : sem_partner_bare;
    for (size_t i = 0; i < MUTEXES; i++)
        if (pthread_mutex_init(&p->mutex[i], NULL) != 0)
            give_up("pthread_mutex_init");
    if (sem_init(&p->first, 0, 0) != 0 || sem_init(&p->second, 0, 0) != 0)
        give_up("sem_init");
    if (ours)
        pthread_mutex_lock(&p->mutex[0]);
    else
        bare.lock(&p->mutex[0]);
    (void)setpriority(PRIO_PROCESS, 0,
                      -20); /* without the right to it others come in between, and there are fewer rounds */
    if (!w->two_cpus && sched_setscheduler(0, SCHED_BATCH, &none) != 0)
        give_up("sched_setscheduler");
    if (pthread_create(&thread, NULL, p->partner, p) != 0)
        give_up("pthread_create");
    while (w->mutexes && !__atomic_load_n(&p->begun, __ATOMIC_ACQUIRE))
        sched_yield();
}

/* A block that does not sleep is not what the row is about. */
static void judge_sleep(struct bench_row *row, const char *whose, const struct turns *p)
{
    if (p->slept < most * p->blocks)
        bench_fail(row, "only %.0f of %.0f blocks %s slept", p->slept, p->blocks, whose);
}

/* In a process of its own: what is switched on here stays on. */
static void measure(struct bench *b, const struct what *w)
{
    static struct turns ours, untraced;
    struct upmu_sync_opts opts = w->opts;
    const struct upmu_region_opts regions = {.size = sizeof regions, .events = w->events, .trace = dir};
    const struct bench_pair pair = {
        .subject = {w->title, w->mutexes ? mutex_turns_ours : sem_turns_ours, &ours, before_batch, after_batch},
        .floor = {"the same untraced", w->mutexes ? mutex_turns_bare : sem_turns_bare, &untraced, before_batch,
                  after_batch},
        .n = TURNS,
        .calls = 2, /* both threads block once in a turn */
        .work = w->work,
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
    opts.size = sizeof opts;
    opts.trace = dir;
    if (upmu_region_setup(&regions) < 0 || upmu_sync_begin(&opts) < 0)
        give_up(upmu_error());
    start_turns(&ours, w, true, w->two_cpus ? b->other : b->cpu);
    start_turns(&untraced, w, false, w->two_cpus ? b->other : b->cpu);
    struct bench_row *row = bench_compare(b, &pair);
    judge_sleep(row, "under the recorder", &ours);
    judge_sleep(row, "without it", &untraced);
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
    static void (*const parts[])(struct bench *) = {
        mutex_one_cpu, mutex_one_cpu_no_stacks, mutex_two_cpus, mutex_two_cpus_work,
        semaphore,     semaphore_no_stacks,     with_counters,  with_switches,
    };
    struct bench *b = bench_start("block", argc, argv);
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/upmu-bench-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        give_up(dir);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        bench_part(b, "a wait that sleeps", parts[i]);
    int status = bench_end(b);
    if (nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS) != 0)
        give_up(dir);
    return status;
}
