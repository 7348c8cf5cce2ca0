/* SPDX-License-Identifier: MIT */
/*
 * Sync tracing with an exact PMU: counters of waits and held sections, and the kernel's switch records.
 *
 * The recordings and the program's own measurements leave the guest by send.c; sync_judge.py compares them. The program is
 * linked dynamically, unlike the others: the dynamic linker replaces the POSIX calls.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"
#include "send.h"
#include "upmu/region.h"
#include "upmu/sync.h"

#define USER_ACCESS "/proc/sys/kernel/perf_user_access"

static FILE *known; /* "KEY NUMBER" per line: what the recording must contain */

static void allow_user_reads(int allowed)
{
    if (access(USER_ACCESS, F_OK) == 0)
        EXPECT(guest_sysctl(USER_ACCESS, allowed), "%s cannot be written", USER_ACCESS);
}

/* Recording goes to `folder`/trace, what is known to `folder`/known. Begun in a process of its own, once. */
/* `more`: fields of the options beside these. */
static void record(const char *folder, const char *events, struct upmu_sync_opts more)
{
    char trace[64], path[64];
    snprintf(trace, sizeof trace, "%s/trace", folder);
    snprintf(path, sizeof path, "%s/known", folder);
    EXPECT(mkdir(folder, 0755) == 0, "%s cannot be made: %s", folder, strerror(errno));
    known = fopen(path, "w");
    EXPECT(known != NULL, "%s cannot be made: %s", path, strerror(errno));
    struct upmu_region_opts regions = {.size = sizeof regions, .events = events, .report = "none", .trace = trace};
    struct upmu_sync_opts sync = more;
    sync.size = sizeof sync;
    sync.trace = trace;
    sync.counters = 1;
    sync.sample = UPMU_SYNC_NO_SAMPLES;
    int rc = upmu_region_setup(&regions);
    EXPECT(rc == 0, "regions with %s: %s", events, upmu_strerror(rc));
    rc = upmu_sync_begin(&sync);
    EXPECT(rc == 0, "recording: %s", upmu_strerror(rc));
}

static void know(const char *key, uint64_t value)
{
    EXPECT(fprintf(known, "%s %llu\n", key, (unsigned long long)value) > 0, "what is known cannot be written");
}

static void stop_recording(void)
{
    int rc = upmu_sync_end();
    EXPECT(rc == 0, "end of recording: %s", upmu_strerror(rc));
    EXPECT(fclose(known) == 0, "what is known cannot be written: %s", strerror(errno));
}

/* --------------------------------------------------------------------------------------- a lock, waited for each time */

enum { ROUNDS = 10, NAP_NS = 5000000, NOTHING = 2 /* of the loop, once */ };

static pthread_mutex_t warm = PTHREAD_MUTEX_INITIALIZER;  /* the recorder has set itself up by then */
static pthread_mutex_t empty = PTHREAD_MUTEX_INITIALIZER; /* nothing is done while it is held */
static pthread_mutex_t loop = PTHREAD_MUTEX_INITIALIZER;  /* LOOP_INSTRUCTIONS are executed while it is held */

struct rounds {
    pthread_mutex_t *lock;
    unsigned long inside; /* instructions of the worker while it has the lock */
    int n;
};

static sem_t go;

static void expect_zero(int rc, const char *call)
{
    EXPECT(rc == 0, "%s: %s", call, strerror(rc < 0 ? errno : rc));
}

/* One processor and time made of instructions: a runnable thread runs while this one sleeps, until it
 * blocks. A nap is not a recorded wait: if all threads were in one, the last would ask the kernel who else could end it. */
static void let_others_run(void)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    expect_zero(clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL), "clock_nanosleep");
}

static void run_rounds(const struct rounds *t)
{
    for (int i = 0; i < t->n; i++) {
        expect_zero(sem_wait(&go), "sem_wait");
        expect_zero(pthread_mutex_lock(t->lock), "lock");
        guest_loop(t->inside);
        expect_zero(pthread_mutex_unlock(t->lock), "unlock");
    }
}

