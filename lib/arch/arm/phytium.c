/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Phytium's cores: part numbers, counters and remarks.
 *
 * One family per core type, since a machine may have two (E2000).
 */
#include "arch/arm/pmuv3.h"
#include "arch/row.h"
#include "arch/tables.h"

enum { PHYTIUM = 0x70 };

static int is_part(const struct arch_cpu *cpu, int part)
{
    return cpu->implementer == PHYTIUM && cpu->part == part ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

static int is_phytium(const struct arch_cpu *cpu)
{
    return cpu->implementer == PHYTIUM ? ARCH_MATCH_VENDOR + 1 : ARCH_MATCH_NO;
}

static int is_ftc310(const struct arch_cpu *cpu)
{
    return is_part(cpu, 0x303);
}

static int is_ftc660(const struct arch_cpu *cpu)
{
    return is_part(cpu, 0x660);
}

static int is_ftc661(const struct arch_cpu *cpu)
{
    return is_part(cpu, 0x661);
}

static int is_ftc662(const struct arch_cpu *cpu)
{
    return is_part(cpu, 0x662);
}

static int is_ftc663(const struct arch_cpu *cpu)
{
    return is_part(cpu, 0x663);
}

static int is_ftc664(const struct arch_cpu *cpu)
{
    return is_part(cpu, 0x664);
}

static int is_ftc862(const struct arch_cpu *cpu)
{
    return is_part(cpu, 0x862);
}

#define NOT_PUBLISHED "no list of this core's events has been published; native names are the architecture's"

#define BOTH_CORE_TYPES NOT_PUBLISHED "; the E2000 has two core types, FTC310 and FTC664, with a PMU each"

const struct arch_family arch_phytium = {
    .name = "phytium",
    .title = "Phytium, unknown core",
    .table = &arch_table_phytium,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .matches = is_phytium,
    .remark = NOT_PUBLISHED,
    .choice = PMUV3_CHOICE,
};

const struct arch_family arch_ftc310 = {
    .name = "ftc310",
    .title = "Phytium FTC310 (E2000, the small cores)",
    .table = &arch_table_ftc310,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .matches = is_ftc310,
    .remark = BOTH_CORE_TYPES,
    .choice = PMUV3_CHOICE,
};

const struct arch_family arch_ftc660 = {
    .name = "ftc660",
    .title = "Phytium FTC660 (FT-1500A)",
    .table = &arch_table_ftc660,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .matches = is_ftc660,
    .remark = NOT_PUBLISHED,
    .choice = PMUV3_CHOICE,
};

const struct arch_family arch_ftc661 = {
    .name = "ftc661",
    .title = "Phytium FTC661 (FT-2000A/2)",
    .table = &arch_table_ftc661,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .matches = is_ftc661,
    .remark = NOT_PUBLISHED,
    .choice = PMUV3_CHOICE,
};

const struct arch_family arch_ftc662 = {
    .name = "ftc662",
    .title = "Phytium FTC662 (FT-2000+/64)",
    .table = &arch_table_ftc662,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .matches = is_ftc662,
    .remark = NOT_PUBLISHED,
    .choice = PMUV3_CHOICE,
};

const struct arch_family arch_ftc663 = {
    .name = "ftc663",
    .title = "Phytium FTC663 (FT-2000/4, D2000, S2500)",
    .table = &arch_table_ftc663,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .matches = is_ftc663,
    .remark = NOT_PUBLISHED,
    .choice = PMUV3_CHOICE,
};

const struct arch_family arch_ftc664 = {
    .name = "ftc664",
    .title = "Phytium FTC664 (E2000, the large cores)",
    .table = &arch_table_ftc664,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .matches = is_ftc664,
    .remark = BOTH_CORE_TYPES,
    .choice = PMUV3_CHOICE,
};

const struct arch_family arch_ftc862 = {
    .name = "ftc862",
    .title = "Phytium FTC862 (D3000, S5000C)",
    .table = &arch_table_ftc862,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .matches = is_ftc862,
    .remark = NOT_PUBLISHED,
    .choice = PMUV3_CHOICE,
};
