/* SPDX-License-Identifier: MIT */
/*
 * Counts of perf and libupmu compared on the same command, a loop of known length.
 *
 * The start of a program depends on its environment, which perf changes, so the difference of a long and a short run is
 * compared. Runs in a guest with perf and /loop.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

#define EVENTS "cycles:u,instructions:u"
#define PERF "/usr/bin/perf"
#define PERF_OUTPUT "/tmp/perf.csv"
#define LOOP "/loop"

struct counts {
    uint64_t cycles, instructions;
};

static void run_perf(const char *times)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        execl(PERF, "perf", "stat", "-x,", "-o", PERF_OUTPUT, "-e", EVENTS, LOOP, times, (char *)NULL);
        _exit(127);
    }
    EXPECT(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "perf stat ended with 0x%x", (unsigned)status);
}

/* The count at the beginning of the line that has `event` in it. */
static uint64_t perf_count(const char *event)
{
    char line[512];
    uint64_t count = UPMU_NO_VALUE;
    FILE *f = fopen(PERF_OUTPUT, "r");
    EXPECT(f != NULL, "perf has written nothing");
    while (f && fgets(line, sizeof line, f))
        if (line[0] != '#' && strstr(line, event))
            count = strtoull(line, NULL, 10);
    if (f)
        fclose(f);
    return count;
}

static struct counts by_perf(const char *times)
{
    run_perf(times);
    return (struct counts){.cycles = perf_count("cycles"), .instructions = perf_count("instructions")};
}

static struct counts by_libupmu(const char *times)
{
    char command[] = LOOP, argument[8];
    char *argv[] = {command, argument, NULL};
    struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_COMMAND, .argv = argv};
    struct upmu_value v[GUEST_EVENTS_MAX];
    struct upmu_set *set;
    int status = -1;
    snprintf(argument, sizeof argument, "%s", times);
    EXPECT(upmu_set_open(&set, EVENTS, &opts) == 0, "open");
    guest_start(set);
    EXPECT(upmu_set_wait(set, &status) == 0 && status == 0, "%s ended with 0x%x", LOOP, (unsigned)status);
    guest_read(set, v);
    guest_status(set, 0, &v[0], UPMU_EXACT);
    guest_status(set, 1, &v[1], UPMU_EXACT);
    upmu_set_close(set);
    return (struct counts){.cycles = v[0].value, .instructions = v[1].value};
}

static void expect_two_loops(const char *who, struct counts from, struct counts to, unsigned ratio)
{
    enum { APART = 100 }; /* where the stack lies is another place each time, and copies take other paths */
    uint64_t loops = 2 * LOOP_INSTRUCTIONS, instructions = to.instructions - from.instructions;
    guest_note("%s: %llu cycles, %llu instructions; two loops more: %llu, %llu", who, (unsigned long long)from.cycles,
               (unsigned long long)from.instructions, (unsigned long long)(to.cycles - from.cycles),
               (unsigned long long)instructions);
    EXPECT(from.instructions > LOOP_INSTRUCTIONS, "%s", who);
    EXPECT_WITHIN(instructions, loops - APART, loops + APART, who);
    EXPECT(to.cycles == ratio * to.instructions && from.cycles == ratio * from.instructions, "%s", who);
}

static void perf_stat_and_libupmu_agree(void)
{
    unsigned ratio = guest_cycles_per_instruction();
    expect_two_loops("perf", by_perf("1"), by_perf("3"), ratio);
    expect_two_loops("libupmu", by_libupmu("1"), by_libupmu("3"), ratio);
}

static const struct guest_test tests[] = {
    {"perf_stat_and_libupmu_agree", perf_stat_and_libupmu_agree},
};

int main(void)
{
    return guest_run(tests, sizeof tests / sizeof *tests);
}
