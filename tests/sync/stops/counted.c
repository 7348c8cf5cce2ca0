/* SPDX-License-Identifier: MIT */
/*
 * Time in mode counts between other modes, set from outside and by the program: its counts are in the results, and its time in no sum.
 *
 * One wait and one hold last from before that time to after it, another wait begins in it.
 */
#include <sys/wait.h>
#include <time.h>

#include "../read_object.h"

#include "upmu/analysis.h"
#include "upmu/control.h"

enum { RECORDED_NS = 20000000, COUNTED_NS = 200000000, COUNTED_PAIRS = 100, SLACK_NS = 2000000 };

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, late = PTHREAD_MUTEX_INITIALIZER,
                       own = PTHREAD_MUTEX_INITIALIZER;
static pid_t waits, waits_late;

/* At least, and at most: measured around it. */
struct bracket {
    uint64_t least, most;
};
static struct bracket counted, wait_took, late_took;

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

static void until_asleep(const pid_t *tid)
{
    char path[64], state = 'R';
    while (__atomic_load_n(tid, __ATOMIC_ACQUIRE) == 0)
        usleep(1000);
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)*tid);
    while (state != 'S') {
        FILE *f = fopen(path, "re");
        CHECK(f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1 && fclose(f) == 0);
        usleep(1000);
    }
}

static void *wait_for_held(void *arg)
{
    waits = gettid();
    lock(&held);
    unlock(&held);
    return arg;
}

static void *wait_for_late(void *arg)
{
    __atomic_store_n(&waits_late, gettid(), __ATOMIC_RELEASE);
    lock(&late);
    unlock(&late);
    return arg;
}

/* ----------------------------------------------------------------------------------------------------- recording */

static void switch_from_outside(int mode)
{
    struct upmu_control *control;
    CHECK(upmu_control_open(&control, dir) == 0);
    CHECK(upmu_control_set_mode(control, 0, mode) == 0);
    CHECK(upmu_control_set_mode(control, 0, mode) == 0); /* no second stretch */
    upmu_control_close(control);
}

static void record(void)
{
    pthread_t that_waits, that_waits_late;
    begin(UPMU_SYNC_ALL);
    lock(&held);
    uint64_t holds = now();
    CHECK(pthread_create(&that_waits, NULL, wait_for_held, NULL) == 0);
    until_blocked(&held, 1);
    uint64_t waiting = now();
    pass(RECORDED_NS);
    uint64_t before = now();
    switch_from_outside(UPMU_SYNC_COUNTS);
    uint64_t since = now();
    lock(&late);
    CHECK(pthread_create(&that_waits_late, NULL, wait_for_late, NULL) == 0);
    for (int i = 0; i < COUNTED_PAIRS; i++) {
        lock(&own);
        unlock(&own);
    }
    until_asleep(&waits_late);
    pass(COUNTED_NS);
    uint64_t until = now();
    CHECK(upmu_sync_set_mode(UPMU_SYNC_ALL) == UPMU_SYNC_COUNTS);
    uint64_t after = now();
    pass(RECORDED_NS);
    uint64_t releases = now();
    unlock(&late);
    unlock(&held);
    CHECK(pthread_join(that_waits, NULL) == 0 && pthread_join(that_waits_late, NULL) == 0);
    uint64_t joined = now();
    end();
    counted = (struct bracket){until - since, after - before};
    wait_took = (struct bracket){releases - waiting - counted.most, joined - holds - counted.least};
    late_took = (struct bracket){releases - after, joined - until};
}

/* ------------------------------------------------------------------------------------------------------- results */

static void check_bracket(const char *what, uint64_t ns, const struct bracket *b)
{
    if (ns + SLACK_NS >= b->least && ns <= b->most + SLACK_NS)
        return;
    fprintf(stderr, "%s: %" PRIu64 " ns instead of %" PRIu64 " to %" PRIu64 "\n", what, ns, b->least, b->most);
    exit(1);
}

static struct upmu_overview_thread thread_with(const struct upmu_overview *o, pid_t tid)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    for (size_t i = 0; upmu_overview_thread_at(o, i, &t) == 0; i++)
        if (t.tid == tid)
            return t;
    CHECK(0 && "the thread is in the recording");
    return t;
}

