/* SPDX-License-Identifier: MIT */
/**
 * @file
 * AMD Zen 1 to Zen 5. Room: arch/x86; before it families.c, after it the kernel takes the codes.
 *
 * Where a generic id of the kernel means another code on older kernels (stalls), our own names take the raw code.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"
#include "arch/x86/native.h"
#include "arch/x86/presets.h"
#include "arch/x86/zen_counters.h"

#define CORE "linux:arch/x86/events/amd/core.c@v6.12.117"
#define JSON "linux:tools/perf/pmu-events/arch/x86/amdzen1 to amdzen5@v6.12.117"
#define PFM "libpfm4:lib/events/amd64_events_fam19h_zen4.h@4.13.0"

/* Floating-point operations are merged from two counters: an even one and the odd one after it. */
#define EVEN (COUNTER(0) | COUNTER(2) | COUNTER(4))

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
/** What all Zens have in common, with the codes of Zen 3 where they differ. */
static const struct arch_event zen_base[] = {
    {"branch-load-misses", 0x010005, 0x00c3, ARCH_ANY, CACHE, APPROX, "mispredicted branches retired", CORE},
    {"branch-loads", 0x000005, 0x00c2, ARCH_ANY, CACHE, APPROX, "branch instructions retired", CORE},
    {"branch-misses", 5, 0x00c3, ARCH_ANY, HW, EXACT, "", CORE},
    {"branches", 4, 0x00c2, ARCH_ANY, HW, EXACT, "", CORE},
    {"branches-conditional", 0x00d1, 0x00d1, ARCH_ANY, RAW, EXACT, "", JSON},
    {"branches-return", 0x00c8, 0x00c8, ARCH_ANY, RAW, EXACT, "", JSON},
    {"cache-misses", 3, 0x0964, ARCH_ANY, HW, APPROX,
     "second-level cache here: demand misses of the L1 caches that missed L2", CORE},
    {"cache-references", 2, 0xff60, ARCH_ANY, HW, APPROX, "second-level cache here: all requests to L2", CORE},
    {"cycles", 0, 0x0076, ARCH_ANY, HW, EXACT, "", CORE},
    {"dtlb-access", 0, NO_CODE, ARCH_ANY, NONE, ABSENT,
     "the nearest code (0xff45) counts first-level misses, not lookups", ""},
    {"dtlb-load-misses", 0x010003, 0xf045, ARCH_ANY, CACHE, APPROX,
     "misses of both data TLB levels, stores included", CORE},
    {"dtlb-loads", 0x000003, 0xff45, ARCH_ANY, CACHE, APPROX,
     "misses of the first-level data TLB, stores included", CORE},
    {"dtlb-miss", 0xff45, 0xff45, ARCH_ANY, RAW, APPROX,
     "first level, those the second level served included; dtlb-walk has the others", JSON},
    {"dtlb-walk", 0xf045, 0xf045, ARCH_ANY, RAW, EXACT, "", JSON},
    {"fp-instructions", 0x04cb, 0x04cb, ARCH_ANY, RAW, APPROX, "SSE and AVX ones; x87 and MMX are left out", JSON},
    {"fp-ops", 0xff03, 0xff03, EVEN, RAW, APPROX,
     "SSE and AVX ones; takes two neighbouring counters (merge event)", JSON},
    {"instructions", 1, 0x00c0, ARCH_ANY, HW, EXACT, "", CORE},
    {"interrupts", 0x002c, 0x002c, ARCH_ANY, RAW, APPROX, "interrupts taken, of whatever kind", JSON},
    {"itlb-access", 0, NO_CODE, ARCH_ANY, NONE, ABSENT,
     "the nearest code (0x84) counts first-level misses that hit the second level, not lookups", ""},
    {"itlb-load-misses", 0x010004, 0xff85, ARCH_ANY, CACHE, APPROX, "misses of both instruction TLB levels", CORE},
    {"itlb-loads", 0x000004, 0x0084, ARCH_ANY, CACHE, APPROX,
     "misses of the first-level instruction TLB that hit the second", CORE},
    {"itlb-miss", 0xff85, 0xff85, ARCH_ANY, RAW, APPROX, "both levels missed", CORE},
    {"itlb-walk", 0xff85, 0xff85, ARCH_ANY, RAW, APPROX,
     "fetches that missed both levels, so that a walk is asked for", CORE},
    {"l1-dcache-load-misses", 0x010000, 0xc860, ARCH_ANY, CACHE, APPROX, "requests to L2 from the data side", CORE},
    {"l1-dcache-loads", 0x000000, 0x0040, ARCH_ANY, CACHE, APPROX, "all accesses, stores included", CORE},
    {"l1-dcache-prefetches", 0x000200, 0xff5a, ARCH_ANY, CACHE, APPROX, "fills by the hardware prefetcher", CORE},
    {"l1-icache-load-misses", 0x010001, 0x0081, ARCH_ANY, CACHE, APPROX,
     "32-byte fetches that missed; AMD calls this code unreliable from family 17h on", CORE},
    {"l1-icache-loads", 0x000001, 0x0080, ARCH_ANY, CACHE, APPROX,
     "32-byte fetches; AMD calls this code unreliable from family 17h on", CORE},
    {"l1d-access", 0x0729, 0x0729, ARCH_ANY, RAW, APPROX, "dispatched accesses, speculative ones included", JSON},
    {"l1d-load", 0x0129, 0x0129, ARCH_ANY, RAW, APPROX, "dispatched loads, speculative ones included", JSON},
    {"l1d-miss", 0xe860, 0xe860, ARCH_ANY, RAW, APPROX, "requests to L2 from the data side", JSON},
    {"l1d-prefetch", 0xff5a, 0xff5a, ARCH_ANY, RAW, APPROX, "fills by the hardware prefetcher", CORE},
    {"l1d-store", 0x0229, 0x0229, ARCH_ANY, RAW, APPROX, "dispatched stores, speculative ones included", JSON},
    {"l1i-access", 0x100001f8e, 0x100001f8e, ARCH_ANY, RAW, APPROX, "tag look-ups", JSON},
    {"l1i-miss", 0x10000188e, 0x10000188e, ARCH_ANY, RAW, APPROX, "tag look-ups that missed", JSON},
    {"l2-access", 2, 0xff60, ARCH_ANY, HW, EXACT, "", CORE},
    {"l2-miss", 3, 0x0964, ARCH_ANY, HW, APPROX, "demand misses of the L1 caches only, no prefetches", CORE},
    {"llc-access", 0, NO_CODE, ARCH_ANY, NONE, ABSENT,
     "the last level is counted by the PMU amd_l3, for whole CPUs only", ""},
    {"llc-miss", 0, NO_CODE, ARCH_ANY, NONE, ABSENT,
     "the last level is counted by the PMU amd_l3, for whole CPUs only", ""},
    {"loads", 0x0129, 0x0129, ARCH_ANY, RAW, APPROX, "dispatched, speculative ones included", JSON},
    {"loads-stores", 0x0729, 0x0729, ARCH_ANY, RAW, APPROX, "dispatched, speculative ones included", JSON},
    {"ref-cycles", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "no such counter before Zen 4", ""},
    {"stall-backend", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "no event for it after Zen 1", ""},
    {"stall-frontend", 0x00a9, 0x00a9, ARCH_ANY, RAW, APPROX, "cycles with an empty micro-operation queue", JSON},
    {"stalled-cycles-backend", 0, NO_CODE, ARCH_ANY, NONE, ABSENT,
     "not mapped by kernels from 6.9 on; older ones take a code this core lacks", ""},
    {"stalled-cycles-frontend", 7, 0x00a9, ARCH_ANY, HW, APPROX,
     "empty micro-operation queue; kernels before 6.9 (6.8.y, 6.6.y: April 2024) take a code this core lacks", CORE},
    {"stores", 0x0229, 0x0229, ARCH_ANY, RAW, APPROX, "dispatched, speculative ones included", JSON},
    {"unaligned-access", 0x0347, 0x0347, ARCH_ANY, RAW, APPROX,
     "loads that cross a 64-byte or a 4096-byte boundary", JSON},
    {"uops-retired", 0x00c1, 0x00c1, ARCH_ANY, RAW, EXACT, "", JSON},
};

