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

/** Series of the processor id, which newer kernels print, and the chips by name for the others. */
struct core_signs {
    uint32_t series;       /**< bits 15:8 of the id */
    const char *names[10]; /**< beginnings of "Model Name", NULL-terminated */
};

static int has_signs(const struct arch_cpu *cpu, const struct core_signs *signs)
{
    if (strcmp(cpu->machine, "loongarch") != 0)
        return ARCH_MATCH_NO;
    if (cpu->prid != 0)
        return (cpu->prid >> 8 & 0xff) == signs->series ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
    for (size_t i = 0; signs->names[i]; i++) {
        if (strncmp(cpu->model_name, signs->names[i], strlen(signs->names[i])) == 0)
            return ARCH_MATCH_MODEL;
    }
    return ARCH_MATCH_NO;
}

static int is_la264(const struct arch_cpu *cpu)
{
    static const struct core_signs signs = {0xa0, {"Loongson-2K0", "Loongson-2K10"}};
    return has_signs(cpu, &signs);
}

static int is_la364(const struct arch_cpu *cpu)
{
    static const struct core_signs signs = {0xb0, {"Loongson-2K15", "Loongson-2K20"}};
    return has_signs(cpu, &signs);
}

static int is_la664(const struct arch_cpu *cpu)
{
    static const struct core_signs signs = {
        0xd0, {"Loongson-3A6", "Loongson-3B6", "Loongson-3C6", "Loongson-3D6", "Loongson-3E6"}};
    return has_signs(cpu, &signs);
}

/** Any other LoongArch core is taken for this one, since the kernel has one table for all. */
static int is_la464(const struct arch_cpu *cpu)
{
    static const struct core_signs signs = {0xc0, {"Loongson-3A5", "Loongson-3B5", "Loongson-3C5", "Loongson-3D5"}};
    int sure = has_signs(cpu, &signs);
    if (sure || strcmp(cpu->machine, "loongarch") != 0)
        return sure;
    return ARCH_MATCH_VENDOR;
}

#define LA_COUNTERS                                                                       \
    {                                                                                     \
        .general = 4, .width = 64, .no_software_siblings = true, .raw = {                 \
            .mask = 0x3ff,                                                                \
            .older_mask = 0xff,                                                           \
            .since = {ARCH_KERNEL(6, 4, 0), ARCH_KERNEL(6, 1, 37), ARCH_KERNEL(6, 3, 11)} \
        }                                                                                 \
    }

#define LA_REMARK                                                                                           \
    "guests often have no PMU; raw codes above 0xff need kernel 6.4, or 6.1.y and 6.3.y of June 2023; the " \
    "kernel has one table for all LoongArch cores"

#define LA_CHOICE                                                                                                \
    "raw codes where an event is of loads and stores together, for which the kernel has no id; generic ids for " \
    "the rest, of which the kernel makes the same codes"

const struct arch_family arch_la464 = {
    .name = "la464",
    .title = "Loongson LA464 (3A5000, 3C5000)",
    .vendor = "loongson",
    .core_pmu = "cpu",
    .events = rows,
    .n_events = ROWS(rows),
    .native = native,
    .n_native = ROWS(native),
    .counters = LA_COUNTERS,
    .matches = is_la464,
    .remark = LA_REMARK,
    .choice = LA_CHOICE,
};

const struct arch_family arch_la264 = {
    .name = "la264",
    .title = "Loongson LA264 (2K0500, 2K1000)",
    .vendor = "loongson",
    .core_pmu = "cpu",
    .base = &arch_la464,
    .counters = LA_COUNTERS,
    .matches = is_la264,
    .remark = LA_REMARK,
    .choice = LA_CHOICE,
};

const struct arch_family arch_la364 = {
    .name = "la364",
    .title = "Loongson LA364 (2K1500, 2K2000)",
    .vendor = "loongson",
    .core_pmu = "cpu",
    .base = &arch_la464,
    .counters = LA_COUNTERS,
    .matches = is_la364,
    .remark = LA_REMARK,
    .choice = LA_CHOICE,
};

const struct arch_family arch_la664 = {
    .name = "la664",
    .title = "Loongson LA664 (3A6000, 3C6000)",
    .vendor = "loongson",
    .core_pmu = "cpu",
    .base = &arch_la464,
    .counters = LA_COUNTERS,
    .matches = is_la664,
    .remark = LA_REMARK,
    .choice = LA_CHOICE,
};
