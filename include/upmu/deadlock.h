/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Deadlocked threads, and lock-order inversions that could lead to a deadlock, in recordings and in running processes.
 * Link with libupmu_analysis; `upmu deadlock` has the same on the command line.
 *
 *     struct upmu_deadlocks *d;
 *     struct upmu_deadlock found = {.size = sizeof found};
 *     if (upmu_deadlocks_open(&d, "DIR", NULL) < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 *     for (size_t i = 0; upmu_deadlocks_at(d, i, &found) == 0; i++)
 *         printf("%s: %zu threads\n", upmu_deadlock_kind_name(found.kind), found.n_threads);
 *     upmu_deadlocks_close(d);
 *
 * Functions that fill a struct take its `size` from the caller, set it to the bytes filled, and return 0; UPMU_E_END past
 * the last entry; UPMU_E_INVAL if an argument is NULL or `size` is too small. Further errors are at each function. Strings
 * are valid until the object is closed. One object may be used by one thread at a time; no function here is
 * async-signal-safe.
 */
#ifndef UPMU_DEADLOCK_H
#define UPMU_DEADLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/analysis.h"
#include "upmu/api.h"

UPMU_BEGIN_DECLS

/** Deadlocks and lock-order cycles of a recording. */
struct upmu_deadlocks;

/** Options; NULL or all zero but `size`: the defaults. */
struct upmu_deadlocks_opts {
    size_t size;              /**< sizeof(struct upmu_deadlocks_opts) */
    const char *debug_dir;    /**< directory of separate debug files; NULL: UPMU_DEBUG_DIR, else /usr/lib/debug */
    const char *suppressions; /**< file of suppressions (man upmu-deadlock); NULL: none */
};
#define UPMU_DEADLOCKS_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_deadlocks_opts, 24)

/**
 * Read a recording, or the directory of one process in it, and the wait states of its threads.
 * @param deadlocks out: to be closed with upmu_deadlocks_close(); NULL on failure
 * @param dir       path of the directory
 * @param opts      may be NULL; not used after the call
 * @return 0; the errors of upmu_overview_open(); UPMU_E_IO (the suppressions are unreadable); UPMU_E_INVAL (NULL, `opts`, the
 *         suppressions are not valid).
 */
UPMU_API UPMU_CHECKED int upmu_deadlocks_open(struct upmu_deadlocks **deadlocks, const char *dir,
                                              const struct upmu_deadlocks_opts *opts);

/** Close and free; NULL does nothing. */
UPMU_API void upmu_deadlocks_close(struct upmu_deadlocks *deadlocks);

/** The overview of the recording, for names, stacks, functions and lines. Owned by `deadlocks`; NULL if that is NULL. */
UPMU_API struct upmu_overview *upmu_deadlocks_overview(struct upmu_deadlocks *deadlocks);

/** Kind of a deadlock. */
enum upmu_deadlock_kind {
    UPMU_DEADLOCK_CYCLE = 0,          /**< threads wait for each other, by locks and joins */
    UPMU_DEADLOCK_SELF = 1,           /**< a thread waits for a lock that it holds */
    UPMU_DEADLOCK_OWNER_ENDED = 2,    /**< the holder of the lock has ended */
    UPMU_DEADLOCK_JOIN_CYCLE = 3,     /**< threads join each other */
    UPMU_DEADLOCK_JOIN_SELF = 4,      /**< a thread joins itself */
    UPMU_DEADLOCK_NO_POST = 5,        /**< no thread is left to post the semaphore */
    UPMU_DEADLOCK_NO_SIGNAL = 6,      /**< no thread is left to signal the condition variable */
    UPMU_DEADLOCK_BARRIER_SHORT = 7,  /**< no thread is left to arrive at the barrier */
    UPMU_DEADLOCK_NO_WAKE = 8,        /**< no thread is left to wake the futex */
    UPMU_DEADLOCK_ALL_ASLEEP = 9,     /**< all threads of the process sleep, and no known event could wake one */
    UPMU_DEADLOCK_CROSS_PROCESS = 10, /**< threads of several processes wait for each other's locks; each process has an
                                           entry with its threads */
};

/** "cycle", "self", "owner-ended", "join-cycle", "join-self", "no-post", "no-signal", "barrier-short", "no-wake",
 *  "all-asleep", "cross-process"; "?" for any other number. */
UPMU_API const char *upmu_deadlock_kind_name(int kind);

/** Certainty of a deadlock. */
enum upmu_deadlock_certainty {
    UPMU_DEADLOCK_CERTAIN = 0,   /**< nothing can end it */
    UPMU_DEADLOCK_STALLED = 1,   /**< no known event can end it, but a holder or waker is unknown */
    UPMU_DEADLOCK_BREAKABLE = 2, /**< one of its waits has a time limit: not reported as a deadlock */
    UPMU_DEADLOCK_WAKEABLE = 3,  /**< only a signal handler, timer or other process can end it: not reported either */
};

/** "certain", "stalled", "breakable", "wakeable"; "?" for any other number. */
UPMU_API const char *upmu_deadlock_certainty_name(int certainty);

/** A deadlock: blocked threads that no thread can unblock. */
struct upmu_deadlock {
    size_t size;            /**< in: sizeof(struct upmu_deadlock); out: bytes filled */
    uint32_t process;       /**< index for upmu_overview_process_at() */
    pid_t pid;              /**< process id */
    int32_t kind;           /**< enum upmu_deadlock_kind */
    int32_t certainty;      /**< enum upmu_deadlock_certainty */
    uint64_t object;        /**< address of the awaited object, of kinds with a single one; else 0 */
    int32_t object_type;    /**< enum upmu_object_type */
    pid_t owner;            /**< OWNER_ENDED: kernel id of the ended thread, else 0 */
    const char *owner_name; /**< its name */
    uint64_t owner_site;    /**< OWNER_ENDED: call site of its acquisition, 0 if unknown */
    const char *could_end;  /**< WAKEABLE, BREAKABLE: what could end it; else "" */
    uint32_t alive;         /**< 1: the process runs, and two snapshots have the same wait state; 0: state at its end */
    uint32_t suppressed;    /**< 1: matched by a suppression */
    size_t n_threads;       /**< deadlocked threads; in a cycle each waits for the next, the last one for the first */
    size_t n_behind;        /**< further threads that wait for these or each other: indices from `n_threads` on */
};
#define UPMU_DEADLOCK_SIZE_V1 UPMU_SIZE_V1_(struct upmu_deadlock, 88)
/** Deadlock `i`, certain ones first. */
UPMU_API UPMU_CHECKED int upmu_deadlocks_at(const struct upmu_deadlocks *deadlocks, size_t i,
                                            struct upmu_deadlock *out);
/** Number of deadlocks; 0 if `deadlocks` is NULL, as for all counts below. */
UPMU_API size_t upmu_deadlocks_count(const struct upmu_deadlocks *deadlocks);

/** A deadlocked thread, or one that waits behind a deadlock. */
struct upmu_deadlock_thread {
    size_t size;         /**< in: sizeof(struct upmu_deadlock_thread); out: bytes filled */
    pid_t tid;           /**< kernel thread id */
    const char *name;    /**< its name, "" if unknown */
    int32_t wait_kind;   /**< enum upmu_wait_kind */
    int32_t object_type; /**< enum upmu_object_type */
    uint64_t object;     /**< address of the awaited object; of a join the pthread_t */
    uint64_t mutex;      /**< condition variable: the mutex of the wait */
    /** Holder of the lock, or joined thread; of a condition variable's wait the holder of `mutex`, if the wait has ended but for
     *  that; 0: unknown or none. */
    pid_t holder;
    uint32_t shared;     /**< 1: waits as a reader */
    uint32_t timed;      /**< 1: the wait has a time limit */
    uint64_t since_ns;   /**< start of the wait, nanoseconds since 1970 */
    uint64_t site;       /**< call site of the wait, for upmu_overview_symbol_at() */
    uint32_t stack;      /**< call stack of the wait, for upmu_overview_stack_find(); 0 = none */
    size_t n_held;       /**< entries of upmu_deadlocks_held_at() */
    uint32_t n_unlisted; /**< further locks held that exceed the record and are not listed */
    uint32_t inspected;  /**< 1: the wait is not recorded, but read from the kernel and the fields of the lock */
};
#define UPMU_DEADLOCK_THREAD_SIZE_V1 UPMU_SIZE_V1_(struct upmu_deadlock_thread, 104)
/** Thread `k` of deadlock `i`. */
UPMU_API UPMU_CHECKED int upmu_deadlocks_thread_at(const struct upmu_deadlocks *deadlocks, size_t i, size_t k,
                                                   struct upmu_deadlock_thread *out);
/** Number of threads of deadlock `i`, those behind it included. */
UPMU_API size_t upmu_deadlocks_thread_count(const struct upmu_deadlocks *deadlocks, size_t i);

/** A held lock. */
struct upmu_deadlock_held {
    size_t size;       /**< in: sizeof(struct upmu_deadlock_held); out: bytes filled */
    uint64_t lock;     /**< its address */
    uint32_t shared;   /**< 1: held as a reader */
    uint32_t wanted;   /**< 1: a thread of this deadlock waits for it */
    uint64_t site;     /**< call site of the acquisition */
    uint64_t since_ns; /**< time of the acquisition; 0: not recorded, before the wait */
    uint32_t
        stack; /**< call stack of the acquisition, as the first waiter found it, for upmu_overview_stack_find(); 0 = none */
};
#define UPMU_DEADLOCK_HELD_SIZE_V1 UPMU_SIZE_V1_(struct upmu_deadlock_held, 40)
/** Lock `h` held by thread `k` of deadlock `i`, in the order of acquisition. */
UPMU_API UPMU_CHECKED int upmu_deadlocks_held_at(const struct upmu_deadlocks *deadlocks, size_t i, size_t k, size_t h,
                                                 struct upmu_deadlock_held *out);
/** Number of locks held by thread `k` of deadlock `i`. */
UPMU_API size_t upmu_deadlocks_held_count(const struct upmu_deadlocks *deadlocks, size_t i, size_t k);

/** Class of a cycle in the lock order, the most severe first. */
enum upmu_lock_cycle_class {
    UPMU_LOCK_INVERSION = 0,  /**< the threads could deadlock */
    UPMU_LOCK_GATED = 1,      /**< no deadlock: a lock held in two of them, or the permits of a semaphore, serializes */
    UPMU_LOCK_ONE_THREAD = 2, /**< no deadlock: one thread made several of them, and waits for one at a time */
    UPMU_LOCK_ORDERED = 3,    /**< no deadlock: creation or join of threads orders the acquisitions */
    UPMU_LOCK_BROKEN = 4,     /**< no deadlock: an acquisition is a try or has a time limit */
};

/** "inversion", "gated", "one-thread", "ordered", "broken"; "?" for any other number. */
UPMU_API const char *upmu_lock_cycle_class_name(int class_number);

/** A cycle in the lock order: locks acquired in contradictory orders. */
struct upmu_lock_cycle {
    size_t size;          /**< in: sizeof(struct upmu_lock_cycle); out: bytes filled */
    uint32_t process;     /**< of the first acquisition, index for upmu_overview_process_at() */
    pid_t pid;            /**< its process id; others may be of other processes */
    int32_t class_number; /**< enum upmu_lock_cycle_class */
    uint32_t suppressed;  /**< 1: matched by a suppression */
    size_t
        n_acquisitions; /**< entries of upmu_deadlocks_acquisition_at(): each wants a lock that the next one holds, the last
                                one a lock that the first one holds */
    size_t n_similar; /**< unlisted cycles of the same call sites, or of locks initialized at the same call sites */
};
#define UPMU_LOCK_CYCLE_SIZE_V1 UPMU_SIZE_V1_(struct upmu_lock_cycle, 40)
/** Cycle `i`, the most severe class first. Cycles of one class with the same call sites, or with locks initialized at the same
 *  call sites by the same callers, are listed once. */
UPMU_API UPMU_CHECKED int upmu_deadlocks_cycle_at(const struct upmu_deadlocks *deadlocks, size_t i,
                                                  struct upmu_lock_cycle *out);
/** Number of cycles. */
UPMU_API size_t upmu_deadlocks_cycle_count(const struct upmu_deadlocks *deadlocks);

/** The first acquisition of a lock by a thread while it held a certain set of other locks. */
struct upmu_lock_acquisition {
    size_t size;          /**< in: sizeof(struct upmu_lock_acquisition); out: bytes filled */
    pid_t tid;            /**< kernel thread id */
    uint64_t time_ns;     /**< nanoseconds since 1970 */
    uint64_t lock;        /**< address of the acquired lock */
    int32_t lock_type;    /**< enum upmu_object_type */
    uint32_t shared;      /**< 1: as a reader */
    uint32_t tried;       /**< 1: by a call that never waits */
    uint32_t timed;       /**< 1: by a call with a time limit */
    uint32_t stack;       /**< call stack, for upmu_overview_stack_find(); 0 = none */
    uint64_t held;        /**< address of the held lock of the cycle, which the previous acquisition wants */
    int32_t held_type;    /**< enum upmu_object_type */
    uint32_t held_shared; /**< 1: held as a reader */
    uint64_t held_site;   /**< call site of its acquisition, for upmu_overview_symbol_at() */
    size_t n_held;        /**< entries of upmu_deadlocks_acquisition_held_at() */
    uint32_t
        reusable; /**< 1: the initialization of `lock` or `held` is not recorded, and its memory is no variable of locks: where the
                            program reuses that without free(), it may have been several objects */
    uint32_t
        held_stack; /**< call stack of the acquisition of `held`, for upmu_overview_stack_find(); 0: only `held_site` */
    uint32_t
        process; /**< of the thread, index for upmu_overview_process_at(); addresses, stacks and sites are of this process */
    pid_t pid; /**< its process id */
};
#define UPMU_LOCK_ACQUISITION_SIZE_V1 UPMU_SIZE_V1_(struct upmu_lock_acquisition, 88)
/** Acquisition `k` of cycle `i`. */
UPMU_API UPMU_CHECKED int upmu_deadlocks_acquisition_at(const struct upmu_deadlocks *deadlocks, size_t i, size_t k,
                                                        struct upmu_lock_acquisition *out);
/** Number of acquisitions of cycle `i`. */
UPMU_API size_t upmu_deadlocks_acquisition_count(const struct upmu_deadlocks *deadlocks, size_t i);

/** Lock `h` held at acquisition `k` of cycle `i`. `wanted` is 1 for a gate: a lock that another acquisition of the cycle holds
 *  as well. `since_ns` is 0. */
UPMU_API UPMU_CHECKED int upmu_deadlocks_acquisition_held_at(const struct upmu_deadlocks *deadlocks, size_t i, size_t k,
                                                             size_t h, struct upmu_deadlock_held *out);
/** Number of locks held at acquisition `k` of cycle `i`. */
UPMU_API size_t upmu_deadlocks_acquisition_held_count(const struct upmu_deadlocks *deadlocks, size_t i, size_t k);

/** Completeness of the results. */
struct upmu_deadlocks_totals {
    size_t size;                 /**< in: sizeof(struct upmu_deadlocks_totals); out: bytes filled */
    uint64_t acquisitions;       /**< acquisitions with other locks held, each once per thread and period */
    uint64_t incomplete;         /**< acquisitions of which a part was not recorded, ignored */
    uint32_t truncated;          /**< 1: the search was stopped early, there may be more inversions */
    uint32_t without_wait_state; /**< processes without recorded wait states */
    uint32_t mpi;                /**< 1: processes are ranks of MPI jobs, whose deadlocks upmu_mpi_open() finds */
    uint32_t counted;            /**< processes in mode counts, for a time at least: it records no orders of locks */
};
#define UPMU_DEADLOCKS_TOTALS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_deadlocks_totals, 32)
/** Read the totals. @return 0; UPMU_E_INVAL. */
UPMU_API UPMU_CHECKED int upmu_deadlocks_totals_read(const struct upmu_deadlocks *deadlocks,
                                                     struct upmu_deadlocks_totals *out);

/** Repeated search for deadlocks in running processes. */
struct upmu_deadlock_watch;

/**
 * Watch all processes of a recording, later ones included, or the directory of one process.
 * @param watch out: to be closed with upmu_deadlock_watch_close(); NULL on failure
 * @param dir   path of the directory
 * @return 0; UPMU_E_INVAL (NULL); UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_deadlock_watch_open(struct upmu_deadlock_watch **watch, const char *dir);

/**
 * Take one snapshot of the wait states, without any cost for the watched processes. A deadlock is reported once, when two
 * snapshots have the same wait state. About ten snapshots per second are usual.
 * @param process out: with 1, the directory of the process, for upmu_deadlocks_open(); valid until the next call
 * @return 1: a new certain deadlock; 0: none; UPMU_E_NOMEM; UPMU_E_INVAL (NULL).
 */
UPMU_API UPMU_CHECKED int upmu_deadlock_watch_poll(struct upmu_deadlock_watch *watch, const char **process);

/**
 * Get the deadlocks of the process that the last upmu_deadlock_watch_poll() reported. Independent of the length of the trace,
 * because only the wait states are read: there are no lock-order cycles, and the overview has only names, stacks, functions
 * and lines. upmu_deadlocks_open() reads everything.
 * @param deadlocks out: to be closed with upmu_deadlocks_close(), before or after the watch
 * @return 0; UPMU_E_STATE (no deadlock was reported, or it was taken already); the errors of upmu_deadlocks_open().
 */
UPMU_API UPMU_CHECKED int upmu_deadlock_watch_take(struct upmu_deadlock_watch *watch,
                                                   struct upmu_deadlocks **deadlocks);

/** Close and free; NULL does nothing. */
UPMU_API void upmu_deadlock_watch_close(struct upmu_deadlock_watch *watch);

/** Wait state of a process without a recording, from the kernel. */
struct upmu_deadlock_inspect;

/**
 * Take two snapshots of a process: threads that wait for a futex, the owner of the mutex that appears to be there, and call
 * stacks where the kernel permits. To read a stack, a thread that waits for a futex is stopped for some milliseconds and then
 * continues to wait; other threads are not stopped, because some of their waits would be interrupted.
 * @param inspect out: to be closed with upmu_deadlock_inspect_close(); NULL on failure
 * @return 0; UPMU_E_GONE (no such process); UPMU_E_PERM (no permission to inspect it); UPMU_E_NOMEM; UPMU_E_INVAL (NULL).
 */
UPMU_API UPMU_CHECKED int upmu_deadlock_inspect_open(struct upmu_deadlock_inspect **inspect, pid_t pid);

/** A thread of an inspected process. */
struct upmu_deadlock_inspect_thread {
    size_t size;              /**< in: sizeof(struct upmu_deadlock_inspect_thread); out: bytes filled */
    pid_t tid;                /**< kernel thread id */
    const char *name;         /**< its name */
    uint32_t in_futex;        /**< 1: it waits for the same futex in both snapshots */
    uint32_t timed;           /**< 1: the wait has a time limit */
    uint64_t futex;           /**< address of the futex, 0 if there is none */
    pid_t owner;              /**< thread that owns the mutex at `futex`; 0: unknown, or it has ended */
    uint32_t cycle;           /**< number of its deadlock, from 1; 0: none */
    size_t n_frames;          /**< frames of its call stack; 0: not read */
    const char *wait_channel; /**< kernel function that it waits in, "" if unknown */
    /** enum upmu_object_type: MUTEX, RWLOCK, THREAD (`owner` is joined), FUTEX (with an owner: the lock of a FILE),
     *  CALL (the end of process `owner`). */
    int32_t object_type;
    const char *object_name; /**< the static variable that contains the object: "pool[3].lock"; "" if it is in none */
    int32_t
        deadlock_kind; /**< enum upmu_deadlock_kind of deadlock `cycle`: CYCLE, SELF, OWNER_ENDED, CROSS_PROCESS, ...; -1: none */
};
#define UPMU_DEADLOCK_INSPECT_THREAD_SIZE_V1 UPMU_SIZE_V1_(struct upmu_deadlock_inspect_thread, 64)
/** Thread `i`. */
UPMU_API UPMU_CHECKED int upmu_deadlock_inspect_thread_at(const struct upmu_deadlock_inspect *inspect, size_t i,
                                                          struct upmu_deadlock_inspect_thread *out);
/** 1 if all threads sleep, none of them in a cycle, and no known event could wake one; else 0. */
UPMU_API int upmu_deadlock_inspect_stalled(const struct upmu_deadlock_inspect *inspect);
/** Number of threads. */
UPMU_API size_t upmu_deadlock_inspect_thread_count(const struct upmu_deadlock_inspect *inspect);

/** Frame `k` of the stack of thread `i`, innermost first; `depth` as for upmu_overview_symbol_at().
 *  @return 0; UPMU_E_END (no such thread, frame or depth); UPMU_E_INVAL; UPMU_E_NOMEM. */
UPMU_API UPMU_CHECKED int upmu_deadlock_inspect_frame_at(struct upmu_deadlock_inspect *inspect, size_t i, size_t k,
                                                         size_t depth, struct upmu_symbol *out);

/** Close and free; NULL does nothing. */
UPMU_API void upmu_deadlock_inspect_close(struct upmu_deadlock_inspect *inspect);

UPMU_END_DECLS

#endif
