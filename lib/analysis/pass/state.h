/* SPDX-License-Identifier: MIT */
/**
 * @file
 * State of the event pass: threads, objects, regions and their sums.
 *
 * Its size is proportional to the distinct threads, objects, call sites and regions, never to the number of events.
 */
#ifndef UPMU_ANALYSIS_STATE_H
#define UPMU_ANALYSIS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/pass/path_data.h"
#include "analysis/pass/timeline.h"
#include "analysis/pass/wakeup_data.h"
#include "base/error.h"
#include "base/map.h"
#include "upmu/analysis.h"
#include "upmu/region.h"
#include "upmu/trace.h"

enum { PENDING_MAX = 8 }; /* nested waits: only signal handlers and custom locks nest them */

/** The counters at the begin of a wait or a hold; all zero: not read. */
struct ov_section {
    struct upmu_value *before;
    size_t n;
    uint64_t begin_ns;
};

/** Sums over an object's waits, or its holds, with counters at both ends. */
struct ov_section_sums {
    uint64_t n, ns;
    size_t n_counts;
    struct upmu_overview_count *counts; /**< NULL before the first */
};

/** The counters that a thread recorded last, and the event they belong to. */
struct ov_snapshot {
    uint64_t tick, object;
    size_t n;
    struct upmu_value *values;
};

/** Number of scheduling states. */
enum { SCHED_STATES = UPMU_SCHED_BLOCKED + 1 };

/** Scheduler state of a thread. */
struct ov_sched {
    bool recorded;
    int state; /**< enum upmu_sched_state, from `since_ns` on */
    uint32_t cpu;
    uint64_t since_ns;
    uint64_t seen_ns; /**< no record is missing up to here */
    uint64_t ns[SCHED_STATES];
    uint64_t voluntary, involuntary, lost;
    uint64_t woken_ns; /**< when `waker` woke the blocked thread; 0: not yet, or not recorded */
    uint32_t waker;
};

/** Number of futex system calls of a thread, and how many of them belong to recorded waits. */
struct ov_futexes {
    bool counted;
    uint64_t waits, recorded;
};

/** Wake-ups of one thread by another, and the delays until the woken thread ran. */
struct ov_waker {
    uint32_t wakee, waker;
    struct upmu_wait_sum waits;
};

/** A lock of the kernel. */
struct ov_kernel_lock {
    uint32_t process, kinds;
    uint64_t address;
    struct upmu_wait_sum waits;
};

enum { KERNEL_WAITS_MAX = 4 }; /* nested waits; interrupts are left out */

struct ov_kernel_wait {
    uint64_t address, begin_ns;
};

/** A wait that has not ended. */
struct pending_wait {
    int kind; /**< enum upmu_wait_kind */
    uint32_t object;
    uint32_t holder; /**< thread, MAP_NONE if not known */
    uint64_t begin_ns;
    uint64_t inner_ns; /**< total of the waits nested in it that have ended */
    uint64_t at_event; /**< `actions` of the thread at its begin */
    uint32_t node;     /**< its begin in the wakeup graph; MAP_NONE: not there */
    uint64_t site, holder_site, holder_since;
    uint32_t stack, holder_stack;
    uint32_t flags; /**< enum upmu_trace_flag */
    bool before;    /**< it began before the recording */
    struct ov_section section;
};

struct open_region {
    uint32_t region;
    uint64_t begin_ns;
    bool cut; /**< it began before the window: its counters there are not known */
};

/* Number of enum upmu_wait_kind, and of those that are calls, from UPMU_WAIT_SLEEP on. */
enum { WAIT_KINDS = UPMU_WAIT_CHILD + 1, CALL_KINDS = WAIT_KINDS - UPMU_WAIT_SLEEP };

enum { CALLS_KEPT = 64 }; /* of each thread: a hold with more of them has a lower bound */

/** A wait in a call that has ended. */
struct ov_call_wait {
    uint64_t begin_ns, end_ns;
    int kind; /**< enum upmu_wait_kind */
};

