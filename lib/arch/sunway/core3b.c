/* SPDX-License-Identifier: MIT */
/**
 * @file Sunway core3B (SW3231, SW831): two counters, each event tied to one of them.
 *
 * A raw encoding is counter << 8 | selector. Cycles and instructions share counter 0: they never count together,
 * and the kernel lets such a group open. It accepts 78 selectors; those without a published meaning are available
 * as r<hex> only.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

/** The byte above the selector is the counter. */
static const struct arch_code_rule ties[] = {
    {.mask = ~0xffull, .match = 0x000, .counters = COUNTER(0)},
    {.mask = ~0xffull, .match = 0x100, .counters = COUNTER(1)},
};

/** Cycles, branch misses. */
static const uint64_t fillers[] = {0x0008, 0x010b};

/** The kernel prints the core's generation as "cpu variation". */
static int is_core3b(const struct arch_cpu *cpu)
{
    return strcmp(cpu->machine, "sw_64") == 0 && cpu->family == 3 ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

const struct arch_family arch_core3b = {
    .name = "core3b",
    .title = "Sunway core3B (SW3231, SW831)",
    .table = &arch_table_core3b,
    .vendor = "sunway",
    .core_pmu = "cpu",
    .counters = {.general = 2,
                 .width = 58,
                 .no_group_check = true,
                 .no_exclude_hv = true,
                 .shared_filter = true,
                 .rules = ties,
                 .n_rules = ROWS(ties),
                 .fillers = fillers},
    .matches = is_core3b,
    .remark = "vendor kernels only; no PMU in guests; cycles and instructions share a counter and never count together",
    .choice = "perf generic events where the kernel has one of the same meaning, else raw encodings",
};
