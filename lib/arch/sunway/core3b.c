/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Sunway core3B (SW3231, SW831): two counters, each event tied to one of them; a raw code is counter << 8 | selector.
 * Room: arch/sunway; before it families.c, after it the kernel takes the codes.
 *
 * Cycles and instructions share counter 0: they never count together, and the kernel lets such a group open.
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
    {"PC0_0x01", "accepted by the driver, meaning not published", 0x1, COUNTER(0), 0},
    {"PC0_0x02", "accepted by the driver, meaning not published", 0x2, COUNTER(0), 0},
    {"PC0_0x04", "accepted by the driver, meaning not published", 0x4, COUNTER(0), 0},
    {"PC0_0x05", "accepted by the driver, meaning not published", 0x5, COUNTER(0), 0},
    {"PC0_0x06", "accepted by the driver, meaning not published", 0x6, COUNTER(0), 0},
    {"PC0_0x07", "accepted by the driver, meaning not published", 0x7, COUNTER(0), 0},
    {"PC0_0x0e", "accepted by the driver, meaning not published", 0xe, COUNTER(0), 0},
    {"PC0_0x0f", "accepted by the driver, meaning not published", 0xf, COUNTER(0), 0},
    {"PC0_BRANCH_INSTRUCTIONS", "branches", 0x3, COUNTER(0), 0},
    {"PC0_CPU_CYCLES", "core clock cycles", 0x8, COUNTER(0), 0},
    {"PC0_DCACHE_READ", "L1D reads", 0xc, COUNTER(0), 0},
    {"PC0_DTB_READ", "data TLB reads", 0xa, COUNTER(0), 0},
    {"PC0_ICACHE_READ", "L1I reads", 0xb, COUNTER(0), 0},
    {"PC0_INSTRUCTIONS", "instructions retired", 0x0, COUNTER(0), 0},
    {"PC0_ITB_READ", "instruction TLB reads", 0x9, COUNTER(0), 0},
    {"PC0_SCACHE_REFERENCES", "second-level cache references", 0xd, COUNTER(0), 0},
    {"PC1_0x00", "accepted by the driver, meaning not published", 0x100, COUNTER(1), 0},
    {"PC1_0x01", "accepted by the driver, meaning not published", 0x101, COUNTER(1), 0},
    {"PC1_0x02", "accepted by the driver, meaning not published", 0x102, COUNTER(1), 0},
    {"PC1_0x03", "accepted by the driver, meaning not published", 0x103, COUNTER(1), 0},
    {"PC1_0x04", "accepted by the driver, meaning not published", 0x104, COUNTER(1), 0},
    {"PC1_0x05", "accepted by the driver, meaning not published", 0x105, COUNTER(1), 0},
    {"PC1_0x06", "accepted by the driver, meaning not published", 0x106, COUNTER(1), 0},
    {"PC1_0x07", "accepted by the driver, meaning not published", 0x107, COUNTER(1), 0},
    {"PC1_0x08", "accepted by the driver, meaning not published", 0x108, COUNTER(1), 0},
    {"PC1_0x09", "accepted by the driver, meaning not published", 0x109, COUNTER(1), 0},
    {"PC1_0x0a", "accepted by the driver, meaning not published", 0x10a, COUNTER(1), 0},
    {"PC1_0x0c", "accepted by the driver, meaning not published", 0x10c, COUNTER(1), 0},
    {"PC1_0x0d", "accepted by the driver, meaning not published", 0x10d, COUNTER(1), 0},
    {"PC1_0x0e", "accepted by the driver, meaning not published", 0x10e, COUNTER(1), 0},
    {"PC1_0x0f", "accepted by the driver, meaning not published", 0x10f, COUNTER(1), 0},
    {"PC1_0x11", "accepted by the driver, meaning not published", 0x111, COUNTER(1), 0},
    {"PC1_0x12", "accepted by the driver, meaning not published", 0x112, COUNTER(1), 0},
    {"PC1_0x13", "accepted by the driver, meaning not published", 0x113, COUNTER(1), 0},
    {"PC1_0x14", "accepted by the driver, meaning not published", 0x114, COUNTER(1), 0},
    {"PC1_0x15", "accepted by the driver, meaning not published", 0x115, COUNTER(1), 0},
    {"PC1_0x18", "accepted by the driver, meaning not published", 0x118, COUNTER(1), 0},
    {"PC1_0x19", "accepted by the driver, meaning not published", 0x119, COUNTER(1), 0},
    {"PC1_0x1a", "accepted by the driver, meaning not published", 0x11a, COUNTER(1), 0},
    {"PC1_0x1b", "accepted by the driver, meaning not published", 0x11b, COUNTER(1), 0},
    {"PC1_0x1c", "accepted by the driver, meaning not published", 0x11c, COUNTER(1), 0},
    {"PC1_0x1d", "accepted by the driver, meaning not published", 0x11d, COUNTER(1), 0},
    {"PC1_0x1e", "accepted by the driver, meaning not published", 0x11e, COUNTER(1), 0},
    {"PC1_0x1f", "accepted by the driver, meaning not published", 0x11f, COUNTER(1), 0},
    {"PC1_0x20", "accepted by the driver, meaning not published", 0x120, COUNTER(1), 0},
    {"PC1_0x21", "accepted by the driver, meaning not published", 0x121, COUNTER(1), 0},
    {"PC1_0x22", "accepted by the driver, meaning not published", 0x122, COUNTER(1), 0},
    {"PC1_0x23", "accepted by the driver, meaning not published", 0x123, COUNTER(1), 0},
    {"PC1_0x24", "accepted by the driver, meaning not published", 0x124, COUNTER(1), 0},
    {"PC1_0x25", "accepted by the driver, meaning not published", 0x125, COUNTER(1), 0},
    {"PC1_0x26", "accepted by the driver, meaning not published", 0x126, COUNTER(1), 0},
    {"PC1_0x27", "accepted by the driver, meaning not published", 0x127, COUNTER(1), 0},
    {"PC1_0x28", "accepted by the driver, meaning not published", 0x128, COUNTER(1), 0},
    {"PC1_0x29", "accepted by the driver, meaning not published", 0x129, COUNTER(1), 0},
    {"PC1_0x2a", "accepted by the driver, meaning not published", 0x12a, COUNTER(1), 0},
    {"PC1_0x2b", "accepted by the driver, meaning not published", 0x12b, COUNTER(1), 0},
    {"PC1_0x2c", "accepted by the driver, meaning not published", 0x12c, COUNTER(1), 0},
    {"PC1_0x2d", "accepted by the driver, meaning not published", 0x12d, COUNTER(1), 0},
    {"PC1_0x2e", "accepted by the driver, meaning not published", 0x12e, COUNTER(1), 0},
    {"PC1_0x2f", "accepted by the driver, meaning not published", 0x12f, COUNTER(1), 0},
    {"PC1_0x31", "accepted by the driver, meaning not published", 0x131, COUNTER(1), 0},
    {"PC1_0x33", "accepted by the driver, meaning not published", 0x133, COUNTER(1), 0},
    {"PC1_0x34", "accepted by the driver, meaning not published", 0x134, COUNTER(1), 0},
    {"PC1_0x35", "accepted by the driver, meaning not published", 0x135, COUNTER(1), 0},
    {"PC1_0x36", "accepted by the driver, meaning not published", 0x136, COUNTER(1), 0},
    {"PC1_0x37", "accepted by the driver, meaning not published", 0x137, COUNTER(1), 0},
    {"PC1_0x38", "accepted by the driver, meaning not published", 0x138, COUNTER(1), 0},
    {"PC1_0x39", "accepted by the driver, meaning not published", 0x139, COUNTER(1), 0},
    {"PC1_0x3a", "accepted by the driver, meaning not published", 0x13a, COUNTER(1), 0},
    {"PC1_0x3b", "accepted by the driver, meaning not published", 0x13b, COUNTER(1), 0},
    {"PC1_0x3c", "accepted by the driver, meaning not published", 0x13c, COUNTER(1), 0},
    {"PC1_0x3d", "accepted by the driver, meaning not published", 0x13d, COUNTER(1), 0},
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
};
