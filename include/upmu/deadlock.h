/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Threads that wait for each other for ever, and orders of locks by which they could come to. From a recording, while
 * the process runs or after it has ended in any way. Link with libupmu_analysis; `upmu deadlock` is this on the command
 * line.
 *
 *     struct upmu_deadlocks *d;
 *     struct upmu_deadlock found = {.size = sizeof found};
 *     if (upmu_deadlocks_open(&d, "DIR", NULL) < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 *     for (size_t i = 0; upmu_deadlocks_at(d, i, &found) == 0; i++)
 *         printf("%s: %zu threads\n", upmu_deadlock_kind_name(found.kind), found.n_threads);
 *     upmu_deadlocks_close(d);
 *
 * Functions that fill a struct take its `size` from the caller and return 0, UPMU_E_NAME past the last entry,
 * UPMU_E_INVAL for a size that is too small or an argument that is NULL. Strings live as long as the deadlocks.
 */
#ifndef UPMU_DEADLOCK_H
#define UPMU_DEADLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/analysis.h"
#include "upmu/api.h"

UPMU_BEGIN_DECLS

/** What is known of a recording's deadlocks. One thread at a time. */
struct upmu_deadlocks;

/** Options; NULL or all zero but `size`: the defaults. */
struct upmu_deadlocks_opts {
    size_t size;              /**< sizeof(struct upmu_deadlocks_opts) */
    const char *debug_dir;    /**< where separate debug files are; NULL: /usr/lib/debug */
    const char *suppressions; /**< file of what is not to be reported (man upmu-deadlock); NULL: none */
};
#define UPMU_DEADLOCKS_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_deadlocks_opts, 24)

/**
 * Read a recording, or the directory of one process in it, and what its threads stand at.
 * @return 0; the codes of upmu_overview_open(), UPMU_E_IO or UPMU_E_INVAL for the suppressions.
 */
UPMU_API UPMU_CHECKED int upmu_deadlocks_open(struct upmu_deadlocks **deadlocks, const char *dir,
                                              const struct upmu_deadlocks_opts *opts);

/** Close; NULL is fine. */
UPMU_API void upmu_deadlocks_close(struct upmu_deadlocks *deadlocks);

/** The recording they were found in: names, stacks, functions and lines. Lives as long as the deadlocks. */
UPMU_API struct upmu_overview *upmu_deadlocks_overview(struct upmu_deadlocks *deadlocks);

/** What threads are caught in. */
enum upmu_deadlock_kind {
    UPMU_DEADLOCK_CYCLE = 0,         /**< threads that wait for each other's locks and ends */
    UPMU_DEADLOCK_SELF = 1,          /**< a thread waits for a lock that it holds itself */
    UPMU_DEADLOCK_OWNER_ENDED = 2,   /**< the lock's holder has ended */
    UPMU_DEADLOCK_JOIN_CYCLE = 3,    /**< threads that wait for each other's ends */
    UPMU_DEADLOCK_JOIN_SELF = 4,     /**< a thread waits for its own end */
    UPMU_DEADLOCK_NO_POST = 5,       /**< nobody is left to post the semaphore */
    UPMU_DEADLOCK_NO_SIGNAL = 6,     /**< nobody is left to signal the condition variable */
    UPMU_DEADLOCK_BARRIER_SHORT = 7, /**< nobody is left to arrive at the barrier */
    UPMU_DEADLOCK_NO_WAKE = 8,       /**< nobody is left to wake the futex */
    UPMU_DEADLOCK_ALL_ASLEEP = 9,    /**< all threads of the process sleep, and nothing is known that could wake one */
    UPMU_DEADLOCK_KINDS = 10,
};

/** "cycle", "self", "owner-ended", "join-cycle", "join-self", "no-post", "no-signal", "barrier-short", "no-wake",
 *  "all-asleep"; "?". */
UPMU_API const char *upmu_deadlock_kind_name(int kind);

/** How certain it is. */
enum upmu_deadlock_certainty {
    UPMU_DEADLOCK_CERTAIN = 0,   /**< nothing can end it */
    UPMU_DEADLOCK_STALLED = 1,   /**< nothing that is known could end it, but a holder or waker is unknown */
    UPMU_DEADLOCK_BREAKABLE = 2, /**< a wait in it ends by itself: not called a deadlock */
    UPMU_DEADLOCK_WAKEABLE = 3,  /**< no thread can end it, but something else could: not called a deadlock */
    UPMU_DEADLOCK_CERTAINTIES = 4,
};

/** "certain", "stalled", "breakable", "wakeable"; "?" for any other number. */
UPMU_API const char *upmu_deadlock_certainty_name(int certainty);

/** Threads that stand. */
struct upmu_deadlock {
    size_t size;      /**< in: sizeof(struct upmu_deadlock) */
    uint32_t process; /**< index for upmu_overview_process_at() */
    pid_t pid;
    int32_t kind;        /**< enum upmu_deadlock_kind */
    int32_t certainty;   /**< enum upmu_deadlock_certainty */
    uint64_t object;     /**< what they wait for, of kinds with one object; else 0 */
    int32_t object_type; /**< enum upmu_object_type */
    pid_t owner;         /**< OWNER_ENDED: the thread that ended, else 0 */
    const char *owner_name;
    uint64_t owner_site;   /**< OWNER_ENDED: where it took the lock, 0 = not known */
    const char *could_end; /**< WAKEABLE, BREAKABLE: what could end it; else "" */
    uint32_t alive;        /**< 1: the process lives, and they stood at two looks; 0: they stood when it ended */
    uint32_t suppressed;   /**< 1: by the file of suppressions */
    size_t n_threads;      /**< caught in it: of a cycle, each waits for the next and the last for the first */
    size_t n_behind;       /**< wait for one of these, or for each other: indices from n_threads on */
};
#define UPMU_DEADLOCK_SIZE_V1 UPMU_SIZE_V1_(struct upmu_deadlock, 88)
/** Deadlock `i`: certain ones first. */
UPMU_API UPMU_CHECKED int upmu_deadlocks_at(const struct upmu_deadlocks *deadlocks, size_t i,
                                            struct upmu_deadlock *out);
/** Number of deadlocks; 0 if `deadlocks` is NULL, as for all counts below. */
UPMU_API size_t upmu_deadlocks_count(const struct upmu_deadlocks *deadlocks);

/** A thread in a deadlock, or behind one. */
struct upmu_deadlock_thread {
    size_t size; /**< in: sizeof(struct upmu_deadlock_thread) */
    pid_t tid;
    const char *name;
    int32_t wait_kind;   /**< enum upmu_wait_kind: what it waits for */
    int32_t object_type; /**< enum upmu_object_type */
    uint64_t object;     /**< the lock, variable, ...; of a join the pthread_t */
    uint64_t mutex;      /**< condition variables: the mutex given up for the wait */
    pid_t holder;        /**< who has the lock, or is joined; of a condition variable's wait who keeps `mutex` from it;
                              0: not known, or nobody */
    uint32_t shared;     /**< 1: waits as a reader */
    uint32_t timed;      /**< 1: the wait ends by itself at some time */
    uint64_t since_ns;   /**< since when it waits, nanoseconds since 1970 */
    uint64_t site;       /**< where, for upmu_overview_symbol_at() */
    uint32_t stack;      /**< its whole call stack, for upmu_overview_stack_find(); 0 = none */
    size_t n_held;
    uint32_t n_unlisted; /**< locks held that are not listed, because there are too many */
    uint32_t inspected;  /**< 1: the wait is not recorded: it is as the kernel and the lock's own fields show it */
};
#define UPMU_DEADLOCK_THREAD_SIZE_V1 UPMU_SIZE_V1_(struct upmu_deadlock_thread, 104)
UPMU_API UPMU_CHECKED int upmu_deadlocks_thread_at(const struct upmu_deadlocks *deadlocks, size_t i, size_t k,
                                                   struct upmu_deadlock_thread *out);
/** Number of threads in deadlock `i` and behind it. */
UPMU_API size_t upmu_deadlocks_thread_count(const struct upmu_deadlocks *deadlocks, size_t i);

/** A lock that such a thread holds, first taken first. */
struct upmu_deadlock_held {
    size_t size; /**< in: sizeof(struct upmu_deadlock_held) */
    uint64_t lock;
    uint32_t shared;   /**< 1: as a reader */
    uint32_t wanted;   /**< 1: a thread of this deadlock waits for it */
    uint64_t site;     /**< where it was taken */
    uint64_t since_ns; /**< when; 0: not recorded, before the wait began */
};
#define UPMU_DEADLOCK_HELD_SIZE_V1 UPMU_SIZE_V1_(struct upmu_deadlock_held, 40)
UPMU_API UPMU_CHECKED int upmu_deadlocks_held_at(const struct upmu_deadlocks *deadlocks, size_t i, size_t k, size_t h,
                                                 struct upmu_deadlock_held *out);
/** Number of locks held by thread `k` of deadlock `i`. */
UPMU_API size_t upmu_deadlocks_held_count(const struct upmu_deadlocks *deadlocks, size_t i, size_t k);

/** What a cycle in the order of locks is, the worst first. */
enum upmu_lock_cycle_class {
    UPMU_LOCK_INVERSION = 0,  /**< threads could come to wait for each other for ever */
    UPMU_LOCK_GATED = 1,      /**< a lock that two of them hold keeps them apart */
    UPMU_LOCK_ONE_THREAD = 2, /**< one thread alone took the locks in both orders */
    UPMU_LOCK_ORDERED = 3,    /**< one was over before the other began: threads that are created, or joined */
    UPMU_LOCK_BROKEN = 4,     /**< one of them tries, or waits for a limited time */
    UPMU_LOCK_CLASSES = 5,
};

/** "inversion", "gated", "one-thread", "ordered", "broken"; "?" for any other number. */
UPMU_API const char *upmu_lock_cycle_class_name(int class_number);

/** Locks taken in orders that contradict each other. */
struct upmu_lock_cycle {
    size_t size;      /**< in: sizeof(struct upmu_lock_cycle) */
    uint32_t process; /**< index for upmu_overview_process_at() */
    pid_t pid;
    int32_t class_number;  /**< enum upmu_lock_cycle_class */
    uint32_t suppressed;   /**< 1: by the file of suppressions */
    size_t n_acquisitions; /**< each wants a lock that the next one holds, the last one that of the first */
    size_t n_similar; /**< cycles at the same places in the program, or of locks made at the same places; not listed */
};
#define UPMU_LOCK_CYCLE_SIZE_V1 UPMU_SIZE_V1_(struct upmu_lock_cycle, 40)
/** Cycle `i`: the worst class first. Of cycles of one class at the same places, or of locks of the same kinds (made at the
 *  same places, by the same callers), there is one. */
UPMU_API UPMU_CHECKED int upmu_deadlocks_cycle_at(const struct upmu_deadlocks *deadlocks, size_t i,
                                                  struct upmu_lock_cycle *out);
/** Number of cycles. */
UPMU_API size_t upmu_deadlocks_cycle_count(const struct upmu_deadlocks *deadlocks);

/** A thread that took a lock while it held others, the first time it did. */
struct upmu_lock_acquisition {
    size_t size; /**< in: sizeof(struct upmu_lock_acquisition) */
    pid_t tid;
    uint64_t time_ns;
    uint64_t lock;     /**< what it took */
    int32_t lock_type; /**< enum upmu_object_type */
    uint32_t shared;   /**< 1: as a reader */
    uint32_t tried;    /**< 1: by a call that does not wait */
    uint32_t timed;    /**< 1: by one that waits for a limited time */
    uint32_t stack;    /**< where, for upmu_overview_stack_find(); 0 = none */
    uint64_t held;     /**< what it held of this cycle: the lock that the taking before wants */
    int32_t held_type;
    uint32_t held_shared;
    uint64_t held_site; /**< where it had taken that, for upmu_overview_symbol_at() */
    size_t n_held;      /**< all locks it held */
};
#define UPMU_LOCK_ACQUISITION_SIZE_V1 UPMU_SIZE_V1_(struct upmu_lock_acquisition, 88)
UPMU_API UPMU_CHECKED int upmu_deadlocks_acquisition_at(const struct upmu_deadlocks *deadlocks, size_t i, size_t k,
                                                        struct upmu_lock_acquisition *out);
/** Number of acquisitions of cycle `i`. */
UPMU_API size_t upmu_deadlocks_acquisition_count(const struct upmu_deadlocks *deadlocks, size_t i);

/** Lock `h` of those held in taking `k` of cycle `i`: `wanted` is 1 for a gate, a lock that another taking of the cycle
 *  holds as well; `since_ns` is 0. */
UPMU_API UPMU_CHECKED int upmu_deadlocks_acquisition_held_at(const struct upmu_deadlocks *deadlocks, size_t i, size_t k,
                                                             size_t h, struct upmu_deadlock_held *out);
/** Number of locks held in acquisition `k` of cycle `i`. */
UPMU_API size_t upmu_deadlocks_acquisition_held_count(const struct upmu_deadlocks *deadlocks, size_t i, size_t k);

/** How whole it is what is said here. */
struct upmu_deadlocks_totals {
    size_t size;                 /**< in: sizeof(struct upmu_deadlocks_totals) */
    uint64_t acquisitions;       /**< of a lock while others were held, each once per thread and period */
    uint64_t incomplete;         /**< of which a part was not recorded: left out */
    uint32_t truncated;          /**< 1: there may be more inversions, the search was ended */
    uint32_t without_wait_state; /**< processes of which it was not recorded what their threads stand at */
};
#define UPMU_DEADLOCKS_TOTALS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_deadlocks_totals, 32)
UPMU_API UPMU_CHECKED int upmu_deadlocks_totals_read(const struct upmu_deadlocks *deadlocks,
                                                     struct upmu_deadlocks_totals *out);

/** Looking for deadlocks in processes that run, again and again. */
struct upmu_deadlock_watch;

/** Watch all processes of a recording, also such as come later, or the directory of one process. @return 0; UPMU_E_INVAL, UPMU_E_NOMEM. */
UPMU_API UPMU_CHECKED int upmu_deadlock_watch_open(struct upmu_deadlock_watch **watch, const char *dir);

/**
 * Look once; costs the watched processes nothing. Threads that stand are believed when two looks find them so without a
 * move between, and are told of once. Some ten looks a second are meant.
 * @param process out: with 1, the directory of the process, for upmu_deadlocks_open(); lives until the next look. For what
 *     is to be told at once there is upmu_deadlock_watch_take()
 * @return 1: there is a new certain deadlock; 0: there is none; UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_deadlock_watch_poll(struct upmu_deadlock_watch *watch, const char **process);

/**
 * What the last look that returned 1 has found: all that stands in that process, told at once however long its trace is,
 * because it is read from what the threads wrote down before they blocked. There is no order of locks in it, and of the
 * overview only names, stacks, functions and lines; upmu_deadlocks_open() has all.
 * @param deadlocks out: to be closed by upmu_deadlocks_close(), before or after the watch
 * @return 0; UPMU_E_STATE (nothing was found, or it was taken); the codes of upmu_deadlocks_open(); UPMU_E_INVAL.
 */
UPMU_API UPMU_CHECKED int upmu_deadlock_watch_take(struct upmu_deadlock_watch *watch,
                                                   struct upmu_deadlocks **deadlocks);

/** Close; NULL is fine. */
UPMU_API void upmu_deadlock_watch_close(struct upmu_deadlock_watch *watch);

/** What the kernel tells of a process that does not record. */
struct upmu_deadlock_inspect;

/**
 * Look at the process twice, a moment apart: which threads wait for a futex, whose the mutex is that seems to lie there,
 * and, where the kernel lets us read it, their call stacks. For a stack a thread that waits for a futex is stopped for
 * some milliseconds, after which it waits on; other threads are left alone, because some of their waits would end.
 * @return 0; UPMU_E_GONE (no such process), UPMU_E_PERM (it may not be looked at), UPMU_E_NOMEM, UPMU_E_INVAL.
 */
UPMU_API UPMU_CHECKED int upmu_deadlock_inspect_open(struct upmu_deadlock_inspect **inspect, pid_t pid);

/** A thread of such a process. */
struct upmu_deadlock_inspect_thread {
    size_t size; /**< in: sizeof(struct upmu_deadlock_inspect_thread) */
    pid_t tid;
    const char *name;
    uint32_t in_futex; /**< 1: it waits for a futex, and did at both looks */
    uint32_t timed;    /**< 1: for a limited time */
    uint64_t futex;    /**< address of the futex, 0 if it waits for none */
    pid_t owner;     /**< the thread of this process that has the mutex there, if there is one; 0: it cannot be known */
    uint32_t cycle;  /**< number of the cycle of owners it is in, from 1; 0: none */
    size_t n_frames; /**< of its call stack; 0: it was not read */
    const char *wait_channel; /**< where it waits in the kernel, "" if that is not told */
    int32_t
        object_type; /**< enum upmu_object_type: MUTEX, RWLOCK, THREAD (`owner` is joined), FUTEX (with an owner the lock
                              of a FILE) */
};
#define UPMU_DEADLOCK_INSPECT_THREAD_SIZE_V1 UPMU_SIZE_V1_(struct upmu_deadlock_inspect_thread, 64)
/** Thread `i`. @return 0; UPMU_E_NAME past the last; UPMU_E_INVAL. */
UPMU_API UPMU_CHECKED int upmu_deadlock_inspect_thread_at(const struct upmu_deadlock_inspect *inspect, size_t i,
                                                          struct upmu_deadlock_inspect_thread *out);
/** Whether all threads sleep, none of them in a cycle, and nothing is known that could wake one: 1, else 0. */
UPMU_API int upmu_deadlock_inspect_stalled(const struct upmu_deadlock_inspect *inspect);
/** Number of threads. */
UPMU_API size_t upmu_deadlock_inspect_thread_count(const struct upmu_deadlock_inspect *inspect);

/** Frame `k` of thread `i`'s stack, innermost first, as upmu_overview_symbol_at() gives them, at `depth`.
 *  @return 0; UPMU_E_NAME past the last frame or depth; UPMU_E_INVAL; UPMU_E_NOMEM. */
UPMU_API UPMU_CHECKED int upmu_deadlock_inspect_frame_at(struct upmu_deadlock_inspect *inspect, size_t i, size_t k,
                                                         size_t depth, struct upmu_symbol *out);

/** Close; NULL is fine. */
UPMU_API void upmu_deadlock_inspect_close(struct upmu_deadlock_inspect *inspect);

UPMU_END_DECLS

#endif
