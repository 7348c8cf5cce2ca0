/* SPDX-License-Identifier: MIT */
/**
 * @file
 * State of regions: process, thread, record.
 *
 * Each thread that uses regions has a block of its own, made at its first begin. Its hot part (stack, aggregates) lies
 * in memory that a forked child sees as zeros: that one test ("live") tells a child from its parent for every way of
 * making one, at no further cost. What a child needs to clean up (descriptors) lies in the kept part.
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
    uint64_t threads;       /**< 1; in a shared record, those added up in it */
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

/** Count one more; readers may look at any time. */
static inline void region_bump(uint64_t *counter)
{
    __atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

struct region_thread;

/** One moment on two clocks. */
struct region_moment {
    uint64_t tick, raw_ns;
};

/** The kernel's count of a thread's calls to wait for futexes (region_futexes.c). `told...` belong to whoever drains. */
struct region_futexes {
    struct kernel_futexes count;
    uint32_t open;    /**< atomic: there is a count */
    uint32_t version; /**< atomic: odd while the next three change */
    uint32_t waits;   /**< 1: a recorded wait goes on */
    uint64_t before;  /**< the count when it began */
    uint64_t inside;  /**< of the count, what fell into recorded waits that have ended */
    uint32_t depth;   /**< waits within waits */
    bool told;        /**< is in the trace: */
    uint64_t told_all, told_inside;
};

/** What the kernel tells of a thread's running (region_sched.c). All but `tried` belong to whoever has `draining`; what
 *  others look at beside that is atomic. */
struct region_sched {
    uint32_t tried;    /**< by the thread itself: there is a buffer, or there can be none */
    uint32_t open;     /**< atomic */
    uint32_t draining; /**< atomic: taken, never waited for by who records */
    struct kernel_switch_log log;
    struct trace_stream *stream;
    struct region_moment moment; /**< of the last draining */
    uint64_t last_tick;
    uint64_t seen_tick; /**< atomic: all is told up to here */
    uint64_t switches;  /**< records so far, lost ones included */
    uint64_t missing;   /**< records that the trace had no room for, to be told of */
    struct region_futexes futexes;
};

/** The part of a thread's block that a forked child still sees. */
struct region_kept {
    struct region_kept *next;
    struct region_thread *thread;
    struct counters counters;
    struct trace_stream *stream;
    struct region_sched sched;
    struct tiny_lock open; /**< held while the counters are closed, and while another thread reads their times */
    uint64_t late;         /**< atomic: events that the kernel ran in part only, as counters_late() has them */
    size_t mapped;         /**< bytes of the whole block */
};

/** The part that a forked child sees as zeros. */
struct region_thread {
    uint32_t live;    /**< 1 from the end of its making until the thread's end, or 0 in a forked child */
    uint32_t busy;    /**< the recorder is at work: a signal handler must not enter it */
    uint32_t version; /**< odd while aggregates change */
    uint32_t depth;
    uint32_t too_deep; /**< begins beyond the deepest frame, not ended yet */
    uint32_t epoch;    /**< of the last resume this thread has seen */
    uint32_t ended;    /**< the thread is gone, its sums stay */
    uint32_t rounds;   /**< destructor rounds seen */
    uint32_t lived;    /**< the region of its life was begun */
    pid_t tid;
    uint32_t n_records;
    char name[16];
    struct region_kept *kept;
    struct region_misuse misuse;
    unsigned char *frames;  /**< UPMU_REGION_DEPTH_MAX of them */
    unsigned char *records; /**< REGION_NAMES_MAX of them, in order of first use */
    uint64_t *scratch;      /**< the counters at an end */
    struct {
        const char *text;
        uint32_t id;
    } cache[REGION_CACHE];
    uint16_t record_of[REGION_NAMES_MAX + 1]; /**< by region id: 1 + index into records, 0 if none */
};

/** State in wipe-on-fork memory: zero in a child until it has been set up anew. */
struct region_shared {
    uint32_t alive;
    uint32_t claimed;
    struct tiny_lock lock; /**< guards the list of threads and the table of names */
    struct tiny_lock cost; /**< held while the own cost is measured */
};

/** How to report at exit. */
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
    bool late_page;   /**< no events were asked for: a thread has no page of switches before its first region */
    uint32_t life_id; /**< UPMU_REGION_THREADS: the region that is each thread's life; 0 without it */
    uint32_t epoch;
    bool from_environment; /**< set up while being loaded: the program's own options are not used */
    uint32_t child;        /**< 1 in a forked child */
    enum region_report report;
    char *output; /**< path with %p and %h, or NULL for standard error */
    char *trace_dir;
    struct trace_writer *trace;
    char *note;           /**< what in the environment was wrong, or NULL */
    uint32_t sched;       /**< atomic: switches of threads are recorded */
    uint64_t sched_hz;    /**< ticks per second, roughly */
    char sched_note[256]; /**< why they are not, though somebody asked for them; or "" */
    bool kernel_locks;    /**< somebody asks for the kernel's locks, too */
    struct kernel_point_layout sched_points[KERNEL_POINTS];
    struct kernel_futex_points futex_points;
    int futex_refused; /**< atomic: errno with which waits for futexes of some thread could not be counted; 0: none */
    char futex_note[256]; /**< why those of all threads, or of some, are not counted; or "" */
    uint64_t step_ticks;  /**< a millisecond: longer than any step of the kernel's clock */
    int stderr_fd;        /**< kept for the report: the program may close its own before exit; -1 if it was closed */
    uint64_t stderr_dev, stderr_ino; /**< what it was, in case the number becomes something else */
    struct clock_triple start;
    struct region_kept *threads, *threads_last; /**< oldest first */
    size_t threads_ended, threads_merged, threads_short, threads_lost;
    uint64_t turned_away;            /**< begins and ends that no thread's block could count */
    struct region_thread *merged;    /**< sums of ended threads beyond REGION_THREADS_KEPT */
    uint64_t begin_ticks, end_ticks; /**< own cost, measured at the first question */
};

