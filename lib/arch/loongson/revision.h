/* SPDX-License-Identifier: MIT */
/**
 * @file Loongson's MIPS cores by the revision in "cpu model".
 *
 * The kernel prints the low byte of the processor id as V<high half>.<low half>.
 */
#ifndef UPMU_ARCH_LOONGSON_REVISION_H
#define UPMU_ARCH_LOONGSON_REVISION_H

#include <stdio.h>
#include <string.h>

#include "arch/tables.h"

/** Whether the CPU belongs to a line ("Loongson-3") and to one of its revisions V0.n, given as bits n of a mask. */
static inline int loongson_revision(const struct arch_cpu *cpu, const char *line, unsigned revisions)
{
    char text[32];
    for (unsigned n = 0; revisions >> n != 0; n++) {
        snprintf(text, sizeof text, "%s V0.%u ", line, n);
        if ((revisions >> n & 1) && strstr(cpu->cpu_model, text))
            return ARCH_MATCH_MODEL;
    }
    return ARCH_MATCH_NO;
}

#endif
