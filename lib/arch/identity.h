/* SPDX-License-Identifier: MIT */
/**
 * @file Identification instructions of CPUs.
 *
 * Answers are decoded on every host; the instructions exist on their own ISA only.
 */
#ifndef UPMU_ARCH_IDENTITY_H
#define UPMU_ARCH_IDENTITY_H

#include "core/arch_ops.h"

/** Identity fields of x86's CPUID. */
struct arch_cpuid {
    uint32_t vendor[3]; /**< leaf 0: EBX, EDX, ECX, twelve letters */
    uint32_t signature; /**< leaf 1: EAX, family, model and stepping */
    uint32_t features;  /**< leaf 1: ECX */
    uint32_t
        perfmon; /**< leaf 0xa: EAX, the version of the architectural events in its lowest byte; 0 if there is none */
    uint32_t extended; /**< leaf 0x80000001: ECX; 0 if there is none */
};
void arch_cpuid_decode(const struct arch_cpuid *answers, struct arch_cpu *out);
/** @return false on another ISA, or if the CPU lacks the instruction. */
bool arch_cpuid_ask(struct arch_cpuid *answers);

/** Word 0 of LoongArch's CPUCFG, the processor id. */
void arch_cpucfg_decode(uint32_t word0, struct arch_cpu *out);
/** @return false on another ISA. */
bool arch_cpucfg_ask(uint32_t *word0);

#endif
