/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Sunway core4 (C4 chips): five slots of 64 bits; a raw code is slot << 8 | selector, and the slot is only a wish,
 * since the kernel moves an event whose slot is taken. Room: arch/sunway; before it families.c, after it the kernel.
 *
 * Selectors 3 to 7 are counted in registers of their own and use up a slot all the same. The kernel accepts 142
 * selectors; those without a published meaning are reachable as r<hex> only.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

#define SOURCE "openeuler-mirror/kernel:arch/sw_64/kernel/perf_event_c4.c@1a1f103f; include/asm/pmc_c4.h@39057616"

/** Selectors with a register of their own, whatever the slot. */
static const struct arch_code_rule registers[] = {
    {.mask = 0xff, .match = 0x03, .one_register = true}, /* instructions */
    {.mask = 0xff, .match = 0x04, .one_register = true}, /* branches */
    {.mask = 0xff, .match = 0x05, .one_register = true}, /* branch misses */
    {.mask = 0xff, .match = 0x06, .one_register = true}, /* L1I accesses */
    {.mask = 0xff, .match = 0x07, .one_register = true}, /* L1I misses */
};

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
static const struct arch_event rows[] = {
    {"branch-misses", 5, 0x0005, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"branches", 4, 0x0004, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"cache-misses", 3, 0x0053, ARCH_ANY, HW, APPROX, "second-level cache here", SOURCE},
    {"cache-references", 2, 0x0050, ARCH_ANY, HW, APPROX, "second-level cache here", SOURCE},
    {"cycles", 0, 0x0030, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"dtlb-access", 0x0031, 0x0031, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"dtlb-load-misses", 0x010003, 0x0032, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"dtlb-loads", 0x000003, 0x0031, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"dtlb-miss", 0x0032, 0x0032, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"dtlb-store-misses", 0x010103, 0x0032, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"dtlb-stores", 0x000103, 0x0031, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"instructions", 1, 0x0003, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"l1-dcache-load-misses", 0x010000, 0x003e, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"l1-dcache-loads", 0x000000, 0x003d, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"l1-dcache-store-misses", 0x010100, 0x003e, ARCH_ANY, CACHE, APPROX,
     "loads and stores are not told apart", SOURCE},
    {"l1-dcache-stores", 0x000100, 0x003d, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"l1-icache-load-misses", 0x010001, 0x0007, ARCH_ANY, CACHE, APPROX,
     "fetches that missed; counted in a register of its own: no sampling", SOURCE},
    {"l1-icache-loads", 0x000001, 0x0006, ARCH_ANY, CACHE, APPROX,
     "fetches; counted in a register of its own: no sampling", SOURCE},
    {"l1-icache-store-misses", 0x010101, 0x0007, ARCH_ANY, CACHE, APPROX,
     "fetches that missed; newer kernels refuse it", SOURCE},
    {"l1-icache-stores", 0x000101, 0x0006, ARCH_ANY, CACHE, APPROX, "fetches; newer kernels refuse it", SOURCE},
    {"l1d-access", 0x003d, 0x003d, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"l1d-load", 0x000000, 0x003d, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"l1d-load-miss", 0x010000, 0x003e, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"l1d-miss", 0x003e, 0x003e, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"l1d-store", 0x000100, 0x003d, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"l1d-store-miss", 0x010100, 0x003e, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"l1i-access", 0x0006, 0x0006, ARCH_ANY, RAW, APPROX, "counted in a register of its own: no sampling", SOURCE},
    {"l1i-miss", 0x0007, 0x0007, ARCH_ANY, RAW, APPROX, "counted in a register of its own: no sampling", SOURCE},
    {"l2-access", 0x0050, 0x0050, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"l2-miss", 0x0053, 0x0053, ARCH_ANY, RAW, EXACT, "", SOURCE},
};

static const struct arch_native native[] = {
    {"SW64_DTB", "data TLB accesses", 0x31, ARCH_ANY, 0},
    {"SW64_DTB_MISSES", "data TLB misses", 0x32, ARCH_ANY, 0},
    {"SW64_L1D_CACHE", "L1D accesses (loads+stores)", 0x3d, ARCH_ANY, 0},
    {"SW64_L1D_CACHE_MISSES", "L1D misses (loads+stores)", 0x3e, ARCH_ANY, 0},
    {"SW64_L1I_CACHE", "L1I accesses; counted in a register of its own, no sampling", 0x6, ARCH_ANY, 0},
    {"SW64_L1I_CACHE_MISSES", "L1I misses; counted in a register of its own, no sampling", 0x7, ARCH_ANY, 0},
    {"SW64_PMU_BRANCH", "branches retired; counted in a register of its own, no sampling", 0x4, ARCH_ANY, 0},
    {"SW64_PMU_BRANCH_MISSES", "mispredicted branches; counted in a register of its own, no sampling",
     0x5, ARCH_ANY, 0},
    {"SW64_PMU_CYCLE", "core clock cycles", 0x30, ARCH_ANY, 0},
    {"SW64_PMU_INSTRUCTIONS", "instructions retired; counted in a register of its own, no sampling", 0x3, ARCH_ANY, 0},
    {"SW64_PMU_L2_MISSES", "L2 misses", 0x53, ARCH_ANY, 0},
    {"SW64_PMU_L2_REFERENCES", "L2 references", 0x50, ARCH_ANY, 0},
};
/* clang-format on */

/** The kernel prints the core's generation as "cpu variation"; vendor and model come from the firmware. */
static int is_core4(const struct arch_cpu *cpu)
{
    return strcmp(cpu->machine, "sw_64") == 0 && cpu->family == 4 ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

const struct arch_family arch_core4 = {
    .name = "core4",
    .title = "Sunway core4",
    .vendor = "sunway",
    .core_pmu = "cpu",
    .events = rows,
    .n_events = ROWS(rows),
    .native = native,
    .n_native = ROWS(native),
    .counters = {.general = 5,
                 .width = 64,
                 .no_exclude_hv = true,
                 .ignores_filter = true,
                 .rules = registers,
                 .n_rules = ROWS(registers)},
    .matches = is_core4,
    .remark = "vendor kernels only; user and kernel mode are always counted together; two events with the same code "
              "of the five that have a register of their own (instructions, branches, branch-misses, l1i-access, "
              "l1i-miss) disturb each other",
    .choice = "generic ids where the kernel has one of the same meaning, else raw codes with the wish for slot 0",
};
