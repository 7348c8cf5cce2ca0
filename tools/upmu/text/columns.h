/* SPDX-License-Identifier: MIT */
/** @file Columns of a terminal that characters take. */
#ifndef UPMU_TOOL_COLUMNS_H
#define UPMU_TOOL_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

/** Of a code point that is no control character: 0, 1 or 2, in every locale. */
size_t columns_of(uint32_t code);

#endif
