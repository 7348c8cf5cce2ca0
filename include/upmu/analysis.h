/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a recording says as a whole: threads and where they waited, locks and who held them, regions and their counters.
 * Link with libupmu_analysis; a measured program never loads it.
 *
 *     struct upmu_overview *o;
 *     struct upmu_overview_object lock = {.size = sizeof lock};
 *     if (upmu_overview_open(&o, "DIR", NULL) < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 *     for (size_t i = 0; upmu_overview_object_at(o, i, &lock) == 0; i++)
 *         printf("%s %" PRIu64 "\n", lock.name, lock.waits.total_ns);
 *     upmu_overview_close(o);
 *
 * Functions that fill a struct take its `size` from the caller and return 0, UPMU_E_NAME past the last entry,
 * UPMU_E_INVAL for a size that is too small or an argument that is NULL. Strings live as long as the overview.
 * What the recording does not tell is not invented: each number says beside it whether it is whole.
 */
#ifndef UPMU_ANALYSIS_H
#define UPMU_ANALYSIS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/api.h"
#include "upmu/trace.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** A recording read through. One thread at a time. */
struct upmu_overview;

/** Options; NULL or all zero but `size`: the defaults. */
struct upmu_overview_opts {
    size_t size;           /**< sizeof(struct upmu_overview_opts) */
    const char *debug_dir; /**< where separate debug files are; NULL: /usr/lib/debug */
    /** Told now and then how much is read: `done` of about `all` events. NULL: nobody. */
    void (*progress)(void *arg, uint64_t done, uint64_t all);
    void *arg;
};
#define UPMU_OVERVIEW_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_opts, 32)

/**
 * Read a recording, or the directory of one process in it, from its beginning to its end. A damaged stream is left out
 * from the damage on, and so is a process whose files cannot be read, unless it is the only one (upmu_overview_damage_message()).
 * @return 0; the codes of upmu_trace_open(), UPMU_E_INVAL (options), UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_overview_open(struct upmu_overview **overview, const char *dir,
                                             const struct upmu_overview_opts *opts);

/** Close; NULL is fine. */
UPMU_API void upmu_overview_close(struct upmu_overview *overview);

/** The recording as a whole. */
struct upmu_overview_totals {
    size_t size;         /**< in: sizeof(struct upmu_overview_totals) */
    uint64_t events;     /**< events read, of known kinds */
    uint64_t unknown;    /**< events of kinds that this version does not know: passed over */
    uint64_t begin_ns;   /**< of the first event, nanoseconds since 1970; 0 without events */
    uint64_t end_ns;     /**< of the last one */
    uint64_t lost;       /**< events that could not be recorded, in all processes */
    uint64_t unmatched;  /**< ends without their begin and begins without their end: what lies between is not counted */
    uint64_t unfinished; /**< waits still going on when the recording ended */
    size_t n_processes, n_threads, n_objects, n_regions;
    size_t n_damages; /**< streams of which a part could not be read */

    uint64_t own_cost_ns; /**< time it took to record the events about locks and threads, by what was measured when
                               recording began; UPMU_NO_VALUE: not recorded */
    uint64_t lifetime_ns; /**< of all threads together */
};
#define UPMU_OVERVIEW_TOTALS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_totals, 120)
UPMU_API UPMU_CHECKED int upmu_overview_totals_read(const struct upmu_overview *overview,
                                                    struct upmu_overview_totals *out);

/** Process `i`: see upmu_trace_process_at(). */
UPMU_API UPMU_CHECKED int upmu_overview_process_at(const struct upmu_overview *overview, size_t i,
                                                   struct upmu_trace_process *out);
/** Number of processes; 0 if `overview` is NULL, as for all counts below. */
UPMU_API size_t upmu_overview_process_count(const struct upmu_overview *overview);

/** Message about damage `i`, NULL past the last. */
UPMU_API const char *upmu_overview_damage_message(const struct upmu_overview *overview, size_t i);
/** Number of damages. */
UPMU_API size_t upmu_overview_damage_count(const struct upmu_overview *overview);

/** Waits added up. The mean is total_ns / count. */
struct upmu_wait_sum {
    uint64_t count; /**< waits that ended */
    uint64_t total_ns;
    uint64_t max_ns;
    uint64_t unfinished; /**< waits that had not ended when the recording, or the thread, did */
    /** How long these had lasted by then, or until a killed process was seen alive last; 0: not known. */
    uint64_t unfinished_ns;
};

/** What a thread waits for. */
enum upmu_wait_kind {
    UPMU_WAIT_MUTEX = 0,
    UPMU_WAIT_COND = 1,
    UPMU_WAIT_SEM = 2,
    UPMU_WAIT_CUSTOM = 3, /**< locks of the program's own making */
    UPMU_WAIT_JOIN = 4,
    UPMU_WAIT_RWLOCK = 5,
    UPMU_WAIT_SPIN = 6,
    UPMU_WAIT_BARRIER = 7,
    UPMU_WAIT_ONCE = 8,  /**< for another thread to run the function of a pthread_once() */
    UPMU_WAIT_FUTEX = 9, /**< futexes that the program uses itself */
};

/** "mutex", "cond", "sem", "custom", "join", "rwlock", "spin", "barrier", "once", "futex"; "?" for any other number. */
UPMU_API const char *upmu_wait_kind_name(int kind);

/** A thread. */
struct upmu_overview_thread {
    size_t size;      /**< in: sizeof(struct upmu_overview_thread) */
    uint32_t process; /**< index for upmu_overview_process_at() */
    pid_t pid, tid;
    pid_t creator;    /**< kernel id of the thread that made it, 0 if not known */
    uint32_t started; /**< 1: its start was recorded; 0: it was there before, or began unseen */
    uint32_t ended;   /**< 1: its end was recorded; 0: `end_ns` is the end of the process's recording */
    /** The last name it was given, else "main", the function it was started with, or its program's name; "" if nothing
     *  is known. */
    const char *name;
    uint64_t begin_ns, end_ns;
    uint64_t events;
    uint64_t blocked_ns;        /**< time in waits that ended or were unfinished, each moment once */
    struct upmu_value switches; /**< context switches of its life, or up to its last region event if its end was not
                                     recorded; not counted if nothing tells */
    size_t n_counts; /**< counters of its whole life, in the order of upmu_overview_counter_name(); 0 if they were
                                     not recorded (`upmu record -e` does), or the thread had not ended */
    const struct upmu_overview_count *counts;
};
#define UPMU_OVERVIEW_THREAD_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_thread, 128)
/** Thread `i`, in the order of processes, then blocked time, longest first. */
UPMU_API UPMU_CHECKED int upmu_overview_thread_at(const struct upmu_overview *overview, size_t i,
                                                  struct upmu_overview_thread *out);
/** Name of the last thread with that kernel id in process `process`, as in struct upmu_overview_thread; "" if there is
 *  none. */
UPMU_API const char *upmu_overview_thread_name(const struct upmu_overview *overview, size_t process, pid_t tid);
/** Number of threads. */
UPMU_API size_t upmu_overview_thread_count(const struct upmu_overview *overview);

/** A thread's waits of one kind. */
struct upmu_overview_thread_wait {
    size_t size;                /**< in: sizeof(struct upmu_overview_thread_wait) */
    struct upmu_wait_sum waits; /**< their sum */
};
#define UPMU_OVERVIEW_THREAD_WAIT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_thread_wait, 48)
/** Waits of kind `kind` (enum upmu_wait_kind) of thread `i` of upmu_overview_thread_at().
 *  @return 0; UPMU_E_END (no such thread or kind); UPMU_E_INVAL (NULL, size). */
UPMU_API UPMU_CHECKED int upmu_overview_thread_wait_at(const struct upmu_overview *overview, size_t i, int kind,
                                                       struct upmu_overview_thread_wait *out);
/** Number of kinds, the same for every thread. */
UPMU_API size_t upmu_overview_thread_wait_count(const struct upmu_overview *overview, size_t i);

/** What a thread does as the kernel sees it. */
enum upmu_sched_state {
    UPMU_SCHED_UNKNOWN = 0,   /**< not told: before the first record and behind the last, or because some were lost */
    UPMU_SCHED_RUNNING = 1,   /**< on a CPU */
    UPMU_SCHED_PREEMPTED = 2, /**< it could run, and another one does in its place */
    UPMU_SCHED_BLOCKED = 3,   /**< it waits for something, up to the moment when it runs again */
    UPMU_SCHED_STATES = 4,
};

/** "unknown", "running", "preempted", "blocked"; "?" for any other number. */
UPMU_API const char *upmu_sched_state_name(int state);

/** How a thread ran, by the kernel's own records of its switches. All four times together are its lifetime. */
struct upmu_overview_sched {
    size_t size; /**< in: sizeof(struct upmu_overview_sched) */
    uint32_t
        recorded; /**< 1: something is known; 0: no switches were recorded (UPMU_SCHED), and all of it is unknown */
    uint64_t running_ns, preempted_ns, blocked_ns, unknown_ns;
    uint64_t voluntary;   /**< switches to wait for something */
    uint64_t involuntary; /**< switches that took the CPU away */
    uint64_t lost;        /**< records that did not fit into the kernel's buffer: then both are "at least" */
    uint32_t
        futexes_counted; /**< 1: the next two are known; 0: the kernel did not count (see .futex_note of the process) */
    uint64_t futex_waits;    /**< calls of the kernel to wait for a futex, whoever made them */
    uint64_t futex_recorded; /**< of these, those within recorded waits: the others are of locks that are not traced, or
                                  came while recording was paused or only counted */
};
#define UPMU_OVERVIEW_SCHED_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_sched, 96)
/** The same `i` as upmu_overview_thread_at(). */
UPMU_API UPMU_CHECKED int upmu_overview_sched_at(const struct upmu_overview *overview, size_t i,
                                                 struct upmu_overview_sched *out);

/** How often a thread was woken by another one of its process, by the kernel's tracepoints (root, with UPMU_SCHED). */
struct upmu_overview_waker {
    size_t size; /**< in: sizeof(struct upmu_overview_waker) */
    pid_t tid;   /**< who woke it */
    const char *name;
    struct upmu_wait_sum waits; /**< from each of these wake-ups to its running again */
};
#define UPMU_OVERVIEW_WAKER_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_waker, 64)
/** Waker `k` of the thread `i` of upmu_overview_thread_at(), in the order of their first wake-up. */
UPMU_API UPMU_CHECKED int upmu_overview_waker_at(const struct upmu_overview *overview, size_t i, size_t k,
                                                 struct upmu_overview_waker *out);
/** Number of threads that woke thread `i`. */
UPMU_API size_t upmu_overview_waker_count(const struct upmu_overview *overview, size_t i);

/** A lock of the kernel's own that threads of a process waited for in system calls and faults (UPMU_KERNEL_LOCKS). */
struct upmu_overview_kernel_lock {
    size_t size; /**< in: sizeof(struct upmu_overview_kernel_lock) */
    uint32_t process;
    uint32_t kinds;             /**< bits of enum upmu_kernel_lock: how it was waited for */
    uint64_t address;           /**< in the kernel */
    struct upmu_wait_sum waits; /**< that ended */
};
#define UPMU_OVERVIEW_KERNEL_LOCK_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_kernel_lock, 64)
/** Kernel lock `i`, in the order of the time waited for it, longest first. */
UPMU_API UPMU_CHECKED int upmu_overview_kernel_lock_at(const struct upmu_overview *overview, size_t i,
                                                       struct upmu_overview_kernel_lock *out);
/** Number of kernel locks. */
UPMU_API size_t upmu_overview_kernel_lock_count(const struct upmu_overview *overview);

/** The longest wait for an object, and what was known of the one who held it when the wait began. */
struct upmu_longest_wait {
    uint64_t begin_ns, ns;
    pid_t waiter;
    pid_t holder;         /**< 0 if not known */
    uint64_t waiter_site; /**< addresses for upmu_overview_symbol_at(), 0 if not known */
    uint64_t holder_site;
    uint64_t holder_since;  /**< when the holder got it; 0: held at least since `begin_ns` */
    uint32_t waiter_stack;  /**< id for upmu_overview_stack_find(), 0 = none */
    uint32_t release_stack; /**< where the holder gave it back, 0 if not known */
    uint32_t unfinished;    /**< 1: it had not ended when the recording, or the thread, did: `ns` is at least */
    uint32_t shared;        /**< 1: it waited as a reader */
    uint32_t holder_shared; /**< 1: the holder was a reader, maybe one of several */
};

/** A lock, condition variable, semaphore, barrier, pthread_once_t, futex, or thread that was joined. */
struct upmu_overview_object {
    size_t size; /**< in: sizeof(struct upmu_overview_object) */
    uint32_t process;
    pid_t pid;
    int32_t type;        /**< enum upmu_object_type */
    uint32_t generation; /**< how many objects were at this address before it */
    uint64_t address;
    const char *name;            /**< "" if it was given none */
    uint32_t created, destroyed; /**< 1: beginning, end of its life were recorded */
    uint64_t init_site;          /**< where it began, 0 if not known */
    uint64_t acquisitions;       /**< locks and semaphores; arrivals at a barrier */
    uint64_t contended;          /**< of these with a wait */
    uint32_t counts_exact;       /**< 1: both are exact; 0: at least so many */
    uint32_t holds_complete;     /**< 1: all of its holds are in `holds`; 0: only those whose begin was recorded */
    struct upmu_wait_sum waits;
    uint64_t failed; /**< waits that ended without it (timeout, error) */
    uint64_t holds, hold_ns, hold_max_ns;
    uint64_t signals; /**< signals of a condition variable, posts of a semaphore, wake-ups of a futex */
    uint64_t broadcasts;
    uint64_t misuses; /**< released by a thread that did not hold it */
    struct upmu_longest_wait longest;
    pid_t peer;            /**< thread joined: its kernel id, 0 if not known */
    uint32_t n_threads;    /**< entries of upmu_overview_object_thread_at() */
    uint32_t n_call_sites; /**< entries of upmu_overview_call_site_at() */

    uint64_t shared;                   /**< of the acquisitions, those as a reader */
    struct upmu_wait_sum shared_waits; /**< of the waits, those of readers */
    uint64_t tries_failed;             /**< tries that found it taken, as far as they were recorded (mode all) */
    uint64_t rounds;                   /**< of a barrier: how often all had arrived */
    uint64_t samples; /**< holds of the one in so many acquisitions without contention that is recorded */
    uint64_t sample_ns, sample_max_ns;
};
#define UPMU_OVERVIEW_OBJECT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_object, 352)
/** Object `i`, in the order of the time waited for it, longest first. */
UPMU_API UPMU_CHECKED int upmu_overview_object_at(const struct upmu_overview *overview, size_t i,
                                                  struct upmu_overview_object *out);
/** Number of objects. */
UPMU_API size_t upmu_overview_object_count(const struct upmu_overview *overview);

/** The last object that was at `address` in process `process`, of type `type` (UPMU_OBJECT_NONE: any lock or variable).
 *  @return 0; UPMU_E_NAME if none is known there; UPMU_E_INVAL. */
UPMU_API UPMU_CHECKED int upmu_overview_object_find(const struct upmu_overview *overview, size_t process, int type,
                                                    uint64_t address, struct upmu_overview_object *out);

/** What one thread did with one object. */
struct upmu_overview_object_thread {
    size_t size; /**< in: sizeof(struct upmu_overview_object_thread) */
    pid_t tid;
    const char *thread_name;
    uint64_t acquisitions, contended;
    uint32_t counts_exact;
    uint32_t holds_complete;
    struct upmu_wait_sum waits;
    uint64_t holds, hold_ns, hold_max_ns;
    uint64_t blocked;       /**< waits of others that began while it held the object */
    uint64_t blocked_ns;    /**< and how long they lasted, whoever held it later on */
    uint64_t shared;        /**< of the acquisitions, those as a reader */
    uint64_t last_arrivals; /**< rounds of a barrier in which it came last: all the others waited for it */
};
#define UPMU_OVERVIEW_OBJECT_THREAD_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_object_thread, 144)
/** Use `k` of object `i`, longest waits first. */
UPMU_API UPMU_CHECKED int upmu_overview_object_thread_at(const struct upmu_overview *overview, size_t i, size_t k,
                                                         struct upmu_overview_object_thread *out);
/** Number of threads that used object `i`. */
UPMU_API size_t upmu_overview_object_thread_count(const struct upmu_overview *overview, size_t i);

/** A place in the program where an object was waited for, taken, or held. */
struct upmu_overview_call_site {
    size_t size;           /**< in: sizeof(struct upmu_overview_call_site) */
    uint64_t address;      /**< for upmu_overview_symbol_at(); 0: the recording does not tell */
    uint32_t stack;        /**< of the longest wait here, 0 = none */
    uint64_t acquisitions; /**< acquisitions here that were recorded one by one */
    struct upmu_wait_sum waits;
    uint64_t blocked; /**< waits of others that began while a thread held what it had taken here */
    uint64_t blocked_ns;
};
#define UPMU_OVERVIEW_CALL_SITE_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_call_site, 88)
/** Site `k` of object `i`: most time first, waited or made others wait. */
UPMU_API UPMU_CHECKED int upmu_overview_call_site_at(const struct upmu_overview *overview, size_t i, size_t k,
                                                     struct upmu_overview_call_site *out);
/** Number of call sites of object `i`. */
UPMU_API size_t upmu_overview_call_site_count(const struct upmu_overview *overview, size_t i);

/** Waits of one thread that another one could have kept shorter: an entry of the matrix of who waited for whom. */
struct upmu_overview_pair {
    size_t size;      /**< in: sizeof(struct upmu_overview_pair) */
    uint32_t process; /**< index for upmu_overview_process_at() */
    uint32_t waiter;  /**< index for upmu_overview_thread_at() */
    uint32_t other;   /**< likewise: who had the lock when the wait began; if nobody is known to have had it, or it was
                            none, who ended the wait (released, signalled, posted, came last, ended). UINT32_MAX: not
                            known */
    pid_t waiter_tid;
    pid_t other_tid;            /**< 0 if not known */
    struct upmu_wait_sum waits; /**< each moment once: of waits within each other the outermost counts */
};
#define UPMU_OVERVIEW_PAIR_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_pair, 72)
/** Pair `i`, longest total first. */
UPMU_API UPMU_CHECKED int upmu_overview_pair_at(const struct upmu_overview *overview, size_t i,
                                                struct upmu_overview_pair *out);
/** Number of pairs. */
UPMU_API size_t upmu_overview_pair_count(const struct upmu_overview *overview);

/**
 * The critical path of a process: from the end of its last thread backwards, through what that thread did, and from each
 * wait to the thread that ended it. What is on it makes the process last as long as it does: making shorter what is not on
 * it changes nothing.
 *
 * A wait is ended by the last of what could have ended it: the release of the lock, the signal or (if later) the release
 * of the mutex, the post, the wake, the last arrival at a barrier, the end of a thread. As far as a recording does not
 * tell (timeouts, other processes, releases left out), the path goes through the wait itself, as `unknown_ns`.
 */
struct upmu_overview_path {
    size_t size;       /**< in: sizeof(struct upmu_overview_path) */
    uint64_t begin_ns; /**< nanoseconds since 1970 */
    uint64_t end_ns;   /**< later than `begin_ns` by the sum of the three that follow */
    uint64_t run_ns;   /**< threads did not wait (they may have wanted a processor) */
    uint64_t wake_ns;  /**< from a release, signal, ... to the moment that the thread which waited went on, or began */
    uint64_t unknown_ns; /**< waits of which it is not known who ended them */
    uint64_t handoffs;   /**< times it goes from one thread to another */
    size_t n_segments;   /**< entries of upmu_overview_path_segment_at() */
    size_t n_objects;    /**< entries of upmu_overview_path_object_at() */
};
#define UPMU_OVERVIEW_PATH_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_path, 72)
/** The critical path of process `process`; all zero if nothing of its threads is known. */
UPMU_API UPMU_CHECKED int upmu_overview_path_read(const struct upmu_overview *overview, size_t process,
                                                  struct upmu_overview_path *out);

/** What a piece of the path is. */
enum upmu_path_kind {
    UPMU_PATH_RUNNING = 0, /**< the thread did not wait */
    UPMU_PATH_WAKEUP = 1,  /**< the thread was woken by another one, or made by it, and had not gone on yet */
    UPMU_PATH_WAITING = 2, /**< the thread waited, and it is not known who ended that */
};

/** A piece of a critical path: each begins where the one before ends. */
struct upmu_overview_path_segment {
    size_t size;     /**< in: sizeof(struct upmu_overview_path_segment) */
    int32_t kind;    /**< enum upmu_path_kind */
    uint32_t thread; /**< index for upmu_overview_thread_at() */
    uint32_t waker;  /**< likewise, who woke it; UINT32_MAX: nobody did */
    uint32_t object; /**< index for upmu_overview_object_at(): what it waited for; UINT32_MAX: nothing */
    uint64_t begin_ns, end_ns;
};
#define UPMU_OVERVIEW_PATH_SEGMENT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_path_segment, 40)
/** Piece `i` of the path of process `process`, in the order of time. */
UPMU_API UPMU_CHECKED int upmu_overview_path_segment_at(const struct upmu_overview *overview, size_t process, size_t i,
                                                        struct upmu_overview_path_segment *out);
/** Number of segments of the path of process `process`. */
UPMU_API size_t upmu_overview_path_segment_count(const struct upmu_overview *overview, size_t process);

/** What a lock, or something else that is waited for, has to do with the critical path. */
struct upmu_overview_path_object {
    size_t size;      /**< in: sizeof(struct upmu_overview_path_object) */
    uint32_t object;  /**< index for upmu_overview_object_at() */
    uint64_t held_ns; /**< of `run_ns` of the path, how long the thread on it held this: locks within each other count
                              each. Only holds whose begin was recorded, or found by a waiter, are in it */
    uint64_t wakes;   /**< times the path goes through it from one thread to another */
    uint64_t wake_ns; /**< and how long that took */
    uint64_t unknown_ns; /**< waits for it of which it is not known who ended them */
    /** How much earlier the process would have ended had the sections of this lock taken no time, or half, and everything
     *  else kept its order: computed for the eight locks held longest on the path. UPMU_NO_VALUE: not computed. */
    uint64_t gain_ns, gain_half_ns;
};
#define UPMU_OVERVIEW_PATH_OBJECT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_path_object, 64)
/** Object `i` of the path of process `process`, the longest held first. */
UPMU_API UPMU_CHECKED int upmu_overview_path_object_at(const struct upmu_overview *overview, size_t process, size_t i,
                                                       struct upmu_overview_path_object *out);
/** Number of objects of the path of process `process`. */
UPMU_API size_t upmu_overview_path_object_count(const struct upmu_overview *overview, size_t process);

/** A counter added up over the instances of a region. */
struct upmu_overview_count {
    struct upmu_value sum;  /**< exact only if every instance was; without a number if any instance has none */
    uint64_t without_value; /**< instances without a number */
};

/** What upmu_overview_section_read() tells of. */
enum upmu_section_kind {
    UPMU_SECTION_HELD = 0,   /**< from taking a lock to giving it back: after a wait, and of one in N others */
    UPMU_SECTION_WAITED = 1, /**< from the begin of a wait to its end */
};

/** Counters added up over the waits for an object, or over the times in which it was held. */
struct upmu_overview_section {
    size_t size;       /**< in: sizeof(struct upmu_overview_section) */
    uint64_t sections; /**< how many have been counted: those whose counters were read at both ends; 0: none */
    uint64_t ns;       /**< how long these lasted */
    size_t n_counts;   /**< in the order of upmu_overview_counter_name(); 0 if nothing was counted */
    const struct upmu_overview_count *counts;
};
#define UPMU_OVERVIEW_SECTION_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_section, 40)
/** Of object `i` of upmu_overview_object_at(); `kind`: enum upmu_section_kind. */
UPMU_API UPMU_CHECKED int upmu_overview_section_read(const struct upmu_overview *overview, size_t i, int kind,
                                                     struct upmu_overview_section *out);

/** A region of one process: all threads. */
struct upmu_overview_region {
    size_t size; /**< in: sizeof(struct upmu_overview_region) */
    uint32_t process;
    pid_t pid;
    const char *name;
    uint64_t count; /**< instances that ended */
    uint64_t wall_ns, max_ns;
    uint64_t min_ns;     /**< UPMU_NO_VALUE when count is 0 */
    uint64_t unfinished; /**< begun and never ended */
    size_t n_counts;     /**< in the order of upmu_overview_counter_name() */
    const struct upmu_overview_count *counts;
};
#define UPMU_OVERVIEW_REGION_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_region, 80)
/** Region `i`, in the order of wall time, longest first. */
UPMU_API UPMU_CHECKED int upmu_overview_region_at(const struct upmu_overview *overview, size_t i,
                                                  struct upmu_overview_region *out);
/** Number of regions. */
UPMU_API size_t upmu_overview_region_count(const struct upmu_overview *overview);

/** Name of counter `i` of a process, NULL past the last. */
UPMU_API const char *upmu_overview_counter_name(const struct upmu_overview *overview, size_t process, size_t i);
/** Number of counters of process `process`. */
UPMU_API size_t upmu_overview_counter_count(const struct upmu_overview *overview, size_t process);

/** A stack by its id; see upmu_trace_stack_find(). */
UPMU_API UPMU_CHECKED int upmu_overview_stack_find(const struct upmu_overview *overview, size_t process, uint32_t id,
                                                   struct upmu_trace_stack *out);

/** A function at an address. */
struct upmu_symbol {
    size_t size;              /**< in: sizeof(struct upmu_symbol) */
    const char *function;     /**< NULL if not known: then the module and the offset in it are all there is */
    const char *file;         /**< NULL if not known */
    uint32_t line;            /**< 0 if not known */
    uint32_t inlined;         /**< 1: it was inlined into the next one */
    const char *module;       /**< path of the program or shared object, NULL if no module is known there */
    uint64_t offset;          /**< address in the file (in memory, if no module is known) */
    const char *problem;      /**< why the module's file was not used, "" if it was */
    uint32_t column;          /**< of `line`; 0 if not known */
    int32_t kind;             /**< enum upmu_frame_kind; of a function that was inlined, that of the one around it */
    const char *previous;     /**< without `function`: the last name the module has before it; NULL */
    uint64_t previous_offset; /**< how far before */
};
#define UPMU_SYMBOL_SIZE_V1 UPMU_SIZE_V1_(struct upmu_symbol, 80)

/** What sort of code an address is in. */
enum upmu_frame_kind {
    UPMU_FRAME_UNKNOWN = 0, /**< the module's file cannot be read, or tells nothing to unwinders */
    UPMU_FRAME_CODE = 1,
    UPMU_FRAME_SIGNAL = 2, /**< it ends a signal handler: the frames outside of it were interrupted */
    UPMU_FRAME_ROOT =
        3, /**< a thread or the program begins here: nobody called it. Where the outermost frame of a stack
                                that was not cut off is none, the unwinder did not get further */
    UPMU_FRAME_STUB = 4, /**< the linker's, on the way to another module */
    UPMU_FRAME_JIT = 5, /**< made at run time: `function` is what the process wrote into /tmp/perf-PID.map, `module` the
                                file it was read from */
};
/**
 * The functions at a return address, as sites and stacks have them: `depth` 0 is the innermost, the ones it was inlined
 * into follow. There is always one of depth 0. Reads the program's files, the first time for each module.
 * @return 0; UPMU_E_NAME past the outermost; UPMU_E_INVAL; UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_overview_symbol_at(struct upmu_overview *overview, size_t process, uint64_t address,
                                                  size_t depth, struct upmu_symbol *out);

/**
 * The function that the call before the return address `address` names, where debug information tells that it can leave by
 * a tail call: if the frame inside is another function's, this one was there and has left the stack.
 * @return 0; UPMU_E_NAME if nothing is known of it; UPMU_E_INVAL; UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_overview_tail_caller(struct upmu_overview *overview, size_t process, uint64_t address,
                                                    struct upmu_symbol *out);

/**
 * Keep beside a recording what would be lost: the names of code made at run time, /tmp/perf-PID.map, of each of its
 * processes, as jit.map in the process's directory. Of a file that is not a plain one of the recording's user, or older than
 * the process, nothing is taken.
 * @return how many files were kept; UPMU_E_IO if one could not be written; the codes of upmu_control_open().
 */
UPMU_API UPMU_CHECKED int upmu_overview_save_jit_maps(const char *dir);

UPMU_END_DECLS

#endif
