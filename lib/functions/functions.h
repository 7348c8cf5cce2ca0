/* SPDX-License-Identifier: MIT */
/** @file What upmu/functions.h keeps of a recording. */
#ifndef UPMU_FUNCTIONS_FUNCTIONS_H
#define UPMU_FUNCTIONS_FUNCTIONS_H

#include <limits.h>
#include <stdbool.h>

#include "base/map.h"
#include "func/format/profile.h"
#include "functions/streams.h"
#include "symbols/symbols.h"
#include "upmu/functions.h"

enum { FUNCTIONS_INLINED_MAX = 32, FUNCTIONS_DAMAGES_MAX = 1000 };

struct functions_row {
    uint32_t module; /**< in `symbols`; UINT32_MAX: not known */
    uint64_t offset;
    char *path;
    const char *name, *file; /**< of `symbols` */
    uint32_t line;
    uint32_t recursive;
};

struct functions_rank {
    uint64_t exclusive_ns, calls;
    uint32_t row;
};

/** The next event of a stream. */
struct functions_next {
    struct stream_event event;
    uint32_t stream;
};

struct upmu_functions {
    bool stretch; /**< the profile is of a stretch */
    struct symbols *symbols;
    struct functions_row *rows;
    size_t n_rows, cap_rows;
    struct map by_place; /**< row of a module and offset */
    struct func_profile profile;
    struct functions_rank *order; /**< rows by importance */
    size_t n_called;              /**< of these, the first ones, which were called */
    uint32_t *place;              /**< the reverse */
    struct upmu_functions_totals totals;
    struct func_counter counters[FUNC_COUNTERS_MAX]; /**< events that calls have counted */
    uint32_t n_counters;
    struct functions_stream *streams; /**< of threads with events */
    size_t n_streams, cap_streams;
    struct functions_next *next; /**< a heap: the earliest one first */
    size_t n_next;
};

#endif
