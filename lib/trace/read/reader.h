/* SPDX-License-Identifier: MIT */
/** @file State of a trace being read. */
#ifndef UPMU_TRACE_READER_H
#define UPMU_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/read/context.h"
#include "trace/read/meta.h"
#include "trace/read/recording.h"
#include "trace/read/source.h"
#include "upmu/trace.h"

/** A process of the recording. */
struct process {
    char *dir;
    struct meta meta;
    struct path_list streams;
    struct recording_totals totals;
    struct context context;
};

struct upmu_trace {
    char *dir;
    struct process *processes;
    size_t n_processes;
    struct source *sources;
    size_t n_sources;
    size_t n_begun;       /* sources that have been asked for their first event */
    struct source **heap; /* those with an event, the earliest first */
    size_t n_heap;
    struct source *given; /* whose event the caller has; asked for its next one at the next call */
    char **problems; /* of processes that could not be opened: they are left out, and reported after the last event */
    size_t n_problems, n_told;
    size_t n_checked; /* processes whose packets were found to be all there, or not, after the last event */
    bool damaged;     /* the caller knows that something is missing */
};

/** Read what is known of the process that lies in `dir`, without its events. @return 0, or the code of what failed: what
 *  was taken until then is to be freed with reader_free_process(). */
int reader_open_process(struct process *p, const char *dir);
void reader_free_process(struct process *p);

#endif
