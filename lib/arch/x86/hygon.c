/* SPDX-License-Identifier: MIT */
/**
 * @file Hygon Dhyana: a Zen 1 core under another vendor's name.
 *
 * Since 6.9 (and 6.8.y, 6.6.y of April 2024) the kernel encodes the generic events of this vendor as for CPUs older
 * than Zen, and counts something else for cache references, cache misses and stalls. Raw encodings are not
 * affected.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"
#include "arch/x86/zen_counters.h"

static int is_hygon(const struct arch_cpu *cpu)
{
    return strcmp(cpu->vendor, "HygonGenuine") == 0 ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

const struct arch_family arch_hygon = {
    .name = "hygon",
    .title = "Hygon Dhyana",
    .table = &arch_table_hygon,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = ZEN_COUNTERS,
    .matches = is_hygon,
    .remark = "guests without the flag perfctr_core have 4 counters; names and codes are those of Zen 1, from which "
              "the core derives",
    .choice = "raw encodings: kernels from 6.9 on (6.8.y, 6.6.y: April 2024) turn perf generic events of this vendor "
              "into the "
              "codes of an older core; cycles and instructions are the same in both, and stay generic",
};
