/* SPDX-License-Identifier: MIT */
/* Golden encodings: names with their expected encodings, and names that must fail. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/arch_ops.h"
#include "upmu/upmu.h"
#include "unit/suite.h"

enum {
    HW = ARCH_CODE_HARDWARE,
    CACHE = ARCH_CODE_HW_CACHE,
    RAW = ARCH_CODE_RAW,
    NONE = ARCH_CODE_NONE, /* a row with the reason why there is no event */
    EXACT = UPMU_MATCH_EXACT,
    APPROX = UPMU_MATCH_APPROXIMATE,
    ABSENT = UPMU_MATCH_ABSENT,
};

#define NO_CODE UINT64_MAX
#define FIXED(n) (1u << (ARCH_FIXED + (n)))
#define ANY_GENERAL ((1u << ARCH_FIXED) - 1)

/* clang-format off */
static const struct golden {
    int line;
    const char *family, *name;
    int kind;
    uint64_t config, raw_encoding;
    uint32_t counters;
    int match;
} golden[] = {
#define ROW __LINE__
    {ROW, "intel-core", "cycles", HW, 0, 0x003c, FIXED(1) | 0x0f, EXACT},
    {ROW, "intel-core", "llc-miss", HW, 3, 0x412e, 0, EXACT},
    {ROW, "intel-core", "ref-cycles", HW, 9, 0x0300, FIXED(2), EXACT},
    {ROW, "intel-core", "l1-dcache-loads", CACHE, 0x000000, NO_CODE, 0, APPROX},
    {ROW, "intel-core", "stalled-cycles-frontend", HW, 7, NO_CODE, 0, APPROX},
    /* Model codes must not be guessed for an unknown model. */
    {ROW, "intel-core", "branches-conditional", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "intel-core", "l1d-load", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "intel-core", "uops-retired", NONE, 0, NO_CODE, 0, ABSENT},

    {ROW, "intel-haswell", "instructions", HW, 1, 0x00c0, FIXED(0) | 0x0f, EXACT},
    {ROW, "intel-haswell", "branches-conditional", RAW, 0x01c4, 0x01c4, 0, EXACT},
    {ROW, "intel-haswell", "l2-miss", RAW, 0x3f24, 0x3f24, 0x0f, APPROX},
    {ROW, "intel-haswell", "l1i-miss", CACHE, 0x010001, 0x0280, 0x0f, APPROX},
    {ROW, "intel-haswell", "dtlb-load-miss", CACHE, 0x010003, 0x0108, 0x0f, APPROX},
    {ROW, "intel-haswell", "itlb-loads", CACHE, 0x000004, 0x6085, 0x0f, APPROX},
    {ROW, "intel-haswell", "fp-ops", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "intel-haswell", "interrupts", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "intel-haswell", "stalled-cycles-frontend", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "intel-broadwell", "itlb-miss", CACHE, 0x010004, 0x0185, 0x0f, APPROX},
    {ROW, "intel-broadwell", "stall-backend", RAW, 0x01a2, 0x01a2, 0x0f, APPROX},

    {ROW, "intel-skylake", "branches-conditional", RAW, 0x01c4, 0x01c4, 0, EXACT},
    {ROW, "intel-skylake", "branches-return", RAW, 0x08c4, 0x08c4, 0, EXACT},
    {ROW, "intel-skylake", "l1d-load", RAW, 0x81d0, 0x81d0, 0x0f, APPROX},
    {ROW, "intel-skylake", "l1d-access", RAW, 0x83d0, 0x83d0, 0x0f, APPROX},
    {ROW, "intel-skylake", "stall-frontend", RAW, 0x400019c, 0x400019c, 0x0f, APPROX},
    {ROW, "intel-skylake", "l1d-store-miss", RAW, 0xe224, 0xe224, 0, APPROX},
    {ROW, "intel-skylake", "dtlb-load-miss", CACHE, 0x010003, 0x0e08, 0x0f, APPROX},
    {ROW, "intel-skylake", "llc-loads", CACHE, 0x000002, 0x01b7, 0x0f, APPROX},
    {ROW, "intel-skylake", "interrupts", RAW, 0x01cb, 0x01cb, 0x0f, APPROX},
    {ROW, "intel-skylake", "stall-any", RAW, 0x040004a3, 0x040004a3, 0, APPROX},
    {ROW, "intel-skylake", "l1-dcache-store-misses", NONE, 0, NO_CODE, 0, ABSENT},

    {ROW, "intel-icelake", "cycles", HW, 0, 0x003c, FIXED(1) | 0xff, EXACT},
    {ROW, "intel-icelake", "branches-conditional", RAW, 0x11c4, 0x11c4, 0, EXACT},
    {ROW, "intel-icelake", "ref-cycles", HW, 9, 0x0300, FIXED(2) | 0xff, EXACT},
    {ROW, "intel-icelake", "l1d-miss", RAW, 0x0151, 0x0151, 0x0f, APPROX},
    {ROW, "intel-icelake", "l2-miss", RAW, 0x1ff1, 0x1ff1, 0x0f, APPROX},
    {ROW, "intel-core2", "dtlb-miss", RAW, 0x0108, 0x0108, 0, APPROX},
    {ROW, "intel-core2", "l2-access", RAW, 0x7f2e, 0x7f2e, 0, APPROX},
    {ROW, "intel-nehalem", "l1d-access", RAW, 0x0143, 0x0143, 0x03, EXACT},
    {ROW, "intel-sandybridge", "stall-frontend", RAW, 0x400019c, 0x400019c, 0, APPROX},
    {ROW, "intel-icelake", "stall-backend", RAW, 0x02a4, 0x02a4, 0xff, APPROX},
    {ROW, "intel-icelake", "stall-frontend", RAW, 0x500019c, 0x500019c, 0xff, APPROX},
    {ROW, "intel-icelake", "simd-instructions", RAW, 0xfcc7, 0xfcc7, 0x0f, APPROX},
    {ROW, "intel-icelake", "interrupts", NONE, 0, NO_CODE, 0, ABSENT},

    {ROW, "intel-sapphirerapids", "l1-dcache-load-misses", CACHE, 0x010000, 0xe124, 0x0f, APPROX},
    {ROW, "intel-sapphirerapids", "dtlb-store-miss", CACHE, 0x010103, 0x0e13, 0x0f, APPROX},
    {ROW, "intel-sapphirerapids", "l1i-miss", CACHE, 0x010001, 0xe424, 0x0f, APPROX},
    {ROW, "intel-sapphirerapids", "l2-access", RAW, 0xff24, 0xff24, 0x0f, APPROX},
    {ROW, "intel-sapphirerapids", "branches-conditional", RAW, 0x11c4, 0x11c4, 0, EXACT},
    {ROW, "intel-sapphirerapids", "itlb-loads", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "intel-sapphirerapids", "node-stores", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "intel-sapphirerapids", "stall-backend", RAW, 0x02a4, 0x02a4, 0xff, APPROX},
    {ROW, "intel-sapphirerapids", "stall-frontend", RAW, 0x600019c, 0x600019c, 0xff, APPROX},
    {ROW, "intel-sapphirerapids", "loads-stores", RAW, 0x83d0, 0x83d0, 0x0f, APPROX},

    {ROW, "zen1", "cycles", HW, 0, 0x0076, 0, EXACT},
    {ROW, "zen1", "l2-access", HW, 2, 0xff60, 0, EXACT},
    {ROW, "zen1", "cache-misses", HW, 3, 0x0964, 0, APPROX},
    {ROW, "zen1", "llc-miss", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "zen1", "l1i-access", RAW, 0x0080, 0x0080, 0, APPROX},
    {ROW, "zen1", "stall-frontend", RAW, 0x0287, 0x0287, 0, APPROX},
    {ROW, "zen1", "stalled-cycles-backend", HW, 8, 0x0187, 0, APPROX},
    {ROW, "zen1", "unaligned-access", RAW, 0x0047, 0x0047, 0, APPROX},
    {ROW, "zen1", "fp-ops", RAW, 0xff03, 0xff03, 0x15, APPROX},
    {ROW, "zen1", "interrupts", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "zen1", "ref-cycles", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "zen1", "bus-cycles", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "zen2", "interrupts", RAW, 0x002c, 0x002c, 0, APPROX},
    {ROW, "zen2", "stall-frontend", RAW, 0x00a9, 0x00a9, 0, APPROX},
    {ROW, "zen2", "stall-any", RAW, 0x18000c1, 0x18000c1, 0, APPROX},
    {ROW, "zen2", "l1d-miss", RAW, 0xc860, 0xc860, 0, APPROX},
    {ROW, "zen3", "unaligned-access", RAW, 0x0347, 0x0347, 0, APPROX},
    {ROW, "zen3", "l1i-miss", RAW, 0x10000188e, 0x10000188e, 0, APPROX},
    {ROW, "zen3", "l1d-miss", RAW, 0xe860, 0xe860, 0, APPROX},
    {ROW, "zen3", "ref-cycles", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "zen4", "ref-cycles", RAW, 0x100000120, 0x100000120, 0, APPROX},
    {ROW, "zen4", "fp-ops", RAW, 0x1f03, 0x1f03, 0x15, APPROX},
    {ROW, "zen4", "l1i-access", RAW, 0x100001f8e, 0x100001f8e, 0, APPROX},
    {ROW, "zen4", "stalled-cycles-backend", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "zen5", "fp-ops", RAW, 0x0f03, 0x0f03, 0x15, APPROX},
    {ROW, "zen5", "branches-conditional", RAW, 0x00d1, 0x00d1, 0, EXACT},
    {ROW, "zen5", "dtlb-walk", RAW, 0xf045, 0xf045, 0, EXACT},
    {ROW, "zen5", "dtlb-access", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "zen5", "dtlb-load-misses", CACHE, 0x010003, 0xf045, 0, APPROX},
    {ROW, "zen5", "l1d-load-miss", RAW, 0x0741, 0x0741, 0, APPROX},
    {ROW, "zen5", "stall-backend", RAW, 0x100001ea0, 0x100001ea0, 0, APPROX},
    {ROW, "zen4", "l1d-load-miss", RAW, 0x3f41, 0x3f41, 0, APPROX},
    {ROW, "zen3", "l1d-load-miss", RAW, 0x0141, 0x0141, 0, APPROX},
    {ROW, "zen3", "l1d-store-miss", RAW, 0x0241, 0x0241, 0, APPROX},
    {ROW, "zen2", "l2-load-miss", RAW, 0x0864, 0x0864, 0, APPROX},
    {ROW, "zen1", "dtlb-load-miss", RAW, 0xff45, 0xff45, 0, APPROX},

    {ROW, "gs464", "cycles", HW, 0, 0x0000, 1u << 0, EXACT},
    {ROW, "gs464", "instructions", HW, 1, 0x0080, 1u << 1, EXACT},
    {ROW, "gs464", "branch-misses", HW, 5, 0x0081, 1u << 1, EXACT},
    {ROW, "gs464", "l1d-miss", RAW, 0x0084, 0x0084, 1u << 1, EXACT},
    {ROW, "gs464", "l1i-miss", RAW, 0x0004, 0x0004, 1u << 0, EXACT},
    {ROW, "gs464", "mem-read", RAW, 0x0009, 0x0009, 1u << 0, APPROX},
    {ROW, "gs464", "dtlb-load-misses", CACHE, 0x010003, 0x0089, 1u << 1, APPROX},
    {ROW, "gs464", "dtlb-miss", RAW, 0x000d, 0x000d, 1u << 0, APPROX}, /* 0x89 is writes to memory in the manual */
    {ROW, "gs464", "mem-write", RAW, 0x0089, 0x0089, 1u << 1, APPROX},
    {ROW, "gs464", "exceptions", RAW, 0x008d, 0x008d, 1u << 1, EXACT},
    {ROW, "gs464", "interrupts", RAW, 0x000e, 0x000e, 1u << 0, APPROX},
    {ROW, "gs464", "cache-references", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "gs464", "ref-cycles", NONE, 0, NO_CODE, 0, ABSENT},

    {ROW, "loongson2ef", "instructions", HW, 1, 0x0080, 1u << 1, APPROX},
    {ROW, "loongson2ef", "itlb-miss", RAW, 0x008c, 0x008c, 1u << 1, EXACT},
    {ROW, "loongson2ef", "simd-instructions", NONE, 0, NO_CODE, 0, ABSENT},

    /* Perf generic events only: an older kernel would cut the raw codes. */
    {ROW, "gs464e", "cycles", HW, 0, 0x0080, 0, EXACT},
    {ROW, "gs464e", "l1d-load", CACHE, 0x000000, 0x0156, 0, EXACT},
    {ROW, "gs464e", "llc-prefetch", CACHE, 0x000202, 0x01bf, 0, EXACT},
    {ROW, "gs464e", "cache-misses", HW, 3, 0x0018, 0, APPROX},
    {ROW, "gs464e", "l1d-miss", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "gs464v", "branches", HW, 4, 0x0002, 0, EXACT},
    {ROW, "gs464v", "l1d-prefetch-miss", CACHE, 0x010200, 0x00a9, 0, EXACT},
    {ROW, "gs464v", "llc-store", NONE, 0, NO_CODE, 0, ABSENT},

    /* A chip whose kernel must not be asked for a generic event. */
    {ROW, "loongson2k", "cycles", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "loongson2k", "instructions", NONE, 0, NO_CODE, 0, ABSENT},

    {ROW, "la464", "cycles", HW, 0, 0x0000, 0, EXACT},
    {ROW, "la464", "cache-misses", HW, 3, 0x0009, 0, APPROX},
    {ROW, "la464", "llc-miss", RAW, 0x000d, 0x000d, 0, EXACT},
    {ROW, "la464", "l1d-load", CACHE, 0x000000, 0x0008, 0, APPROX},
    {ROW, "la464", "dtlb-miss", RAW, 0x003c, 0x003c, 0, EXACT},
    {ROW, "la464", "l1-dcache-prefetches", CACHE, 0x000200, 0x00aa, 0, APPROX},
    {ROW, "la464", "l2-access", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "la464", "bus-cycles", NONE, 0, NO_CODE, 0, ABSENT},

    /* Cycles and instructions on one counter: they can never count together. */
    {ROW, "core3b", "cycles", HW, 0, 0x0008, 1u << 0, EXACT},
    {ROW, "core3b", "instructions", HW, 1, 0x0000, 1u << 0, EXACT},
    {ROW, "core3b", "branch-misses", HW, 5, 0x010b, 1u << 1, APPROX},
    {ROW, "core3b", "l2-miss", HW, 3, 0x0110, 1u << 1, APPROX},
    {ROW, "core3b", "l1d-miss", RAW, 0x0132, 0x0132, 1u << 1, EXACT},
    {ROW, "core3b", "itlb-access", RAW, 0x0009, 0x0009, 1u << 0, EXACT},
    {ROW, "core3b", "bus-cycles", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "core3b", "llc-miss", NONE, 0, NO_CODE, 0, ABSENT},

    {ROW, "core4", "cycles", HW, 0, 0x0030, 0, EXACT},
    {ROW, "core4", "instructions", HW, 1, 0x0003, 0, EXACT},
    {ROW, "core4", "l2-miss", RAW, 0x0053, 0x0053, 0, EXACT},
    {ROW, "core4", "l1i-miss", RAW, 0x0007, 0x0007, 0, APPROX},
    {ROW, "core4", "itlb-miss", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "core3a", "cache-references", HW, 2, NO_CODE, 0, APPROX},
    {ROW, "core3a", "l2-miss", HW, 3, NO_CODE, 0, APPROX},
    {ROW, "core3a", "l1d-miss", CACHE, 0x010000, NO_CODE, 0, APPROX},
    {ROW, "core3a", "llc-miss", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "sunway", "cycles", HW, 0, NO_CODE, 0, APPROX},

    /* Raw where newer kernels take the core for an older one; the rest is Zen 1. */
    {ROW, "hygon", "cycles", HW, 0, 0x0076, 0, EXACT},
    {ROW, "hygon", "branches", RAW, 0x00c2, 0x00c2, 0, EXACT},
    {ROW, "hygon", "cache-misses", RAW, 0x0964, 0x0964, 0, APPROX},
    {ROW, "hygon", "stalled-cycles-frontend", RAW, 0x0287, 0x0287, 0, APPROX},
    {ROW, "hygon", "l1-dcache-loads", CACHE, 0x000000, 0x0040, 0, APPROX},
    {ROW, "hygon", "unaligned-access", RAW, 0x0047, 0x0047, 0, APPROX},
    {ROW, "hygon", "interrupts", NONE, 0, NO_CODE, 0, ABSENT},

    {ROW, "zx-c", "cycles", HW, 0, 0x0082, FIXED(1) | ANY_GENERAL, EXACT},
    {ROW, "zx-c", "instructions", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "zx-d", "branches", HW, 4, 0x0700, 0, APPROX},
    {ROW, "zx-d", "l1d-load-miss", CACHE, 0x010000, 0x0538, 0, EXACT},
    {ROW, "zx-e", "branches", HW, 4, 0x0028, 0, APPROX},
    {ROW, "zx-e", "instructions", HW, 1, 0x00c0, FIXED(0) | ANY_GENERAL, APPROX},
    {ROW, "zx-e", "itlb-access", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "kx-7000", "llc-access", HW, 2, 0x051a, 0, APPROX},
    {ROW, "kx-7000", "llc-miss", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "kx-7000", "stall-frontend", HW, 7, 0x1800102, 0, APPROX},

    /* Through an id that the kernel checks where there is one, else raw. */
    {ROW, "armv8", "cycles", HW, 0, 0x0011, FIXED(0) | ANY_GENERAL, EXACT},
    {ROW, "armv8", "l1d-access", CACHE, 0x000000, 0x0004, 0, EXACT},
    {ROW, "armv8", "branch-misses", RAW, 0x0022, 0x0022, 0, APPROX},
    {ROW, "armv8", "ref-cycles", RAW, 0x4004, 0x4004, 0, APPROX},
    {ROW, "kunpeng920", "branches", RAW, 0x0021, 0x0021, 0, EXACT},
    {ROW, "kunpeng920", "l1d-access", CACHE, 0x000000, 0x0004, 0, EXACT},
    {ROW, "kunpeng920", "l1d-prefetch", RAW, 0x6013, 0x6013, 0, APPROX},
    {ROW, "kunpeng920", "ref-cycles", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "ftc663", "branches", RAW, 0x000c, 0x000c, 0, APPROX},
    {ROW, "ftc663", "llc-miss", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "ftc862", "llc-miss", RAW, 0x0033, 0x0033, 0, APPROX},
    {ROW, "ftc862", "l1d-miss", CACHE, 0x010000, 0x0003, 0, APPROX},

    {ROW, "riscv-sbi", "cycles", HW, 0, NO_CODE, FIXED(0) | ANY_GENERAL, APPROX},
    {ROW, "riscv-sbi", "l1d-load", CACHE, 0x000000, NO_CODE, 0, EXACT},
    {ROW, "riscv-sbi", "dtlb-miss", CACHE, 0x010003, NO_CODE, 0, APPROX},
    {ROW, "c906", "interrupts", RAW, 0x23, 0x23, 0, EXACT},
    {ROW, "c906", "branches", RAW, 0x07, 0x07, 0, APPROX},
    {ROW, "c910", "interrupts", NONE, 0, NO_CODE, 0, ABSENT}, /* the code is of the C906 alone */
    {ROW, "c910", "l2-load-miss", RAW, 0x11, 0x11, 0, EXACT},
    {ROW, "c910", "stores", RAW, 0x0b, 0x0b, 0, EXACT},
    {ROW, "c910", "cache-misses", HW, 3, NO_CODE, 0, APPROX},
    {ROW, "u74", "cycles", HW, 0, NO_CODE, FIXED(0), APPROX},
    {ROW, "u74", "branches", RAW, 0x1c000, 0x1c000, 0, APPROX},
    {ROW, "u74", "l1d-miss", RAW, 0x202, 0x202, 0, APPROX},
    {ROW, "u74", "l1d-load-miss", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "p550", "instructions", HW, 1, NO_CODE, FIXED(1), EXACT},
    {ROW, "p550", "l1d-miss", RAW, 0x202, 0x202, 0, EXACT},
    {ROW, "p550", "stall-backend", RAW, 0x1001, 0x1001, 0, APPROX},
    {ROW, "p550", "dtlb-miss", RAW, 0x1002, 0x1002, 0, EXACT},
    {ROW, "x60", "branch-misses", RAW, 0x45, 0x45, 0, EXACT},
    {ROW, "x60", "l2-miss", RAW, 0xb9, 0xb9, 0, EXACT},
    {ROW, "x60", "fp-ops", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "riscv-sbi", "l2-access", NONE, 0, NO_CODE, 0, ABSENT},

    {ROW, "generic", "cycles", HW, 0, NO_CODE, 0, APPROX},
    {ROW, "generic", "ref-cycles", HW, 9, NO_CODE, 0, APPROX},
    {ROW, "generic", "l1d-load-miss", CACHE, 0x010000, NO_CODE, 0, APPROX},
    {ROW, "generic", "node-prefetch-misses", CACHE, 0x010206, NO_CODE, 0, APPROX},
    {ROW, "generic", "uops-retired", NONE, 0, NO_CODE, 0, ABSENT},
    {ROW, "generic", "l2-miss", NONE, 0, NO_CODE, 0, ABSENT},
};
/* clang-format on */

