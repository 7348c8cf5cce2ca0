/* SPDX-License-Identifier: MIT */
/** @file Short words for the rows of event tables. Room: arch, between core's arch_ops.h and the vendor folders. */
#ifndef UPMU_ARCH_ROW_H
#define UPMU_ARCH_ROW_H

#include "core/arch_ops.h"
#include "upmu/upmu.h"

enum {
    NONE = ARCH_CODE_NONE,
    HW = ARCH_CODE_HARDWARE,
    CACHE = ARCH_CODE_HW_CACHE,
    RAW = ARCH_CODE_RAW,
};

enum {
    ABSENT = UPMU_GRADE_ABSENT,
    EXACT = UPMU_GRADE_EXACT,
    APPROX = UPMU_GRADE_APPROXIMATE,
};

/** No machine code: absent rows, and generic ids whose code is the kernel's secret. */
#define NO_CODE UINT64_MAX

/** The first n general counters, one general counter, one fixed counter. */
#define GENERAL(n) ((1u << (n)) - 1u)
#define COUNTER(n) (1u << (n))
#define FIXED(n) (1u << (ARCH_FIXED + (n)))

/** Any general counter, however many there are: for events that may use a fixed counter too. */
#define ANY_GENERAL GENERAL(ARCH_FIXED)

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

#endif
