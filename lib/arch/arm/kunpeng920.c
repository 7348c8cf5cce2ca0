/* SPDX-License-Identifier: MIT */
/** @file HiSilicon Kunpeng 920 (TSV110): its own and its confirmed events; the others are the architecture's. */
#include "arch/arm/pmuv3.h"
#include "arch/row.h"
#include "arch/tables.h"

static int is_tsv110(const struct arch_cpu *cpu)
{
    return cpu->implementer == 0x48 && cpu->part == 0xd01 ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

const struct arch_family arch_kunpeng920 = {
    .name = "kunpeng920",
    .title = "HiSilicon Kunpeng 920 (TSV110)",
    .table = &arch_table_kunpeng920,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .matches = is_tsv110,
    .remark = "",
    .choice = PMUV3_CHOICE,
};