START_TEST(name_has_its_encoding)
{
    const struct golden *g = &golden[_i];
    const struct arch_family *family = arch_family_named(g->family);
    ck_assert_msg(family != NULL, "line %d: no family %s", g->line, g->family);
    const struct arch_event *row = arch_family_event(family, g->name);
    ck_assert_msg(row != NULL, "line %d: %s lacks %s", g->line, g->family, g->name);
    ck_assert_msg(row->kind == g->kind && row->config == g->config && row->raw_encoding == g->raw_encoding,
                  "line %d: %s %s is kind %d 0x%" PRIx64 " (0x%" PRIx64 ")", g->line, g->family, g->name, row->kind,
                  row->config, row->raw_encoding);
    ck_assert_msg(row->counters == g->counters && row->match == g->match, "line %d: %s %s has counters 0x%x, match %d",
                  g->line, g->family, g->name, row->counters, row->match);
}
END_TEST

/* clang-format off */
static const struct golden_near {
    const char *family, *name, *near;
} nears[] = {
    {"zen1", "llc-miss", "l2-miss"},
    {"zen3", "exceptions", "interrupts"},
    {"intel-gracemont", "l1d-store-miss", "l1d-load-miss stores"},
    {"intel-lioncove", "l2-store", "l2-access"},
    {"gs464", "dtlb-load-miss", "dtlb-miss"},
    {"gs464", "llc-load", ""},
    {"intel-skylake", "interrupts", NULL},
    {"intel-haswell", "stalled-cycles-backend", "stall-backend"},
    {"zx-c", "loads", ""},
    {"zx-c", "bus-cycles", "cycles"},
    {"loongson2k", "cycles", ""},
};

