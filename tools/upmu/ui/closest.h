/* SPDX-License-Identifier: MIT */
/** @file Nearest name of a command or option, for "did you mean". */
#ifndef UPMU_TOOL_CLOSEST_H
#define UPMU_TOOL_CLOSEST_H

#include <stddef.h>

enum { CLOSEST_MAX = 31 }; /**< longer words are not compared */

struct closest {
    const char *wanted; /**< what the user wrote */
    const char *best;   /**< the nearest candidate so far; NULL if none is near enough */
    size_t distance;
};

void closest_begin(struct closest *c, const char *wanted);
void closest_offer(struct closest *c, const char *candidate);

#endif
