/* SPDX-License-Identifier: MIT */
/** @file Recorded functions opened for a report. */
#ifndef UPMU_TOOL_FUNCTIONS_H
#define UPMU_TOOL_FUNCTIONS_H

#include <stddef.h>

#include "ui/output.h"
#include "upmu/functions.h"

struct functions_report {
    struct upmu_functions *functions;
    struct upmu_functions_totals totals;
    const char *dir;
    size_t top; /**< rows of each table */
};

void functions_write_text(struct output *out, const struct functions_report *r);
void functions_write_json(struct output *out, const struct functions_report *r);

#endif
