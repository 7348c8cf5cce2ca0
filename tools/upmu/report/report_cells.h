/* SPDX-License-Identifier: MIT */
/** @file Table cells of reports. */
#ifndef UPMU_TOOL_REPORT_CELLS_H
#define UPMU_TOOL_REPORT_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/table.h"
#include "upmu/analysis.h"

/** A cell with `text`, which is freed. */
void cell_free(struct table *t, enum output_style style, char *text);
/** A duration; empty if 0. */
void cell_duration(struct table *t, uint64_t ns);
/** Total duration of waits: "12.34 ms", ">= 12.34 ms" with unfinished waits, "not known": to be freed. */
char *wait_total_text(const struct upmu_wait_sum *w);
/** wait_total_text() as a cell; empty without waits. `least`: a lower bound for another reason, too. */
void cell_total(struct table *t, const struct upmu_wait_sum *w, bool least);
/** A count; ">= " precedes a count that is not exact. */
void cell_count(struct table *t, uint64_t n, bool exact);
struct report;
/** The process of a row, by its id, too, if `by_id`; empty where the recording is of one process. */
void cell_process(struct table *t, const struct report *r, uint32_t process, bool by_id);
/** How a duration of an old recording changed, "+12.34 ms (+5.1 %)", "new" or "gone"; nothing if it did not. */
void cell_change(struct table *t, bool was_there, bool is_there, uint64_t before, uint64_t after);
/** `part` of `whole` as "12.3 %"; empty if either is 0. */
void cell_share(struct table *t, uint64_t part, uint64_t whole);

#endif
