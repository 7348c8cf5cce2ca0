/* SPDX-License-Identifier: MIT */
/** @file Loongson LoongArch cores LA264, LA364, LA464 and LA664, which share one table in the kernel. */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

/** Series of the processor id, which newer kernels print, and chip names for the others. */
struct core_signs {
    uint32_t series;       /**< bits 15:8 of the id */
    const char *names[10]; /**< prefixes of "Model Name", NULL-terminated */
};

static int has_signs(const struct arch_cpu *cpu, const struct core_signs *signs)
{
    if (strcmp(cpu->machine, "loongarch") != 0)
        return ARCH_MATCH_NO;
    if (cpu->prid != 0)
        return (cpu->prid >> 8 & 0xff) == signs->series ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
    for (size_t i = 0; signs->names[i]; i++) {
        if (strncmp(cpu->model_name, signs->names[i], strlen(signs->names[i])) == 0)
            return ARCH_MATCH_MODEL;
    }
    return ARCH_MATCH_NO;
}

static int is_la264(const struct arch_cpu *cpu)
{
    static const struct core_signs signs = {0xa0, {"Loongson-2K0", "Loongson-2K10"}};
    return has_signs(cpu, &signs);
}

static int is_la364(const struct arch_cpu *cpu)
{
    static const struct core_signs signs = {0xb0, {"Loongson-2K15", "Loongson-2K20"}};
    return has_signs(cpu, &signs);
}

static int is_la664(const struct arch_cpu *cpu)
{
    static const struct core_signs signs = {
        0xd0, {"Loongson-3A6", "Loongson-3B6", "Loongson-3C6", "Loongson-3D6", "Loongson-3E6"}};
    return has_signs(cpu, &signs);
}

/** Other LoongArch cores use this family, because the kernel has one table for all. */
static int is_la464(const struct arch_cpu *cpu)
{
    static const struct core_signs signs = {0xc0, {"Loongson-3A5", "Loongson-3B5", "Loongson-3C5", "Loongson-3D5"}};
    int sure = has_signs(cpu, &signs);
    if (sure || strcmp(cpu->machine, "loongarch") != 0)
        return sure;
    return ARCH_MATCH_VENDOR;
}

#define LA_COUNTERS                                                                       \
    {                                                                                     \
        .general = 4, .width = 64, .no_software_siblings = true, .raw = {                 \
            .mask = 0x3ff,                                                                \
            .older_mask = 0xff,                                                           \
            .since = {ARCH_KERNEL(6, 4, 0), ARCH_KERNEL(6, 1, 37), ARCH_KERNEL(6, 3, 11)} \
        }                                                                                 \
    }

#define LA_REMARK                                                                                               \
    "guests often have no PMU; raw encodings above 0xff need kernel 6.4, or 6.1.y and 6.3.y of June 2023; the " \
    "kernel has one table for all LoongArch cores"

#define LA_CHOICE                                                                                                 \
    "raw encodings where an event is of loads and stores together, for which the kernel has no id; perf generic " \
    "events for "                                                                                                 \
    "the rest, which the kernel encodes the same way"

const struct arch_family arch_la464 = {
    .name = "la464",
    .title = "Loongson LA464 (3A5000, 3C5000)",
    .table = &arch_table_la464,
    .vendor = "loongson",
    .core_pmu = "cpu",
    .counters = LA_COUNTERS,
    .matches = is_la464,
    .remark = LA_REMARK,
    .choice = LA_CHOICE,
};

const struct arch_family arch_la264 = {
    .name = "la264",
    .title = "Loongson LA264 (2K0500, 2K1000)",
    .table = &arch_table_la264,
    .vendor = "loongson",
    .core_pmu = "cpu",
    .counters = LA_COUNTERS,
    .matches = is_la264,
    .remark = LA_REMARK,
    .choice = LA_CHOICE,
};

const struct arch_family arch_la364 = {
    .name = "la364",
    .title = "Loongson LA364 (2K1500, 2K2000)",
    .table = &arch_table_la364,
    .vendor = "loongson",
    .core_pmu = "cpu",
    .counters = LA_COUNTERS,
    .matches = is_la364,
    .remark = LA_REMARK,
    .choice = LA_CHOICE,
};

const struct arch_family arch_la664 = {
    .name = "la664",
    .title = "Loongson LA664 (3A6000, 3C6000)",
    .table = &arch_table_la664,
    .vendor = "loongson",
    .core_pmu = "cpu",
    .counters = LA_COUNTERS,
    .matches = is_la664,
    .remark = LA_REMARK,
    .choice = LA_CHOICE,
};
