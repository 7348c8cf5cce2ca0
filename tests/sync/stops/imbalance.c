/* SPDX-License-Identifier: MIT */
/* Two threads with unequal work, and a stop between their ends: the finding has how much later the last one ends without the stop. */
#include <time.h>

#include "../read_object.h"

#include "upmu/control.h"
#include "upmu/findings.h"

enum { WORK_NS = 30000000, STOPPED_NS = 200000000 };

static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static int created, begun, recorded, stopped, started;

static uint64_t now(clockid_t clock)
{
    struct timespec t;
    CHECK(clock_gettime(clock, &t) == 0);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void until_set(const int *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void set(int *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

static void work(void)
{
    for (uint64_t until = now(CLOCK_THREAD_CPUTIME_ID) + WORK_NS; now(CLOCK_THREAD_CPUTIME_ID) < until;)
        ;
}

static void *end_first(void *arg)
{
    until_set(&created);
    until_set(&begun); /* a thread that begins after this one has ended is not compared with it */
    lock(&own);
    unlock(&own);
    return arg;
}

static void *end_last(void *arg)
{
    until_set(&created);
    set(&begun);
    work();
    set(&recorded);
    until_set(&stopped);
    until_set(&started);
    work();
    return arg;
}

/* @return the most that the last thread can end after the first one while it is recorded. */
static uint64_t record(void)
{
    struct upmu_control *control;
    pthread_t first, last;
    begin(UPMU_SYNC_ALL);
    CHECK(upmu_control_open(&control, dir) == 0);
    CHECK(pthread_create(&first, NULL, end_first, NULL) == 0 && pthread_create(&last, NULL, end_last, NULL) == 0);
    uint64_t before = now(CLOCK_MONOTONIC_RAW);
    set(&created);
    CHECK(pthread_join(first, NULL) == 0);
    until_set(&recorded);
    CHECK(upmu_control_stop(control, 0) == 0);
    set(&stopped);
    uint64_t since = now(CLOCK_MONOTONIC_RAW);
    usleep(STOPPED_NS / 1000);
    uint64_t until = now(CLOCK_MONOTONIC_RAW);
    CHECK(upmu_control_start(control, 0) == 0);
    set(&started);
    CHECK(pthread_join(last, NULL) == 0);
    uint64_t after = now(CLOCK_MONOTONIC_RAW);
    end();
    upmu_control_close(control);
    return after - before - (until - since);
}

/* "ends 71.2 ms after the first one" */
static double text_ns(const char *text)
{
    const char *at = strstr(text, ", and ends ");
    char unit[4] = "";
    double number = 0;
    CHECK(at && sscanf(at, ", and ends %lf %3s after the first one", &number, unit) == 2);
    CHECK(strcmp(unit, "s") == 0 || strcmp(unit, "ms") == 0);
    return number * (unit[0] == 's' ? 1e9 : 1e6);
}

int main(void)
{
    struct upmu_overview *o;
    struct upmu_findings *findings;
    struct upmu_finding f = {.size = sizeof f};
    bool found = false;
    if (UNDER_THREAD_SANITIZER) {
        puts("skipped, because threads have no start event under ThreadSanitizer");
        return 77;
    }
    CHECK(mkdtemp(dir) != NULL);
    uint64_t most_ns = record();
    CHECK(upmu_overview_open(&o, dir, NULL) == 0 && upmu_findings_open(&findings, o, NULL, NULL) == 0);
    for (size_t i = 0; upmu_findings_at(findings, i, &f) == 0; i++) {
        if (f.kind != UPMU_FINDING_IMBALANCE)
            continue;
        found = true;
        fprintf(stderr, "%s\n", f.text);
        /* Three digits, and the clock of the events is another one. */
        CHECK(text_ns(f.text) <= (double)most_ns * 1.02 && f.gain_ns <= f.run_ns);
    }
    CHECK(found);
    upmu_findings_close(findings);
    upmu_overview_close(o);
    return remove_recording();
}
