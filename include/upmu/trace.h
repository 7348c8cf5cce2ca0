/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Reading a trace: every event of a recording in global time order, across threads and processes.
 * Link with libupmu_analysis. The format is CTF 1.8 (docs/format.md), so babeltrace2 and Trace Compass read it too.
 *
 *     struct upmu_trace *t;
 *     const struct upmu_trace_event *e;
 *     int rc = upmu_trace_open(&t, "DIR");
 *     while ((rc = upmu_trace_next(t, &e)) > 0)
 *         printf("%" PRIu64 " %d %s\n", e->time_ns, (int)e->tid, e->name);
 *     upmu_trace_close(t);
 *
 * The reader believes nothing: any bytes may be given to it, and the worst outcome is an error code.
 */
#ifndef UPMU_TRACE_H
#define UPMU_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/api.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** An open recording. One thread at a time. */
struct upmu_trace;

/** Kinds of events. A reader skips kinds it does not know. */
enum upmu_trace_kind {
    UPMU_TRACE_REGION_BEGIN = 1, /**< `name` is the region; `values` the counters at that moment, since thread start */
    UPMU_TRACE_REGION_END = 2,   /**< likewise; subtract the values of the matching begin */
    UPMU_TRACE_MARK = 3,         /**< `name` is the text of upmu_mark() */
};

/** One event; pointers are valid until the next call on the same trace. */
struct upmu_trace_event {
    size_t size;      /**< filled by the library: sizeof(struct upmu_trace_event) of its version */
    uint64_t time_ns; /**< nanoseconds since 1970-01-01 00:00 UTC */
    uint64_t tick;    /**< the same moment on the recorder's clock */
    int32_t kind;     /**< enum upmu_trace_kind */
    uint32_t process; /**< index for upmu_trace_process() */
    pid_t pid;        /**< process id */
    pid_t tid;        /**< kernel thread id */
    const char *name; /**< region name or text, NUL-terminated; "" where the kind has none */
    size_t n_values;  /**< counters, in the order of upmu_trace_counter(); 0 for kinds without */
    const struct upmu_value *values;
};

/** A process of the recording; strings live as long as the trace is open. */
struct upmu_trace_process {
    size_t size; /**< in: sizeof(struct upmu_trace_process) */
    pid_t pid;
    const char *host;
    const char *command; /**< command line, arguments separated by blanks */
    const char *kernel;  /**< release of the kernel it ran on */
    uint64_t start_ns;   /**< when recording began, nanoseconds since 1970 */
    uint64_t clock_hz;   /**< frequency of the recorder's clock */
    uint32_t n_counters;
    uint32_t complete; /**< 1: ended in good order; 0: killed, or still running */
    uint64_t events;   /**< events committed to the streams of this process */
    uint64_t lost;     /**< events that did not fit (full disk or quota) */
};

/**
 * Open a recording, or the directory of one process in it. A last packet that a killed process left unfinished is
 * skipped, never misread; nothing is changed on disk.
 * @return 0; UPMU_E_IO (no such directory, not readable), UPMU_E_FORMAT (not a libupmu trace, or damaged beyond
 *         reading; the message has file and offset), UPMU_E_VERSION, UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_trace_open(struct upmu_trace **trace, const char *dir);

/**
 * The next event in time; events of equal time come in the order of process, then stream.
 * @return 1 and `*event`; 0 at the end; UPMU_E_FORMAT when the bytes make no sense: `*event` is NULL, the damaged
 *         stream is left out from there on, and calling again goes on with the others.
 */
UPMU_API UPMU_CHECKED int upmu_trace_next(struct upmu_trace *trace, const struct upmu_trace_event **event);

/** Number of processes. */
UPMU_API size_t upmu_trace_processes(const struct upmu_trace *trace);

/** @return 0; UPMU_E_INVAL (index, size). */
UPMU_API UPMU_CHECKED int upmu_trace_process(const struct upmu_trace *trace, size_t index,
                                             struct upmu_trace_process *out);

/** Name of counter `i` of process `index`, NULL past the last. Lives as long as the trace is open. */
UPMU_API const char *upmu_trace_counter(const struct upmu_trace *trace, size_t index, size_t i);

/** Close; NULL is fine. */
UPMU_API void upmu_trace_close(struct upmu_trace *trace);

/** What upmu_trace_repair() did. */
struct upmu_trace_repair {
    size_t size;        /**< in: sizeof(struct upmu_trace_repair) */
    uint32_t processes; /**< process directories looked at */
    uint32_t running;   /**< of these still being written: left alone */
    uint32_t trimmed;   /**< streams whose unfinished last packet was cut off */
    uint64_t bytes;     /**< bytes cut off; they held no committed event */
};

/**
 * Make the trace of a killed process readable for every CTF reader by cutting unfinished last packets off, and give its
 * metadata the clock that upmu_trace_next() uses: fitted to the whole recording, not to its first moments. Safe to
 * repeat; committed events are never touched; the trace of a running process is left alone.
 * @return 0; UPMU_E_IO, UPMU_E_FORMAT (what is damaged is left as it is, the rest is repaired), UPMU_E_VERSION,
 *         UPMU_E_NOMEM, UPMU_E_INVAL.
 */
UPMU_API UPMU_CHECKED int upmu_trace_repair(const char *dir, struct upmu_trace_repair *out);

UPMU_END_DECLS

#endif