struct ov_thread {
    uint32_t process;
    pid_t pid, tid, creator;
    bool started, ended, reused; /**< `reused`: after the window another thread has its id */
    bool awaited;                /**< a thread waited for it in the window */
    char *name;
    uint64_t handle; /**< its pthread_t, 0 if not known */
    uint64_t start;  /**< its function, as a return address; 0 if not known */
    uint32_t stack;  /**< one of its stacks, with the function it was started with if one had it */
    bool stack_shows_start;
    uint32_t stacks_tried;
    uint32_t last_stats; /**< cache of stats_of(): the next event is mostly about the same object */
    uint64_t begin_ns, end_ns, last_ns;
    /** Its last wait lasted at least until then; 0: not known. At the end, of a thread that did not end: its open waits do so here. */
    uint64_t blocked_until_ns;
    uint64_t events;
    uint64_t events_before; /**< of these, before the window */
    uint64_t actions;       /**< events that show it running: without counts flushed on its behalf */
    uint64_t acted_ns;      /**< the last of them */
    uint64_t blocked_ns;
    struct upmu_wait_sum waits[WAIT_KINDS];
    struct upmu_value switches;
    uint64_t cpu_ns;   /**< CPU time of its life; UPMU_NO_VALUE if unknown */
    uint64_t ready_ns; /**< ready to run without a CPU; UPMU_NO_VALUE if unknown */
    struct pending_wait pending[PENDING_MAX];
    size_t n_pending;
    struct open_region *open;       /**< regions begun, outermost first */
    struct upmu_value *open_values; /**< for each of them the counters at its begin */
    size_t n_open, cap_open;
    uint32_t *also; /**< objects of a multi-word futex wait beside the first */
    size_t n_also, cap_also;
    struct ov_call_wait *calls; /**< the last CALLS_KEPT, NULL before the first */
    uint64_t n_calls;           /**< all of them */
    uint32_t woken_by;          /**< condition variable of the last wait that ended without an error; MAP_NONE: none */
    uint64_t woken_ns;          /**< when */
    struct upmu_overview_count *counts; /**< over its lifetime region, NULL if that has not ended */
    size_t n_counts;
    struct ov_snapshot snapshot;
    struct ov_sched sched;
    struct ov_futexes futexes;
    struct ov_kernel_wait kernel_waits[KERNEL_WAITS_MAX];
    size_t n_kernel_waits;
};

/** A hold that has ended, of one thread and object. */
struct ov_hold {
    uint64_t begin_ns, end_ns; /**< `begin_ns` 0: not known at all */
    uint64_t site;             /**< call site at which it began; 0: not known */
    bool certain;              /**< its begin belongs to its end */
    bool partial;              /**< it began before `begin_ns` */
    bool sampled;              /**< a sample that no thread waited for */
};

/** Statistics of one thread for one object. Holds are paired in two ways, see holds.c. */
struct ov_thread_stats {
    uint32_t thread, object;
    bool has_counts, unclear_counts;       /**< exact counts recorded; for this object and its predecessor together */
    uint64_t counted, counted_contended;   /**< as recorded in LOCK_COUNTS */
    uint64_t taken_since, contended_since; /**< events after the last counts */
    uint64_t taken, released;              /**< events */
    uint64_t shared, shared_since;         /**< as a reader: as recorded, and events after that */
    uint64_t last;                         /**< rounds in which it arrived last at a barrier */
    uint32_t depth, max_depth;             /**< acquired and not released */
    uint32_t saved_depth;                  /**< before a condition variable's wait */
    uint32_t release_stack;                /**< of the last release recorded */
    uint64_t release_ns;
    uint64_t since;              /**< of depth 1 */
    struct upmu_wait_sum paired; /**< holds from each acquisition to its release */
    uint64_t sample_since;       /**< begin of the present hold if it is a sample, 0 = none */
    struct upmu_wait_sum sampled;
    struct upmu_wait_sum known;   /**< holds with a certain begin and end */
    struct upmu_wait_sum partial; /**< holds with a certain end that began before their `begin_ns` */
    struct upmu_wait_sum before;  /**< further ones, acquired before the recording */
    bool resumed_before;          /**< the present hold continues one of these after a condition variable's wait */
    struct ov_hold hold;          /**< the one that ended last */
    struct ov_hold pair;          /**< likewise of `paired` */
    uint64_t awaited_since;       /**< begin of the hold that the latest waiter found, 0 = not known */
    uint64_t awaited_end;         /**< and its end; 0: not yet */
    uint32_t awaited_stack;       /**< of that release */
    uint64_t since_site;          /**< call site of `since`; 0: not known */
    uint64_t waited_site;         /**< call site of the wait that ended last; 0: not known */
    struct upmu_wait_sum waits;
    uint64_t blocked, blocked_ns;
    uint64_t begun;      /**< begin of the present hold from any source, 0 = not known */
    uint64_t begun_site; /**< call site of that, 0: not known */
    bool begun_partial;  /**< it began before */
    bool begun_observed; /**< as a waiter recorded it */
    bool unfinished;     /**< `hold` had not ended when the recording did */
    bool stuck;          /**< a wait for the present hold has not ended when the recording did */
    uint32_t again;      /**< recursive acquisitions within it */
    uint32_t graph_hold; /**< entry of the wakeup graph that sums up the holds, valid after node `graph_node` */
    uint32_t graph_node;
    /** Cache: the call site of the last acquisition, and the event's address and stack it was found by. */
    uint64_t site_address;
    uint32_t site_stack, site; /**< `site` MAP_NONE: empty */
    struct ov_section section; /**< the present hold */
};

