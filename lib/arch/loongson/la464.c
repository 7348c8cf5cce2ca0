/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Loongson's LoongArch cores LA264, LA364, LA464 and LA664: the kernel has one table for all of them.
 * Room: arch/loongson; before it families.c, after it the kernel takes the codes.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

#define SOURCE "linux:arch/loongarch/kernel/perf_event.c@v6.12.117"

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
static const struct arch_event rows[] = {
    {"branch-load-misses", 0x010005, 0x0003, ARCH_ANY, CACHE, APPROX, "mispredicted branches", SOURCE},
    {"branch-loads", 0x000005, 0x0002, ARCH_ANY, CACHE, APPROX, "branch instructions", SOURCE},
    {"branch-misses", 5, 0x0003, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"branches", 4, 0x0002, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"cache-misses", 3, 0x0009, ARCH_ANY, HW, APPROX, "first-level data cache here", SOURCE},
    {"cache-references", 2, 0x0008, ARCH_ANY, HW, APPROX, "first-level data cache here", SOURCE},
    {"cycles", 0, 0x0000, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"dtlb-access", 0x0004, 0x0004, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"dtlb-load-misses", 0x010003, 0x003c, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"dtlb-loads", 0x000003, 0x0004, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"dtlb-miss", 0x003c, 0x003c, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"dtlb-store-misses", 0x010103, 0x003c, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"dtlb-stores", 0x000103, 0x0004, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"instructions", 1, 0x0001, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"itlb-load-misses", 0x010004, 0x003b, ARCH_ANY, CACHE, APPROX, "look-ups that missed", SOURCE},
    {"itlb-miss", 0x003b, 0x003b, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"l1-dcache-load-misses", 0x010000, 0x0009, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"l1-dcache-loads", 0x000000, 0x0008, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"l1-dcache-prefetch-misses", 0x010200, 0x00a9, ARCH_ANY, CACHE, APPROX,
     "prefetches that missed the L1 data cache", SOURCE},
    {"l1-dcache-prefetches", 0x000200, 0x00aa, ARCH_ANY, CACHE, APPROX, "prefetches into the L1 data cache", SOURCE},
    {"l1-dcache-store-misses", 0x010100, 0x0009, ARCH_ANY, CACHE, APPROX,
     "loads and stores are not told apart", SOURCE},
    {"l1-dcache-stores", 0x000100, 0x0008, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"l1-icache-load-misses", 0x010001, 0x0007, ARCH_ANY, CACHE, APPROX, "fetches that missed", SOURCE},
    {"l1-icache-loads", 0x000001, 0x0006, ARCH_ANY, CACHE, APPROX, "fetches", SOURCE},
    {"l1d-access", 0x0008, 0x0008, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"l1d-load", 0x000000, 0x0008, ARCH_ANY, CACHE, APPROX, "loads+stores together", SOURCE},
    {"l1d-load-miss", 0x010000, 0x0009, ARCH_ANY, CACHE, APPROX, "stores included", SOURCE},
    {"l1d-miss", 0x0009, 0x0009, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"l1d-prefetch", 0x00aa, 0x00aa, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"l1d-prefetch-miss", 0x00a9, 0x00a9, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"l1d-store", 0x000100, 0x0008, ARCH_ANY, CACHE, APPROX, "loads+stores together", SOURCE},
    {"l1d-store-miss", 0x010100, 0x0009, ARCH_ANY, CACHE, APPROX, "loads included", SOURCE},
    {"l1i-access", 0x0006, 0x0006, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"l1i-miss", 0x0007, 0x0007, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"llc-access", 0x000c, 0x000c, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"llc-load", 0x000002, 0x000c, ARCH_ANY, CACHE, APPROX, "writes included", SOURCE},
    {"llc-load-miss", 0x010002, 0x000d, ARCH_ANY, CACHE, APPROX, "writes included", SOURCE},
    {"llc-load-misses", 0x010002, 0x000d, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"llc-loads", 0x000002, 0x000c, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"llc-miss", 0x000d, 0x000d, ARCH_ANY, RAW, EXACT, "", SOURCE},
    {"llc-store", 0x000102, 0x000c, ARCH_ANY, CACHE, APPROX, "reads included", SOURCE},
    {"llc-store-miss", 0x010102, 0x000d, ARCH_ANY, CACHE, APPROX, "reads included", SOURCE},
    {"llc-store-misses", 0x010102, 0x000d, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"llc-stores", 0x000102, 0x000c, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"loads-stores", 0x0004, 0x0004, ARCH_ANY, RAW, APPROX, "data TLB lookups", SOURCE},
};

static const struct arch_native native[] = {
    {"branch-misses", "mispredicted branches", 0x3, ARCH_ANY, 0},
    {"branches", "branches", 0x2, ARCH_ANY, 0},
    {"cycles", "core clock cycles", 0x0, ARCH_ANY, 0},
    {"dtlb-access", "data TLB lookups = data accesses", 0x4, ARCH_ANY, 0},
    {"dtlb-miss", "data TLB misses", 0x3c, ARCH_ANY, 0},
    {"instructions", "instructions committed", 0x1, ARCH_ANY, 0},
    {"itlb-miss", "instruction TLB misses", 0x3b, ARCH_ANY, 0},
    {"l1d-access", "L1D accesses (loads+stores)", 0x8, ARCH_ANY, 0},
    {"l1d-miss", "L1D misses (loads+stores)", 0x9, ARCH_ANY, 0},
    {"l1d-prefetch", "L1D prefetches", 0xaa, ARCH_ANY, 0},
    {"l1d-prefetch-miss", "L1D prefetch misses", 0xa9, ARCH_ANY, 0},
    {"l1i-access", "L1I accesses", 0x6, ARCH_ANY, 0},
    {"l1i-miss", "L1I misses", 0x7, ARCH_ANY, 0},
    {"llc-access", "last-level cache accesses", 0xc, ARCH_ANY, 0},
    {"llc-miss", "last-level cache misses", 0xd, ARCH_ANY, 0},
};
/* clang-format on */

static int is_loongarch(const struct arch_cpu *cpu)
{
    return strcmp(cpu->machine, "loongarch") == 0 ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

const struct arch_family arch_la464 = {
    .name = "la464",
    .title = "Loongson LA464, LA664, LA364, LA264",
    .vendor = "loongson",
    .core_pmu = "cpu",
    .events = rows,
    .n_events = ROWS(rows),
    .native = native,
    .n_native = ROWS(native),
    .counters = {.general = 4,
                 .width = 64,
                 .no_software_siblings = true,
                 .raw = {.mask = 0x3ff,
                         .older_mask = 0xff,
                         .since = {ARCH_KERNEL(6, 4, 0), ARCH_KERNEL(6, 1, 37), ARCH_KERNEL(6, 3, 11)}}},
    .matches = is_loongarch,
    .remark = "guests often have no PMU; raw codes above 0xff need kernel 6.4, or 6.1.y and 6.3.y of June 2023",
};
