/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A thread's block: held locks, counts, and what its events need.
 */
#ifndef UPMU_SYNC_THREAD_H
#define UPMU_SYNC_THREAD_H

#include <stddef.h>
#include <sys/types.h>

#include "sync_trace/state/calls.h"
#include "sync_trace/state/state.h"
#include "trace/format/schema.h"

enum {
    SYNC_HELD_MAX = 1024, /**< locks held by one thread, power of two; beyond that the oldest is dropped */
    SYNC_FRAMES_MAX = SCHEMA_FRAMES_MAX, /**< of a stack */
    SYNC_THREAD_NAME = 16,
    SYNC_FRAMES_OWN = 8,      /**< our own frames, at most, at the inner end of a walk */
    SYNC_FRAMES_OWN_MAX = 16, /**< where functions that are meant to be inlined are not */
    SYNC_WAITS_TIMED = 4,     /**< nested waits that are compared with thresholds */
};

/** A held lock: a waiter in another thread copies it. */
struct sync_held {
    uintptr_t lock;   /**< its key, see sync_key_object() */
    uintptr_t site;   /**< where it was acquired */
    uint64_t since;   /**< tick, 0 if it was not read; with flags: see sync_held_since() */
    uintptr_t wanted; /**< HELD_QUIET, HELD_RECORDED, or the address of a lock that a thread waits for */
    uint64_t number;  /**< of the sequence of locks held up to this one (lock_order.h), 0 until computed */
};

/** In `since`: the acquisition was sampled, and so must its release be. No tick is that large. */
#define HELD_SAMPLED (UINT64_C(1) << 63)

/** In `since`: counters were read at the acquisition, and are read at the release. */
#define HELD_COUNTED (UINT64_C(1) << 62)

static inline uint64_t sync_held_since(uint64_t since)
{
    return since & ~(HELD_SAMPLED | HELD_COUNTED);
}

/** Where the stack of a held lock's acquisition is. Valid if `since` is that of the lock's entry. The first waiter unwinds from
 *  the copy of the innermost words (stack/holder_stack.h). */
enum { SYNC_ORIGINS = 16, SYNC_ORIGIN_WORDS = 18, SYNC_SNAPSHOT_WORDS = 1024 };
struct sync_origin {
    uint64_t since __attribute__((aligned(16)));
    uintptr_t frame; /**< frame pointer of the wrapper: there are the caller's and the call site; 0: see `stack` */
    uintptr_t word[SYNC_ORIGIN_WORDS]; /**< from there on; copied by pieces of 16 bytes */
    uint32_t stack;                    /**< its id, 0: not recorded */
};

/* A late waiter may store the address of its lock into an entry that is another lock's by then, in place of either value:
 * the release of whatever is not HELD_QUIET is recorded. */
enum { HELD_QUIET = 0, HELD_RECORDED = 1 /**< the acquisition is in the trace: the release must be, too */ };

struct sync_counts;

/** Slots of a thread's first table of counts, which is in its block, and words for it and to align its slots. */
enum {
    SYNC_COUNTS_FIRST = 32,
    SYNC_COUNTS_SKIP = 5,
    SYNC_COUNTS_FIRST_WORDS = SYNC_COUNTS_SKIP + 3 + SYNC_COUNTS_FIRST * 5
};

/** Acquisitions of one lock by one thread since the thread's first. */
struct sync_count {
    uintptr_t lock; /**< its key, marked if dormant (counts.c); 0 = free slot */
    uint64_t acquired;
    uint64_t contended;
    uint32_t next;   /**< `acquired` (its low half) at which the slow path is due */
    uint16_t stamps; /**< acquisitions still to be recorded since it was contended */
    uint16_t type;   /**< enum upmu_object_type */
};

/** Acquisitions that a thread has recorded, see lock_order.h. */
enum { SYNC_ORDER_FIRST_BITS = 6 };
struct sync_order {
    uint64_t *known; /**< 2^(64 - shift) numbers */
    uint32_t shift;
    uint32_t used;
    uint32_t period; /**< changes when the thread creates or joins another */
    uint32_t since;  /**< period in which the table was emptied */
    uint64_t salt;   /**< part of every number: the period, and the permits held */
    uint64_t first[1 << SYNC_ORDER_FIRST_BITS];
};

