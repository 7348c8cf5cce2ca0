/* SPDX-License-Identifier: MIT */
/** @file CPUCFG instruction: identity of a LoongArch CPU, whose id kernels before 6.12 do not print. */
#include <string.h>

#include "arch/identity.h"

#if defined(__loongarch__)
bool arch_cpucfg_ask(uint32_t *word0)
{
    unsigned long word;
    __asm__ volatile("cpucfg %0, %1" : "=r"(word) : "r"(0UL));
    *word0 = (uint32_t)word;
    return true;
}
#else
bool arch_cpucfg_ask(uint32_t *word0)
{
    *word0 = 0;
    return false;
}
#endif

void arch_cpucfg_decode(uint32_t word0, struct arch_cpu *out)
{
    arch_cpu_clear(out);
    strcpy(out->machine, "loongarch");
    out->prid = word0;
}
