/* SPDX-License-Identifier: MIT */
/*
 * Running, preempted and blocked times of threads on one CPU that spin or sleep, against their own measurements.
 *
 *     sync_switches [adds_up|many|killed|older|short]
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/sanitizer.h"
#include "read_object.h"
#include "upmu/analysis.h"

enum {
    NAPS = 20,
    NAP_US = 10000,
    MS = 1000000,
    YIELDS = 5000,
    TRIES = 5,
    AGAIN = 3,
    OLDER_NAPS = 300,
    SWITCH_NS = 100000
};

struct worker {
    pid_t tid;
    uint64_t cpu_ns;
    uint64_t voluntary, involuntary;
};

static pthread_barrier_t together;

static uint64_t cpu_now(void)
{
    struct timespec ts;
    CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts) == 0);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void switches_now(uint64_t *voluntary, uint64_t *involuntary)
{
    struct rusage u;
    CHECK(getrusage(RUSAGE_THREAD, &u) == 0);
    *voluntary = (uint64_t)u.ru_nvcsw;
    *involuntary = (uint64_t)u.ru_nivcsw;
}

/* What the kernel counts otherwise, from here to the thread's end. */
static void measure(struct worker *w, void (*work)(void))
{
    uint64_t voluntary, involuntary;
    w->tid = gettid();
    (void)pthread_barrier_wait(&together);
    switches_now(&voluntary, &involuntary);
    uint64_t before = cpu_now();
    work();
    w->cpu_ns = cpu_now() - before;
    switches_now(&w->voluntary, &w->involuntary);
    w->voluntary -= voluntary;
    w->involuntary -= involuntary;
}

static void spin(void)
{
    uint64_t end = cpu_now() + UINT64_C(300) * MS;
    while (cpu_now() < end)
        continue;
}

static void nap(void)
{
    for (int i = 0; i < NAPS; i++)
        usleep(NAP_US);
}

static void *spinner(void *arg)
{
    measure(arg, spin);
    return NULL;
}

static void *napper(void *arg)
{
    measure(arg, nap);
    return NULL;
}

static void begin_with_switches(uint32_t mode)
{
    const struct upmu_sync_opts o = {.size = sizeof o, .mode = mode, .trace = dir, .sched = 1};
    CHECK(upmu_sync_begin(&o) == 0);
}

/* The thread's scheduling times; the test is skipped if the kernel records none. */
static struct upmu_overview_sched ran(struct upmu_overview *o, pid_t tid, struct upmu_overview_thread *t)
{
    struct upmu_trace_process p = {.size = sizeof p};
    struct upmu_overview_sched s = {.size = sizeof s};
    t->size = sizeof *t;
    CHECK(upmu_overview_process_at(o, 0, &p) == 0);
    if (p.sched_note[0]) {
        printf("skipped, because %s\n", p.sched_note);
        CHECK(remove_recording() == 0);
        exit(77);
    }
    for (size_t i = 0; upmu_overview_thread_at(o, i, t) == 0; i++)
        if (t->tid == tid) {
            CHECK(upmu_overview_sched_at(o, i, &s) == 0 && s.recorded);
            CHECK(s.running_ns + s.preempted_ns + s.blocked_ns + s.unknown_ns == t->end_ns - t->begin_ns);
            return s;
        }
    fprintf(stderr, "thread %ld is not in the recording\n", (long)tid);
    exit(1);
}

/* Where the kernel's buffer overflowed, some time is unknown, and the known time does not exceed the real one. */
static void expect_honest(const struct worker *w, const struct upmu_overview_sched *s)
{
    CHECK(s->lost > 0 && s->unknown_ns > 0);
    CHECK(s->running_ns <= w->cpu_ns + w->cpu_ns / 10 + 5 * MS);
}

/* The recording has a little more than the thread itself has measured: its start and its end. On a machine that preempts it
 * some thousand times a second the buffer is too small: then it is recorded again. */
