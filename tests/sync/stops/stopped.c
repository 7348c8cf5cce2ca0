/* SPDX-License-Identifier: MIT */
/*
 * Time in which recording is stopped, from outside and by the program itself: in the results, and in no sum.
 *
 * A wait and a hold last from before both stops to after them; one thread ends in the first stop, another begins there.
 */
#include <time.h>

#include "../read_object.h"

#include "upmu/analysis.h"
#include "upmu/control.h"

enum { RECORDED_NS = 20000000, STOPPED_NS = 200000000, STOPS = 2 };

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static pid_t waiter, ends, begins;
static int recorded, stopped, started;

/* At least, and at most: measured around it. */
struct bracket {
    uint64_t least, most;
};
static struct bracket stop_took[STOPS], wait_took, hold_took, life_took;

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

static void until_set(const int *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        usleep(1000);
}

static void set(int *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

static void use_own_lock(pid_t *tid)
{
    *tid = gettid();
    lock(&own);
    unlock(&own);
}

static void *wait_for_lock(void *arg)
{
    waiter = gettid();
    lock(&held);
    unlock(&held);
    return arg;
}

static void *end_in_stop(void *arg)
{
    use_own_lock(&ends);
    set(&recorded);
    until_set(&stopped);
    return arg;
}

static void *begin_in_stop(void *arg)
{
    until_set(&started);
    use_own_lock(&begins);
    return arg;
}

/* ----------------------------------------------------------------------------------------------------- recording */

static void take_bracket(struct bracket *b, uint64_t before, uint64_t since, uint64_t until, uint64_t after)
{
    b->least = until - since;
    b->most = after - before;
}

static void record_stop_from_outside(pthread_t that_ends)
{
    struct upmu_control *control;
    pthread_t that_begins;
    CHECK(upmu_control_open(&control, dir) == 0);
    uint64_t before = now();
    CHECK(upmu_control_stop(control, 0) == 0);
    CHECK(upmu_control_stop(control, 0) == 0); /* no second stop */
    uint64_t since = now();
    set(&stopped);
    CHECK(pthread_join(that_ends, NULL) == 0);
    CHECK(pthread_create(&that_begins, NULL, begin_in_stop, NULL) == 0);
    pass(STOPPED_NS);
    uint64_t until = now();
    CHECK(upmu_control_start(control, 0) == 0);
    take_bracket(&stop_took[0], before, since, until, now());
    set(&started);
    CHECK(pthread_join(that_begins, NULL) == 0);
    upmu_control_close(control);
}

static void record_stop_by_program(void)
{
    uint64_t before = now();
    end();
    uint64_t since = now();
    pass(STOPPED_NS);
    uint64_t until = now();
    begin(UPMU_SYNC_ALL);
    take_bracket(&stop_took[1], before, since, until, now());
}

static void record(void)
{
    pthread_t that_waits, that_ends;
    uint64_t created = now();
    begin(UPMU_SYNC_ALL);
    uint64_t before = now();
    lock(&held);
    uint64_t holds = now();
    CHECK(pthread_create(&that_waits, NULL, wait_for_lock, NULL) == 0);
    until_blocked(&held, 1);
    uint64_t waits = now();
    CHECK(pthread_create(&that_ends, NULL, end_in_stop, NULL) == 0);
    until_set(&recorded);
    pass(RECORDED_NS);
    record_stop_from_outside(that_ends);
    pass(RECORDED_NS);
    record_stop_by_program();
    pass(RECORDED_NS);
    uint64_t until = now();
    unlock(&held);
    uint64_t released = now();
    CHECK(pthread_join(that_waits, NULL) == 0);
    uint64_t joined = now();
    end();
    take_bracket(&hold_took, before, holds, until, released);
    take_bracket(&wait_took, holds, waits, until, joined);
    take_bracket(&life_took, created, before, joined, now());
}

/* ------------------------------------------------------------------------------------------------------- results */

static void check_bracket(const char *what, uint64_t ns, const struct bracket *b, uint64_t slack_ns)
{
    if (ns + slack_ns >= b->least && ns <= b->most + slack_ns)
        return;
    fprintf(stderr, "%s: %" PRIu64 " ns instead of %" PRIu64 " to %" PRIu64 "\n", what, ns, b->least, b->most);
    exit(1);
}

/* The bracket of a time that both stops are within. */
static struct bracket without_stops(struct bracket b)
{
    for (int i = 0; i < STOPS; i++) {
        b.least -= stop_took[i].most < b.least ? stop_took[i].most : b.least;
        b.most -= stop_took[i].least;
    }
    return b;
}

/* The clock of the events is another one: 0.1 % of these times are far less than the stops. */
enum { SLACK_NS = 2000000 };

static struct upmu_overview_thread thread_with(const struct upmu_overview *o, pid_t tid)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    for (size_t i = 0; upmu_overview_thread_at(o, i, &t) == 0; i++)
        if (t.tid == tid)
            return t;
    CHECK(0 && "the thread is in the recording");
    return t;
}

static uint64_t check_stops(const struct upmu_overview *o, struct upmu_trace_pause pauses[STOPS])
{
    struct upmu_overview_recorded r = {.size = sizeof r};
    CHECK(upmu_overview_recorded_at(o, 0, &r) == 0 && r.more_ns == 0);
    CHECK(r.stops >= STOPS && r.stops == upmu_overview_pause_count(o, 0)); /* also after the last end() */
    for (int i = 0; i < STOPS; i++) {
        pauses[i].size = sizeof pauses[i];
        CHECK(upmu_overview_pause_at(o, 0, (size_t)i, &pauses[i]) == 0);
        check_bracket("stop", pauses[i].end_ns - pauses[i].begin_ns, &stop_took[i], SLACK_NS);
    }
    return r.stopped_ns;
}

