/* SPDX-License-Identifier: MIT */
/** @file Masks of counters. */
#ifndef UPMU_ARCH_ROW_H
#define UPMU_ARCH_ROW_H

#include "core/arch_ops.h"
#include "upmu/upmu.h"

/** The first n general counters, one general counter, one fixed counter. */
#define GENERAL(n) ((1u << (n)) - 1u)
#define COUNTER(n) (1u << (n))
#define FIXED(n) (1u << (ARCH_FIXED + (n)))

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

#endif
