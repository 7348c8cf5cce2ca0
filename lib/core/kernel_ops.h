/* SPDX-License-Identifier: MIT */
/**
 * @file Interface between core and the kernel: perf_event_open, /proc and sysfs.
 *
 * Nothing below include/upmu reaches the kernel in another way. lib/kernel/ implements it; a scripted
 * implementation for tests replays errors, counters and whole machines. Functions return 0 or a count, or -errno;
 * none prints or sets upmu_error().
 */
#ifndef UPMU_CORE_KERNEL_OPS_H
#define UPMU_CORE_KERNEL_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/arch_ops.h"
#include "upmu/upmu.h"

/** perf_event_attr.type of the kernel's fixed PMUs, so that core needs no kernel header. */
enum kernel_type {
    KERNEL_TYPE_HARDWARE = 0,
    KERNEL_TYPE_SOFTWARE = 1,
    KERNEL_TYPE_TRACEPOINT = 2,
    KERNEL_TYPE_HW_CACHE = 3,
    KERNEL_TYPE_RAW = 4,
    /** Not a kernel type: `config` is the code that kernel_ops.named() returned for an event of the backend. */
    KERNEL_TYPE_NAMED = INT32_MAX,
    /** Not a kernel type: `config` is an enum kernel_usage_word, read with kernel_ops.usage(). */
    KERNEL_TYPE_USAGE = INT32_MAX - 1,
};

/** The implementation that opens and reads an event. */
enum kernel_backend {
    KERNEL_BACKEND_PERF = 0, /**< perf_event_open, by this library */
    KERNEL_BACKEND_PAPI,     /**< libpapi, opened at run time */
};

/** Perf generic events that the library itself needs. */
enum kernel_hardware {
    KERNEL_HW_CYCLES = 0,
    KERNEL_HW_INSTRUCTIONS = 1,
};

/** Software events that the library itself needs. */
enum kernel_software {
    KERNEL_SW_CPU_CLOCK = 0,
    KERNEL_SW_TASK_CLOCK = 1,
    KERNEL_SW_PAGE_FAULTS = 2,
    KERNEL_SW_CONTEXT_SWITCHES = 3,
    KERNEL_SW_CPU_MIGRATIONS = 4,
    KERNEL_SW_MINOR_FAULTS = 5,
    KERNEL_SW_DUMMY = 9,
    KERNEL_SW_CGROUP_SWITCHES = 11,
};

/** One event to open. */
struct kernel_open {
    uint32_t type;
    uint32_t exclude; /**< enum upmu_exclude */
    uint64_t config, config1, config2;
    pid_t pid;    /**< 0 = calling thread, -1 = any (with cpu) */
    int cpu;      /**< -1 = any */
    int group_fd; /**< leader, -1 = none */
    bool
        disabled; /**< opened stopped: leaders, until all members are open; a member is enabled and runs with its leader */
    bool inherit; /**< also count threads and children created later */
    bool enable_on_exec;
    uint64_t period; /**< 0, or the count after which it overflows, for overflow_signal() */
    uint8_t backend; /**< enum kernel_backend; the same for all members of a group */
    uint8_t precise; /**< perf_event_attr.precise_ip */
    bool
        group_read; /**< read returns the whole group with the leader's times: KERNEL_READ_GROUP layout; else the event's own count and times: KERNEL_READ_ONE */
};

/*
 * Layout of a read, in 64-bit words (PERF_FORMAT_TOTAL_TIME_ENABLED|RUNNING|ID, with GROUP for groups):
 *   one event: value, enabled, running, id
 *   group:     nr, enabled, running, then nr times (value, id)
 */
enum {
    KERNEL_READ_ONE_WORDS = 4,
    KERNEL_READ_GROUP_HEAD = 3,
};

enum kernel_verb {
    KERNEL_ENABLE,
    KERNEL_DISABLE,
    KERNEL_REFRESH, /**< start it until its next overflow, at which the kernel stops it */
};

/** A count read from the mmap page without a system call. */
struct kernel_page_count {
    uint64_t value;
    uint64_t enabled;
    uint64_t running;
    /** Both times are those of the last time the event was scheduled in (the page has no user-space clock). They
     *  were equal then and the event has run since; the count is current. A ratio of time differences with one
     *  stale side is meaningless. */
    bool stale_times;
};

/** Accounting of a task, independent of open events. */
struct kernel_usage {
    uint64_t user_ns, system_ns;
    uint64_t minor_faults, major_faults;
    uint64_t switches; /**< voluntary and involuntary; KERNEL_USAGE_UNKNOWN if the source has none */
};
#define KERNEL_USAGE_UNKNOWN UINT64_MAX

/** Events that are words of struct kernel_usage. */
enum kernel_usage_word {
    KERNEL_USAGE_USER,
    KERNEL_USAGE_SYSTEM,
    KERNEL_USAGE_WORDS,
};

