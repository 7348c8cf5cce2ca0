/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Interface of the trace writer.
 *
 * Functions marked "traced path" do not allocate or lock, keep errno and are async-signal-safe; only the stream's own
 * thread may call them. A stream belongs to a thread until trace_stream_release(); then another thread may use the file
 * with a new packet, so that short-lived threads do not need a file each.
 */
#ifndef UPMU_TRACE_WRITER_H
#define UPMU_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/format/clockmap.h"
#include "trace/format/control.h"
#include "trace/write/counter.h"
#include "upmu/upmu.h"

struct trace_writer; /**< one per process */
struct trace_stream; /**< one per thread */

struct trace_config {
    const char *dir; /**< the recording; made if missing (one level), with one sub-directory per process */
    bool by_host;    /**< processes of a host are in a directory of their own: of jobs with many ranks */
    const struct trace_counter *counters;
    size_t n_counters;         /**< 0 ... UPMU_REGION_EVENTS_MAX */
    size_t packet_bytes;       /**< 0: the default, 256 KiB; rounded up to pages */
    uint64_t ring_bytes;       /**< 0: files grow; else each stream keeps the latest events in a file of this size */
    uint64_t limit_bytes;      /**< limit for all streams together; 0: none. Not with rings */
    bool stop_at_limit;        /**< at the limit recording ends; otherwise events beyond it are lost and counted */
    const char *sched_note;    /**< why requested switches are not recorded, or ""; NULL: "" */
    const char *futex_note;    /**< why requested futex waits are not counted, or ""; NULL: "" */
    void (*packet_full)(void); /**< called by a thread that begins another packet, on the traced path; or NULL */
};

#define TRACE_RING_MIN (UINT64_C(64) << 10)
#define TRACE_RING_MAX (UINT64_C(16) << 30)
#define TRACE_LIMIT_MIN (UINT64_C(256) << 10)
#define TRACE_LIMIT_MAX (UINT64_C(1024) << 30)
/** Range of UPMU_TRACE_PACKET; any event fits into the smallest. */
#define TRACE_PACKET_MIN (UINT64_C(16) << 10)
#define TRACE_PACKET_MAX (UINT64_C(64) << 20)

/** Parse UPMU_TRACE_POLICY: "grow", "ring:SIZE", "limit:SIZE" or "stop:SIZE", with K, M or G. @return 0 with `config` set;
 *  UPMU_E_INVAL. */
int trace_policy_parse(const char *text, struct trace_config *config);
/** Parse UPMU_TRACE_PACKET, with K or M: bytes that a thread maps at once, and by which growing files grow. @return 0 with
 *  config->packet_bytes set; UPMU_E_INVAL. */
int trace_packet_parse(const char *text, struct trace_config *config);

/** Make the process's directory with metadata and control file. @return 0; UPMU_E_IO, UPMU_E_NOMEM, UPMU_E_INVAL. */
int trace_writer_open(struct trace_writer **out, const struct trace_config *config);

/** The process's directory; lives as long as the writer. */
const char *trace_writer_dir(const struct trace_writer *w);

/** The recording: the beginning of that path. @return its length. */
size_t trace_writer_recording(const struct trace_writer *w);

/** The clock of this host. */
struct trace_clock {
    struct clock_triple origin, now;
    uint64_t hz;               /**< as measured until now */
    const char *source, *uuid; /**< live as long as the writer */
};
void trace_writer_clock(const struct trace_writer *w, struct trace_clock *out);

/** From now on times are those of another host's clock; the metadata are written again, if it is another one. Not signal safe. */
void trace_writer_refer(struct trace_writer *w, const struct clock_reference *r);

/** Replace `sched_note` in the final metadata. */
void trace_writer_sched_note(struct trace_writer *w, const char *note);
/** Replace `futex_note` in the final metadata. */
void trace_writer_futex_note(struct trace_writer *w, const char *note);

/** The head of the process's control file, mapped shared; lives as long as the process. */
struct control_header;
struct control_header *trace_writer_control(struct trace_writer *w);

