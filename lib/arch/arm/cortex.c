/* SPDX-License-Identifier: MIT */
/** @file Arm Cortex-A and Cortex-X cores: identities and counters. */
#include "arch/arm/pmuv3.h"
#include "arch/tables.h"

static const uint32_t cortex_a34_cores[] = {ARCH_CORE(ARM, 0xd02), 0};
const struct arch_family arch_cortex_a34 = {
    .name = "cortex-a34",
    .title = "Arm Cortex-A34",
    .table = &arch_table_cortex_a34,
    .vendor = "arm",
    .core_pmu = "armv8_cortex_a34",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_a34_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_a35_cores[] = {ARCH_CORE(ARM, 0xd04), 0};
const struct arch_family arch_cortex_a35 = {
    .name = "cortex-a35",
    .title = "Arm Cortex-A35",
    .table = &arch_table_cortex_a35,
    .vendor = "arm",
    .core_pmu = "armv8_cortex_a35",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_a35_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_a53_cores[] = {ARCH_CORE(ARM, 0xd03), ARCH_CORE(BROADCOM, 0x100), 0};
const struct arch_family arch_cortex_a53 = {
    .name = "cortex-a53",
    .title = "Arm Cortex-A53",
    .table = &arch_table_cortex_a53,
    .vendor = "arm",
    .core_pmu = "armv8_cortex_a53",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_a53_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_a55_cores[] = {ARCH_CORE(ARM, 0xd05), 0};
const struct arch_family arch_cortex_a55 = {
    .name = "cortex-a55",
    .title = "Arm Cortex-A55",
    .table = &arch_table_cortex_a55,
    .vendor = "arm",
    .core_pmu = "armv8_cortex_a55",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_a55_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_a57_cores[] = {ARCH_CORE(ARM, 0xd07), 0};
const struct arch_family arch_cortex_a57 = {
    .name = "cortex-a57",
    .title = "Arm Cortex-A57",
    .table = &arch_table_cortex_a57,
    .vendor = "arm",
    .core_pmu = "armv8_cortex_a57",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_a57_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_a72_cores[] = {ARCH_CORE(ARM, 0xd08), 0};
const struct arch_family arch_cortex_a72 = {
    .name = "cortex-a72",
    .title = "Arm Cortex-A72",
    .table = &arch_table_cortex_a72,
    .vendor = "arm",
    .core_pmu = "armv8_cortex_a72",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_a72_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_a73_cores[] = {ARCH_CORE(ARM, 0xd09), 0};
const struct arch_family arch_cortex_a73 = {
    .name = "cortex-a73",
    .title = "Arm Cortex-A73",
    .table = &arch_table_cortex_a73,
    .vendor = "arm",
    .core_pmu = "armv8_cortex_a73",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_a73_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_a75_cores[] = {ARCH_CORE(ARM, 0xd0a), 0};
const struct arch_family arch_cortex_a75 = {
    .name = "cortex-a75",
    .title = "Arm Cortex-A75",
    .table = &arch_table_cortex_a75,
    .vendor = "arm",
    .core_pmu = "armv8_cortex_a75",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_a75_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_a76_cores[] = {ARCH_CORE(ARM, 0xd0b), ARCH_CORE(ARM, 0xd0e), 0};
const struct arch_family arch_cortex_a76 = {
    .name = "cortex-a76",
    .title = "Arm Cortex-A76, A76AE",
    .table = &arch_table_cortex_a76,
    .vendor = "arm",
    .core_pmu = "armv8_cortex_a76",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_a76_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_a77_cores[] = {ARCH_CORE(ARM, 0xd0d), 0};
const struct arch_family arch_cortex_a77 = {
    .name = "cortex-a77",
    .title = "Arm Cortex-A77",
    .table = &arch_table_cortex_a77,
    .vendor = "arm",
    .core_pmu = "armv8_cortex_a77",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_a77_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_a78_cores[] = {ARCH_CORE(ARM, 0xd41), ARCH_CORE(ARM, 0xd42), ARCH_CORE(ARM, 0xd4b), 0};
const struct arch_family arch_cortex_a78 = {
    .name = "cortex-a78",
    .title = "Arm Cortex-A78, A78AE, A78C",
    .table = &arch_table_cortex_a78,
    .vendor = "arm",
    .core_pmu = "armv8_cortex_a78",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_a78_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_x1_cores[] = {ARCH_CORE(ARM, 0xd44), ARCH_CORE(ARM, 0xd4c), 0};
const struct arch_family arch_cortex_x1 = {
    .name = "cortex-x1",
    .title = "Arm Cortex-X1, X1C",
    .table = &arch_table_cortex_x1,
    .vendor = "arm",
    .core_pmu = "armv8_cortex_x1",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_x1_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_a510_cores[] = {ARCH_CORE(ARM, 0xd46), 0};
const struct arch_family arch_cortex_a510 = {
    .name = "cortex-a510",
    .title = "Arm Cortex-A510",
    .table = &arch_table_cortex_a510,
    .vendor = "arm",
    .core_pmu = "armv9_cortex_a510",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_a510_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_a710_cores[] = {ARCH_CORE(ARM, 0xd47), 0};
const struct arch_family arch_cortex_a710 = {
    .name = "cortex-a710",
    .title = "Arm Cortex-A710",
    .table = &arch_table_cortex_a710,
    .vendor = "arm",
    .core_pmu = "armv9_cortex_a710",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_a710_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_x2_cores[] = {ARCH_CORE(ARM, 0xd48), 0};
const struct arch_family arch_cortex_x2 = {
    .name = "cortex-x2",
    .title = "Arm Cortex-X2",
    .table = &arch_table_cortex_x2,
    .vendor = "arm",
    .core_pmu = "armv9_cortex_x2",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_x2_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_a65_cores[] = {ARCH_CORE(ARM, 0xd06), ARCH_CORE(ARM, 0xd43), 0};
const struct arch_family arch_cortex_a65 = {
    .name = "cortex-a65",
    .title = "Arm Cortex-A65, A65AE",
    .table = &arch_table_cortex_a65,
    .vendor = "arm",
    .core_pmu = "armv8_cortex_a65",
    .counters = PMUV3_COUNTERS(6),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_a65_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_a715_cores[] = {ARCH_CORE(ARM, 0xd4d), 0};
const struct arch_family arch_cortex_a715 = {
    .name = "cortex-a715",
    .title = "Arm Cortex-A715",
    .table = &arch_table_cortex_a715,
    .vendor = "arm",
    .core_pmu = "armv9_cortex_a715",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_a715_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t cortex_x3_cores[] = {ARCH_CORE(ARM, 0xd4e), 0};
const struct arch_family arch_cortex_x3 = {
    .name = "cortex-x3",
    .title = "Arm Cortex-X3",
    .table = &arch_table_cortex_x3,
    .vendor = "arm",
    .core_pmu = "armv9_cortex_x3",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = cortex_x3_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};
