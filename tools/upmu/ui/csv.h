/* SPDX-License-Identifier: MIT */
/** @file Writer of separated values, quoted where necessary. */
#ifndef UPMU_TOOL_CSV_H
#define UPMU_TOOL_CSV_H

#include <stdbool.h>
#include <stdio.h>

#include "upmu/api.h"

struct csv {
    FILE *out;
    char separator;
    bool begun; /**< the row has a field already */
};

void csv_begin(struct csv *c, FILE *out, char separator);
/** One field of the current row. A field with the separator, a quote or a line break is put in quotes; control
 *  characters are escaped, and what a spreadsheet would execute begins with an apostrophe. */
void csv_field(struct csv *c, const char *text);
void csv_format(struct csv *c, const char *fmt, ...) UPMU_PRINTF(2, 3);
void csv_row_end(struct csv *c);
/** A whole row; `fields` ends with NULL. */
void csv_row(struct csv *c, const char *const *fields);

#endif
