/* SPDX-License-Identifier: MIT */
/**
 * @file Loongson-2K1000 with a MIPS kernel: a family without events.
 *
 * Mainline kernels register a PMU for this chip without tables, so that a perf generic event makes them dereference
 * an invalid pointer. Events of this family must never reach the kernel.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

static int is_2k_mips(const struct arch_cpu *cpu)
{
    return strstr(cpu->cpu_model, "Loongson-2K ") ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

const struct arch_family arch_loongson2k = {
    .name = "loongson2k",
    .title = "Loongson-2K1000 (MIPS)",
    .table = &arch_table_loongson2k,
    .vendor = "loongson",
    .core_pmu = "cpu",
    .counters = {.no_software_siblings = true},
    .matches = is_2k_mips,
    .remark = "mainline kernels have a PMU for this chip without tables: generic events can crash them, raw ones never "
              "count",
    .choice = "neither: no name of this family may reach the kernel",
};
