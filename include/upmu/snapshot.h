/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Snapshots of a running recording: a flight recorder. The recorded program is not stopped, and gets no signal: its files are
 * copied as they are at one moment. Link with libupmu_analysis; `upmu record --snapshot-on` and `upmu ctl PID snapshot` have
 * the same on the command line.
 *
 *     struct upmu_snapshot_watch *watch;
 *     struct upmu_snapshot s = {.size = sizeof s};
 *     int rc = upmu_snapshot_watch_open(&watch, "DIR", "DIR-snapshots", NULL);
 *     while (rc >= 0 && (rc = upmu_snapshot_watch_poll(watch, &s)) >= 0) {
 *         if (rc > 0)
 *             printf("%s: %s\n", s.path, s.reason);
 *         usleep(10000);
 *     }
 *     upmu_snapshot_watch_close(watch);
 *
 * A snapshot is a complete recording, with the events up to the moment at which it was taken. Triggers are compared in the
 * recorded program, which has them in its environment (UPMU_SNAPSHOT_ON). Only the user of the processes has permission. A
 * watch may be used by one thread at a time; no function here is async-signal-safe.
 */
#ifndef UPMU_SNAPSHOT_H
#define UPMU_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "upmu/api.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** A snapshot that was taken. */
struct upmu_snapshot {
    size_t size;        /**< in: sizeof(struct upmu_snapshot); out: bytes filled */
    const char *path;   /**< its directory; of a watch, valid until the next call with it */
    const char *reason; /**< why it was taken; likewise */
    uint64_t bytes;     /**< bytes written */
    uint64_t packets;   /**< packets of events written */
    uint64_t missed; /**< packets of rings that the program overwrote before they were copied: a gap at the beginning */
    uint64_t took_ns;   /**< time from its moment until it was complete, nanoseconds; the program runs meanwhile */
    uint32_t processes; /**< number of processes in it */
};
#define UPMU_SNAPSHOT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_snapshot, 64)

/**
 * Copy a recording as it is now. All streams end at the same moment.
 * @param recording directory of a recording, or of one process in it; ended processes are included
 * @param path      directory of the snapshot, missing or empty; it appears once it is complete
 * @param reason    text that reports show, up to 255 bytes; NULL: "requested"
 * @param out       filled on success; its strings are the arguments
 * @return 0; UPMU_E_IO (cannot be read or written, disk full; nothing is left at `path`), UPMU_E_FORMAT (not a recording, or
 *         damaged), UPMU_E_VERSION, UPMU_E_NOMEM, UPMU_E_INVAL (NULL, size).
 */
UPMU_API UPMU_CHECKED int upmu_snapshot_take(const char *recording, const char *path, const char *reason,
                                             struct upmu_snapshot *out);

/** Kinds of triggers. */
enum upmu_trigger {
    UPMU_TRIGGER_REGION = 1, /**< "region NAME > 50 ms": an instance of the region takes longer */
    UPMU_TRIGGER_WAIT = 2,   /**< "wait [lock|cond|sem|barrier|join|futex|any] > 100 ms": a wait takes longer; without a
                                    kind, a wait for a lock */
    UPMU_TRIGGER_DEADLOCK =
        3, /**< "deadlock": threads are deadlocked; found by the caller of upmu_deadlock_watch_poll() */
};

/** Check the text of a trigger. @return enum upmu_trigger; UPMU_E_INVAL (NULL, or not a trigger; the message has the possible forms). */
UPMU_API UPMU_CHECKED int upmu_trigger_check(const char *text);

/** A recording whose triggers are carried out. */
struct upmu_snapshot_watch;

/** Options of upmu_snapshot_watch_open(). */
struct upmu_snapshot_watch_opts {
    size_t size;          /**< sizeof(struct upmu_snapshot_watch_opts) */
    uint64_t interval_ns; /**< least time between two snapshots, nanoseconds; 0: 10 s */
    uint32_t most;        /**< most snapshots in all; 0: 16 */
};
#define UPMU_SNAPSHOT_WATCH_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_snapshot_watch_opts, 24)

/**
 * Watch a recording. Processes that begin later are included.
 * @param watch     out: to be closed with upmu_snapshot_watch_close(); NULL on failure
 * @param recording directory of a recording, which may be empty yet, or of one process in it
 * @param directory where snapshots get directories 1, 2, ...; made with the first one
 * @param opts      NULL: defaults
 * @return 0; UPMU_E_NOMEM; UPMU_E_INVAL (NULL, size).
 */
UPMU_API UPMU_CHECKED int upmu_snapshot_watch_open(struct upmu_snapshot_watch **watch, const char *recording,
                                                   const char *directory, const struct upmu_snapshot_watch_opts *opts);

/**
 * Take a snapshot if a trigger has requested one. Costs the recorded program nothing; every 10 ms is appropriate. Call it once
 * more after the program has ended: the request of its last moments may be pending.
 * @param out filled if a snapshot was taken
 * @return 1: taken; 0: no request; else as upmu_snapshot_take(), and the watch stays usable.
 */
UPMU_API UPMU_CHECKED int upmu_snapshot_watch_poll(struct upmu_snapshot_watch *watch, struct upmu_snapshot *out);

/**
 * Take a snapshot for a reason that the caller has found, as for a deadlock.
 * @return 1: taken; 0: not, as the interval has not passed or there are enough (counted in `skipped`); else as
 *         upmu_snapshot_take().
 */
UPMU_API UPMU_CHECKED int upmu_snapshot_watch_take(struct upmu_snapshot_watch *watch, const char *reason,
                                                   struct upmu_snapshot *out);

/** Totals of a watch. */
struct upmu_snapshot_totals {
    size_t size;        /**< in: sizeof(struct upmu_snapshot_totals); out: bytes filled */
    uint64_t taken;     /**< snapshots taken */
    uint64_t failed;    /**< snapshots that failed */
    uint64_t skipped;   /**< times a trigger held and no snapshot was taken, within the interval or beyond the most */
    uint64_t missed;    /**< packets overwritten before they were copied, all snapshots together */
    uint32_t programs;  /**< processes with a threshold of a region or wait */
    uint32_t deadlocks; /**< processes with "deadlock" among their triggers: call upmu_deadlock_watch_poll() */
};
#define UPMU_SNAPSHOT_TOTALS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_snapshot_totals, 48)
/** Read the totals, as of the last call. @return 0; UPMU_E_INVAL (NULL, size). */
UPMU_API UPMU_CHECKED int upmu_snapshot_watch_totals_read(const struct upmu_snapshot_watch *watch,
                                                          struct upmu_snapshot_totals *out);

/** Close and free; NULL does nothing. Snapshots stay. */
UPMU_API void upmu_snapshot_watch_close(struct upmu_snapshot_watch *watch);

UPMU_END_DECLS

#endif
