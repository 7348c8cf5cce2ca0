/* SPDX-License-Identifier: MIT */
/** @file Counter banks of the first Loongson cores. */
#ifndef UPMU_ARCH_LOONGSON_BANKS_H
#define UPMU_ARCH_LOONGSON_BANKS_H

#include "arch/row.h"

enum { LOONGSON_BANKS = 2 };

/** Two counters, each with a bank of events; bit 7 of a raw encoding selects the bank. */
extern const struct arch_code_rule arch_loongson_banks[LOONGSON_BANKS];

#endif
