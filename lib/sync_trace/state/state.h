/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Mode word, gate and settings of sync tracing, and its thread-local state.
 *
 * What a forked child must not see is in memory that the kernel zeroes for it (MADV_WIPEONFORK): the gate, so that the child
 * is off; the threads' blocks, so that none is ready; the tables of stacks and modules, so that its own trace gets them anew.
 */
#ifndef UPMU_SYNC_STATE_H
#define UPMU_SYNC_STATE_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tiny_lock.h"
#include "sync_trace/leave_out.h"
#include "upmu/sync.h"
#include "upmu/trace.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/** The mode word of the control file: 0 off, else 1 + enum upmu_sync_mode. */
enum sync_mode_word {
    MODE_OFF = 0,
    MODE_HOLDERS = 1 + UPMU_SYNC_HOLDERS,
    MODE_CONTENDED = 1 + UPMU_SYNC_CONTENDED,
    MODE_ALL = 1 + UPMU_SYNC_ALL,
    MODE_COUNTS = 1 + UPMU_SYNC_COUNTS,
};

/* The gate has pages of its own; this is the largest page size of the ISA. */
#if defined(__x86_64__) || defined(__i386__)
#define SYNC_PAGE_MAX 4096
#else
#define SYNC_PAGE_MAX 65536
#endif

struct sync_thread;
struct lock_memory;
struct wait_file_header;

/** Why a thread gets no block. */
enum sync_refused { REFUSED_NOT, REFUSED_ENDED, REFUSED_NO_BLOCK /* its calls are lost, and counted */ };

/** What a thread uses of libunwind. */
enum sync_unwinds {
    SYNC_UNWINDS_NOT, /**< nothing: libunwind has no memory for the thread yet */
    SYNC_UNWINDS,
    SYNC_UNWINDS_STEPS, /**< single steps; unw_backtrace() would repeat what it has guessed and cached */
};

/** A walk by libunwind (stack/unwind_mask.h). */
enum sync_walking {
    SYNC_NOT_WALKING,
    SYNC_WALKING,
    SYNC_WALKING_BLOCKED, /**< all signals are blocked: no handler runs */
};

struct sync_tls {
    struct sync_thread *thread;
    uint8_t refused;      /**< enum sync_refused */
    uint8_t counting;     /**< counters are being read */
    uint8_t starting;     /**< the thread's start event is not written yet */
    uint8_t unwinds;      /**< enum sync_unwinds */
    uint8_t walks;        /**< of its first ones, by single steps */
    uint8_t rounds;       /**< destructor rounds so far */
    uint8_t finding;      /**< the real free() is being looked up */
    uint8_t walking;      /**< enum sync_walking */
    uint8_t busy;         /**< the block, or the unwinder's memory, is being made; or Qt locks (wrap/qt.c) */
    uint8_t early;        /**< the thread is in a wait that began unrecorded (early.h) */
    uint32_t forking;     /**< thread id, while this thread forks */
    uint32_t tid;         /**< thread id, */
    uint32_t process;     /**< in this process */
    uint32_t withheld;    /**< private_table_run() calls in the name of this thread, which could record before */
    uint32_t stack_pages; /**< of 4 KiB: of the stack that the thread began with; 0: not known, or the first one */
    struct sync_leave_out leave_out;
};
extern _Thread_local struct sync_tls sync_tls __attribute__((tls_model("initial-exec"), visibility("hidden")));

enum { SYNC_CPU_WORDS = 128 }; /* of 8,192 CPUs */

/** Bits of sync_gate.held. 0: no thread holds a lock that it acquired while recorded. */
enum sync_gate_held {
    GATE_CLOSES = 1,  /**< recording has ended, and the locks held are being looked for (sync_gate_close()) */
    GATE_LATE = 2,    /**< a call that began before the end has acquired a lock after it */
    GATE_RECORDS = 4, /**< some thread may; the highest but one */
    GATE_STACKS = 8,  /**< and acquisitions keep the stack */
};

/** State that a forked child finds zeroed. */
struct sync_gate {
    const uint32_t *word; /**< `mode` while a recording lasts, so that calls read it then only; NULL = off */
    uint32_t held;        /**< enum sync_gate_held: whether a release must look for the lock among those held */
    uint32_t claimed;     /**< a child is starting its own trace */
    const uint32_t *mode; /**< the control file's word, from the first recording on; NULL = none yet, or no more */
    struct sync_thread *threads;
    struct wait_file_header *wait_states; /**< NULL: there is no wait-state file */
    char *block_next, *block_end;         /**< blocks that are mapped and have no thread yet; under `lock` */
    struct tiny_lock lock;                /**< guards the list of blocks, and the owner of a block's counts */
    struct tiny_lock begin_lock;          /**< begin and end */
    uint32_t slots;                       /**< wait-state slots made; under `lock` */
    uint32_t kept;                        /**< blocks of threads that ended with locks held */
    uint32_t threads_recorded;            /**< threads that have a wait-state slot now */
    uint32_t threads_blocked;             /**< of these, those that wait */
    uint32_t inspecting, inspect_again;   /**< all_blocked.c */
    uint32_t blocks;                      /**< made; under `lock` */
    uint32_t counts_lost;                 /**< some count is missing because a table was full */
    uint64_t since, since_raw_ns;         /**< tick and time at which the process itself began recording last */
    uint64_t ready;                       /**< tick at which a forked child's recording was set up, 0 in others */
    uint64_t cpus[SYNC_CPU_WORDS];        /**< CPUs that ended threads could use, of those that were preempted */
    unsigned char rest[SYNC_PAGE_MAX - 6 * sizeof(void *) - 2 * sizeof(struct tiny_lock) - 10 * sizeof(uint32_t) -
                       (3 + SYNC_CPU_WORDS) * sizeof(uint64_t)];
};
_Static_assert(sizeof(struct sync_gate) == SYNC_PAGE_MAX, "the gate has its pages for itself");
extern struct sync_gate sync_gate __attribute__((visibility("hidden")));