static void check_stretch(const struct upmu_overview *o)
{
    struct upmu_overview_recorded r = {.size = sizeof r};
    struct upmu_trace_pause pause = {.size = sizeof pause};
    CHECK(upmu_overview_recorded_at(o, 0, &r) == 0 && r.counted == 1 && r.stops >= 1);
    check_bracket("time with counts only", r.counted_ns, &counted);
    CHECK(upmu_overview_pause_at(o, 0, 0, &pause) == 0 && pause.counted == 1);
    CHECK(pause.end_ns - pause.begin_ns == r.counted_ns);
}

static void check_waits(const struct upmu_overview *o)
{
    struct upmu_overview_thread t = thread_with(o, waits);
    check_bracket("wait over it", t.blocked_ns, &wait_took);
    CHECK(t.blocked_ns <= t.end_ns - t.begin_ns - t.stopped_ns);
    CHECK(2 * t.blocked_ns > t.end_ns - t.begin_ns - t.stopped_ns); /* without it most of the thread's life */
    t = thread_with(o, waits_late);
    if (!UNDER_THREAD_SANITIZER)
        check_bracket("wait that began in it", t.blocked_ns, &late_took);
}

static void check_counts(const struct upmu_overview *o)
{
    struct upmu_overview_object x = {.size = sizeof x};
    CHECK(upmu_overview_object_find(o, 0, UPMU_OBJECT_MUTEX, (uintptr_t)&own, &x) == 0);
    CHECK(x.acquisitions == COUNTED_PAIRS);
    CHECK(upmu_overview_object_find(o, 0, UPMU_OBJECT_MUTEX, (uintptr_t)&late, &x) == 0);
    CHECK(x.acquisitions == 2 && x.contended == 1);
}

static void check_path(const struct upmu_overview *o)
{
    struct upmu_overview_path p = {.size = sizeof p};
    CHECK(upmu_overview_path_read(o, 0, &p) == 0);
    CHECK(p.stopped_ns + SLACK_NS >= counted.least && p.end_ns - p.begin_ns - p.stopped_ns < COUNTED_NS + p.stopped_ns);
}

static struct upmu_overview *open_recording(void)
{
    struct upmu_overview *o;
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    return o;
}

static void check_between(void)
{
    record();
    struct upmu_overview *o = open_recording();
    check_stretch(o);
    check_waits(o);
    check_counts(o);
    check_path(o);
    upmu_overview_close(o);
}

static void check_first(void)
{
    struct upmu_overview_recorded r = {.size = sizeof r};
    struct upmu_trace_pause pause = {.size = sizeof pause};
    begin(UPMU_SYNC_COUNTS);
    uint64_t since = now();
    pass(RECORDED_NS);
    uint64_t until = now();
    CHECK(upmu_sync_set_mode(UPMU_SYNC_ALL) == UPMU_SYNC_COUNTS);
    lock(&own);
    unlock(&own);
    end();
    struct upmu_overview *o = open_recording();
    CHECK(upmu_overview_recorded_at(o, 0, &r) == 0 && r.counted == 1 && r.counted_ns + SLACK_NS >= until - since);
    CHECK(upmu_overview_pause_at(o, 0, 0, &pause) == 0 && pause.counted == 1 && pause.begin_ns == r.begin_ns);
    upmu_overview_close(o);
}

/* A recording that has no other mode is as before. */
static void check_alone(void)
{
    struct upmu_overview_recorded r = {.size = sizeof r};
    struct upmu_overview_object x = {.size = sizeof x};
    for (int i = 0; i < 2; i++) {
        begin(UPMU_SYNC_COUNTS);
        pass(RECORDED_NS);
        lock(&own);
        unlock(&own);
        end();
    }
    struct upmu_overview *o = open_recording();
    CHECK(upmu_overview_recorded_at(o, 0, &r) == 0 && r.counted == 0 && r.counted_ns == 0);
    CHECK(r.stopped_ns + RECORDED_NS < r.end_ns - r.begin_ns);
    CHECK(upmu_overview_object_find(o, 0, UPMU_OBJECT_MUTEX, (uintptr_t)&own, &x) == 0 && x.acquisitions == 2);
    upmu_overview_close(o);
}

static void in_process(void (*check)(void))
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(mkdtemp(dir) != NULL);
        check();
        exit(remove_recording());
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
    in_process(check_between);
    in_process(check_first);
    in_process(check_alone);
    return 0;
}
