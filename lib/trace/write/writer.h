/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Interface of the trace writer.
 *
 * The functions marked "traced path" allocate nothing, take no lock, keep errno and are async-signal-safe; they may be
 * called for one stream by its own thread only. A stream belongs to a thread until trace_stream_release(), after which
 * another thread may go on with the same file in a new packet, so that short-lived threads do not cost a file each.
 */
#ifndef UPMU_TRACE_WRITER_H
#define UPMU_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/upmu.h"

struct trace_writer; /**< one per process */
struct trace_stream; /**< one per thread */

/** A counter recorded with each region event. */
struct trace_counter {
    const char *name; /**< as the user sees it; becomes a valid CTF field name */
    const char *unit;
    const char *note; /**< why it is approximate or not counted, or "" */
};

struct trace_config {
    const char *dir; /**< the recording; made if missing (one level), the process's sub-directory inside it */
    const struct trace_counter *counters;
    size_t n_counters;      /**< 0 ... UPMU_REGION_EVENTS_MAX */
    size_t packet_bytes;    /**< 0: the default, 256 KiB; rounded up to pages */
    uint64_t ring_bytes;    /**< 0: files grow; else each stream keeps the latest events in a file of so many bytes */
    uint64_t limit_bytes;   /**< most that all streams together may have; 0: no limit. Not with rings */
    bool stop_at_limit;     /**< then nothing more is recorded; else what does not fit is lost, and counted */
    const char *sched_note; /**< why switches are not recorded though somebody wants them, or ""; NULL: "" */
    const char *futex_note; /**< why waits for futexes are not counted though somebody wants them, or ""; NULL: "" */
    void (*packet_full)(void); /**< called in the thread that begins a further packet, on the traced path; or NULL */
};

#define TRACE_RING_MIN (UINT64_C(64) << 10)
#define TRACE_RING_MAX (UINT64_C(16) << 30)
#define TRACE_LIMIT_MIN (UINT64_C(256) << 10)
#define TRACE_LIMIT_MAX (UINT64_C(1024) << 30)
/** And of UPMU_TRACE_PACKET: any event fits into the least. */
#define TRACE_PACKET_MIN (UINT64_C(16) << 10)
#define TRACE_PACKET_MAX (UINT64_C(64) << 20)

/** UPMU_TRACE_POLICY: "grow", "ring:SIZE", "limit:SIZE" or "stop:SIZE", with K, M or G. @return 0 and what is said of it in
 *  `config`; UPMU_E_INVAL. */
int trace_policy_parse(const char *text, struct trace_config *config);
/** UPMU_TRACE_PACKET: how much of its file a thread has mapped, with K or M; files that grow do so by as much. @return 0 and
 *  config->packet_bytes; UPMU_E_INVAL. */
int trace_packet_parse(const char *text, struct trace_config *config);

/** Make the process's directory with metadata and control file. @return 0; UPMU_E_IO, UPMU_E_NOMEM, UPMU_E_INVAL. */
int trace_writer_open(struct trace_writer **out, const struct trace_config *config);

/** The process's directory; lives as long as the writer. */
const char *trace_writer_dir(const struct trace_writer *w);

/** Another `sched_note`, for the metadata at the end. */
void trace_writer_sched_note(struct trace_writer *w, const char *note);
/** And another `futex_note`. */
void trace_writer_futex_note(struct trace_writer *w, const char *note);

/** The head of the process's control file, mapped shared; lives as long as the process. */
struct control_header;
struct control_header *trace_writer_control(struct trace_writer *w);

/** What threads stand at (live.h): the head of the file, made at the first call; a slot of it; room on the disk for more of
 *  a slot. @return NULL, or -errno: then there is none. Not signal safe. */
struct wait_file_header;
struct wait_file_slot;
struct wait_file_header *trace_writer_wait_file(const struct trace_writer *w);
struct wait_file_slot *trace_writer_wait_file_slot(const struct trace_writer *w, uint32_t index);
int trace_writer_wait_file_reserve(const struct trace_writer *w, uint32_t index, size_t bytes);

/** A stream for thread `tid`, reusing a released one where possible. Where its file cannot be opened or has no room its
 *  events are lost and counted, until it can. @return 0; UPMU_E_IO, UPMU_E_NOMEM: then they must be counted with
 *  trace_lost(). */
int trace_stream_acquire(struct trace_writer *w, pid_t tid, const char *thread_name, struct trace_stream **out);

/** Finish the stream's packet and put it back; the thread is ending. */
void trace_stream_release(struct trace_stream *s);

/** Record a region's begin or end. `values` has config.n_counters entries. `tick` must be from tick_now(); a tick before
 *  the stream's last one is raised to it and counted. Traced path. @return false if it was lost (and counted). */
bool trace_region(struct trace_stream *s, bool end, uint64_t tick, const char *name, size_t name_len,
                  const struct upmu_value *values);

