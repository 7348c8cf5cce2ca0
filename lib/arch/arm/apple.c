/* SPDX-License-Identifier: MIT */
/**
 * @file Apple M1 and M2 cores under the kernel's apple_m1 driver, whose counters differ in their events.
 *
 * The encodings are invalid on a PMUv3, which a guest on such a machine has.
 */
#include "arch/arm/pmuv3.h"
#include "arch/row.h"
#include "arch/tables.h"

/* Counter 0 counts cycles and counter 1 instructions; an encoding without a row may use any other. */
static const struct arch_code_rule apple_rules[] = {
    {.mask = 0xff, .match = 0x02, .counters = GENERAL(10) & ~COUNTER(1)},
    {.mask = 0xff, .match = 0x8c, .counters = COUNTER(1) | COUNTER(7)},
    {.counters = GENERAL(10) & ~GENERAL(2)},
};

#define APPLE_COUNTERS(bits)                                                                                   \
    {                                                                                                          \
        .general = 10, .width = (bits), .host_only = true, .rules = apple_rules, .n_rules = ROWS(apple_rules), \
        .raw = {.mask = 0xff},                                                                                 \
    }

#define APPLE_REMARK                                                                                          \
    "the codes were found by experiment, not published by the vendor; fast and small cores have a PMU each, " \
    "and no event of theirs counts in the second-level cache or behind it"

#define APPLE_CHOICE \
    "raw encodings; perf generic events for cycles and instructions, the only ones that the kernel maps"

static const uint32_t apple_firestorm_cores[] = {ARCH_CORE(APPLE, 0x023), ARCH_CORE(APPLE, 0x025),
                                                 ARCH_CORE(APPLE, 0x029), 0};
const struct arch_family arch_apple_firestorm = {
    .name = "apple-firestorm",
    .title = "Apple Firestorm (M1, the fast cores)",
    .table = &arch_table_apple_firestorm,
    .vendor = "arm",
    .core_pmu = "apple_firestorm_pmu",
    .own_pmu = "apple_",
    .behind_others = &arch_armv8,
    .counters = APPLE_COUNTERS(47),
    .cores = apple_firestorm_cores,
    .remark = APPLE_REMARK,
    .choice = APPLE_CHOICE,
};

static const uint32_t apple_icestorm_cores[] = {ARCH_CORE(APPLE, 0x022), ARCH_CORE(APPLE, 0x024),
                                                ARCH_CORE(APPLE, 0x028), 0};
const struct arch_family arch_apple_icestorm = {
    .name = "apple-icestorm",
    .title = "Apple Icestorm (M1, the small cores)",
    .table = &arch_table_apple_icestorm,
    .vendor = "arm",
    .core_pmu = "apple_icestorm_pmu",
    .own_pmu = "apple_",
    .behind_others = &arch_armv8,
    .counters = APPLE_COUNTERS(47),
    .cores = apple_icestorm_cores,
    .remark = APPLE_REMARK,
    .choice = APPLE_CHOICE,
};

static const uint32_t apple_avalanche_cores[] = {ARCH_CORE(APPLE, 0x033), ARCH_CORE(APPLE, 0x035),
                                                 ARCH_CORE(APPLE, 0x039), 0};
const struct arch_family arch_apple_avalanche = {
    .name = "apple-avalanche",
    .title = "Apple Avalanche (M2, the fast cores)",
    .table = &arch_table_apple_avalanche,
    .vendor = "arm",
    .core_pmu = "apple_avalanche_pmu",
    .own_pmu = "apple_",
    .behind_others = &arch_armv8,
    .counters = APPLE_COUNTERS(63),
    .cores = apple_avalanche_cores,
    .remark = APPLE_REMARK,
    .choice = APPLE_CHOICE,
};

static const uint32_t apple_blizzard_cores[] = {ARCH_CORE(APPLE, 0x032), ARCH_CORE(APPLE, 0x034),
                                                ARCH_CORE(APPLE, 0x038), 0};
const struct arch_family arch_apple_blizzard = {
    .name = "apple-blizzard",
    .title = "Apple Blizzard (M2, the small cores)",
    .table = &arch_table_apple_blizzard,
    .vendor = "arm",
    .core_pmu = "apple_blizzard_pmu",
    .own_pmu = "apple_",
    .behind_others = &arch_armv8,
    .counters = APPLE_COUNTERS(63),
    .cores = apple_blizzard_cores,
    .remark = APPLE_REMARK,
    .choice = APPLE_CHOICE,
};
