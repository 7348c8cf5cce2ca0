/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Reading a trace: every event of a recording in global time order, across threads and processes.
 * Link with libupmu_analysis. The format is CTF 1.8 (docs/format.md), so babeltrace2 and Trace Compass read it too.
 *
 *     struct upmu_trace *t;
 *     const struct upmu_trace_event *e;
 *     int rc = upmu_trace_open(&t, "DIR");
 *     while ((rc = upmu_trace_next(t, &e)) > 0)
 *         printf("%" PRIu64 " %d %s\n", e->time_ns, (int)e->tid, e->name);
 *     upmu_trace_close(t);
 *
 * The reader believes nothing: any bytes may be given to it, and the worst outcome is an error code.
 */
#ifndef UPMU_TRACE_H
#define UPMU_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/api.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** An open recording. One thread at a time. */
struct upmu_trace;

/** Kinds of events. A reader skips kinds it does not know. */
enum upmu_trace_kind {
    UPMU_TRACE_REGION_BEGIN = 1, /**< `name` is the region; `values` the counters at that moment, since thread start */
    UPMU_TRACE_REGION_END = 2,   /**< likewise; subtract the values of the matching begin */
    UPMU_TRACE_MARK = 3,         /**< `name` is the text of upmu_mark() */

    /* Locks: `object` is the lock, `object_type` its kind: mutex, rwlock, spin lock, semaphore, a lock of the program's
     * own, and a pthread_once_t, which is taken by the thread that runs the function and waited for by the others.
     * `flags` tell readers from writers. */
    UPMU_TRACE_LOCK_BLOCK = 16, /**< the thread starts to wait; `holder_*` say who has the lock, `stack` where we are */
    UPMU_TRACE_LOCK_ACQUIRED = 17, /**< it has it after a block: `result`; its wait began at the block */
    UPMU_TRACE_LOCK_ACQUIRE = 18,  /**< an acquisition without a wait (modes holders, all; sampled ones in contended) */
    UPMU_TRACE_LOCK_RELEASE = 19,  /**< given back; in mode contended only when somebody waited, with `stack` */
    UPMU_TRACE_LOCK_FAILED =
        20, /**< a wait, or with UPMU_TRACE_FLAG_TRIED a try, that ended without the lock: `result` */
    UPMU_TRACE_LOCK_INIT = 21,       /**< the lock begins its life; `name` if it was given one */
    UPMU_TRACE_LOCK_DESTROY = 22,    /**< it ends */
    UPMU_TRACE_LOCK_COUNTS = 23,     /**< totals of this thread and lock so far: `count`, `contended` */
    UPMU_TRACE_LOCK_NAME = 24,       /**< `name` of the object from upmu_lock_name() */
    UPMU_TRACE_LOCK_MISUSE = 25,     /**< released though not held by this thread: `result` is what the call returned */
    UPMU_TRACE_LOCK_CONSISTENT = 26, /**< a robust mutex whose owner had died is declared consistent: `result` */
    /** The thread takes `object` while it holds `object2`, taken at `holder_site`, and `count` - 1 others, of which the
     *  events of the same tick beside it tell. Once per thread and set of locks; again after the thread made or joined
     *  another, or a lock began a new life. UPMU_TRACE_FLAG_TRIED, UPMU_TRACE_FLAG_TIMED: by a call that does not wait for ever.
     *  Where `object2` is a semaphore of several places, of which the thread has one, `count` has their number from bit
     *  UPMU_PLACES_SHIFT on. With `count` 0: the semaphore `object`, told of as a lock or room in its life, is none: it
     *  was posted by a thread that did not hold it. */
    UPMU_TRACE_LOCK_ORDER = 27,
    /** Mode all with UPMU_SYNC_REQUESTS: the thread has called for the lock and would wait for it; the acquisition, or the
     *  wait, that follows in the thread is this call's, and names the same `stack`. */
    UPMU_TRACE_LOCK_REQUEST = 28,

