/* SPDX-License-Identifier: MIT */
/** @file Recorded samples opened for a report. */
#ifndef UPMU_TOOL_SAMPLES_H
#define UPMU_TOOL_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "ui/table.h"
#include "upmu/samples.h"

struct samples_report {
    struct upmu_samples *samples;
    struct upmu_samples_totals totals;
    const char *dir;
    size_t top; /**< rows of each table */
};

void samples_write_text(struct output *out, const struct samples_report *r);
void samples_write_json(struct output *out, const struct samples_report *r);

/** What function `i` is called: to be freed. */
char *samples_function_text(const struct samples_report *r, uint32_t i);
/** A duration or a count, by what the event is; of 0 nothing. */
void samples_cell_weight(struct table *t, const struct samples_report *r, uint64_t weight);

/** 100 * `part` / `whole`; 0 of nothing. */
static inline double samples_percent(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

#endif
