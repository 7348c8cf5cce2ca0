/* SPDX-License-Identifier: MIT */
/** @file Counters of Zen and its derivatives. */
#ifndef UPMU_ARCH_X86_ZEN_COUNTERS_H
#define UPMU_ARCH_X86_ZEN_COUNTERS_H

#include "arch/row.h"

enum { ZEN_RULES = 1 };

/** FPU operations increment by more than one counter takes: such an event needs its neighbor to merge with. */
extern const struct arch_code_rule arch_zen_rules[ZEN_RULES];

#define ZEN_COUNTERS                                                                               \
    {                                                                                              \
        .general = 6, .width = 48, .watchdog = true, .flag = "perfctr_core", .general_without = 4, \
        .rules = arch_zen_rules, .n_rules = ZEN_RULES, .raw = {.mask = 0xfff84ffff},               \
        .guests_since = ARCH_KERNEL(3, 4, 0),                                                      \
    }

#endif
