/* SPDX-License-Identifier: MIT */
/** @file Limit of timelines: the longest spans, and points at even distances, in bounded memory. */
#ifndef UPMU_EXPORT_LIMIT_H
#define UPMU_EXPORT_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "upmu/trace.h"

enum { EXPORT_LIMIT = 1 << 18 }; /* spans; also marks, readings of counters, and arrows */

/** A span by its number in the order of begins. */
struct limit_span {
    uint64_t number, ns;
};

/** Points of one kind: one of `step` is shown. */
struct limit_points {
    uint64_t n, seen, step;
};

/** All zero: nothing is left out. A reading that picks ends with limit_picked(), the one that follows asks what is shown. */
struct limit {
    bool picking, picked;
    struct limit_span *spans; /**< the longest; once picked, by number */
    size_t n, next;
    bool full;
    struct limit_span least; /**< the least one kept, if `full` */
    uint64_t begun;          /**< spans begun in this reading */
    uint64_t omitted;        /**< spans, once picked */
    struct limit_points marks, readings;
};

/** While picking: a span has ended. @return 0; UPMU_E_NOMEM. */
int limit_offer(struct limit *limit, uint64_t number, uint64_t ns);
/** While picking: count the points that an event becomes. */
void limit_count(struct limit *limit, const struct upmu_trace_event *event);
/** All spans were offered. */
void limit_picked(struct limit *limit);
/** Number the next span that begins. @param shown out: it is not left out */
uint64_t limit_begin(struct limit *limit, bool *shown);
/** Whether the points of the next event are shown. */
bool limit_shows(struct limit *limit, const struct upmu_trace_event *event);
void limit_free(struct limit *limit);

#endif
