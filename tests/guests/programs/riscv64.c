/* SPDX-License-Identifier: MIT */
/* A RISC-V PMU behind its firmware, with and without filters for user and kernel mode. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/region_stats.h"
#include "suites.h"
#include "upmu/region.h"

/* ------------------------------------------------------------------------------------------------- TLB misses */

/* One access to each page after a flush is one miss. */
static void walk(unsigned char *memory, size_t pages, bool store)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile unsigned char *at = memory;
    guest_flush(memory, pages);
    for (size_t i = 0; i < pages; i++) {
        if (store)
            at[i * page] = 1;
        else
            (void)at[i * page];
    }
}

static void count_walks(struct upmu_set *set, unsigned char *memory, size_t pages, bool store)
{
    enum { ROUNDS = 4 };
    struct upmu_value v[GUEST_EVENTS_MAX];
    EXPECT(upmu_set_reset(set) == 0, "reset");
    guest_start(set);
    for (int i = 0; i < ROUNDS; i++)
        walk(memory, pages, store);
    guest_stop(set);
    guest_read(set, v);
    uint64_t accesses = ROUNDS * pages;
    if (guest_status(set, 0, &v[0], UPMU_EXACT) && guest_status(set, 1, &v[1], UPMU_EXACT)) {
        EXPECT_WITHIN(v[store].value, accesses - accesses / 20, accesses + accesses / 20, upmu_set_name(set, store));
        EXPECT(v[!store].value < accesses / 20, "%s: %llu", upmu_set_name(set, !store),
               (unsigned long long)v[!store].value);
    }
    guest_note("%zu pages, %d %s each: %llu load misses, %llu store misses", pages, ROUNDS, store ? "stores" : "loads",
               (unsigned long long)v[0].value, (unsigned long long)v[1].value);
}

static void tlb_misses_of_a_walk_are_counted(void)
{
    enum { PAGES = 8192 };
    unsigned char *memory = guest_memory(PAGES);
    struct upmu_set *set = guest_open("dtlb-load-miss:u,dtlb-store-miss:u", UPMU_TARGET_THREAD, 0, 0);
    count_walks(set, memory, PAGES, false);
    count_walks(set, memory, PAGES, true);
    count_walks(set, memory, PAGES / 8, false);
    upmu_set_close(set);
}

/* ----------------------------------------------------------------------------------------- one counter an event */

/* This PMU counts an event once at a time: a second copy reads 0 with healthy times, which must not become a number. */
static void second_copy_of_an_event_has_no_number(void)
{
    struct upmu_value v[GUEST_EVENTS_MAX];
    struct upmu_set *first = guest_open("instructions:u,cycles:u", UPMU_TARGET_THREAD, 0, 0);
    struct upmu_set *second = guest_open("instructions:u,cycles:u", UPMU_TARGET_THREAD, 0, 0);
    guest_start(first);
    guest_start(second);
    guest_loop(LOOP_INSTRUCTIONS);
    guest_stop(second);
    guest_stop(first);
    guest_read(first, v);
    guest_status(first, 0, &v[0], UPMU_EXACT);
    EXPECT_WITHIN(v[0].value, LOOP_INSTRUCTIONS, LOOP_INSTRUCTIONS + 2000, "the first set");
    guest_read(second, v);
    for (size_t i = 0; i < 2; i++) {
        guest_status(second, i, &v[i], UPMU_NOT_COUNTED);
        EXPECT(v[i].value == UPMU_NO_VALUE && upmu_set_reason(second, i)[0], "%s: %llu", upmu_set_name(second, i),
               (unsigned long long)v[i].value);
    }
    upmu_set_close(second);
    upmu_set_close(first);
}

/* In one list the copies share the one counter, and other modes of the same event are refused. */
static void copies_in_one_set_share_a_counter(void)
{
    struct upmu_value v[GUEST_EVENTS_MAX];
    struct upmu_set *set =
        guest_open("dtlb-load-miss:u,dtlb-load-miss:u,instructions:u,instructions:k", UPMU_TARGET_THREAD, 0, 0);
    enum { PAGES = 1000 };
    unsigned char *memory = guest_memory(PAGES);
    guest_start(set);
    walk(memory, PAGES, false);
    guest_stop(set);
    guest_read(set, v);
    for (size_t i = 0; i < 2; i++)
        if (guest_status(set, i, &v[i], UPMU_EXACT))
            EXPECT(v[i].value >= PAGES && v[i].value == v[0].value, "copy %zu: %llu", i,
                   (unsigned long long)v[i].value);
    guest_status(set, 2, &v[2], UPMU_EXACT);
    guest_status(set, 3, &v[3], UPMU_REFUSED);
    EXPECT(v[3].value == UPMU_NO_VALUE && upmu_set_reason(set, 3)[0], "no reason");
    guest_note("%s", upmu_set_reason(set, 3));
    upmu_set_close(set);
}

