/* SPDX-License-Identifier: MIT */
/** @file Who the CPU of this machine is, from all that tells of it. Room: core; before it the kernel door and arch, after it
 *  machine.c. */
#ifndef UPMU_CORE_IDENTITY_H
#define UPMU_CORE_IDENTITY_H

#include "core/machine/machine.h"

/**
 * Fill in m->cpu, how it is known and, for a recording that is no good, m->fault. Sources, of which each is held against what
 * the ones before it said: /proc/cpuinfo, Arm's id registers in sysfs, and of the running machine the CPU itself.
 * @param cpuinfo out: the text of /proc/cpuinfo, "" if it cannot be had @param cap its size
 */
void identity_find(struct machine *m, char *cpuinfo, size_t cap);

#endif