static const struct golden_formula {
    const char *family, *name, *formula;
    int match;
} formulas[] = {
    {"intel-broadwell", "fp-ops",
     "FP_ARITH_INST_RETIRED.SCALAR + 2*FP_ARITH_INST_RETIRED.128B_PACKED_DOUBLE + 4*FP_ARITH_INST_RETIRED.4_FLOPS + "
     "8*FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE", APPROX},
    /* Not 8_FLOPS, to which the list of Skylake gives the unit mask of 4_FLOPS. */
    {"intel-skylake", "fp-ops",
     "FP_ARITH_INST_RETIRED.SCALAR + 2*FP_ARITH_INST_RETIRED.128B_PACKED_DOUBLE + 4*FP_ARITH_INST_RETIRED.4_FLOPS + "
     "8*FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE + 8*FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE + "
     "16*FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE", APPROX},
    {"intel-sapphirerapids", "fp-ops",
     "FP_ARITH_INST_RETIRED.SCALAR + 2*FP_ARITH_INST_RETIRED.128B_PACKED_DOUBLE + 4*FP_ARITH_INST_RETIRED.4_FLOPS + "
     "8*FP_ARITH_INST_RETIRED.8_FLOPS + 16*FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE", APPROX},
    {"intel-haswell", "loads-stores", "loads + stores", APPROX},
    {"intel-haswell", "l1d-access", "l1d-load + l1d-store", APPROX},
    /* Sums by default, where a family has the parts. */
    {"generic", "dtlb-miss", "dtlb-load-miss + dtlb-store-miss", APPROX},
    {"generic", "llc-miss", "llc-load-miss + llc-store-miss", APPROX},
    {"gs464e", "l1d-access", "l1d-load + l1d-store", EXACT},
    {"intel-core2", "loads-stores", "loads + stores", APPROX},
    {"intel-nehalem", "stall-frontend", "UOPS_ISSUED.STALL_CYCLES - RESOURCE_STALLS.ANY", APPROX},
    {"intel-sandybridge", "l2-load-miss", "L2_RQSTS.ALL_DEMAND_DATA_RD - L2_RQSTS.DEMAND_DATA_RD_HIT", APPROX},
    {"intel-sandybridge", "dtlb-miss", "dtlb-load-miss + dtlb-store-miss", APPROX},
    {"intel-icelake", "l2-access", "L2_RQSTS.ALL_DEMAND_DATA_RD + L2_RQSTS.ALL_RFO + L2_RQSTS.ALL_CODE_RD", APPROX},
    {"zen2", "stall-backend", "de_dis_dispatch_token_stalls0.any + de_dis_dispatch_token_stalls1.any", APPROX},
    {"zen3", "itlb-access", "bp_l1_tlb_fetch_hit + bp_l1_tlb_miss_l2_tlb_hit + bp_l1_tlb_miss_l2_tlb_miss", APPROX},
    {"intel-skylake", "mem-read", "node-loads + node-load-misses", APPROX},
    {"zen4", "llc-miss", "ls_any_fills_from_sys.all - ls_any_fills_from_sys.local_all", APPROX},
    {"intel-skylake", "dtlb-miss", "dtlb-load-miss + dtlb-store-miss", APPROX},
    {"gs464", "fp-ops", "FALU1_ISSUED + FALU2_ISSUED", APPROX},
    {"loongson2ef", "int-instructions", "ALU1_ISSUED + ALU2_ISSUED", APPROX},
    {"gs464e", "l1d-access", "l1d-load + l1d-store", EXACT},
    {"gs464e", "llc-access", "llc-load + llc-store", APPROX},
    {"zx-d", "dtlb-miss", "dtlb-load-miss + dtlb-store-miss", EXACT},
    {"zx-e", "l1d-miss", "l1d-load-miss + l1d-store-miss", EXACT},
    {"c906", "loads", "INST_LDST - INST_STORE", APPROX},
    {"c910", "branch-misses", "INST_BRANCH_MISPREDICT + INST_JMP_MISPREDICT", APPROX},
    {"c910", "l1d-access", "l1d-load + l1d-store", EXACT},
    {"c910", "l2-miss", "LL_CACHE_READ_MISS + LL_CACHE_WRITE_MISS", EXACT},
    {"p550", "fp-ops",
     "FP_ADDITION_RETIRED + FP_MULTIPLICATION_RETIRED + 2*FP_FUSEDMADD_RETIRED + FP_DIV_SQRT_RETIRED", APPROX},
    {"p550", "unaligned-access", "SBI_PMU_FW_MISALIGNED_LOAD + SBI_PMU_FW_MISALIGNED_STORE", APPROX},
    {"x60", "unaligned-access", "unaligned_load_inst + unaligned_store_inst", EXACT},
};
/* clang-format on */

