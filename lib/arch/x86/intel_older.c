/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Intel cores before Haswell: Core 2, Nehalem, Westmere, Sandy Bridge, Ivy Bridge. Their rows are the architectural events
 * and what the kernel makes of its generic ids; lists of the makers' own were not read. Room: arch/x86; before it families.c,
 * after it the kernel takes the codes.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

#define CORE "linux:arch/x86/events/intel/core.c@v6.12.117"

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
static const struct arch_event core2_rows[] = {
    {"branch-load-misses", 0x010005, 0x00c5, ARCH_ANY, CACHE, APPROX, "mispredicted branches retired", CORE},
    {"branch-loads", 0x000005, 0x00c4, ARCH_ANY, CACHE, APPROX, "branch instructions retired", CORE},
    {"cycles", 0, 0x003c, FIXED(1) | GENERAL(2), HW, EXACT, "", CORE},
    {"dtlb-load-miss", 0x010003, 0x0208, ARCH_ANY, CACHE, APPROX, "DTLB_MISSES.MISS_LD", CORE},
    {"dtlb-load-misses", 0x010003, 0x0208, ARCH_ANY, CACHE, APPROX, "DTLB_MISSES.MISS_LD", CORE},
    {"dtlb-loads", 0x000003, 0x0f40, ARCH_ANY, CACHE, APPROX, "reads of the L1 data cache, not lookups", CORE},
    {"dtlb-store-miss", 0x010103, 0x0808, ARCH_ANY, CACHE, APPROX, "DTLB_MISSES.MISS_ST", CORE},
    {"dtlb-store-misses", 0x010103, 0x0808, ARCH_ANY, CACHE, APPROX, "DTLB_MISSES.MISS_ST", CORE},
    {"dtlb-stores", 0x000103, 0x0f41, ARCH_ANY, CACHE, APPROX, "writes of the L1 data cache, not lookups", CORE},
    {"instructions", 1, 0x00c0, FIXED(0) | GENERAL(2), HW, EXACT, "", CORE},
    {"itlb-load-misses", 0x010004, 0x1282, ARCH_ANY, CACHE, APPROX, "ITLB.MISSES", CORE},
    {"itlb-loads", 0x000004, 0x00c0, ARCH_ANY, CACHE, APPROX, "instructions retired, not lookups", CORE},
    {"itlb-miss", 0x010004, 0x1282, ARCH_ANY, CACHE, APPROX, "ITLB.MISSES", CORE},
    {"l1-dcache-load-misses", 0x010000, 0x0140, ARCH_ANY, CACHE, APPROX,
     "reads that found no line in the L1 data cache", CORE},
    {"l1-dcache-loads", 0x000000, 0x0f40, ARCH_ANY, CACHE, APPROX, "reads that the L1 data cache saw", CORE},
    {"l1-dcache-prefetches", 0x000200, 0x104e, ARCH_ANY, CACHE, APPROX, "L1D_PREFETCH.REQUESTS", CORE},
    {"l1-dcache-store-misses", 0x010100, 0x0141, ARCH_ANY, CACHE, APPROX,
     "writes that found no line in the L1 data cache", CORE},
    {"l1-dcache-stores", 0x000100, 0x0f41, ARCH_ANY, CACHE, APPROX, "writes that the L1 data cache saw", CORE},
    {"l1-icache-load-misses", 0x010001, 0x0081, ARCH_ANY, CACHE, APPROX, "L1I.MISSES", CORE},
    {"l1-icache-loads", 0x000001, 0x0080, ARCH_ANY, CACHE, APPROX, "L1I.READS", CORE},
    {"l1d-load", 0x000000, 0x0f40, ARCH_ANY, CACHE, APPROX, "reads that the L1 data cache saw", CORE},
    {"l1d-load-miss", 0x010000, 0x0140, ARCH_ANY, CACHE, APPROX, "reads that found no line in the L1 data cache", CORE},
    {"l1d-prefetch", 0x000200, 0x104e, ARCH_ANY, CACHE, APPROX, "L1D_PREFETCH.REQUESTS", CORE},
    {"l1d-store", 0x000100, 0x0f41, ARCH_ANY, CACHE, APPROX, "writes that the L1 data cache saw", CORE},
    {"l1d-store-miss", 0x010100, 0x0141, ARCH_ANY, CACHE, APPROX,
     "writes that found no line in the L1 data cache", CORE},
    {"l1i-access", 0x000001, 0x0080, ARCH_ANY, CACHE, APPROX, "L1I.READS", CORE},
    {"l1i-miss", 0x010001, 0x0081, ARCH_ANY, CACHE, APPROX, "L1I.MISSES", CORE},
    {"llc-load", 0x000002, 0x4f29, ARCH_ANY, CACHE, APPROX,
     "reads that reached L2, the last level here; prefetches not included", CORE},
    {"llc-load-miss", 0x010002, 0x4129, ARCH_ANY, CACHE, APPROX,
     "reads that found no line in L2, the last level here", CORE},
    {"llc-load-misses", 0x010002, 0x4129, ARCH_ANY, CACHE, APPROX,
     "reads that found no line in L2, the last level here", CORE},
    {"llc-loads", 0x000002, 0x4f29, ARCH_ANY, CACHE, APPROX,
     "reads that reached L2, the last level here; prefetches not included", CORE},
    {"llc-store", 0x000102, 0x4f2a, ARCH_ANY, CACHE, APPROX, "writes that reached L2, the last level here", CORE},
    {"llc-store-miss", 0x010102, 0x412a, ARCH_ANY, CACHE, APPROX,
     "writes that found no line in L2, the last level here", CORE},
    {"llc-store-misses", 0x010102, 0x412a, ARCH_ANY, CACHE, APPROX,
     "writes that found no line in L2, the last level here", CORE},
    {"llc-stores", 0x000102, 0x4f2a, ARCH_ANY, CACHE, APPROX, "writes that reached L2, the last level here", CORE},
    {"node-load-misses", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps no such event on this core", ""},
    {"node-loads", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps no such event on this core", ""},
    {"node-store-misses", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps no such event on this core", ""},
    {"node-stores", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps no such event on this core", ""},
    {"remote-access", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps no such event on this core", ""},
    {"stalled-cycles-backend", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps no such event on this core", ""},
    {"stalled-cycles-frontend", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps no such event on this core", ""},
};

static const struct arch_event nehalem_rows[] = {
    {"branch-load-misses", 0x010005, 0x03e8, ARCH_ANY, CACHE, APPROX,
     "BPU_CLEARS.ANY: the front end started again, not branches retired", CORE},
    {"branch-loads", 0x000005, 0x00c4, ARCH_ANY, CACHE, APPROX, "branch instructions retired", CORE},
    {"branch-misses", 5, 0x00c5, ARCH_ANY, HW, APPROX,
     "on parts with a fault of the retired event (erratum AAJ80) the kernel counts executed ones, 0x7f89", CORE},
    {"dtlb-load-miss", 0x010003, 0x0108, ARCH_ANY, CACHE, APPROX, "DTLB_LOAD_MISSES.ANY", CORE},
    {"dtlb-load-misses", 0x010003, 0x0108, ARCH_ANY, CACHE, APPROX, "DTLB_LOAD_MISSES.ANY", CORE},
    {"dtlb-loads", 0x000003, 0x0f40, ARCH_ANY, CACHE, APPROX, "reads of the L1 data cache, not lookups", CORE},
    {"dtlb-store-miss", 0x010103, 0x010c, ARCH_ANY, CACHE, APPROX,
     "MEM_STORE_RETIRED.DTLB_MISS: of retired stores", CORE},
    {"dtlb-store-misses", 0x010103, 0x010c, ARCH_ANY, CACHE, APPROX,
     "MEM_STORE_RETIRED.DTLB_MISS: of retired stores", CORE},
    {"dtlb-stores", 0x000103, 0x0f41, ARCH_ANY, CACHE, APPROX, "writes of the L1 data cache, not lookups", CORE},
    {"itlb-load-misses", 0x010004, 0x20c8, ARCH_ANY, CACHE, APPROX, "ITLB_MISS_RETIRED: of retired instructions", CORE},
    {"itlb-loads", 0x000004, 0x01c0, ARCH_ANY, CACHE, APPROX, "instructions retired, not lookups", CORE},
    {"itlb-miss", 0x010004, 0x20c8, ARCH_ANY, CACHE, APPROX, "ITLB_MISS_RETIRED: of retired instructions", CORE},
    {"l1-dcache-load-misses", 0x010000, 0x0151, ARCH_ANY, CACHE, APPROX, "L1D.REPL: lines brought in", CORE},
    {"l1-dcache-loads", 0x000000, 0x010b, ARCH_ANY, CACHE, APPROX, "retired loads", CORE},
    {"l1-dcache-prefetch-misses", 0x010200, 0x024e, ARCH_ANY, CACHE, APPROX, "L1D_PREFETCH.MISS", CORE},
    {"l1-dcache-prefetches", 0x000200, 0x014e, ARCH_ANY, CACHE, APPROX, "L1D_PREFETCH.REQUESTS", CORE},
    {"l1-dcache-store-misses", 0x010100, 0x0251, ARCH_ANY, CACHE, APPROX,
     "L1D.M_REPL: modified lines brought in", CORE},
    {"l1-dcache-stores", 0x000100, 0x020b, ARCH_ANY, CACHE, APPROX, "retired stores", CORE},
    {"l1-icache-load-misses", 0x010001, 0x0280, ARCH_ANY, CACHE, APPROX, "L1I.MISSES", CORE},
    {"l1-icache-loads", 0x000001, 0x0380, ARCH_ANY, CACHE, APPROX, "L1I.READS", CORE},
    {"l1d-load", 0x000000, 0x010b, ARCH_ANY, CACHE, APPROX, "retired loads", CORE},
    {"l1d-miss", 0x010000, 0x0151, ARCH_ANY, CACHE, APPROX, "L1D.REPL: lines brought in", CORE},
    {"l1d-prefetch", 0x000200, 0x014e, ARCH_ANY, CACHE, APPROX, "L1D_PREFETCH.REQUESTS", CORE},
    {"l1d-prefetch-miss", 0x010200, 0x024e, ARCH_ANY, CACHE, APPROX, "L1D_PREFETCH.MISS", CORE},
    {"l1d-store", 0x000100, 0x020b, ARCH_ANY, CACHE, APPROX, "retired stores", CORE},
    {"l1i-access", 0x000001, 0x0380, ARCH_ANY, CACHE, APPROX, "L1I.READS", CORE},
    {"l1i-miss", 0x010001, 0x0280, ARCH_ANY, CACHE, APPROX, "L1I.MISSES", CORE},
    {"llc-load", 0x000002, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"llc-load-miss", 0x010002, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"llc-load-misses", 0x010002, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"llc-loads", 0x000002, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"llc-prefetch-misses", 0x010202, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"llc-prefetches", 0x000202, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"llc-store", 0x000102, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"llc-store-miss", 0x010102, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"llc-store-misses", 0x010102, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"llc-stores", 0x000102, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"loads", 0x000000, 0x010b, ARCH_ANY, CACHE, APPROX, "retired ones", CORE},
    {"node-load-misses", 0x010006, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"node-loads", 0x000006, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"node-prefetch-misses", 0x010206, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"node-prefetches", 0x000206, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"node-store-misses", 0x010106, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"node-stores", 0x000106, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"remote-access", 0x010006, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "node load misses through offcore response 0x01b7 with its second register; one request fits at a time", CORE},
    {"stalled-cycles-backend", 8, 0x1803fb1, ARCH_ANY, HW, APPROX,
     "cycles in which no micro-operation was executed", CORE},
    {"stalled-cycles-frontend", 7, 0x180010e, ARCH_ANY, HW, APPROX,
     "cycles in which no micro-operation was issued", CORE},
    {"stores", 0x000100, 0x020b, ARCH_ANY, CACHE, APPROX, "retired ones", CORE},
};

/** What differs from Nehalem. */
static const struct arch_event westmere_rows[] = {
    {"branch-misses", 5, 0x00c5, ARCH_ANY, HW, EXACT, "", CORE},
    {"dtlb-loads", 0x000003, 0x010b, ARCH_ANY, CACHE, APPROX, "retired loads, not lookups", CORE},
    {"dtlb-stores", 0x000103, 0x020b, ARCH_ANY, CACHE, APPROX, "retired stores, not lookups", CORE},
    {"itlb-load-misses", 0x010004, 0x0185, ARCH_ANY, CACHE, APPROX, "ITLB_MISSES.ANY", CORE},
    {"itlb-miss", 0x010004, 0x0185, ARCH_ANY, CACHE, APPROX, "ITLB_MISSES.ANY", CORE},
};

static const struct arch_event sandybridge_rows[] = {
    {"branch-load-misses", 0x010005, 0x00c5, ARCH_ANY, CACHE, APPROX, "mispredicted branches retired", CORE},
    {"branch-loads", 0x000005, 0x00c4, ARCH_ANY, CACHE, APPROX, "branch instructions retired", CORE},
    {"dtlb-load-miss", 0x010003, 0x0108, ARCH_ANY, CACHE, APPROX, "page walks started", CORE},
    {"dtlb-load-misses", 0x010003, 0x0108, ARCH_ANY, CACHE, APPROX, "page walks started", CORE},
    {"dtlb-loads", 0x000003, 0x81d0, ARCH_ANY, CACHE, APPROX, "retired loads, not lookups", CORE},
    {"dtlb-store-miss", 0x010103, 0x0149, ARCH_ANY, CACHE, APPROX, "page walks started", CORE},
    {"dtlb-store-misses", 0x010103, 0x0149, ARCH_ANY, CACHE, APPROX, "page walks started", CORE},
    {"dtlb-stores", 0x000103, 0x82d0, ARCH_ANY, CACHE, APPROX, "retired stores, not lookups", CORE},
    {"itlb-load-misses", 0x010004, 0x0185, ARCH_ANY, CACHE, APPROX, "page walks started", CORE},
    {"itlb-loads", 0x000004, 0x1085, ARCH_ANY, CACHE, APPROX, "hits of the second-level TLB, not all lookups", CORE},
    {"itlb-miss", 0x010004, 0x0185, ARCH_ANY, CACHE, APPROX, "page walks started", CORE},
    {"l1-dcache-load-misses", 0x010000, 0x0151, ARCH_ANY, CACHE, APPROX, "L1D.REPLACEMENT: lines brought in", CORE},
    {"l1-dcache-loads", 0x000000, 0xf1d0, ARCH_ANY, CACHE, APPROX, "retired loads", CORE},
    {"l1-dcache-prefetch-misses", 0x010200, 0x024e, ARCH_ANY, CACHE, APPROX, "HW_PRE_REQ.DL1_MISS", CORE},
    {"l1-dcache-store-misses", 0x010100, 0x0851, ARCH_ANY, CACHE, APPROX,
     "L1D.ALL_M_REPLACEMENT: modified lines brought in", CORE},
    {"l1-dcache-stores", 0x000100, 0xf2d0, ARCH_ANY, CACHE, APPROX, "retired stores", CORE},
    {"l1-icache-load-misses", 0x010001, 0x0280, ARCH_ANY, CACHE, APPROX,
     "fetches that missed, uncacheable ones included", CORE},
    {"l1d-load", 0x000000, 0xf1d0, ARCH_ANY, CACHE, APPROX, "retired loads", CORE},
    {"l1d-miss", 0x010000, 0x0151, ARCH_ANY, CACHE, APPROX, "L1D.REPLACEMENT: lines brought in", CORE},
    {"l1d-prefetch-miss", 0x010200, 0x024e, ARCH_ANY, CACHE, APPROX, "HW_PRE_REQ.DL1_MISS", CORE},
    {"l1d-store", 0x000100, 0xf2d0, ARCH_ANY, CACHE, APPROX, "retired stores", CORE},
    {"l1i-miss", 0x010001, 0x0280, ARCH_ANY, CACHE, APPROX, "fetches that missed, uncacheable ones included", CORE},
    {"llc-load", 0x000002, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-load-miss", 0x010002, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-load-misses", 0x010002, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-loads", 0x000002, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-prefetch-misses", 0x010202, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-prefetches", 0x000202, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-store", 0x000102, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-store-miss", 0x010102, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-store-misses", 0x010102, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-stores", 0x000102, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"loads", 0x000000, 0xf1d0, ARCH_ANY, CACHE, APPROX, "retired ones", CORE},
    {"node-load-misses", 0x010006, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"node-loads", 0x000006, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"node-prefetch-misses", 0x010206, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"node-prefetches", 0x000206, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"node-store-misses", 0x010106, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"node-stores", 0x000106, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"remote-access", 0x010006, 0x01b7, ARCH_ANY, CACHE, APPROX,
     "node load misses through offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"stalled-cycles-backend", 8, 0x18001b1, ARCH_ANY, HW, APPROX,
     "cycles in which no micro-operation was dispatched", CORE},
    {"stalled-cycles-frontend", 7, 0x180010e, ARCH_ANY, HW, APPROX,
     "cycles in which no micro-operation was issued", CORE},
    {"stores", 0x000100, 0xf2d0, ARCH_ANY, CACHE, APPROX, "retired ones", CORE},
};

/** What differs from Sandy Bridge. */
static const struct arch_event ivybridge_rows[] = {
    {"dtlb-load-miss", 0x010003, 0x8108, ARCH_ANY, CACHE, APPROX, "page walks started by demand loads", CORE},
    {"dtlb-load-misses", 0x010003, 0x8108, ARCH_ANY, CACHE, APPROX, "page walks started by demand loads", CORE},
    {"stalled-cycles-backend", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps it up to Sandy Bridge only", ""},
};
/* clang-format on */

static bool is_model(const struct arch_cpu *cpu, const uint8_t *models, size_t n)
{
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found |= cpu->model == models[i];
    return found && cpu->family == 6 && strcmp(cpu->vendor, "GenuineIntel") == 0;
}

/** Merom, Conroe, Penryn, Dunnington. */
static int is_core2(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x0f, 0x16, 0x17, 0x1d};
    return is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Bloomfield, Lynnfield, Nehalem-EX. */
static int is_nehalem(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x1a, 0x1e, 0x2e};
    return is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Clarkdale, Gulftown, Westmere-EX. */
static int is_westmere(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x25, 0x2c, 0x2f};
    return is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Client and server part. */
static int is_sandybridge(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x2a, 0x2d};
    return is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Client and server part. */
static int is_ivybridge(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x3a, 0x3e};
    return is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/* What the kernel ties to counters: codes of one event with any unit mask, or one unit mask of it. */
#define EVENT(code, where)                                 \
    {                                                      \
        .mask = 0xff, .match = (code), .counters = (where) \
    }
#define UMASK(code, where)                                   \
    {                                                        \
        .mask = 0xffff, .match = (code), .counters = (where) \
    }
#define FIXED_RULES(general)                                                            \
    {.mask = 0xffffffff, .match = 0x00c0, .counters = FIXED(0) | GENERAL(general)},     \
        {.mask = 0xffffffff, .match = 0x003c, .counters = FIXED(1) | GENERAL(general)}, \
    {                                                                                   \
        .mask = 0xffffffff, .match = 0x0300, .counters = FIXED(2)                       \
    }
#define OFFCORE(code, registers)                                             \
    {                                                                        \
        .mask = 0xffff, .match = (code), .pool = 1, .pool_size = (registers) \
    }

static const struct arch_code_rule core2_rules[] = {
    FIXED_RULES(2),          EVENT(0x10, COUNTER(0)), EVENT(0x11, COUNTER(1)), EVENT(0x12, COUNTER(1)),
    EVENT(0x13, COUNTER(1)), EVENT(0x14, COUNTER(0)), EVENT(0x18, COUNTER(0)), EVENT(0x19, COUNTER(1)),
    EVENT(0xa1, COUNTER(0)), EVENT(0xc9, COUNTER(0)), EVENT(0xcb, COUNTER(0)),
};
static const struct arch_code_rule nehalem_rules[] = {
    FIXED_RULES(4),          EVENT(0x40, GENERAL(2)), EVENT(0x41, GENERAL(2)), EVENT(0x42, GENERAL(2)),
    EVENT(0x43, GENERAL(2)), EVENT(0x48, GENERAL(2)), EVENT(0x4e, GENERAL(2)), EVENT(0x51, GENERAL(2)),
    EVENT(0x63, GENERAL(2)), OFFCORE(0x01b7, 1),
};
static const struct arch_code_rule westmere_rules[] = {
    FIXED_RULES(4),          EVENT(0x51, GENERAL(2)), EVENT(0x60, COUNTER(0)), EVENT(0x63, GENERAL(2)),
    EVENT(0xb3, COUNTER(0)), OFFCORE(0x01b7, 2),      OFFCORE(0x01bb, 2),
};
static const struct arch_code_rule sandybridge_rules[] = {
    FIXED_RULES(4),          UMASK(0x02a3, COUNTER(2)), UMASK(0x06a3, COUNTER(2)),
    EVENT(0x48, COUNTER(2)), UMASK(0x01c0, COUNTER(1)), EVENT(0xcd, COUNTER(3)),
    OFFCORE(0x01b7, 2),      OFFCORE(0x01bb, 2),
};
static const struct arch_code_rule ivybridge_rules[] = {
    FIXED_RULES(4),
    UMASK(0x0148, COUNTER(2)),
    UMASK(0x08a3, COUNTER(2)),
    UMASK(0x0ca3, COUNTER(2)),
    UMASK(0x01c0, COUNTER(1)),
    OFFCORE(0x01b7, 2),
    OFFCORE(0x01bb, 2),
};

#define COUNTERS(n_general, bits, table)                                                         \
    {                                                                                            \
        .general = (n_general), .fixed = 3, .width = (bits), .watchdog = true, .rules = (table), \
        .n_rules = ROWS(table), .raw = {.mask = 0xffa4ffff},                                     \
    }

#define REMARK \
    "rows are the architectural events and the kernel's generic ones; the maker's list for this core was not read"

#define CHOICE                                                                                                   \
    "generic ids: the kernel ties them to a fixed counter or to a second register (offcore response), or makes " \
    "its code for this core of them"

const struct arch_family arch_intel_core2 = {
    .name = "intel-core2",
    .title = "Intel Core 2",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = core2_rows,
    .n_events = ROWS(core2_rows),
    .base = &arch_intel_core,
    .counters = COUNTERS(2, 40, core2_rules),
    .matches = is_core2,
    .remark = REMARK,
    .choice = CHOICE,
};

const struct arch_family arch_intel_nehalem = {
    .name = "intel-nehalem",
    .title = "Intel Nehalem",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = nehalem_rows,
    .n_events = ROWS(nehalem_rows),
    .base = &arch_intel_core,
    .counters = COUNTERS(4, 48, nehalem_rules),
    .matches = is_nehalem,
    .remark = REMARK,
    .choice = CHOICE,
};

const struct arch_family arch_intel_westmere = {
    .name = "intel-westmere",
    .title = "Intel Westmere",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = westmere_rows,
    .n_events = ROWS(westmere_rows),
    .base = &arch_intel_nehalem,
    .counters = COUNTERS(4, 48, westmere_rules),
    .matches = is_westmere,
    .remark = REMARK,
    .choice = CHOICE,
};

const struct arch_family arch_intel_sandybridge = {
    .name = "intel-sandybridge",
    .title = "Intel Sandy Bridge",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = sandybridge_rows,
    .n_events = ROWS(sandybridge_rows),
    .base = &arch_intel_core,
    .counters = COUNTERS(4, 48, sandybridge_rules),
    .matches = is_sandybridge,
    .remark = REMARK,
    .choice = CHOICE,
};

const struct arch_family arch_intel_ivybridge = {
    .name = "intel-ivybridge",
    .title = "Intel Ivy Bridge",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = ivybridge_rows,
    .n_events = ROWS(ivybridge_rows),
    .base = &arch_intel_sandybridge,
    .counters = COUNTERS(4, 48, ivybridge_rules),
    .matches = is_ivybridge,
    .remark = REMARK,
    .choice = CHOICE,
};
