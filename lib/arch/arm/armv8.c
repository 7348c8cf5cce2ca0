/* SPDX-License-Identifier: MIT */
/**
 * @file Armv8 PMUv3: any core with the architecture's events, and the fallback of this folder's families.
 *
 * Each core lists the common events it has. The kernel refuses a perf generic event that the core lacks, but not
 * its raw encoding, which would read 0: so the generic event is used where there is one.
 */
#include <string.h>

#include "arch/arm/pmuv3.h"
#include "arch/row.h"
#include "arch/tables.h"

static int is_arm64(const struct arch_cpu *cpu)
{
    return strcmp(cpu->machine, "arm64") == 0 ? ARCH_MATCH_VENDOR : ARCH_MATCH_NO;
}

const struct arch_family arch_armv8 = {
    .name = "armv8",
    .title = "Arm, unknown core (Armv8 PMUv3)",
    .table = &arch_table_armv8,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .matches = is_arm64,
    .remark =
        "only the events of the architecture have a known meaning, and the core decides which of them it has; the "
        "number of counters is not known beforehand (often 6 and the cycle counter)",
    .choice = PMUV3_CHOICE,
};