static const struct arch_event zen1_rows[] = {
    {"interrupts", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "Zen 1 lists no event for it", ""},
    {"l1d-miss", 0xc860, 0xc860, ARCH_ANY, RAW, APPROX, "requests to L2 from the data side", JSON},
    {"l1i-access", 0x0080, 0x0080, ARCH_ANY, RAW, APPROX,
     "32-byte fetches; AMD calls this code unreliable from family 17h on", JSON},
    {"l1i-miss", 0x0081, 0x0081, ARCH_ANY, RAW, APPROX,
     "32-byte fetches that missed; AMD calls this code unreliable from family 17h on", JSON},
    {"stall-backend", 0x0187, 0x0187, ARCH_ANY, RAW, APPROX, "instruction cache stalled by back pressure", JSON},
    {"stall-frontend", 0x0287, 0x0287, ARCH_ANY, RAW, APPROX,
     "instruction cache stalled because the dispatch queue was empty", JSON},
    {"stalled-cycles-backend", 8, 0x0187, ARCH_ANY, HW, APPROX, "instruction cache stalled by back pressure", CORE},
    {"stalled-cycles-frontend", 7, 0x0287, ARCH_ANY, HW, APPROX,
     "instruction cache stalled because the dispatch queue was empty", CORE},
    {"unaligned-access", 0x0047, 0x0047, ARCH_ANY, RAW, APPROX, "loads only", JSON},
};