    /* Condition variables: `object` is the variable, `object2` the mutex given up and taken again. */
    UPMU_TRACE_COND_WAIT = 32, /**< the thread waits; the mutex is released at this moment */
    UPMU_TRACE_COND_WAKE = 33, /**< it goes on with the mutex held again: `result` */
    UPMU_TRACE_COND_SIGNAL = 34,
    UPMU_TRACE_COND_BROADCAST = 35,

    /* Semaphores beyond what locks have: a wait that blocks is LOCK_BLOCK ... LOCK_ACQUIRED of type semaphore. */
    UPMU_TRACE_SEM_POST = 40,
    UPMU_TRACE_SEM_OPEN = 41,   /**< `name`; opened more than once, it is the same object */
    UPMU_TRACE_SEM_CLOSE = 42,  /**< `result` */
    UPMU_TRACE_SEM_UNLINK = 43, /**< `name`, `result`; no object */
    UPMU_TRACE_SEM_VALUE = 44,  /**< mode all: the program read the value, `count` */

    /* Threads: `object` is the pthread_t, `peer` the kernel id of the other thread where it is known. */
    UPMU_TRACE_THREAD_CREATE = 48, /**< in the creator; `result` */
    UPMU_TRACE_THREAD_START = 49,  /**< first event of the new thread; `peer` is its creator */
    UPMU_TRACE_THREAD_EXIT = 50,   /**< last event; with UPMU_TRACE_FLAG_FINAL `count` has its context switches */
    UPMU_TRACE_THREAD_JOIN = 51,   /**< starts to wait for the thread's end */
    UPMU_TRACE_THREAD_JOINED = 52, /**< `result` */
    UPMU_TRACE_THREAD_NAME = 53,   /**< `name` */
    UPMU_TRACE_THREAD_DETACH = 54,
    UPMU_TRACE_THREAD_CANCEL = 55, /**< `object` was asked to end: `result` */

    /* Barriers: `object` is the barrier. Who arrives last does not wait; glibc tells that thread by its `result`. */
    UPMU_TRACE_BARRIER_ARRIVE = 56, /**< the thread waits for the others */
    UPMU_TRACE_BARRIER_LEAVE = 57,  /**< it goes on; `result` is 0, or PTHREAD_BARRIER_SERIAL_THREAD (-1) for one */

    /* Futexes that the program uses itself, through libc's syscall(): `object` is the word. */
    UPMU_TRACE_FUTEX_WAIT = 58, /**< the thread asks the kernel to let it sleep on the word; `count` above 1: on so many
                                      words, of which `object` is the first */
    UPMU_TRACE_FUTEX_WOKEN =
        59, /**< it goes on: `result` 0, or an errno value; EAGAIN: it did not sleep at all; `count`:
                                      which of several words it was woken by, 0 is the first */
    UPMU_TRACE_FUTEX_WAKE = 60, /**< `count` sleepers were woken or moved to another word, `object2` */

    UPMU_TRACE_FUTEX_ALSO = 61, /**< `object` is the next one of the several words of the FUTEX_WAIT before */

    /* How the thread's running goes on (UPMU_SCHED), told by the kernel; `count` is the number of a CPU. What is not told
     * is unknown: what lies before SCHED_BEGIN, behind the last of these, and between those before and after SCHED_LOST. */
    UPMU_TRACE_SCHED_BEGIN = 64, /**< told from here on; the thread runs */
    UPMU_TRACE_SCHED_OUT = 65,   /**< it runs no more: UPMU_TRACE_FLAG_PREEMPTED if it could have, else it waits */
    UPMU_TRACE_SCHED_IN = 66,    /**< it runs again */
    UPMU_TRACE_SCHED_LOST =
        67, /**< `count` or more of SCHED_OUT and SCHED_IN are missing, between those before and after it */
    UPMU_TRACE_SCHED_SEEN =
        68, /**< all is told up to here; `count` of SCHED_OUT and SCHED_IN so far, lost ones included */

