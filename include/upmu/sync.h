/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Lock tracing: records events of mutexes, condition variables, semaphores, threads, and custom locks of a program.
 * Link with libupmu_sync (pkg-config upmu-sync), or preload it into an unchanged program with `upmu record -- COMMAND`.
 * With both, each event is recorded once.
 *
 *     upmu_sync_begin(NULL);      // from here on the POSIX calls of the whole process are recorded
 *     run_threads();
 *     upmu_sync_end();
 *
 * The events are in the trace of the process (upmu/trace.h), with regions, marks and counters, on one clock. Without
 * upmu_sync_begin() and without UPMU_SYNC in the environment nothing is recorded, and the overhead of each call is one load
 * and one branch.
 *
 * All functions are thread safe. upmu_lock_*() keep errno, may be called while recording is off, and are async-signal-safe
 * after their first use in a thread.
 */
#ifndef UPMU_SYNC_H
#define UPMU_SYNC_H

#include <stddef.h>
#include <stdint.h>

#include "upmu/api.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** Extent of the recording. A lock counts as contended if a try to acquire it fails; no time threshold is used. */
enum upmu_sync_mode {
    UPMU_SYNC_HOLDERS = 0, /**< events of contended acquisitions, with the holder, its call site and the time of its
                                  acquisition; exact counts of others */
    UPMU_SYNC_CONTENDED =
        1,                /**< the same without reading the clock at each acquisition: the start of the first hold that
                                  is waited for is unknown */
    UPMU_SYNC_ALL = 2,    /**< events of every acquisition and release */
    UPMU_SYNC_COUNTS = 3, /**< exact counts of acquisitions and contended ones per thread and lock, no events */
};

/** Options of upmu_sync_begin(); all zero but `size`: mode holders, 16 frames per stack, the default directory. */
struct upmu_sync_opts {
    size_t size;          /**< sizeof(struct upmu_sync_opts) */
    uint32_t mode;        /**< enum upmu_sync_mode; the variable UPMU_SYNC takes precedence */
    uint32_t stack_depth; /**< frames per call stack, at most 256; 0: 16; UPMU_SYNC_NO_STACKS: none */
    const char *trace;    /**< directory of the recording, or UPMU_TRACE_MEMORY; NULL: UPMU_TRACE, or "upmu-trace" */
    /** Modes holders, contended: one in so many uncontended acquisitions is recorded with its release, so that hold times are
     *  known; 0: 1024; UPMU_SYNC_NO_SAMPLES: none. */
    uint32_t sample;
    /** 1: also record the scheduling of the threads (running, preempted, blocked) from the kernel's context switch records, if
     *  the kernel permits; as the variable UPMU_SCHED. */
    uint32_t sched;
    /** 1: read the counters of regions (UPMU_EVENTS) at the begin and end of each wait, at the release of contended locks, and
     *  around samples; as the variable UPMU_SYNC_COUNTERS. */
    uint32_t counters;
    /** 1, in mode all: an additional event for each call that may wait for a lock, before the lock is tried; not for custom
     *  locks; as the variable UPMU_SYNC_REQUESTS. */
    uint32_t requests;
    /** 1, in mode all: a call stack for every event that has a caller, ends of waits and releases included; without it they
     *  have one if another thread waited; as the variable UPMU_SYNC_ALL_STACKS. */
    uint32_t all_stacks;
    /** 1: do not record the waits of calls that are not about locks (UPMU_TRACE_CALL_BLOCK), as the variable
     *  UPMU_SYNC_NO_CALLS. */
    uint32_t no_calls;
};
#define UPMU_SYNC_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_sync_opts, 40)

/** upmu_sync_opts.stack_depth: no call stacks, call sites only. */
#define UPMU_SYNC_NO_STACKS UINT32_MAX

/** upmu_sync_opts.sample: no samples. */
#define UPMU_SYNC_NO_SAMPLES UINT32_MAX

/**
 * Begin recording in all threads of the process. Calls nest: recording ends with the matching upmu_sync_end().
 * @param opts NULL: the defaults, or those of the recording in progress; not used after the call
 * @return 0; UPMU_E_NESTED (recording is on with other options, which do not change; no upmu_sync_end() belongs to this call.
 *         Not returned if UPMU_SYNC is set), UPMU_E_INVAL (`opts`), UPMU_E_IO (the trace cannot be created), UPMU_E_NOMEM,
 *         UPMU_E_STATE (another copy of the library records in this process). Not async-signal-safe.
 */
UPMU_API int upmu_sync_begin(const struct upmu_sync_opts *opts);

/** End recording. The trace remains open for regions and for another upmu_sync_begin().
 *  @return 0; UPMU_E_STATE (no matching begin). Not async-signal-safe. */
UPMU_API int upmu_sync_end(void);

/** Change the mode (enum upmu_sync_mode) while recording. @return the mode before (the new one if recording was stopped by
 *  upmu_control_stop()); UPMU_E_INVAL (`mode`), UPMU_E_STATE (recording is off). Async-signal-safe; upmu_error() is not
 *  changed. */
UPMU_API int upmu_sync_set_mode(int mode);

/* ------------------------------------------------------------------------------------------------ custom locks */

/** Announce a custom lock (a spin lock, a user-level mutex) before its first use; optional. `lock` is its address, which
 *  identifies it until upmu_lock_retired(). `name` is copied; NULL: none. */
UPMU_API void upmu_lock_announce(const void *lock, const char *name);

/** The calling thread is going to wait for `lock`: to be called after a failed try. The wait ends with upmu_lock_acquired();
 *  waits that may be abandoned must not be announced. */
UPMU_API void upmu_lock_will_acquire(const void *lock);

/** The calling thread has acquired `lock`, with or without a wait, by a call without a time limit. */
UPMU_API void upmu_lock_acquired(const void *lock);

/** The calling thread has acquired `lock` by a try, which never waits and so cannot take part in a deadlock: it causes no
 *  lock-order inversion. Failed tries are not announced. */
UPMU_API void upmu_lock_tried(const void *lock);

/** The calling thread has released `lock`. */
UPMU_API void upmu_lock_released(const void *lock);

/** The lock is destroyed; its address may be used for another lock. */
UPMU_API void upmu_lock_retired(const void *lock);

/** Name a lock, mutex, condition variable or semaphore for reports. `name` is copied. Before recording begins, the first 256
 *  names are kept; further ones are dropped and counted. */
UPMU_API void upmu_lock_name(const void *object, const char *name);

UPMU_END_DECLS

#endif
