/* SPDX-License-Identifier: MIT */
/** @file Short words for the rows of the drivers' tables. Place: tests, between model.h and the drivers. */
#ifndef UPMU_TESTS_MODEL_ROWS_H
#define UPMU_TESTS_MODEL_ROWS_H

#include <errno.h>

#include "models/model.h"

enum {
    HW = KERNEL_TYPE_HARDWARE,
    CACHE = KERNEL_TYPE_HW_CACHE,
};

/** The n lowest counters. */
#define LOWEST(n) ((UINT64_C(1) << (n)) - 1)
#define COUNTER(n) (UINT64_C(1) << (n))
/** x86 numbers its fixed counters from 32 on. */
#define FIXED(n) COUNTER(32 + (n))

#define N(table) (sizeof(table) / sizeof((table)[0]))

#endif
