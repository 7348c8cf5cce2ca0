/* SPDX-License-Identifier: MIT */
/** @file Ampere's own cores: identities and counters. */
#include "arch/arm/pmuv3.h"
#include "arch/tables.h"

static const uint32_t ampere1_cores[] = {ARCH_CORE(AMPERE, 0xac3), 0};
const struct arch_family arch_ampere1 = {
    .name = "ampere1",
    .title = "Ampere AmpereOne (ampere1)",
    .table = &arch_table_ampere1,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = ampere1_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};

static const uint32_t ampere1a_cores[] = {ARCH_CORE(AMPERE, 0xac4), 0};
const struct arch_family arch_ampere1a = {
    .name = "ampere1a",
    .title = "Ampere AmpereOneX (ampere1a)",
    .table = &arch_table_ampere1a,
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .counters = PMUV3_COUNTERS(0),
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .cores = ampere1a_cores,
    .remark = "",
    .choice = PMUV3_CHOICE,
};
