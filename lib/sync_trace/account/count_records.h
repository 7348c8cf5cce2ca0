/* SPDX-License-Identifier: MIT */
/** @file Events with the acquisition counts per thread and lock. */
#ifndef UPMU_SYNC_COUNT_RECORDS_H
#define UPMU_SYNC_COUNT_RECORDS_H

#include "sync_trace/state/counts.h"

struct trace_stream;

/** Record the counts that changed since the last time, into `stream` (the thread's own, or one acquired on its behalf). */
void sync_counts_write(struct sync_thread *t, struct trace_stream *stream);
/** The same if the last time was long ago. */
void sync_counts_write_due(struct sync_thread *t, uint64_t now);
/** A lock ends: record what every thread has counted of it, so that the next lock at its address has its own counts. A
 *  `type` of UPMU_OBJECT_NONE becomes the one it was counted as. @return whether all of that is in the trace. */
bool sync_counts_final(struct sync_thread *t, uintptr_t object, int32_t *type);

#endif
