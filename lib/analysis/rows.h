/* SPDX-License-Identifier: MIT */
/** @file Collection of a page of timeline rows. */
#ifndef UPMU_ANALYSIS_ROWS_H
#define UPMU_ANALYSIS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/public.h"
#include "analysis/pass/timeline.h"
#include "upmu/timeline.h"

/** Number of kinds of rows. */
enum { ROW_KINDS = UPMU_ROW_OBJECT + 1 };

struct row {
    uint64_t number;
    int kind, event, wait_kind, result;
    uint32_t thread, object, region, holder; /**< indices of the pass, MAP_NONE if there is none */
    uint64_t begin_ns, end_ns;
    bool ended;
    uint32_t flags, stack;
    uint64_t count, site, holder_site, holder_since;
    pid_t peer;
    char *text; /**< of a mark or a name; NULL for others */
    struct upmu_value *counts;
    size_t n_counts;
};

/** The rows of a thread that have not ended: its nested waits and regions. */
struct row_open {
    uint32_t *rows;
    size_t n, cap;
    uint32_t last; /**< the row that ended last, to which the event adds its result */
};

struct upmu_timeline {
    struct upmu_timeline_opts opts;
    struct upmu_overview *facts;
    bool *threads, *objects; /**< by index of the pass: whether they match the filter; NULL: all */
    uint64_t begin_ns, from_ns, to_ns;
    uint64_t numbered, matched;
    struct row *rows;
    size_t n_rows, cap_rows;
    bool in_window; /**< the first event inside the window was processed */
    struct row_open *open;
    size_t n_open;
};

/** Hooks for the second reading. */
struct timeline_hooks rows_hooks(struct upmu_timeline *t);
/** After the last event. */
void rows_finish(struct upmu_timeline *t);
int rows_no_memory(void);

#endif