/** A permit held of a counting semaphore, see sem_permits.h. */
enum { SYNC_PERMITS = 4, SYNC_PERMITS_MAX = SCHEMA_PERMITS_MAX };
struct sync_permit {
    uintptr_t sem; /**< 0: free */
    uintptr_t site;
    uint64_t number;
    uint32_t permits; /**< of the semaphore */
};

/** A recognized call stack, see memo.h. */
enum { SYNC_MEMO_BITS = 5, SYNC_MEMO_WAYS = 2, SYNC_MEMO_WORDS = 64 };
struct sync_memo {
    uintptr_t frame, key; /**< sync_site_key() */
    uint32_t id, depth;
    uint32_t n;     /**< words to compare; 0: not valid */
    uint32_t words; /**< collected so far */
    uint32_t hits;
    uint32_t missed, patience; /**< of the set: walks since a memo was learned, and how many before the next is */
    struct {
        uintptr_t value;
        uint32_t at; /**< offset from `frame` */
    } word[SYNC_MEMO_WORDS];
};

/** What the kernel has counted for a thread. */
struct sync_usage {
    uint64_t switches, preemptions, cpu_ns;
    uint64_t ready_ns; /**< ready to run without a CPU; 0: unknown, or it was never preempted */
};

struct sync_once_call;

/** A thread's block. Stays mapped permanently and is reused for new threads, so that other threads may read it at any time;
 *  only its thread writes it, except for `wanted`. */
struct sync_thread {
    /* A thread that locks touches the first page; the second one, if it holds several locks or walks its stack; and memos one by one.
     * Rarely used members come first. Blocks begin at a page, and packets at a multiple of 512 bytes in theirs: a load at the same offset
     * as a store to a packet's head, which has one with every event, would wait for it (4K aliasing). */
    uint32_t used;               /**< has a thread: 1, or BLOCK_KEPT */
    uint32_t number;             /**< of the block, from 1 on; LOCK_MEMORY_MANY: beyond the last number */
    uint32_t forgotten;          /**< held locks that did not fit */
    uintptr_t waiting;           /**< the lock this thread is blocked on */
    uintptr_t announced;         /**< the custom lock it waits for; that wait may use other locks */
    uint64_t flushed;            /**< tick of the last writing of counts */
    uint64_t born;               /**< tick of its start if it is recorded from there on, else 0 */
    struct sync_usage before;    /**< of a thread that is older than its recording, when that began */
    struct sync_count uncounted; /**< counts of locks that did not fit in the table */
    uint32_t method;             /**< enum upmu_stack_method of `frames` */
    uint32_t mask_calls;         /**< that libunwind made or would have made in this walk (unwind_mask.c) */
    uint32_t walks_known;        /**< walks since the last one that made many */
    sigset_t unwind_mask;        /**< of the program, while signals are blocked for a walk */
    void *spare_stack;           /**< see spare_stack.h; NULL: none yet */
    pthread_t self;
    struct sync_once_call *once;         /**< innermost pthread_once() call in progress */
    uint64_t name[SYNC_THREAD_NAME / 8]; /**< may be written by any thread */
    struct sync_thread *next;            /**< all blocks */
    /* wait_state.c */
    struct wait_file_slot *wait_slot; /**< NULL: there is none */
    uint32_t wait_slot_index;
    uint32_t wait_slot_bytes; /**< of it that are backed by disk space */
    uint32_t wait_depth;      /**< nested waits */
    uintptr_t wait_frame;     /**< stack address of the outermost one, 0: not known */
    /* sample/cpu_timer.c */
    int timer;          /**< the kernel's id of it */
    uint32_t has_timer; /**< 1: it runs */
    /* event.c, only while waits have thresholds */
    uint32_t waits_open;                   /**< waits begun and not ended */
    uint64_t wait_begun[SYNC_WAITS_TIMED]; /**< ticks of the outer ones */
    uint64_t clock_tick;                   /**< tick and */
    uint64_t clock_ns;                     /**< time of the last reading of CLOCK_REALTIME */
    struct sync_calls calls;
    uint32_t futex_value; /**< expected value of the futex it waits for */
    /* The last try that failed, until a blocking call shows that its call site tries first and waits then. */
    uintptr_t tried, tried_site;
    uint64_t tried_holding;              /**< number of the locks held */
    uintptr_t tried_written, tried_lock; /**< last such call site in the trace, and its lock */
    uintptr_t tried_given_up;            /**< last lock in the trace that was not waited for after a try */
    uint32_t n_given_up;                 /**< of these events */
    bool futex_one;                      /**< it waits for one futex; for several, `futex_value` is not valid */
    unsigned char wait_outer[128];
    /** The thread's first table of counts. */
    uint64_t counts_first[SYNC_COUNTS_FIRST_WORDS] __attribute__((aligned(64)));

