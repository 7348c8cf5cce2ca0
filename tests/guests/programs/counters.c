/* SPDX-License-Identifier: MIT */
/*
 * Counts through the public API on a PMU whose counts are exact to the instruction.
 *
 * The library is linked whole and static.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"
#include "suites.h"

/* What start and stop themselves execute in user mode between the counter's start and its stop: at most. */
#ifdef __riscv
enum { CALL_INSTRUCTIONS = 200 };
#else
enum { CALL_INSTRUCTIONS = 100 };
#endif

/* Nothing of the test's own between the two calls but the loop. */
static void count_one_loop(struct upmu_set *set)
{
    int started = upmu_set_start(set);
    guest_loop(LOOP_INSTRUCTIONS);
    int stopped = upmu_set_stop(set);
    EXPECT(started == 0 && stopped == 0, "start: %s, stop: %s", upmu_strerror(started), upmu_strerror(stopped));
}

static void expect_loop(struct upmu_set *set, size_t i, const struct upmu_value *v)
{
    if (!guest_status(set, i, v, UPMU_EXACT))
        return;
    EXPECT_WITHIN(v->value, LOOP_INSTRUCTIONS, LOOP_INSTRUCTIONS + CALL_INSTRUCTIONS, upmu_set_name(set, i));
    EXPECT(v->enabled == v->running && v->running > 0, "enabled %llu, running %llu", (unsigned long long)v->enabled,
           (unsigned long long)v->running);
}

static void count_loop(uint32_t flags)
{
    struct upmu_value v[GUEST_EVENTS_MAX];
    struct upmu_set *set = guest_open("instructions:u", UPMU_TARGET_THREAD, flags, 0);
    for (int round = 0; round < 3; round++) {
        count_one_loop(set);
        guest_read(set, v);
        expect_loop(set, 0, v);
        guest_note("a loop of %d instructions reads %llu", LOOP_INSTRUCTIONS, (unsigned long long)v[0].value);
        EXPECT(upmu_set_reset(set) == 0, "reset");
    }
    upmu_set_close(set);
}

static void loop_is_counted_to_the_instruction(void)
{
    count_loop(0);
}

static void loop_is_counted_to_the_instruction_by_read(void)
{
    count_loop(UPMU_SET_NO_USER_READ);
}

static void cycles_are_instructions_times_the_emulators_shift(void)
{
    struct upmu_value v[GUEST_EVENTS_MAX];
    unsigned ratio = guest_cycles_per_instruction();
    if (ratio == 0)
        guest_skip("this guest's clock does not count instructions (no guest_shift=)");
    struct upmu_set *set = guest_open("cycles:u,instructions:u", UPMU_TARGET_THREAD, 0, 0);
    EXPECT(upmu_set_group_count(set) == 1, "%zu groups", upmu_set_group_count(set));
    count_one_loop(set);
    guest_read(set, v);
    expect_loop(set, 1, &v[1]);
    if (guest_status(set, 0, &v[0], UPMU_EXACT))
        EXPECT(v[0].value == ratio * v[1].value, "%llu cycles, %llu instructions, ratio %u",
               (unsigned long long)v[0].value, (unsigned long long)v[1].value, ratio);

    const char *names[] = {upmu_set_name(set, 0), upmu_set_name(set, 1)};
    struct upmu_metric_value ipc;
    EXPECT(upmu_metric_eval("ipc", names, v, 2, 1.0, &ipc) == 0 && ipc.status == UPMU_EXACT, "ipc");
    EXPECT(ipc.value * ratio == 1.0, "ipc is %f", ipc.value);
    upmu_set_close(set);
}

static void every_name_of_an_event_gives_the_same_count(void)
{
    struct upmu_value v[GUEST_EVENTS_MAX];
    struct upmu_set *set = guest_open("instructions:u,PAPI_TOT_INS:u,instructions:u", UPMU_TARGET_THREAD, 0, 0);
    EXPECT(upmu_set_group_count(set) == 1, "%zu groups", upmu_set_group_count(set));
    count_one_loop(set);
    guest_read(set, v);
    for (size_t i = 0; i < upmu_set_event_count(set); i++) {
        expect_loop(set, i, &v[i]);
        EXPECT(v[i].value == v[0].value, "%s: %llu and %llu", upmu_set_name(set, i), (unsigned long long)v[i].value,
               (unsigned long long)v[0].value);
    }
    upmu_set_close(set);
}

