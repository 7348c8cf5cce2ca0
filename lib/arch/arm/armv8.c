/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Armv8 PMUv3, any core with the architecture's events: the table that the families of this folder fall back on.
 * Room: arch/arm; before it families.c, after it the kernel takes the codes.
 *
 * A core says which common events it has. The kernel refuses a generic id of one that it lacks, but not a raw code,
 * which then reads 0: so an id is used where there is one for the same code.
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
    .title = "Arm, core not known (Armv8 PMUv3)",
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