START_TEST(absent_name_has_its_nearest)
{
    const struct golden_near *g = &nears[_i];
    const struct arch_event *row = arch_family_event(arch_family_named(g->family), g->name);
    ck_assert_msg(row && (row->kind == ARCH_CODE_NONE) == (g->near != NULL), "%s %s", g->family, g->name);
    ck_assert_str_eq(arch_text(row->near), g->near ? g->near : "");
}
END_TEST

START_TEST(name_has_its_formula)
{
    const struct golden_formula *g = &formulas[_i];
    const struct arch_event *row = arch_family_event(arch_family_named(g->family), g->name);
    ck_assert_msg(row && row->kind == ARCH_CODE_FORMULA && row->match == g->match, "%s %s", g->family, g->name);
    ck_assert_str_eq(arch_text(row->formula), g->formula);
}
END_TEST

START_TEST(limits_of_the_counters_are_known)
{
    const struct arch_counters *gs464 = &arch_family_named("gs464")->counters;
    const struct arch_counters *core3b = &arch_family_named("core3b")->counters;
    const struct arch_counters *zen4 = &arch_family_named("zen4")->counters;
    const struct arch_counters *icelake = &arch_family_named("intel-icelake")->counters;
    ck_assert(gs464->general == 2 && gs464->no_software_siblings && !gs464->no_group_check);
    ck_assert(core3b->general == 2 && core3b->no_group_check && core3b->no_exclude_hv && core3b->shared_filter);
    ck_assert(zen4->general == 6 && zen4->fixed == 0 && zen4->width == 48 && !zen4->no_software_siblings);
    ck_assert(icelake->general == 8 && icelake->fixed == 4);
    ck_assert(arch_family_named("la464")->counters.no_software_siblings);
    ck_assert(arch_family_named("gs464e")->counters.general == 4 && arch_family_named("gs464e")->counters.width == 48);
    const struct arch_counters *core4 = &arch_family_named("core4")->counters;
    ck_assert(core4->general == 5 && core4->ignores_filter && core4->no_exclude_hv && !core4->shared_filter);
    ck_assert_uint_eq(arch_family_named("armv8")->counters.general, 0);
    ck_assert_uint_eq(arch_family_named("generic")->counters.general, 0);
}
END_TEST