    /* With the right to trace (root), what the kernel's tracepoints tell: */
    UPMU_TRACE_SCHED_WAKE = 69,        /**< the thread has woken `peer`, which can run from here on */
    UPMU_TRACE_KERNEL_LOCK_BLOCK = 70, /**< it has to wait for the kernel's lock at `object`; `count`: bits of enum
                                            upmu_kernel_lock (UPMU_KERNEL_LOCKS) */
    UPMU_TRACE_KERNEL_LOCK_DONE = 71,  /**< and does no more; `result` 0, or -errno if it gave up */

    /** `values` of the thread's counters at the event that follows: of the same thread, tick and `object`. A wait that
     *  begins and ends with them, and a lock's holding, have the difference (UPMU_SYNC_COUNTERS). */
    UPMU_TRACE_COUNTERS = 72,

    /** The thread has called the kernel `count` times so far to wait for a futex, `contended` of them within recorded waits
     *  (UPMU_SCHED, with the right to trace). The others are of locks that are not traced, or came while recording was
     *  paused or only counted. */
    UPMU_TRACE_FUTEX_COUNTS = 73,
};

/** What `object` is. */
enum upmu_object_type {
    UPMU_OBJECT_NONE = 0,
    UPMU_OBJECT_MUTEX = 1,
    UPMU_OBJECT_COND = 2,
    UPMU_OBJECT_SEM = 3,
    UPMU_OBJECT_CUSTOM = 4, /**< a lock announced with upmu_lock_announce() */
    UPMU_OBJECT_THREAD = 5,
    UPMU_OBJECT_RWLOCK = 6,
    UPMU_OBJECT_SPIN = 7,
    UPMU_OBJECT_BARRIER = 8,
    UPMU_OBJECT_ONCE = 9,
    UPMU_OBJECT_FUTEX = 10,
};

/** Kinds of the kernel's own locks. */
enum upmu_kernel_lock {
    UPMU_KERNEL_LOCK_SPIN = 1, /**< the thread does not sleep */
    UPMU_KERNEL_LOCK_READ = 2,
    UPMU_KERNEL_LOCK_WRITE = 4,
    UPMU_KERNEL_LOCK_RT = 8,
    UPMU_KERNEL_LOCK_PERCPU = 16,
    UPMU_KERNEL_LOCK_MUTEX = 32,
};

/** Where the number of places stands in `count` of UPMU_TRACE_LOCK_ORDER, and the most that is told of. */
enum { UPMU_PLACES_SHIFT = 32, UPMU_PLACES_MOST = 65535 };

/** What else is to be known of an event about an object: bits of `flags`. */
enum upmu_trace_flag {
    UPMU_TRACE_FLAG_SHARED = 1, /**< as a reader: of LOCK_COUNTS, they are those of the thread as a reader alone */
    UPMU_TRACE_FLAG_HOLDER_SHARED = 2, /**< LOCK_BLOCK: the holder named is a reader, maybe one of several */
    UPMU_TRACE_FLAG_TIMED = 4,         /**< a wait that ends by itself at some time */
    UPMU_TRACE_FLAG_TRIED = 8,         /**< by a call that never waits */
    UPMU_TRACE_FLAG_SAMPLED = 16,      /**< one in N without contention: ACQUIRE and its RELEASE both have it */
    /* LOCK_INIT, LOCK_BLOCK: what kind of mutex, semaphore, rwlock or barrier it is, where that can be known. */
    UPMU_TRACE_FLAG_RECURSIVE = 32,
    UPMU_TRACE_FLAG_ERRORCHECK = 64,
    UPMU_TRACE_FLAG_ROBUST = 128,
    UPMU_TRACE_FLAG_PI = 256,         /**< priority inheritance */
    UPMU_TRACE_FLAG_PSHARED = 512,    /**< shared between processes; of a robust mutex only LOCK_INIT tells */
    UPMU_TRACE_FLAG_FINAL = 1024,     /**< LOCK_DESTROY: the counts of all threads up to here are in the trace;
                                 THREAD_EXIT: `count` is known */
    UPMU_TRACE_FLAG_PREEMPTED = 2048, /**< SCHED_OUT: the thread could have run on, another one took its place */
    UPMU_TRACE_FLAG_FREED = 4096,     /**< LOCK_DESTROY: nobody ended it; the memory it lay in was given back */
};

