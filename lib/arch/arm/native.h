/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The native name table of Arm cores and the bits that say which family has a row. Room: arch/arm, data only.
 */
#ifndef UPMU_ARCH_ARM_NATIVE_H
#define UPMU_ARCH_ARM_NATIVE_H

#include "core/arch_ops.h"

enum {
    NATIVE_ARMV8 = 1u << 0,
    NATIVE_KUNPENG920 = 1u << 1,
    NATIVE_PHYTIUM = 1u << 2,
    NATIVE_FTC862 = 1u << 3,
    ARM_NATIVE_ROWS = 228,
};
/** Common events up to this one are in the lists of all kernels from 4.14 on, where the core has them. */
enum { LISTED_RAW = 0x30 };

extern const struct arch_native arch_arm_native[ARM_NATIVE_ROWS];

enum { ARM_PRESETS = 12 };
extern const struct arch_preset arch_arm_presets[ARM_PRESETS];

#endif
