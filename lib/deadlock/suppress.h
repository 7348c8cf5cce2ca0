/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Suppression file: patterns of reports to leave out, in a form similar to ThreadSanitizer's.
 *
 * A line is KIND:PATTERN. KIND is "deadlock" (all), "blocked" (blocked threads), "order" (lock order), or the name of a kind
 * or class ("cycle", "inversion", ...). PATTERN is searched in the function, file and module of every frame of a report, and in the names of its locks;
 * '*' matches any text, '^' and '$' the begin and the end. Empty lines and lines that begin with '#' are ignored.
 */
#ifndef UPMU_DEADLOCK_SUPPRESS_H
#define UPMU_DEADLOCK_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>

struct suppression {
    char *kind;
    char *pattern;
};

/** All zero is empty. */
struct suppressions {
    struct suppression *all;
    size_t n, cap;
};

/** @return 0; UPMU_E_IO, UPMU_E_INVAL (a malformed line), UPMU_E_NOMEM. */
int suppressions_read(struct suppressions *s, const char *path);
void suppressions_free(struct suppressions *s);

/** Whether `text` suppresses a report of `kind`, of the group "blocked" or "order". */
bool suppressions_match(const struct suppressions *s, const char *group, const char *kind, const char *text);

#endif