/** Record a mark. Traced path. @return false if it was lost (and counted). */
bool trace_mark(struct trace_stream *s, uint64_t tick, const char *text, size_t text_len);

/** A synchronisation event; fields as in struct upmu_trace_event, those its kind does not have are 0. */
struct trace_sync {
    int32_t kind; /**< enum upmu_trace_kind, LOCK_BLOCK ... FUTEX_WAKE */
    int32_t object_type;
    uint64_t object, object2;
    int32_t result;
    int32_t peer;
    uint32_t stack;
    uint32_t flags; /**< enum upmu_trace_flag */
    uint64_t site, holder_site;
    uint64_t holder_since; /**< tick, 0 = not known */
    uint64_t count, contended;
    const char *name; /**< NULL or up to UPMU_REGION_NAME_MAX bytes */
};

/** Record it. The kinds that occur millions of times (LOCK_ACQUIRE, LOCK_RELEASE, SEM_POST) have compact classes for
 *  events without result and site; stream_fast.h writes these without a call. A call site alone is best given as a stack
 *  of one frame, which is stored once. Traced path. Exported to libupmu_sync. @return false if it was lost (and counted). */
UPMU_API bool upmu_trace_sync_(struct trace_stream *s, uint64_t tick, const struct trace_sync *e);

/** Record how the stream's thread runs: `kind` is one of UPMU_TRACE_SCHED_*, `count` and `flags` as there. Such events tell
 *  of moments gone by, and go into a stream of their own, which is not the one that the thread's other events are in.
 *  Traced path, by whichever thread has the stream. @return false if it was lost (and counted). */
bool trace_sched(struct trace_stream *s, uint64_t tick, int32_t kind, uint64_t count, uint32_t flags);

/** The same for UPMU_TRACE_SCHED_WAKE (`value`: the thread woken) and UPMU_TRACE_KERNEL_LOCK_* (`value`: the lock, `more`: its
 *  kinds, or what came of it). */
bool trace_point(struct trace_stream *s, uint64_t tick, int32_t kind, uint64_t value, uint32_t more);

/** Record how often the stream's thread has called the kernel to wait for a futex so far, and how often within recorded
 *  waits; as trace_sched(). */
bool trace_futexes(struct trace_stream *s, uint64_t tick, uint64_t waits, uint64_t recorded);

/** Record what the thread's counters stand at, right before the event of the same tick about `object`. `values` has
 *  config.n_counters entries. Traced path. @return false if it was lost (and counted). */
bool trace_counters(struct trace_stream *s, uint64_t tick, uint64_t object, const struct upmu_value *values);

/** Write what signal handlers left while stream_fast.h wrote an event. Traced path. */
UPMU_API void upmu_trace_settle_(struct trace_stream *s);

/** Write a stack under `id` (unique in the process, given by the caller) before the first event that names it. At most
 *  64 frames. Traced path. @return false if it was lost (and counted): then name stack 0. */
UPMU_API bool upmu_trace_stack_(struct trace_stream *s, uint64_t tick, uint32_t id, uint32_t method, bool truncated,
                                const uint64_t *frames, uint32_t n);

/** Write a module. Traced path as far as allocation and locks go. @return false if it was lost (and counted). */
UPMU_API bool upmu_trace_module_(struct trace_stream *s, uint64_t tick, uint64_t base, uint64_t start, uint64_t end,
                                 const char *build_id, const char *path);

/** Write that nothing of that module is mapped any more. Traced path. @return false if it was lost (and counted). */
UPMU_API bool upmu_trace_module_gone_(struct trace_stream *s, uint64_t tick, uint64_t base, uint64_t start,
                                      uint64_t end);

/** Measure what an event takes in ticks: any, and one of stream_fast.h. Takes some ten microseconds. @return false if there
 *  is no memory for it. Exported to libupmu_sync. */
UPMU_API bool upmu_trace_cost_measure_(double *full, double *compact);

/** Write what was measured, in picoseconds: an event, one of stream_fast.h, a stack. Traced path. @return false if it was
 *  lost (and counted). */
UPMU_API bool upmu_trace_own_cost_(struct trace_stream *s, uint64_t tick, uint64_t full_ps, uint64_t compact_ps,
                                   uint64_t stack_ps);

/** Count `n` events that could not even reach a stream. Traced path. */
void trace_lost(struct trace_writer *w, uint64_t n);

/** Events lost so far in all streams. */
uint64_t trace_writer_lost(const struct trace_writer *w);

/** Finish all packets, write the final metadata (better clock frequency) and mark the trace complete. Streams of threads
 *  still running are finished as far as they are; their later events are lost and not counted. Frees nothing that a
 *  running thread could still touch. */
void trace_writer_close(struct trace_writer *w);

/** In a forked child: let go of the parent's trace without writing a byte to it. Async-signal-safe. */
void trace_writer_forget(struct trace_writer *w);

#endif
