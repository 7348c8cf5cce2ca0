/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Recording what threads do to each other: mutexes, condition variables, semaphores, threads, and locks of one's own.
 * Link with libupmu_sync (pkg-config upmu-sync), or preload it into a program that knows nothing of it with
 * `upmu record -- COMMAND`; both at once record each event once.
 *
 *     upmu_sync_begin(NULL);      // from here on the POSIX calls of the whole process are recorded
 *     run_threads();
 *     upmu_sync_end();
 *
 * The events lie in the trace of the process (upmu/trace.h), beside regions, marks and counters and on the same clock.
 * Without upmu_sync_begin() and without UPMU_SYNC in the environment nothing is recorded, and a call costs one load and
 * a branch more than before.
 *
 * The functions below are thread safe. Those about locks of one's own are async-signal-safe after their first use in a
 * thread, keep errno, and may be called while recording is off.
 */
#ifndef UPMU_SYNC_H
#define UPMU_SYNC_H

#include <stddef.h>
#include <stdint.h>

#include "upmu/api.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** How much is recorded of locks. Contention is decided by trying, never by time. */
enum upmu_sync_mode {
    UPMU_SYNC_CONTENDED = 0, /**< blocks whole, with the holder and its site; uncontended pairs are counted exactly */
    UPMU_SYNC_HOLDERS = 1,   /**< as above, and every acquisition is stamped, so that "held since" is always known */
    UPMU_SYNC_ALL = 2,       /**< every acquisition and release is an event */
    UPMU_SYNC_COUNTS = 3,    /**< counts only: acquisitions and contended ones per thread and lock, no events */
};

/** Options of upmu_sync_begin(); all zero but `size`: mode contended, stacks of 16 frames, the default directory. */
struct upmu_sync_opts {
    size_t size;          /**< sizeof(struct upmu_sync_opts) */
    uint32_t mode;        /**< enum upmu_sync_mode; UPMU_SYNC (contended, holders, all, counts) wins over it */
    uint32_t stack_depth; /**< most frames per stack, 0 = 16, at most 64; UPMU_SYNC_NO_STACKS = none */
    const char *trace;    /**< directory of the recording; NULL: UPMU_TRACE, or "upmu-trace" */
    /** Modes contended, holders: of the acquisitions without contention one in so many is recorded with its release, so
     *  that times of holding are known; 0 = 1024; UPMU_SYNC_NO_SAMPLES. */
    uint32_t sample;
    /** 1: when each thread runs, is preempted and waits is recorded too, by the kernel's own records of its switches, as
     *  far as the kernel allows; UPMU_SCHED does the same. */
    uint32_t sched;
    /** 1: the counters of regions (UPMU_EVENTS) are read at the begin and end of each wait, at the release of locks that
     *  were waited for, and around those samples; UPMU_SYNC_COUNTERS does the same. */
    uint32_t counters;
    /** 1, in mode all: each call that would wait for a lock is an event of its own, before the lock is tried, beside that of
     *  the acquisition; UPMU_SYNC_REQUESTS does the same. What the program announces of its own locks has none. */
    uint32_t requests;
};
#define UPMU_SYNC_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_sync_opts, 40)

/** `stack_depth` for no stacks at all: the call site only. */
#define UPMU_SYNC_NO_STACKS UINT32_MAX

/** `sample` for no such samples. */
#define UPMU_SYNC_NO_SAMPLES UINT32_MAX

/**
 * Record from here on, in all threads of the process. Begins nest: recording ends with the matching upmu_sync_end().
 * @param opts NULL: the defaults, or those of the recording that is on
 * @return 0; UPMU_E_NESTED (recording is on with other options, which stay in force; this begin does not count, so no end
 *         belongs to it; never if UPMU_SYNC is set), UPMU_E_INVAL (mode, size), UPMU_E_IO (the trace cannot be made), UPMU_E_NOMEM,
 *         UPMU_E_STATE (another copy of the library records in this process already). Not signal safe.
 */
UPMU_API int upmu_sync_begin(const struct upmu_sync_opts *opts);

/** Stop recording; the trace stays open for regions and for another begin. @return 0; UPMU_E_STATE (no begin). */
UPMU_API int upmu_sync_end(void);

/** Change the mode while recording. @return the mode before (the new one if recording was paused), UPMU_E_INVAL, or
 *  UPMU_E_STATE (nothing is recorded). Signal safe. */
UPMU_API int upmu_sync_set_mode(int mode);

/* ---------------------------------------------------------------------------------- locks of one's own making */

/** Announce a lock of the program's own (a spin lock, a user-level mutex): `lock` is its address, its identity from now
 *  until retired; `name` is copied, NULL for none. Announcing is optional. */
UPMU_API void upmu_lock_announce(const void *lock, const char *name);

/** The calling thread is about to wait for `lock`: call when trying has failed. It waits until it has it: a wait that may be
 *  given up is not announced. */
UPMU_API void upmu_lock_will_acquire(const void *lock);

/** The calling thread has `lock` now, after a wait or at once, by a call that waits as long as it must. */
UPMU_API void upmu_lock_acquired(const void *lock);

/** The calling thread has `lock` now, by a call that would not have waited for it. Whoever tries does not become part of a
 *  deadlock by it, so this keeps the order of locks from being called an inversion. A try that fails is not announced. */
UPMU_API void upmu_lock_tried(const void *lock);

/** The calling thread has given `lock` back. */
UPMU_API void upmu_lock_released(const void *lock);

/** The lock ends; its address may become another lock. */
UPMU_API void upmu_lock_retired(const void *lock);

/** Name any lock, mutex, condition variable or semaphore for the report. `name` is copied. The first 256 names given before
 *  recording begins are kept for it; more are lost, and counted. */
UPMU_API void upmu_lock_name(const void *object, const char *name);

UPMU_END_DECLS

#endif
