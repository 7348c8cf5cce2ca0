/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Reader of traces: the events of a recording in the order of time, across threads and processes.
 * Link with libupmu_analysis. The format is CTF 1.8 (docs/format.md), which babeltrace2 and Trace Compass read, too.
 *
 *     struct upmu_trace *t;
 *     const struct upmu_trace_event *e;
 *     int rc = upmu_trace_open(&t, "DIR");
 *     if (rc == 0)
 *         while ((rc = upmu_trace_next(t, &e)) > 0)
 *             if (e->kind == UPMU_TRACE_LOCK_BLOCK)
 *                 printf("%" PRIu64 " %d waits for %d\n", e->time_ns, (int)e->tid, (int)e->lock_block.holder);
 *     if (rc < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 *     upmu_trace_close(t);
 *
 * Any content of the files is safe to read: damage results in an error code. One trace may be used by one thread at a time;
 * no function here is async-signal-safe.
 */
#ifndef UPMU_TRACE_H
#define UPMU_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/api.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** An open recording. */
struct upmu_trace;

/** Kinds of events. Where a kind has fields of its own, its comment begins with the member of struct upmu_trace_event in
 *  brackets. Skip unknown kinds: later versions add some. */
enum upmu_trace_kind {
    UPMU_TRACE_REGION_BEGIN = 1, /**< region `name` begins; `values`: the thread's counters, since the thread started */
    UPMU_TRACE_REGION_END = 2,   /**< region `name` ends; `values`: likewise, subtract those of the matching begin */
    UPMU_TRACE_MARK = 3,         /**< `name`: text of upmu_mark() */
    /** [thread] Open regions of `peer`, or of all threads of the process if it is 0, end here without a REGION_END: regions are
     *  paused, or the thread ends. The region "(thread)" of a thread's life does not end. */
    UPMU_TRACE_REGIONS_DISCARDED = 4,

    /* Locks: `object` is the address, `object_type` the type: mutex, rwlock, spin lock, semaphore, a lock announced with
     * upmu_lock_announce(), or a pthread_once_t (acquired by the thread that runs the function, waited for by others).
     * UPMU_TRACE_FLAG_SHARED marks readers. */
    UPMU_TRACE_LOCK_BLOCK = 16,    /**< [lock_block] the thread starts to wait; `stack`: of the waiter */
    UPMU_TRACE_LOCK_ACQUIRED = 17, /**< the wait ends with the lock acquired; `result` */
    UPMU_TRACE_LOCK_ACQUIRE = 18,  /**< acquired without a wait (mode all; in holders and contended sampled ones) */
    UPMU_TRACE_LOCK_RELEASE = 19,  /**< [lock_release] released; in modes holders and contended only if a thread waited,
                                          with `stack`, or the acquisition is an event */
    UPMU_TRACE_LOCK_FAILED = 20,   /**< a wait, or with UPMU_TRACE_FLAG_TRIED a try, failed: `result` */
    UPMU_TRACE_LOCK_INIT = 21,     /**< initialized; `name` if it has one */
    UPMU_TRACE_LOCK_DESTROY = 22,  /**< destroyed, or with UPMU_TRACE_FLAG_FREED its memory was freed */
    UPMU_TRACE_LOCK_COUNTS = 23,   /**< [lock_counts] totals of one thread and lock so far */
    UPMU_TRACE_LOCK_NAME = 24,     /**< `name` from upmu_lock_name() */
    UPMU_TRACE_LOCK_MISUSE = 25,   /**< released by a thread that does not hold it: `result` of the call */
    UPMU_TRACE_LOCK_CONSISTENT = 26, /**< a robust mutex was made consistent after its owner died: `result` */
    /** [lock_order] `object` is acquired while other locks are held: one event for each held lock, all with one tick.
     *  Recorded once per thread and set of locks, and again after the thread creates or joins another thread or one of the
     *  locks is initialized anew. UPMU_TRACE_FLAG_TRIED, UPMU_TRACE_FLAG_TIMED: the call does not block permanently.
     *  Without held locks (`n_held` 0) and with UPMU_TRACE_FLAG_TRIED: the thread waits at the call site in `stack` after its try at
     *  `held_site` has failed; without a stack, it did not wait. */
    UPMU_TRACE_LOCK_ORDER = 27,
    /** Mode all with UPMU_SYNC_REQUESTS: the thread calls the lock function. The next acquisition or wait of the thread
     *  belongs to this call and has the same `stack`. */
    UPMU_TRACE_LOCK_REQUEST = 28,

    /* Condition variables: `object` is the variable. */
    UPMU_TRACE_COND_WAIT = 32,      /**< [cond] the thread starts to wait and releases the mutex */
    UPMU_TRACE_COND_WAKE = 33,      /**< [cond] the wait ends with the mutex acquired again: `result` */
    UPMU_TRACE_COND_SIGNAL = 34,    /**< one waiter is woken */
    UPMU_TRACE_COND_BROADCAST = 35, /**< all waiters are woken */

    /* Semaphores: a wait is LOCK_BLOCK ... LOCK_ACQUIRED of type semaphore. */
    UPMU_TRACE_SEM_POST = 40,   /**< posted */
    UPMU_TRACE_SEM_OPEN = 41,   /**< named semaphore `name` opened; opened again, it is the same object */
    UPMU_TRACE_SEM_CLOSE = 42,  /**< closed: `result` */
    UPMU_TRACE_SEM_UNLINK = 43, /**< `name` unlinked: `result`; `object` is 0 */
    UPMU_TRACE_SEM_VALUE = 44,  /**< [sem_value] mode all: the program read the value */

    /* Threads: `object` is the pthread_t. */
    UPMU_TRACE_THREAD_CREATE = 48, /**< [thread] in the creator: `result`; `peer` is unknown */
    UPMU_TRACE_THREAD_START = 49,  /**< [thread] first event of a thread; `peer`: its creator, `site`: its function,
                                        as upmu_overview_symbol_at() takes it */
    UPMU_TRACE_THREAD_EXIT = 50,   /**< [thread_exit] last event of a thread */
    UPMU_TRACE_THREAD_JOIN = 51,   /**< [thread] the thread starts to wait for the end of `peer` */
    UPMU_TRACE_THREAD_JOINED = 52, /**< [thread] the wait ends: `result` */
    UPMU_TRACE_THREAD_NAME = 53,   /**< [thread] `peer`, or the thread itself if 0, is named `name` */
    UPMU_TRACE_THREAD_DETACH = 54, /**< [thread] `peer` is detached: `result` */
    UPMU_TRACE_THREAD_CANCEL = 55, /**< [thread] cancellation of `peer` is requested: `result` */

    /* Barriers: `object` is the barrier. The thread that arrives last does not wait. */
    UPMU_TRACE_BARRIER_ARRIVE = 56, /**< the thread starts to wait for the others */
    UPMU_TRACE_BARRIER_LEAVE =
        57, /**< the wait ends: `result` 0, or PTHREAD_BARRIER_SERIAL_THREAD (-1) in one thread */

    /* Futexes that the program uses itself, through libc's syscall(): `object` is the address of the futex. */
    UPMU_TRACE_FUTEX_WAIT = 58,  /**< [futex_wait] the thread calls the kernel to wait */
    UPMU_TRACE_FUTEX_WOKEN = 59, /**< [futex_woken] the call returns: `result` 0 or an errno value; EAGAIN: no wait */
    UPMU_TRACE_FUTEX_WAKE = 60,  /**< [futex_wake] waiters are woken, or moved to another futex */
    UPMU_TRACE_FUTEX_ALSO = 61,  /**< `object` is the next futex of the preceding FUTEX_WAIT on several */

    /* Scheduling of the thread (UPMU_SCHED), as reported by the kernel. Its state is unknown before SCHED_BEGIN, after the
     * last of these events, and between the events before and after a SCHED_LOST. */
    UPMU_TRACE_SCHED_BEGIN = 64, /**< [sched] reports start here; the thread runs */
    UPMU_TRACE_SCHED_OUT = 65, /**< [sched] switched out: preempted with UPMU_TRACE_FLAG_PREEMPTED, otherwise blocked */
    UPMU_TRACE_SCHED_IN = 66,  /**< [sched] switched in */
    UPMU_TRACE_SCHED_LOST = 67, /**< [sched_count] at least so many SCHED_OUT and SCHED_IN are missing here */
    UPMU_TRACE_SCHED_SEEN = 68, /**< [sched_count] reports are complete up to here: SCHED_OUT and SCHED_IN so far, lost
                                      ones included */

    /* From the kernel's tracepoints, which need root: */
    UPMU_TRACE_SCHED_WAKE = 69,        /**< [sched_wake] the thread wakes another one, which is runnable from here on */
    UPMU_TRACE_KERNEL_LOCK_BLOCK = 70, /**< [kernel_lock] the thread starts to wait for the kernel lock at `object` */
    UPMU_TRACE_KERNEL_LOCK_DONE = 71,  /**< the wait ends: `result` 0, or a negative errno value if it failed */

    /** `values`: the thread's counters at the next event of the same thread, tick and `object` (UPMU_SYNC_COUNTERS). The
     *  differences are the counts of a wait, or of the time a lock is held. */
    UPMU_TRACE_COUNTERS = 72,

    /* Waits in calls that are not about locks: both events are written when the call returns. `object` is the same for all waits
     * of one kind for one descriptor. */
    UPMU_TRACE_CALL_BLOCK = 74,  /**< [call] the thread starts to wait */
    UPMU_TRACE_CALL_RETURN = 75, /**< [call] the wait ends: `result` 0 or an errno value */

    /* MPI (libupmu_mpi): calls of one rank. `object` is not used. */
    UPMU_TRACE_MPI_ENTER = 80,   /**< [mpi] the thread calls MPI; `stack`, `site`: where from */
    UPMU_TRACE_MPI_LEAVE = 81,   /**< [mpi] the call returns: `result` is MPI's error code, 0 = success */
    UPMU_TRACE_MPI_REQUEST = 82, /**< [mpi] the call that returns at this tick completed `request`, which `call` made */
    UPMU_TRACE_MPI_POLL = 83,    /**< [mpi_poll] calls that found nothing complete, as one event */
    UPMU_TRACE_MPI_COMM = 84,    /**< [mpi_comm] a communicator of this rank, before its first use */
    UPMU_TRACE_MPI_ENV =
        85, /**< [mpi_env] this process is a rank; `name`: the MPI library, or why calls are not recorded */
    UPMU_TRACE_MPI_START =
        87, /**< [mpi] the call that begins at this tick starts the persistent `request`, which `call` made */
    UPMU_TRACE_MPI_COUNT =
        86, /**< [mpi_count] calls of one function that are counted only, at the end of the process */

    /** [sample] a timer of the thread's CPU time has expired: the thread executes `site`, called from `stack`. Without `site`:
     *  the thread begins or ends. */
    UPMU_TRACE_SAMPLE = 90,
    /* OpenMP (libupmu_omp). */
    UPMU_TRACE_OMP = 91, /**< [omp] what a thread does: `omp.event` */
    UPMU_TRACE_OMP_PARALLEL =
        92, /**< [omp_parallel] the thread begins a parallel region; `site`: of the construct, or its function plus 1 */
    UPMU_TRACE_OMP_ENV = 93, /**< [omp_env] before the first region of the process; `name`: the runtime library */
    /* Sampled allocations (libupmu_heap). */
    UPMU_TRACE_HEAP_ALLOC = 94, /**< [heap] the block at `object` was allocated at `site`, called from `stack` */
    UPMU_TRACE_HEAP_FREE = 95,  /**< [heap] a block whose allocation is an event was freed at `site` */

    /** [futex_counts] Calls of the thread to wait for a futex so far (UPMU_SCHED; needs root). */
    UPMU_TRACE_FUTEX_COUNTS = 73,
};

/** Type of `object`. */
enum upmu_object_type {
    UPMU_OBJECT_NONE = 0,        /**< no object */
    UPMU_OBJECT_MUTEX = 1,       /**< pthread_mutex_t, mtx_t */
    UPMU_OBJECT_COND = 2,        /**< pthread_cond_t, cnd_t */
    UPMU_OBJECT_SEM = 3,         /**< sem_t */
    UPMU_OBJECT_CUSTOM = 4,      /**< a lock announced with upmu_lock_announce() */
    UPMU_OBJECT_THREAD = 5,      /**< pthread_t */
    UPMU_OBJECT_RWLOCK = 6,      /**< pthread_rwlock_t */
    UPMU_OBJECT_SPIN = 7,        /**< pthread_spinlock_t */
    UPMU_OBJECT_BARRIER = 8,     /**< pthread_barrier_t */
    UPMU_OBJECT_ONCE = 9,        /**< pthread_once_t, once_flag */
    UPMU_OBJECT_FUTEX = 10,      /**< a futex that the program uses itself */
    UPMU_OBJECT_CALL = 11,       /**< what calls of one kind (enum upmu_call) for one descriptor wait for */
    UPMU_OBJECT_QMUTEX = 12,     /**< Qt's QMutex, QBasicMutex, QRecursiveMutex */
    UPMU_OBJECT_QRWLOCK = 13,    /**< Qt's QReadWriteLock */
    UPMU_OBJECT_ABSL_MUTEX = 14, /**< Abseil's absl::Mutex, which has readers, too */
};

/** Kinds of calls in which a thread waits for something else than a lock. */
enum upmu_call {
    UPMU_CALL_SLEEP = 1,  /**< sleep(), nanosleep(), ...: for a time */
    UPMU_CALL_POLL = 2,   /**< poll(), select(), epoll_wait(), ...: for one of several descriptors, or a time */
    UPMU_CALL_SIGNAL = 3, /**< sigwait(), sigsuspend(), pause(), ... */
    UPMU_CALL_READ = 4,   /**< read(), recv(), accept(), ... */
    UPMU_CALL_WRITE = 5,  /**< write(), send(), connect(), ... */
    UPMU_CALL_CHILD = 6,  /**< waitpid(), waitid(), ... */
};

/** Types of descriptors. */
enum upmu_descriptor {
    UPMU_DESCRIPTOR_UNKNOWN = 0, /**< there is no descriptor, or it was not determined */
    UPMU_DESCRIPTOR_FILE = 1,    /**< a file, directory or block device */
    UPMU_DESCRIPTOR_PIPE = 2,    /**< a pipe or FIFO */
    UPMU_DESCRIPTOR_SOCKET = 3,  /**< a socket */
    UPMU_DESCRIPTOR_DEVICE = 4,  /**< a character device, for instance a terminal */
    UPMU_DESCRIPTOR_EPOLL = 5,   /**< epoll_create() */
    UPMU_DESCRIPTOR_EVENT = 6,   /**< eventfd() */
    UPMU_DESCRIPTOR_TIMER = 7,   /**< timerfd_create() */
    UPMU_DESCRIPTOR_SIGNAL = 8,  /**< signalfd() */
    UPMU_DESCRIPTOR_OTHER = 9,   /**< none of these */
};

/** Types of kernel locks. */
enum upmu_kernel_lock {
    UPMU_KERNEL_LOCK_SPIN = 1,    /**< spin lock: waiters do not sleep */
    UPMU_KERNEL_LOCK_READ = 2,    /**< read side of a reader-writer lock */
    UPMU_KERNEL_LOCK_WRITE = 4,   /**< write side of a reader-writer lock */
    UPMU_KERNEL_LOCK_RT = 8,      /**< real-time mutex */
    UPMU_KERNEL_LOCK_PERCPU = 16, /**< per-CPU reader-writer semaphore */
    UPMU_KERNEL_LOCK_MUTEX = 32,  /**< mutex */
};

/** Bits of `flags` of an event. */
enum upmu_trace_flag {
    UPMU_TRACE_FLAG_SHARED = 1,        /**< by a reader; of LOCK_COUNTS: acquisitions as a reader only */
    UPMU_TRACE_FLAG_HOLDER_SHARED = 2, /**< the holder (LOCK_BLOCK) or `held` (LOCK_ORDER) is a reader */
    UPMU_TRACE_FLAG_TIMED = 4,         /**< the wait has a time limit */
    UPMU_TRACE_FLAG_TRIED = 8,         /**< the call never waits */
    UPMU_TRACE_FLAG_SAMPLED = 16,      /**< one in N uncontended acquisitions; its LOCK_RELEASE has the flag, too */
    /* LOCK_INIT, LOCK_BLOCK: attributes of the mutex, semaphore, rwlock or barrier, as far as known. */
    UPMU_TRACE_FLAG_RECURSIVE = 32,       /**< recursive mutex */
    UPMU_TRACE_FLAG_ERRORCHECK = 64,      /**< error-checking mutex */
    UPMU_TRACE_FLAG_ROBUST = 128,         /**< robust mutex */
    UPMU_TRACE_FLAG_PI = 256,             /**< priority inheritance */
    UPMU_TRACE_FLAG_PSHARED = 512,        /**< shared between processes; of a robust mutex in LOCK_INIT only */
    UPMU_TRACE_FLAG_FINAL = 1024,         /**< LOCK_DESTROY: the LOCK_COUNTS of all threads precede it; THREAD_EXIT:
                                           `switches` is known */
    UPMU_TRACE_FLAG_PREEMPTED = 2048,     /**< SCHED_OUT: the thread is runnable, another one runs in its place */
    UPMU_TRACE_FLAG_FREED = 4096,         /**< LOCK_DESTROY: the lock's memory was freed without a call to destroy it */
    UPMU_TRACE_FLAG_WRITERS_FIRST = 8192, /**< LOCK_ORDER: an rwlock whose waiting writers keep readers out */
    /** From before the recording, or before it was continued. LOCK_RELEASE, SEM_POST, and COND_WAIT with `held_since` (of its
     *  mutex): what is released was acquired then; `held_since` is the start of the recording. LOCK_BLOCK, COND_WAIT without
     *  `held_since`, THREAD_JOIN, BARRIER_ARRIVE, CALL_BLOCK: the wait began then. */
    UPMU_TRACE_FLAG_BEFORE = 16384,
};

/* Fields of single kinds. Addresses and ids are as in struct upmu_trace_event; 0 means unknown unless stated otherwise. */

/** The holder of the lock at the start of a wait. */
struct upmu_trace_lock_block {
    uint64_t holder_site;  /**< call site of its acquisition */
    uint64_t holder_since; /**< time_ns of its acquisition; 0: unknown, before this event */
    pid_t holder;          /**< kernel thread id */
    uint32_t
        holder_stack; /**< call stack of its acquisition, for upmu_trace_stack_find(); 0: unknown, or only `holder_site` */
};

/** The hold that a release ends. In mode all, both are 0: the acquisition is an event. */
struct upmu_trace_lock_release {
    uint64_t held_site;  /**< call site of the acquisition */
    uint64_t held_since; /**< time_ns of the acquisition */
};

/** One of the locks held during an acquisition. */
struct upmu_trace_lock_order {
    uint64_t held;      /**< address of the held lock */
    uint64_t held_site; /**< call site of its acquisition */
    /** Locks held, each in a LOCK_ORDER event of this tick. 0: no order. Without UPMU_TRACE_FLAG_TRIED the semaphore `object` is also posted by threads that
     *  do not hold it: it is not a lock, and preceding LOCK_ORDER events about it are void. */
    uint32_t n_held;
    uint32_t
        permits; /**< permits of the semaphore `held`, at most 65535, of which the thread holds one; 0: no semaphore */
    uint32_t held_stack; /**< call stack of the acquisition of `held`; 0: unknown, or only `held_site` */
};

/** Acquisitions of a lock by one thread, from the start of recording or the lock's initialization. */
struct upmu_trace_lock_counts {
    uint64_t acquisitions; /**< acquisitions */
    uint64_t contended;    /**< acquisitions that waited */
    pid_t thread;          /**< kernel id of the thread; may differ from `tid`, which wrote the event */
};

/** The mutex of a condition variable's wait. */
struct upmu_trace_cond {
    uint64_t mutex;      /**< its address */
    uint64_t held_site;  /**< COND_WAIT: call site of its acquisition */
    uint64_t held_since; /**< COND_WAIT: time_ns of its acquisition */
};

/** The value of a semaphore. */
struct upmu_trace_sem_value {
    uint64_t value; /**< as returned by sem_getvalue() */
};

/** The other thread of an event about two. */
struct upmu_trace_thread {
    pid_t peer; /**< kernel thread id */
};

/** A thread's totals at its end. */
struct upmu_trace_thread_exit {
    uint64_t switches; /**< context switches; valid with UPMU_TRACE_FLAG_FINAL */
    uint64_t cpu_ns;   /**< CPU time, 0 if unknown; nanoseconds */
    uint64_t
        ready_ns; /**< time in which it was ready to run and had no CPU, 0 if unknown: only of threads that were preempted */
    uint32_t cpus; /**< CPUs that it, and such threads that ended before, could use; 0 if unknown: likewise */
};

/** A wait for one or several futexes. */
struct upmu_trace_futex_wait {
    uint64_t n_futexes; /**< how many: `object` is the first, FUTEX_ALSO events follow for the others */
};

/** The end of a wait for one or several futexes. */
struct upmu_trace_futex_woken {
    uint64_t index; /**< of the futex that was woken, in the order of FUTEX_WAIT, FUTEX_ALSO, ...; 0: the first */
};

/** Wake-up of futex waiters. */
struct upmu_trace_futex_wake {
    uint64_t moved_to; /**< address of the futex that waiters were moved to; 0: none were */
    uint64_t n_woken;  /**< waiters woken or moved */
};

/** A wait in a call that is not about a lock. */
struct upmu_trace_call {
    uint32_t call;            /**< enum upmu_call */
    int32_t descriptor;       /**< -1: none, or several */
    uint32_t descriptor_type; /**< enum upmu_descriptor */
    pid_t
        waker; /**< CALL_RETURN: thread of the process that wrote to the pipe or event, or sent the signal; 0: unknown */
};

/** Special values of `peer` and `tag`. */
enum upmu_mpi_special {
    UPMU_MPI_ANY = -1,       /**< MPI_ANY_SOURCE, MPI_ANY_TAG */
    UPMU_MPI_PROC_NULL = -2, /**< MPI_PROC_NULL: the call does nothing */
    UPMU_MPI_NONE = -3,      /**< the call has none */
    UPMU_MPI_UNKNOWN = -4,   /**< not determined */
};

/** An MPI call, or a request that is complete. */
struct upmu_trace_mpi {
    uint64_t comm; /**< communicator: the same number in all its ranks; 1: MPI_COMM_WORLD, 0: none, or not followed */
    uint64_t
        bytes; /**< MPI_LEAVE, MPI_REQUEST: of the message; of a collective, what this rank contributes, or receives if
                            that is nothing; UPMU_NO_VALUE: unknown, or there is none */
    /** Number of the request, unique in the process; of several the lowest; 0: none, or not followed. MPI_LEAVE of MPI_Mprobe() and
     *  MPI_Improbe(): number of the message. */
    uint64_t request;
    /** MPI_ENTER of a collective call, or one that makes a communicator: its number among those on `comm`, from 1 on. Of a call that
     *  waits for several requests, and of MPI_Sendrecv(), docs/format.md has what it is. Of MPI_Mrecv() and MPI_Imrecv(), the number of
     *  the message. Else 0. */
    uint64_t sequence;
    uint32_t call; /**< for upmu_trace_mpi_call_name() */
    int32_t peer;  /**< destination, source or root as a rank of `comm`; or enum upmu_mpi_special */
    int32_t tag;   /**< or enum upmu_mpi_special */
};

/** Calls in a row that found nothing complete. */
struct upmu_trace_mpi_poll {
    uint64_t calls;   /**< how many, up to this event */
    uint64_t since;   /**< time_ns of the first one's begin */
    uint64_t busy_ns; /**< time within these calls, nanoseconds */
    uint32_t call;    /**< for upmu_trace_mpi_call_name(), of the first one */
};

/** A communicator. */
struct upmu_trace_mpi_comm {
    uint64_t comm;   /**< as in struct upmu_trace_mpi */
    uint64_t parent; /**< the one it was made from; 0: none */
    int32_t rank;    /**< of this process in it */
    int32_t size;    /**< number of its ranks */
};

/** A process as a rank of a job. */
struct upmu_trace_mpi_env {
    uint64_t job;         /**< hash of the launcher's name of the job; 0: unknown */
    int32_t rank;         /**< in MPI_COMM_WORLD; before MPI_Init() by the launcher's environment; -1: unknown */
    int32_t size;         /**< of MPI_COMM_WORLD; -1: unknown */
    int32_t thread_level; /**< 0 MPI_THREAD_SINGLE to 3 MPI_THREAD_MULTIPLE; -1: unknown */
    int32_t wrapped;      /**< 1: calls are recorded; 0: not, or not yet */
};

/** Calls of one function. */
struct upmu_trace_mpi_count {
    uint64_t calls; /**< of all threads of the process */
    uint32_t call;  /**< for upmu_trace_mpi_call_name() */
};

/** A sample of a thread's CPU time. */
struct upmu_trace_sample {
    /** CPU time since the sample before: the timer's period, and more if expirations were missed; nanoseconds. */
    uint64_t cpu_ns;
    /** CPU time of the thread so far, nanoseconds. */
    uint64_t total_ns;
    /** Period of the timer, nanoseconds; 0: the thread has none, because it blocks the timer's signal. */
    uint64_t period_ns;
};

/** What happens in an event of OpenMP. Waits and tasks are nested: an end is that of the last begin. */
enum upmu_omp_event {
    UPMU_OMP_PARALLEL_END = 1, /**< the thread that began region `value` continues after it */
    UPMU_OMP_MEMBER = 2,       /**< the thread begins its part of region `value`, as thread `number` of the team */
    UPMU_OMP_MEMBER_END = 3,   /**< its part is done; of a pool thread, often later than the region's end; the thread
                                  that began the region may have none: the region's end is that of its part */
    UPMU_OMP_WAIT = 4,         /**< it begins to wait at `construct`; `value`: call site */
    UPMU_OMP_WAITED = 5,       /**< the wait ends; `value`: address of the lock, 0: of none */
    UPMU_OMP_RELEASE = 6,      /**< the lock at `value` is released, or the `construct` left that it guards */
    UPMU_OMP_TASK = 7,         /**< the thread begins to run an explicit task; `value`: site that created it */
    UPMU_OMP_TASK_END = 8,     /**< and continues what it did before */
    UPMU_OMP_TASK_CREATE = 9,  /**< an explicit task is created; `value`: call site */
    UPMU_OMP_ENTER = 10,       /**< the thread begins its part of a work-sharing `construct`; `value`: call site */
    UPMU_OMP_LEAVE = 11,       /**< and ends it */
};

/** Constructs of OpenMP. */
enum upmu_omp_construct {
    UPMU_OMP_NONE = 0,             /**< none */
    UPMU_OMP_BARRIER_IMPLICIT = 1, /**< at the end of a loop, of sections, of single, of a region */
    UPMU_OMP_BARRIER_EXPLICIT = 2, /**< "barrier" */
    UPMU_OMP_BARRIER = 3,          /**< one of these two: libgomp has one function for both */
    UPMU_OMP_TASKWAIT = 4,         /**< "taskwait" */
    UPMU_OMP_TASKGROUP = 5,        /**< end of "taskgroup" */
    UPMU_OMP_CRITICAL = 6,         /**< "critical" */
    UPMU_OMP_LOCK = 7,             /**< omp_set_lock() */
    UPMU_OMP_NEST_LOCK = 8,        /**< omp_set_nest_lock() */
    UPMU_OMP_ORDERED = 9,          /**< "ordered" */
    UPMU_OMP_ATOMIC = 10,          /**< "atomic" that the processor cannot do: a lock of the runtime */
    UPMU_OMP_REDUCTION = 11,       /**< "reduction", where the runtime does it */
    UPMU_OMP_COPYPRIVATE = 12,     /**< "copyprivate": for the thread that has the value */
    UPMU_OMP_LOOP = 16,            /**< "for", "do", "distribute" */
    UPMU_OMP_SECTIONS = 17,        /**< "sections" */
    UPMU_OMP_SINGLE = 18,          /**< "single", of the thread that runs it */
    UPMU_OMP_TASKLOOP = 19,        /**< "taskloop" */
    UPMU_OMP_OTHER = 20,           /**< "workshare", "scope" */
    UPMU_OMP_EXPLICIT_TASK = 21,   /**< not in events: "task", by the site that creates it */
    UPMU_OMP_START = 32,           /**< not in events: a region was begun, the thread not yet in it */
    UPMU_OMP_JOIN = 33,            /**< not in events: the barrier at the end of a region */
};

/** What a thread does. */
struct upmu_trace_omp {
    uint64_t value;     /**< see enum upmu_omp_event */
    uint32_t event;     /**< enum upmu_omp_event */
    uint32_t construct; /**< enum upmu_omp_construct */
    uint32_t number;    /**< MEMBER: thread number, 65535: that or more */
};

/** A parallel region. */
struct upmu_trace_omp_parallel {
    uint64_t region; /**< its number, unique in the process */
    uint32_t
        threads; /**< that were asked for; 0: not stated; 1: the thread begins its part at once, without an event */
};

/** How OpenMP is recorded. */
struct upmu_trace_omp_env {
    uint32_t method; /**< 1: OMPT of LLVM's runtime; 2: wrappers of libgomp's functions */
};

/** A sampled block of the heap. */
struct upmu_trace_heap {
    uint64_t bytes;  /**< asked for */
    uint64_t weight; /**< bytes allocated that it represents */
    uint64_t period; /**< mean number of bytes allocated between two samples */
};

/** The CPU of a switch. */
struct upmu_trace_sched {
    uint32_t cpu; /**< its number */
};

/** A number of switches. */
struct upmu_trace_sched_count {
    uint64_t switches; /**< SCHED_OUT and SCHED_IN together */
};

/** The thread that is woken. */
struct upmu_trace_sched_wake {
    pid_t woken; /**< kernel thread id */
};

/** The type of a kernel lock. */
struct upmu_trace_kernel_lock {
    uint32_t kinds; /**< bits of enum upmu_kernel_lock */
};

/** System calls of one thread to wait for a futex. */
struct upmu_trace_futex_counts {
    uint64_t waits;    /**< calls so far */
    uint64_t recorded; /**< calls within recorded waits; the others are of untraced locks, or made while recording was
                            paused or in mode counts */
};

/**
 * One event. The fields outside the union have one meaning for all kinds, and are 0, NULL or "" in kinds without them. Each
 * member of the union is valid in the kinds that name it in enum upmu_trace_kind; its bytes are 0 in all others.
 */
struct upmu_trace_event {
    size_t size;         /**< filled by the library: sizeof(struct upmu_trace_event) of its version */
    uint64_t time_ns;    /**< nanoseconds since 1970-01-01 00:00 UTC */
    uint64_t tick;       /**< the same time on the recorder's clock */
    int32_t kind;        /**< enum upmu_trace_kind */
    uint32_t process;    /**< index for upmu_trace_process_at() */
    pid_t pid;           /**< process id */
    pid_t tid;           /**< kernel id of the thread that recorded the event */
    const char *name;    /**< region name or other text, never NULL */
    uint64_t object;     /**< address of the lock, variable, semaphore or futex, or pthread_t */
    int32_t object_type; /**< enum upmu_object_type */
    int32_t result;      /**< return value of the call: an errno value of the recorded machine, 0 = success */
    uint64_t site;       /**< call site, 0 = unknown */
    uint32_t stack;      /**< id for upmu_trace_stack_find(), 0 = none */
    uint32_t flags;      /**< enum upmu_trace_flag */
    size_t n_values;     /**< number of counters, in the order of upmu_trace_counter_name() */
    const struct upmu_value *values; /**< their values */
    union {
        struct upmu_trace_lock_block lock_block;     /**< LOCK_BLOCK */
        struct upmu_trace_lock_release lock_release; /**< LOCK_RELEASE */
        struct upmu_trace_lock_order lock_order;     /**< LOCK_ORDER */
        struct upmu_trace_lock_counts lock_counts;   /**< LOCK_COUNTS */
        struct upmu_trace_cond cond;                 /**< COND_WAIT, COND_WAKE */
        struct upmu_trace_sem_value sem_value;       /**< SEM_VALUE */
        struct upmu_trace_thread thread;             /**< THREAD_*, but THREAD_EXIT */
        struct upmu_trace_thread_exit thread_exit;   /**< THREAD_EXIT */
        struct upmu_trace_futex_wait futex_wait;     /**< FUTEX_WAIT */
        struct upmu_trace_futex_woken futex_woken;   /**< FUTEX_WOKEN */
        struct upmu_trace_futex_wake futex_wake;     /**< FUTEX_WAKE */
        struct upmu_trace_sched sched;               /**< SCHED_BEGIN, SCHED_OUT, SCHED_IN */
        struct upmu_trace_sched_count sched_count;   /**< SCHED_LOST, SCHED_SEEN */
        struct upmu_trace_sched_wake sched_wake;     /**< SCHED_WAKE */
        struct upmu_trace_kernel_lock kernel_lock;   /**< KERNEL_LOCK_BLOCK */
        struct upmu_trace_futex_counts futex_counts; /**< FUTEX_COUNTS */
        struct upmu_trace_call call;                 /**< CALL_BLOCK, CALL_RETURN */
        struct upmu_trace_mpi mpi;                   /**< MPI_ENTER, MPI_LEAVE, MPI_REQUEST, MPI_START */
        struct upmu_trace_mpi_poll mpi_poll;         /**< MPI_POLL */
        struct upmu_trace_mpi_comm mpi_comm;         /**< MPI_COMM */
        struct upmu_trace_mpi_env mpi_env;           /**< MPI_ENV */
        struct upmu_trace_mpi_count mpi_count;       /**< MPI_COUNT */
        struct upmu_trace_sample sample;             /**< SAMPLE */
        struct upmu_trace_omp omp;                   /**< OMP */
        struct upmu_trace_omp_parallel omp_parallel; /**< OMP_PARALLEL */
        struct upmu_trace_omp_env omp_env;           /**< OMP_ENV */
        struct upmu_trace_heap heap;                 /**< HEAP_ALLOC, HEAP_FREE */
        uint64_t reserved[8];                        /**< for fields of later kinds */
    };
};
#define UPMU_TRACE_EVENT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_trace_event, 160)

/** A process of the recording. Strings are valid until the trace is closed. */
struct upmu_trace_process {
    size_t size;          /**< in: sizeof(struct upmu_trace_process); out: bytes filled */
    pid_t pid;            /**< process id */
    const char *host;     /**< host name */
    const char *command;  /**< command line, arguments separated by blanks */
    const char *kernel;   /**< release of the kernel */
    uint64_t start_ns;    /**< start of recording, nanoseconds since 1970 */
    uint64_t clock_hz;    /**< frequency of the recorder's clock, Hz */
    uint32_t n_counters;  /**< number of counters, see upmu_trace_counter_name() */
    uint32_t complete;    /**< 1: recording was closed; 0: the process was killed, still runs, or see `execed` */
    uint64_t events;      /**< records committed to the streams of the process, stacks and modules included */
    uint64_t lost;        /**< events dropped, see `lost_note` */
    uint64_t overwritten; /**< events overwritten in rings (UPMU_TRACE_POLICY) */
    /** Largest measured deviation of the clock from CLOCK_MONOTONIC_RAW, uncertainty included, nanoseconds; UPMU_NO_VALUE: not
     *  measured. */
    uint64_t clock_error_ns;
    /* Measured at the start of lock tracing, picoseconds; 0: not recorded. Valid after the end of the trace was read. */
    uint64_t event_cost_ps;   /**< recording of an event about a lock or thread */
    uint64_t compact_cost_ps; /**< recording of an uncontended acquisition or release */
    uint64_t stack_cost_ps;   /**< recording of a call stack, in addition; 0 also if stacks are off */
    const char *sched_note;   /**< which parts of UPMU_SCHED and UPMU_KERNEL_LOCKS were not recorded, and why; or "" */
    /** Recording ended before the process. 1: at the size limit (UPMU_TRACE_POLICY=stop:SIZE); 2: because the program restricted its
     *  system calls (seccomp) or time stamps (PR_SET_TSC) so that recording would have ended it. */
    uint32_t stopped;
    /** Why threads without UPMU_TRACE_FUTEX_COUNTS have none although UPMU_SCHED is set; or "". */
    const char *futex_note;
    uint32_t execed; /**< 1: not complete, the process executed another program, which is a process of its own here */
    const char *lost_note; /**< causes of dropped events with their numbers; "" if none, or no cause is recorded */
    const char *snapshot;  /**< of a snapshot (upmu/snapshot.h): why it was taken; "": this is no snapshot */
    /** Of `lost`, those that may be of any kind: the others are of locks in signal handlers, counts, stacks, names, and the kernel. */
    uint64_t lost_any;
    /** Private memory of the recorder at the end of recording, bytes, without the pages of its files; 0: not known, as for a process
     *  that was killed or still runs. */
    uint64_t memory_bytes;
    /** Threads that it was for: the largest number that were recorded at a time; 0: not known, or locks were not recorded. */
    uint32_t memory_threads;
    /** Forked children that are not recorded: they run under a filter of system calls (seccomp) that was installed since recording
     *  began, or /proc does not show whether they do. Only those that used what is recorded are counted. */
    uint32_t children_filtered;
    uint32_t children_failed; /**< forked children that are not recorded, since they could not make their files */
    uint32_t pauses;          /**< stretches in which locks and threads were not recorded, see upmu_trace_pause_at() */
    /** At least so many forked children are not recorded, since they made no call that begins it, or executed a program that cannot be
     *  recorded; 0 as well if that is not known. */
    uint32_t children_unrecorded;
    uint64_t
        paused_more_ns; /**< total of the stretches beyond the first 128, which upmu_trace_pause_at() does not have */
};
#define UPMU_TRACE_PROCESS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_trace_process, 152)

/**
 * Open a recording, or the directory of one process in it. Files are not changed. A last packet that a killed process left
 * unfinished is skipped. Processes that cannot be opened are left out: after the last event upmu_trace_next() returns
 * UPMU_E_FORMAT once for each, with its message.
 * @param trace out: to be closed with upmu_trace_close(); NULL on failure
 * @param dir   path of the directory
 * @return 0; UPMU_E_IO (no such directory, or unreadable), UPMU_E_FORMAT (not a libupmu trace, or damaged beyond reading; the
 *         message has file and offset), UPMU_E_VERSION (another major version of the format), UPMU_E_NOMEM, UPMU_E_INVAL
 *         (NULL).
 */
UPMU_API UPMU_CHECKED int upmu_trace_open(struct upmu_trace **trace, const char *dir);

/** Filter of upmu_trace_filter(). An event is read if it matches every field; all zero but `size`: all events. */
struct upmu_trace_filter_opts {
    size_t size;      /**< sizeof(struct upmu_trace_filter_opts) */
    const int *kinds; /**< kinds to read (enum upmu_trace_kind); NULL: all */
    size_t n_kinds;   /**< number of `kinds` */
    uint64_t from_ns; /**< events at or after this time, nanoseconds since 1970 */
    uint64_t to_ns;   /**< events at or before this time; 0: no limit */
    pid_t pid;        /**< events of this process; 0: all */
    pid_t tid;        /**< events of the thread with this kernel id; 0: all */
};
#define UPMU_TRACE_FILTER_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_trace_filter_opts, 48)

/**
 * Limit the events of later calls of upmu_trace_next() and upmu_trace_read(); may be called at any time, and replaces the filter
 * before. Events that do not match are skipped without being copied.
 * @param opts NULL: all events; not used after the call
 * @return 0; UPMU_E_INVAL (NULL, `opts`, a kind below 0 or above 1023).
 */
UPMU_API UPMU_CHECKED int upmu_trace_filter(struct upmu_trace *trace, const struct upmu_trace_filter_opts *opts);

/**
 * Read the next event in the order of time; events of equal time are in the order of process, then stream.
 * @param event out: the event, or NULL. The struct, its name and its values are valid until the next call of
 *        upmu_trace_next(), upmu_trace_read(), upmu_trace_update() or upmu_trace_close() on the trace
 * @return 1: an event; 0: the end; UPMU_E_FORMAT: a stream is damaged, and its remaining events are skipped, later calls return
 *         those of other streams; UPMU_E_IO, UPMU_E_NOMEM; UPMU_E_INVAL (an argument is NULL).
 */
UPMU_API UPMU_CHECKED int upmu_trace_next(struct upmu_trace *trace, const struct upmu_trace_event **event);

/**
 * Read up to `n` events at once, in the order of upmu_trace_next(). Calls of both may be mixed.
 * @param events out: array of `n` pointers, of which the first ones are set. All events of a call, with their names and
 *        values, are valid until the next call of upmu_trace_next(), upmu_trace_read(), upmu_trace_update() or
 *        upmu_trace_close() on the trace
 * @return the number of events, which may be less than `n` before the end, too; 0: the end; the errors of upmu_trace_next(),
 *         of which one after the first event of a call is returned by the next call; UPMU_E_INVAL (an argument is NULL, `n`
 *         is 0).
 */
UPMU_API UPMU_CHECKED int upmu_trace_read(struct upmu_trace *trace, const struct upmu_trace_event **events, size_t n);

/**
 * Continue with a recording that is still being written, after upmu_trace_next() or upmu_trace_read() returned 0: the next
 * calls return the events recorded since, of new threads and processes, too. These are in the order of time among themselves;
 * some may be earlier than the last events before.
 * @return 0; UPMU_E_STATE (the end was not reached), UPMU_E_IO, UPMU_E_FORMAT, UPMU_E_NOMEM, UPMU_E_INVAL (NULL).
 */
UPMU_API UPMU_CHECKED int upmu_trace_update(struct upmu_trace *trace);

/** Number of ring packets that were overwritten between two packets that were read, since the trace was opened. Their events
 *  are missing. 0 if `trace` is NULL. */
UPMU_API uint64_t upmu_trace_missed_packets(const struct upmu_trace *trace);

/** Start of the recording, nanoseconds since 1970: that of its first process, the zero of all times that count from the start of the
 *  recording. 0: rings of all processes overwrote events, so that the first event is the zero; or `trace` is NULL. No later than the
 *  first event, except for what the kernel recorded before: then that is the zero. */
UPMU_API uint64_t upmu_trace_begin_ns(const struct upmu_trace *trace);

/** The event time of process `index` at a time of CLOCK_MONOTONIC_RAW of its host, which differs by a constant; 0: no such process. */
UPMU_API uint64_t upmu_trace_time_of_raw(const struct upmu_trace *trace, size_t index, uint64_t raw_ns);

/**
 * The current time on the clock of a process's events. Valid on the recording machine until it is rebooted.
 * @param index   process, as for upmu_trace_process_at()
 * @param time_ns out: nanoseconds since 1970
 * @return 0; UPMU_E_END (no such process); UPMU_E_INVAL (NULL).
 */
UPMU_API UPMU_CHECKED int upmu_trace_now(const struct upmu_trace *trace, size_t index, uint64_t *time_ns);

/** Name of a kind of events, as printed by `upmu dump`: "lock-block", "begin", ...; "?" for unknown kinds. */
UPMU_API const char *upmu_trace_kind_name(int kind);
/** Name of an enum upmu_object_type: "none", "mutex", "cond", "lock" for a custom one, ...; "?" for
 *  unknown types. */
UPMU_API const char *upmu_object_type_name(int type);

/** Name of an MPI call, "MPI_Send"; "?" for unknown ones. */
UPMU_API const char *upmu_trace_mpi_call_name(uint32_t call);

/** Name of an enum upmu_omp_event, "parallel-end", or of an enum upmu_omp_construct, "critical"; "?" for unknown ones. */
UPMU_API const char *upmu_trace_omp_event_name(uint32_t event);
UPMU_API const char *upmu_trace_omp_construct_name(uint32_t construct);

/** Number of processes; 0 if `trace` is NULL. */
UPMU_API size_t upmu_trace_process_count(const struct upmu_trace *trace);

/** Description of process `index`, in the order of their start. Reads the heads of its packets.
 *  @return 0; UPMU_E_END (no such process); UPMU_E_INVAL (NULL, size); UPMU_E_IO, UPMU_E_NOMEM. */
UPMU_API UPMU_CHECKED int upmu_trace_process_at(const struct upmu_trace *trace, size_t index,
                                                struct upmu_trace_process *out);

/** A stretch in which locks and threads of a process have no events: from upmu_control_stop() to upmu_control_start(), from
 *  upmu_sync_end() to the next upmu_sync_begin(), before the first start of a recording that began paused; or in which only counts were
 *  recorded (UPMU_SYNC_COUNTS), in a process that recorded events at other times. What had begun as an event before, waits and holds,
 *  has its end in the recording also in this time. */
struct upmu_trace_pause {
    size_t size;       /**< in: sizeof(struct upmu_trace_pause); out: bytes filled */
    uint64_t begin_ns; /**< nanoseconds since 1970; at least `start_ns` of the process */
    uint64_t end_ns;   /**< UPMU_NO_VALUE: it has not ended */
    uint32_t counted;  /**< 1: locks were counted */
    uint32_t reserved; /**< 0 */
};
#define UPMU_TRACE_PAUSE_SIZE_V1 UPMU_SIZE_V1_(struct upmu_trace_pause, 24)

/** Such stretch `i` of process `index`, in the order of time, from the process's control file.
 *  @return 0; UPMU_E_END (no such process or stretch); UPMU_E_INVAL (NULL, size). */
UPMU_API UPMU_CHECKED int upmu_trace_pause_at(const struct upmu_trace *trace, size_t index, size_t i,
                                              struct upmu_trace_pause *out);
/** Number of such stretches of process `index`, at most 128. */
UPMU_API size_t upmu_trace_pause_count(const struct upmu_trace *trace, size_t index);

/** Name of counter `i` of process `index`, valid until the trace is closed; NULL past the last counter. */
UPMU_API const char *upmu_trace_counter_name(const struct upmu_trace *trace, size_t index, size_t i);
/** Number of counters of process `index`; 0 if there is no such process. */
UPMU_API size_t upmu_trace_counter_count(const struct upmu_trace *trace, size_t index);

/** Method by which a stack was captured. */
enum upmu_stack_method {
    UPMU_STACK_NONE = 0,          /**< unknown */
    UPMU_STACK_LIBUNWIND = 1,     /**< libunwind */
    UPMU_STACK_LIBGCC = 2,        /**< the unwinder of libgcc */
    UPMU_STACK_FRAME_POINTER = 3, /**< frame pointers */
    UPMU_STACK_SCANNED = 4,       /**< the code of each function was scanned for its prologue: a heuristic */
    UPMU_STACK_COPIED = 5, /**< another thread unwound it, from a copy of its innermost words and from its memory */
    UPMU_STACK_TABLES = 6, /**< libupmu_sync itself, by the unwind tables of the modules */
};

/** A call stack, innermost frame first. */
struct upmu_trace_stack {
    size_t size;            /**< in: sizeof(struct upmu_trace_stack); out: bytes filled */
    const uint64_t *frames; /**< return addresses, valid until the trace is closed */
    uint32_t n_frames;      /**< number of frames */
    uint32_t method;        /**< enum upmu_stack_method */
    uint32_t truncated;     /**< 1: outer frames were dropped */
};
#define UPMU_TRACE_STACK_SIZE_V1 UPMU_SIZE_V1_(struct upmu_trace_stack, 32)

/**
 * Find a stack by its id. A stack is available before the first event that refers to it is returned.
 * @param index process, as for upmu_trace_process_at()
 * @param id    upmu_trace_event.stack
 * @return 0; UPMU_E_NAME (no such stack: `id` is 0, or it was lost); UPMU_E_END (no such process); UPMU_E_INVAL (NULL, size).
 */
UPMU_API UPMU_CHECKED int upmu_trace_stack_find(const struct upmu_trace *trace, size_t index, uint32_t id,
                                                struct upmu_trace_stack *out);

/**
 * A module (program or shared object) mapped by a process. Strings are valid until the trace is closed.
 * If modules were mapped at the same addresses one after the other, the later ones have a number in the top byte of their
 * addresses, and so have all call sites and frames in them. Addresses of programs do not use that byte: an address
 * therefore belongs to one module only.
 */
struct upmu_trace_module {
    size_t size;          /**< in: sizeof(struct upmu_trace_module); out: bytes filled */
    uint64_t base;        /**< load bias: address in memory minus address in the file */
    uint64_t start, end;  /**< range of addresses, `end` excluded */
    const char *path;     /**< path of the file */
    const char *build_id; /**< hexadecimal, "" if the file has none */
};
#define UPMU_TRACE_MODULE_SIZE_V1 UPMU_SIZE_V1_(struct upmu_trace_module, 48)

/** Module `i` of process `index`, in the order of their records. The table grows until the end of the trace was read.
 *  @return 0; UPMU_E_END (no such process or module); UPMU_E_INVAL (NULL, size). */
UPMU_API UPMU_CHECKED int upmu_trace_module_at(const struct upmu_trace *trace, size_t index, size_t i,
                                               struct upmu_trace_module *out);
/** Number of modules of process `index` read so far; 0 if there is no such process. */
UPMU_API size_t upmu_trace_module_count(const struct upmu_trace *trace, size_t index);

/** Close a trace and free it; NULL does nothing. */
UPMU_API void upmu_trace_close(struct upmu_trace *trace);

/** Result of upmu_trace_repair(). */
struct upmu_trace_repair_result {
    size_t size;        /**< in: sizeof(struct upmu_trace_repair_result); out: bytes filled */
    uint32_t processes; /**< process directories checked */
    uint32_t running;   /**< of these, still being written and therefore unchanged */
    uint32_t trimmed;   /**< streams whose unfinished last packet was removed */
    uint64_t bytes;     /**< bytes removed; they held no committed event */
    uint32_t reordered; /**< rings whose packets were sorted by time */
};
#define UPMU_TRACE_REPAIR_RESULT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_trace_repair_result, 40)

/**
 * Make the trace of a killed process, or a ring, readable for every CTF reader: remove unfinished last packets, sort the
 * packets of rings by time, and write the clock of upmu_trace_next(), fitted to the whole recording, into the metadata.
 * Committed events are never changed. The trace of a running process is not touched. May be repeated.
 * @return 0; UPMU_E_IO, UPMU_E_FORMAT (damaged parts are not changed, the others are repaired), UPMU_E_VERSION, UPMU_E_NOMEM,
 *         UPMU_E_INVAL (NULL, size).
 */
UPMU_API UPMU_CHECKED int upmu_trace_repair(const char *dir, struct upmu_trace_repair_result *out);

UPMU_END_DECLS

#endif
