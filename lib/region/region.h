/* SPDX-License-Identifier: MIT */
/**
 * @file
 * State of regions: process, thread, record.
 *
 * Each thread that uses regions has a block, made at its first begin. Its hot part (stack, aggregates) is zeroed in a
 * forked child: the one test of `live` detects a child, however it was forked, at no further cost. What a child needs for
 * cleaning up (descriptors) is in the kept part.
 *
 * Only the owning thread writes its block. Others read aggregates between two equal, even values of `version`; stores
 * release and loads acquire, which is free on x86 and gives a seqlock without fences.
 */
#ifndef UPMU_CORE_REGION_H
#define UPMU_CORE_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/tiny_lock.h"
#include "core/set/counters.h"
#include "region/recorder.h"
#include "trace/format/control.h"
#include "trace/write/memory.h"
#include "trace/write/writer.h"
#include "upmu/region.h"

enum {
    REGION_NAMES_MAX = 2048,   /**< distinct names in a process */
    REGION_CACHE = 64,         /**< name pointers remembered per thread */
    REGION_THREADS_KEPT = 256, /**< ended threads with a row of their own; later ones share one */
};

/** A distribution, in the unit of what is measured. */
struct region_sum {
    uint64_t count, sum, min, max, last;
    double squares;
};

/** One event of one region in one thread. */
struct region_event_sum {
    struct region_sum sum;
    uint64_t enabled, running; /**< ns; ticks for context switches, which have no event */
    uint64_t without_value;
    int32_t status; /**< weakest of any instance */
    int32_t cause;
};

/** One region in one thread. Made of 64-bit words only, so that readers can copy it word by word. */
struct region_record {
    uint64_t id;
    uint64_t count;
    uint64_t self; /**< ticks */
    uint64_t descheduled, deschedule_unknown;
    uint64_t open;          /**< instances begun and not ended */
    uint64_t threads;       /**< 1; in a shared record, number of threads merged */
    struct region_sum wall; /**< ticks */
    struct region_event_sum events[];
};

/** One open instance. */
struct region_frame {
    struct region_record *record;
    uint64_t tick;
    uint64_t inside;   /**< ticks spent in regions inside this one */
    uint32_t switches; /**< of the thread at begin */
    uint32_t unused;
    uint64_t words[]; /**< the counters at begin */
};

/** What went wrong in one thread, as in upmu_region_health_read. */
struct region_misuse {
    uint64_t end_without_begin, closed_by_outer, too_deep, names_cut, names_refused, interrupted, never_ended, marks,
        trace_lost;
};

