/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Sunway core3B (SW3231, SW831): two counters, each event tied to one of them; a raw code is counter << 8 | selector.
 * Room: arch/sunway; before it families.c, after it the kernel takes the codes.
 *
 * Cycles and instructions share counter 0: they never count together, and the kernel lets such a group open. It accepts
 * 78 selectors; those without a published meaning are reachable as r<hex> only.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

#define SOURCE "openeuler-mirror/kernel:arch/sw_64/kernel/perf_event.c@083122ee; deepin-community/kernel@433fc35e"

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
static const struct arch_event rows[] = {
    {"branch-misses", 5, 0x010b, COUNTER(1), HW, APPROX, "retired or issued not stated", SOURCE},
    {"branches", 4, 0x0003, COUNTER(0), HW, APPROX, "retired or issued not stated", SOURCE},
    {"cache-misses", 3, 0x0110, COUNTER(1), HW, APPROX, "second-level cache here (SCACHE)", SOURCE},
    {"cache-references", 2, 0x000d, COUNTER(0), HW, APPROX, "second-level cache here (SCACHE)", SOURCE},
    {"cycles", 0, 0x0008, COUNTER(0), HW, EXACT, "", SOURCE},
    {"dtlb-access", 0x000a, 0x000a, COUNTER(0), RAW, APPROX, "named DTB_READ, stores perhaps left out", SOURCE},
    {"dtlb-load-misses", 0x010003, 0x0130, COUNTER(1), CACHE, APPROX, "single misses, stores perhaps included", SOURCE},
    {"dtlb-loads", 0x000003, 0x000a, COUNTER(0), CACHE, APPROX, "named DTB_READ: stores perhaps left out", SOURCE},
    {"dtlb-miss", 0x0130, 0x0130, COUNTER(1), RAW, APPROX, "single misses", SOURCE},
    {"instructions", 1, 0x0000, COUNTER(0), HW, EXACT, "", SOURCE},
    {"itlb-access", 0x0009, 0x0009, COUNTER(0), RAW, EXACT, "", SOURCE},
    {"itlb-load-misses", 0x010004, 0x0117, COUNTER(1), CACHE, APPROX, "look-ups that missed", SOURCE},
    {"itlb-loads", 0x000004, 0x0009, COUNTER(0), CACHE, APPROX, "look-ups", SOURCE},
    {"itlb-miss", 0x0117, 0x0117, COUNTER(1), RAW, EXACT, "", SOURCE},
    {"l1-dcache-load-misses", 0x010000, 0x0132, COUNTER(1), CACHE, APPROX, "stores perhaps included", SOURCE},
    {"l1-dcache-loads", 0x000000, 0x000c, COUNTER(0), CACHE, APPROX,
     "named DCACHE_READ: stores perhaps left out", SOURCE},
    {"l1-icache-load-misses", 0x010001, 0x0116, COUNTER(1), CACHE, APPROX, "fetches that missed", SOURCE},
    {"l1-icache-loads", 0x000001, 0x000b, COUNTER(0), CACHE, APPROX, "fetches", SOURCE},
    {"l1d-access", 0x000c, 0x000c, COUNTER(0), RAW, APPROX, "named DCACHE_READ, stores perhaps left out", SOURCE},
    {"l1d-load", 0x000c, 0x000c, COUNTER(0), RAW, APPROX, "stores perhaps included", SOURCE},
    {"l1d-load-miss", 0x010000, 0x0132, COUNTER(1), CACHE, APPROX, "stores perhaps included", SOURCE},
    {"l1d-miss", 0x0132, 0x0132, COUNTER(1), RAW, EXACT, "", SOURCE},
    {"l1i-access", 0x000b, 0x000b, COUNTER(0), RAW, EXACT, "", SOURCE},
    {"l1i-miss", 0x0116, 0x0116, COUNTER(1), RAW, EXACT, "", SOURCE},
    {"l2-access", 2, 0x000d, COUNTER(0), HW, APPROX, "SCACHE references", SOURCE},
    {"l2-miss", 3, 0x0110, COUNTER(1), HW, APPROX, "SCACHE misses", SOURCE},
};

static const struct arch_native native[] = {
    {"PC0_BRANCH_INSTRUCTIONS", "branches", 0x3, COUNTER(0), 0},
    {"PC0_CPU_CYCLES", "core clock cycles", 0x8, COUNTER(0), 0},
    {"PC0_DCACHE_READ", "L1D reads", 0xc, COUNTER(0), 0},
    {"PC0_DTB_READ", "data TLB reads", 0xa, COUNTER(0), 0},
    {"PC0_ICACHE_READ", "L1I reads", 0xb, COUNTER(0), 0},
    {"PC0_INSTRUCTIONS", "instructions retired", 0x0, COUNTER(0), 0},
    {"PC0_ITB_READ", "instruction TLB reads", 0x9, COUNTER(0), 0},
    {"PC0_SCACHE_REFERENCES", "second-level cache references", 0xd, COUNTER(0), 0},
    {"PC1_BRANCH_MISSES", "mispredicted branches", 0x10b, COUNTER(1), 0},
    {"PC1_DCACHE_MISSES", "L1D misses", 0x132, COUNTER(1), 0},
    {"PC1_DTB_SINGLE_MISSES", "data TLB single misses", 0x130, COUNTER(1), 0},
    {"PC1_ICACHE_READ_MISSES", "L1I read misses", 0x116, COUNTER(1), 0},
    {"PC1_ITB_MISSES", "instruction TLB misses", 0x117, COUNTER(1), 0},
    {"PC1_SCACHE_MISSES", "second-level cache misses", 0x110, COUNTER(1), 0},
};
/* clang-format on */

/** The byte above the selector is the counter. */
static const struct arch_code_rule ties[] = {
    {.mask = ~0xffull, .match = 0x000, .counters = COUNTER(0)},
    {.mask = ~0xffull, .match = 0x100, .counters = COUNTER(1)},
};

/** Cycles, branch misses. */
static const uint64_t fillers[] = {0x0008, 0x010b};

/** The kernel prints the core's generation as "cpu variation". */
static int is_core3b(const struct arch_cpu *cpu)
{
    return strcmp(cpu->machine, "sw_64") == 0 && cpu->family == 3 ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

const struct arch_family arch_core3b = {
    .name = "core3b",
    .title = "Sunway core3B (SW3231, SW831)",
    .vendor = "sunway",
    .core_pmu = "cpu",
    .events = rows,
    .n_events = ROWS(rows),
    .native = native,
    .n_native = ROWS(native),
    .counters = {.general = 2,
                 .width = 58,
                 .no_group_check = true,
                 .no_exclude_hv = true,
                 .shared_filter = true,
                 .rules = ties,
                 .n_rules = ROWS(ties),
                 .fillers = fillers},
    .matches = is_core3b,
    .remark = "vendor kernels only; no PMU in guests; cycles and instructions share a counter and never count together",
    .choice = "generic ids where the kernel has one of the same meaning, else raw codes",
};
