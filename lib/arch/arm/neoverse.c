/* SPDX-License-Identifier: MIT */
/** @file Arm Neoverse cores: identities and counters. */
#include "arch/arm/pmuv3.h"
#include "arch/tables.h"

static const uint32_t neoverse_n1_cores[] = {ARCH_CORE(ARM, 0xd0c), 0};
const struct arch_family arch_neoverse_n1 = {
    .name = "neoverse-n1",
    .title = "Arm Neoverse N1",
    .table = &arch_table_neoverse_n1,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = neoverse_n1_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t neoverse_n2_cores[] = {ARCH_CORE(ARM, 0xd49), ARCH_CORE(MICROSOFT, 0xd49), 0};
const struct arch_family arch_neoverse_n2 = {
    .name = "neoverse-n2",
    .title = "Arm Neoverse N2",
    .table = &arch_table_neoverse_n2,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = neoverse_n2_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t neoverse_v1_cores[] = {ARCH_CORE(ARM, 0xd40), 0};
const struct arch_family arch_neoverse_v1 = {
    .name = "neoverse-v1",
    .title = "Arm Neoverse V1",
    .table = &arch_table_neoverse_v1,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = neoverse_v1_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t neoverse_v2_cores[] = {ARCH_CORE(ARM, 0xd4f), 0};
const struct arch_family arch_neoverse_v2 = {
    .name = "neoverse-v2",
    .title = "Arm Neoverse V2",
    .table = &arch_table_neoverse_v2,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = neoverse_v2_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t neoverse_e1_cores[] = {ARCH_CORE(ARM, 0xd4a), 0};
const struct arch_family arch_neoverse_e1 = {
    .name = "neoverse-e1",
    .title = "Arm Neoverse E1",
    .table = &arch_table_neoverse_e1,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = neoverse_e1_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t neoverse_n3_cores[] = {ARCH_CORE(ARM, 0xd8e), 0};
const struct arch_family arch_neoverse_n3 = {
    .name = "neoverse-n3",
    .title = "Arm Neoverse N3",
    .table = &arch_table_neoverse_n3,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = neoverse_n3_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t neoverse_v3_cores[] = {ARCH_CORE(ARM, 0xd84), ARCH_CORE(ARM, 0xd83), 0};
const struct arch_family arch_neoverse_v3 = {
    .name = "neoverse-v3",
    .title = "Arm Neoverse V3, V3AE",
    .table = &arch_table_neoverse_v3,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = neoverse_v3_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};
