/* SPDX-License-Identifier: MIT */
/** @file Messages of MPI as arrows between the spans of calls. */
#ifndef UPMU_EXPORT_MESSAGES_H
#define UPMU_EXPORT_MESSAGES_H

#include "export/export.h"
#include "upmu/mpi.h"

/** Half an arrow. All zero but `received`: before the first one of a span. */
struct export_arrow {
    bool received; /**< in: those that end with the span, instead of those that begin with it */
    uint64_t id;   /**< 1, 2, ...: of the message */
    struct upmu_mpi_message message;
};

/** The next message that begins at the begin, or ends at the end, of a span. @return 1; 0: none; an error. */
int messages_next(struct export_job *job, const struct span *s, struct export_arrow *a);
void messages_free(struct export_job *job);

#endif
