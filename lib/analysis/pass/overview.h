/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The pass over a recording: events go in one by one in the order of time, and what stays is proportional to the
 * distinct things they name (threads, objects, sites, regions), never to their number.
 * Room: analysis. Before it: the trace reader; after it: the overview's public face (facts.c).
 *
 * Nothing here opens a file: the same pass works on any source of events.
 */
#ifndef UPMU_ANALYSIS_OVERVIEW_H
#define UPMU_ANALYSIS_OVERVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/pass/wakeup_graph.h"
#include "base/map.h"
#include "analysis/pass/path.h"
#include "analysis/pass/timeline.h"
#include "upmu/analysis.h"
#include "upmu/region.h"
#include "upmu/trace.h"

enum { PENDING_MAX = 8 }; /* waits within waits: only signal handlers nest them */

/** A wait or a hold whose counters were read at its begin; all zero: they were not. */
struct ov_section {
    struct upmu_value *before;
    size_t n;
    uint64_t begin_ns;
};

/** Of an object: all waits for it, or holds, with counters at both ends. */
struct ov_sections {
    uint64_t n, ns;
    size_t n_counts;
    struct upmu_overview_count *counts; /**< NULL before the first */
};

/** The counters that a thread told of last, and for which event. */
struct ov_moment {
    uint64_t tick, object;
    size_t n;
    struct upmu_value *values;
};

/** How a thread runs. */
struct ov_sched {
    bool told;
    int state; /**< enum upmu_sched_state, from `since_ns` on */
    uint32_t cpu;
    uint64_t since_ns;
    uint64_t seen_ns; /**< nothing is missing up to here */
    uint64_t ns[UPMU_SCHED_STATES];
    uint64_t voluntary, involuntary, lost;
    uint64_t woken_ns; /**< it waits, and was woken then by `waker`; 0: not yet, or nobody tells */
    uint32_t waker;
};

/** How often a thread has called the kernel to wait for a futex, and how often of these within recorded waits. */
struct ov_futexes {
    bool told;
    uint64_t waits, recorded;
};

/** How often one thread woke another one, and how long that one then took to a CPU. */
struct ov_waker {
    uint32_t wakee, waker;
    struct upmu_wait_sum waits;
};

/** A lock of the kernel's own. */
struct ov_kernel_lock {
    uint32_t process, kinds;
    uint64_t address;
    struct upmu_wait_sum waits;
};

enum { KERNEL_WAITS_MAX = 4 }; /* waits within waits: interrupts are left out */

struct ov_kernel_wait {
    uint64_t address, begin_ns;
};

/** A wait that has begun. */
struct pending {
    int kind; /**< enum upmu_wait_kind */
    uint32_t object;
    uint32_t holder; /**< thread, MAP_NONE if not known */
    uint64_t begin_ns;
    uint64_t inner_ns; /**< waits that ended inside it */
    uint64_t at_event; /**< the thread's own count of events when it began */
    uint64_t site, holder_site, holder_since;
    uint32_t stack;
    uint32_t flags; /**< enum upmu_trace_flag */
    struct ov_section section;
};

struct open_region {
    uint32_t region;
    uint64_t begin_ns;
};

struct ov_thread {
    uint32_t process;
    pid_t pid, tid, creator;
    bool started, ended;
    char *name;
    uint64_t handle; /**< its pthread_t, 0 if not known */
    uint32_t use;    /**< the one that was asked for last: mostly the next event is about the same lock */
    uint64_t begin_ns, end_ns, last_ns;
    uint64_t stood_ns; /**< it is known to have stood until then; 0: it is not */
    uint64_t events;
    uint64_t actions; /**< events that show it running: without counts flushed for it */
    uint64_t blocked_ns;
    struct upmu_wait_sum waits[UPMU_WAIT_KINDS];
    struct upmu_value switches;
    struct pending pending[PENDING_MAX];
    size_t n_pending;
    struct open_region *open;       /**< regions begun, outermost first */
    struct upmu_value *open_values; /**< for each of them the counters at its begin */
    size_t n_open, cap_open;
    uint32_t *also; /**< the further words of the last wait for a futex that was one for several */
    size_t n_also, cap_also;
    struct upmu_overview_count *counts; /**< over the region of its life, NULL if that did not end */
    size_t n_counts;
    struct ov_moment moment;
    struct ov_sched sched;
    struct ov_futexes futexes;
    struct ov_kernel_wait kernel_waits[KERNEL_WAITS_MAX];
    size_t n_kernel_waits;
};