static const struct arch_event zen2_rows[] = {
    {"l1d-miss", 0xc860, 0xc860, ARCH_ANY, RAW, APPROX, "requests to L2 from the data side", JSON},
    {"l1i-access", 0x0080, 0x0080, ARCH_ANY, RAW, APPROX,
     "32-byte fetches; AMD calls this code unreliable from family 17h on", JSON},
    {"l1i-miss", 0x0081, 0x0081, ARCH_ANY, RAW, APPROX,
     "32-byte fetches that missed; AMD calls this code unreliable from family 17h on", JSON},
    {"unaligned-access", 0x0047, 0x0047, ARCH_ANY, RAW, APPROX, "loads only", JSON},
};

static const struct arch_event zen4_rows[] = {
    {"fp-instructions", 0x04cb, 0x04cb, ARCH_ANY, RAW, APPROX, "SSE and AVX ones; x87 and MMX are left out", PFM},
    {"fp-ops", 0x1f03, 0x1f03, EVEN, RAW, APPROX,
     "SSE and AVX ones; takes two neighbouring counters (merge event)", JSON},
    {"itlb-miss", 0x0f85, 0x0f85, ARCH_ANY, RAW, APPROX, "both levels missed", JSON},
    {"itlb-walk", 0x0f85, 0x0f85, ARCH_ANY, RAW, APPROX,
     "fetches that missed both levels, so that a walk is asked for", JSON},
    {"l1d-prefetch", 0xdf5a, 0xdf5a, ARCH_ANY, RAW, APPROX, "fills by the hardware prefetcher", JSON},
    {"ref-cycles", 0x100000120, 0x100000120, ARCH_ANY, RAW, APPROX,
     "counts at the frequency of P-state 0; the kernel maps its generic id to the same code", JSON},
};

static const struct arch_event zen5_rows[] = {
    {"fp-ops", 0x0f03, 0x0f03, EVEN, RAW, APPROX,
     "SSE and AVX ones; takes two neighbouring counters (merge event)", JSON},
    {"itlb-miss", 0x0f85, 0x0f85, ARCH_ANY, RAW, APPROX, "both levels missed", JSON},
    {"itlb-walk", 0x0f85, 0x0f85, ARCH_ANY, RAW, APPROX,
     "fetches that missed both levels, so that a walk is asked for", JSON},
    {"l1d-miss", 0xe060, 0xe060, ARCH_ANY, RAW, APPROX, "requests to L2 from the data side", JSON},
    {"l1d-prefetch", 0xdf5a, 0xdf5a, ARCH_ANY, RAW, APPROX, "fills by the hardware prefetcher", JSON},
    {"ref-cycles", 0x100000120, 0x100000120, ARCH_ANY, RAW, APPROX,
     "counts at the frequency of P-state 0; the kernel maps its generic id to the same code", JSON},
};
/* clang-format on */

enum { ZEN_1_AND_2 = 23, ZEN_3_AND_4 = 25, ZEN_5 = 26 };

/** Model numbers in the closed range from `first` to `last`. */
struct model_range {
    uint8_t first, last;
};

static bool in_ranges(const struct arch_cpu *cpu, int family, const struct model_range *ranges, size_t n)
{
    if (strcmp(cpu->vendor, "AuthenticAMD") != 0 || cpu->family != family)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (cpu->model >= ranges[i].first && cpu->model <= ranges[i].last)
            return true;
    }
    return false;
}

static const struct model_range zen1_models[] = {{0x00, 0x2f}, {0x50, 0x5f}};

