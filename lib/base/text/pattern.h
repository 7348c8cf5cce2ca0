/* SPDX-License-Identifier: MIT */
/** @file Text patterns of suppression and wrapper files. */
#ifndef UPMU_BASE_PATTERN_H
#define UPMU_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/** Whether `text` contains the pattern: '*' matches any text, '^' and '$' bind it to the begin and the end. */
bool pattern_matches(const char *pattern, const char *text);

/**
 * Call `line` for each line of a pattern file that is neither empty nor a comment ("#"), without blanks before it and without
 * its end. It may modify the text; a result other than 0 ends the reading.
 * @return 0; the result of `line`; UPMU_E_IO.
 */
int pattern_file_read(const char *path, int (*line)(void *arg, const char *path, size_t number, char *text), void *arg);

#endif