/** Statistics of one call site for one object. */
struct ov_call_site {
    uint32_t object;
    uint64_t address;
    uint32_t stack;
    uint64_t taken;
    struct upmu_wait_sum waits;
    struct upmu_wait_sum paired, known, partial; /**< holds that began here, as in struct ov_thread_stats */
    uint64_t blocked, blocked_ns;
};

/** A call of one object's wrapper: what the stacks that begin with it lead to. A holder's call site has no stack. */
struct ov_bare_site {
    uint64_t call; /**< 0: to several calls */
};

struct ov_object {
    uint32_t process;
    pid_t pid, peer;
    int32_t type;
    uint32_t generation;
    uint64_t address;
    uint64_t tick; /**< of its first event: other modules may be mapped there later */
    char *name;
    bool created, destroyed;
    bool counts_clear; /**< no count belongs to the object that was at its address before */
    bool counts_final; /**< all its counts were recorded before its end */
    bool used;         /**< more than its name is known */
    bool recursive;    /**< a recursive mutex */
    bool shared;       /**< a barrier at which threads of other processes may arrive */
    bool was_held;     /**< a semaphore: the end of a hold was recorded */
    bool is_signal;    /**< a semaphore that was posted by a thread that did not hold it: it is not a lock */
    bool in_window;    /**< a thread has statistics of it in the window */
    bool followed;     /**< another object is, or was, at its address later */
    uint64_t init_site, used_site; /**< where it was initialized, and where it was first used: not where it ended */
    uint32_t init_stack, used_stack;
    struct upmu_wait_sum waits, shared_waits;
    uint64_t before_waits; /**< of these, begun before the recording */
    uint64_t failed, signals, broadcasts, misuses, tries_failed, rounds;
    uint64_t in_vain;             /**< waits for the condition variable that follow the last one at once */
    uint64_t timed_holds_ns;      /**< holds with a recorded begin */
    uint64_t call_ns[CALL_KINDS]; /**< of these, in calls that wait, by kind */
    struct upmu_longest_wait longest;
    struct ov_section_sums held, waited;
    /* After overview_conclude(): its entries in `thread_stats` and `sites`, which are then sorted by object. */
    uint32_t first_thread_stats, n_thread_stats, first_site, n_sites;
};

struct ov_region {
    uint32_t process;
    pid_t pid;
    char *name;
    uint64_t count, wall_ns, min_ns, max_ns, unfinished;
    size_t n_counts;
    struct upmu_overview_count *counts;
};

enum { OV_CPUS = 1024 }; /* those above are not counted */

/** A stretch in which recording was stopped, or only counted. */
struct ov_pause {
    uint64_t begin_ns, end_ns;
    bool counted;
};

struct ov_process {
    uint64_t start_ns;           /**< begin of its recording */
    uint64_t last_ns;            /**< its last event */
    uint64_t alive_ns;           /**< killed or become another program: it was alive until then; 0: not known */
    uint64_t cpus[OV_CPUS / 64]; /**< CPUs that its threads ran on */
    uint32_t cpus_allowed;       /**< CPUs that a thread of it may use; 0: unknown */
    bool killed;                 /**< its recording was not closed */
    bool whole;                  /**< its recording was closed and lost no event */
    bool overwritten;            /**< events of its threads were overwritten in rings */
    size_t switches;             /**< index of the counter of context switches, SIZE_MAX if there is none */
    struct ov_pause *pauses;     /**< in the order of time; owned */
    size_t n_pauses;
    uint64_t full, compact,
        stacked; /**< events about locks and threads; those in compact classes; those with a stack */
};

/** The last LOCK_COUNTS of a thread for an address: the recorder counts on when another lock is created there. */
struct ov_baseline {
    uint32_t object;
    uint64_t count, contended;
};

/** A pthread_t: what is known of its thread before that has an event of its own. */
struct ov_early_name {
    char *name;   /**< NULL: the thread is known to exist */
    bool created; /**< a thread was created that has not started yet: an earlier one with this pthread_t is not meant */
    bool started; /**< a thread has started whose creation was not recorded yet */
};

/** The stretch of a recording that a pass is limited to: see window_pass.c. */
struct ov_window {
    const struct overview *whole; /**< the same recording, read to its end; NULL: no limit */
    uint64_t from_ns, to_ns;      /**< `from_ns` 0: from the begin on */
    bool begun;
};

