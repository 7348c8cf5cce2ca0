/* SPDX-License-Identifier: MIT */
/** @file Nearest name for "did you mean" messages. */
#ifndef UPMU_BASE_SUGGEST_H
#define UPMU_BASE_SUGGEST_H

#include <stddef.h>

enum { SUGGEST_NAME_MAX = 64 }; /**< longer names are not compared */

/** Search for the name nearest to `wanted`; start with suggest_begin(). */
struct suggest {
    const char *wanted;
    const char *best; /**< nearest so far, NULL if none is near enough */
    size_t distance;
};

void suggest_begin(struct suggest *s, const char *wanted);
/** Add a candidate (kept by pointer). Case is ignored, and '-' and '_' are equal. */
void suggest_offer(struct suggest *s, const char *candidate);

#endif