/** A thread's use of an object. Holds are paired in two ways, see holds.c. */
struct ov_use {
    uint32_t thread, object;
    bool has_counts, unclear_counts;       /**< told; told for this object and one before it together */
    uint64_t counted, counted_contended;   /**< as told */
    uint64_t taken_since, contended_since; /**< events after the last counts */
    uint64_t taken, released;              /**< events */
    uint64_t shared, shared_since;         /**< as a reader: as told, and events after that */
    uint64_t last;                         /**< came last to a barrier */
    uint32_t depth, max_depth;             /**< taken and not given back */
    uint32_t saved_depth;                  /**< before a condition variable's wait */
    uint32_t release_stack;                /**< of the last release recorded */
    uint64_t release_ns;
    uint64_t since;              /**< of depth 1 */
    struct upmu_wait_sum paired; /**< holds from each acquisition to its release */
    uint64_t sample_since;       /**< begin of the present hold if it is a sample, 0 = none */
    struct upmu_wait_sum sampled;
    uint64_t told_since;       /**< begin of the present hold as a waiter learned it, 0 = none */
    struct upmu_wait_sum told; /**< holds from there to the release */
    struct upmu_wait_sum waits;
    uint64_t blocked, blocked_ns;
    uint64_t begun; /**< begin of the present hold as far as anything tells, 0 = not known */
    uint32_t again; /**< how often more a recursive mutex was taken in it */
    uint32_t share; /**< where the graph adds its holds up, valid behind the moment `share_at` of the thread */
    uint32_t share_at;
    /** The place where it was taken last, as that event named it: mostly the next one names the same. */
    uint64_t site_address;
    uint32_t site_stack, site; /**< the site of these; MAP_NONE: nothing is known yet */
    struct ov_section section; /**< the present hold */
};

struct ov_site {
    uint32_t object;
    uint64_t address;
    uint32_t stack;
    uint64_t taken;
    struct upmu_wait_sum waits;
    uint64_t blocked, blocked_ns;
};

struct ov_object {
    uint32_t process;
    pid_t pid, peer;
    int32_t type;
    uint32_t generation;
    uint64_t address;
    char *name;
    bool created, destroyed;
    bool counts_clear; /**< nothing that is counted belongs to what lay there before */
    bool counts_told;  /**< all that was counted of it stands before its end */
    bool used;         /**< more is known of it than a name */
    bool recursive;    /**< a mutex that its holder may take again */
    bool followed;     /**< a later one lies, or lay, at its address */
    uint64_t init_site;
    struct upmu_wait_sum waits, shared_waits;
    uint64_t failed, signals, broadcasts, misuses, tries_failed, rounds;
    struct upmu_longest_wait longest;
    struct ov_sections held, waited;
    /* At the end: its entries in `uses` and `sites`, which are then sorted by object. */
    uint32_t first_use, n_uses, first_site, n_sites;
};

struct ov_region {
    uint32_t process;
    pid_t pid;
    char *name;
    uint64_t count, wall_ns, min_ns, max_ns, unfinished;
    size_t n_counts;
    struct upmu_overview_count *counts;
};