/** Scheduling records of a thread. */
enum kernel_switch_kind {
    KERNEL_SWITCH_IN,        /**< switched in */
    KERNEL_SWITCH_OUT,       /**< switched out and blocked */
    KERNEL_SWITCH_PREEMPTED, /**< switched out while runnable */
    KERNEL_SWITCH_LOST,      /**< `value` records of these kinds were dropped; 1 also if at least one may have been */
    /* With tracepoints: */
    KERNEL_SWITCH_WAKES,      /**< it wakes the thread `value` */
    KERNEL_SWITCH_LOCK_BEGIN, /**< it starts to wait for the kernel lock at `value`; `more`: the lock's type */
    KERNEL_SWITCH_LOCK_END,   /**< it stops waiting; `more`: 0 or -errno */
    KERNEL_SWITCH_POINTS_LOST /**< `value` records of these kinds were dropped */
};

struct kernel_switch {
    uint64_t raw_ns; /**< CLOCK_MONOTONIC_RAW; 0: unknown */
    uint64_t value;
    uint32_t cpu;
    uint32_t more;
    uint32_t kind; /**< enum kernel_switch_kind */
};

/** Tracepoints of the kernel. */
enum kernel_point { KERNEL_POINT_WAKING, KERNEL_POINT_LOCK_BEGIN, KERNEL_POINT_LOCK_END, KERNEL_POINTS };

/** Offsets of the fields used in a tracepoint's record. */
struct kernel_point_layout {
    uint64_t id;   /**< 0: not requested, or not available */
    uint32_t kind; /**< enum kernel_switch_kind of its records */
    uint16_t value, value_bytes;
    uint16_t more, more_bytes; /**< 0 bytes: no such field */
};

/** One buffer that the kernel writes to. */
struct kernel_ring {
    const uint64_t *head; /**< written up to here: equal to `tail` if there is nothing new */
    uint64_t tail;        /**< atomic: read up to here */
    void *page;
    size_t page_bytes, data_bytes;
    struct kernel_point_layout layout; /**< id 0: records of switches */
    uint64_t full_at;                  /**< the buffer was full at this position; 0: it was not */
    uint64_t presumed;                 /**< losses already reported, which the kernel may report again */
};

/** The record buffers of one thread; all zero: none. */
struct kernel_switch_log {
    struct kernel_ring ring[1 + KERNEL_POINTS];
    size_t n;
    int refused; /**< errno of the first requested tracepoint that is not available, 0: none */
};

/** Whether there are new records. Callable by any thread. */
static inline bool kernel_switches_waiting(const struct kernel_switch_log *log)
{
    for (size_t i = 0; i < log->n; i++)
        if (__atomic_load_n(log->ring[i].head, __ATOMIC_RELAXED) !=
            __atomic_load_n(&log->ring[i].tail, __ATOMIC_RELAXED))
            return true;
    return false;
}

/** System calls that wait for futexes: futex() and its newer variants. */
enum { KERNEL_FUTEX_CALLS = 3, KERNEL_FUTEX_RECORD = 8 /**< bytes the kernel writes per call */ };

/** The tracepoints at the entry of these calls. */
struct kernel_futex_points {
    uint64_t id[KERNEL_FUTEX_CALLS]; /**< 0: this kernel has no such call */
    char waits[512];                 /**< filter expression for the futex() operations that wait */
};

/** Number of calls of one thread that wait for a futex, since this was opened; all zero: not counted. The kernel
 *  writes an empty record per call into a page that is never read: the number of bytes written is the count, which
 *  any thread can read without a system call and without loss. */
struct kernel_futexes {
    const uint64_t *written[KERNEL_FUTEX_CALLS]; /**< bytes so far; NULL past the last */
    void *page[KERNEL_FUTEX_CALLS];
    size_t page_bytes;
    uint64_t own; /**< of these bytes, those of the self-test */
};

static inline uint64_t kernel_futexes_so_far(const struct kernel_futexes *f)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < KERNEL_FUTEX_CALLS && f->written[i]; i++)
        bytes += __atomic_load_n(f->written[i], __ATOMIC_RELAXED);
    return (bytes - f->own) / KERNEL_FUTEX_RECORD;
}

/** Work of the calling thread as accounted by the kernel. */
struct kernel_work {
    uint64_t faults, switches; /**< by RUSAGE_THREAD */
    uint64_t cpu_ns;
};

/** Descriptors the library may hold: at most 1/KERNEL_NOFILE_SHARE of RLIMIT_NOFILE, never the last
 *  KERNEL_NOFILE_PROGRAM (so that a program under a low limit is not affected), and none while fewer than
 *  SPARE_DESCRIPTORS are free. */
enum { KERNEL_NOFILE_SHARE = 2, KERNEL_NOFILE_PROGRAM = 64 };

