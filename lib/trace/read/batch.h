/* SPDX-License-Identifier: MIT */
/** @file Batches of events for upmu_trace_read(). */
#ifndef UPMU_TRACE_BATCH_H
#define UPMU_TRACE_BATCH_H

#include <stddef.h>

#include "upmu/trace.h"

/** Copies of events, with their names and values. */
struct batch {
    struct upmu_trace_event *events;
    size_t used, n_events, cap_events; /* of `n_events` at most in this batch */
    char *bytes;
    size_t used_bytes, n_bytes;
};

/** Start a batch of at most `n` events; pointers into the last one become invalid. @return 0; UPMU_E_NOMEM. */
int batch_begin(struct batch *b, size_t n);
/** Copy an event. @return 1; 0: it does not fit beside those before; UPMU_E_NOMEM. */
int batch_add(struct batch *b, const struct upmu_trace_event *e, const struct upmu_trace_event **copy);
void batch_free(struct batch *b);

#endif