static void expect_measured(struct upmu_overview *o, const struct worker *w, struct upmu_overview_sched *s)
{
    struct upmu_overview_thread t;
    *s = ran(o, w->tid, &t);
    printf("thread %d: %" PRIu64 " us running, %" PRIu64 " preempted, %" PRIu64 " blocked, %" PRIu64
           " unknown; %" PRIu64 " voluntary, %" PRIu64 " involuntary; it measured %" PRIu64 " us, %" PRIu64
           " and %" PRIu64 "\n",
           (int)w->tid, s->running_ns / 1000, s->preempted_ns / 1000, s->blocked_ns / 1000, s->unknown_ns / 1000,
           s->voluntary, s->involuntary, w->cpu_ns / 1000, w->voluntary, w->involuntary);
    if (s->lost > 0) {
        expect_honest(w, s);
        CHECK(remove_recording() == 0);
        exit(AGAIN);
    }
    CHECK(s->unknown_ns == 0);
    CHECK(s->voluntary >= w->voluntary && s->voluntary <= w->voluntary + 20);
    CHECK(s->involuntary >= w->involuntary && s->involuntary <= w->involuntary + 50);
    /* The kernel leaves interrupts out of a thread's time on some configurations; hypervisors take time away. Of each wakeup the
     * thread's time has what is before the record of the switch: 77 us on a virtual machine whose CPUs are busy. */
    CHECK(s->running_ns + MS + w->voluntary * SWITCH_NS >= w->cpu_ns - w->cpu_ns / 10);
}

