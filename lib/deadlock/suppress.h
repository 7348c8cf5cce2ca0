/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What is not to be reported: a file of patterns, of a form like ThreadSanitizer's. Room: analysis. Before it: the user's
 * file; after it: deadlocks.c.
 *
 * A line is KIND:PATTERN. KIND is "deadlock" (all), "stands", "order", or the name of a kind or class ("cycle",
 * "inversion", ...). PATTERN is matched against the function, the file and the module of every frame of every stack of
 * a report; '*' stands for anything, '^' and '$' for its begin and end, and it may be found anywhere in between. Empty
 * lines and those that begin with '#' say nothing.
 */
#ifndef UPMU_ANALYSIS_SUPPRESS_H
#define UPMU_ANALYSIS_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>

struct suppression {
    char *kind;
    char *pattern;
};

/** All zero is none. */
struct suppressions {
    struct suppression *all;
    size_t n, cap;
};

/** @return 0; UPMU_E_IO, UPMU_E_INVAL (a line that makes no sense), UPMU_E_NOMEM. */
int suppressions_read(struct suppressions *s, const char *path);
void suppressions_free(struct suppressions *s);

/** Whether a report of `kind`, one of `group` ("stands", "order"), is suppressed by something called `text`. */
bool suppressions_match(const struct suppressions *s, const char *group, const char *kind, const char *text);

#endif
