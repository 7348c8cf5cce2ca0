/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Zhaoxin ZX-C, ZX-D, ZX-E and KX-7000: models, counters and remarks.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

enum {
    ZXC = 1u << 0,
    ZXD = 1u << 1,
    ZXE = 1u << 2,
    KX7000 = 1u << 3,
};

/** The vendor's two vendor strings, of which VIA's older CPUs have the first one, too; models distinguish those. */
static bool is_zhaoxin(const struct arch_cpu *cpu)
{
    return strcmp(cpu->vendor, "CentaurHauls") == 0 || strcmp(cpu->vendor, "Shanghai") == 0;
}

static int zhaoxin_is_model(const struct arch_cpu *cpu, int family, int model)
{
    return is_zhaoxin(cpu) && cpu->family == family && cpu->model == model ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

static int is_zx_c(const struct arch_cpu *cpu)
{
    if (cpu->stepping >= 14 && zhaoxin_is_model(cpu, 6, 15))
        return ARCH_MATCH_MODEL;
    return zhaoxin_is_model(cpu, 6, 25);
}

static int is_zx_d(const struct arch_cpu *cpu)
{
    return zhaoxin_is_model(cpu, 7, 27);
}

static int is_zx_e(const struct arch_cpu *cpu)
{
    return zhaoxin_is_model(cpu, 7, 59);
}

static int is_kx_7000(const struct arch_cpu *cpu)
{
    int yongfeng = zhaoxin_is_model(cpu, 7, 91);
    return yongfeng ? yongfeng : zhaoxin_is_model(cpu, 7, 107);
}

#define FIXED_UNSURE                                                                                                 \
    "kernels from 6.11 may miss the address of the fixed counters: cycles, instructions and bus-cycles are refused " \
    "where they do not count known work"

#define ZHAOXIN_CHOICE                                                                                                 \
    "perf generic events where the kernel has one, because it has the encoding for each model; raw encodings for the " \
    "instruction "                                                                                                     \
    "cache, whose codes are the same on all"

const struct arch_family arch_zx_e = {
    .name = "zx-e",
    .title = "Zhaoxin ZX-E (KX-6000)",
    .table = &arch_table_zx_e,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = {.fixed = 3, .width = 48, .fixed_doubt = ARCH_KERNEL(6, 11, 0), .watchdog = true},
    .matches = is_zx_e,
    .remark = FIXED_UNSURE,
    .choice = ZHAOXIN_CHOICE,
};

const struct arch_family arch_zx_d = {
    .name = "zx-d",
    .title = "Zhaoxin ZX-D (KX-5000)",
    .table = &arch_table_zx_d,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = {.fixed = 3, .width = 48, .fixed_doubt = ARCH_KERNEL(6, 11, 0), .watchdog = true},
    .matches = is_zx_d,
    .remark = FIXED_UNSURE,
    .choice = ZHAOXIN_CHOICE,
};

const struct arch_family arch_kx_7000 = {
    .name = "kx-7000",
    .title = "Zhaoxin KX-7000",
    .table = &arch_table_kx_7000,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = {.fixed = 3, .width = 48, .fixed_doubt = ARCH_KERNEL(6, 11, 0), .watchdog = true},
    .matches = is_kx_7000,
    .remark = "mainline kernels up to 6.12 refuse the PMU of this core; the codes are those of the Deepin "
              "kernel; " FIXED_UNSURE,
    .choice = ZHAOXIN_CHOICE,
};

const struct arch_family arch_zx_c = {
    .name = "zx-c",
    .title = "Zhaoxin ZX-C",
    .table = &arch_table_zx_c,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = {.fixed = 3, .width = 48, .fixed_doubt = ARCH_KERNEL(6, 11, 0), .watchdog = true},
    .matches = is_zx_c,
    .remark = "the kernel maps cycles and nothing else on this core; " FIXED_UNSURE,
    .choice = ZHAOXIN_CHOICE,
};