static void software_events_count_beside_the_pmu(void)
{
    struct upmu_value v[GUEST_EVENTS_MAX];
    enum { SLEEPS = 10 };
    const struct timespec shortly = {.tv_nsec = 1000000};
    struct upmu_set *set = guest_open("instructions:u,context-switches,task-clock", UPMU_TARGET_THREAD, 0, 0);
    guest_start(set);
    guest_loop(LOOP_INSTRUCTIONS);
    for (int i = 0; i < SLEEPS; i++)
        nanosleep(&shortly, NULL);
    guest_stop(set);
    guest_read(set, v);
    if (guest_status(set, 0, &v[0], UPMU_EXACT))
        EXPECT_WITHIN(v[0].value, LOOP_INSTRUCTIONS, LOOP_INSTRUCTIONS + 10000, "instructions with sleeps");
    if (guest_status(set, 1, &v[1], UPMU_EXACT))
        EXPECT_WITHIN(v[1].value, SLEEPS, 5 * SLEEPS, "context switches");
    if (guest_status(set, 2, &v[2], UPMU_EXACT))
        EXPECT(v[2].value > 0 && v[2].value < v[0].enabled, "task-clock %llu, enabled %llu",
               (unsigned long long)v[2].value, (unsigned long long)v[0].enabled);
    upmu_set_close(set);
}

/* ------------------------------------------------------------------------------------------------ multiplexing */

/* Loops until so much of the guest's time has passed. @return instructions executed in loops. */
static uint64_t loop_for(uint64_t ns)
{
    struct timespec t;
    uint64_t done = 0, start = 0, now;
    do {
        clock_gettime(CLOCK_MONOTONIC, &t);
        now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
        start = start ? start : now;
        guest_loop(LOOP_INSTRUCTIONS / 10);
        done += LOOP_INSTRUCTIONS / 10;
    } while (now - start < ns);
    return done;
}

static void few_events_are_not_multiplexed(void)
{
    struct upmu_value v[GUEST_EVENTS_MAX];
    struct upmu_set *set =
        guest_open("instructions:u,instructions:u,instructions:u,cycles:u", UPMU_TARGET_THREAD, 0, 0);
    guest_start(set);
    uint64_t done = loop_for(50000000);
    guest_stop(set);
    guest_read(set, v);
    for (size_t i = 0; i < 3; i++)
        if (guest_status(set, i, &v[i], UPMU_EXACT))
            EXPECT_WITHIN(v[i].value, done, done + done / 100, upmu_set_name(set, i));
    guest_status(set, 3, &v[3], UPMU_EXACT);
    upmu_set_close(set);
}

/* More events than there are counters, of which some count what is known and the others 0 in this emulator: each is on a
 * counter for a part of the time. */
static void twelve_events_are_multiplexed_and_marked_scaled(void)
{
    enum { KNOWN = 6 };
    struct upmu_value v[GUEST_EVENTS_MAX];
    unsigned ratio = guest_cycles_per_instruction();
    struct upmu_set *set = guest_open("instructions:u,instructions:uk,cycles:u,cycles:uk,instructions:k,cycles:k,"
                                      "r1:u,r3:u,r4:u,r5:u,r10:u,r12:u",
                                      UPMU_TARGET_THREAD, 0, 0);
    EXPECT(upmu_set_group_count(set) > 1, "12 events fit into %zu group", upmu_set_group_count(set));
    guest_start(set);
    uint64_t done = loop_for(200000000);
    guest_stop(set);
    guest_read(set, v);
    for (size_t i = 0; i < upmu_set_event_count(set); i++) {
        /* A 0 of an unconfirmed raw code is not reported. */
        if (i < KNOWN ? !guest_status(set, i, &v[i], UPMU_SCALED) : !guest_status(set, i, &v[i], UPMU_NOT_COUNTED))
            continue;
        EXPECT(v[i].running < v[i].enabled && v[i].running > 0, "running %llu of %llu",
               (unsigned long long)v[i].running, (unsigned long long)v[i].enabled);
        uint64_t truth = i < 2 ? done : i < 4 ? ratio * done : 0;
        if (truth > 0)
            EXPECT_WITHIN(v[i].value, truth - truth / 100, truth + truth / 100, upmu_set_name(set, i));
        else if (i < KNOWN)
            EXPECT(v[i].value < done / 100, "%s: %llu", upmu_set_name(set, i), (unsigned long long)v[i].value);
    }
    EXPECT(v[0].raw < done, "raw %llu, executed %llu", (unsigned long long)v[0].raw, (unsigned long long)done);
    for (size_t i = 0; i < KNOWN; i++)
        guest_note("%s: on a counter %.0f %% of the time, %llu; executed %llu", upmu_set_name(set, i),
                   100.0 * (double)v[i].running / (double)v[i].enabled, (unsigned long long)v[i].value,
                   (unsigned long long)done);
    upmu_set_close(set);
}

