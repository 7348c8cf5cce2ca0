/* SPDX-License-Identifier: MIT */
/** @file History of a number as a line of bars (a sparkline). */
#ifndef UPMU_TOOL_TOP_HISTORY_H
#define UPMU_TOOL_TOP_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

enum { TOP_HISTORY_MAX = 256 };

/** The last TOP_HISTORY_MAX numbers, none below 0. */
struct top_history {
    double all[TOP_HISTORY_MAX];
    size_t n; /**< of all added */
};

void top_history_add(struct top_history *h, double number);
/** The largest number kept. */
double top_history_max(const struct top_history *h);
/** The last `columns` numbers as bars of eight heights, the largest number kept as the highest one; to be freed. `blocks`: by U+2581
 *  to U+2588, else by ASCII. */
char *top_history_line(const struct top_history *h, size_t columns, bool blocks);

#endif
