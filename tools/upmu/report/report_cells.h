/* SPDX-License-Identifier: MIT */
/** @file Table cells of reports. */
#ifndef UPMU_TOOL_REPORT_CELLS_H
#define UPMU_TOOL_REPORT_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/table.h"
#include "upmu/analysis.h"

/** A cell of a text that is freed. */
void cell_free(struct table *t, enum output_style style, char *text);
/** A duration; of 0 nothing. */
void cell_duration(struct table *t, uint64_t ns);
/** "12.34 ms", ">= 12.34 ms" if a wait had not ended: to be freed. */
char *total_in_words(const struct upmu_wait_sum *w);
void cell_total(struct table *t, const struct upmu_wait_sum *w);
/** A count, or ">= " and a count. */
void cell_count(struct table *t, uint64_t n, bool exact);
/** How a duration of an old recording changed, "+12.34 ms (+5.1 %)", "new" or "gone"; nothing if it did not. */
void cell_change(struct table *t, bool was_there, bool is_there, uint64_t before, uint64_t after);
/** A part of a whole, "12.3 %"; of 0 nothing. */
void cell_share(struct table *t, uint64_t part, uint64_t whole);

#endif
