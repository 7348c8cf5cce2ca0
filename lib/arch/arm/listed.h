/* SPDX-License-Identifier: MIT */
/** @file Common events of Arm cores that kernels list in sysfs. */
#ifndef UPMU_ARCH_ARM_LISTED_H
#define UPMU_ARCH_ARM_LISTED_H

/** Common events up to this one are in the lists of all kernels from 4.14 on, where the core has them. */
enum { LISTED_RAW = 0x30 };

#endif
