/* SPDX-License-Identifier: MIT */
/*
 * Cost of a region by events, by handle and by string, switched off, beside PAPI, in two threads.
 *
 * Each part runs in a child process, since regions are set up once per process. bench/README.md lists the bars.
 */
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "region.h"
#include "floor.h"
#include "subject.h"
#include "upmu/region.h"

enum {
    PAIRS = 1000,
    CALLS_OFF = 10000,
};

static const struct bench_side by_handle = {.loop = subject_handle_pairs};
static const struct bench_side by_string = {.loop = subject_string_pairs};

static struct bench_side named(const char *name, struct bench_side side)
{
    side.name = name;
    return side;
}

/* The handle form against its floor, then the string form against the handle form. */
static void compare_forms(struct bench *b, const char *handle, const char *string, struct bench_side floor,
                          enum bench_judge judge, double bar, size_t events)
{
    struct bench_pair pair = {
        .subject = named(handle, by_handle), .floor = floor, .n = PAIRS, .judge = judge, .bar = bar};
    subject_check(bench_compare(b, &pair), SUBJECT_HANDLE_REGION, events);
    pair.subject = named(string, by_string);
    pair.floor = named(handle, by_handle);
    pair.bar = judge == BENCH_RATIO ? bar : 30;
    subject_check(bench_compare(b, &pair), SUBJECT_STRING_REGION, events);
}

/* -------------------------------------------------------------------------------------------------- measuring */

static void part_four_events(struct bench *b)
{
    struct floor_group group;
    int rc = floor_group_open(&group);
    if (rc < 0) {
        bench_skip(b, "pair, 4 events", "the kernel refuses these events here: %s", strerror(-rc));
        return;
    }
    subject_set_up(SUBJECT_FOUR_EVENTS);
    compare_forms(b, "pair, 4 events, handle", "pair, 4 events, string",
                  (struct bench_side){.name = "2 group reads + 2 ticks", .loop = floor_group_pairs, .arg = &group},
                  BENCH_RATIO, 1.08, 4);
}

static void part_switches(struct bench *b)
{
    struct floor_page page;
    int rc = floor_page_open(&page);
    if (rc < 0) {
        bench_skip(b, "pair, time + switches", "there is no self-monitoring page here: %s", strerror(-rc));
        return;
    }
    subject_set_up(NULL);
    compare_forms(b, "pair, time + switches, handle", "pair, time + switches, string",
                  (struct bench_side){.name = "2 page reads + 2 ticks", .loop = floor_page_pairs, .arg = &page},
                  BENCH_ADDED, 35, 1);
}

static void part_time(struct bench *b)
{
    subject_set_up(SUBJECT_NO_EVENTS);
    compare_forms(b, "pair, time only, handle", "pair, time only, string",
                  (struct bench_side){.name = "2 ticks", .loop = floor_tick_pairs}, BENCH_ADDED, 25, 0);
}

static void part_no_system_call(struct bench *b)
{
    char why[BENCH_WHY_MAX];
    int made = nosyscall_pairs(why, sizeof why);
    if (made < 0)
        bench_skip(b, "pair, time + switches, system calls", "%s", why);
    else
        bench_count(b, "pair, time + switches, system calls", made, 0);
}

/* ---------------------------------------------------------------------------------------------- switched off */

static void compare_off(struct bench *b, const char *name)
{
    const struct bench_pair pair = {.subject = named(name, by_handle),
                                    .floor = {.name = "an empty loop", .loop = floor_nothing},
                                    .n = CALLS_OFF,
                                    .calls = 2,
                                    .judge = BENCH_ADDED,
                                    .bar = 0.3};
    bench_compare(b, &pair);
}

static void part_never_set_up(struct bench *b)
{
    const struct bench_pair by_hand = {.subject = {.name = "a flag tested by hand", .loop = floor_flag},
                                       .floor = {.name = "an empty loop", .loop = floor_nothing},
                                       .n = CALLS_OFF,
                                       .calls = 2};
    bench_compare(b, &by_hand);
    compare_off(b, "call, never set up");
}

static void part_paused(struct bench *b)
{
    subject_set_up(NULL);
    subject_handle_pairs(NULL, 1);
    if (upmu_region_switch(0) != 1)
        _exit(2);
    compare_off(b, "call, paused");
    struct upmu_region_stats stats = {.size = sizeof stats};
    if (upmu_region_stats_read(SUBJECT_HANDLE_REGION, UPMU_ALL_THREADS, &stats) < 0 || stats.count != 1)
        bench_fail(&b->rows[b->n_rows - 1], "regions were recorded while paused");
}

/* ------------------------------------------------------------------------------------------------------- PAPI */

static void part_papi(struct bench *b)
{
    char why[BENCH_WHY_MAX];
    struct papi papi;
    if (!papi_open(&papi, why, sizeof why)) {
        bench_skip(b, "pair, 4 events, beside PAPI", "%s", why);
        return;
    }
    subject_set_up(SUBJECT_FOUR_EVENTS);
    const struct bench_pair pair = {
        .subject = named("pair, 4 events, beside PAPI", by_handle),
        .floor = {.name = "PAPI_hl_region_begin + end", .loop = papi_pairs, .arg = &papi},
        .n = PAIRS,
    };
    subject_check(bench_compare(b, &pair), SUBJECT_HANDLE_REGION, 4);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(struct bench *b);
    } parts[] = {
        {"pair, 4 events", part_four_events},
        {"pair, time + switches", part_switches},
        {"pair, time + switches, system calls", part_no_system_call},
        {"pair, time only", part_time},
        {"call, never set up", part_never_set_up},
        {"call, paused", part_paused},
        {"two threads, 4 events", two_four_events},
        {"two threads, time + switches", two_switches},
        {"pair, 4 events, beside PAPI", part_papi},
    };
    struct bench *b = bench_start("region", argc, argv);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        bench_part(b, parts[i].name, parts[i].run);
    return bench_end(b);
}
