/* SPDX-License-Identifier: MIT */
/** @file Aligned tables for text output; empty columns are left out. */
#ifndef UPMU_TOOL_TABLE_H
#define UPMU_TOOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "output.h"

enum { TABLE_COLUMNS_MAX = 20 };

/** What is in a column. */
enum table_kind {
    TABLE_TEXT = 0,
    TABLE_NUMBER = 1, /**< aligned to the right */
    TABLE_NAME = 2,   /**< of functions or objects: shortened where the line is wider than the terminal */
};

struct table_column {
    const char *title;
    int kind; /**< enum table_kind; false and true are text and numbers */
};

struct table_cell {
    char *text;
    enum output_style style;
};

/** Rows are filled cell by cell, left to right; the next row begins by itself. */
struct table {
    const struct table_column *columns;
    size_t n_columns;
    struct table_cell *cells;
    size_t n_cells;
    size_t cap;
};

void table_begin(struct table *t, const struct table_column *columns, size_t n_columns);
void table_cell(struct table *t, enum output_style style, const char *fmt, ...) UPMU_PRINTF(3, 4);
/** Print with titles, each line indented by `indent` blanks, and free the cells. Without rows nothing is printed. */
void table_end(struct table *t, struct output *out, int indent);

#endif
