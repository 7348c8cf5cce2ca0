/* SPDX-License-Identifier: MIT */
/** @file Nearest events to one that a CPU lacks. */
#ifndef UPMU_CORE_NEAR_H
#define UPMU_CORE_NEAR_H

#include <stddef.h>

#include "core/arch_ops.h"

/** Describe why a row is absent: "REASON; near: NAME (what it counts)". `row` may be NULL: an empty text. */
void near_describe(const struct arch_family *family, const struct arch_event *row, char *text, size_t cap);

#endif