/** Number of native names of a core and the sum of their codes, counted in the makers' lists. */
START_TEST(native_lists_are_whole)
{
    static const struct {
        const char *family;
        size_t rows;
        uint64_t sum;
    } lists[] = {
        /* Intel's lists, and the kernel's codes for fixed counters (0x300, from Ice Lake on 0x400); of Haswell to Skylake also
         * offcore responses (0x1b7) and the cycles that retire four, which PAPI's presets need */
        {"intel-haswell", 326 + 1 + 4, 0x87a350bf + 0x300 + 3 * 0x1b7 + 0x40001c2},
        {"intel-broadwell", 332 + 1 + 4, 0xaa618197 + 0x300 + 3 * 0x1b7 + 0x40001c2},
        {"intel-skylake", 294 + 1 + 3, 0xc4d213ad + 0x300 + 2 * 0x1b7 + 0x40002c2},
        {"intel-icelake", 241 + 2, 0x9c2fe14a + 0x700},
        {"intel-sapphirerapids", 290 + 2, 0xa7420df5 + 0x700},
        {"intel-core", 8, 0x971d},
        /* AMD's lists, and one code of the kernel's (0xff5a); of Zen 1 to 3 also unit masks together (0x03; 0xae, 0xaf) */
        {"zen1", 163 + 1 + 5, 0x80014dacb + 0xff5a + 0x1103 + 0x2203 + 0x4403 + 0x0f03 + 0xf003},
        {"zen2", 199 + 1 + 2, 0x800184c4e + 0xff5a + 0x7faf + 0xffae},
        {"zen3", 223 + 1 + 2, 0x12001c4935 + 0xff5a + 0xffae + 0x3faf},
        {"zen4", 336 + 1, 0x1500402b35 + 0xff5a},
        {"zen5", 357 + 1, 0x22004941b3 + 0xff5a},
        {"loongson2ef", 32, 0x8f0},
        {"gs464v", 15, 0x27a},
        {"core4", 12, 0x1ca},
        {"armv8", 217, 0x2042ef},
        {"kunpeng920", 123, 0x4802b},
        {"ftc862", 129, 0x230b},
        {"ftc663", 97, 0x1d35},
        {"riscv-sbi", 22, 0xe7},
        {"c906", 48, 0x335},
        {"c910", 49, 0x276},
        {"u74", 57, 0x4083dfe},
        {"p550", 55, 0x403f6ff},
        {"x60", 186, 0x3ffe},
        {"gs464e", 13, 0xc1f}, /* those that the kernel names; the others have numbers only */
        {"gs464", 33, 0x979},
        {"la464", 15, 0x20b},
        {"core3b", 14, 0x6ec}, /* those with a published meaning */

    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        const struct arch_family *f = arch_family_named(lists[i].family);
        const struct arch_native *row;
        size_t rows = 0;
        uint64_t sum = 0;
        for (size_t j = 0; (row = arch_family_native_next(f, &j)) != NULL; rows++)
            sum += row->config;
        ck_assert_msg(rows == lists[i].rows && sum == lists[i].sum, "%s: %zu rows, sum 0x%" PRIx64, f->name, rows, sum);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("golden");
    tcase_add_loop_test(t, name_has_its_encoding, 0, (int)(sizeof(golden) / sizeof(golden[0])));
    tcase_add_loop_test(t, absent_name_has_its_nearest, 0, (int)(sizeof(nears) / sizeof(nears[0])));
    tcase_add_loop_test(t, name_has_its_formula, 0, (int)(sizeof(formulas) / sizeof(formulas[0])));
    tcase_add_test(t, native_lists_are_whole);
    tcase_add_test(t, limits_of_the_counters_are_known);
    return run_suite("arch.golden", t);
}
