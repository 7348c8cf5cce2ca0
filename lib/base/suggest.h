/* SPDX-License-Identifier: MIT */
/** @file "did you mean": the nearest of a list of names. Room: base. */
#ifndef UPMU_BASE_SUGGEST_H
#define UPMU_BASE_SUGGEST_H

#include <stddef.h>

/** Running search for the name nearest to `wanted`; start with suggest_begin(). */
struct suggest {
    const char *wanted;
    const char *best; /**< nearest so far, NULL if nothing is near enough */
    size_t distance;
};

void suggest_begin(struct suggest *s, const char *wanted);
/** Offer a candidate (kept by pointer). Case and '-' / '_' are not told apart. */
void suggest_offer(struct suggest *s, const char *candidate);

#endif
