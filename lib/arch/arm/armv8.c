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

#include "arch/arm/listed.h"
#include "arch/row.h"
#include "arch/tables.h"

static int is_arm64(const struct arch_cpu *cpu)
{
    return strcmp(cpu->machine, "arm64") == 0 ? ARCH_MATCH_VENDOR : ARCH_MATCH_NO;
}

const struct arch_family arch_armv8 = {
    .name = "armv8",
    .title = "Armv8 PMUv3",
    .table = &arch_table_armv8,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = {.fixed = 1, .width = 32, .counts_hypervisor = true, .guests_since = ARCH_KERNEL(5, 2, 0)},
    .listed_raw = LISTED_RAW,
    .matches = is_arm64,
    .remark = "the core decides which events it has; the number of counters is not known beforehand (often 6 and the "
              "cycle counter)",
    .choice = "generic ids where the kernel makes the right code of them, since it asks the core for those alone "
              "whether it has them; else raw codes, which read 0 where the core lacks them",
};