/** One event; pointers are valid until the next call on the same trace. */
struct upmu_trace_event {
    size_t size;           /**< filled by the library: sizeof(struct upmu_trace_event) of its version */
    uint64_t time_ns;      /**< nanoseconds since 1970-01-01 00:00 UTC */
    uint64_t tick;         /**< the same moment on the recorder's clock */
    int32_t kind;          /**< enum upmu_trace_kind */
    uint32_t process;      /**< index for upmu_trace_process_at() */
    pid_t pid;             /**< process id */
    pid_t tid;             /**< kernel thread id */
    const char *name;      /**< region name or text, NUL-terminated; "" where the kind has none */
    uint64_t object;       /**< address of the lock, variable or semaphore, or pthread_t; 0 for kinds without */
    uint64_t object2;      /**< COND_*: the mutex; FUTEX_WAKE: where sleepers were moved to, 0 = nowhere */
    int32_t object_type;   /**< enum upmu_object_type */
    int32_t result;        /**< what the call returned (an errno value of the recorded machine, 0 = success) */
    pid_t peer;            /**< LOCK_BLOCK: the holder, 0 if not known; THREAD_*: the other thread, 0 if not known;
                                LOCK_COUNTS: the thread that counted, 0 if it is `tid` */
    uint32_t stack;        /**< id for upmu_trace_stack_find(), 0 = none */
    uint64_t site;         /**< call site of this event, 0 if not known */
    uint64_t holder_site;  /**< LOCK_BLOCK: where the holder acquired, 0 if not known */
    uint64_t holder_since; /**< LOCK_BLOCK: when, as time_ns; 0 = at least since before this event, not known */
    uint64_t
        count; /**< LOCK_COUNTS: acquisitions; FUTEX_COUNTS: waits; THREAD_EXIT: switches; SEM_VALUE: the value; FUTEX_WAKE: sleepers woken;
                    FUTEX_WAIT, FUTEX_WOKEN: see there;
                    SCHED_*: a CPU, or switches */
    uint64_t contended; /**< LOCK_COUNTS: those that had to wait; FUTEX_COUNTS: those within recorded waits */
    size_t n_values;    /**< counters, in the order of upmu_trace_counter_name(); 0 for kinds without */
    const struct upmu_value *values;
    uint32_t flags; /**< enum upmu_trace_flag */
};
#define UPMU_TRACE_EVENT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_trace_event, 144)

/** A process of the recording; strings live as long as the trace is open. */
struct upmu_trace_process {
    size_t size; /**< in: sizeof(struct upmu_trace_process) */
    pid_t pid;
    const char *host;
    const char *command; /**< command line, arguments separated by blanks */
    const char *kernel;  /**< release of the kernel it ran on */
    uint64_t start_ns;   /**< when recording began, nanoseconds since 1970 */
    uint64_t clock_hz;   /**< frequency of the recorder's clock */
    uint32_t n_counters;
    uint32_t complete;       /**< 1: ended in good order; 0: killed, still running, or see `execed` */
    uint64_t events;         /**< events committed to the streams of this process, stacks and modules included */
    uint64_t lost;           /**< events that did not fit (full disk, quota, unreachable file) */
    uint64_t overwritten;    /**< events that made room for later ones: the recording is a ring (UPMU_TRACE_POLICY) */
    uint64_t clock_error_ns; /**< how far the clock was from CLOCK_MONOTONIC_RAW, at most, at the moments that packets
                                  noted, uncertainty included; UPMU_NO_VALUE: none did */
    /* What was measured when sync tracing began, in picoseconds; 0: not recorded. Complete once upmu_trace_next() has
     * returned 0. */
    uint64_t event_cost_ps;   /**< writing an event about a lock or thread */
    uint64_t compact_cost_ps; /**< the same of an acquisition or release without more to say */
    uint64_t stack_cost_ps;   /**< a call stack, beside; 0 also if none are recorded */
    const char *sched_note;   /**< what of UPMU_SCHED and UPMU_KERNEL_LOCKS could not be recorded, and why; or "" */
    uint32_t
        stopped; /**< 1: recording ended before the process did, as its size was limited (UPMU_TRACE_POLICY=stop:SIZE) */
    const char *futex_note; /**< why waits for futexes could not be counted in threads without UPMU_TRACE_FUTEX_COUNTS,
                                 though UPMU_SCHED asks for that; or "" */
    uint32_t execed; /**< 1: not complete, because the process went on as another program, which is a process of its
                                  own here */
};
#define UPMU_TRACE_PROCESS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_trace_process, 152)

