/* SPDX-License-Identifier: MIT */
/** @file The native name tables of x86 and the bits that say which core has a row. Room: arch/x86, data only. */
#ifndef UPMU_ARCH_X86_NATIVE_H
#define UPMU_ARCH_X86_NATIVE_H

#include "core/arch_ops.h"

enum {
    NATIVE_HASWELL = 1u << 0,
    NATIVE_BROADWELL = 1u << 1,
    NATIVE_SKYLAKE = 1u << 2,
    NATIVE_ICELAKE = 1u << 3,
    NATIVE_SAPPHIRERAPIDS = 1u << 4,
    NATIVE_ARCHITECTURAL = 1u << 5, /* the model is not known */
    INTEL_NATIVE_ROWS = 363,
    INTEL_NATIVE_ICELAKE_ROWS = 281,
    INTEL_NATIVE_SHARED_ROWS = 124,
};
extern const struct arch_native arch_intel_native[INTEL_NATIVE_ROWS]; /* before Ice Lake */
extern const struct arch_native arch_intel_native_icelake[INTEL_NATIVE_ICELAKE_ROWS];
extern const struct arch_native arch_intel_native_shared[INTEL_NATIVE_SHARED_ROWS];

enum {
    NATIVE_ZEN1 = 1u << 0,
    NATIVE_ZEN2 = 1u << 1,
    NATIVE_ZEN3 = 1u << 2,
    NATIVE_ZEN4 = 1u << 3,
    NATIVE_ZEN5 = 1u << 4,
    AMD_NATIVE_ROWS = 181,
    AMD_NATIVE_ZEN4_ROWS = 297,
    AMD_NATIVE_SHARED_ROWS = 119,
};
extern const struct arch_native arch_amd_native[AMD_NATIVE_ROWS]; /* before Zen 4 */
extern const struct arch_native arch_amd_native_zen4[AMD_NATIVE_ZEN4_ROWS];
extern const struct arch_native arch_amd_native_shared[AMD_NATIVE_SHARED_ROWS];

#endif
