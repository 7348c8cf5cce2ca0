/* SPDX-License-Identifier: MIT */
/** @file Rows of upmu report --view timeline. */
#ifndef UPMU_TOOL_TIMELINE_H
#define UPMU_TOOL_TIMELINE_H

#include "ui/output.h"
#include "report.h"
#include "report_views.h"
#include "upmu/timeline.h"

struct timeline {
    struct upmu_timeline *rows;
    struct upmu_timeline_totals totals;
    struct report report; /**< for report_location(), and the recording's totals */
    long page;
};

void timeline_write_text(struct output *out, const struct timeline *t);
/** All that is known of the one row there is. */
void timeline_write_row(struct output *out, const struct timeline *t);
void timeline_write_json(struct output *out, const struct timeline *t);

#endif