/** The wait-state file (wait_state.h): its header, made at the first call; a slot; disk space for more bytes of a slot.
 *  @return NULL with errno set, or -errno. Not signal safe. */
struct wait_file_header;
struct wait_file_slot;
struct wait_file_header *trace_writer_wait_file(const struct trace_writer *w);
struct wait_file_slot *trace_writer_wait_file_slot(const struct trace_writer *w, uint32_t index);
int trace_writer_wait_file_reserve(const struct trace_writer *w, uint32_t index, size_t bytes);

/** A stream for thread `tid`, a released one if possible. If its file cannot be opened or there is no space, events are lost
 *  and counted until there is. @return 0; UPMU_E_IO, UPMU_E_NOMEM: then count lost events with trace_lost(). */
int trace_stream_acquire(struct trace_writer *w, pid_t tid, const char *thread_name, struct trace_stream **out);
/** The same for events from tick `from` on: no file that has later ones. */
int trace_stream_acquire_from(struct trace_writer *w, pid_t tid, const char *thread_name, uint64_t from,
                              struct trace_stream **out);

/** The thread ends: finish the stream's packet and release the stream. */
void trace_stream_release(struct trace_stream *s);

/** Record a region's begin or end. `values` has config.n_counters entries. `tick` must be from tick_now(); a tick before
 *  the stream's last one is raised to it and counted. Traced path. @return false if it was lost (and counted). */
bool trace_region(struct trace_stream *s, bool end, uint64_t tick, const char *name, size_t name_len,
                  const struct upmu_value *values);

/** Record a mark. Traced path. @return false if it was lost (and counted). */
bool trace_mark(struct trace_stream *s, uint64_t tick, const char *text, size_t text_len);

/** Record that the open regions of `thread`, or of all threads if it is 0, have no end. Traced path. @return false if it was lost
 *  (and counted). */
bool trace_regions_discarded(struct trace_stream *s, uint64_t tick, pid_t thread);

/** A synchronization event; fields as in struct upmu_trace_event, 0 where its kind has none. */
struct trace_sync {
    int32_t kind; /**< enum upmu_trace_kind, LOCK_BLOCK ... FUTEX_WAKE */
    int32_t object_type;
    uint64_t object, object2;
    int32_t result;
    int32_t peer;
    uint32_t stack;
    uint32_t flags; /**< enum upmu_trace_flag */
    uint64_t site, holder_site;
    uint64_t holder_since;     /**< tick, 0 = not known */
    uint32_t holder_stack;     /**< id of the holder's stack, 0 = none */
    uint64_t count, contended; /**< THREAD_EXIT: context switches, CPU time; `object2` and `peer`: time
                                  without a CPU, CPUs */
    const char *name;          /**< NULL or up to UPMU_REGION_NAME_MAX bytes */
};

/** Record a synchronization event. The most frequent kinds (LOCK_ACQUIRE, LOCK_RELEASE, SEM_POST) have compact classes without
 *  result and site, which stream_fast.h writes inline. A call site alone is best given as a stack of one frame, stored once.
 *  Traced path. Exported to libupmu_sync. @return false if it was lost (and counted). */
UPMU_API bool upmu_trace_sync_(struct trace_stream *s, uint64_t tick, const struct trace_sync *e);

/** Record an event of class `id` (enum schema_id), which has `numbers` in the order of its fields and, in place of a string, `text`
 *  (NULL: ""). Traced path. Exported to libupmu_mpi. @return false if it was lost (and counted). */
UPMU_API bool upmu_trace_numbers_(struct trace_stream *s, uint64_t tick, uint32_t id, const uint64_t *numbers,
                                  const char *text);

/** Record scheduling of the stream's thread: `kind` is one of UPMU_TRACE_SCHED_*, `count` and `flags` as there. These events
 *  are in the past and need a stream separate from the thread's other events. Traced path, called by the holder of the
 *  stream. @return false if it was lost (and counted). */
bool trace_sched(struct trace_stream *s, uint64_t tick, int32_t kind, uint64_t count, uint32_t flags);

