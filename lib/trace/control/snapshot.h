/* SPDX-License-Identifier: MIT */
/** @file Parts of a snapshot: streams and other files of one process. */
#ifndef UPMU_TRACE_SNAPSHOT_H
#define UPMU_TRACE_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "trace/read/meta.h"
#include "trace/read/recording.h"
#include "upmu/snapshot.h"

/** One moment on three clocks: the end of the snapshot. */
struct snapshot_cut {
    uint64_t tick; /**< of the CPU's counter; 0 without one */
    uint64_t raw_ns, real_ns;
};

/** The wait-state file before the cut. */
struct snapshot_waits {
    uint32_t *versions; /**< of the slots; NULL: there is no file */
    uint32_t slots;
};

/** A process being copied. */
struct snapshot_process {
    const char *from;
    char *to;
    struct meta meta;
    char *text; /**< of the metadata, as read before the cut */
    size_t text_len;
    struct path_list streams;
    struct snapshot_waits waits;
};

/** Message and code of a failed write to `path`. */
int snapshot_write_failed(const char *path, int err);

/** Copy the streams up to the cut, those of stacks and modules last. Adds to `out`. @return 0; UPMU_E_IO, UPMU_E_FORMAT,
 *  UPMU_E_NOMEM. */
int snapshot_streams(const struct snapshot_process *p, const struct snapshot_cut *cut, struct upmu_snapshot *out);

/** Read the wait-state file before the cut. @return 0; UPMU_E_NOMEM. */
int snapshot_waits_read(struct snapshot_process *p);
/** Write it: slots that have changed since are those of running threads. @return 0; UPMU_E_IO, UPMU_E_NOMEM. */
int snapshot_waits_write(const struct snapshot_process *p, const struct snapshot_cut *cut, struct upmu_snapshot *out);

/** Copy functions, maps of run-time generated code, and the control file, marked as that of a process that has ended.
 *  @return 0; UPMU_E_IO. */
int snapshot_files(const struct snapshot_process *p, struct upmu_snapshot *out);
/** Write the metadata with the reason: the last file. @return 0; UPMU_E_IO, UPMU_E_NOMEM. */
int snapshot_metadata(const struct snapshot_process *p, const char *reason, struct upmu_snapshot *out);

#endif
