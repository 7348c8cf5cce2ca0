/* SPDX-License-Identifier: MIT */
/** @file Processes of a trace directory. */
#ifndef UPMU_TRACE_RECORDING_H
#define UPMU_TRACE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format/control.h"
#include "trace/read/meta.h"

/** Paths, sorted by name. All zero is empty. */
struct path_list {
    char **paths;
    size_t n;
};

void path_list_free(struct path_list *list);

/** The directories of processes: those in `dir` that have metadata, or `dir` itself. @return 0; UPMU_E_IO, UPMU_E_NOMEM,
 *  UPMU_E_FORMAT (there is none). */
int recording_processes(const char *dir, struct path_list *out);

#define RECORDING_INTERRUPTED "recording was cut off while it started: nothing was recorded"
/** The directories of processes below `dir` that ended before they had metadata. @return 0, UPMU_E_IO, UPMU_E_NOMEM. */
int recording_interrupted(const char *dir, struct path_list *out);
/** Stream files of a process. @return 0; UPMU_E_IO, UPMU_E_NOMEM. */
int recording_streams(const char *process, struct path_list *out);

/** Read and parse the metadata of a process. `text` (may be NULL) gets the text, to be freed. @return as meta_parse(),
 *  UPMU_E_IO. */
int recording_metadata(const char *process, struct meta *m, char **text, size_t *len);

/** The control file of a process. @return false: it is missing, as in some copies, or another file. */
bool recording_control(const char *process, struct control_header *h);

/** A stretch in which a process recorded no events of locks and threads. */
struct recording_pause {
    uint64_t begin_raw_ns, end_raw_ns; /**< UINT64_MAX: it has not ended */
    bool counted;                      /**< mode counts was on */
};

/** These stretches in the order of time. Those in mode counts only if the process also recorded events. @return their number. */
size_t recording_pauses(const char *process, struct recording_pause pauses[CONTROL_PAUSES]);

enum { RECORDING_NOTE_MAX = 640 };

/** Totals of the packets of a process. */
struct recording_totals {
    uint64_t events;
    uint64_t packets; /**< with events, of files that grow */
    uint64_t lost;
    uint64_t lost_any; /**< of `lost`, those that may be of any kind; all of them if the causes are not known */
    char lost_note[RECORDING_NOTE_MAX]; /**< by the control file: why; "" if nothing was lost or it is not known */
    uint64_t overwritten;               /**< replaced by later events in rings */
    uint32_t stopped;                   /**< by the control file: enum control_stopped */
    uint64_t memory;                    /**< by the control file: of the recorder, bytes; 0: not known */
    uint32_t blocks;                    /**< by the control file: threads that it was for */
    uint32_t
        children_filtered; /**< by the control file: forked ones that are not recorded, since a filter may forbid it */
    uint32_t
        children_failed; /**< by the control file: forked ones that are not recorded, since they could not make files */
    uint32_t children_forked; /**< by the control file: calls of fork() */
    uint32_t parent;          /**< by the control file: process id of the parent; 0: not known */
    bool has_parent;          /**< the control file has both */
    uint32_t pauses;          /**< by the control file: stretches without recording of locks */
    bool counted; /**< by the control file: a part of it was in mode counts, which records no orders of locks */
    uint64_t paused_more_ns;  /**< by the control file: of these, the total of those that are not kept one by one */
    uint64_t start_ticks;     /**< by the control file: start time of the process; 0: not known */
    struct clock_triple last; /**< the latest moment on all clocks; all zero if there is none */
};

/** Read the heads of all packets of a process. Damage ends a stream without an error; reading its events reports it.
 *  @return 0; UPMU_E_IO, UPMU_E_NOMEM. */
int recording_totals(const char *process, const struct path_list *streams, const struct meta *m,
                     struct recording_totals *out);

/** Fit the clock of an incomplete process to the longest baseline of its packets. @return 1 if the clock has changed,
 *  else 0. */
int recording_refit(struct meta *m, const struct recording_totals *totals);

/** The largest distance between the clock's line and the times in the packets of a process, with their uncertainty.
 *  @return 0 and `*error_ns` (UINT64_MAX: no times recorded); UPMU_E_IO, UPMU_E_NOMEM. */
int recording_clock_error(const struct path_list *streams, const struct meta *m, uint64_t *error_ns);

#endif
