/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Steering a recording from outside: start, stop and change sync tracing in a process that runs, put marks into its
 * trace, and ask how far it is. Link with libupmu_analysis; `upmu ctl` is this on the command line.
 *
 *     struct upmu_control *c;
 *     int rc = upmu_control_open_pid(&c, pid);
 *     if (rc == 0)
 *         rc = upmu_control_mark(c, 0, "load begins");
 *     upmu_control_close(c);
 *
 * It works through a file in the trace's directory that the process has mapped: no signal, no socket, and no thread in
 * the process. Only the user whose process it is can do so. Functions that fail say why in upmu_error().
 */
#ifndef UPMU_CONTROL_H
#define UPMU_CONTROL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/api.h"
#include "upmu/sync.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** The processes of a recording, or one of them. One thread at a time. */
struct upmu_control;

/** What a process records of locks and threads, besides enum upmu_sync_mode. */
enum {
    UPMU_CONTROL_STOPPED = -1, /**< nothing for now; upmu_control_start() goes on */
    UPMU_CONTROL_NO_SYNC = -2, /**< nothing: sync tracing is not in the process, or the program has ended it */
};

/** How far a process is. */
struct upmu_control_status {
    size_t size;      /**< in: sizeof(struct upmu_control_status) */
    pid_t pid;        /**< as the process itself sees it */
    uint32_t running; /**< 1: it lives and records */
    int32_t mode;     /**< enum upmu_sync_mode, UPMU_CONTROL_STOPPED, UPMU_CONTROL_NO_SYNC */
    uint32_t threads; /**< threads with events in the trace so far */
    uint64_t events;  /**< committed so far */
    uint64_t lost;    /**< lost so far; `lost_note` of struct upmu_trace_process has the causes */
    const char *dir;  /**< the process's directory; lives as long as the control is open */
};
#define UPMU_CONTROL_STATUS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_control_status, 48)

/**
 * Open the recording `dir`, or the directory of one process in it. Processes that have ended are among them.
 * @return 0; UPMU_E_IO (no such directory, not readable), UPMU_E_FORMAT (not a libupmu trace), UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_control_open(struct upmu_control **control, const char *dir);

/**
 * Open the trace that the running process `pid` writes, wherever it lies.
 * @return 0; UPMU_E_GONE (no such process), UPMU_E_PERM (it is another user's), UPMU_E_STATE (it records nothing),
 *         UPMU_E_IO, UPMU_E_FORMAT, UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_control_open_pid(struct upmu_control **control, pid_t pid);

/** Number of processes, at least 1. */
UPMU_API size_t upmu_control_process_count(const struct upmu_control *control);

/** How far process `index` is. @return 0; UPMU_E_INVAL (index, size), UPMU_E_IO, UPMU_E_FORMAT, UPMU_E_VERSION. */
UPMU_API UPMU_CHECKED int upmu_control_status_read(const struct upmu_control *control, size_t index,
                                                   struct upmu_control_status *out);

/**
 * Go on recording locks and threads in process `index`, in the mode it had before it was stopped.
 * @return 0, also if it records already; UPMU_E_INVAL (index); UPMU_E_GONE (it has ended); UPMU_E_STATE (sync tracing
 *         is not in the process); UPMU_E_PERM (it is another user's); UPMU_E_VERSION (a libupmu that is controlled
 *         otherwise); UPMU_E_IO, UPMU_E_FORMAT (its control file).
 */
UPMU_API UPMU_CHECKED int upmu_control_start(const struct upmu_control *control, size_t index);

/** Record no more locks and threads; regions and marks go on. @return as upmu_control_start(). */
UPMU_API UPMU_CHECKED int upmu_control_stop(const struct upmu_control *control, size_t index);

/** Record in mode `mode` (enum upmu_sync_mode) from now on, or from the next start on if it is stopped.
 *  @return as upmu_control_start(); UPMU_E_INVAL (mode). */
UPMU_API UPMU_CHECKED int upmu_control_set_mode(const struct upmu_control *control, size_t index, int mode);

/**
 * Put a mark into the trace. The process's next event takes it along, so it bears that event's time and thread; while
 * the process is idle it waits.
 * @return 1: it is in the trace (seen within 100 ms); 0: it waits; UPMU_E_INVAL (index; `text` empty or longer than 255
 *         bytes); UPMU_E_BUSY (one waits already, and only one can); otherwise as upmu_control_start().
 */
UPMU_API UPMU_CHECKED int upmu_control_mark(const struct upmu_control *control, size_t index, const char *text);

/** Close; NULL is fine. The processes go on as they are. */
UPMU_API void upmu_control_close(struct upmu_control *control);

UPMU_END_DECLS

#endif
