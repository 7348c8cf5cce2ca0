/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Summary of a recording: threads and their waits, locks and their holders, the critical path, regions and their counters.
 * Link with libupmu_analysis; the measured program does not need it.
 *
 *     struct upmu_overview *o;
 *     struct upmu_overview_object lock = {.size = sizeof lock};
 *     if (upmu_overview_open(&o, "DIR", NULL) < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 *     for (size_t i = 0; upmu_overview_object_at(o, i, &lock) == 0; i++)
 *         printf("%s %" PRIu64 "\n", lock.name, lock.waits.total_ns);
 *     upmu_overview_close(o);
 *
 * Functions that fill a struct take its `size` from the caller, set it to the bytes filled, and return 0; UPMU_E_END past
 * the last entry; UPMU_E_INVAL if an argument is NULL or `size` is too small. Further errors are at each function. Strings
 * and arrays are valid until the overview is closed. Missing data is never guessed: a number that may be incomplete has a
 * field beside it that states so. An overview may be used by one thread at a time; no function here is async-signal-safe.
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

/** The results of reading a recording. */
struct upmu_overview;

/** How call stacks of processes with OpenMP are shown. Those of others are the same in all three. */
enum upmu_stacks {
    /** As the program was written: a thread of a team has the callers of the thread that began the region, a construct stands in place
     *  of the function that the compiler has made of its body, and there are no functions of the runtime. */
    UPMU_STACKS_USER = 0,
    UPMU_STACKS_EXPERT = 1,  /**< the same with functions of the runtime */
    UPMU_STACKS_MACHINE = 2, /**< as executed */
};

/** Options; NULL or all zero but `size`: the defaults. */
struct upmu_overview_opts {
    size_t size;           /**< sizeof(struct upmu_overview_opts) */
    const char *debug_dir; /**< directory of separate debug files; NULL: UPMU_DEBUG_DIR, else /usr/lib/debug */
    /** Called repeatedly with the number of events read and an estimate of all events; NULL: not called. */
    void (*progress)(void *arg, uint64_t done, uint64_t all);
    void *arg;         /**< first argument of `progress` */
    int32_t stacks;    /**< enum upmu_stacks */
    uint32_t reserved; /**< 0 */
    /** Only this stretch, nanoseconds since the start of the recording (`begin_ns` of its totals): all sums are of it, and what
     *  reaches beyond it is cut at its ends. Threads and objects without a part in it are left out. `to_ns` 0: to the end. A
     *  stretch needs two readings. */
    uint64_t from_ns;
    uint64_t to_ns; /**< end of the stretch */
};
#define UPMU_OVERVIEW_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_opts, 32)

/**
 * Read a recording, or the directory of one process in it. The rest of a damaged stream is skipped, and so is a process whose
 * files cannot be read, unless it is the only one; see upmu_overview_damage_message().
 * @param overview out: to be closed with upmu_overview_close(); NULL on failure
 * @param dir      path of the directory
 * @param opts     may be NULL; not used after the call
 * @return 0; the errors of upmu_trace_open(); UPMU_E_INVAL (NULL, `opts`, a stretch outside of the recording); UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_overview_open(struct upmu_overview **overview, const char *dir,
                                             const struct upmu_overview_opts *opts);

/** Close an overview and free it; NULL does nothing. */
UPMU_API void upmu_overview_close(struct upmu_overview *overview);

/** Totals of the recording. */
struct upmu_overview_totals {
    size_t size;      /**< in: sizeof(struct upmu_overview_totals); out: bytes filled */
    uint64_t events;  /**< events read, of known kinds */
    uint64_t unknown; /**< events of unknown kinds, skipped */
    uint64_t
        begin_ns;    /**< start of the recording, as upmu_trace_begin_ns(), nanoseconds since 1970; 0 without events */
    uint64_t end_ns; /**< time of the last event */
    uint64_t lost;   /**< events dropped while recording, of all processes */
    uint64_t unmatched;  /**< begins without end and ends without begin; the time between them is not counted */
    uint64_t unfinished; /**< waits that had not ended at the end of the recording */
    size_t n_processes;  /**< number of processes */
    size_t n_threads;    /**< number of threads */
    size_t n_objects;    /**< number of objects */
    size_t n_regions;    /**< number of regions */
    size_t n_damages;    /**< streams that were not read completely */

    uint64_t
        own_cost_ns; /**< estimated time spent on recording events about locks and threads, from costs measured at its
                               start; UPMU_NO_VALUE: not measured */
    uint64_t lifetime_ns; /**< sum of the lifetimes of all threads, without time in which recording was stopped */
    uint64_t openmp;      /**< events of OpenMP, which upmu/openmp.h evaluates: their waits are not in the overview */
    uint64_t from_ns;     /**< begin of the stretch that the overview covers; `begin_ns`, if `opts` had none */
    uint64_t to_ns;       /**< its end */
};
#define UPMU_OVERVIEW_TOTALS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_totals, 120)
/** Read the totals. @return 0; UPMU_E_INVAL. */
UPMU_API UPMU_CHECKED int upmu_overview_totals_read(const struct upmu_overview *overview,
                                                    struct upmu_overview_totals *out);

/** Process `i`, as upmu_trace_process_at(). */
UPMU_API UPMU_CHECKED int upmu_overview_process_at(const struct upmu_overview *overview, size_t i,
                                                   struct upmu_trace_process *out);
/** Number of processes; 0 if `overview` is NULL, as for all counts below. */
UPMU_API size_t upmu_overview_process_count(const struct upmu_overview *overview);

/** Which part of a process's run was recorded. */
struct upmu_overview_recorded {
    size_t size;       /**< in: sizeof(struct upmu_overview_recorded); out: bytes filled */
    uint64_t begin_ns; /**< begin of its recording, or of the stretch, nanoseconds since 1970 */
    uint64_t end_ns;   /**< its last event, or the end of the stretch */
    /** Of the time between, how long recording was stopped, or only counted; no sum of the overview includes it, but counts do. */
    uint64_t stopped_ns;
    uint64_t stops; /**< in how many stretches (upmu_trace_pause_at()) */
    /** Total of further stretches whose times are not known, of the whole recording: the sums include them. 0 below 129 stretches. */
    uint64_t more_ns;
    uint64_t counted_ns; /**< of `stopped_ns`, in which only counts were recorded (UPMU_SYNC_COUNTS) */
    uint64_t counted;    /**< of `stops`, these */
};
#define UPMU_OVERVIEW_RECORDED_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_recorded, 48)
/**
 * Read which part of process `i` was recorded.
 *
 * While recording is stopped (upmu_control_stop(), upmu_sync_end() with a later upmu_sync_begin(), a recording that began paused),
 * or only counts in a process that has events of other times (UPMU_SYNC_COUNTS), nothing is known of most threads. Lifetimes, waits, holds, scheduler states and critical paths are sums over the rest of the time:
 * of a wait or a hold that lasts from before a stop to after a start, the time between the two does not count. Begins and ends
 * of single waits, holds and threads are real times. Regions, counters, and rows of a timeline keep their whole length.
 * @return 0; UPMU_E_END, UPMU_E_INVAL; the errors of upmu_overview_process_at().
 */
UPMU_API UPMU_CHECKED int upmu_overview_recorded_at(const struct upmu_overview *overview, size_t i,
                                                    struct upmu_overview_recorded *out);

/** Stretch `i` in which process `process` was not recorded, cut at `begin_ns` and `end_ns` of upmu_overview_recorded_at().
 *  @return 0; UPMU_E_END, UPMU_E_INVAL. */
UPMU_API UPMU_CHECKED int upmu_overview_pause_at(const struct upmu_overview *overview, size_t process, size_t i,
                                                 struct upmu_trace_pause *out);
/** Number of these stretches of process `process`. */
UPMU_API size_t upmu_overview_pause_count(const struct upmu_overview *overview, size_t process);

/** Message about damage `i`; NULL past the last one. */
UPMU_API const char *upmu_overview_damage_message(const struct upmu_overview *overview, size_t i);
/** Number of damages. */
UPMU_API size_t upmu_overview_damage_count(const struct upmu_overview *overview);

/** Sum of waits. The mean duration is total_ns / count. */
struct upmu_wait_sum {
    uint64_t count;      /**< waits that ended */
    uint64_t total_ns;   /**< their total duration */
    uint64_t max_ns;     /**< duration of the longest one */
    uint64_t unfinished; /**< waits that had not ended when the recording or the thread ended */
    /** Duration of the unfinished waits up to that time, or up to the last sign of life of a killed process; 0: unknown. */
    uint64_t unfinished_ns;
};

/** Kind of a wait, by the object. */
enum upmu_wait_kind {
    UPMU_WAIT_MUTEX = 0,   /**< mutex */
    UPMU_WAIT_COND = 1,    /**< condition variable */
    UPMU_WAIT_SEM = 2,     /**< semaphore */
    UPMU_WAIT_CUSTOM = 3,  /**< lock announced with upmu_lock_announce() */
    UPMU_WAIT_JOIN = 4,    /**< end of a thread */
    UPMU_WAIT_RWLOCK = 5,  /**< reader-writer lock */
    UPMU_WAIT_SPIN = 6,    /**< spin lock */
    UPMU_WAIT_BARRIER = 7, /**< barrier */
    UPMU_WAIT_ONCE = 8,    /**< pthread_once() whose function runs in another thread */
    UPMU_WAIT_FUTEX = 9,   /**< futex that the program uses itself */
    /* Waits in calls that are not about locks, in the order of enum upmu_call. */
    UPMU_WAIT_SLEEP = 10,  /**< sleep(), nanosleep(), ... */
    UPMU_WAIT_POLL = 11,   /**< poll(), select(), epoll_wait(), ... */
    UPMU_WAIT_SIGNAL = 12, /**< sigwait(), sigsuspend(), pause(), ... */
    UPMU_WAIT_READ = 13,   /**< read(), recv(), accept(), ... */
    UPMU_WAIT_WRITE = 14,  /**< write(), send(), connect(), ... */
    UPMU_WAIT_CHILD = 15,  /**< waitpid(), waitid(), ... */
};

/** "mutex", "cond", "sem", "custom", "join", "rwlock", "spin", "barrier", "once", "futex", "sleep",
 *  "poll", "signal", "read", "write", "child"; "?" for any other number. */
UPMU_API const char *upmu_wait_kind_name(int kind);

/** A thread. */
struct upmu_overview_thread {
    size_t size;      /**< in: sizeof(struct upmu_overview_thread); out: bytes filled */
    uint32_t process; /**< index for upmu_overview_process_at() */
    pid_t pid;        /**< process id */
    pid_t tid;        /**< kernel thread id */
    pid_t creator;    /**< kernel id of the thread that created it, 0 if unknown */
    uint32_t started; /**< 1: its start was recorded; 0: it existed before, or its start was not recorded */
    uint32_t ended;   /**< 1: its end was recorded; 0: `end_ns` is the end of the process's recording */
    /** Its last name; else "main", the name of its start function, or that of the program; "" if unknown. */
    const char *name;
    uint64_t begin_ns;   /**< start, nanoseconds since 1970 */
    uint64_t end_ns;     /**< end, nanoseconds since 1970 */
    uint64_t events;     /**< events recorded by it */
    uint64_t blocked_ns; /**< time within waits, finished or not; overlapping waits count once */
    /** Context switches of its life, or up to its last region event if its end was not recorded; not counted without a
     *  source. */
    struct upmu_value switches;
    size_t n_counts; /**< counters of its whole life, in the order of upmu_overview_counter_name(); 0 if they were
                                     not recorded (`upmu record -e`) or the thread had not ended */
    const struct upmu_overview_count *counts; /**< their values */
    uint64_t cpu_ns;                          /**< CPU time of its life; UPMU_NO_VALUE if its end was not recorded */
    uint64_t
        ready_ns; /**< time of its life in which it was ready to run and had no CPU; UPMU_NO_VALUE if that is not known,
                            or if it was never preempted. Of a new thread it may include the wait for its first CPU, and is cut
                            to the part of its life without one */
    /** Of the time between `begin_ns` and `end_ns`, how long recording was stopped (upmu_overview_recorded_at()); then `cpu_ns` and
     *  `ready_ns` are not known. */
    uint64_t stopped_ns;
};
#define UPMU_OVERVIEW_THREAD_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_thread, 128)
/** Thread `i`, in the order of processes, then of blocked time, longest first. */
UPMU_API UPMU_CHECKED int upmu_overview_thread_at(const struct upmu_overview *overview, size_t i,
                                                  struct upmu_overview_thread *out);
/** Name of the last thread with kernel id `tid` in process `process`, as upmu_overview_thread.name; "" if there is none.
 *  Valid until the overview is closed. */
UPMU_API const char *upmu_overview_thread_name(const struct upmu_overview *overview, size_t process, pid_t tid);
/** Number of threads. */
UPMU_API size_t upmu_overview_thread_count(const struct upmu_overview *overview);

/** A thread's waits of one kind. */
struct upmu_overview_thread_wait {
    size_t size;                /**< in: sizeof(struct upmu_overview_thread_wait); out: bytes filled */
    struct upmu_wait_sum waits; /**< their sum */
};
#define UPMU_OVERVIEW_THREAD_WAIT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_thread_wait, 48)
/** Waits of kind `kind` (enum upmu_wait_kind) of thread `i` of upmu_overview_thread_at(). */
UPMU_API UPMU_CHECKED int upmu_overview_thread_wait_at(const struct upmu_overview *overview, size_t i, int kind,
                                                       struct upmu_overview_thread_wait *out);
/** Number of kinds, the same for every thread. */
UPMU_API size_t upmu_overview_thread_wait_count(const struct upmu_overview *overview, size_t i);

/** Scheduling state of a thread. */
enum upmu_sched_state {
    UPMU_SCHED_UNKNOWN = 0,   /**< before the first record, after the last one, or where records were lost */
    UPMU_SCHED_RUNNING = 1,   /**< on a CPU */
    UPMU_SCHED_PREEMPTED = 2, /**< runnable, while another thread has the CPU */
    UPMU_SCHED_BLOCKED = 3,   /**< switched out to wait, until it runs again */
};

/** "unknown", "running", "preempted", "blocked"; "?" for any other number. */
UPMU_API const char *upmu_sched_state_name(int state);

/** Scheduling of a thread, from the kernel's context switch records (UPMU_SCHED). The four times add up to its lifetime. */
struct upmu_overview_sched {
    size_t size;              /**< in: sizeof(struct upmu_overview_sched); out: bytes filled */
    uint32_t recorded;        /**< 1: switches were recorded; 0: none, all time is unknown */
    uint64_t running_ns;      /**< time on a CPU */
    uint64_t preempted_ns;    /**< time runnable without a CPU */
    uint64_t blocked_ns;      /**< time blocked */
    uint64_t unknown_ns;      /**< other time */
    uint64_t voluntary;       /**< switches to wait */
    uint64_t involuntary;     /**< preemptions */
    uint64_t lost;            /**< records dropped by the kernel; if not 0, both numbers are lower bounds */
    uint32_t futexes_counted; /**< 1: the next two fields are valid; 0: see `futex_note` of the process */
    uint64_t futex_waits;     /**< system calls to wait for a futex, of any caller */
    uint64_t futex_recorded; /**< of these, calls within recorded waits; the others are of untraced locks, or made while
                                   recording was paused or in mode counts */
};
#define UPMU_OVERVIEW_SCHED_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_sched, 96)
/** Scheduling of thread `i` of upmu_overview_thread_at(). */
UPMU_API UPMU_CHECKED int upmu_overview_sched_at(const struct upmu_overview *overview, size_t i,
                                                 struct upmu_overview_sched *out);

/** Number of CPUs on which threads of process `process` ran, by the kernel's switch records; without these, which a thread that was
 *  preempted could use; 0: unknown. */
UPMU_API size_t upmu_overview_cpu_count(const struct upmu_overview *overview, size_t process);

/** A thread that woke another thread of its process, from the kernel's tracepoints (UPMU_SCHED, as root). */
struct upmu_overview_waker {
    size_t size;                /**< in: sizeof(struct upmu_overview_waker); out: bytes filled */
    pid_t tid;                  /**< kernel id of the waker */
    const char *name;           /**< its name, "" if unknown */
    struct upmu_wait_sum waits; /**< times from each wake-up to the next run of the woken thread */
};
#define UPMU_OVERVIEW_WAKER_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_waker, 64)
/** Waker `k` of thread `i` of upmu_overview_thread_at(), in the order of the first wake-up. */
UPMU_API UPMU_CHECKED int upmu_overview_waker_at(const struct upmu_overview *overview, size_t i, size_t k,
                                                 struct upmu_overview_waker *out);
/** Number of threads that woke thread `i`. */
UPMU_API size_t upmu_overview_waker_count(const struct upmu_overview *overview, size_t i);

/** A kernel lock that threads of a process waited for in system calls and page faults (UPMU_KERNEL_LOCKS). */
struct upmu_overview_kernel_lock {
    size_t size;                /**< in: sizeof(struct upmu_overview_kernel_lock); out: bytes filled */
    uint32_t process;           /**< index for upmu_overview_process_at() */
    uint32_t kinds;             /**< bits of enum upmu_kernel_lock */
    uint64_t address;           /**< address in the kernel */
    struct upmu_wait_sum waits; /**< waits that ended */
};
#define UPMU_OVERVIEW_KERNEL_LOCK_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_kernel_lock, 64)
/** Kernel lock `i`, longest waits first. */
UPMU_API UPMU_CHECKED int upmu_overview_kernel_lock_at(const struct upmu_overview *overview, size_t i,
                                                       struct upmu_overview_kernel_lock *out);
/** Number of kernel locks. */
UPMU_API size_t upmu_overview_kernel_lock_count(const struct upmu_overview *overview);

/** The longest wait for an object, and the holder of the object at its start. */
struct upmu_longest_wait {
    uint64_t begin_ns;      /**< start, nanoseconds since 1970 */
    uint64_t ns;            /**< duration */
    pid_t waiter;           /**< kernel thread id */
    pid_t holder;           /**< kernel thread id, 0 if unknown */
    uint64_t waiter_site;   /**< call site for upmu_overview_symbol_at(), 0 if unknown */
    uint64_t holder_site;   /**< call site of the holder's acquisition, 0 if unknown */
    uint64_t holder_since;  /**< time of the holder's acquisition; 0: unknown, before `begin_ns` */
    uint32_t waiter_stack;  /**< id for upmu_overview_stack_find(), 0 = none */
    uint32_t release_stack; /**< stack of the holder's release, 0 = none */
    uint32_t unfinished;    /**< 1: it had not ended when the recording or the thread ended; `ns` is a lower bound */
    uint32_t shared;        /**< 1: the waiter is a reader */
    uint32_t holder_shared; /**< 1: the holder is a reader, possibly one of several */
    uint32_t before;        /**< 1: it began before the recording, from which `ns` counts: a lower bound */
    uint64_t hold_ns;       /**< duration of the hold, from `holder_since` to the release; 0 if unknown */
    uint32_t holder_stack;  /**< stack of the holder's acquisition, 0 = none */
    uint32_t unused;        /**< 0 */
};

/** What an object is called by, best first. */
enum upmu_identity {
    UPMU_IDENTITY_NAME = 0,      /**< the name it was given (upmu_lock_name(), or of a named semaphore) */
    UPMU_IDENTITY_VARIABLE = 1,  /**< its static variable: "pool[3].lock"; "state+0x28" without debug information,
                                      "static program+0x4028" without a symbol */
    UPMU_IDENTITY_CREATED = 2,   /**< where it was initialized: "Cache::Cache cache.cc:12", outside of wrappers */
    UPMU_IDENTITY_FIRST_USE = 3, /**< where it was first used in the recording */
    UPMU_IDENTITY_ADDRESS = 4,   /**< nothing but its address is known */
};

/** A lock, condition variable, semaphore, barrier, pthread_once_t, futex, or joined thread. */
struct upmu_overview_object {
    size_t size;         /**< in: sizeof(struct upmu_overview_object); out: bytes filled */
    uint32_t process;    /**< index for upmu_overview_process_at() */
    pid_t pid;           /**< process id */
    int32_t type;        /**< enum upmu_object_type */
    uint32_t generation; /**< number of earlier objects at this address */
    uint64_t address;    /**< its address, or pthread_t */
    /** What it is called: its name, else its static variable, else the call site of its initialization or first use
     *  (`named_by`), with " #2" for the second object of a call site. "" if only its address is known. */
    const char *name;
    uint32_t created;      /**< 1: its initialization was recorded */
    uint32_t destroyed;    /**< 1: its end was recorded */
    uint64_t init_site;    /**< call site of its initialization, 0 if unknown */
    uint64_t acquisitions; /**< acquisitions of a lock or semaphore, arrivals at a barrier */
    uint64_t
        contended; /**< of these, with a wait; UPMU_NO_VALUE: of a barrier, some arrivals were only counted. Its last ones do not wait */
    uint32_t counts_exact; /**< 1: both counts are exact; 0: lower bounds */
    uint32_t
        holds_complete; /**< 1: `holds` has all times that it was held; 0: only those with a recorded begin and end, as
                           always with `partial_holds` */
    struct upmu_wait_sum waits;       /**< all waits for it */
    uint64_t failed;                  /**< waits that ended without it (timeout, error) */
    uint64_t holds;                   /**< times that it was held */
    uint64_t hold_ns;                 /**< their total duration */
    uint64_t hold_max_ns;             /**< duration of the longest one */
    uint64_t signals;                 /**< signals of a condition variable, posts of a semaphore, wake-ups of a futex */
    uint64_t broadcasts;              /**< broadcasts of a condition variable */
    uint64_t misuses;                 /**< releases by a thread that did not hold it */
    struct upmu_longest_wait longest; /**< the longest wait for it */
    pid_t peer;                       /**< joined thread: its kernel id, 0 if unknown */
    uint32_t n_threads;               /**< entries of upmu_overview_object_thread_at() */
    uint32_t n_call_sites;            /**< entries of upmu_overview_call_site_at() */

    uint64_t shared;                   /**< of the acquisitions, those as a reader */
    struct upmu_wait_sum shared_waits; /**< of the waits, those of readers */
    uint64_t tries_failed;             /**< failed tries, as far as recorded (mode all) */
    uint64_t rounds;                   /**< barrier: completed rounds; if processes share it, a lower bound */
    uint64_t samples;                  /**< recorded holds after one in N uncontended acquisitions */
    uint64_t sample_ns;                /**< their total duration */
    uint64_t sample_max_ns;            /**< duration of the longest one */
    int32_t named_by;                  /**< enum upmu_identity */
    uint32_t init_stack;               /**< id for upmu_overview_stack_find() of its initialization, 0 = none */
    const char *group;                 /**< `name` without a number: the same for all objects of a call site */
    uint64_t partial_holds;  /**< further holds, recorded in part: begun before the recording, or at an unknown
                                            time before the first wait, or not ended while others waited */
    uint64_t partial_ns;     /**< their total duration, a lower bound */
    uint64_t partial_max_ns; /**< duration of the longest one, a lower bound */
    uint64_t before_holds;   /**< of `partial_holds`, those acquired before the recording */
    uint64_t before_waits;   /**< of `waits`, those begun before the recording, from which they count */
    uint64_t
        in_vain; /**< condition variable: wakes after which the thread waited for it again, with the mutex held all along */
    uint64_t timed_holds_ns; /**< total duration of the holds with a recorded begin, whatever its source */
    uint64_t call_ns;        /**< of these, in which the holder waited in calls (UPMU_OBJECT_CALL); a lower bound */
    int32_t call_kind;       /**< enum upmu_wait_kind of the calls that took most of it; -1: none */
    uint32_t
        variable; /**< the same number for all objects of a process that are one static variable of one file, which may be loaded several
                            times, or be initialized anew; 0: in no static variable */
    uint64_t call_kind_ns; /**< their part */
};
#define UPMU_OVERVIEW_OBJECT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_object, 424)
/** Object `i`, longest waits first; those of calls (UPMU_OBJECT_CALL) after all others. */
UPMU_API UPMU_CHECKED int upmu_overview_object_at(const struct upmu_overview *overview, size_t i,
                                                  struct upmu_overview_object *out);
/** Number of objects. */
UPMU_API size_t upmu_overview_object_count(const struct upmu_overview *overview);

/**
 * Find the last object at an address.
 * @param process index for upmu_overview_process_at()
 * @param type    enum upmu_object_type; UPMU_OBJECT_NONE: any type
 * @return 0; UPMU_E_NAME (no such object); UPMU_E_END (no such process); UPMU_E_INVAL (NULL, size).
 */
UPMU_API UPMU_CHECKED int upmu_overview_object_find(const struct upmu_overview *overview, size_t process, int type,
                                                    uint64_t address, struct upmu_overview_object *out);

/** Use of an object by a thread. */
struct upmu_overview_object_thread {
    size_t size;                /**< in: sizeof(struct upmu_overview_object_thread); out: bytes filled */
    pid_t tid;                  /**< kernel thread id */
    const char *thread_name;    /**< name of the thread, "" if unknown */
    uint64_t acquisitions;      /**< as in struct upmu_overview_object, of this thread */
    uint64_t contended;         /**< likewise */
    uint32_t counts_exact;      /**< likewise */
    uint32_t holds_complete;    /**< likewise */
    struct upmu_wait_sum waits; /**< waits of this thread for the object */
    uint64_t holds;             /**< times that the thread held it */
    uint64_t hold_ns;           /**< their total duration */
    uint64_t hold_max_ns;       /**< duration of the longest one */
    uint64_t blocked;           /**< waits of other threads that began while this thread held it */
    uint64_t blocked_ns;        /**< their total duration, later holders included */
    uint64_t shared;            /**< of the acquisitions, those as a reader */
    uint64_t last_arrivals;     /**< barrier: rounds in which this thread arrived last */
    uint64_t partial_holds;     /**< as in struct upmu_overview_object, of this thread */
    uint64_t partial_ns;        /**< likewise */
    uint64_t partial_max_ns;    /**< likewise */
};
#define UPMU_OVERVIEW_OBJECT_THREAD_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_object_thread, 168)
/** Thread `k` that used object `i`, longest waits first. */
UPMU_API UPMU_CHECKED int upmu_overview_object_thread_at(const struct upmu_overview *overview, size_t i, size_t k,
                                                         struct upmu_overview_object_thread *out);
/** Number of threads that used object `i`. */
UPMU_API size_t upmu_overview_object_thread_count(const struct upmu_overview *overview, size_t i);

/** A call site at which an object was acquired or waited for. */
struct upmu_overview_call_site {
    size_t size;           /**< in: sizeof(struct upmu_overview_call_site); out: bytes filled */
    uint64_t address;      /**< for upmu_overview_symbol_at(); 0: unknown */
    uint32_t stack;        /**< stack of the longest wait here, else of an acquisition others waited for; 0 = none */
    uint64_t acquisitions; /**< acquisitions here that have an event of their own */
    struct upmu_wait_sum waits; /**< waits here */
    uint64_t blocked;           /**< waits of other threads that began while the object was held from here */
    uint64_t blocked_ns;        /**< their total duration */
    uint64_t holds;             /**< times that the object was held from here */
    uint64_t hold_ns;           /**< their total duration */
    uint64_t hold_max_ns;       /**< duration of the longest one */
    uint64_t partial_holds;     /**< as in struct upmu_overview_object, from here */
    uint64_t partial_ns;        /**< likewise */
    uint64_t partial_max_ns;    /**< likewise */
};
#define UPMU_OVERVIEW_CALL_SITE_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_call_site, 136)
/** Call site `k` of object `i`, in the order of time waited here or by others for holds from here, longest first. */
UPMU_API UPMU_CHECKED int upmu_overview_call_site_at(const struct upmu_overview *overview, size_t i, size_t k,
                                                     struct upmu_overview_call_site *out);
/** Number of call sites of object `i`. */
UPMU_API size_t upmu_overview_call_site_count(const struct upmu_overview *overview, size_t i);

/** Waits of one thread for another one: an entry of the wait matrix. */
struct upmu_overview_pair {
    size_t size;      /**< in: sizeof(struct upmu_overview_pair); out: bytes filled */
    uint32_t process; /**< index for upmu_overview_process_at() */
    uint32_t waiter;  /**< index for upmu_overview_thread_at() */
    uint32_t other;   /**< likewise: the holder of the lock at the start of the wait; without a known holder the
                                     thread that ended the wait (release, signal, post, last arrival, thread end);
                                     UPMU_NO_INDEX: unknown */
    pid_t waiter_tid; /**< kernel thread id */
    pid_t other_tid;  /**< kernel thread id, 0 if unknown */
    struct upmu_wait_sum waits; /**< nested waits count once, as the outermost one */
};
#define UPMU_OVERVIEW_PAIR_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_pair, 72)
/** Pair `i`, longest total first. */
UPMU_API UPMU_CHECKED int upmu_overview_pair_at(const struct upmu_overview *overview, size_t i,
                                                struct upmu_overview_pair *out);
/** Number of pairs. */
UPMU_API size_t upmu_overview_pair_count(const struct upmu_overview *overview);

/**
 * The critical path of a process: from the end of its last thread backwards along that thread, and from each wait to the
 * thread that ended it. It determines the duration of the process: shortening work that is not on it has no effect.
 *
 * A wait is ended by the last event that could have ended it: the release of the lock, the signal or (if later) the release of
 * the mutex, the post, the wake-up, the last arrival at a barrier, the end of a thread. Where that is not recorded (timeouts,
 * other processes, releases without an event), the path passes through the wait itself, as `unknown_ns`.
 */
struct upmu_overview_path {
    size_t size;       /**< in: sizeof(struct upmu_overview_path); out: bytes filled */
    uint64_t begin_ns; /**< start, nanoseconds since 1970 */
    uint64_t end_ns;   /**< end: `begin_ns` plus the next three fields and `stopped_ns` */
    uint64_t run_ns;   /**< segments in which the thread does not wait (it may wait for a CPU) */
    uint64_t
        wake_ns; /**< from the end of a wait (release, signal, ...) or creation to the next action of that thread */
    uint64_t unknown_ns; /**< waits without a known end */
    uint64_t handoffs;   /**< changes from one thread to another */
    size_t n_segments;   /**< entries of upmu_overview_path_segment_at() */
    size_t n_objects;    /**< entries of upmu_overview_path_object_at() */
    uint64_t stopped_ns; /**< while recording was stopped, or after the last events of a thread that lost some */
};
#define UPMU_OVERVIEW_PATH_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_path, 72)
/** Read the critical path of process `process`; all zero if no thread of it is known. @return 0; UPMU_E_END, UPMU_E_INVAL. */
UPMU_API UPMU_CHECKED int upmu_overview_path_read(const struct upmu_overview *overview, size_t process,
                                                  struct upmu_overview_path *out);

/** Kind of a path segment. */
enum upmu_path_kind {
    UPMU_PATH_RUNNING = 0, /**< the thread does not wait */
    UPMU_PATH_WAKEUP = 1,  /**< the thread was woken or created, and has not acted yet */
    UPMU_PATH_WAITING = 2, /**< a wait without a known end */
    UPMU_PATH_STOPPED = 3, /**< not recorded: recording was stopped, or the last events of the thread were lost */
};

/** A segment of a critical path, which begins at the end of the one before. */
struct upmu_overview_path_segment {
    size_t size;       /**< in: sizeof(struct upmu_overview_path_segment); out: bytes filled */
    int32_t kind;      /**< enum upmu_path_kind */
    uint32_t thread;   /**< index for upmu_overview_thread_at() */
    uint32_t waker;    /**< thread that woke it; UPMU_NO_INDEX: none */
    uint32_t object;   /**< awaited object, index for upmu_overview_object_at(); UPMU_NO_INDEX: none */
    uint64_t begin_ns; /**< start, nanoseconds since 1970 */
    uint64_t end_ns;   /**< end, nanoseconds since 1970 */
};
#define UPMU_OVERVIEW_PATH_SEGMENT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_path_segment, 40)
/** Segment `i` of the path of process `process`, in the order of time. */
UPMU_API UPMU_CHECKED int upmu_overview_path_segment_at(const struct upmu_overview *overview, size_t process, size_t i,
                                                        struct upmu_overview_path_segment *out);
/** Number of segments of the path of process `process`. */
UPMU_API size_t upmu_overview_path_segment_count(const struct upmu_overview *overview, size_t process);

/** Part of an object in the critical path. */
struct upmu_overview_path_object {
    size_t size;     /**< in: sizeof(struct upmu_overview_path_object); out: bytes filled */
    uint32_t object; /**< index for upmu_overview_object_at() */
    uint64_t
        held_ns;    /**< part of `run_ns` during which the thread on the path held this object; nested locks count each.
                              Only holds whose begin was recorded, or seen by a waiter, are included */
    uint64_t wakes; /**< changes of the path from thread to thread through this object */
    uint64_t wake_ns;    /**< their total duration */
    uint64_t unknown_ns; /**< waits for it without a known end */
    /** Estimated time by which the process would have ended earlier if the critical sections of this lock took no time, or
     *  half, in the same order of events. Computed for the eight locks held longest on the path; else UPMU_NO_VALUE. Of a condition
     *  variable with wakes in vain, `gain_ns` is that of waking only the threads that can continue. */
    uint64_t gain_ns, gain_half_ns;
};
#define UPMU_OVERVIEW_PATH_OBJECT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_path_object, 64)
/** Object `i` of the path of process `process`, held longest first. */
UPMU_API UPMU_CHECKED int upmu_overview_path_object_at(const struct upmu_overview *overview, size_t process, size_t i,
                                                       struct upmu_overview_path_object *out);
/** Number of objects of the path of process `process`. */
UPMU_API size_t upmu_overview_path_object_count(const struct upmu_overview *overview, size_t process);

/** Sum of a counter over several instances. */
struct upmu_overview_count {
    struct upmu_value sum;  /**< exact only if all instances are; without a number if an instance has none */
    uint64_t without_value; /**< instances without a number */
};

/** Kind of section for upmu_overview_section_read(). */
enum upmu_section_kind {
    UPMU_SECTION_HELD = 0,   /**< from acquisition to release, after contention and of one in N other acquisitions */
    UPMU_SECTION_WAITED = 1, /**< from the start of a wait to its end */
};

/** Counters over the waits for an object, or over the times that it was held. */
struct upmu_overview_section {
    size_t size;                              /**< in: sizeof(struct upmu_overview_section); out: bytes filled */
    uint64_t sections;                        /**< sections whose counters were read at both ends */
    uint64_t ns;                              /**< their total duration */
    size_t n_counts;                          /**< counters, in the order of upmu_overview_counter_name(); 0 if none */
    const struct upmu_overview_count *counts; /**< their values */
};
#define UPMU_OVERVIEW_SECTION_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_section, 40)
/** Read the sections of kind `kind` (enum upmu_section_kind) of object `i` of upmu_overview_object_at().
 *  @return 0; UPMU_E_END (no such object); UPMU_E_INVAL (NULL, size, `kind`). */
UPMU_API UPMU_CHECKED int upmu_overview_section_read(const struct upmu_overview *overview, size_t i, int kind,
                                                     struct upmu_overview_section *out);

/** A region of one process, all threads together. */
struct upmu_overview_region {
    size_t size;                              /**< in: sizeof(struct upmu_overview_region); out: bytes filled */
    uint32_t process;                         /**< index for upmu_overview_process_at() */
    pid_t pid;                                /**< process id */
    const char *name;                         /**< its name */
    uint64_t count;                           /**< instances that ended */
    uint64_t wall_ns;                         /**< their total duration */
    uint64_t max_ns;                          /**< duration of the longest one */
    uint64_t min_ns;                          /**< duration of the shortest one; UPMU_NO_VALUE if count is 0 */
    uint64_t unfinished;                      /**< instances without an end */
    size_t n_counts;                          /**< counters, in the order of upmu_overview_counter_name() */
    const struct upmu_overview_count *counts; /**< their values */
};
#define UPMU_OVERVIEW_REGION_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overview_region, 80)
/** Region `i`, longest wall time first. */
UPMU_API UPMU_CHECKED int upmu_overview_region_at(const struct upmu_overview *overview, size_t i,
                                                  struct upmu_overview_region *out);
/** Number of regions. */
UPMU_API size_t upmu_overview_region_count(const struct upmu_overview *overview);

/** Name of counter `i` of process `process`; NULL past the last one. */
UPMU_API const char *upmu_overview_counter_name(const struct upmu_overview *overview, size_t process, size_t i);
/** Number of counters of process `process`. */
UPMU_API size_t upmu_overview_counter_count(const struct upmu_overview *overview, size_t process);

/** Find a stack by its id, as upmu_trace_stack_find(). */
UPMU_API UPMU_CHECKED int upmu_overview_stack_find(const struct upmu_overview *overview, size_t process, uint32_t id,
                                                   struct upmu_trace_stack *out);

/** A function at an address. */
struct upmu_symbol {
    size_t size;              /**< in: sizeof(struct upmu_symbol); out: bytes filled */
    const char *function;     /**< its name; NULL if unknown */
    const char *file;         /**< source file; NULL if unknown */
    uint32_t line;            /**< line in `file`; 0 if unknown */
    uint32_t inlined;         /**< 1: it is inlined into the function at the next depth */
    const char *module;       /**< path of the program or shared object; NULL if none is known at the address */
    uint64_t offset;          /**< address in the file of the module; address in memory without a module */
    const char *problem;      /**< why the file of the module was not used; "" if it was */
    uint32_t column;          /**< column of `line`; 0 if unknown */
    int32_t kind;             /**< enum upmu_frame_kind; of an inlined function, that of the enclosing one */
    const char *previous;     /**< if `function` is NULL: the nearest symbol before the address; or NULL */
    uint64_t previous_offset; /**< distance from it, bytes */
    uint32_t wrapper;         /**< 1: the function only passes on, see upmu_overview_line_at() */
    uint64_t address;         /**< the address that was looked up; 0 if the frame has none */
};
#define UPMU_SYMBOL_SIZE_V1 UPMU_SIZE_V1_(struct upmu_symbol, 88)

/** Kind of code at an address. */
enum upmu_frame_kind {
    UPMU_FRAME_UNKNOWN = 0, /**< the file of the module is unreadable or has no unwind information */
    UPMU_FRAME_CODE = 1,    /**< a function */
    UPMU_FRAME_SIGNAL = 2,  /**< return from a signal handler: the outer frames were interrupted */
    UPMU_FRAME_ROOT = 3, /**< start of a thread or program, without a caller. If the outermost frame of a stack that was
                                 not truncated is of another kind, the unwinder stopped early */
    UPMU_FRAME_STUB = 4, /**< linker stub for a call into another module */
    UPMU_FRAME_JIT = 5,  /**< generated at run time: `function` is from /tmp/perf-PID.map, `module` the file read */
    UPMU_FRAME_TAIL_CALL = 6, /**< a function that left the stack by a tail call, see upmu_overview_tail_caller() */
    /* No functions: how a stack ends that is not complete. */
    UPMU_FRAME_TRUNCATED = 7, /**< deeper frames were not recorded */
    UPMU_FRAME_LOST = 8,      /**< the unwinder stopped before the start of the thread */
    UPMU_FRAME_ONLY_SITE = 9, /**< only the call site was recorded */
    UPMU_FRAME_SCANNED =
        10, /**< there are no unwind tables, the frames were found by scanning code (UPMU_STACK_SCANNED) */
    /* Of OpenMP, between functions: those that would be here are not known. */
    UPMU_FRAME_TASK_CALLERS = 11,   /**< from the region to the function that created the task */
    UPMU_FRAME_REGION_CALLERS = 12, /**< the callers of the function that began the region */
};

/** "unknown", "code", "signal", "root", "stub", "jit", "tail-call", "truncated", "lost", "only-site", "scanned",
 *  "task-callers", "region-callers"; "?" for any other number. */
UPMU_API const char *upmu_frame_kind_name(int kind);

/** Label of a frame beside its function: "inlined", "signal frame", "thread start", "PLT stub",
 *  "generated at run time", "left by a tail call", or how the stack ends; "" for an ordinary function. */
UPMU_API const char *upmu_frame_label(const struct upmu_symbol *symbol);

/**
 * Symbol of a call site or frame (a return address). Reads the files of the module at its first use.
 * @param process index for upmu_overview_process_at()
 * @param depth   0: the innermost function, always present; 1, ...: the functions that it is inlined into
 * @return 0; UPMU_E_END (no such depth); UPMU_E_INVAL; UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_overview_symbol_at(struct upmu_overview *overview, size_t process, uint64_t address,
                                                  size_t depth, struct upmu_symbol *out);

/**
 * Symbol of the relevant call of a stack: the innermost function, inlined ones included, outside of functions that only pass
 * on, such as std::mutex::lock() and those listed in the file that UPMU_WRAPPERS names.
 * @param stack id of the stack that begins at `address`; 0: `address` alone
 * @return as upmu_overview_symbol_at().
 */
UPMU_API UPMU_CHECKED int upmu_overview_line_at(struct upmu_overview *overview, size_t process, uint64_t address,
                                                uint32_t stack, struct upmu_symbol *out);

/**
 * Frame `i` of a call stack, innermost first: its functions with those inlined into them and those that left it by a tail call.
 * If the stack is not complete, a frame has no function, and states why (UPMU_FRAME_TRUNCATED and greater): the last one, or, of
 * OpenMP, one before the construct that the rest is within. A construct is a frame with a name such as "solve, OMP parallel region
 * from line 9".
 * @param process index for upmu_overview_process_at()
 * @param stack   id of the stack
 * @return 0; UPMU_E_END (no such frame, or stack); UPMU_E_INVAL; UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_overview_frame_at(struct upmu_overview *overview, size_t process, uint32_t stack,
                                                 size_t i, struct upmu_symbol *out);

/**
 * The function called at the return address `address`, if debug information states that it can leave by a tail call. If the
 * frame inside is of another function, this one was called and has left the stack.
 * @return 0; UPMU_E_NAME (no such information); UPMU_E_INVAL; UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_overview_tail_caller(struct upmu_overview *overview, size_t process, uint64_t address,
                                                    struct upmu_symbol *out);

/**
 * Copy the symbols of code generated at run time, /tmp/perf-PID.map of each process of a recording, to jit.map in the
 * directory of the process. Files that are not regular, belong to another user, or are older than the process are skipped.
 * @return number of files copied; UPMU_E_IO (a copy could not be written); the errors of upmu_control_open().
 */
UPMU_API UPMU_CHECKED int upmu_overview_save_jit_maps(const char *dir);

UPMU_END_DECLS

#endif