extern struct region_process upmu_regions;

/* ---- names (region_names.c) */

/** Id of a name, made at first sight; 0 if there is no room or no name. *cut tells whether it was too long.
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

/* ---- begin and end (region.c) */

/** Smallest cost in ticks of a begin and an end that aggregate, without the trace, into a record nobody sees.
 *  @return false if the thread is nested too deep to try. */
bool region_pair_cost(struct region_thread *t, uint64_t *begin, uint64_t *end);

/** Begin the region of a new thread's life, and end it with the thread: regions inside it that are open still are left
 *  open. Without UPMU_REGION_THREADS neither does anything. */
void region_life_begin(struct region_thread *t);
bool region_life_is_open(const struct region_thread *t);
void region_life_end(struct region_thread *t);

/* ---- threads (region_thread.c) */

/** All the thread-local storage regions need. */
struct region_tls {
    struct region_thread *thread;
    uint32_t starting; /**< the block is being made: a signal handler must not begin to make another */
    uint32_t refused;  /**< no block could be made, or the thread has ended: not tried again */
};
extern _Thread_local struct region_tls region_tls __attribute__((tls_model("initial-exec")));

/** The calling thread's block if it is ready to record, else NULL: then region_thread_get() knows why. */
static inline struct region_thread *region_thread_ready(void)
{
    struct region_thread *t = region_tls.thread;
    return __builtin_expect(t && t->live && !__atomic_load_n(&t->busy, __ATOMIC_RELAXED), 1) ? t : NULL;
}

/** Take and give the process's tiny lock from outside the recorder. A signal handler that begins a region meanwhile is
 *  turned away (and counted): it could wait for the lock for ever. */
void region_lock(void);
void region_unlock(void);

/** The calling thread's block, made if need be; NULL if it cannot be measured (counted) or the recorder is at work in
 *  it (counted). Keeps errno. */
