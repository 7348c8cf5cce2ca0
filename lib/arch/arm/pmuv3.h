/* SPDX-License-Identifier: MIT */
/** @file Common parts of all Armv8 PMUv3 families. */
#ifndef UPMU_ARCH_ARM_PMUV3_H
#define UPMU_ARCH_ARM_PMUV3_H

/** Common events up to this one are listed by all kernels since 4.14 if the core has them. */
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

/** `number` general counters, 0 = unknown, and the cycle counter. */
#define PMUV3_COUNTERS(number)                                                                                         \
    {                                                                                                                  \
        .general = (number), .fixed = 1, .width = 32, .counts_hypervisor = true, .guests_since = ARCH_KERNEL(5, 2, 0), \
    }

#define PMUV3_CHOICE                                                                                                  \
    "perf generic events where the kernel encodes them correctly, since it asks the core for those alone whether it " \
    "has them; else raw encodings, which read 0 where the core lacks them"

#endif
