/* SPDX-License-Identifier: MIT */
/*
 * A RISC-V PMU behind its firmware: with filters for user and kernel mode, or without. Room: tests. Before it init.c in a
 * guest whose emulator counts instructions and the misses of its TLBs; after it the suites and libupmu.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "suites.h"

/* ------------------------------------------------------------------------------------------------- TLB misses */

/* One access to each page, `rounds` times: with more pages than the TLB has entries each one misses. */
static void walk(volatile unsigned char *memory, size_t pages, size_t page, unsigned rounds, bool store)
{
    for (unsigned r = 0; r < rounds; r++)
        for (size_t i = 0; i < pages; i++) {
            if (store)
                memory[i * page] = 1;
            else
                (void)memory[i * page];
        }
}

static void count_walk(struct upmu_set *set, volatile unsigned char *memory, size_t pages, bool store,
                       struct upmu_value *v)
{
    enum { ROUNDS = 4 };
    EXPECT(upmu_set_reset(set) == 0, "reset");
    guest_start(set);
    walk(memory, pages, (size_t)sysconf(_SC_PAGESIZE), ROUNDS, store);
    guest_stop(set);
    guest_read(set, v);
    uint64_t accesses = ROUNDS * pages;
    const uint64_t *of = &v[store].value, *others = &v[!store].value;
    if (guest_standing(set, 0, &v[0], UPMU_EXACT) && guest_standing(set, 1, &v[1], UPMU_EXACT)) {
        EXPECT_WITHIN(*of, accesses - accesses / 20, accesses + accesses / 20, upmu_set_name(set, store));
        EXPECT(*others < accesses / 20, "%s: %llu", upmu_set_name(set, !store), (unsigned long long)*others);
    }
    guest_note("%zu pages, %d %s each: %llu load misses, %llu store misses", pages, ROUNDS, store ? "stores" : "loads",
               (unsigned long long)v[0].value, (unsigned long long)v[1].value);
}

static void tlb_misses_of_a_walk_are_counted(void)
{
    enum { PAGES = 8192 };
    struct upmu_value v[GUEST_EVENTS_MAX];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(memory != MAP_FAILED, "no memory");
    memset(memory, 1, PAGES * page);
    struct upmu_set *set = guest_open("dtlb-load-miss:u,dtlb-store-miss:u", UPMU_TARGET_THREAD, 0, 0);
    count_walk(set, memory, PAGES, false, v);
    count_walk(set, memory, PAGES, true, v);
    count_walk(set, memory, PAGES / 8, false, v);
    upmu_set_close(set);
}

static const struct guest_test riscv64_tests[] = {
    {"tlb_misses_of_a_walk_are_counted", tlb_misses_of_a_walk_are_counted},
};

int main(void)
{
    int failed = guest_run(counters_tests, n_counters_tests);
    failed |= guest_run(reads_tests, n_reads_tests);
    failed |= guest_run(riscv64_tests, sizeof riscv64_tests / sizeof *riscv64_tests);
    return failed;
}
