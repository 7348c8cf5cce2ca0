/* SPDX-License-Identifier: MIT */
/** @file Text patterns of suppression and wrapper files. */
#ifndef UPMU_BASE_PATTERN_H
#define UPMU_BASE_PATTERN_H

#include <stdbool.h>

/** Whether `text` contains the pattern: '*' matches any text, '^' and '$' bind it to the begin and the end. */
bool pattern_matches(const char *pattern, const char *text);

#endif
