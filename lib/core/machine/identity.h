/* SPDX-License-Identifier: MIT */
/** @file Identity of this machine's CPU, from all sources. */
#ifndef UPMU_CORE_IDENTITY_H
#define UPMU_CORE_IDENTITY_H

#include "core/machine/machine.h"

/** Fill in m->cpu, its sources and, for an unusable snapshot, m->fault. Each source is compared with the ones
 *  before it: /proc/cpuinfo, Arm's id registers in sysfs, and on the running machine the CPU itself. @param cpuinfo
 *  out: the text of /proc/cpuinfo, "" if it cannot be read @param cap its size */
void identity_find(struct machine *m, char *cpuinfo, size_t cap);

#endif
