/* SPDX-License-Identifier: MIT */
/** @file The banks of the first Loongson cores. Room: arch/loongson, shared by the families that have them. */
#ifndef UPMU_ARCH_LOONGSON_BANKS_H
#define UPMU_ARCH_LOONGSON_BANKS_H

#include "arch/row.h"

enum { LOONGSON_BANKS = 2 };

/** Two counters, each with a bank of events; bit 7 of a raw code picks the bank. */
extern const struct arch_code_rule arch_loongson_banks[LOONGSON_BANKS];

#endif
