/* SPDX-License-Identifier: MIT */
/** @file Private interface of libupmu to libupmu_sync and libupmu_func (node UPMU_PRIVATE). */
#ifndef UPMU_CORE_RECORDER_H
#define UPMU_CORE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <sys/types.h>

#include "base/tick.h"
#include "trace/format/control.h"
#include "upmu/api.h"

struct trace_stream;
struct trace_clock;
struct clock_reference;
struct control_header;
struct wait_file_header;
struct wait_file_slot;

/** Make sure the process records into `dir` (NULL: UPMU_TRACE, or "upmu-trace"). An open trace is used, whatever `dir` is.
 *  Sets up regions, too. @return 0; UPMU_E_IO, UPMU_E_NOMEM. Not signal safe. */
UPMU_API int upmu_recorder_begin_(const char *dir);

/** The calling thread's stream, made at its first use (which opens its counters). In a forked child the first call starts
 *  a trace of its own. @return NULL if nothing is recorded, if the thread is ending, or if a signal handler interrupted the
 *  creation. Keeps errno; async-signal-safe after the thread's first use. */
UPMU_API struct trace_stream *upmu_recorder_stream_(void);

/** Where the calling thread's stream is kept: zero in a forked child, before the thread's first use, and after its end. */
extern UPMU_API _Thread_local struct trace_stream **upmu_recorder_place_ __attribute__((tls_model("initial-exec")));

/** The calling thread's stream, without a call; NULL: upmu_recorder_stream_() may make it. Async-signal-safe. */
static inline struct trace_stream *recorder_stream_made(void)
{
    return *upmu_recorder_place_;
}

/** A stream to write on behalf of thread `tid`, which cannot write itself now, with events from tick `from` on; NULL if there is
 *  none. Not signal safe. */
UPMU_API struct trace_stream *upmu_recorder_stream_of_(pid_t tid, const char *thread_name, uint64_t from);

/** The stream of another thread is not written any more. Not signal safe. */
UPMU_API void upmu_recorder_stream_release_(struct trace_stream *stream);

/** Settings of tick_now(), so that all modules use one clock. */
struct recorder_clock {
    uint32_t use_isa;                                   /**< tick_use_isa of base/tick.h */
    uint64_t hz;                                        /**< ticks per second, roughly */
    int (*gettime)(clockid_t id, struct timespec *out); /**< tick_clock_gettime of base/tick.h */
};

/** Record the switches of all threads if the kernel allows it; upmu_recorder_begin_() must have succeeded. `wanted` false:
 *  only query. @return whether they are recorded: then call upmu_recorder_switches_(). */
UPMU_API bool upmu_recorder_sched_(bool wanted);

/** Copy the kernel's records of the calling thread's switches to the trace; `tick` is about now. Keeps errno;
 *  async-signal-safe after the thread's first use. */
UPMU_API void upmu_recorder_switches_(uint64_t tick);

/** A recorded wait begins (`begins`) or has ended: futex calls of the thread in between belong to it. Call only while
 *  upmu_recorder_sched_() returns true. Keeps errno; async-signal-safe. */
UPMU_API void upmu_recorder_wait_(bool begins);

/** Record the calling thread's counters for the event about `object` that follows with the same tick. If `*tick` is 0 it is
 *  set to the time after the reading, so that the cost of the reading is outside of the interval that begins. Keeps errno;
 *  async-signal-safe after the thread's first use. @return false, with `*tick` unchanged or set, if there are no counters,
 *  if they could not be written (which is counted), or if a signal handler interrupted the recorder. */
UPMU_API bool upmu_recorder_counters_(uint64_t *tick, uint64_t object);

/** A cumulative reading of an event by the calling thread. */
struct recorder_count {
    uint64_t count;
    uint64_t enabled, running; /**< ns */
    uint32_t known;            /**< 1: it was read */
    uint32_t stale;            /**< 1: the times are older than the count */
};
enum { RECORDER_EVENTS_MAX = 16 };

/** Name of event `i` that regions count; NULL: there is none. `*cause`: why it has no readings in this process, or 0. `*reason`: in
 *  words, or NULL. Not signal safe. */
UPMU_API const char *upmu_recorder_event_(uint32_t i, int *cause, const char **reason);

/** Whether these events were asked for: else they are the default. Async-signal-safe. */
UPMU_API bool upmu_recorder_events_asked_(void);