    uint32_t ready __attribute__((aligned(64))); /**< enum sync_ready */
    uint32_t depth;                              /**< of `held` */
    uint32_t version;                            /**< odd while entries of `held` move */
    pid_t tid;
    struct sync_counts *counts;
    struct trace_stream *stream;
    int *error; /**< the thread's errno */
    struct sync_order order;
    struct sync_permit permits[SYNC_PERMITS];
    struct sync_origin origins[SYNC_ORIGINS]; /**< of the first locks held */
    void *frames[SYNC_FRAMES_MAX + SYNC_FRAMES_OWN_MAX];
    struct sync_held held[SYNC_HELD_MAX];
    struct sync_site sites[SYNC_SITES];
    struct sync_memo memos[1 << SYNC_MEMO_BITS][SYNC_MEMO_WAYS];
    uintptr_t snapshot[SYNC_SNAPSHOT_WORDS]; /**< of another thread's stack */
};

#if defined(__x86_64__) && defined(__LP64__)
_Static_assert(offsetof(struct sync_thread, ready) % 512 >= 64, "apart from what is stored to the head of a packet");
#endif

/** A block that is never reused: its thread ended with locks held, which waiters must be able to see. */
enum { BLOCK_KEPT = 2 };

/** Whether a thread may record. */
enum sync_ready {
    SYNC_NOT_READY = 0, /**< the recorder is active in this thread, it has ended, or this is a child */
    SYNC_READY = 1,
    SYNC_WALKS =
        2, /**< the recorder takes a stack, or changes the wait state: signal handlers record, but without these */
};

static inline bool sync_is_ready(const struct sync_thread *t)
{
    return __atomic_load_n(&t->ready, __ATOMIC_RELAXED) == SYNC_READY;
}

/** What was before, for sync_unguard(). A signal handler that comes in between restores it, too. A thread that is not ready stays so. */
static inline uint32_t sync_guard_as(struct sync_thread *t, enum sync_ready ready)
{
    uint32_t before = __atomic_load_n(&t->ready, __ATOMIC_RELAXED);
    if (before != SYNC_NOT_READY)
        __atomic_store_n(&t->ready, (uint32_t)ready, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return before;
}

/** Lock calls between these two, by the recorder or by a signal handler, are passed on without recording. */
static inline uint32_t sync_guard(struct sync_thread *t)
{
    return sync_guard_as(t, SYNC_NOT_READY);
}

static inline void sync_unguard(struct sync_thread *t, uint32_t before)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&t->ready, before, __ATOMIC_RELAXED);
}

/** The running thread with this id; NULL. */
struct sync_thread *sync_thread_by_tid(pid_t tid);
/** The running thread with this handle; NULL. */
struct sync_thread *sync_thread_by_handle(pthread_t self);
/** Make a block findable by its thread's id, and no longer. */
void sync_thread_table_add(struct sync_thread *t);
void sync_thread_table_remove(struct sync_thread *t);
/** @return false: out of memory. */
bool sync_thread_table_start(void);

#endif
