/* SPDX-License-Identifier: MIT */
/* Calls that begin or return while recording is stopped: the recorded part of their waits counts. */
#include <time.h>

#include "../read_object.h"

#include "upmu/analysis.h"
#include "upmu/control.h"

enum { RECORDED_NS = 40000000, STOPPED_NS = 80000000, SLACK_NS = 2000000 };

enum reader {
    RETURNS_IN_STOP,
    BEGINS_IN_STOP,
    NEW_IN_STOP,   /* its thread was created while recording was stopped */
    BOTH_IN_STOPS, /* begins in the first stop, and returns in the second */
    OVER_SESSIONS, /* begins in the first stop, and lasts over all others */
    READERS
};

static struct reading {
    pthread_t thread;
    int pipe[2];
    pid_t tid;
    int begun;
    uint64_t least, most; /* of the recorded part */
} readings[READERS];
static int stopped;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

static uint64_t now(void)
{
    struct timespec t;
    CHECK(clock_gettime(CLOCK_MONOTONIC_RAW, &t) == 0);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void pass(uint64_t ns)
{
    for (uint64_t until = now() + ns; now() < until;)
        usleep(1000);
}

static void set(int *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

static bool is_asleep(pid_t tid)
{
    char path[64], line[256] = "";
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    FILE *f = fopen(path, "r");
    CHECK(f && fgets(line, sizeof line, f));
    fclose(f);
    const char *state = strrchr(line, ')');
    return state && state[1] == ' ' && state[2] == 'S';
}

static void *read_pipe(void *arg)
{
    struct reading *r = arg;
    char byte;
    __atomic_store_n(&r->tid, gettid(), __ATOMIC_RELEASE);
    if (r == &readings[BEGINS_IN_STOP] || r == &readings[BOTH_IN_STOPS]) {
        lock(&own); /* it is known to the recorder */
        unlock(&own);
        while (!__atomic_load_n(&stopped, __ATOMIC_ACQUIRE))
            sched_yield();
    }
    set(&r->begun);
    CHECK(read(r->pipe[0], &byte, 1) == 1);
    return arg;
}

static void create(enum reader which)
{
    struct reading *r = &readings[which];
    CHECK(pipe(r->pipe) == 0 && pthread_create(&r->thread, NULL, read_pipe, r) == 0);
}

static void until_reads(enum reader which)
{
    const struct reading *r = &readings[which];
    while (!__atomic_load_n(&r->begun, __ATOMIC_ACQUIRE) || !is_asleep(__atomic_load_n(&r->tid, __ATOMIC_ACQUIRE)))
        sched_yield();
}

static void end_reading(enum reader which)
{
    CHECK(write(readings[which].pipe[1], "", 1) == 1 && pthread_join(readings[which].thread, NULL) == 0);
}

static void took(enum reader which, uint64_t before, uint64_t since, uint64_t until, uint64_t after)
{
    readings[which].least += until - since;
    readings[which].most += after - before;
}

static void record(void)
{
    struct upmu_control *control;
    begin(UPMU_SYNC_HOLDERS);
    CHECK(upmu_control_open(&control, dir) == 0);
    uint64_t before = now();
    create(RETURNS_IN_STOP);
    until_reads(RETURNS_IN_STOP);
    create(BEGINS_IN_STOP);
    create(BOTH_IN_STOPS);
    uint64_t since = now();
    pass(RECORDED_NS);
    uint64_t until = now();
    CHECK(upmu_control_stop(control, 0) == 0);
    took(RETURNS_IN_STOP, before, since, until, now());
    set(&stopped);
    create(NEW_IN_STOP);
    create(OVER_SESSIONS);
    for (enum reader i = BEGINS_IN_STOP; i < READERS; i++)
        until_reads(i);
    end_reading(RETURNS_IN_STOP);
    pass(STOPPED_NS);

    before = now();
    CHECK(upmu_control_start(control, 0) == 0);
    since = now();
    pass(RECORDED_NS);
    until = now();
    end_reading(BEGINS_IN_STOP);
    took(BEGINS_IN_STOP, before, since, until, now());
    end_reading(NEW_IN_STOP);
    took(NEW_IN_STOP, before, since, until, now());
    until = now();
    CHECK(upmu_control_stop(control, 0) == 0);
    took(BOTH_IN_STOPS, before, since, until, now());
    took(OVER_SESSIONS, before, since, until, now());
    end_reading(BOTH_IN_STOPS);
    pass(STOPPED_NS);

    before = now();
    CHECK(upmu_control_start(control, 0) == 0);
    since = now();
    pass(RECORDED_NS);
    until = now();
    end();
    took(OVER_SESSIONS, before, since, until, now());
    pass(STOPPED_NS);
    before = now();
    begin(UPMU_SYNC_HOLDERS);
    since = now();
    pass(RECORDED_NS);
    until = now();
    end_reading(OVER_SESSIONS);
    took(OVER_SESSIONS, before, since, until, now());
    end();
    upmu_control_close(control);
}

static void check_reading(const struct upmu_overview *o, enum reader which)
{
    const struct reading *r = &readings[which];
    struct upmu_overview_thread t = {.size = sizeof t};
    struct upmu_overview_thread_wait w = {.size = sizeof w};
    size_t i = 0;
    while (upmu_overview_thread_at(o, i, &t) == 0 && t.tid != r->tid)
        i++;
    uint64_t ns = upmu_overview_thread_wait_at(o, i, UPMU_WAIT_READ, &w) == 0 ? w.waits.total_ns : 0;
    /* When recording was started is known to 1/256 of the time since then. */
    if (w.waits.count == 1 && ns + ns / 128 + SLACK_NS >= r->least && ns <= r->most + SLACK_NS && t.blocked_ns >= ns)
        return;
    fprintf(stderr, "reader %d: %" PRIu64 " waits, %" PRIu64 " ns instead of %" PRIu64 " to %" PRIu64 "\n", (int)which,
            w.waits.count, ns, r->least, r->most);
    exit(1);
}

int main(void)
{
    struct upmu_overview *o;
    if (UNDER_THREAD_SANITIZER) {
        puts("skipped, because waits of calls are not recorded under ThreadSanitizer");
        return 77;
    }
    CHECK(mkdtemp(dir) != NULL);
    record();
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    for (enum reader i = 0; i < READERS; i++)
        check_reading(o, i);
    upmu_overview_close(o);
    return remove_recording();
}
