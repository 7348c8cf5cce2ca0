/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Hygon Dhyana: a Zen 1 core under another vendor's name. Room: arch/x86; before it families.c, after it the kernel.
 *
 * Since 6.9 (and 6.8.y, 6.6.y of April 2024) the kernel takes the vendor's CPUs for older ones than Zen when it
 * turns generic ids into codes, and counts something else for cache references, cache misses and stalls. Raw codes
 * go past that.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"
#include "arch/x86/zen_counters.h"
#include "arch/x86/native.h"
#include "arch/x86/presets.h"

#define LIST "linux:tools/perf/pmu-events/arch/x86/amdzen1@v6.12.117"
#define KERNEL "linux:arch/x86/events/amd/core.c@v6.12.117, the table for family 17h"

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
/** In place of rows of Zen 1. */
static const struct arch_event rows[] = {
    {"branch-misses", 0x00c3, 0x00c3, ARCH_ANY, RAW, EXACT, "", LIST},
    {"branches", 0x00c2, 0x00c2, ARCH_ANY, RAW, EXACT, "", LIST},
    {"cache-misses", 0x0964, 0x0964, ARCH_ANY, RAW, APPROX,
     "second-level cache here: demand misses of the L1 caches that missed L2", KERNEL},
    {"cache-references", 0xff60, 0xff60, ARCH_ANY, RAW, APPROX, "second-level cache here: all requests to L2", KERNEL},
    {"l1d-access", 0x0040, 0x0040, ARCH_ANY, RAW, EXACT, "", LIST},
    {"l2-access", 0xff60, 0xff60, ARCH_ANY, RAW, EXACT, "", KERNEL},
    {"l2-miss", 0x0964, 0x0964, ARCH_ANY, RAW, APPROX, "demand misses of the L1 caches only, no prefetches", KERNEL},
    {"stalled-cycles-backend", 0x0187, 0x0187, ARCH_ANY, RAW, APPROX,
     "instruction cache stalled by back pressure", KERNEL},
    {"stalled-cycles-frontend", 0x0287, 0x0287, ARCH_ANY, RAW, APPROX,
     "instruction cache stalled because the dispatch queue was empty", KERNEL},
};
/* clang-format on */

static int is_hygon(const struct arch_cpu *cpu)
{
    return strcmp(cpu->vendor, "HygonGenuine") == 0 ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

const struct arch_family arch_hygon = {
    .name = "hygon",
    .title = "Hygon Dhyana",
    .vendor = "x86",
    .core_pmu = "cpu",
    .events = rows,
    .n_events = ROWS(rows),
    .base = &arch_zen1,
    .native = arch_amd_native,
    .n_native = ROWS(arch_amd_native),
    .native_shared = arch_amd_native_shared,
    .n_native_shared = ROWS(arch_amd_native_shared),
    .native_core = NATIVE_ZEN1,
    .presets = arch_amd_presets,
    .n_presets = ROWS(arch_amd_presets),
    .counters = ZEN_COUNTERS,
    .matches = is_hygon,
    .remark = "guests without the flag perfctr_core have 4 counters; names and codes are those of Zen 1, from which "
              "the core derives",
    .choice = "raw codes: kernels from 6.9 on (6.8.y, 6.6.y: April 2024) turn generic ids of this vendor into the "
              "codes of an older core; cycles and instructions are the same in both, and stay generic",
};
