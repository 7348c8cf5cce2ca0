/* SPDX-License-Identifier: MIT */
/** @file State of a trace being read. */
#ifndef UPMU_TRACE_READER_H
#define UPMU_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "trace/read/batch.h"
#include "trace/read/context.h"
#include "trace/read/filter.h"
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
    uint64_t clock_error_ns; /* of the packets when it was asked for first, or since an update; valid if known */
    bool clock_error_known;  /* atomic: several threads may ask at once */
};

struct upmu_trace {
    char *dir;
    struct process *processes;
    size_t n_processes;
    struct source *sources;
    size_t n_sources;
    size_t n_begun;       /* sources whose first event was read */
    struct source **heap; /* those with an event, the earliest first */
    size_t n_heap;
    struct source *given; /* the source of the caller's event; advanced at the next call */
    char **problems;      /* processes that could not be opened, reported after the last event */
    size_t n_problems, n_reported;
    size_t n_checked; /* processes checked for missing packets after the last event */
    bool damaged;     /* damage was reported to the caller */
    struct filter filter;
    struct batch batch;
    bool unread; /* the event of `given` did not fit into the batch */
    int pending; /* an error after the first event of a batch, for the next call; 0: none */
    char pending_text[ERROR_TEXT_MAX];
};

/** Read the data of the process in `dir`, without its events. @return 0, or the code of the failure; free partial data with
 *  reader_free_process(). */
int reader_open_process(struct process *p, const char *dir);
void reader_free_process(struct process *p);

#endif
