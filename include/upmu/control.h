/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Control of a recording from another process: start, stop and change lock tracing and function recording, add marks, read
 * the status.
 * Link with libupmu_analysis; `upmu ctl` has the same on the command line.
 *
 *     struct upmu_control *c;
 *     int rc = upmu_control_open_pid(&c, pid);
 *     if (rc == 0)
 *         rc = upmu_control_mark(c, 0, "load begins");
 *     upmu_control_close(c);
 *
 * The functions write to control files in the trace directory, which the recorded process has mapped: no signal, socket or
 * thread of that process is needed. Only the user of the process has permission. Functions with an index return UPMU_E_END
 * if there is no such process. A control may be used by one thread at a time; no function here is async-signal-safe.
 */
#ifndef UPMU_CONTROL_H
#define UPMU_CONTROL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/api.h"
#include "upmu/func.h"
#include "upmu/sync.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** The processes of a recording, or one of them. */
struct upmu_control;

/** Modes of a process besides enum upmu_sync_mode. */
enum {
    UPMU_CONTROL_STOPPED = -1, /**< lock tracing is stopped; upmu_control_start() continues it */
    UPMU_CONTROL_NO_SYNC = -2, /**< no lock tracing: not in the process, or ended by the program */
};

/** Function recording of a process. */
enum upmu_control_functions {
    UPMU_CONTROL_FUNCTIONS_NONE = 0,    /**< not in the process, or ended */
    UPMU_CONTROL_FUNCTIONS_ON = 1,      /**< calls are recorded */
    UPMU_CONTROL_FUNCTIONS_STOPPED = 2, /**< upmu_control_functions_start() starts it */
};

/** Status of a process. */
struct upmu_control_status {
    size_t size;       /**< in: sizeof(struct upmu_control_status); out: bytes filled */
    pid_t pid;         /**< process id in the PID namespace of the process */
    uint32_t running;  /**< 1: it runs and records */
    int32_t mode;      /**< enum upmu_sync_mode, UPMU_CONTROL_STOPPED or UPMU_CONTROL_NO_SYNC */
    uint32_t threads;  /**< threads with events so far */
    uint64_t events;   /**< events committed so far */
    uint64_t lost;     /**< events dropped so far; upmu_trace_process.lost_note has the causes */
    const char *dir;   /**< directory of the process, valid until upmu_control_close() */
    int32_t functions; /**< enum upmu_control_functions */
    uint32_t reserved; /**< 0 */
};
#define UPMU_CONTROL_STATUS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_control_status, 48)

/**
 * Open a recording, or the directory of one process in it. Ended processes are included.
 * @param control out: to be closed with upmu_control_close(); NULL on failure
 * @param dir     path of the directory
 * @return 0; UPMU_E_IO (no such directory, or unreadable), UPMU_E_FORMAT (not a libupmu trace), UPMU_E_NOMEM, UPMU_E_INVAL
 *         (NULL).
 */
UPMU_API UPMU_CHECKED int upmu_control_open(struct upmu_control **control, const char *dir);

/**
 * Open the trace of a running process, wherever its directory is.
 * @param control out: to be closed with upmu_control_close(); NULL on failure
 * @return 0; UPMU_E_GONE (no such process), UPMU_E_PERM (process of another user), UPMU_E_STATE (it records nothing),
 *         UPMU_E_IO, UPMU_E_FORMAT, UPMU_E_NOMEM, UPMU_E_INVAL (NULL).
 */
UPMU_API UPMU_CHECKED int upmu_control_open_pid(struct upmu_control **control, pid_t pid);

/** Number of processes, at least 1; 0 if `control` is NULL. */
UPMU_API size_t upmu_control_process_count(const struct upmu_control *control);

/** Status of process `index`. @return 0; UPMU_E_END; UPMU_E_INVAL (NULL, size); UPMU_E_IO, UPMU_E_FORMAT, UPMU_E_VERSION. */
UPMU_API UPMU_CHECKED int upmu_control_status_read(const struct upmu_control *control, size_t index,
                                                   struct upmu_control_status *out);

/**
 * Start lock tracing in process `index`, in the mode before it was stopped. No effect if it runs.
 * @return 0; UPMU_E_END; UPMU_E_INVAL (NULL); UPMU_E_GONE (the process has ended); UPMU_E_STATE (no lock tracing in the
 *         process); UPMU_E_PERM (process of another user); UPMU_E_VERSION (a release with another control file); UPMU_E_IO,
 *         UPMU_E_FORMAT (its control file).
 */
UPMU_API UPMU_CHECKED int upmu_control_start(const struct upmu_control *control, size_t index);

/** Stop lock tracing in process `index`; regions and marks are recorded further on. @return as upmu_control_start(). */
UPMU_API UPMU_CHECKED int upmu_control_stop(const struct upmu_control *control, size_t index);

/** Set the mode of process `index` (enum upmu_sync_mode); if lock tracing is stopped, for the next start.
 *  @return as upmu_control_start(); UPMU_E_INVAL (`mode`). */
UPMU_API UPMU_CHECKED int upmu_control_set_mode(const struct upmu_control *control, size_t index, int mode);

/**
 * Add a mark to the trace of process `index`. It is recorded with the next event of the process, with the time and thread of
 * that event; until then it is pending.
 * @param text 1 to 255 bytes
 * @return 1: recorded, within 100 ms; 0: pending; UPMU_E_INVAL (NULL, length of `text`); UPMU_E_BUSY (another mark is pending;
 *         there can be one); else as upmu_control_start().
 */
UPMU_API UPMU_CHECKED int upmu_control_mark(const struct upmu_control *control, size_t index, const char *text);

/**
 * Start recording of functions in process `index`. No effect if they are recorded.
 * @return 0; UPMU_E_END; UPMU_E_INVAL (NULL); UPMU_E_GONE (the process has ended); UPMU_E_STATE (no recording of functions in the
 *         process, or its machine has pages that are too large); UPMU_E_PERM (process of another user); UPMU_E_VERSION,
 *         UPMU_E_FORMAT (its file); UPMU_E_IO.
 */
UPMU_API UPMU_CHECKED int upmu_control_functions_start(const struct upmu_control *control, size_t index);

/** Stop recording of functions in process `index`: calls that have not returned end. @return as upmu_control_functions_start(). */
UPMU_API UPMU_CHECKED int upmu_control_functions_stop(const struct upmu_control *control, size_t index);

/** Select other functions in process `index`, as upmu_func_select(). @return as upmu_control_functions_start(); UPMU_E_INVAL
 *  (patterns); UPMU_E_STATE (`min_ns` without events of each call). */
UPMU_API UPMU_CHECKED int upmu_control_functions_select(const struct upmu_control *control, size_t index,
                                                        const struct upmu_func_selection *selection);

/** Close and free; NULL does nothing. The recording is not changed. */
UPMU_API void upmu_control_close(struct upmu_control *control);

UPMU_END_DECLS

#endif
