/* SPDX-License-Identifier: MIT */
/**
 * @file Any other Sunway core: perf generic events only.
 *
 * Nothing is published about the counters of these cores; the restrictions are those of the public Sunway kernels.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

static int is_sunway(const struct arch_cpu *cpu)
{
    return strcmp(cpu->machine, "sw_64") == 0 ? ARCH_MATCH_VENDOR : ARCH_MATCH_NO;
}

const struct arch_family arch_sunway = {
    .name = "sunway",
    .title = "Sunway, unknown core (SW26010)",
    .table = &arch_table_sunway,
    .vendor = "sunway",
    .core_pmu = "cpu",
    .counters = {.no_group_check = true, .no_exclude_hv = true, .shared_filter = true, .no_software_siblings = true},
    .matches = is_sunway,
    .remark = "nothing is known about the counters of this core; the cautions are those of the Sunway cores that are "
              "known",
    .choice = "perf generic events: the raw encodings of this core are not known",
};
