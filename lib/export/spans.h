/* SPDX-License-Identifier: MIT */
/** @file Spans of each thread, properly nested, passed to the format and summed up in the tree. */
#ifndef UPMU_EXPORT_SPANS_H
#define UPMU_EXPORT_SPANS_H

#include "export/export.h"

/** The hooks for timeline_read(), with the job as argument. */
struct timeline_hooks spans_hooks(struct export_job *job);
/** After the last event: end all open spans. @return 0 or an error. */
int spans_finish(struct export_job *job, uint64_t end_ns);
/** Before another reading. */
void spans_rewind(struct export_job *job);
void spans_free(struct export_job *job);

#endif