static int adds_up(void)
{
    enum { WORKERS = 3 };
    pthread_t threads[WORKERS];
    struct worker workers[WORKERS] = {{0}};
    struct upmu_overview_sched s;
    struct upmu_overview *o;
    on_one_cpu();
    begin_with_switches(UPMU_SYNC_CONTENDED);
    CHECK(pthread_barrier_init(&together, NULL, WORKERS) == 0);
    for (int i = 0; i < WORKERS; i++)
        CHECK(pthread_create(&threads[i], NULL, i < 2 ? spinner : napper, &workers[i]) == 0);
    for (int i = 0; i < WORKERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    end();
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    for (int i = 0; i < 2; i++) {
        expect_measured(o, &workers[i], &s);
        CHECK(s.involuntary > 0);
        CHECK(s.preempted_ns >= 50 * MS); /* it shares the CPU with the other one */
        CHECK(s.running_ns >= 200 * MS);
    }
    expect_measured(o, &workers[2], &s);
    CHECK(s.voluntary >= NAPS);
    CHECK(s.blocked_ns >= (uint64_t)NAPS * NAP_US * 1000 * 9 / 10);
    upmu_overview_close(o);
    return remove_recording();
}

/* -------------------------------------------------------------------------------------------------------- many */

static void yield_and_spin(void)
{
    for (int i = 0; i < YIELDS; i++)
        (void)sched_yield();
    spin();
}

static void *yielder(void *arg)
{
    measure(arg, yield_and_spin);
    return NULL;
}

/* Two threads yield to each other far more often than fits into the buffer, which is not read until they end: the kernel
 * reports losses with the next record that fits, which never comes. */
static int many(void)
{
    pthread_t threads[2];
    struct worker workers[2] = {{0}};
    struct upmu_overview_thread t;
    struct upmu_overview *o;
    on_one_cpu();
    begin_with_switches(UPMU_SYNC_CONTENDED);
    CHECK(pthread_barrier_init(&together, NULL, 2) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, yielder, &workers[i]) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    end();
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    for (int i = 0; i < 2; i++) {
        const struct upmu_overview_sched s = ran(o, workers[i].tid, &t);
        printf("thread %d: %" PRIu64 " us running, %" PRIu64 " unknown, %" PRIu64 " lost; it ran %" PRIu64 " us\n",
               (int)workers[i].tid, s.running_ns / 1000, s.unknown_ns / 1000, s.lost, workers[i].cpu_ns / 1000);
        expect_honest(&workers[i], &s);
    }
    upmu_overview_close(o);
    return remove_recording();
}

/* ------------------------------------------------------------------------------------------------------ killed */

static pid_t waiter_tid;
static int ready_pipe[2];

static void *pause_forever(void *arg)
{
    waiter_tid = gettid();
    (void)pthread_barrier_wait(&together);
    for (;;)
        pause();
    return arg;
}

/* One thread sleeps, whose kernel records are no longer read; another one keeps recording events. */
static _Noreturn void killed_child(void)
{
    pthread_t t;
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    begin_with_switches(UPMU_SYNC_ALL);
    CHECK(pthread_barrier_init(&together, NULL, 2) == 0 && pthread_create(&t, NULL, pause_forever, NULL) == 0);
    (void)pthread_barrier_wait(&together);
    for (int i = 0; i < 30; i++) {
        usleep(10000);
        lock(&m);
        unlock(&m);
    }
    CHECK(write(ready_pipe[1], &waiter_tid, sizeof waiter_tid) == (ssize_t)sizeof waiter_tid);
    for (;;)
        pause();
}

static int killed(void)
{
    struct upmu_overview_thread t;
    struct upmu_overview *o;
    pid_t tid;
    int status;
    CHECK(pipe(ready_pipe) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        killed_child();
    CHECK(read(ready_pipe[0], &tid, sizeof tid) == (ssize_t)sizeof tid);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    struct upmu_overview_sched s = ran(o, tid, &t);
    printf("the sleeping thread: %" PRIu64 " us running, %" PRIu64 " blocked, %" PRIu64 " unknown\n",
           s.running_ns / 1000, s.blocked_ns / 1000, s.unknown_ns / 1000);
    CHECK(s.unknown_ns >= 200 * MS);
    CHECK(s.unknown_ns >= (t.end_ns - t.begin_ns) / 2);
    upmu_overview_close(o);
    return remove_recording();
}

/* ------------------------------------------------------------------------------------------------------- short */

static void *compute_shortly(void *arg)
{
    uint64_t end = cpu_now() + MS / 5;
    while (cpu_now() < end)
        continue;
    return arg;
}

/* What the start of a thread costs is not of its life. */
static int short_lives(void)
{
    enum { THREADS = 20 };
    struct upmu_overview_thread t = {.size = sizeof t};
    struct upmu_overview *o;
    size_t n = 0;
    if (UNDER_TSAN) {
        puts("skipped, because threads have no start event under ThreadSanitizer");
        CHECK(remove_recording() == 0);
        return 77;
    }
    begin(UPMU_SYNC_CONTENDED);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, compute_shortly, NULL) == 0 && pthread_join(thread, NULL) == 0);
    }
    end();
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    for (size_t i = 0; upmu_overview_thread_at(o, i, &t) == 0; i++) {
        uint64_t life = t.end_ns - t.begin_ns;
        if (t.tid == getpid())
            continue;
        printf("thread %d: %" PRIu64 " us running of %" PRIu64 "\n", (int)t.tid, t.cpu_ns / 1000, life / 1000);
        CHECK(t.cpu_ns != UPMU_NO_VALUE && t.cpu_ns <= life + life / 20);
        CHECK(t.ready_ns == UPMU_NO_VALUE || t.ready_ns <= life + life / 20);
        n++;
    }
    CHECK(n == THREADS);
    upmu_overview_close(o);
    return remove_recording();
}

/* ------------------------------------------------------------------------------------------------------- older */

/* Of the calling thread: ready to run without a CPU. 0: the kernel does not count it. */
static uint64_t ready_now(void)
{
    uint64_t ns = 0;
    FILE *f = fopen("/proc/thread-self/schedstat", "re");
    if (f && fscanf(f, "%*u %" SCNu64, &ns) != 1)
        ns = 0;
    if (f)
        fclose(f);
    return ns;
}