static void region_beside_a_set_has_no_number_of_its_event(void)
{
    static upmu_region_t region = UPMU_REGION("loop");
    struct upmu_region_opts opts = {.size = sizeof opts, .events = "instructions:u"};
    struct test_region stats;
    struct upmu_value v[GUEST_EVENTS_MAX];
    struct upmu_set *set = guest_open("instructions:u", UPMU_TARGET_THREAD, 0, 0);
    guest_start(set);
    EXPECT(upmu_region_setup(&opts) == 0, "regions");
    for (int i = 0; i < 3; i++) {
        upmu_region_enter(&region);
        guest_loop(LOOP_INSTRUCTIONS);
        upmu_region_leave(&region);
    }
    guest_stop(set);
    guest_read(set, v);
    guest_status(set, 0, &v[0], UPMU_EXACT);
    EXPECT(test_region_read("loop", UPMU_ALL_THREADS, &stats) == 0, "stats");
    EXPECT(stats.events[0].status == UPMU_NOT_COUNTED, "%s", upmu_status_name(stats.events[0].status));
    EXPECT(stats.events[0].stat.count == 0 && stats.events[0].without_value == 3, "%llu instances have a value",
           (unsigned long long)stats.events[0].stat.count);
    upmu_set_close(set);
}

/* --------------------------------------------------------------------------------------------- without a filter */

/* The PMU refuses the modifier; all modes are counted instead, and the name shows it. */
static void without_a_filter_all_modes_are_counted_and_named(void)
{
    struct upmu_value v[GUEST_EVENTS_MAX];
    struct upmu_set *set = guest_open("instructions:u,cycles", UPMU_TARGET_THREAD, 0, 0);
    EXPECT(strcmp(upmu_set_name(set, 0), "instructions:uk") == 0, "it is called '%s'", upmu_set_name(set, 0));
    guest_start(set);
    guest_loop(LOOP_INSTRUCTIONS);
    guest_stop(set);
    guest_read(set, v);
    for (size_t i = 0; i < 2; i++)
        guest_status(set, i, &v[i], UPMU_EXACT);
    EXPECT_WITHIN(v[0].value, LOOP_INSTRUCTIONS, LOOP_INSTRUCTIONS + 200000, "in all modes");
    EXPECT_WITHIN(v[1].value, guest_cycles_per_instruction() * LOOP_INSTRUCTIONS,
                  guest_cycles_per_instruction() * (LOOP_INSTRUCTIONS + 200000), "cycles");
    guest_note("%s: %llu", upmu_set_name(set, 0), (unsigned long long)v[0].value);
    upmu_set_close(set);
}

static void without_a_filter_a_strict_set_is_refused(void)
{
    struct upmu_set_opts opts = {.size = sizeof opts, .flags = UPMU_SET_STRICT};
    struct upmu_set *set = NULL;
    int rc = upmu_set_open(&set, "instructions:u", &opts);
    EXPECT(rc == UPMU_E_UNSUPPORTED && set == NULL, "%s", upmu_strerror(rc));
    EXPECT(upmu_set_open(&set, "instructions", &opts) == 0, "without a modifier there is nothing to refuse");
    upmu_set_close(set);
}

static const struct guest_test filter_tests[] = {
    {"tlb_misses_of_a_walk_are_counted", tlb_misses_of_a_walk_are_counted},
    {"second_copy_of_an_event_has_no_number", second_copy_of_an_event_has_no_number},
    {"copies_in_one_set_share_a_counter", copies_in_one_set_share_a_counter},
    {"region_beside_a_set_has_no_number_of_its_event", region_beside_a_set_has_no_number_of_its_event},
};

static const struct guest_test no_filter_tests[] = {
    {"without_a_filter_all_modes_are_counted_and_named", without_a_filter_all_modes_are_counted_and_named},
    {"without_a_filter_a_strict_set_is_refused", without_a_filter_a_strict_set_is_refused},
};

int main(void)
{
    const char *filter = getenv("guest_filter");
    if (filter && strcmp(filter, "0") == 0)
        return guest_run(no_filter_tests, sizeof no_filter_tests / sizeof *no_filter_tests);
    int failed = guest_run(counters_tests, n_counters_tests);
    failed |= guest_run(reads_tests, n_reads_tests);
    failed |= guest_run(filter_tests, sizeof filter_tests / sizeof *filter_tests);
    return failed;
}
