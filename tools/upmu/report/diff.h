/* SPDX-License-Identifier: MIT */
/** @file Comparison of two recordings. */
#ifndef UPMU_TOOL_DIFF_H
#define UPMU_TOOL_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ui/output.h"
#include "report.h"

enum { DIFF_OLD, DIFF_NEW, DIFF_SIDES };

/** An item in one of the recordings. */
struct diff_side {
    bool there;
    uint64_t count, ns;      /**< instances of a region; waits; threads and their blocked time */
    uint64_t on_path_ns;     /**< locks: held on the critical path */
    uint64_t lifetime_ns;    /**< threads */
    struct upmu_value value; /**< counters */
};

/** Something that has the same name in both: addresses and ids differ from run to run. */
struct diff_item {
    char *name;
    const char *kind; /**< "mutex", ...; NULL: has none */
    struct diff_side side[DIFF_SIDES];
};

struct diff_list {
    struct diff_item *all; /**< the largest change first */
    size_t n, cap;
};

struct diff {
    const struct report *report[DIFF_SIDES];
    struct diff_list threads, locks, regions, counters;
    size_t top;
};

void diff_write_text(struct output *out, const struct diff *d);
void diff_write_json(struct output *out, const struct diff *d);

/** Whether a counter has a number on that side. */
bool diff_has_number(const struct diff_side *side);

#endif