enum { SYNC_NS_BITS = 20 };

/** State that a forked child inherits. */
struct sync_process {
    uint32_t begins;
    uint32_t set_up;      /**< tables and key are there */
    uint32_t recording;   /**< begun and not ended */
    uint32_t restricted;  /**< a seccomp filter was let pass */
    uint32_t finished;    /**< ended for good: no system call is made any more */
    uint32_t mode;        /**< mode word to start with, in a child too */
    uint32_t chosen;      /**< mode word for `upmu ctl` to start with while tracing is paused */
    uint32_t depth;       /**< frames per stack, 0 = none */
    uintptr_t unloads;    /**< mixed into sync_site_key(): changes with each unloaded module */
    uint32_t sample;      /**< one in so many uncontended acquisitions is recorded, 0 = none */
    uint32_t sched;       /**< context switches are recorded: they are read at every event */
    uint32_t counters;    /**< counters are read at waits, and at the ends of holds that are HELD_COUNTED */
    uint32_t requests;    /**< in mode all, calls that may wait for a lock are events of their own */
    uint32_t all_stacks;  /**< in mode all, every event with a caller has a stack */
    uint32_t calls;       /**< waits of calls that are not about locks are recorded */
    uint32_t limits;      /**< some wait has a threshold (UPMU_SNAPSHOT_ON) */
    uint32_t all_slow;    /**< mode all takes stacks, or has requests */
    uint32_t canceled;    /**< a thread was canceled: since then a cancellation may be pending */
    uint64_t write_every; /**< ticks between two writings of a thread's counts */
    uint64_t hz;          /**< ticks per second, roughly */
    double ns_per_tick;   /**< the same */
    uint64_t ns_factor;   /**< the same, as a fixed-point number with SYNC_NS_BITS bits after the point */
    uint64_t call_ticks;  /**< a call that takes longer may have waited */
    struct {
        uint64_t full_ps, compact_ps, stack_ps;
    } cost; /**< of an event, of a compact event, of a stack in addition; 0 until measured */
    pthread_key_t end_key;
    struct sync_thread **by_tid;
    struct sync_thread **by_number;
    struct lock_memory *lock_memory; /**< registered locks; NULL until `set_up` */
    uint32_t has_recorded;           /**< recording has begun once */
};
extern struct sync_process sync_process __attribute__((visibility("hidden")));

/** A setting, which upmu_sync_begin() may change while calls that began in an earlier recording end. */
#define sync_option(field) __atomic_load_n(&sync_process.field, __ATOMIC_RELAXED)
#define sync_option_set(field, value) __atomic_store_n(&sync_process.field, value, __ATOMIC_RELAXED)

static inline uint32_t sync_mode(void)
{
    const uint32_t *word = __atomic_load_n(&sync_gate.word, __ATOMIC_ACQUIRE);
    return LIKELY(word == NULL) ? (uint32_t)MODE_OFF : __atomic_load_n(word, __ATOMIC_RELAXED);
}

/** Whether the process is recorded, or paused, or is a forked child that may begin its own recording. */
static inline bool sync_is_recorded(void)
{
    return __atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE) != NULL ||
           __atomic_load_n(&sync_process.recording, __ATOMIC_RELAXED) != 0;
}

/** Key under which a call site is cached; after a module was unloaded no earlier entry matches. */
static inline uintptr_t sync_site_key(uintptr_t site)
{
    return site ^ __atomic_load_n(&sync_process.unloads, __ATOMIC_RELAXED);
}

/** Whether locks of the type are held by readers, too. */
static inline bool sync_type_has_readers(uint32_t type)
{
    return type == UPMU_OBJECT_RWLOCK || type == UPMU_OBJECT_QRWLOCK || type == UPMU_OBJECT_ABSL_MUTEX;
}

/** The lock of a key. A key is the lock's address; an rwlock held for reading has its address plus 1, so that readers have
 *  a count and entries among the held locks of their own. (An rwlock is never at an odd address.) */
static inline uintptr_t sync_key_object(uintptr_t key, uint32_t type)
{
    return sync_type_has_readers(type) ? key & ~(uintptr_t)1 : key;
}

static inline uint32_t sync_key_flags(uintptr_t key, uint32_t type)
{
    return sync_type_has_readers(type) && key % 2 ? UPMU_TRACE_FLAG_SHARED : 0;
}

/** Block all signals but those of truncated files, where sync_guard() would last too long: what a handler locks under that is missed.
 *  @return the mask for sync_signals_restore(). */
static inline sigset_t sync_signals_block(void)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* see trace/write/guard.h */
    sigemptyset(&before);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* cannot fail with these arguments */
    return before;
}

static inline void sync_signals_restore(const sigset_t *before)
{
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

#endif
