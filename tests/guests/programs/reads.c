/* SPDX-License-Identifier: MIT */
/*
 * Reads without a system call on real kernels and PMUs: page protocol against read(2), sets, regions.
 *
 * The operations of lib/kernel are tested too.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/arch_ops.h"
#include "core/kernel_ops.h"
#include "core/machine/machine.h"
#include "guest.h"
#include "support/region_stats.h"
#include "suites.h"
#include "upmu/region.h"

#define USER_ACCESS "/proc/sys/kernel/perf_user_access"

/* Arm's kernels grant no user-space reads until the administrator enables them; others have no such switch. */
static void grant_user_reads(void)
{
    if (access(USER_ACCESS, F_OK) == 0)
        EXPECT(guest_sysctl(USER_ACCESS, 1), "%s cannot be written", USER_ACCESS);
}

/* ------------------------------------------------------------------------------------------- the page and read(2) */

struct mapped {
    int fd;
    const void *page;
};

/* @return whether the event opens; a mapped event of the calling thread in user mode. */
static bool mapped_open(struct mapped *m, uint64_t generic, uint64_t config1)
{
    const struct kernel_open request = {
        .type = KERNEL_TYPE_HARDWARE,
        .exclude = UPMU_EXCLUDE_KERNEL,
        .config = generic,
        .config1 = config1,
        .cpu = -1,
        .group_fd = -1,
    };
    m->fd = upmu_kernel_perf.open(&request);
    if (m->fd < 0)
        return false;
    int rc = upmu_kernel_perf.map(m->fd, &m->page);
    EXPECT(rc == 0, "map: %s", strerror(-rc));
    return true;
}

static void mapped_close(struct mapped *m)
{
    upmu_kernel_perf.unmap(m->page);
    upmu_kernel_perf.close(m->fd);
}

static uint64_t by_page(const struct mapped *m)
{
    struct kernel_page_count now = {.value = UPMU_NO_VALUE};
    int rc = upmu_kernel_perf.page_read(m->page, upmu_arch_counter_read, &now);
    EXPECT(rc == 0, "the page does not grant a read: %s", strerror(-rc));
    return now.value;
}

static uint64_t by_read(const struct mapped *m)
{
    uint64_t words[KERNEL_READ_ONE_WORDS] = {UPMU_NO_VALUE};
    ssize_t n = upmu_kernel_perf.read(m->fd, words, sizeof words);
    EXPECT(n == (ssize_t)sizeof words, "read: %zd", n);
    return words[0];
}

static unsigned width_of(const struct mapped *m)
{
    return ((const struct perf_event_mmap_page *)m->page)->pmc_width;
}

/* Between two reads of the page lies a read(2): what it gives lies between theirs. */
static void expect_agreement(const char *what, const struct mapped *m)
{
    enum { CALLS_APART = 1000 };
    uint64_t first = by_page(m);
    guest_loop(LOOP_INSTRUCTIONS);
    uint64_t before = by_page(m), read = by_read(m), after = by_page(m);
    EXPECT(before - first >= LOOP_INSTRUCTIONS, "%s: %llu over the loop", what, (unsigned long long)(before - first));
    EXPECT(before <= read && read <= after, "%s: page %llu, read %llu, page %llu", what, (unsigned long long)before,
           (unsigned long long)read, (unsigned long long)after);
    EXPECT(after - before < CALLS_APART, "%s: %llu apart", what, (unsigned long long)(after - before));
    guest_note("%s (%u bits): page %llu, read %llu, page %llu", what, width_of(m), (unsigned long long)before,
               (unsigned long long)read, (unsigned long long)after);
}

static void page_and_read_agree(void)
{
    struct mapped m;
    grant_user_reads();
    uint64_t ask = machine_get()->user_read_config1;
    for (uint64_t generic = PERF_COUNT_HW_CPU_CYCLES; generic <= PERF_COUNT_HW_INSTRUCTIONS; generic++) {
        const char *what = generic == PERF_COUNT_HW_CPU_CYCLES ? "cycles" : "instructions";
        bool open = mapped_open(&m, generic, ask);
        EXPECT(open, "%s cannot be opened", what);
        if (!open)
            continue;
        expect_agreement(what, &m);
        mapped_close(&m);
    }
}