/** What is known of a process. */
struct ov_process {
    uint64_t start_ns; /**< when its recording began */
    uint64_t last_ns;  /**< its last event */
    bool killed;       /**< did not end in good order, or has not ended */
    bool whole;        /**< ended in good order and lost nothing: what is not there did not happen */
    size_t switches;   /**< index of the counter of context switches, SIZE_MAX if there is none */
    uint64_t full, compact,
        stacked; /**< events about locks and threads; those in compact classes; those with a stack */
};

/** What the recorder last told of a thread and an address: it counts on when another lock comes to lie there. */
struct ov_tally {
    uint32_t object;
    uint64_t count, contended;
};

/** The name a thread was given before its own first event. */
struct ov_early_name {
    char *name; /**< NULL: the thread is known to exist, no more */
};

struct overview {
    uint64_t events, unknown, unmatched, unfinished, begin_ns, end_ns;
    struct ov_process *processes;
    size_t n_processes, cap_processes;
    struct ov_thread *threads;
    size_t n_threads, cap_threads;
    uint32_t last_thread; /**< the one that was looked for last; the newest under its id, if there is one */
    struct ov_object *objects;
    size_t n_objects, cap_objects;
    struct ov_use *uses;
    size_t n_uses, cap_uses;
    struct ov_site *sites;
    size_t n_sites, cap_sites;
    struct ov_region *regions;
    size_t n_regions, cap_regions;
    struct ov_early_name *early;
    size_t n_early, cap_early;
    struct ov_tally *tallies;
    size_t n_tallies, cap_tallies;
    struct ov_waker *wakers;
    size_t n_wakers, cap_wakers;
    struct ov_kernel_lock *kernel_locks;
    size_t n_kernel_locks, cap_kernel_locks;
    struct map by_waker, by_kernel_lock;
    /** The call site on top of a stack, 0 if not known; NULL: none is. Frequent events have their site there. */
    uint64_t (*stack_site)(void *arg, uint32_t process, uint32_t stack);
    void *stack_arg;
    const struct timeline_hooks *hooks; /**< NULL: nobody looks on */
    struct chain chain;                 /**< what set threads going */
    struct paths paths;                 /**< after overview_finish() */
    struct map by_tid, by_handle, by_early, by_tally, by_address, by_use, by_site, by_region;
    uint32_t *thread_order, *object_order, *region_order; /**< after overview_finish() */
    uint32_t *thread_place, *object_place;                /**< by number, the place in that order */
};

/** Make a process known before its first event: processes come in the order of their index. @return 0; UPMU_E_NOMEM. */
int overview_process(struct overview *o, const struct ov_process *process);
/** Take one event. @return 0, also for kinds not known; UPMU_E_NOMEM; UPMU_E_INVAL (no such process). */
int overview_add(struct overview *o, const struct upmu_trace_event *e);
/** All events are in: close what is open, and sort. @return 0; UPMU_E_NOMEM. */
int overview_finish(struct overview *o);
void overview_free(struct overview *o);

/** upmu_fail() for memory. */
int overview_no_memory(void);

/** Copy of `text` in the place of `*slot`. @return 0; UPMU_E_NOMEM. */
int overview_rename(char **slot, const char *text);

/* threads.c: what threads are called and how long they live. MAP_NONE is returned without memory. */
uint32_t thread_of(struct overview *o, uint32_t process, pid_t pid, pid_t tid, uint64_t time_ns);
/** Another thread under an id that was somebody else's, or nobody's. */
uint32_t thread_new(struct overview *o, uint32_t process, pid_t pid, pid_t tid, uint64_t time_ns);
int thread_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);
void threads_finish(struct overview *o);

