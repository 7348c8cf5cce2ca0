/* SPDX-License-Identifier: MIT */
/* user-time and system-time of the calling thread, in sets and regions, against getrusage(). */
#include <sys/resource.h>

#include "support/behavior.h"
#include "upmu/region.h"

enum { BUSY = 60 * 1000 * 1000, CALLS = 40000, ROUNDS = 3, MODES = 2 };

static void usage(uint64_t times[MODES])
{
    struct rusage r;
    CHECK(getrusage(RUSAGE_THREAD, &r) == 0, "getrusage");
    times[0] = (uint64_t)r.ru_utime.tv_sec * 1000000000u + (uint64_t)r.ru_utime.tv_usec * 1000u;
    times[1] = (uint64_t)r.ru_stime.tv_sec * 1000000000u + (uint64_t)r.ru_stime.tv_usec * 1000u;
}

static void work(void)
{
    burn(BUSY);
    for (int i = 0; i < CALLS; i++) {
        struct rusage r;
        (void)getrusage(RUSAGE_SELF, &r); /* some time in the kernel */
    }
}

static void between(uint64_t value, uint64_t least, uint64_t most, const char *what)
{
    CHECK(value >= least && value <= most, "%s: %llu ns, not between %llu and %llu", what, (unsigned long long)value,
          (unsigned long long)least, (unsigned long long)most);
}

/* The source is the same, so the bounds are exact. What passes while the set is stopped is not counted. */
static void set_agrees(void)
{
    struct upmu_set *set;
    struct upmu_value v[MODES];
    uint64_t out[MODES], in[MODES], more[MODES], least[MODES] = {0}, most[MODES] = {0};
    CHECK(upmu_set_open(&set, "user-time,system-time", NULL) == 0, "open: %s", upmu_error());
    for (int round = 0; round < ROUNDS; round++) {
        usage(out);
        CHECK(upmu_set_start(set) == 0, "start");
        usage(in);
        work();
        usage(more);
        for (int i = 0; i < MODES; i++)
            least[i] += more[i] - in[i];
        CHECK(upmu_set_stop(set) == 0, "stop");
        usage(more);
        for (int i = 0; i < MODES; i++)
            most[i] += more[i] - out[i];
        work();
    }
    CHECK(upmu_set_read(set, v, MODES) == MODES, "read");
    for (int i = 0; i < MODES; i++) {
        CHECK(v[i].status == UPMU_EXACT, "%s", upmu_status_name(v[i].status));
        between(v[i].value, least[i], most[i], upmu_set_name(set, (size_t)i));
    }
    CHECK(v[0].value + v[1].value > BUSY, "the work took %llu ns", (unsigned long long)(v[0].value + v[1].value));
    upmu_set_close(set);
}

static void region_agrees(void)
{
    struct test_region stats;
    const struct upmu_region_opts opts = {.size = sizeof opts, .events = "user-time,system-time", .report = "none"};
    uint64_t out[MODES], in[MODES], more[MODES], end[MODES];
    CHECK(upmu_region_setup(&opts) == 0, "setup: %s", upmu_error());
    upmu_region_begin("warm");
    upmu_region_end("warm");
    usage(out);
    upmu_region_begin("work");
    usage(in);
    work();
    usage(more);
    upmu_region_end("work");
    usage(end);
    CHECK(test_region_read("work", UPMU_ALL_THREADS, &stats) == 0, "stats: %s", upmu_error());
    for (int i = 0; i < MODES; i++)
        between(stats.events[i].stat.sum, more[i] - in[i], end[i] - out[i], i ? "system-time" : "user-time");
}

/* The thread's own alone: of others there is no number, and a reason. */
static void others_are_refused(void)
{
    struct upmu_set *set;
    struct upmu_value v;
    const struct upmu_set_opts opts = {.size = sizeof opts, .flags = UPMU_SET_INHERIT};
    CHECK(upmu_set_open(&set, "user-time", &opts) == 0, "open");
    CHECK(upmu_set_start(set) == 0 && upmu_set_read(set, &v, 1) == 1, "read");
    check_no_number(&v);
    CHECK(strstr(upmu_set_reason(set, 0), "getrusage"), "%s", upmu_set_reason(set, 0));
    upmu_set_close(set);
}

int main(void)
{
    set_agrees();
    region_agrees();
    others_are_refused();
    return 0;
}