static inline uint64_t kernel_descriptors_allowed(uint64_t soft_limit)
{
    uint64_t share = soft_limit / KERNEL_NOFILE_SHARE;
    uint64_t rest = soft_limit > KERNEL_NOFILE_PROGRAM ? soft_limit - KERNEL_NOFILE_PROGRAM : 0;
    return share < rest ? share : rest;
}

/** File descriptors of the process. */
struct kernel_descriptors {
    uint64_t soft, hard; /**< RLIMIT_NOFILE; UINT64_MAX: no limit */
    uint64_t open;       /**< open, including the library's */
    uint64_t held;       /**< open and the library's */
};

struct kernel_ops {
    const char *name; /**< "perf_event_open", "scripted" */

    /** perf_event_open with close-on-exec; the descriptor is moved to a high number out of the program's way.
     *  @return the descriptor, or -errno; -EMFILE also when the library's share of descriptors is used up; -EREMOTE
     *  when UPMU_FSROOT is set, because the encoding is for a recorded machine. Backends other than perf_event_open
     *  also return -ELIBACC (not usable, see backend()), -ENODATA (no such event), -EPROTONOSUPPORT (cannot count
     *  in this way), -EALREADY (already counts this thread for another set). */
    int (*open)(const struct kernel_open *req);
    void (*close)(int fd);
    /** Whether calls of perf_event_open reach the kernel, tested by a call that every kernel refuses with EINVAL
     *  before it checks permissions. @return 0, or the -errno of a seccomp filter or of a kernel without the call.
     *  */
    int (*reach)(void);
    void (*descriptors)(struct kernel_descriptors *now);
    /** The perf id of an open event, as in group reads. @return 0 if the kernel has none (before 3.12). */
    uint64_t (*identify)(int fd);
    /** Close an event that was open for long: the program may have closed its descriptor in the meantime
     *  (close_range) and reused the number, and then it is left alone. `id` as returned by identify(); 0: close in
     *  any case. */
    void (*close_event)(int fd, uint64_t id);
    /** One read(2). @return bytes, or -errno. Signal safe, keeps errno. */
    ssize_t (*read)(int fd, void *words, size_t bytes);
    /** Start or stop one event; a group is started and stopped by its leader alone. Never for a member: see
     *  counters_control(). @return 0 or -errno. */
    int (*control)(int fd, enum kernel_verb verb);
    /** Have the kernel send `signal` to the calling thread, its own, when the event overflows: si_fd is the descriptor.
     *  @return 0 or -errno. */
    int (*overflow_signal)(int fd, int signal);
    /** Create a stopped timer of the calling thread's CPU time, which sends `signal` to this thread: si_timerid is `*id`.
     *  @return 0 or -errno. */
    int (*cpu_timer)(int signal, int *id);
    /** Let it expire each `period_ns` nanoseconds from now on; 0 stops it. @return 0 or -errno. Signal safe. */
    int (*cpu_timer_set)(int id, uint64_t period_ns);
    void (*cpu_timer_delete)(int id);
    /** Whether the process has a thread of this id. */
    bool (*thread_lives)(pid_t tid);

    /** Map the self-monitoring page of an event of the calling thread. @return 0 or -errno. */
    int (*map)(int fd, const void **page);
    void (*unmap)(const void *page);
    /** Seqlock read of value and both times through the page. @return 0; -EAGAIN if the page does not permit it at
     *  this moment (not on a counter, cap_user_rdpmc clear, no user-space time): use read. Signal safe, owner only.
     *  */
    int (*page_read)(const void *page, arch_counter_read_fn counter, struct kernel_page_count *out);
    /** The page's sequence word, which increases by two per context switch of the owning thread. */
    const volatile uint32_t *(*page_sequence)(const void *page);