struct used {
    pid_t tid;
    uint64_t cpu_ns, ready_ns, voluntary, involuntary;
};

static void use(struct used *u)
{
    spin();
    for (int i = 0; i < OLDER_NAPS; i++)
        usleep(1);
    *u = (struct used){.tid = gettid(), .cpu_ns = cpu_now(), .ready_ns = ready_now()};
    switches_now(&u->voluntary, &u->involuntary);
    CHECK(u->involuntary > 0);
}

static pthread_mutex_t of_older = PTHREAD_MUTEX_INITIALIZER;

static void *older_thread(void *arg)
{
    use(arg);
    (void)pthread_barrier_wait(&together);
    (void)pthread_barrier_wait(&together); /* recorded from here on */
    lock(&of_older);
    unlock(&of_older);
    return NULL;
}

/* Not more than half of what it had used before, which is much. */
static void expect_little(struct upmu_overview *o, const struct used *u)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    size_t i = 0;
    while (upmu_overview_thread_at(o, i, &t) == 0 && t.tid != u->tid)
        i++;
    CHECK(t.tid == u->tid && t.cpu_ns != UPMU_NO_VALUE && t.switches.status == UPMU_EXACT);
    printf("thread %d: %" PRIu64 " us running, %" PRId64 " ready, %" PRIu64 " switches\n", (int)t.tid, t.cpu_ns / 1000,
           t.ready_ns == UPMU_NO_VALUE ? -1 : (int64_t)(t.ready_ns / 1000), t.switches.value);
    CHECK(t.cpu_ns < u->cpu_ns / 2 && t.switches.value < (u->voluntary + u->involuntary) / 2);
    CHECK(t.ready_ns == UPMU_NO_VALUE || u->ready_ns == 0 || t.ready_ns < u->ready_ns / 2);
}

static _Noreturn void older_child(void)
{
    enum { MAIN, SECOND, THREADS };
    struct used used[THREADS];
    pthread_t t;
    CHECK(pthread_barrier_init(&together, NULL, 2) == 0);
    CHECK(pthread_create(&t, NULL, older_thread, &used[SECOND]) == 0);
    use(&used[MAIN]);
    (void)pthread_barrier_wait(&together);
    begin(UPMU_SYNC_ALL);
    (void)pthread_barrier_wait(&together);
    CHECK(pthread_join(t, NULL) == 0);
    CHECK(write(ready_pipe[1], used, sizeof used) == (ssize_t)sizeof used);
    exit(0);
}

/* Threads that ran for long before the recording, beside another process on their CPU. */
static int older(void)
{
    struct used used[2];
    struct upmu_overview *o;
    int status;
    on_one_cpu();
    CHECK(pipe(ready_pipe) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        older_child();
    while (waitpid(child, &status, WNOHANG) == 0)
        continue;
    CHECK(status == 0 && read(ready_pipe[0], used, sizeof used) == (ssize_t)sizeof used);
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    expect_little(o, &used[0]);
    expect_little(o, &used[1]);
    upmu_overview_close(o);
    return remove_recording();
}

/* In a process of its own each time, since a process records once. */
static int until_all_fits(void)
{
    for (int i = 0; i < TRIES; i++) {
        int status;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            CHECK(mkdtemp(dir));
            exit(adds_up());
        }
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
        if (WEXITSTATUS(status) != AGAIN)
            return WEXITSTATUS(status);
    }
    printf("skipped, because this machine is so busy that %d times a thread was preempted more often than fits "
           "into the buffer\n",
           TRIES);
    return 77;
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return until_all_fits();
    CHECK(mkdtemp(dir));
    static const struct {
        const char *name;
        int (*run)(void);
    } parts[] = {{"many", many}, {"killed", killed}, {"older", older}, {"short", short_lives}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(argv[1], parts[i].name) == 0)
            return parts[i].run();
    return 2;
}