static void check_threads(const struct upmu_overview *o, const struct upmu_trace_pause pauses[STOPS])
{
    struct upmu_overview_thread t = thread_with(o, waiter);
    uint64_t both = pauses[0].end_ns - pauses[0].begin_ns + pauses[1].end_ns - pauses[1].begin_ns;
    const struct bracket waited = without_stops(wait_took), lived = without_stops(life_took);
    CHECK(t.stopped_ns == both && t.blocked_ns <= t.end_ns - t.begin_ns - t.stopped_ns);
    CHECK(t.cpu_ns == UPMU_NO_VALUE);
    check_bracket("blocked", t.blocked_ns, &waited, SLACK_NS);
    t = thread_with(o, getpid());
    check_bracket("life", t.end_ns - t.begin_ns - t.stopped_ns, &lived, SLACK_NS);
    t = thread_with(o, ends);
    CHECK(t.ended && t.end_ns > pauses[0].begin_ns && t.end_ns < pauses[0].end_ns);
    CHECK(t.stopped_ns == t.end_ns - pauses[0].begin_ns);
    t = thread_with(o, begins);
    CHECK(t.begin_ns >= pauses[0].end_ns);
}

static void check_lock(const struct upmu_overview *o)
{
    struct upmu_overview_object x = {.size = sizeof x};
    const struct bracket waited = without_stops(wait_took), holds = without_stops(hold_took);
    CHECK(upmu_overview_object_find(o, 0, UPMU_OBJECT_MUTEX, (uintptr_t)&held, &x) == 0);
    CHECK(x.waits.count == 1 && x.longest.ns == x.waits.total_ns);
    check_bracket("wait", x.waits.total_ns, &waited, SLACK_NS);
    check_bracket("hold", x.hold_max_ns, &holds, SLACK_NS);
}

static void check_path(const struct upmu_overview *o, uint64_t stopped_ns)
{
    struct upmu_overview_path p = {.size = sizeof p};
    struct upmu_overview_path_segment s = {.size = sizeof s};
    uint64_t by_kind[UPMU_PATH_STOPPED + 1] = {0}, at;
    CHECK(upmu_overview_path_read(o, 0, &p) == 0);
    CHECK(p.run_ns + p.wake_ns + p.unknown_ns + p.stopped_ns == p.end_ns - p.begin_ns && p.stopped_ns <= stopped_ns);
    at = p.begin_ns;
    for (size_t i = 0; upmu_overview_path_segment_at(o, 0, i, &s) == 0; i++) {
        CHECK(s.begin_ns == at && s.end_ns > at && s.kind >= 0 && s.kind <= UPMU_PATH_STOPPED);
        by_kind[s.kind] += s.end_ns - s.begin_ns;
        at = s.end_ns;
    }
    CHECK(at == p.end_ns && by_kind[UPMU_PATH_RUNNING] == p.run_ns && by_kind[UPMU_PATH_WAKEUP] == p.wake_ns);
    CHECK(by_kind[UPMU_PATH_WAITING] == p.unknown_ns && by_kind[UPMU_PATH_STOPPED] == p.stopped_ns);
    CHECK(p.stopped_ns >= stop_took[0].least + stop_took[1].least - SLACK_NS);
}

/* Windows that cut through both stops add up to the whole. */
static void check_windows(const struct upmu_overview *whole, const struct upmu_trace_pause pauses[STOPS])
{
    struct upmu_overview_totals t = {.size = sizeof t};
    CHECK(upmu_overview_totals_read(whole, &t) == 0);
    uint64_t cuts[STOPS + 2] = {0, 0, 0, t.end_ns - t.begin_ns}, blocked = 0, stopped_ns = 0, lived = 0;
    for (int i = 0; i < STOPS; i++)
        cuts[i + 1] = (pauses[i].begin_ns + pauses[i].end_ns) / 2 - t.begin_ns;
    for (int i = 0; i <= STOPS; i++) {
        const struct upmu_overview_opts opts = {.size = sizeof opts, .from_ns = cuts[i], .to_ns = cuts[i + 1]};
        struct upmu_overview_recorded r = {.size = sizeof r};
        struct upmu_overview *o;
        CHECK(upmu_overview_open(&o, dir, &opts) == 0);
        CHECK(upmu_overview_recorded_at(o, 0, &r) == 0 && upmu_overview_totals_read(o, &t) == 0);
        blocked += thread_with(o, waiter).blocked_ns;
        stopped_ns += r.stopped_ns;
        lived += t.lifetime_ns;
        upmu_overview_close(o);
    }
    struct upmu_overview_recorded r = {.size = sizeof r};
    CHECK(upmu_overview_recorded_at(whole, 0, &r) == 0 && upmu_overview_totals_read(whole, &t) == 0);
    CHECK(blocked == thread_with(whole, waiter).blocked_ns && stopped_ns == r.stopped_ns && lived == t.lifetime_ns);
}

int main(void)
{
    struct upmu_overview *o;
    struct upmu_trace_pause pauses[STOPS] = {{0}};
    CHECK(mkdtemp(dir) != NULL);
    record();
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    uint64_t stopped_ns = check_stops(o, pauses);
    check_threads(o, pauses);
    check_lock(o);
    check_path(o, stopped_ns);
    check_windows(o, pauses);
    upmu_overview_close(o);
    return remove_recording();
}
