/* SPDX-License-Identifier: MIT */
/**
 * @file Loongson GS464 (3A1000, 3B1000, 3B1500): two counters with a bank of events each.
 *
 * Bit 7 of a raw encoding selects the bank.
 */
#include "arch/loongson/banks.h"
#include "arch/loongson/revision.h"
#include "arch/row.h"
#include "arch/tables.h"

const struct arch_code_rule arch_loongson_banks[LOONGSON_BANKS] = {
    {.mask = 0x80, .match = 0x00, .counters = COUNTER(0)},
    {.mask = 0x80, .match = 0x80, .counters = COUNTER(1)},
};

/** 3A1000, 3B1000 and 3B1500, one revision each. */
static int is_gs464(const struct arch_cpu *cpu)
{
    return loongson_revision(cpu, "Loongson-3", 1u << 5 | 1u << 6 | 1u << 7);
}

const struct arch_family arch_gs464 = {
    .name = "gs464",
    .title = "Loongson GS464 (3A1000, 3B1000, 3B1500)",
    .table = &arch_table_gs464,
    .vendor = "loongson",
    .core_pmu = "cpu",
    .counters = {.general = 2,
                 .width = 64,
                 .no_software_siblings = true,
                 .rules = arch_loongson_banks,
                 .n_rules = LOONGSON_BANKS,
                 .raw = {.mask = 0xff}},
    .matches = is_gs464,
    .remark = "mainline kernels 6.1 and 6.12 find no PMU on this core, vendor kernels may; two events of one bank "
              "never count together",
    .choice = "raw encodings where an event is of loads and stores together, for which the kernel has no id; perf "
              "generic events "
              "for the rest, which the kernel encodes the same way",
};