/* The worker finds the lock taken each time, and waits while as much is executed elsewhere as it will execute itself. */
static void make_wait(const struct rounds *t)
{
    for (int i = 0; i < t->n; i++) {
        expect_zero(pthread_mutex_lock(t->lock), "lock");
        expect_zero(sem_post(&go), "sem_post");
        let_others_run();
        guest_loop(LOOP_INSTRUCTIONS);
        expect_zero(pthread_mutex_unlock(t->lock), "unlock");
        let_others_run();
    }
}

static const struct rounds sections[] = {
    {&warm, NOTHING, ROUNDS}, {&empty, NOTHING, ROUNDS}, {&loop, LOOP_INSTRUCTIONS, ROUNDS}};
enum { SECTIONS = sizeof sections / sizeof *sections };

static void *sections_worker(void *arg)
{
    for (int i = 0; i < SECTIONS; i++)
        run_rounds(&sections[i]);
    return arg;
}

static void waits_and_held_sections_are_recorded(void)
{
    pthread_t worker;
    allow_user_reads(1);
    expect_zero(sem_init(&go, 0, 0), "sem_init");
    record("/tmp/sections", "instructions:u,cycles:u", (struct upmu_sync_opts){0});
    upmu_lock_name(&empty, "empty");
    upmu_lock_name(&loop, "loop");
    expect_zero(pthread_create(&worker, NULL, sections_worker, NULL), "pthread_create");
    for (int i = 0; i < SECTIONS; i++)
        make_wait(&sections[i]);
    expect_zero(pthread_join(worker, NULL), "pthread_join");
    know("rounds", ROUNDS);
    know("inside_empty", NOTHING);
    know("inside_loop", LOOP_INSTRUCTIONS);
    know("nap_ns", NAP_NS);
    know("cycles_per_instruction", guest_cycles_per_instruction());
    stop_recording();
}

/* ------------------------------------------------------------------------------------------------- system calls */

struct calls {
    uint64_t others, reads; /* than what a wait is made of */
};

static void *calls_worker(void *arg)
{
    struct calls *calls = arg;
    char filter[32];
    run_rounds(&(struct rounds){&warm, NOTHING, ROUNDS});
    snprintf(filter, sizeof filter, "id != %d", (int)SYS_futex);
    int others = guest_calls_counter(filter);
    snprintf(filter, sizeof filter, "id == %d", (int)SYS_read);
    int reads = guest_calls_counter(filter);
    uint64_t others_before = guest_calls(others), reads_before = guest_calls(reads);
    run_rounds(&(struct rounds){&loop, NOTHING, ROUNDS});
    calls->reads = guest_calls(reads) - reads_before - 1; /* the one that asks */
    calls->others = guest_calls(others) - others_before - 3;
    return NULL;
}

static struct calls count_calls(const char *folder)
{
    struct calls calls = {0};
    pthread_t worker;
    expect_zero(sem_init(&go, 0, 0), "sem_init");
    /* The calls that read the tracepoints are no waits to record: that asks the kernel whether they slept. */
    record(folder, "instructions:u,cycles:u", (struct upmu_sync_opts){.no_calls = 1});
    expect_zero(pthread_create(&worker, NULL, calls_worker, &calls), "pthread_create");
    make_wait(&(struct rounds){&warm, NOTHING, ROUNDS});
    make_wait(&(struct rounds){&loop, NOTHING, ROUNDS});
    expect_zero(pthread_join(worker, NULL), "pthread_join");
    stop_recording();
    guest_note("%d waits and held sections: %llu system calls beside the futex ones, %llu of them read(2)", ROUNDS,
               (unsigned long long)calls.others, (unsigned long long)calls.reads);
    return calls;
}

static void sections_are_counted_without_a_system_call(void)
{
    allow_user_reads(1);
    struct calls calls = count_calls("/tmp/without-calls");
    EXPECT(calls.others == 0 && calls.reads == 0, "there are some");
}

/* The witness sees reads where there are some: at the beginning of a wait, at its end and at the release. */
static void sections_are_counted_by_read_where_the_kernel_grants_nothing_else(void)
{
    if (access(USER_ACCESS, F_OK) != 0)
        guest_skip("this kernel has no switch for user-space reads");
    allow_user_reads(0);
    struct calls calls = count_calls("/tmp/with-calls");
    EXPECT(calls.reads >= 3 * ROUNDS, "too few");
}

