/* SPDX-License-Identifier: MIT */
/** @file What functions have counted of events, as text and JSON. */
#ifndef UPMU_TOOL_FUNCTIONS_COUNTS_H
#define UPMU_TOOL_FUNCTIONS_COUNTS_H

#include "functions.h"
#include "ui/json.h"

/** A table for each event: functions by exclusive count; and why events were not counted. */
void functions_counts_text(struct output *out, const struct functions_report *r);
/** The events, as "counters". */
void functions_counters_json(struct textbuf *j, const struct functions_report *r);
/** The counts of row `i` (enum upmu_function_rows), as "counts", in the order of "counters". */
void functions_counts_json(struct textbuf *j, const struct functions_report *r, int rows, size_t i);

#endif