    /** Context switches of the calling thread (RUSAGE_THREAD, voluntary + involuntary). @return 0 or -errno. */
    int (*thread_switches)(uint64_t *switches);
    /** Do work that every software event of a self-check counts (context switches only with `sleep`), and add its
     *  amounts. A cancellation point. @return 0 or -errno; -EOPNOTSUPP: not available, nothing to check. */
    int (*work)(struct kernel_work *work, bool sleep);
    /** Accounting of the calling thread (`pid` 0: getrusage(RUSAGE_THREAD), in microseconds), or of a process and
     *  its threads, ended ones included, children excluded (/proc/PID/stat, in clock ticks). @return 0; -ESRCH (no
     *  such process), -EPROTO (unexpected format) or another -errno. With pid 0 signal safe, keeps errno. */
    int (*usage)(pid_t pid, struct kernel_usage *out);
    /** Start recording the calling thread's switches, in a buffer of `bytes` or less if the limits require it; with
     *  the records of the tracepoints in `points` (KERNEL_POINTS of them, or NULL) that are permitted. No
     *  descriptor stays open; a forked child has no buffer. @return 0; -EOPNOTSUPP (the kernel does not separate
     *  preemption from blocking), -EREMOTE as open(), -EACCES and others of the kernel. Not signal safe. */
    int (*switches_open)(struct kernel_switch_log *log, size_t bytes, const struct kernel_point_layout *points);
    /** Ids and layouts of tracepoints, as far as they can be read: of the KERNEL_POINTS in `layout`, those wanted
     *  (a bit each) and found are set. @return 0, or the -errno of the first that was not found. */
    int (*points_find)(uint32_t wanted, struct kernel_point_layout *layout);
    /** The next record in time, if there is one. One thread at a time. Signal safe, keeps errno. */
    bool (*switches_next)(struct kernel_switch_log *log, struct kernel_switch *out);
    void (*switches_close)(struct kernel_switch_log *log);
    /** Ids of the tracepoints for futex waits. @return 0; -EREMOTE as open(); -ENOENT (no tracefs, or a kernel
     *  without them), -EACCES and others of the kernel. */
    int (*futexes_find)(struct kernel_futex_points *points);
    /** Start counting the calling thread's futex waits, except those of base/tiny_lock.h. No descriptor stays open;
     *  a forked child has no count. @return 0; -EPROTO (a self-test failed), -EMFILE, -EACCES, -EPERM and others of
     *  the kernel. Not signal safe. */
    int (*futexes_open)(struct kernel_futexes *f, const struct kernel_futex_points *points);
    void (*futexes_close)(struct kernel_futexes *f);

    /** Kernel thread id of the caller. */
    pid_t (*gettid)(void);

    /** Threads of a process, from /proc/PID/task. @return their number, at most `cap` stored; or -errno (-ESRCH: no
     *  such process). */
    ssize_t (*threads)(pid_t pid, pid_t *tids, size_t cap);
    /** Whether a backend can be used. @param reason out: why not, with the remedy; or its description. Valid as
     *  long as the process. @return 0 or -ELIBACC. */
    int (*backend)(enum kernel_backend which, const char **reason);
    /** The code of an event with a name of the backend's own (a PAPI preset, an event of a PAPI component). @return
     *  0, -ENOENT or another -errno. */
    int (*named)(enum kernel_backend which, const char *name, uint64_t *code);
    /** Whether files come from a recorded machine instead of the running one. */
    bool (*recorded)(void);
    /** Query the CPU with `ask`, as arch_cpu_ask(). @return NULL on a recorded machine: the running one is not
     *  asked. */
    const char *(*ask_cpu)(arch_cpu_ask_fn ask, struct arch_cpu *out);
    /** Read a small text file of /proc or /sys (below UPMU_FSROOT if set), with a terminating NUL. @return bytes,
     *  -EFBIG if it does not fit (the buffer then holds the beginning), or -errno. */
    ssize_t (*read_file)(const char *path, char *buf, size_t cap);
    /** Call `each` for the sorted names in a directory; a non-zero return stops and is returned. @return 0 or
     *  -errno. */
    int (*list_dir)(const char *path, int (*each)(const char *name, void *arg), void *arg);
    /** Create a process for argv, stopped before exec. @return pid with *gate the descriptor that releases it, or
     *  -errno. Closing the gate with close() instead of release() ends the child silently. */
    pid_t (*spawn)(char *const argv[], int *gate);
    /** Release a spawned command and return the result of its exec. Closes the gate. @param before out, may be
     *  NULL: the usage of the process before exec; all zero if it ended before @return 0, or -errno of exec. */
    int (*release)(int gate, struct kernel_usage *before);
    /** Kill a spawned command that was not released, even if another process holds a copy of its gate. Closes the
     *  gate; the caller still waits for the child. */
    void (*abandon)(int gate, pid_t pid);
    /** Whether the kernel removes the events of a task that executes this program (looked up in PATH as by spawn),
     *  because the task gains privileges or may not read it. */
    bool (*exec_detaches)(const char *program);
    /** wait4, restarted after EINTR. @param used out, may be NULL: usage of the process and of the children it
     *  waited for. @return 0 or -errno. */
    int (*wait)(pid_t pid, int *status, struct kernel_usage *used);
};

/** The real kernel. */
extern const struct kernel_ops upmu_kernel_perf;

/** Returned by core_kernel(), set by core_kernel_use(). */
extern const struct kernel_ops *upmu_kernel_in_use __attribute__((visibility("hidden")));

/** The kernel in use: upmu_kernel_perf unless a test has set another one before anything was opened. Inline,
 *  because it is called while counters run. */
static inline const struct kernel_ops *core_kernel(void)
{
    return upmu_kernel_in_use;
}
void core_kernel_use(const struct kernel_ops *ops);

#endif