/** The same for UPMU_TRACE_SCHED_WAKE (`value`: the thread woken) and UPMU_TRACE_KERNEL_LOCK_* (`value`: the lock, `more`: its
 *  kinds, or what came of it). */
bool trace_point(struct trace_stream *s, uint64_t tick, int32_t kind, uint64_t value, uint32_t more);

/** Record how often the stream's thread has entered the kernel to wait for a futex so far, and how often within recorded
 *  waits; stream as for trace_sched(). */
bool trace_futexes(struct trace_stream *s, uint64_t tick, uint64_t waits, uint64_t recorded);

/** Record the totals of the thread's counters, right before the event of the same tick about `object`. `values` has
 *  config.n_counters entries. Traced path. @return false if it was lost (and counted). */
bool trace_counters(struct trace_stream *s, uint64_t tick, uint64_t object, const struct upmu_value *values);

/** Write the events that signal handlers left while stream_fast.h wrote one. Traced path. */
UPMU_API void upmu_trace_settle_(struct trace_stream *s);

/** Write a stack under `id` (unique in the process, given by the caller) before the first event that refers to it. At most
 *  64 frames. Traced path. @return false if it was lost (and counted): then use stack 0. */
UPMU_API bool upmu_trace_stack_(struct trace_stream *s, uint64_t tick, uint32_t id, uint32_t method, bool truncated,
                                const uint64_t *frames, uint32_t n);

/** Write a module. Does not allocate or lock. @return false if it was lost (and counted). */
UPMU_API bool upmu_trace_module_(struct trace_stream *s, uint64_t tick, uint64_t base, uint64_t start, uint64_t end,
                                 const char *build_id, const char *path);

/** Record that a module is unmapped. Traced path. @return false if it was lost (and counted). */
UPMU_API bool upmu_trace_module_gone_(struct trace_stream *s, uint64_t tick, uint64_t base, uint64_t start,
                                      uint64_t end);

/** Measure the ticks that an event costs: any, and one of stream_fast.h. Takes some ten microseconds. @return false without
 *  memory. Exported to libupmu_sync. */
UPMU_API bool upmu_trace_cost_measure_(double *full, double *compact);

/** Record the measured costs in picoseconds: an event, one of stream_fast.h, a stack. Traced path. @return false if it was
 *  lost (and counted). */
UPMU_API bool upmu_trace_own_cost_(struct trace_stream *s, uint64_t tick, uint64_t full_ps, uint64_t compact_ps,
                                   uint64_t stack_ps);

/** Count `n` events that reached no stream. Traced path. */
void trace_lost(struct trace_writer *w, enum control_loss cause, uint64_t n);

/** Events lost so far in all streams. */
uint64_t trace_writer_lost(const struct trace_writer *w);

/** Finish all packets, write the final metadata with a better clock frequency and mark the trace complete. Streams of running
 *  threads are finished as they are; their later events are lost and not counted. Frees nothing that a running thread could
 *  access. */
void trace_writer_close(struct trace_writer *w);
/** Before trace_writer_close(): the process continues and restricts its system calls. */
void trace_writer_restrict(struct trace_writer *w);
/** After trace_writer_close(): wait for threads that are making a packet, 0.1 s at most for each. */
void trace_writer_wait_for_others(struct trace_writer *w);

/** In a forked child: detach from the parent's trace without writing to it. Async-signal-safe.
 *  @return for trace_writer_forget_parent(), which ends the lock that marks the parent as alive */
struct control_header *trace_writer_forget(struct trace_writer *w);

/** Whether a forked child has a trace of its own; if not, why. */
enum trace_child { TRACE_CHILD_RECORDED, TRACE_CHILD_FILTERED, TRACE_CHILD_FAILED };

/** In a forked child: count it in the parent's trace if it has none. Async-signal-safe.
 *  @param parent from trace_writer_forget(), not used after the call */
void trace_writer_forget_parent(struct control_header *parent, enum trace_child child);

#endif
