/* SPDX-License-Identifier: MIT */
/** @file Server cores of Cavium and Fujitsu: identities and counters. */
#include "arch/arm/pmuv3.h"
#include "arch/tables.h"

static const uint32_t thunderx2_cores[] = {ARCH_CORE(CAVIUM, 0x0af), ARCH_CORE(BROADCOM, 0x516), 0};
const struct arch_family arch_thunderx2 = {
    .name = "thunderx2",
    .title = "Cavium ThunderX2, Broadcom Vulcan",
    .table = &arch_table_thunderx2,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = thunderx2_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t a64fx_cores[] = {ARCH_CORE(FUJITSU, 0x001), 0};
const struct arch_family arch_a64fx = {
    .name = "a64fx",
    .title = "Fujitsu A64FX",
    .table = &arch_table_a64fx,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(8),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = a64fx_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};
