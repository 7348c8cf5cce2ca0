/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Zhaoxin ZX-C, ZX-D, ZX-E and KX-7000: codes differ from model to model, and the kernel has a table for each. The
 * rows of ZX-E are shared; the others replace what differs. Room: arch/x86; before it families.c, after it the
 * kernel.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

#define KERNEL "linux:arch/x86/events/zhaoxin/core.c@v6.12.117"
#define DEEPIN "deepin-community/kernel:arch/x86/events/zhaoxin/core.c@6026a52f"
#define UNDESCRIBED "the kernel has a code for it and no description"
#define LEVEL "which level is not documented"

enum {
    ZXC = 1u << 0,
    ZXD = 1u << 1,
    ZXE = 1u << 2,
    KX7000 = 1u << 3,
};

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
static const struct arch_event zx_e_rows[] = {
    {"branch-load-misses", 0x010005, 0x0029, ARCH_ANY, CACHE, APPROX, "mispredicted branches", KERNEL},
    {"branch-loads", 0x000005, 0x0028, ARCH_ANY, CACHE, APPROX, "branch instructions", KERNEL},
    {"branch-misses", 5, 0x0029, ARCH_ANY, HW, APPROX, UNDESCRIBED, KERNEL},
    {"branches", 4, 0x0028, ARCH_ANY, HW, APPROX, UNDESCRIBED, KERNEL},
    {"bus-cycles", 6, 0x0083, FIXED(2) | ANY_GENERAL, HW, APPROX,
     "bus clock cycles by the name in the kernel; no description", KERNEL},
    {"cache-misses", 3, 0x051a, ARCH_ANY, HW, APPROX, LEVEL, KERNEL},
    {"cache-references", 2, 0x0515, ARCH_ANY, HW, APPROX, LEVEL, KERNEL},
    {"cycles", 0, 0x0082, FIXED(1) | ANY_GENERAL, HW, EXACT, "", KERNEL},
    {"dtlb-load-miss", 0x010003, 0x052c, ARCH_ANY, CACHE, EXACT, "", KERNEL},
    {"dtlb-load-misses", 0x010003, 0x052c, ARCH_ANY, CACHE, APPROX, "loads that missed", KERNEL},
    {"dtlb-loads", 0x000003, 0x0568, ARCH_ANY, CACHE, APPROX, "loads, not look-ups", KERNEL},
    {"dtlb-miss", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "no event for both: add dtlb-load-miss and dtlb-store-miss", ""},
    {"dtlb-prefetch-misses", 0x010203, 0x0565, ARCH_ANY, CACHE, APPROX, "prefetch look-ups that missed", KERNEL},
    {"dtlb-prefetches", 0x000203, 0x0564, ARCH_ANY, CACHE, APPROX, "prefetch look-ups", KERNEL},
    {"dtlb-store-miss", 0x010103, 0x0530, ARCH_ANY, CACHE, EXACT, "", KERNEL},
    {"dtlb-store-misses", 0x010103, 0x0530, ARCH_ANY, CACHE, APPROX, "stores that missed", KERNEL},
    {"dtlb-stores", 0x000103, 0x0669, ARCH_ANY, CACHE, APPROX, "stores, not look-ups", KERNEL},
    {"instructions", 1, 0x00c0, FIXED(0) | ANY_GENERAL, HW, APPROX, UNDESCRIBED, KERNEL},
    {"itlb-access", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps its generic id to retired instructions", ""},
    {"itlb-load-misses", 0x010004, 0x0534, ARCH_ANY, CACHE, APPROX, "fetches that missed", KERNEL},
    {"itlb-loads", 0x000004, 0x00c0, FIXED(0) | ANY_GENERAL, CACHE, APPROX,
     "instructions retired, not look-ups", KERNEL},
    {"itlb-miss", 0x010004, 0x0534, ARCH_ANY, CACHE, EXACT, "", KERNEL},
    {"l1-dcache-load-misses", 0x010000, 0x054b, ARCH_ANY, CACHE, APPROX, "loads that missed", KERNEL},
    {"l1-dcache-loads", 0x000000, 0x0568, ARCH_ANY, CACHE, APPROX, "loads", KERNEL},
    {"l1-dcache-store-misses", 0x010100, 0x0562, ARCH_ANY, CACHE, APPROX, "stores that missed", KERNEL},
    {"l1-dcache-stores", 0x000100, 0x0669, ARCH_ANY, CACHE, APPROX, "stores", KERNEL},
    {"l1-icache-load-misses", 0x010001, 0x0301, ARCH_ANY, CACHE, APPROX, "fetches that missed", KERNEL},
    {"l1-icache-loads", 0x000001, 0x0300, ARCH_ANY, CACHE, APPROX, "fetches", KERNEL},
    {"l1-icache-prefetch-misses", 0x010201, 0x030b, ARCH_ANY, CACHE, APPROX,
     "prefetches that missed the L1 instruction cache", KERNEL},
    {"l1-icache-prefetches", 0x000201, 0x030a, ARCH_ANY, CACHE, APPROX,
     "prefetches into the L1 instruction cache", KERNEL},
    {"l1d-access", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "no event for both: add l1d-load and l1d-store", ""},
    {"l1d-load", 0x000000, 0x0568, ARCH_ANY, CACHE, APPROX, "loads as the kernel maps them", KERNEL},
    {"l1d-load-miss", 0x010000, 0x054b, ARCH_ANY, CACHE, EXACT, "", KERNEL},
    {"l1d-miss", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "no event for both: add l1d-load-miss and l1d-store-miss", ""},
    {"l1d-store", 0x000100, 0x0669, ARCH_ANY, CACHE, EXACT, "", KERNEL},
    {"l1d-store-miss", 0x010100, 0x0562, ARCH_ANY, CACHE, EXACT, "", KERNEL},
    {"l1i-access", 0x0300, 0x0300, ARCH_ANY, RAW, EXACT, "", KERNEL},
    {"l1i-miss", 0x0301, 0x0301, ARCH_ANY, RAW, EXACT, "", KERNEL},
    {"llc-access", 2, 0x0515, ARCH_ANY, HW, APPROX, LEVEL, KERNEL},
    {"llc-miss", 3, 0x051a, ARCH_ANY, HW, APPROX, LEVEL, KERNEL},
    {"loads", 0x000000, 0x0568, ARCH_ANY, CACHE, APPROX, "loads that reached the first-level data cache", KERNEL},
    {"stall-backend", 8, 0x040f, ARCH_ANY, HW, APPROX, "as the kernel maps it", KERNEL},
    {"stall-frontend", 7, 0x1800101, ARCH_ANY, HW, APPROX, "cycles in which the front end delivered nothing", KERNEL},
    {"stalled-cycles-backend", 8, 0x040f, ARCH_ANY, HW, APPROX, "as the kernel maps it", KERNEL},
    {"stalled-cycles-frontend", 7, 0x1800101, ARCH_ANY, HW, APPROX,
     "cycles in which the front end delivered nothing", KERNEL},
    {"stores", 0x000100, 0x0669, ARCH_ANY, CACHE, APPROX, "stores that reached the first-level data cache", KERNEL},
};

static const struct arch_event zx_d_rows[] = {
    {"branch-load-misses", 0x010005, 0x0709, ARCH_ANY, CACHE, APPROX, "mispredicted branches", KERNEL},
    {"branch-loads", 0x000005, 0x0700, ARCH_ANY, CACHE, APPROX, "branch instructions", KERNEL},
    {"branch-misses", 5, 0x0709, ARCH_ANY, HW, APPROX, UNDESCRIBED, KERNEL},
    {"branches", 4, 0x0700, ARCH_ANY, HW, APPROX, UNDESCRIBED, KERNEL},
    {"dtlb-loads", 0x000003, 0x0042, ARCH_ANY, CACHE, APPROX, "loads, not look-ups", KERNEL},
    {"dtlb-stores", 0x000103, 0x0043, ARCH_ANY, CACHE, APPROX, "stores, not look-ups", KERNEL},
    {"l1-dcache-load-misses", 0x010000, 0x0538, ARCH_ANY, CACHE, APPROX, "loads that missed", KERNEL},
    {"l1-dcache-loads", 0x000000, 0x0042, ARCH_ANY, CACHE, APPROX, "loads", KERNEL},
    {"l1-dcache-stores", 0x000100, 0x0043, ARCH_ANY, CACHE, APPROX, "stores", KERNEL},
    {"l1d-load", 0x000000, 0x0042, ARCH_ANY, CACHE, APPROX, "all loads", KERNEL},
    {"l1d-load-miss", 0x010000, 0x0538, ARCH_ANY, CACHE, EXACT, "", KERNEL},
    {"l1d-store", 0x000100, 0x0043, ARCH_ANY, CACHE, EXACT, "", KERNEL},
    {"loads", 0x000000, 0x0042, ARCH_ANY, CACHE, APPROX, "loads that reached the first-level data cache", KERNEL},
    {"stores", 0x000100, 0x0043, ARCH_ANY, CACHE, APPROX, "stores that reached the first-level data cache", KERNEL},
};

static const struct arch_event kx_7000_rows[] = {
    {"cache-misses", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps no such event on this core", ""},
    {"cache-references", 2, 0x051a, ARCH_ANY, HW, APPROX, LEVEL, DEEPIN},
    {"llc-access", 2, 0x051a, ARCH_ANY, HW, APPROX, LEVEL, DEEPIN},
    {"llc-miss", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps no such event on this core", ""},
    {"stall-frontend", 7, 0x1800102, ARCH_ANY, HW, APPROX, "cycles in which the front end delivered nothing", DEEPIN},
    {"stalled-cycles-frontend", 7, 0x1800102, ARCH_ANY, HW, APPROX,
     "cycles in which the front end delivered nothing", DEEPIN},
};

/** All that the kernel maps on this core; it takes the others out of its table. */
static const struct arch_event zx_c_rows[] = {
    {"cycles", 0, 0x0082, FIXED(1) | ANY_GENERAL, HW, EXACT, "", KERNEL},
};

static const struct arch_native native[] = {
    {"branch-misses", "mispredicted branches", 0x29, ARCH_ANY, ZXE | KX7000},
    {"branch-misses", "mispredicted branches", 0x709, ARCH_ANY, ZXD},
    {"branches", "branches", 0x28, ARCH_ANY, ZXE | KX7000},
    {"branches", "branches", 0x700, ARCH_ANY, ZXD},
    {"bus-cycles", "bus clock cycles", 0x83, FIXED(2) | ANY_GENERAL, ZXD | ZXE | KX7000},
    {"cache-misses", "cache misses", 0x51a, ARCH_ANY, ZXD | ZXE},
    {"cache-references", "cache references", 0x515, ARCH_ANY, ZXD | ZXE},
    {"cache-references", "cache references", 0x51a, ARCH_ANY, KX7000},
    {"cycles", "core clock cycles", 0x82, FIXED(1) | ANY_GENERAL, 0},
    {"dtlb-load-miss", "data TLB load misses", 0x52c, ARCH_ANY, ZXD | ZXE | KX7000},
    {"dtlb-prefetch", "data TLB prefetch lookups", 0x564, ARCH_ANY, ZXD | ZXE | KX7000},
    {"dtlb-prefetch-miss", "data TLB prefetch misses", 0x565, ARCH_ANY, ZXD | ZXE | KX7000},
    {"dtlb-store-miss", "data TLB store misses", 0x530, ARCH_ANY, ZXD | ZXE | KX7000},
    {"instructions", "instructions retired", 0xc0, FIXED(0) | ANY_GENERAL, ZXD | ZXE | KX7000},
    {"itlb-miss", "instruction TLB misses", 0x534, ARCH_ANY, ZXD | ZXE | KX7000},
    {"l1d-load-miss", "L1D load misses", 0x538, ARCH_ANY, ZXD},
    {"l1d-load-miss", "L1D load misses", 0x54b, ARCH_ANY, ZXE | KX7000},
    {"l1d-loads", "data loads", 0x42, ARCH_ANY, ZXD},
    {"l1d-loads", "data loads", 0x568, ARCH_ANY, ZXE | KX7000},
    {"l1d-store-miss", "L1D store misses", 0x562, ARCH_ANY, ZXD | ZXE | KX7000},
    {"l1d-stores", "data stores", 0x43, ARCH_ANY, ZXD},
    {"l1d-stores", "data stores", 0x669, ARCH_ANY, ZXE | KX7000},
    {"l1i-access", "L1I accesses", 0x300, ARCH_ANY, ZXD | ZXE | KX7000},
    {"l1i-miss", "L1I misses", 0x301, ARCH_ANY, ZXD | ZXE | KX7000},
    {"l1i-prefetch", "L1I prefetches", 0x30a, ARCH_ANY, ZXD | ZXE | KX7000},
    {"l1i-prefetch-miss", "L1I prefetch misses", 0x30b, ARCH_ANY, ZXD | ZXE | KX7000},
    {"stall-backend", "back-end stall cycles", 0x40f, ARCH_ANY, ZXD | ZXE | KX7000},
    {"stall-frontend", "front-end stall cycles", 0x1800101, ARCH_ANY, ZXD | ZXE},
    {"stall-frontend", "front-end stall cycles", 0x1800102, ARCH_ANY, KX7000},
};
/* clang-format on */

/** The maker's two vendor strings, of which VIA's older CPUs have the first one too; models tell those apart. */
static bool is_zhaoxin(const struct arch_cpu *cpu)
{
    return strcmp(cpu->vendor, "CentaurHauls") == 0 || strcmp(cpu->vendor, "Shanghai") == 0;
}

static int is_model(const struct arch_cpu *cpu, int family, int model)
{
    return is_zhaoxin(cpu) && cpu->family == family && cpu->model == model ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

static int is_zx_c(const struct arch_cpu *cpu)
{
    if (cpu->stepping >= 14 && is_model(cpu, 6, 15))
        return ARCH_MATCH_MODEL;
    return is_model(cpu, 6, 25);
}

static int is_zx_d(const struct arch_cpu *cpu)
{
    return is_model(cpu, 7, 27);
}

static int is_zx_e(const struct arch_cpu *cpu)
{
    return is_model(cpu, 7, 59);
}

static int is_kx_7000(const struct arch_cpu *cpu)
{
    int yongfeng = is_model(cpu, 7, 91);
    return yongfeng ? yongfeng : is_model(cpu, 7, 107);
}

#define CHOICE                                                                                                    \
    "generic ids where the kernel has one, since it knows the code of each model; raw codes for the instruction " \
    "cache, whose codes are the same on all"

const struct arch_family arch_zx_e = {
    .name = "zx-e",
    .title = "Zhaoxin ZX-E (KX-6000)",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = zx_e_rows,
    .n_events = ROWS(zx_e_rows),
    .native = native,
    .n_native = ROWS(native),
    .native_core = ZXE,
    .counters = {.fixed = 3, .width = 48, .watchdog = true},
    .matches = is_zx_e,
    .remark = "",
    .choice = CHOICE,
};

const struct arch_family arch_zx_d = {
    .name = "zx-d",
    .title = "Zhaoxin ZX-D (KX-5000)",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = zx_d_rows,
    .n_events = ROWS(zx_d_rows),
    .base = &arch_zx_e,
    .native = native,
    .n_native = ROWS(native),
    .native_core = ZXD,
    .counters = {.fixed = 3, .width = 48, .watchdog = true},
    .matches = is_zx_d,
    .remark = "",
    .choice = CHOICE,
};

const struct arch_family arch_kx_7000 = {
    .name = "kx-7000",
    .title = "Zhaoxin KX-7000",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = kx_7000_rows,
    .n_events = ROWS(kx_7000_rows),
    .base = &arch_zx_e,
    .native = native,
    .n_native = ROWS(native),
    .native_core = KX7000,
    .counters = {.fixed = 3, .width = 48, .watchdog = true},
    .matches = is_kx_7000,
    .remark = "mainline kernels up to 6.12 refuse the PMU of this core; the codes are those of the Deepin kernel",
    .choice = CHOICE,
};

const struct arch_family arch_zx_c = {
    .name = "zx-c",
    .title = "Zhaoxin ZX-C",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = zx_c_rows,
    .n_events = ROWS(zx_c_rows),
    .native = native,
    .n_native = ROWS(native),
    .native_core = ZXC,
    .counters = {.fixed = 3, .width = 48, .watchdog = true},
    .matches = is_zx_c,
    .remark = "the kernel maps cycles and nothing else on this core",
    .choice = CHOICE,
};