/** Count one more; other threads may read at any time. */
static inline void region_bump(uint64_t *counter)
{
    __atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

struct region_thread;

/** One moment on two clocks. */
struct region_moment {
    uint64_t tick, raw_ns;
};

/** The kernel's count of a thread's futex waits (region_futexes.c). `reported...` belong to the draining thread. */
struct region_futexes {
    struct kernel_futexes count;
    uint32_t open;    /**< atomic: there is a count */
    uint32_t version; /**< atomic: odd while the next three change */
    uint32_t waits;   /**< 1: a recorded wait is in progress */
    uint64_t before;  /**< the count when it began */
    uint64_t inside;  /**< part of the count within recorded waits that have ended */
    uint32_t depth;   /**< waits within waits */
    bool reported;    /**< a count is in the trace: */
    uint64_t reported_all, reported_inside;
};

/** The kernel's records of a thread's switches (region_sched.c). All but `tried` belong to the holder of `draining`; fields
 *  read without it are atomic. */
struct region_sched {
    uint32_t tried;    /**< of the thread itself: opening the buffer was tried */
    uint32_t open;     /**< atomic */
    uint32_t draining; /**< atomic: a lock, which the traced path never waits for */
    struct kernel_switch_log log;
    struct trace_stream *stream;
    struct region_moment moment; /**< of the last draining */
    uint64_t last_tick;
    uint64_t seen_tick; /**< atomic: everything up to here is in the trace */
    uint64_t switches;  /**< records so far, lost ones included */
    uint64_t missing;   /**< records lost in the trace, not reported yet */
    struct region_futexes futexes;
};

/** The part of a thread's block that a forked child still sees. */
struct region_kept {
    struct region_kept *next, *before;
    struct region_thread *thread;
    struct counters counters;
    struct region_sched sched;
    struct tiny_lock open; /**< held while the counters are closed, and while another thread reads their times */
    uint64_t late;         /**< atomic: events that the kernel ran in part only, as counters_late() has them */
};

/** The part that a forked child sees as zeros. */
struct region_thread {
    uint32_t live;    /**< 1 from the end of its making until the thread's end, or 0 in a forked child */
    uint32_t busy;    /**< the recorder is at work: a signal handler must not enter it */
    uint32_t version; /**< odd while aggregates change */
    uint32_t depth;
    uint32_t too_deep; /**< begins beyond the deepest frame, not ended yet */
    uint32_t epoch;    /**< of the last resume this thread has seen */
    uint32_t ended;    /**< the thread has ended; its sums are kept */
    uint32_t rounds;   /**< destructor rounds seen */
    uint32_t lived;    /**< the region of its life was begun */
    uint32_t left;     /**< regions that were open when the thread, or that region, ended */
    pid_t tid;
    uint32_t n_records;
    char name[16];
    struct trace_stream *stream; /**< NULL: none yet, or no more */
    struct region_kept *kept;
    struct region_misuse misuse;
    unsigned char *frames;  /**< UPMU_REGION_DEPTH_MAX of them */
    unsigned char *records; /**< REGION_NAMES_MAX of them, in order of first use */
    uint64_t *scratch;      /**< the counters at an end */
    struct {
        const char *text;
        uint32_t id;
    } cache[REGION_CACHE];
    uint16_t record_of[REGION_NAMES_MAX + 1]; /**< last: by region id: 1 + index into records, 0 if none */
};

/** State in wipe-on-fork memory: zero in a child until it has been set up anew. */
struct region_shared {
    uint32_t alive;
    uint32_t claimed;
    struct tiny_lock lock; /**< guards the list of threads and the table of names */
    struct tiny_lock cost; /**< held while libupmu's own cost is measured */
};

/** Format of the report at exit. */
enum region_report { REPORT_NONE, REPORT_TEXT, REPORT_JSON, REPORT_CSV };

/** The process. */
struct region_process {
    struct region_shared *shared; /**< NULL until set up */
    struct counter_list list;
    char (*event_names)[EVENT_NAME_MAX]; /**< as counted by the first thread */
    char **event_reasons;                /**< why an event is not counted, or NULL */
    size_t words;                        /**< most words a reading can have */
    size_t frame_bytes, record_bytes;
    size_t kept_bytes, thread_bytes;
    bool time_only;   /**< UPMU_EVENTS=none: not even context switches */
    bool asked;       /**< events were asked for: else they are the default */
    bool late_page;   /**< no events were asked for: a thread has no page of switches before its first region */
    uint32_t life_id; /**< UPMU_REGION_THREADS: id of the region of each thread's life; 0 without it */
    uint32_t epoch;
    bool from_environment; /**< set up at load time: the program's own options are not used */
    uint32_t child;        /**< 1 in a forked child */
    uint32_t filters;      /**< seccomp filters of the thread that began the recording */
    enum region_report report;
    char *output; /**< path with %p and %h, or NULL for standard error */
    char *trace_dir;
    char memory[TRACE_MEMORY_PATH_MAX]; /**< directory of a recording in memory; "": none */
    struct trace_writer *trace;
    char *note;           /**< errors in the environment, or NULL */
    bool limits;          /**< regions have thresholds (UPMU_SNAPSHOT_ON) */
    uint32_t sched;       /**< atomic: switches of threads are recorded */
    uint64_t sched_hz;    /**< ticks per second, roughly */
    char sched_note[256]; /**< why requested switches are not recorded; or "" */
    uint32_t finished;    /**< atomic: recording has ended for good, and no system call is made any more */
    bool kernel_locks;    /**< the kernel's locks are requested, too */
    struct kernel_point_layout sched_points[KERNEL_POINTS];
    struct kernel_futex_points futex_points;
    int futex_refused;    /**< atomic: errno of a thread whose futex waits could not be counted; 0: none */
    char futex_note[256]; /**< why those of some or all threads are not counted; or "" */
    uint64_t step_ticks;  /**< a millisecond: longer than any step of the kernel's clock */
    int stderr_fd;        /**< a copy for the report: the program may close its own before exit; -1 if it was closed */
    uint64_t stderr_dev, stderr_ino; /**< its identity, in case the number is reused */
    struct clock_triple start;
    struct region_kept *threads, *threads_last; /**< oldest first */
    struct region_kept *spare;                  /**< blocks of ended threads whose sums are merged, for new threads */
    size_t mapped;                              /**< blocks so far */
    size_t ahead;                               /**< blocks that are mapped and have had no thread: */
    unsigned char *kept_ahead, *hot_ahead;
    size_t threads_ended, threads_merged, threads_short, threads_lost;
    size_t threads_empty;            /**< ended without a region: they have no block any more */
    uint64_t turned_away;            /**< begins and ends refused without a thread's block */
    struct region_thread *merged;    /**< sums of ended threads beyond REGION_THREADS_KEPT */
    uint64_t begin_ticks, end_ticks; /**< own cost, measured at the first query */
};

/* ---- seccomp filters of the calling thread (region_filters.c) */

/** See upmu_recorder_filters_() and upmu_recorder_filtered_(). */
uint32_t region_filters(void);
bool region_filtered(void);

/* ---- the process and its lock (region_state.c) */

extern struct region_process upmu_regions;

/** The thread-local storage of regions. */
struct region_tls {
    struct region_thread *thread;
    uint32_t starting; /**< the block is being made: a signal handler must not make another */
    uint32_t refused;  /**< no block could be made, or the thread has ended: permanent */
};
/** Stays NULL: where a thread without a block keeps its stream. */
extern struct trace_stream *region_no_stream;
extern _Thread_local struct region_tls region_tls __attribute__((tls_model("initial-exec")));

/** `t` is the calling thread's block from now on; NULL: it has none. */
static inline void region_thread_set(struct region_thread *t)
{
    region_tls.thread = t;
    upmu_recorder_place_ = t ? &t->stream : &region_no_stream;
}

/** The calling thread's block if it is ready to record, else NULL: then call region_thread_get(). */
static inline struct region_thread *region_thread_ready(void)
{
    struct region_thread *t = region_tls.thread;
    return __builtin_expect(t && t->live && !__atomic_load_n(&t->busy, __ATOMIC_RELAXED), 1) ? t : NULL;
}

/** Take and release the process's tiny lock from outside the recorder. Regions that a signal handler begins meanwhile are
 *  refused (and counted): the handler could deadlock on the lock. */
void region_lock(void);
void region_unlock(void);

/* ---- names (region_names.c) */

/** Id of a name, made at its first use; 0 if the table is full or there is no name. `*cut`: whether it was too long.
 *  Lock-free for known names. */
uint32_t region_name_id(const char *name, bool *cut);
/** Id of a known name, else 0. */
uint32_t region_name_find(const char *name);
/** Text of an id. */
const char *region_name_text(uint32_t id);
size_t region_name_length(uint32_t id);
uint32_t region_name_count(void);
/** Reserve the table's memory. @return 0 or UPMU_E_NOMEM. */
int region_names_start(void);

/* ---- records (region_record.c) */

/** The thread's record of a region; NULL if it has none. */
static inline struct region_record *region_thread_record(const struct region_thread *t, uint32_t id)
{
    uint16_t index = __atomic_load_n(&t->record_of[id], __ATOMIC_ACQUIRE);
    return index ? (struct region_record *)(void *)(t->records + (index - 1u) * upmu_regions.record_bytes) : NULL;
}
/** A new zeroed record; NULL if the table is full. */
struct region_record *region_record_new(struct region_thread *t, uint32_t id);
/** Mark these events of a record as not counted. */
void region_record_leave_late(struct region_record *r, uint64_t late);
/** Add `r`, or `m`, to `into`. */
void region_record_merge(struct region_record *into, const struct region_record *r);
void region_misuse_add(struct region_misuse *into, const struct region_misuse *m);

/* ---- thresholds of triggers (region_limits.c) */

/** Take the triggers of UPMU_SNAPSHOT_ON. @return 0, UPMU_E_INVAL. */
int region_limits_parse(const char *text);
/** The trace is open: compare from now on. */
void region_limits_start(struct region_process *p);
/** A region has got its id. */
void region_limits_name(uint32_t id, const char *name, size_t length);
/** A wait took longer than its threshold. Traced path. */
void region_limit_wait(enum control_wait wait, pid_t tid, uint64_t tick, uint64_t ticks);
/** A region took `ticks` until `tick`; only while p->limits. Traced path. */
void region_limit_check(const struct region_thread *t, uint32_t id, uint64_t tick, uint64_t ticks);

/* ---- how threads run (region_sched.c) */

/** Record switches from now on, as UPMU_SCHED does; on failure p->sched_note has the reason. */
void region_sched_start(struct region_process *p);
/** Open the calling thread's buffer and stream, if possible; once per thread. Keeps errno. */
void region_sched_open(struct region_thread *t);
/** Copy the kernel's records to the trace; `tick` is about now. The owner only. Traced path after the first. */
void region_sched_drain(struct region_thread *t, uint64_t tick);
/** The thread ends. */
void region_sched_end(struct region_thread *t);
/** The process ends: drain all threads. */
void region_sched_finish(void);

/* ---- waits for futexes that are not recorded (region_futexes.c); with the switches of threads */

/** Find the kernel's tracepoints; on failure p->futex_note has the reason. */
void region_futexes_start(struct region_process *p);
/** Count those of the calling thread, if the kernel allows it. */
void region_futexes_open(struct region_futexes *f);
void region_futexes_close(struct region_futexes *f);
/** The calling thread begins, or ends, a wait that is recorded. Traced path. */
void region_futexes_wait_begin(struct region_futexes *f);
void region_futexes_wait_end(struct region_futexes *f);
/** Record the counts if they have changed. */
void region_futexes_write(struct region_futexes *f, struct trace_stream *stream, uint64_t tick);
/** The process ends: note why threads have no count. */
void region_futexes_finish(void);

static inline bool region_sched_on(void)
{
    return __builtin_expect(__atomic_load_n(&upmu_regions.sched, __ATOMIC_RELAXED) != 0, 0);
}

/* ---- blocks of threads (region_block.c) */

/** Sizes of a block for the events set up. */
void region_blocks_layout(void);
/** Map, list and fill the calling thread's block, not live yet; NULL without memory. */
struct region_thread *region_block_make(void);
/** The calling thread's own counters: events that the kernel counts only partly become "not counted". */
void region_block_check(struct region_thread *t);
/** Open the page of the thread's switches if that was deferred to its first region. Traced path, rarely. */
void region_block_page(struct region_thread *t);
/** The thread ends: release all but its sums. */
void region_block_end(struct region_thread *t);
/** Before a report: find events of threads that the kernel ran in part only, see counters_late(). */
void region_blocks_check(void);
/** In a forked child: drop the parent's threads. */
void region_blocks_forget(void);

/* ---- the trace (region_trace.c) */

/** The value of an environment variable, which takes precedence over the program's `option`; empty counts as not set. */
const char *region_option(const char *variable, const char *option);
/** Add an error that no caller receives to the notes of the report. */
void region_note(const char *text);
/** Open the trace in p->trace_dir; `filters`: region_filters() now. @return 0 or an error of trace_writer_open() or of its options. */
int region_trace_open(struct region_process *p, uint32_t filters);

/* ---- threads (region_thread.c) */

/** Prepare for the ends of threads. @return 0, UPMU_E_LIMIT. */
int region_threads_start(void);
/** The calling thread's block, made if need be; NULL if it cannot be measured (counted) or the recorder is at work in
 *  it (counted). Keeps errno. */
struct region_thread *region_thread_get(void);

/* ---- set up (region_setup.c) */

/** Set regions up with a trace in `dir`, or add a trace to regions that have none. A trace that is open stays.
 *  @return 0; UPMU_E_IO, UPMU_E_NOMEM, UPMU_E_SYSTEM. */
int region_ensure_trace(const char *dir);
/** The end of recording: at exit, or because the program restricts its system calls (`restricted`): then for good. */
void region_finish(bool restricted);

/* ---- statistics (region_stats.c) */

/** A thread as reports see it. */
struct region_thread_info {
    const struct region_thread *thread;
    pid_t tid; /**< 0 for the shared row of ended threads */
    char name[16];
    bool ended;
    uint32_t n_records;
};

/** Call `each` for every thread with records, oldest first, the shared row last, under the process's tiny lock: `each`
 *  may read records with region_record_copy(), and must not begin or end regions. Stops at a non-zero return. */
int region_each_thread(int (*each)(const struct region_thread_info *info, void *arg), void *arg);
/** A consistent copy of a thread's record: `out` has upmu_regions.record_bytes. @return false if it has none. */
bool region_record_copy(const struct region_thread *t, uint32_t id, struct region_record *out);
/** Sums of a region with ticks converted to ns: the public structs in one. */
struct region_stats {
    uint64_t count, open;
    struct upmu_stat wall;
    uint64_t self_ns, descheduled, deschedule_unknown;
    uint32_t threads, n_events;
    struct upmu_region_event_stats events[UPMU_REGION_EVENTS_MAX];
};

/** All of `out` but `threads`. */
void region_record_stats(const struct region_record *r, struct region_stats *out);
/** Name of event `i` that regions measure; "" if there is none. */
const char *region_event_name(size_t i);
/** Values of all events, the weakest status of its instances in each, and their names, for upmu_metric_eval(). */
void region_stats_values(const struct region_stats *s, const char **names, struct upmu_value *values);

/* ---- the report (report.c) */

/** Write the report to a descriptor. @return 0 or -errno. */
int region_report_write(enum region_report format, int fd);

#endif