/* --------------------------------------------------------------------------------------- threads, processes, modes */

static void *loop_once(void *arg)
{
    guest_loop(LOOP_INSTRUCTIONS);
    return arg;
}

static void run_threads(pthread_t *threads, size_t n)
{
    for (size_t i = 0; i < n; i++)
        EXPECT(pthread_create(&threads[i], NULL, loop_once, NULL) == 0, "pthread_create");
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static void inherited_counts_are_the_sum_of_the_threads(void)
{
    enum {
        THREADS = 4,
        THREAD_INSTRUCTIONS = 5000
    }; /* the latter: a thread's start and end, its share of the C library */
    struct upmu_value v[GUEST_EVENTS_MAX];
    pthread_t threads[THREADS];
    struct upmu_set *set = guest_open("instructions:u,cycles:u", UPMU_TARGET_THREAD, UPMU_SET_INHERIT, 0);
    guest_start(set);
    run_threads(threads, THREADS);
    guest_stop(set);
    guest_read(set, v);
    if (guest_status(set, 0, &v[0], UPMU_EXACT))
        EXPECT_WITHIN(v[0].value, THREADS * LOOP_INSTRUCTIONS, THREADS * (LOOP_INSTRUCTIONS + THREAD_INSTRUCTIONS),
                      "four threads");
    guest_note("four threads of %d instructions: %llu", LOOP_INSTRUCTIONS, (unsigned long long)v[0].value);
    upmu_set_close(set);

    set = guest_open("instructions:u", UPMU_TARGET_THREAD, 0, 0);
    guest_start(set);
    run_threads(threads, THREADS);
    guest_stop(set);
    guest_read(set, v);
    if (guest_status(set, 0, &v[0], UPMU_EXACT))
        EXPECT(v[0].value < LOOP_INSTRUCTIONS, "without inheritance the threads are in the count: %llu",
               (unsigned long long)v[0].value);
    upmu_set_close(set);
}

enum { CALLS = 2000 };

/* The same work for each of the modes, one after the other: some PMUs count an event once at a time. */
static uint64_t count_in_modes(const char *event)
{
    struct upmu_value v[GUEST_EVENTS_MAX];
    struct upmu_set *set = guest_open(event, UPMU_TARGET_THREAD, 0, 0);
    guest_start(set);
    guest_loop(LOOP_INSTRUCTIONS);
    for (int i = 0; i < CALLS; i++)
        (void)syscall(SYS_getppid);
    guest_stop(set);
    guest_read(set, v);
    guest_status(set, 0, &v[0], UPMU_EXACT);
    upmu_set_close(set);
    return v[0].value;
}

static void modifiers_separate_user_mode_from_kernel_mode(void)
{
    enum { CALL_KERNEL_MIN = 20 };
    uint64_t user = count_in_modes("instructions:u"), kernel = count_in_modes("instructions:k"),
             both = count_in_modes("instructions:uk"), unsaid = count_in_modes("instructions");
    EXPECT_WITHIN(user, LOOP_INSTRUCTIONS, LOOP_INSTRUCTIONS + CALLS * 50, "user mode");
    EXPECT(kernel > CALLS * CALL_KERNEL_MIN && kernel < UPMU_NO_VALUE, "kernel mode: %llu", (unsigned long long)kernel);
    /* Interrupts come when they come. */
    EXPECT_WITHIN(both, user + kernel - kernel / 20, user + kernel + kernel / 20, "both modes");
    EXPECT_WITHIN(unsaid, both - kernel / 20, both + kernel / 20, "without a modifier");
    guest_note("user %llu + kernel %llu, both %llu", (unsigned long long)user, (unsigned long long)kernel,
               (unsigned long long)both);
}

/* A child that loops on each byte from `go`, answers through `done`, and ends when `go` is closed. */
static pid_t looping_child(int go[2], int done[2])
{
    char byte;
    EXPECT(pipe(go) == 0 && pipe(done) == 0, "pipe");
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    close(go[1]);
    while (read(go[0], &byte, 1) == 1) {
        guest_loop(LOOP_INSTRUCTIONS);
        if (write(done[1], &byte, 1) != 1)
            _exit(1);
    }
    _exit(0);
}

static void process_is_counted_by_its_number(void)
{
    enum { PIPE_INSTRUCTIONS = 1000 };
    int go[2], done[2], status;
    char byte = 0;
    struct upmu_value v[GUEST_EVENTS_MAX];
    pid_t pid = looping_child(go, done);
    close(go[0]);
    close(done[1]);
    struct upmu_set *set = guest_open("instructions:u", UPMU_TARGET_PROCESS, 0, pid);
    guest_start(set);
    for (int i = 1; i <= 2; i++) {
        EXPECT(write(go[1], &byte, 1) == 1 && read(done[0], &byte, 1) == 1, "the child does not answer");
        guest_read(set, v);
        if (guest_status(set, 0, v, UPMU_EXACT))
            EXPECT_WITHIN(v[0].value, (uint64_t)i * LOOP_INSTRUCTIONS,
                          (uint64_t)i * (LOOP_INSTRUCTIONS + PIPE_INSTRUCTIONS), "the child's loops");
    }
    guest_stop(set);
    close(go[1]);
    EXPECT(waitpid(pid, &status, 0) == pid && status == 0, "the child ended with 0x%x", (unsigned)status);
    upmu_set_close(set);
}

/* ----------------------------------------------------------------------------------------------- nothing is 0 */

/* Loads that miss the TLB, then stores that do, and branches. */
static void work_of_many_kinds(unsigned char *memory, size_t pages, size_t page)
{
    volatile unsigned char *at = memory;
    guest_flush(memory, pages);
    for (size_t i = 0; i < pages; i++)
        (void)at[i * page];
    guest_flush(memory, pages);
    for (size_t i = 0; i < pages; i++)
        at[i * page] = 1;
    guest_loop(LOOP_INSTRUCTIONS / 10);
}

/* Every name of the library is counted over work that causes most of them, or has no number. */
static void no_event_of_the_pmu_reads_a_silent_zero(void)
{
    enum { PAGES = 256 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *memory = guest_memory(PAGES);
    size_t counted = 0, without = 0;
    const char *name;
    for (size_t i = 0; upmu_event_name_at(i, &name) == 0; i++) {
        struct upmu_value v[GUEST_EVENTS_MAX];
        struct upmu_event_info info = {.size = sizeof info};
        if (upmu_event_find(name, &info) < 0 || !info.pmu || strcmp(info.pmu, "software") == 0 ||
            strncmp(info.encoding, "getrusage", 9) == 0)
            continue;
        struct upmu_set *set = guest_open(name, UPMU_TARGET_THREAD, 0, 0);
        guest_start(set);
        work_of_many_kinds(memory, PAGES, page);
        guest_stop(set);
        guest_read(set, v);
        bool number = v[0].status == UPMU_EXACT || v[0].status == UPMU_SCALED;
        counted += number && v[0].value > 0;
        without += !number;
        EXPECT(number || v[0].value == UPMU_NO_VALUE, "%s: %llu", name, (unsigned long long)v[0].value);
        EXPECT(number || upmu_set_reason(set, 0)[0], "%s has no number and no reason", name);
        EXPECT(!number || v[0].value > 0 || strstr(name, "itlb"), "%s reads 0 (%s)", name, info.encoding);
        upmu_set_close(set);
    }
    guest_note("%zu events are counted here, %zu are reported as not counted", counted, without);
    EXPECT(counted >= 2, "%zu counted", counted);
}

const struct guest_test counters_tests[] = {
    {"loop_is_counted_to_the_instruction", loop_is_counted_to_the_instruction},
    {"loop_is_counted_to_the_instruction_by_read", loop_is_counted_to_the_instruction_by_read},
    {"cycles_are_instructions_times_the_emulators_shift", cycles_are_instructions_times_the_emulators_shift},
    {"every_name_of_an_event_gives_the_same_count", every_name_of_an_event_gives_the_same_count},
    {"software_events_count_beside_the_pmu", software_events_count_beside_the_pmu},
    {"few_events_are_not_multiplexed", few_events_are_not_multiplexed},
    {"inherited_counts_are_the_sum_of_the_threads", inherited_counts_are_the_sum_of_the_threads},
    {"modifiers_separate_user_mode_from_kernel_mode", modifiers_separate_user_mode_from_kernel_mode},
    {"process_is_counted_by_its_number", process_is_counted_by_its_number},
    {"no_event_of_the_pmu_reads_a_silent_zero", no_event_of_the_pmu_reads_a_silent_zero},
};
const size_t n_counters_tests = sizeof counters_tests / sizeof *counters_tests;

const struct guest_test multiplex_tests[] = {
    {"twelve_events_are_multiplexed_and_marked_scaled", twelve_events_are_multiplexed_and_marked_scaled},
};
const size_t n_multiplex_tests = sizeof multiplex_tests / sizeof *multiplex_tests;