static int is_zen1(const struct arch_cpu *cpu)
{
    return in_ranges(cpu, ZEN_1_AND_2, zen1_models, ROWS(zen1_models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** The family's other models. */
static int is_zen2(const struct arch_cpu *cpu)
{
    static const struct model_range all[] = {{0x00, 0xff}};
    return in_ranges(cpu, ZEN_1_AND_2, all, ROWS(all)) && !is_zen1(cpu) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

static int is_zen3(const struct arch_cpu *cpu)
{
    static const struct model_range models[] = {{0x00, 0x0f}, {0x20, 0x5f}};
    return in_ranges(cpu, ZEN_3_AND_4, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

static int is_zen4(const struct arch_cpu *cpu)
{
    static const struct model_range models[] = {{0x10, 0x1f}, {0x60, 0xaf}};
    return in_ranges(cpu, ZEN_3_AND_4, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

static int is_zen5(const struct arch_cpu *cpu)
{
    static const struct model_range models[] = {{0x00, 0x2f}, {0x40, 0x4f}, {0x60, 0x7f}, {0xd0, 0xd7}};
    return in_ranges(cpu, ZEN_5, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

const struct arch_code_rule arch_zen_rules[ZEN_RULES] = {
    {.mask = 0xf000000ff, .match = 0x03, .counters = COUNTER(0) | COUNTER(2) | COUNTER(4), .takes_pair = true},
};

#define GUESTS "guests without the flag perfctr_core have 4 counters"

#define AMD_CHOICE                                                                                       \
    "generic ids where they are the same code on every kernel; raw codes where kernels differ (stalls, " \
    "ref-cycles) or have no id of the meaning"

const struct arch_family arch_zen1 = {
    .name = "zen1",
    .title = "AMD Zen 1",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = zen_base,
    .n_events = ROWS(zen_base),
    .overrides = zen1_rows,
    .n_overrides = ROWS(zen1_rows),
    .native = arch_amd_native,
    .n_native = ROWS(arch_amd_native),
    .native_shared = arch_amd_native_shared,
    .n_native_shared = ROWS(arch_amd_native_shared),
    .native_core = NATIVE_ZEN1,
    .presets = arch_amd_presets,
    .n_presets = ROWS(arch_amd_presets),
    .counters = ZEN_COUNTERS,
    .matches = is_zen1,
    .remark = GUESTS,
    .choice = AMD_CHOICE,
};

const struct arch_family arch_zen2 = {
    .name = "zen2",
    .title = "AMD Zen 2",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = zen_base,
    .n_events = ROWS(zen_base),
    .overrides = zen2_rows,
    .n_overrides = ROWS(zen2_rows),
    .native = arch_amd_native,
    .n_native = ROWS(arch_amd_native),
    .native_shared = arch_amd_native_shared,
    .n_native_shared = ROWS(arch_amd_native_shared),
    .native_core = NATIVE_ZEN2,
    .presets = arch_amd_presets,
    .n_presets = ROWS(arch_amd_presets),
    .counters = ZEN_COUNTERS,
    .matches = is_zen2,
    .remark = GUESTS,
    .choice = AMD_CHOICE,
};

const struct arch_family arch_zen3 = {
    .name = "zen3",
    .title = "AMD Zen 3",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = zen_base,
    .n_events = ROWS(zen_base),
    .native = arch_amd_native,
    .n_native = ROWS(arch_amd_native),
    .native_shared = arch_amd_native_shared,
    .n_native_shared = ROWS(arch_amd_native_shared),
    .native_core = NATIVE_ZEN3,
    .presets = arch_amd_presets,
    .n_presets = ROWS(arch_amd_presets),
    .counters = ZEN_COUNTERS,
    .matches = is_zen3,
    .remark = GUESTS,
    .choice = AMD_CHOICE,
};

const struct arch_family arch_zen4 = {
    .name = "zen4",
    .title = "AMD Zen 4",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = zen_base,
    .n_events = ROWS(zen_base),
    .overrides = zen4_rows,
    .n_overrides = ROWS(zen4_rows),
    .native = arch_amd_native_zen4,
    .n_native = ROWS(arch_amd_native_zen4),
    .native_shared = arch_amd_native_shared,
    .n_native_shared = ROWS(arch_amd_native_shared),
    .native_core = NATIVE_ZEN4,
    .presets = arch_amd_presets,
    .n_presets = ROWS(arch_amd_presets),
    .counters = ZEN_COUNTERS,
    .matches = is_zen4,
    .remark = GUESTS,
    .choice = AMD_CHOICE,
};

const struct arch_family arch_zen5 = {
    .name = "zen5",
    .title = "AMD Zen 5",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = zen_base,
    .n_events = ROWS(zen_base),
    .overrides = zen5_rows,
    .n_overrides = ROWS(zen5_rows),
    .native = arch_amd_native_zen4,
    .n_native = ROWS(arch_amd_native_zen4),
    .native_shared = arch_amd_native_shared,
    .n_native_shared = ROWS(arch_amd_native_shared),
    .native_core = NATIVE_ZEN5,
    .presets = arch_amd_presets,
    .n_presets = ROWS(arch_amd_presets),
    .counters = ZEN_COUNTERS,
    .matches = is_zen5,
    .remark = GUESTS,
    .choice = AMD_CHOICE,
};
