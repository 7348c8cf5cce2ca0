/* SPDX-License-Identifier: MIT */
/** @file Identity of a RISC-V core by the device tree name and the id registers in /proc/cpuinfo. */
#ifndef UPMU_ARCH_RISCV_CORES_H
#define UPMU_ARCH_RISCV_CORES_H

#include <string.h>

#include "arch/tables.h"

struct riscv_core {
    const char *uarch[4];        /**< NULL-terminated; prefixes of "uarch" */
    uint64_t mvendorid, marchid; /**< marchid 0: the ids do not identify the vendor's core */
};

/** The name takes precedence if printed: some vendors use the same ids for several cores. */
static inline int riscv_core_matches(const struct arch_cpu *cpu, const struct riscv_core *core)
{
    if (strcmp(cpu->machine, "riscv") != 0)
        return ARCH_MATCH_NO;
    for (size_t i = 0; core->uarch[i]; i++)
        if (strncmp(cpu->uarch, core->uarch[i], strlen(core->uarch[i])) == 0)
            return ARCH_MATCH_MODEL;
    bool same_ids = core->marchid != 0 && cpu->mvendorid == core->mvendorid && cpu->marchid == core->marchid;
    return same_ids ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

#define RISCV_CHOICE                                                                                                  \
    "raw encodings, which are those of the vendor's list whatever the firmware maps; perf generic events for cycles " \
    "and "                                                                                                            \
    "instructions"
#define RISCV_REMARK                                                                                                \
    "the firmware decides how many counters there are and which raw encodings it passes on; without the extension " \
    "Sscofpmf the PMU refuses user and kernel filters"

#endif
