/* SPDX-License-Identifier: MIT */
/** @file Any CPU: perf generic events only. */
#include "arch/row.h"
#include "arch/tables.h"

static int generic_matches_any(const struct arch_cpu *cpu)
{
    (void)cpu;
    return ARCH_MATCH_ANY;
}

const struct arch_family arch_generic = {
    .name = "generic",
    .title = "CPU without a table of its own",
    .table = &arch_table_generic,
    .vendor = "generic",
    .core_pmu = "cpu",
    .matches = generic_matches_any,
    .remark = "only the kernel's generic events; their meaning is the kernel's choice",
    .choice = "perf generic events: the raw encodings of this CPU are not known",
};
