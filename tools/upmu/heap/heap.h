/* SPDX-License-Identifier: MIT */
/** @file Heap of a recording opened for a report. */
#ifndef UPMU_TOOL_HEAP_H
#define UPMU_TOOL_HEAP_H

#include <stddef.h>

#include "ui/output.h"
#include "upmu/analysis.h"
#include "upmu/heap.h"

/** Call paths of one process that allocate at the same place of the program. */
struct heap_row {
    char *name;            /**< "parse json.c:81" */
    char *function, *file; /**< of the place; NULL if unknown */
    uint32_t line;
    struct upmu_heap_path
        sum; /**< of its paths; `stack` and `site` are those of the path with the most bytes at the peak */
    size_t paths;
};

struct heap_report {
    struct upmu_heap *heap;
    struct upmu_overview *overview; /**< for names */
    const char *dir;
    size_t top; /**< rows of each table */
    struct heap_row *rows;
    size_t n_rows;
};

/** Fold the paths into rows, by falling bytes at the peak. */
void heap_rows_make(struct heap_report *r);
void heap_rows_free(struct heap_report *r);

void heap_write_text(struct output *out, const struct heap_report *r);
void heap_write_json(struct output *out, const struct heap_report *r);

#endif
