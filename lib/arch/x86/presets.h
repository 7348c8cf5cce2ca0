/* SPDX-License-Identifier: MIT */
/** @file PAPI's presets by the names of x86's makers. Room: arch/x86, data only. */
#ifndef UPMU_ARCH_X86_PRESETS_H
#define UPMU_ARCH_X86_PRESETS_H

#include "core/arch_ops.h"

enum { INTEL_PRESETS = 23, AMD_PRESETS = 14 };
extern const struct arch_preset arch_intel_presets[INTEL_PRESETS];
extern const struct arch_preset arch_amd_presets[AMD_PRESETS];

#endif