/** Read the events of the calling thread; `slow`: with system calls where need be. Keeps errno; async-signal-safe after the
 *  thread's first use. @return entries of `out`; 0: the thread has no counters. */
UPMU_API uint32_t upmu_recorder_read_(struct recorder_count out[RECORDER_EVENTS_MAX], bool slow);

/** The process's directory in the trace; NULL while there is no trace. In a forked child after upmu_recorder_stream_(). */
UPMU_API const char *upmu_recorder_dir_(void);

/** Length of the recording's path, with which that of the process's directory begins; 0 while there is no trace. */
UPMU_API size_t upmu_recorder_recording_(void);

/** The recorder's clock, which is started if nothing is recorded. */
UPMU_API void upmu_recorder_clock_(struct recorder_clock *out);

/** Set this library's tick_now() to that clock. */
static inline struct recorder_clock recorder_use_clock(void)
{
    struct recorder_clock clock;
    upmu_recorder_clock_(&clock);
    tick_clock_gettime = clock.gettime;
#ifdef TICK_ISA_NAME
    tick_use_isa = clock.use_isa;
#endif
    return clock;
}

/** Clock of the process's trace. @return false: nothing is recorded. Not signal safe. */
UPMU_API bool upmu_recorder_trace_clock_(struct trace_clock *out);

/** The trace's times are those of another host's clock, see trace_writer_refer(). Not signal safe. */
UPMU_API void upmu_recorder_refer_(const struct clock_reference *r);

/** Begin the region of the calling thread's life (UPMU_REGION_THREADS), unless it is open. Keeps errno. */
UPMU_API void upmu_recorder_thread_begin_(void);

/** End the region of the calling thread's life (UPMU_REGION_THREADS), so that it precedes the end of the thread in the
 *  trace. Does nothing in a thread without a stream. Keeps errno. */
UPMU_API void upmu_recorder_thread_end_(void);

/** Set private_table_hook of libupmu. */
UPMU_API void upmu_recorder_private_hook_(void (*hook)(bool begins));

/** Count events that could not be recorded because upmu_recorder_stream_() returned NULL. Signal safe. */
UPMU_API void upmu_recorder_lost_(enum control_loss cause, uint64_t n);

/** The name of a system call of a running recording, or of its end, for which a seccomp filter ends the process or raises a
 *  signal; NULL: there is none. `program`: `n` instructions (struct sock_filter). Signal safe. */
UPMU_API const char *upmu_recorder_forbidden_(const void *program, size_t n);

/** Number of the calling thread's seccomp filters, by /proc; 1 for any where the kernel has no number (before Linux 5.9), UINT32_MAX
 *  without /proc. It makes only calls that every filter is judged by. Signal safe. */
UPMU_API uint32_t upmu_recorder_filters_(void);

/** Whether the calling thread has a filter that was installed since the recording began, seen or not, or may have one because /proc
 *  is no longer there: only calls of a running recording and of its end may be made. Signal safe. */
UPMU_API bool upmu_recorder_filtered_(void);

/** Call `hook` in upmu_recorder_finish_(), before the trace ends, so that a library that makes system calls of its own ends its part.
 *  Not signal safe. @return 0; UPMU_E_LIMIT. */
UPMU_API int upmu_recorder_at_finish_(void (*hook)(void));

/** End the recording, as at exit; from here on the recorder makes no system call in this process and its children. For a
 *  program that restricts its system calls. Not signal safe. */
UPMU_API void upmu_recorder_finish_(void);

/** The control file's header, mapped shared, with the mode word that `upmu ctl` writes and the traced path reads. NULL while
 *  there is no trace, in a forked child until its own trace exists. */
UPMU_API struct control_header *upmu_recorder_control_(void);

/** A wait of thread `tid`, longer than its threshold in the control file, has ended at `tick` after `ticks`: request a
 *  snapshot. Signal safe. */
UPMU_API void upmu_recorder_limit_(enum control_wait wait, pid_t tid, uint64_t tick, uint64_t ticks);

/** The wait-state file, see trace_writer_wait_file(): NULL and -EIO while there is no trace. Keep errno. */
UPMU_API struct wait_file_header *upmu_recorder_wait_file_(void);
UPMU_API struct wait_file_slot *upmu_recorder_wait_file_slot_(uint32_t index);
UPMU_API int upmu_recorder_wait_file_reserve_(uint32_t index, size_t bytes);

#endif
