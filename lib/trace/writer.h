/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Writing a trace: one directory per process, one stream file per thread at a time, CTF 1.8 (docs/format.md).
 * Room: trace. Before it: core's regions (and the tracing modules); after it: the reader.
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
    size_t n_counters;   /**< 0 ... UPMU_REGION_EVENTS_MAX */
    size_t packet_bytes; /**< 0: the default, 256 KiB; rounded up to pages */
};

/** Make the process's directory with metadata and control file. @return 0; UPMU_E_IO, UPMU_E_NOMEM, UPMU_E_INVAL. */
int trace_writer_open(struct trace_writer **out, const struct trace_config *config);

/** The process's directory; lives as long as the writer. */
const char *trace_writer_dir(const struct trace_writer *w);

/** A stream for thread `tid`, reusing a released one where possible. @return 0; UPMU_E_IO, UPMU_E_NOMEM.
 *  On failure the thread's events are lost and must be counted with trace_lost(). */
int trace_stream_acquire(struct trace_writer *w, pid_t tid, const char *thread_name, struct trace_stream **out);

/** Finish the stream's packet and put it back; the thread is ending. */
void trace_stream_release(struct trace_stream *s);

/** Record a region's begin or end. `values` has config.n_counters entries. `tick` must be from tick_now(); a tick before
 *  the stream's last one is raised to it and counted. Traced path. @return false if it was lost (and counted). */
bool trace_region(struct trace_stream *s, bool end, uint64_t tick, const char *name, size_t name_len,
                  const struct upmu_value *values);

/** Record a mark. Traced path. @return false if it was lost (and counted). */
bool trace_mark(struct trace_stream *s, uint64_t tick, const char *text, size_t text_len);

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
