/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Intel cores: architectural events for any model, and the models from Haswell to Sapphire Rapids with their
 * machine codes (intel_older.c has those before). Room: arch/x86; before it families.c, after it the kernel takes the codes.
 *
 * Client parts share the table of the server part of their core; the kernel programs both alike.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"
#include "arch/x86/native.h"
#include "arch/x86/presets.h"

#define CORE "linux:arch/x86/events/intel/core.c@v6.12.117"
#define JSON "linux:tools/perf/pmu-events/arch/x86@v6.12.117"

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
/** What Haswell and later have in common, with the codes of Skylake where models differ. */
static const struct arch_event intel_base[] = {
    {"branch-load-misses", 0x010005, 0x00c5, ARCH_ANY, CACHE, APPROX, "mispredicted branches retired", CORE},
    {"branch-loads", 0x000005, 0x00c4, ARCH_ANY, CACHE, APPROX, "branch instructions retired", CORE},
    {"branch-misses", 5, 0x00c5, ARCH_ANY, HW, EXACT, "", CORE},
    {"branches", 4, 0x00c4, ARCH_ANY, HW, EXACT, "", CORE},
    {"branches-conditional", 0x01c4, 0x01c4, ARCH_ANY, RAW, EXACT, "", JSON},
    {"branches-return", 0x08c4, 0x08c4, ARCH_ANY, RAW, EXACT, "", JSON},
    {"bus-cycles", 6, 0x013c, ARCH_ANY, HW, APPROX,
     "follows the TSC or the crystal clock on recent parts, not a bus", CORE},
    {"cache-misses", 3, 0x412e, ARCH_ANY, HW, APPROX, "last-level cache here: the architectural event", CORE},
    {"cache-references", 2, 0x4f2e, ARCH_ANY, HW, APPROX, "last-level cache here: the architectural event", CORE},
    {"cycles", 0, 0x003c, FIXED(1) | GENERAL(4), HW, EXACT, "", CORE},
    {"dtlb-load-miss", 0x010003, 0x0e08, GENERAL(4), CACHE, APPROX, "page walks completed", CORE},
    {"dtlb-load-misses", 0x010003, 0x0e08, GENERAL(4), CACHE, APPROX, "page walks completed", CORE},
    {"dtlb-loads", 0x000003, 0x81d0, GENERAL(4), CACHE, APPROX, "retired loads, not lookups", CORE},
    {"dtlb-miss", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "no event for both: add dtlb-load-miss and dtlb-store-miss", ""},
    {"dtlb-store-miss", 0x010103, 0x0e49, GENERAL(4), CACHE, APPROX, "page walks completed", CORE},
    {"dtlb-store-misses", 0x010103, 0x0e49, GENERAL(4), CACHE, APPROX, "page walks completed", CORE},
    {"dtlb-stores", 0x000103, 0x82d0, GENERAL(4), CACHE, APPROX, "retired stores, not lookups", CORE},
    {"fp-ops", 0, NO_CODE, ARCH_ANY, NONE, ABSENT,
     "no single event: a weighted sum of the unit masks of FP_ARITH_INST_RETIRED (0xc7), which Haswell lacks", ""},
    {"instructions", 1, 0x00c0, FIXED(0) | GENERAL(4), HW, EXACT, "", CORE},
    {"interrupts", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "only Skylake lists an event for it", ""},
    {"itlb-load-misses", 0x010004, 0x0e85, GENERAL(4), CACHE, APPROX, "page walks completed", CORE},
    {"itlb-loads", 0x000004, 0x2085, GENERAL(4), CACHE, APPROX, "hits of the second-level TLB, not all lookups", CORE},
    {"itlb-miss", 0x010004, 0x0e85, GENERAL(4), CACHE, APPROX, "page walks completed", CORE},
    {"l1-dcache-load-misses", 0x010000, 0x0151, GENERAL(4), CACHE, APPROX, "L1D.REPLACEMENT: lines brought in", CORE},
    {"l1-dcache-loads", 0x000000, 0x81d0, GENERAL(4), CACHE, APPROX, "retired loads", CORE},
    {"l1-dcache-stores", 0x000100, 0x82d0, GENERAL(4), CACHE, APPROX, "retired stores", CORE},
    {"l1-icache-load-misses", 0x010001, 0x0283, GENERAL(4), CACHE, APPROX,
     "64-byte tag misses, speculative ones included", CORE},
    {"l1d-access", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "no event for both: add l1d-load and l1d-store", ""},
    {"l1d-load", 0x81d0, 0x81d0, GENERAL(4), RAW, APPROX, "retired loads", JSON},
    {"l1d-load-miss", 0x08d1, 0x08d1, GENERAL(4), RAW, APPROX, "retired loads that missed L1", JSON},
    {"l1d-miss", 0x0151, 0x0151, GENERAL(4), RAW, APPROX, "L1D.REPLACEMENT: lines brought in", JSON},
    {"l1d-store", 0x82d0, 0x82d0, GENERAL(4), RAW, APPROX, "retired stores", JSON},
    {"l1i-miss", 0x010001, 0x0283, GENERAL(4), CACHE, APPROX, "64-byte tag misses, speculative ones included", CORE},
    {"l2-access", 0xff24, 0xff24, GENERAL(4), RAW, APPROX, "L2_RQSTS.REFERENCES: prefetches included", JSON},
    {"l2-load-miss", 0x10d1, 0x10d1, GENERAL(4), RAW, APPROX, "retired loads that missed L2", JSON},
    {"l2-miss", 0x3f24, 0x3f24, GENERAL(4), RAW, APPROX, "L2_RQSTS.MISS: prefetches included", JSON},
    {"llc-access", 2, 0x4f2e, ARCH_ANY, HW, EXACT, "", CORE},
    {"llc-load", 0x000002, 0x01b7, GENERAL(4), CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-load-miss", 0x010002, 0x01b7, GENERAL(4), CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-load-misses", 0x010002, 0x01b7, GENERAL(4), CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-loads", 0x000002, 0x01b7, GENERAL(4), CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-miss", 3, 0x412e, ARCH_ANY, HW, EXACT, "", CORE},
    {"llc-store", 0x000102, 0x01b7, GENERAL(4), CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-store-miss", 0x010102, 0x01b7, GENERAL(4), CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-store-misses", 0x010102, 0x01b7, GENERAL(4), CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"llc-stores", 0x000102, 0x01b7, GENERAL(4), CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"loads", 0x81d0, 0x81d0, GENERAL(4), RAW, APPROX, "retired ones", JSON},
    {"node-load-misses", 0x010006, 0x01b7, GENERAL(4), CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"node-loads", 0x000006, 0x01b7, GENERAL(4), CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"node-store-misses", 0x010106, 0x01b7, GENERAL(4), CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"node-stores", 0x000106, 0x01b7, GENERAL(4), CACHE, APPROX,
     "offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"ref-cycles", 9, 0x0300, FIXED(2), HW, EXACT, "", CORE},
    {"remote-access", 0x010006, 0x01b7, GENERAL(4), CACHE, APPROX,
     "node load misses through offcore response 0x01b7 with its second register; few fit at a time", CORE},
    {"stall-any", 0x40004a3, 0x40004a3, ARCH_ANY, RAW, APPROX, "no micro-operation executed, whatever the cause", JSON},
    {"stall-backend", 0x01a2, 0x01a2, GENERAL(4), RAW, APPROX,
     "RESOURCE_STALLS.ANY: allocation stalled for want of any resource", JSON},
    {"stalled-cycles-backend", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps it up to Sandy Bridge only", ""},
    {"stalled-cycles-frontend", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps it up to Ivy Bridge only", ""},
    {"stores", 0x82d0, 0x82d0, GENERAL(4), RAW, APPROX, "retired ones", JSON},
    {"uops-retired", 0x02c2, 0x02c2, ARCH_ANY, RAW, APPROX,
     "retirement slots: fused micro-operations count once", JSON},
};

/** Haswell and Broadwell. */
static const struct arch_event intel_haswell_rows[] = {
    {"dtlb-load-miss", 0x010003, 0x0108, GENERAL(4), CACHE, APPROX, "page walks started", CORE},
    {"dtlb-load-misses", 0x010003, 0x0108, GENERAL(4), CACHE, APPROX, "page walks started", CORE},
    {"dtlb-store-miss", 0x010103, 0x0149, GENERAL(4), CACHE, APPROX, "page walks started", CORE},
    {"dtlb-store-misses", 0x010103, 0x0149, GENERAL(4), CACHE, APPROX, "page walks started", CORE},
    {"itlb-load-misses", 0x010004, 0x0185, GENERAL(4), CACHE, APPROX, "page walks started", CORE},
    {"itlb-loads", 0x000004, 0x6085, GENERAL(4), CACHE, APPROX, "hits of the second-level TLB, not all lookups", CORE},
    {"itlb-miss", 0x010004, 0x0185, GENERAL(4), CACHE, APPROX, "page walks started", CORE},
    {"l1-icache-load-misses", 0x010001, 0x0280, GENERAL(4), CACHE, APPROX,
     "fetches that missed, uncacheable ones included", CORE},
    {"l1i-miss", 0x010001, 0x0280, GENERAL(4), CACHE, APPROX, "fetches that missed, uncacheable ones included", CORE},
};

static const struct arch_event intel_skylake_rows[] = {
    {"interrupts", 0x01cb, 0x01cb, GENERAL(4), RAW, APPROX,
     "HW_INTERRUPTS.RECEIVED, documented for Skylake only", JSON},
};

static const struct arch_event intel_icelake_rows[] = {
    {"branches-conditional", 0x11c4, 0x11c4, ARCH_ANY, RAW, EXACT, "", JSON},
    {"cycles", 0, 0x003c, FIXED(1) | GENERAL(8), HW, EXACT, "", CORE},
    {"instructions", 1, 0x00c0, FIXED(0) | GENERAL(8), HW, EXACT, "", CORE},
    {"l2-access", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the Ice Lake server list has no total of L2 requests", ""},
    {"l2-miss", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the Ice Lake server list has no total of L2 misses", ""},
    {"ref-cycles", 9, 0x0300, FIXED(2) | GENERAL(8), HW, EXACT, "", CORE},
    {"stall-backend", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the Ice Lake server list has no event for it", ""},
};

static const struct arch_event intel_sapphirerapids_rows[] = {
    {"branch-load-misses", 0x010005, 0x04c5, ARCH_ANY, CACHE, APPROX,
     "as the kernel encodes it, a unit mask beside the architectural one", CORE},
    {"branch-loads", 0x000005, 0x04c4, ARCH_ANY, CACHE, APPROX,
     "as the kernel encodes it, a unit mask beside the architectural one", CORE},
    {"branches-conditional", 0x11c4, 0x11c4, ARCH_ANY, RAW, EXACT, "", JSON},
    {"cycles", 0, 0x003c, FIXED(1) | GENERAL(8), HW, EXACT, "", CORE},
    {"dtlb-load-miss", 0x010003, 0x0e12, GENERAL(4), CACHE, APPROX, "page walks completed", CORE},
    {"dtlb-load-misses", 0x010003, 0x0e12, GENERAL(4), CACHE, APPROX, "page walks completed", CORE},
    {"dtlb-store-miss", 0x010103, 0x0e13, GENERAL(4), CACHE, APPROX, "page walks completed", CORE},
    {"dtlb-store-misses", 0x010103, 0x0e13, GENERAL(4), CACHE, APPROX, "page walks completed", CORE},
    {"instructions", 1, 0x00c0, FIXED(0) | GENERAL(8), HW, EXACT, "", CORE},
    {"itlb-load-misses", 0x010004, 0x0e11, GENERAL(4), CACHE, APPROX, "page walks completed", CORE},
    {"itlb-loads", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps no such event on this core", ""},
    {"itlb-miss", 0x010004, 0x0e11, GENERAL(4), CACHE, APPROX, "page walks completed", CORE},
    {"l1-dcache-load-misses", 0x010000, 0xe124, GENERAL(4), CACHE, APPROX,
     "data reads that reached L2, hits there included", CORE},
    {"l1-icache-load-misses", 0x010001, 0xe424, GENERAL(4), CACHE, APPROX,
     "code reads that reached L2, hits there included", CORE},
    {"l1i-miss", 0x010001, 0xe424, GENERAL(4), CACHE, APPROX, "code reads that reached L2, hits there included", CORE},
    {"llc-load", 0x000002, 0x012a, GENERAL(4), CACHE, APPROX,
     "offcore response 0x012a with its second register; few fit at a time", CORE},
    {"llc-load-miss", 0x010002, 0x012a, GENERAL(4), CACHE, APPROX,
     "offcore response 0x012a with its second register; few fit at a time", CORE},
    {"llc-load-misses", 0x010002, 0x012a, GENERAL(4), CACHE, APPROX,
     "offcore response 0x012a with its second register; few fit at a time", CORE},
    {"llc-loads", 0x000002, 0x012a, GENERAL(4), CACHE, APPROX,
     "offcore response 0x012a with its second register; few fit at a time", CORE},
    {"llc-store", 0x000102, 0x012a, GENERAL(4), CACHE, APPROX,
     "offcore response 0x012a with its second register; few fit at a time", CORE},
    {"llc-store-miss", 0x010102, 0x012a, GENERAL(4), CACHE, APPROX,
     "offcore response 0x012a with its second register; few fit at a time", CORE},
    {"llc-store-misses", 0x010102, 0x012a, GENERAL(4), CACHE, APPROX,
     "offcore response 0x012a with its second register; few fit at a time", CORE},
    {"llc-stores", 0x000102, 0x012a, GENERAL(4), CACHE, APPROX,
     "offcore response 0x012a with its second register; few fit at a time", CORE},
    {"node-load-misses", 0x010006, 0x012a, GENERAL(4), CACHE, APPROX,
     "offcore response 0x012a with its second register; few fit at a time", CORE},
    {"node-loads", 0x000006, 0x012a, GENERAL(4), CACHE, APPROX,
     "offcore response 0x012a with its second register; few fit at a time", CORE},
    {"node-store-misses", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps no such event on this core", ""},
    {"node-stores", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the kernel maps no such event on this core", ""},
    {"ref-cycles", 9, 0x0300, FIXED(2) | GENERAL(8), HW, EXACT, "", CORE},
    {"remote-access", 0x010006, 0x012a, GENERAL(4), CACHE, APPROX,
     "node load misses through offcore response 0x012a with its second register; few fit at a time", CORE},
    {"stall-backend", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "the Sapphire Rapids server list has no event for it", ""},
};

/** The architectural events, which every Intel CPU with a PMU has, and the generic ids its kernel may map. */
static const struct arch_event intel_core_rows[] = {
    {"branch-load-misses", 0x010005, NO_CODE, ARCH_ANY, CACHE, APPROX,
     "model not known: the kernel picks the code", CORE},
    {"branch-loads", 0x000005, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"branch-misses", 5, 0x00c5, ARCH_ANY, HW, EXACT, "", CORE},
    {"branches", 4, 0x00c4, ARCH_ANY, HW, EXACT, "", CORE},
    {"bus-cycles", 6, 0x013c, ARCH_ANY, HW, APPROX,
     "follows the TSC or the crystal clock on recent parts, not a bus", CORE},
    {"cache-misses", 3, 0x412e, ARCH_ANY, HW, APPROX, "last-level cache here: the architectural event", CORE},
    {"cache-references", 2, 0x4f2e, ARCH_ANY, HW, APPROX, "last-level cache here: the architectural event", CORE},
    {"cycles", 0, 0x003c, FIXED(1) | GENERAL(4), HW, EXACT, "", CORE},
    {"dtlb-load-miss", 0x010003, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"dtlb-load-misses", 0x010003, NO_CODE, ARCH_ANY, CACHE, APPROX,
     "model not known: the kernel picks the code", CORE},
    {"dtlb-loads", 0x000003, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"dtlb-miss", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "no event for both: add dtlb-load-miss and dtlb-store-miss", ""},
    {"dtlb-store-miss", 0x010103, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"dtlb-store-misses", 0x010103, NO_CODE, ARCH_ANY, CACHE, APPROX,
     "model not known: the kernel picks the code", CORE},
    {"dtlb-stores", 0x000103, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"instructions", 1, 0x00c0, FIXED(0) | GENERAL(4), HW, EXACT, "", CORE},
    {"itlb-load-misses", 0x010004, NO_CODE, ARCH_ANY, CACHE, APPROX,
     "model not known: the kernel picks the code", CORE},
    {"itlb-loads", 0x000004, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"itlb-miss", 0x010004, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"l1-dcache-load-misses", 0x010000, NO_CODE, ARCH_ANY, CACHE, APPROX,
     "model not known: the kernel picks the code", CORE},
    {"l1-dcache-loads", 0x000000, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"l1-dcache-stores", 0x000100, NO_CODE, ARCH_ANY, CACHE, APPROX,
     "model not known: the kernel picks the code", CORE},
    {"l1-icache-load-misses", 0x010001, NO_CODE, ARCH_ANY, CACHE, APPROX,
     "model not known: the kernel picks the code", CORE},
    {"l1d-access", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "no event for both: add l1d-load and l1d-store", ""},
    {"l1i-miss", 0x010001, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"llc-access", 2, 0x4f2e, ARCH_ANY, HW, EXACT, "", CORE},
    {"llc-load", 0x000002, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"llc-load-miss", 0x010002, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"llc-load-misses", 0x010002, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"llc-loads", 0x000002, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"llc-miss", 3, 0x412e, ARCH_ANY, HW, EXACT, "", CORE},
    {"llc-store", 0x000102, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"llc-store-miss", 0x010102, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"llc-store-misses", 0x010102, NO_CODE, ARCH_ANY, CACHE, APPROX,
     "model not known: the kernel picks the code", CORE},
    {"llc-stores", 0x000102, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"node-load-misses", 0x010006, NO_CODE, ARCH_ANY, CACHE, APPROX,
     "model not known: the kernel picks the code", CORE},
    {"node-loads", 0x000006, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"node-store-misses", 0x010106, NO_CODE, ARCH_ANY, CACHE, APPROX,
     "model not known: the kernel picks the code", CORE},
    {"node-stores", 0x000106, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"ref-cycles", 9, 0x0300, FIXED(2), HW, EXACT, "", CORE},
    {"remote-access", 0x010006, NO_CODE, ARCH_ANY, CACHE, APPROX, "model not known: the kernel picks the code", CORE},
    {"stalled-cycles-backend", 8, NO_CODE, ARCH_ANY, HW, APPROX,
     "mapped up to Sandy or Ivy Bridge only; the kernel refuses it elsewhere", CORE},
    {"stalled-cycles-frontend", 7, NO_CODE, ARCH_ANY, HW, APPROX,
     "mapped up to Sandy or Ivy Bridge only; the kernel refuses it elsewhere", CORE},
};
/* clang-format on */

static bool is_model(const struct arch_cpu *cpu, const uint8_t *models, size_t n)
{
    if (strcmp(cpu->vendor, "GenuineIntel") != 0 || cpu->family != 6)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (cpu->model == models[i])
            return true;
    }
    return false;
}

static int is_haswell(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x3c, 0x3f, 0x45, 0x46};
    return is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

static int is_broadwell(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x3d, 0x47, 0x4f, 0x56};
    return is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Skylake, Cascade Lake, Cooper Lake, Kaby Lake, Comet Lake. */
static int is_skylake(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6};
    return is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Ice Lake, Tiger Lake, Rocket Lake. */
static int is_icelake(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x6a, 0x6c, 0x7d, 0x7e, 0x8c, 0x8d, 0x9d, 0xa7};
    return is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Sapphire Rapids, Emerald Rapids. The hybrid parts with this core have two PMUs and stay with intel-core. */
static int is_sapphirerapids(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x8f, 0xcf};
    return is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Any Intel CPU with the architectural events: all from Core 2 on, of which model numbers below 15 are older. */
static int is_intel_core(const struct arch_cpu *cpu)
{
    if (strcmp(cpu->vendor, "GenuineIntel") != 0)
        return ARCH_MATCH_NO;
    bool architectural = (cpu->family == 6 && cpu->model >= 15) || strstr(cpu->flags, " arch_perfmon ") != NULL;
    return architectural ? ARCH_MATCH_VENDOR : ARCH_MATCH_NO;
}

/** Fixed counters of the architectural events, the kernel's two codes of its own, and the registers behind the offcore
 *  response events: two of them, whichever of the codes (0x01b7 and 0x01bb, later 0x012a and 0x012b) is asked for. */
static const struct arch_code_rule code_rules[] = {
    {.mask = 0xffffffff, .match = 0x00c0, .counters = FIXED(0) | GENERAL(8)},
    {.mask = 0xffffffff, .match = 0x003c, .counters = FIXED(1) | GENERAL(8)},
    {.mask = 0xffffffff, .match = 0x0300, .counters = FIXED(2)},
    {.mask = 0xffffffff, .match = 0x0400, .counters = FIXED(3)},
    {.mask = 0xffff, .match = 0x01b7, .pool = 1, .pool_size = 2},
    {.mask = 0xffff, .match = 0x01bb, .pool = 1, .pool_size = 2},
    {.mask = 0xffff, .match = 0x012a, .pool = 1, .pool_size = 2},
    {.mask = 0xffff, .match = 0x012b, .pool = 1, .pool_size = 2},
};

#define INTEL_COUNTERS(n_general, n_fixed)                                                              \
    {                                                                                                   \
        .general = (n_general), .fixed = (n_fixed), .width = 48, .watchdog = true, .rules = code_rules, \
        .n_rules = ROWS(code_rules), .raw = {.mask = 0x3ffa4ffff},                                      \
    }

#define SERVER_NAMES "native names are those of the server part of this core"

#define INTEL_CHOICE                                                                                         \
    "generic ids where the kernel ties them to a fixed counter or to a second register (offcore response), " \
    "and where its code is the one of the name; else the raw codes of the maker's list for this model"

const struct arch_family arch_intel_haswell = {
    .name = "intel-haswell",
    .title = "Intel Haswell",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = intel_base,
    .n_events = ROWS(intel_base),
    .overrides = intel_haswell_rows,
    .n_overrides = ROWS(intel_haswell_rows),
    .native = arch_intel_native,
    .n_native = ROWS(arch_intel_native),
    .native_shared = arch_intel_native_shared,
    .n_native_shared = ROWS(arch_intel_native_shared),
    .native_core = NATIVE_HASWELL,
    .presets = arch_intel_presets,
    .n_presets = ROWS(arch_intel_presets),
    .counters = INTEL_COUNTERS(4, 3),
    .matches = is_haswell,
    .remark = SERVER_NAMES,
    .choice = INTEL_CHOICE,
};

const struct arch_family arch_intel_broadwell = {
    .name = "intel-broadwell",
    .title = "Intel Broadwell",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = intel_base,
    .n_events = ROWS(intel_base),
    .overrides = intel_haswell_rows,
    .n_overrides = ROWS(intel_haswell_rows),
    .native = arch_intel_native,
    .n_native = ROWS(arch_intel_native),
    .native_shared = arch_intel_native_shared,
    .n_native_shared = ROWS(arch_intel_native_shared),
    .native_core = NATIVE_BROADWELL,
    .presets = arch_intel_presets,
    .n_presets = ROWS(arch_intel_presets),
    .counters = INTEL_COUNTERS(4, 3),
    .matches = is_broadwell,
    .remark = SERVER_NAMES,
    .choice = INTEL_CHOICE,
};

const struct arch_family arch_intel_skylake = {
    .name = "intel-skylake",
    .title = "Intel Skylake, Cascade Lake",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = intel_base,
    .n_events = ROWS(intel_base),
    .overrides = intel_skylake_rows,
    .n_overrides = ROWS(intel_skylake_rows),
    .native = arch_intel_native,
    .n_native = ROWS(arch_intel_native),
    .native_shared = arch_intel_native_shared,
    .n_native_shared = ROWS(arch_intel_native_shared),
    .native_core = NATIVE_SKYLAKE,
    .presets = arch_intel_presets,
    .n_presets = ROWS(arch_intel_presets),
    .counters = INTEL_COUNTERS(4, 3),
    .matches = is_skylake,
    .remark = SERVER_NAMES,
    .choice = INTEL_CHOICE,
};

const struct arch_family arch_intel_icelake = {
    .name = "intel-icelake",
    .title = "Intel Ice Lake",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = intel_base,
    .n_events = ROWS(intel_base),
    .overrides = intel_icelake_rows,
    .n_overrides = ROWS(intel_icelake_rows),
    .native = arch_intel_native_icelake,
    .n_native = ROWS(arch_intel_native_icelake),
    .native_shared = arch_intel_native_shared,
    .n_native_shared = ROWS(arch_intel_native_shared),
    .native_core = NATIVE_ICELAKE,
    .presets = arch_intel_presets,
    .n_presets = ROWS(arch_intel_presets),
    .counters = INTEL_COUNTERS(8, 4),
    .matches = is_icelake,
    .remark = SERVER_NAMES,
    .choice = INTEL_CHOICE,
};

const struct arch_family arch_intel_sapphirerapids = {
    .name = "intel-sapphirerapids",
    .title = "Intel Sapphire Rapids",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = intel_base,
    .n_events = ROWS(intel_base),
    .overrides = intel_sapphirerapids_rows,
    .n_overrides = ROWS(intel_sapphirerapids_rows),
    .native = arch_intel_native_icelake,
    .n_native = ROWS(arch_intel_native_icelake),
    .native_shared = arch_intel_native_shared,
    .n_native_shared = ROWS(arch_intel_native_shared),
    .native_core = NATIVE_SAPPHIRERAPIDS,
    .presets = arch_intel_presets,
    .n_presets = ROWS(arch_intel_presets),
    .counters = INTEL_COUNTERS(8, 4),
    .matches = is_sapphirerapids,
    .remark = SERVER_NAMES,
    .choice = INTEL_CHOICE,
};

const struct arch_family arch_intel_core = {
    .name = "intel-core",
    .title = "Intel, model not known",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = intel_core_rows,
    .n_events = ROWS(intel_core_rows),
    .native = arch_intel_native_shared,
    .n_native = ROWS(arch_intel_native_shared),
    .native_core = NATIVE_ARCHITECTURAL,
    .counters = {.fixed = 3, .watchdog = true, .rules = code_rules, .n_rules = ROWS(code_rules)},
    .matches = is_intel_core,
    .remark = "only architectural events have a known meaning; hybrid CPUs have one PMU per kind of core (cpu_core, "
              "cpu_atom)",
    .choice = INTEL_CHOICE,
};