static void page_and_read_agree_on_64_bits(void)
{
    enum { LONG = 1 }; /* config1:0 of Arm's PMUs: count in 64 bits */
    struct mapped m;
    uint64_t ask = machine_get()->user_read_config1;
    grant_user_reads();
    if (ask == 0)
        guest_skip("this PMU has no choice of the counter's width");
    EXPECT(mapped_open(&m, PERF_COUNT_HW_CPU_CYCLES, ask | LONG), "cycles in 64 bits cannot be opened");
    expect_agreement("cycles", &m);
    EXPECT(width_of(&m) == 64, "%u bits", width_of(&m));
    mapped_close(&m);
    EXPECT(mapped_open(&m, PERF_COUNT_HW_CPU_CYCLES, ask), "cycles in 32 bits cannot be opened");
    EXPECT(width_of(&m) == 32, "%u bits", width_of(&m));
    mapped_close(&m);
}

enum { TIMES = 1000 };

static int read_pages_often(const struct mapped *m)
{
    struct kernel_page_count now;
    int refused = 0;
    for (int i = 0; i < TIMES; i++)
        refused += upmu_kernel_perf.page_read(m->page, upmu_arch_counter_read, &now) != 0;
    return refused;
}

static int read_often(const struct mapped *m)
{
    uint64_t words[KERNEL_READ_ONE_WORDS];
    int refused = 0;
    for (int i = 0; i < TIMES; i++)
        refused += upmu_kernel_perf.read(m->fd, words, sizeof words) != (ssize_t)sizeof words;
    return refused;
}

/* Instructions in both modes, as another event than the one that is read sees them: the emulator's time is made of them, so
 * this is what a read costs. The kernel's timer interrupts some of the rounds, and its instructions are counted too: the
 * round with the fewest had none. */
static uint64_t cost_of(int (*often)(const struct mapped *), const struct mapped *m)
{
    enum { ROUNDS = 5 };
    struct upmu_value v[GUEST_EVENTS_MAX];
    uint64_t least = UPMU_NO_VALUE;
    struct upmu_set *set = guest_open("instructions:uk", UPMU_TARGET_THREAD, UPMU_SET_NO_USER_READ, 0);
    for (int round = 0; round < ROUNDS; round++) {
        EXPECT(upmu_set_reset(set) == 0, "reset");
        guest_start(set);
        int refused = often(m);
        guest_stop(set);
        EXPECT(refused == 0, "%d reads were refused", refused);
        guest_read(set, v);
        if (guest_status(set, 0, v, UPMU_EXACT) && v[0].value < least)
            least = v[0].value;
    }
    upmu_set_close(set);
    return least / TIMES;
}

static void page_costs_a_tenth_of_read(void)
{
    struct mapped m;
    grant_user_reads();
    if (!mapped_open(&m, PERF_COUNT_HW_CPU_CYCLES, machine_get()->user_read_config1)) {
        EXPECT(false, "cycles cannot be opened");
        return;
    }
    uint64_t page = cost_of(read_pages_often, &m), read = cost_of(read_often, &m);
    guest_note("a read of the page costs %llu instructions, read(2) %llu", (unsigned long long)page,
               (unsigned long long)read);
    EXPECT(page > 0 && page * 10 <= read, "page %llu, read %llu", (unsigned long long)page, (unsigned long long)read);
    mapped_close(&m);
}

/* --------------------------------------------------------------------------------------------------------- sets */

static void expect_running_difference(struct upmu_set *set)
{
    enum { READ_INSTRUCTIONS = 2000 };
    struct upmu_value before[GUEST_EVENTS_MAX], after[GUEST_EVENTS_MAX];
    guest_start(set);
    guest_read(set, before);
    guest_loop(LOOP_INSTRUCTIONS);
    guest_read(set, after);
    if (guest_status(set, 0, &before[0], UPMU_EXACT) && guest_status(set, 0, &after[0], UPMU_EXACT))
        EXPECT_WITHIN(after[0].value - before[0].value, LOOP_INSTRUCTIONS, LOOP_INSTRUCTIONS + READ_INSTRUCTIONS,
                      "between two reads");
}