/* ---------------------------------------------------------------------------------------------- how threads ran */

enum { SPINNERS = 2, WORKERS = SPINNERS + 1, SPIN_MS = 100, NAPS = 20, MS = 1000000 };

static uint64_t cpu_now(void)
{
    struct timespec ts;
    expect_zero(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts), "clock_gettime");
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void spin(void)
{
    uint64_t end = cpu_now() + (uint64_t)SPIN_MS * MS;
    while (cpu_now() < end)
        guest_loop(LOOP_INSTRUCTIONS / 10);
}

static void nap(void)
{
    for (int i = 0; i < NAPS; i++)
        let_others_run();
}

struct worker {
    void (*work)(void);
    const char *name;
    pid_t tid;
    uint64_t cpu_ns, voluntary, involuntary;
};

static void inspect_self(struct worker *w)
{
    struct rusage u;
    w->cpu_ns = cpu_now() - w->cpu_ns;
    expect_zero(getrusage(RUSAGE_THREAD, &u), "getrusage");
    w->voluntary = (uint64_t)u.ru_nvcsw - w->voluntary;
    w->involuntary = (uint64_t)u.ru_nivcsw - w->involuntary;
}

/* Between its two looks lies almost all that the recording has of the thread. */
static void *run_worker(void *arg)
{
    struct worker *w = arg;
    w->tid = gettid();
    inspect_self(w);
    expect_zero(sem_wait(&go), "sem_wait");
    w->work();
    inspect_self(w);
    return NULL;
}

static void know_worker(const struct worker *w)
{
    char key[64];
    const struct {
        const char *what;
        uint64_t value;
    } facts[] = {
        {"tid", (uint64_t)w->tid},
        {"cpu_ns", w->cpu_ns},
        {"voluntary", w->voluntary},
        {"involuntary", w->involuntary},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        snprintf(key, sizeof key, "%s.%s", w->name, facts[i].what);
        know(key, facts[i].value);
    }
}

static void how_threads_run_is_recorded_beside_counters(void)
{
    struct worker workers[WORKERS] = {
        {spin, "spinner1", 0, 0, 0, 0}, {spin, "spinner2", 0, 0, 0, 0}, {nap, "napper", 0, 0, 0, 0}};
    pthread_t threads[WORKERS];
    allow_user_reads(1);
    expect_zero(sem_init(&go, 0, 0), "sem_init");
    EXPECT(setenv("UPMU_REGION_THREADS", "1", 1) == 0, "setenv");
    record("/tmp/running", "cycles:uk,context-switches", (struct upmu_sync_opts){.sched = 1});
    for (int i = 0; i < WORKERS; i++)
        expect_zero(pthread_create(&threads[i], NULL, run_worker, &workers[i]), "pthread_create");
    for (int i = 0; i < WORKERS; i++)
        expect_zero(sem_post(&go), "sem_post");
    for (int i = 0; i < WORKERS; i++)
        expect_zero(pthread_join(threads[i], NULL), "pthread_join");
    for (int i = 0; i < WORKERS; i++)
        know_worker(&workers[i]);
    know("naps", NAPS);
    know("nap_ns", NAP_NS);
    stop_recording();
}

static const struct guest_test tests[] = {
    {"waits_and_held_sections_are_recorded", waits_and_held_sections_are_recorded},
    {"sections_are_counted_without_a_system_call", sections_are_counted_without_a_system_call},
    {"sections_are_counted_by_read_where_the_kernel_grants_nothing_else",
     sections_are_counted_by_read_where_the_kernel_grants_nothing_else},
    {"how_threads_run_is_recorded_beside_counters", how_threads_run_is_recorded_beside_counters},
};

int main(void)
{
    int failed = guest_run(tests, sizeof tests / sizeof *tests);
    failed |= send_folder("/tmp/sections", "sections");
    failed |= send_folder("/tmp/running", "running");
    return failed;
}