/* objects.c: which object an event speaks of. */
enum object_wish {
    OBJECT_ALIVE, /**< the one at the address now: a new one if the last was destroyed or of another type */
    OBJECT_BEGIN, /**< it begins with this event */
    OBJECT_LAST,  /**< the last one there was, destroyed or not */
};
uint32_t object_of(struct overview *o, const struct upmu_trace_event *e, enum object_wish wish);
/** The object at `address` if there is one that lives, or MAP_NONE. */
uint32_t object_known(const struct overview *o, uint32_t process, uint64_t address);
/** The last object there was at `address`, or MAP_NONE. */
uint32_t object_last(const struct overview *o, uint32_t process, int32_t type, uint64_t address);
uint32_t use_of(struct overview *o, uint32_t thread, uint32_t object);
uint32_t site_of(struct overview *o, uint32_t object, uint64_t address);
int object_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);

/* waits.c: from a thread's stopping to its going on. */
void wait_sum_add(struct upmu_wait_sum *sum, uint64_t ns);
int wait_begin(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e);
int wait_end(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e);
/** What had begun was no wait at all. */
void wait_forget(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e);
/** The events are all in, and the thread that waits for what lies at `address` is known to have stood until `until`, but no
 *  longer than `most_ns`. */
void wait_stood(struct overview *o, uint32_t process, pid_t tid, uint64_t address, uint64_t until, uint64_t most_ns);
/** The thread runs no more from `until` on: what it waited for did not come. */
int waits_abandon(struct overview *o, uint32_t thread, uint64_t until);

/* holds.c: from taking to giving back. */
void hold_take(struct ov_use *use, const struct upmu_trace_event *e, bool recursive);
/** The hold ends: when it had begun, as far as anything tells; 0: nothing does, or the mutex was taken more than once. */
uint64_t hold_begun(struct ov_use *use);
void hold_release(struct ov_use *use, const struct upmu_trace_event *e);
/** Who waits has found it held, since `since_ns` or, if that is 0, at the latest since `time_ns`. */
void hold_told(struct ov_use *use, uint64_t since_ns, uint64_t time_ns);
void hold_pause(struct ov_use *use, uint64_t time_ns);
void hold_resume(struct ov_use *use, uint64_t time_ns);
void hold_counts(struct ov_use *use, struct ov_tally *tally, const struct upmu_trace_event *e);
uint64_t use_acquisitions(const struct ov_use *use);
uint64_t use_contended(const struct ov_use *use);
uint64_t use_shared(const struct ov_use *use);
bool use_counts_exact(const struct ov_use *use);
/** Whether every acquisition and release of the use was recorded. */
bool use_holds_complete(const struct ov_use *use);
/** The holds that are certain. */
const struct upmu_wait_sum *use_holds(const struct ov_use *use);

/* regions.c */
int region_begin(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);
int region_end(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);
void regions_abandon(struct overview *o, uint32_t thread);

/* sched.c: how threads ran. */
int sched_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);
/** The thread's life begins here: what was told before is not part of it. */
void sched_start(struct ov_thread *t, uint64_t time_ns);
/** It ends at its `end_ns`. */
int sched_end(struct overview *o, uint32_t thread);

/* tracepoints.c: what else the kernel tells of it. */
int wake_event(struct overview *o, uint32_t waker, const struct upmu_trace_event *e);
/** The thread runs again. */
int wake_arrived(struct overview *o, uint32_t thread, uint64_t time_ns);
int kernel_lock_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);

/* sections.c: what counters counted in waits and holds. */
int moment_note(struct overview *o, uint32_t thread, const struct upmu_trace_event *e);
int section_begin(struct overview *o, uint32_t thread, const struct upmu_trace_event *e, struct ov_section *s);
/** Add it up, if both its ends have counters; it is over in any case. */
int section_end(struct overview *o, uint32_t thread, const struct upmu_trace_event *e, struct ov_section *s,
                struct ov_sections *sum);
void section_forget(struct ov_section *s);

/* values.c: counters with their status. */
struct upmu_value value_difference(const struct upmu_value *before, const struct upmu_value *after);
void count_add(struct upmu_overview_count *sum, const struct upmu_value *v, bool first);

/* order.c: what matters most comes first. */
int overview_sort(struct overview *o);

#endif