static void set_reads_through_the_page_where_it_is_granted(void)
{
    grant_user_reads();
    struct upmu_set *set = guest_open("instructions:u,cycles:u", UPMU_TARGET_THREAD, 0, 0);
    guest_start(set);
    EXPECT(upmu_set_user_read(set, 0) && upmu_set_user_read(set, 1), "reads take a system call");
    expect_running_difference(set);
    guest_stop(set);
    EXPECT(!upmu_set_user_read(set, 0), "a stopped counter is on no counter of the CPU");
    upmu_set_close(set);

    set = guest_open("instructions:u", UPMU_TARGET_THREAD, UPMU_SET_NO_USER_READ, 0);
    EXPECT(!upmu_set_user_read(set, 0), "it was asked not to");
    expect_running_difference(set);
    upmu_set_close(set);
}

/* The kernel maps the page and gives index 0: a state in which only read(2) has the count. */
static void set_falls_back_to_read_where_the_page_has_no_index(void)
{
    if (access(USER_ACCESS, F_OK) != 0)
        guest_skip("this kernel has no switch for user-space reads");
    EXPECT(guest_sysctl(USER_ACCESS, 0), "%s cannot be written", USER_ACCESS);
    struct upmu_set *set = guest_open("instructions:u", UPMU_TARGET_THREAD, 0, 0);
    guest_start(set);
    EXPECT(!upmu_set_user_read(set, 0), "read in user mode against the administrator's word");
    expect_running_difference(set);
    upmu_set_close(set);
}

/* Counted by the kernel's tracepoint; the last of them ends the counting. */
static void sets_perform_no_system_call_to_read_and_one_to_start_or_stop(void)
{
    enum { READS = 1000, CYCLES = 100 };
    struct upmu_value v[GUEST_EVENTS_MAX];
    grant_user_reads();
    struct upmu_set *set = guest_open("cycles:u,instructions:u", UPMU_TARGET_THREAD, 0, 0);
    int all = guest_calls_counter(NULL);
    guest_start(set);
    guest_read(set, v);
    uint64_t before = guest_calls(all);
    for (int i = 0; i < READS; i++)
        guest_read(set, v);
    uint64_t after = guest_calls(all);
    EXPECT(after - before == 1, "%d reads perform %llu system calls", READS, (unsigned long long)(after - before - 1));
    guest_stop(set);
    before = guest_calls(all);
    for (int i = 0; i < CYCLES; i++) {
        guest_start(set);
        guest_read(set, v);
        guest_stop(set);
    }
    after = guest_calls(all);
    EXPECT(after - before == 2 * CYCLES + 1, "%d times start, read and stop perform %llu system calls", CYCLES,
           (unsigned long long)(after - before - 1));
    upmu_set_close(set);
}

static void loops_count_to_the_instruction_without_the_overhead(void)
{
    enum { EVENTS = 2, CLOSE = 20 };
    struct upmu_value v[EVENTS], own[EVENTS];
    struct upmu_set *set = guest_open("instructions:u,cycles:u", UPMU_TARGET_THREAD, 0, 0);
    int rc = upmu_set_overhead(set, own, EVENTS);
    EXPECT(rc == EVENTS, "overhead: %s", upmu_error());
    guest_start(set);
    guest_loop(LOOP_INSTRUCTIONS);
    guest_stop(set);
    guest_read(set, v);
    guest_note("a loop of %d instructions: %llu counted, %llu of them by an empty start and stop", LOOP_INSTRUCTIONS,
               (unsigned long long)v[0].value, (unsigned long long)own[0].value);
    EXPECT(own[0].status == UPMU_EXACT && own[0].value < v[0].value, "%llu", (unsigned long long)own[0].value);
    EXPECT_WITHIN(v[0].value - own[0].value, LOOP_INSTRUCTIONS, LOOP_INSTRUCTIONS + CLOSE, "instructions");
    upmu_set_close(set);
}

/* ------------------------------------------------------------------------------------------------------ regions */

static upmu_region_t region = UPMU_REGION("loop");

static void region_pairs(int n)
{
    for (int i = 0; i < n; i++) {
        upmu_region_enter(&region);
        upmu_region_leave(&region);
    }
}