struct overview {
    struct ov_window window;
    uint64_t events, unknown, unmatched, unfinished, begin_ns, end_ns;
    uint64_t start_ns; /**< start of the recording, the begin if no event is before; 0: not known */
    uint64_t openmp;   /**< events of OpenMP */
    struct ov_process *processes;
    size_t n_processes, cap_processes;
    struct ov_thread *threads;
    size_t n_threads, cap_threads;
    uint32_t last_thread; /**< cache of thread_of(): the newest thread with that tid */
    struct ov_object *objects;
    size_t n_objects, cap_objects;
    struct ov_thread_stats *thread_stats;
    size_t n_thread_stats, cap_thread_stats;
    struct ov_call_site *sites;
    size_t n_sites, cap_sites;
    struct ov_region *regions;
    size_t n_regions, cap_regions;
    struct ov_early_name *early;
    size_t n_early, cap_early;
    struct ov_baseline *baselines;
    size_t n_baselines, cap_baselines;
    struct ov_waker *wakers;
    size_t n_wakers, cap_wakers;
    struct ov_kernel_lock *kernel_locks;
    size_t n_kernel_locks, cap_kernel_locks;
    struct map by_waker, by_kernel_lock;
    struct ov_bare_site *bare_sites;
    size_t n_bare_sites, cap_bare_sites;
    struct map by_bare_site; /**< object and address */
    /** The call of a stack that is outside of wrappers (lookup_call()), or `site` without a stack; NULL: `site`. */
    uint64_t (*call_site)(void *arg, uint32_t process, uint64_t site, uint32_t stack);
    /** As identity_stack_shows_start(); NULL: none does. */
    bool (*stack_shows_start)(void *arg, uint32_t process, uint32_t stack);
    /** Whether events of a thread were lost; NULL: none were. */
    bool (*events_lost)(void *arg, uint32_t process, pid_t tid);
    void *call_site_arg;
    const struct timeline_hooks *hooks; /**< NULL: none */
    struct wakeup_graph graph;
    struct paths paths; /**< after overview_conclude() */
    struct map by_tid, by_handle, by_early, by_baseline, by_address, by_thread_object, by_site, by_region;
    uint32_t *thread_order, *object_order,
        *region_order; /**< indices in the order of importance, after overview_conclude() */
    size_t n_thread_order, n_object_order, n_region_order; /**< those of a window: without what is outside */
    uint32_t *thread_rank, *object_rank;                   /**< by index, the position in that order */
};

/** Add a process before its first event: processes come in the order of their index. @return 0; UPMU_E_NOMEM. */
int overview_process(struct overview *o, const struct ov_process *process);

void overview_free(struct overview *o);

static inline int overview_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading a recording");
}

/** Nanoseconds between two times in which the process was recorded, so that no sum has the stretches in which recording was stopped:
 *  neither as waits and holds, which are known to have lasted, nor as anything else, which is not known. */
uint64_t recorded_ns_paused(const struct ov_process *p, uint64_t begin_ns, uint64_t end_ns);
static inline uint64_t recorded_ns(const struct overview *o, uint32_t process, uint64_t begin_ns, uint64_t end_ns)
{
    const struct ov_process *p = &o->processes[process];
    return __builtin_expect(p->n_pauses == 0, 1) ? end_ns - begin_ns : recorded_ns_paused(p, begin_ns, end_ns);
}

/** A time, moved into the window. */
static inline uint64_t window_time(const struct ov_window *w, uint64_t ns)
{
    return ns < w->from_ns ? w->from_ns : ns > w->to_ns ? w->to_ns : ns;
}

/** Whether the thread's pending waits, holds and regions end after the window. */
static inline bool window_is_outlasted(const struct overview *o, uint32_t thread)
{
    const struct overview *all = o->window.whole;
    return all && thread < all->n_threads && all->threads[thread].acted_ns > o->window.to_ns;
}

/** Whether a thread, object or region has a part in the window. */
static inline bool window_has_thread(const struct overview *o, uint32_t thread)
{
    const struct ov_window *w = &o->window;
    const struct ov_thread *all = w->whole ? &w->whole->threads[thread] : NULL;
    return !all || o->threads[thread].awaited || (all->end_ns >= w->from_ns && all->begin_ns <= w->to_ns);
}

static inline bool window_has_object(const struct overview *o, uint32_t object)
{
    const struct ov_object *x = &o->objects[object];
    return !o->window.whole || x->in_window ||
           x->failed + x->signals + x->broadcasts + x->misuses + x->tries_failed > 0;
}

static inline bool window_has_region(const struct overview *o, uint32_t region)
{
    return !o->window.whole || o->regions[region].count + o->regions[region].unfinished > 0;
}

#endif
