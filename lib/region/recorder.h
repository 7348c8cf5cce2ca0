/* SPDX-License-Identifier: MIT */
/** @file Private interface of libupmu to libupmu_sync: trace, streams, clock (node UPMU_PRIVATE). */
#ifndef UPMU_CORE_RECORDER_H
#define UPMU_CORE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/api.h"

struct trace_stream;
struct control_header;
struct wait_file_header;
struct wait_file_slot;

/** Make sure the process records into `dir` (NULL: UPMU_TRACE, or "upmu-trace"). If a trace is open already it is used,
 *  whatever `dir` says. Regions are set up with it. @return 0; UPMU_E_IO, UPMU_E_NOMEM. Not signal safe. */
UPMU_API int upmu_recorder_begin_(const char *dir);

/** The calling thread's stream, made at its first use (which opens its counters); NULL if nothing is recorded, if the
 *  thread is ending, or if this call comes from a signal handler that hit the making. In a forked child the first call
 *  starts a trace of its own. Keeps errno; async-signal-safe after the thread's first use. */
UPMU_API struct trace_stream *upmu_recorder_stream_(void);

/** A stream to write in the name of thread `tid`, which cannot write itself any more; NULL if there is none. Stays taken
 *  until the process ends. Not signal safe. */
UPMU_API struct trace_stream *upmu_recorder_stream_of_(pid_t tid, const char *thread_name);

/** What tick_now() must be told, so that ticks of all modules are of one clock. */
struct recorder_clock {
    uint32_t use_isa; /**< tick_use_isa of base/tick.h */
    uint64_t hz;      /**< ticks per second, roughly */
};

/** Have the switches of all threads recorded, as far as the kernel allows; upmu_recorder_begin_() must have succeeded.
 *  `wanted` false: only ask. @return whether they are recorded: then upmu_recorder_switches_() is to be called. */
UPMU_API bool upmu_recorder_sched_(bool wanted);

/** Put what the kernel has recorded of the calling thread's switches into the trace; `tick` is about now. Keeps errno;
 *  async-signal-safe after the thread's first use. */
UPMU_API void upmu_recorder_switches_(uint64_t tick);

/** A wait that is in the trace begins (`begins`), or has ended: what the calling thread waits for in between is recorded.
 *  To be called while upmu_recorder_sched_() says so. Keeps errno; async-signal-safe. */
UPMU_API void upmu_recorder_wait_(bool begins);

/** Read the calling thread's counters, those of its regions, and put them into its trace for the event about `object` that
 *  is to follow with the same tick; `*tick` 0: it becomes the moment behind the reading, so that the time it takes is not in
 *  what begins there. Keeps errno; async-signal-safe after the thread's first use. @return false, with `*tick` as it was
 *  or set, if there are none, if they could not be written (which is counted), or if a signal handler has hit the
 *  recorder. */
UPMU_API bool upmu_recorder_counters_(uint64_t *tick, uint64_t object);

/** The recorder's clock; upmu_recorder_begin_() must have succeeded. */
UPMU_API void upmu_recorder_clock_(struct recorder_clock *out);

/** The calling thread has begun: so does the region of its life (UPMU_REGION_THREADS), unless it has. Keeps errno. */
UPMU_API void upmu_recorder_thread_begin_(void);

/** The calling thread ends: the region of its life (UPMU_REGION_THREADS) ends now, so that it is in the trace before the
 *  end of the thread. Does nothing in a thread without a stream. Keeps errno. */
UPMU_API void upmu_recorder_thread_end_(void);

/** Count events that could not be recorded because upmu_recorder_stream_() gave none. Signal safe. */
UPMU_API void upmu_recorder_lost_(uint64_t n);

/** The control file's head, mapped shared: its mode word is what `upmu ctl` writes and the hot path reads. NULL while
 *  there is no trace. In a forked child NULL until its own trace exists. */
UPMU_API struct control_header *upmu_recorder_control_(void);

/** The file of what threads stand at, see trace_writer_wait_file(): NULL and -EIO while there is no trace. Keep errno. */
UPMU_API struct wait_file_header *upmu_recorder_wait_file_(void);
UPMU_API struct wait_file_slot *upmu_recorder_wait_file_slot_(uint32_t index);
UPMU_API int upmu_recorder_wait_file_reserve_(uint32_t index, size_t bytes);

#endif