/**
 * Open a recording, or the directory of one process in it. A last packet that a killed process left unfinished is
 * skipped, never misread; nothing is changed on disk. Of several processes, those that cannot be opened are left out;
 * upmu_trace_next() returns UPMU_E_FORMAT for each after the last event, with its message.
 * @return 0; UPMU_E_IO (no such directory, not readable), UPMU_E_FORMAT (not a libupmu trace, or damaged beyond
 *         reading; the message has file and offset), UPMU_E_VERSION, UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_trace_open(struct upmu_trace **trace, const char *dir);

/**
 * The next event in time; events of equal time come in the order of process, then stream.
 * @return 1 and `*event`; 0 at the end; UPMU_E_FORMAT when the bytes make no sense: `*event` is NULL, the damaged
 *         stream is left out from there on, and calling again goes on with the others.
 */
UPMU_API UPMU_CHECKED int upmu_trace_next(struct upmu_trace *trace, const struct upmu_trace_event **event);

/**
 * Go on with a recording that is still being written, after upmu_trace_next() has returned 0: what has been recorded since
 * comes next, also of threads and processes that are new. Between themselves these events are in the order of time; some
 * may be earlier than the last ones before.
 * @return 0; UPMU_E_STATE (not all events have been given), UPMU_E_INVAL, UPMU_E_IO, UPMU_E_FORMAT, UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_trace_update(struct upmu_trace *trace);

/** Packets of rings that were overwritten between two others that were read, since the trace was opened: the events in them
 *  were not given. */
UPMU_API uint64_t upmu_trace_missed_packets(const struct upmu_trace *trace);

/** This moment on the clock of process `index`'s events, while the machine has not been started anew since.
 *  @return 0; UPMU_E_INVAL. */
UPMU_API UPMU_CHECKED int upmu_trace_now(const struct upmu_trace *trace, size_t index, uint64_t *time_ns);

/** "lock-block", "begin", ...: what `upmu dump` calls a kind; NULL for one this version does not know. */
UPMU_API const char *upmu_trace_kind_name(int kind);
/** "mutex", "cond", "lock" for one of the program's own, ...: an enum upmu_object_type; NULL for none and unknown ones. */
UPMU_API const char *upmu_object_type_name(int type);

/** Number of processes. */
UPMU_API size_t upmu_trace_process_count(const struct upmu_trace *trace);

/** What is known of process `index`. Looks at the heads of its packets. @return 0; UPMU_E_INVAL (index, size); UPMU_E_IO,
 *  UPMU_E_NOMEM. */
UPMU_API UPMU_CHECKED int upmu_trace_process_at(const struct upmu_trace *trace, size_t index,
                                                struct upmu_trace_process *out);

/** Name of counter `i` of process `index`, NULL past the last. Lives as long as the trace is open. */
UPMU_API const char *upmu_trace_counter_name(const struct upmu_trace *trace, size_t index, size_t i);
/** Number of counters of process `index`. */
UPMU_API size_t upmu_trace_counter_count(const struct upmu_trace *trace, size_t index);

