/* SPDX-License-Identifier: MIT */
/**
 * @file Loongson 2E and 2F: two counters with sixteen events each.
 *
 * Bit 7 of a raw encoding selects the counter. Mainline kernels have no driver and refuse every hardware event; an
 * old out-of-tree driver accepts them.
 */
#include "arch/loongson/banks.h"
#include "arch/loongson/revision.h"
#include "arch/row.h"
#include "arch/tables.h"

/** 2E and 2F. */
static int is_loongson2ef(const struct arch_cpu *cpu)
{
    return loongson_revision(cpu, "Loongson-2", 1u << 2 | 1u << 3);
}

const struct arch_family arch_loongson2ef = {
    .name = "loongson2ef",
    .title = "Loongson 2E, 2F",
    .table = &arch_table_loongson2ef,
    .vendor = "loongson",
    .core_pmu = "cpu",
    .counters = {.general = 2,
                 .width = 32,
                 .no_software_siblings = true,
                 .rules = arch_loongson_banks,
                 .n_rules = LOONGSON_BANKS,
                 .raw = {.mask = 0xff}},
    .matches = is_loongson2ef,
    .remark = "mainline kernels have no PMU driver for this chip, so that no hardware event counts; the raw "
              "encodings are those of an out-of-tree driver",
    .choice = "perf generic events where the out-of-tree driver defines one with the meaning, else raw encodings",
};
