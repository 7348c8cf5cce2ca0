/* SPDX-License-Identifier: MIT */
/** @file What all families of Armv8 PMUv3 share. */
#ifndef UPMU_ARCH_ARM_PMUV3_H
#define UPMU_ARCH_ARM_PMUV3_H

/** Common events up to this one are in the lists of all kernels from 4.14 on, where the core has them. */
enum { LISTED_RAW = 0x30 };

/** Implementers of main id registers. */
enum {
    ARM = 0x41,
    BROADCOM = 0x42,
    CAVIUM = 0x43,
    FUJITSU = 0x46,
    APPLE = 0x61,
    MICROSOFT = 0x6d,
    AMPERE = 0xc0,
};

/** `number` general counters, 0 = not known, and the one for cycles. */
#define PMUV3_COUNTERS(number)                                                                                         \
    {                                                                                                                  \
        .general = (number), .fixed = 1, .width = 32, .counts_hypervisor = true, .guests_since = ARCH_KERNEL(5, 2, 0), \
    }

#define PMUV3_CHOICE                                                                                                \
    "generic ids where the kernel makes the right code of them, since it asks the core for those alone whether it " \
    "has them; else raw codes, which read 0 where the core lacks them"

#endif
