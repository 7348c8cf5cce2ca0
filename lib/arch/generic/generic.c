/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Any CPU: the kernel's generic ids and nothing else. Room: arch/generic; before it families.c, after it the kernel
 * turns an id into a code of the CPU or refuses it.
 */
#include "arch/row.h"
#include "arch/tables.h"

static int is_anything(const struct arch_cpu *cpu)
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
    .matches = is_anything,
    .remark = "only the kernel's generic events; their meaning is the kernel's choice",
    .choice = "generic ids: no code of this CPU is known",
};