struct region_thread *region_thread_get(void);
/** The thread's record of a region; NULL if it has none. */
static inline struct region_record *region_thread_record(const struct region_thread *t, uint32_t id)
{
    uint16_t index = __atomic_load_n(&t->record_of[id], __ATOMIC_ACQUIRE);
    return index ? (struct region_record *)(void *)(t->records + (index - 1u) * upmu_regions.record_bytes) : NULL;
}
/** Room for a record, zeroed; NULL if the table is full. */
struct region_record *region_thread_new_record(struct region_thread *t, uint32_t id);
/** The thread begins a region: open the page of its switches, if that was left for now. Traced path, rarely. */
void region_thread_page(struct region_thread *t);
/** Sizes of a block for the events set up; make the key for thread ends. @return 0, UPMU_E_NOMEM, UPMU_E_LIMIT. */
int region_threads_start(void);
/** Before a report: find events of threads that the kernel ran in part only, see counters_late(). */
void region_threads_check(void);
/** Take the numbers of these events out of a record: they are not counted. */
void region_record_leave_late(struct region_record *r, uint64_t late);
/** into += r, and into += m. */
void region_record_merge(struct region_record *into, const struct region_record *r);
void region_misuse_add(struct region_misuse *into, const struct region_misuse *m);
/** In a forked child: let go of the parent's threads. */
void region_threads_forget(void);

/** What the thread's counters stand at, into the trace, for the event of that tick about `object` that follows; `*tick` 0:
 *  it becomes the moment behind the reading. Traced path. @return false if there are none, or they could not be written
 *  (which is counted). */
bool region_counters(struct region_thread *t, uint64_t *tick, uint64_t object);

/* ---- how threads run (region_sched.c) */

/** Have switches recorded from now on, as UPMU_SCHED does; p->sched_note says why not. */
void region_sched_start(struct region_process *p);
/** The calling thread's buffer and stream, if there can be any; once per thread. Keeps errno. */
void region_sched_open(struct region_thread *t);
/** Put what the kernel has recorded into the trace; `tick` is about now. The owner only. Traced path after the first. */
void region_sched_drain(struct region_thread *t, uint64_t tick);
/** The thread ends. */
void region_sched_end(struct region_thread *t);
/** The process ends: what all its threads have left. */
void region_sched_finish(void);

/* ---- waits for futexes that are not recorded (region_futexes.c); with the switches of threads */

/** Where the kernel tells of them; p->futex_note says why it does not. */
void region_futexes_start(struct region_process *p);
/** Count those of the calling thread, if the kernel lets us. */
void region_futexes_open(struct region_futexes *f);
void region_futexes_close(struct region_futexes *f);
/** The calling thread begins, or ends, a wait that is recorded. Traced path. */
void region_futexes_wait_begin(struct region_futexes *f);
void region_futexes_wait_end(struct region_futexes *f);
/** Put the counts into the trace, if they have changed. */
void region_futexes_tell(struct region_futexes *f, struct trace_stream *stream, uint64_t tick);
/** The process ends: say why threads lack a count. */
void region_futexes_finish(void);

static inline bool region_sched_on(void)
{
    return __builtin_expect(__atomic_load_n(&upmu_regions.sched, __ATOMIC_RELAXED) != 0, 0);
}

/* ---- set up (region_setup.c) */

/** In a forked child at its first use: start clean. @return whether regions are on. */
bool region_child_start(void);

/** Set regions up with a trace in `dir`, or add a trace to regions that have none. A trace that is open stays.
 *  @return 0; UPMU_E_IO, UPMU_E_NOMEM, UPMU_E_SYSTEM. */
int region_ensure_trace(const char *dir);

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

/* ---- set up and reports (region_setup.c, report*.c) */

/** Path of the output with %p, %h and %% filled in; malloc'ed, NULL without memory. */
char *region_output_path(const char *pattern, bool child);
/** Write the report to a descriptor. @return 0 or -errno. */
int region_report_write(enum region_report format, int fd);

#endif