static uint64_t switches_so_far(void)
{
    struct rusage usage;
    EXPECT(getrusage(RUSAGE_THREAD, &usage) == 0, "getrusage");
    return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

static void regions_on(const char *events)
{
    struct upmu_region_opts opts = {.size = sizeof opts, .events = events, .report = "none"};
    int rc = upmu_region_setup(&opts);
    EXPECT(rc == 0, "regions with %s", events);
}

/* The second one is what regions_count_to_the_instruction() looks at. */
#ifdef __riscv
#define FOUR_EVENTS "cycles:u,instructions:u,dtlb-load-miss:u,dtlb-store-miss:u"
#else
#define FOUR_EVENTS "cycles:u,instructions:u,instructions:k,instructions:uk"
#endif

static void regions_with_four_counters_perform_no_system_call(void)
{
    enum { PAIRS = 1000 };
    grant_user_reads();
    regions_on(FOUR_EVENTS);
    region_pairs(10);
    int calls = guest_calls_counter(NULL);
    region_pairs(10); /* enabling that event changed the page of switches, which is followed up once */
    uint64_t switched = switches_so_far(), before = guest_calls(calls);
    region_pairs(PAIRS);
    uint64_t after = guest_calls(calls);
    switched = switches_so_far() - switched;
    EXPECT(after - before <= 1 + switched, "%d pairs perform %llu system calls beside the %llu that follow a switch",
           PAIRS, (unsigned long long)(after - before - 1), (unsigned long long)switched);
    /* The witness sees what there is to see. */
    before = guest_calls(calls);
    for (int i = 0; i < PAIRS; i++)
        (void)syscall(SYS_getppid);
    after = guest_calls(calls);
    EXPECT(after - before == PAIRS + 1, "%llu", (unsigned long long)(after - before));

    struct test_region stats;
    EXPECT(test_region_read("loop", UPMU_ALL_THREADS, &stats) == 0 && stats.count == PAIRS + 20, "stats");
    EXPECT(stats.n_events == 4, "%u events", stats.n_events);
    for (uint32_t i = 0; i < stats.n_events; i++)
        EXPECT(stats.events[i].status == UPMU_EXACT, "%s: %s", test_region_event(i),
               upmu_status_name(stats.events[i].status));
}

static void regions_count_to_the_instruction(void)
{
    enum { ROUNDS = 10, PAIR_INSTRUCTIONS = 1500 };
    grant_user_reads();
    regions_on(FOUR_EVENTS);
    region_pairs(1);
    for (int i = 0; i < ROUNDS; i++) {
        upmu_region_enter(&region);
        guest_loop(LOOP_INSTRUCTIONS);
        upmu_region_leave(&region);
    }
    struct test_region stats;
    EXPECT(test_region_read("loop", UPMU_ALL_THREADS, &stats) == 0, "stats");
    const struct upmu_region_event_stats *e = &stats.events[1];
    EXPECT(e->status == UPMU_EXACT, "%s", upmu_status_name(e->status));
    EXPECT(e->stat.count == ROUNDS + 1, "%llu instances have a value", (unsigned long long)e->stat.count);
    EXPECT_WITHIN(e->stat.max, LOOP_INSTRUCTIONS, LOOP_INSTRUCTIONS + PAIR_INSTRUCTIONS, "the most of an instance");
    guest_note("instances of %d instructions: at most %llu, the empty one %llu", LOOP_INSTRUCTIONS,
               (unsigned long long)e->stat.max, (unsigned long long)e->stat.min);
}

const struct guest_test reads_tests[] = {
    {"page_and_read_agree", page_and_read_agree},
    {"page_and_read_agree_on_64_bits", page_and_read_agree_on_64_bits},
    {"page_costs_a_tenth_of_read", page_costs_a_tenth_of_read},
    {"set_reads_through_the_page_where_it_is_granted", set_reads_through_the_page_where_it_is_granted},
    {"set_falls_back_to_read_where_the_page_has_no_index", set_falls_back_to_read_where_the_page_has_no_index},
    {"sets_perform_no_system_call_to_read_and_one_to_start_or_stop",
     sets_perform_no_system_call_to_read_and_one_to_start_or_stop},
    {"loops_count_to_the_instruction_without_the_overhead", loops_count_to_the_instruction_without_the_overhead},
    {"regions_with_four_counters_perform_no_system_call", regions_with_four_counters_perform_no_system_call},
    {"regions_count_to_the_instruction", regions_count_to_the_instruction},
};
const size_t n_reads_tests = sizeof reads_tests / sizeof *reads_tests;