/** How a stack was captured. */
enum upmu_stack_method {
    UPMU_STACK_NONE = 0,
    UPMU_STACK_LIBUNWIND = 1,
    UPMU_STACK_LIBGCC = 2,
    UPMU_STACK_FRAME_POINTER = 3,
};

/** A call stack of a process, innermost frame first. */
struct upmu_trace_stack {
    size_t size;            /**< in: sizeof(struct upmu_trace_stack) */
    const uint64_t *frames; /**< return addresses; lives as long as the trace is open */
    uint32_t n_frames;
    uint32_t method;    /**< enum upmu_stack_method */
    uint32_t truncated; /**< 1: there were more frames than were kept */
};
#define UPMU_TRACE_STACK_SIZE_V1 UPMU_SIZE_V1_(struct upmu_trace_stack, 32)

/** Stack `id` of process `index`. Stacks are written before the first event that names them.
 *  @return 0; UPMU_E_NAME (no such stack: lost, or 0); UPMU_E_INVAL. */
UPMU_API UPMU_CHECKED int upmu_trace_stack_find(const struct upmu_trace *trace, size_t index, uint32_t id,
                                                struct upmu_trace_stack *out);

/** A module (program or shared object) mapped into a process of the recording; strings live as long as the trace. Where
 *  another one was unloaded and this one came to lie at its addresses, these and all call sites and frames in this one have
 *  a number in their top byte, which addresses of programs do not use: so an address is always in one module only. */
struct upmu_trace_module {
    size_t size;         /**< in: sizeof(struct upmu_trace_module) */
    uint64_t base;       /**< load bias: address in memory minus address in the file's symbols */
    uint64_t start, end; /**< addresses covered */
    const char *path;
    const char *build_id; /**< hexadecimal, "" if the file has none */
};
#define UPMU_TRACE_MODULE_SIZE_V1 UPMU_SIZE_V1_(struct upmu_trace_module, 48)

/** Module `i` of process `index`, in the order of being seen. Complete once upmu_trace_next() has returned 0.
 *  @return 0; UPMU_E_NAME past the last; UPMU_E_INVAL. */
UPMU_API UPMU_CHECKED int upmu_trace_module_at(const struct upmu_trace *trace, size_t index, size_t i,
                                               struct upmu_trace_module *out);
/** Number of modules of process `index` seen so far. */
UPMU_API size_t upmu_trace_module_count(const struct upmu_trace *trace, size_t index);

/** Close; NULL is fine. */
UPMU_API void upmu_trace_close(struct upmu_trace *trace);

/** What upmu_trace_repair() did. */
struct upmu_trace_repair_result {
    size_t size;        /**< in: sizeof(struct upmu_trace_repair_result) */
    uint32_t processes; /**< process directories looked at */
    uint32_t running;   /**< of these still being written: left alone */
    uint32_t trimmed;   /**< streams whose unfinished last packet was cut off */
    uint64_t bytes;     /**< bytes cut off; they held no committed event */
    uint32_t reordered; /**< rings whose packets were put in the order of time */
};
#define UPMU_TRACE_REPAIR_RESULT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_trace_repair_result, 40)

/**
 * Make the trace of a killed process, or a ring, readable for every CTF reader by cutting unfinished last packets off and
 * putting the packets of rings in order, and give its metadata the clock that upmu_trace_next() uses: fitted to the whole recording, not to its first moments. Safe to
 * repeat; committed events are never touched; the trace of a running process is left alone.
 * @return 0; UPMU_E_IO, UPMU_E_FORMAT (what is damaged is left as it is, the rest is repaired), UPMU_E_VERSION,
 *         UPMU_E_NOMEM, UPMU_E_INVAL.
 */
UPMU_API UPMU_CHECKED int upmu_trace_repair(const char *dir, struct upmu_trace_repair_result *out);

UPMU_END_DECLS

#endif
