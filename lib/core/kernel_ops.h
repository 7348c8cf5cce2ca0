/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The door between core and the kernel: the only way anything below include/upmu reaches perf_event_open, /proc and
 * sysfs. Two rooms implement it: lib/kernel/ (the real one) and its scripted twin for tests, which replays errors,
 * counters and whole machines. Calls return 0 or a count, or -errno; none prints, none sets upmu_error().
 */
#ifndef UPMU_CORE_KERNEL_OPS_H
#define UPMU_CORE_KERNEL_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/arch_ops.h"

/** perf_event_attr.type of the kernel's fixed PMUs, so that core needs no kernel header. */
enum kernel_type {
    KERNEL_TYPE_HARDWARE = 0,
    KERNEL_TYPE_SOFTWARE = 1,
    KERNEL_TYPE_TRACEPOINT = 2,
    KERNEL_TYPE_HW_CACHE = 3,
    KERNEL_TYPE_RAW = 4,
    /** None of the kernel's: `config` is the code that kernel_ops.named() gave for one of the backend's own events. */
    KERNEL_TYPE_NAMED = INT32_MAX,
    /** None of the kernel's: `config` is an enum kernel_usage_word, read with kernel_ops.usage(). */
    KERNEL_TYPE_USAGE = INT32_MAX - 1,
};

/** Who opens and reads an event. */
enum kernel_backend {
    KERNEL_BACKEND_PERF = 0, /**< perf_event_open, by this library */
    KERNEL_BACKEND_PAPI,     /**< libpapi, opened at run time */
};

/** Generic hardware ids the library itself needs. */
enum kernel_hardware {
    KERNEL_HW_CYCLES = 0,
    KERNEL_HW_INSTRUCTIONS = 1,
};

/** Software event ids the library itself needs. */
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

/** Modes left out of a count. */
enum kernel_exclude {
    KERNEL_EXCLUDE_USER = 1u << 0,
    KERNEL_EXCLUDE_KERNEL = 1u << 1,
    KERNEL_EXCLUDE_HV = 1u << 2,
    KERNEL_EXCLUDE_HOST = 1u << 3,
    KERNEL_EXCLUDE_GUEST = 1u << 4,
};

/** One event to open. */
struct kernel_open {
    uint32_t type;
    uint32_t exclude; /**< enum kernel_exclude */
    uint64_t config, config1, config2;
    pid_t pid;    /**< 0 = calling thread, -1 = any (with cpu) */
    int cpu;      /**< -1 = any */
    int group_fd; /**< leader, -1 = none */
    bool
        disabled; /**< opened stopped: leaders, until all members are open; a member is enabled and runs with its leader */
    bool inherit; /**< threads and children created later count too */
    bool enable_on_exec;
    uint8_t backend; /**< enum kernel_backend; a group is of one backend */
    uint8_t precise; /**< perf_event_attr.precise_ip */
    bool group_read; /**< read gives the whole group with the leader's times: KERNEL_READ_GROUP layout; else the event's
                        own count and times: KERNEL_READ_ONE */
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
};

/** A count read from the mmap page without a system call. */
struct kernel_page_count {
    uint64_t value;
    uint64_t enabled;
    uint64_t running;
    /** Both times are as of the last time the event was scheduled in, not as of now (the kernel grants no user-space
     *  clock). They are equal then, and the count is the exact one of now: given out only while that is so. A ratio of
     *  time differences in which one side is stale means nothing. */
    bool stale_times;
};

/** What the kernel accounts to a task whether events are opened or not. */
struct kernel_usage {
    uint64_t user_ns, system_ns;
    uint64_t minor_faults, major_faults;
    uint64_t switches; /**< voluntary and involuntary; KERNEL_USAGE_UNKNOWN where the source has none */
};
#define KERNEL_USAGE_UNKNOWN UINT64_MAX

/** Events that are words of struct kernel_usage. */
enum kernel_usage_word {
    KERNEL_USAGE_USER,
    KERNEL_USAGE_SYSTEM,
    KERNEL_USAGE_WORDS,
};

/** What the kernel tells of a thread's running. */
enum kernel_switch_kind {
    KERNEL_SWITCH_IN,        /**< it runs again */
    KERNEL_SWITCH_OUT,       /**< it waits for something */
    KERNEL_SWITCH_PREEMPTED, /**< it could have run on */
    KERNEL_SWITCH_LOST,      /**< `value` records of these kinds did not fit; 1 also where at least one may not have */
    /* With tracepoints: */
    KERNEL_SWITCH_WAKES,      /**< it wakes the thread `value` */
    KERNEL_SWITCH_LOCK_BEGIN, /**< it has to wait for the kernel's lock at `value`; `more`: what kind of lock */
    KERNEL_SWITCH_LOCK_END,   /**< and does no more; `more`: what came of it, 0 or -errno */
    KERNEL_SWITCH_POINTS_LOST /**< `value` records of these kinds did not fit */
};

struct kernel_switch {
    uint64_t raw_ns; /**< CLOCK_MONOTONIC_RAW; 0: not known */
    uint64_t value;
    uint32_t cpu;
    uint32_t more;
    uint32_t kind; /**< enum kernel_switch_kind */
};

/** Tracepoints of the kernel. */
enum kernel_point { KERNEL_POINT_WAKING, KERNEL_POINT_LOCK_BEGIN, KERNEL_POINT_LOCK_END, KERNEL_POINTS };

/** Where a record of a tracepoint has what we ask of it. */
struct kernel_point_layout {
    uint64_t id;   /**< 0: not wanted, or not there */
    uint32_t kind; /**< enum kernel_switch_kind of its records */
    uint16_t value, value_bytes;
    uint16_t more, more_bytes; /**< 0 bytes: there is none */
};

/** One of the buffers that the kernel writes to. */
struct kernel_ring {
    const uint64_t *head; /**< written up to here: what is equal to `tail` has nothing new */
    uint64_t tail;        /**< atomic: read up to here */
    void *page;
    size_t page_bytes, data_bytes;
    struct kernel_point_layout layout; /**< id 0: records of switches */
    uint64_t full_at;                  /**< written up to here there was no room for more; 0: there was */
    uint64_t presumed;                 /**< losses told already, of which the kernel may yet tell */
};

/** The buffers of such records of one thread; all zero: there are none. */
struct kernel_switch_log {
    struct kernel_ring ring[1 + KERNEL_POINTS];
    size_t n;
    int refused; /**< errno of the first tracepoint that was wanted and cannot be had, 0: none */
};

/** Whether there is something new. By any thread. */
static inline bool kernel_switches_waiting(const struct kernel_switch_log *log)
{
    for (size_t i = 0; i < log->n; i++)
        if (__atomic_load_n(log->ring[i].head, __ATOMIC_RELAXED) !=
            __atomic_load_n(&log->ring[i].tail, __ATOMIC_RELAXED))
            return true;
    return false;
}

/** System calls that wait for futexes: futex(), and those that newer kernels have beside it. */
enum { KERNEL_FUTEX_CALLS = 3, KERNEL_FUTEX_RECORD = 8 /**< bytes the kernel writes per call */ };

/** The tracepoints of their beginnings. */
struct kernel_futex_points {
    uint64_t id[KERNEL_FUTEX_CALLS]; /**< 0: this kernel has no such call */
    char waits[512];                 /**< which calls of futex() wait, in the kernel's words */
};

/**
 * How often one thread has called the kernel to wait for a futex, since this was opened; all zero: nobody counts. The
 * kernel writes an empty record per call into a page that nobody reads: how much it has written so far is the count, which
 * any thread can look at without a system call, and which nothing is lost of.
 */
struct kernel_futexes {
    const uint64_t *written[KERNEL_FUTEX_CALLS]; /**< bytes so far; NULL past the last */
    void *page[KERNEL_FUTEX_CALLS];
    size_t page_bytes;
    uint64_t own; /**< of these bytes, those of our own trying out */
};

static inline uint64_t kernel_futexes_so_far(const struct kernel_futexes *f)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < KERNEL_FUTEX_CALLS && f->written[i]; i++)
        bytes += __atomic_load_n(f->written[i], __ATOMIC_RELAXED);
    return (bytes - f->own) / KERNEL_FUTEX_RECORD;
}

/** Work of the calling thread that the kernel has accounted for. */
struct kernel_work {
    uint64_t faults, switches; /**< by RUSAGE_THREAD */
    uint64_t cpu_ns;
};

/** Descriptors the library may hold: at most 1/KERNEL_NOFILE_SHARE of RLIMIT_NOFILE, never the last KERNEL_NOFILE_PROGRAM
 *  (so that a program under a low limit runs as without it), and none while fewer than SPARE_DESCRIPTORS are free. */
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
    uint64_t open;       /**< open, those of the library included */
    uint64_t held;       /**< open and the library's */
};

struct kernel_ops {
    const char *name; /**< "perf_event_open", "scripted" */

    /** perf_event_open with close-on-exec, moved to a high number out of the program's way.
     *  @return the descriptor, or -errno; -EMFILE also when the library's share of descriptors is used up;
     *  -EREMOTE when UPMU_FSROOT is set, since what was resolved on a recorded machine is not for this one. Of backends
     *  beside perf_event_open also -ELIBACC (it cannot be used, see backend()), -ENODATA (it has no such event),
     *  -EPROTONOSUPPORT (it cannot count in this way), -EALREADY (it counts this thread for somebody else). */
    int (*open)(const struct kernel_open *req);
    void (*close)(int fd);
    /** Whether calls of perf_event_open reach the kernel at all, by one that every kernel refuses with EINVAL before it
     *  looks at rights. @return 0, or the -errno of what answers in the kernel's place (a seccomp filter) or of a kernel
     *  without the call. */
    int (*reach)(void);
    void (*descriptors)(struct kernel_descriptors *now);
    /** The kernel's own number of an open event, as group reads give it. @return 0 if the kernel tells none (before 3.12).
     */
    uint64_t (*identify)(int fd);
    /** Close an event that was open for long: the program may have closed its descriptor meanwhile (close_range) and given
     *  the number to a file of its own, which is then left alone. `id` as identify() gave it; 0: close in any case. */
    void (*close_event)(int fd, uint64_t id);
    /** One read(2). @return bytes, or -errno. Signal safe, keeps errno. */
    ssize_t (*read)(int fd, void *words, size_t bytes);
    /** Start or stop one event; a group is started and stopped by its leader alone. Never for a member: see
     *  counters_control(). @return 0 or -errno. */
    int (*control)(int fd, enum kernel_verb verb);

    /** Map the self-monitoring page of an event of the calling thread. @return 0 or -errno. */
    int (*map)(int fd, const void **page);
    void (*unmap)(const void *page);
    /** Seqlock read of value and both times through the page. @return 0; -EAGAIN when the page does not grant it at
     *  this moment (not on a counter, cap_user_rdpmc clear, no user-space time): use read. Signal safe, owner only. */
    int (*page_read)(const void *page, arch_counter_read_fn counter, struct kernel_page_count *out);
    /** The page's sequence word, which counts two per context switch of the owning thread. */
    const volatile uint32_t *(*page_sequence)(const void *page);

    /** Context switches of the calling thread (RUSAGE_THREAD, voluntary + involuntary). @return 0 or -errno. */
    int (*thread_switches)(uint64_t *switches);
    /** Do work that every software event of a self-check sees (context switches only with `sleep`), and add what it was. A
     *  cancellation point. @return 0 or -errno; -EOPNOTSUPP: there is no such work here, and nothing to check. */
    int (*work)(struct kernel_work *work, bool sleep);
    /** What is accounted to the calling thread (`pid` 0: getrusage(RUSAGE_THREAD), in microseconds), or to a process and
     *  its threads, past ones included, children not (/proc/PID/stat, in clock ticks). @return 0; -ESRCH (no such
     *  process), -EPROTO (the file is not as expected) or another -errno. With pid 0 signal safe, keeps errno. */
    int (*usage)(pid_t pid, struct kernel_usage *out);
    /** Have the kernel record the calling thread's switches from now on, in a buffer of `bytes` or as much of it as the
     *  limits allow; with what the tracepoints in `points` tell of it (KERNEL_POINTS of them, or NULL), as far as they are
     *  allowed. No descriptor stays open; a forked child has no such buffer. @return 0; -EOPNOTSUPP (a kernel that
     *  cannot tell preemption from waiting), -EREMOTE as open(), -EACCES and others of the kernel. Not signal safe. */
    int (*switches_open)(struct kernel_switch_log *log, size_t bytes, const struct kernel_point_layout *points);
    /** Where tracepoints are and what they look like, as far as that can be read: `layout` has KERNEL_POINTS, those wanted
     *  (a bit each) and found are set. @return 0, or the -errno of the first that was not found. */
    int (*points_find)(uint32_t wanted, struct kernel_point_layout *layout);
    /** The next record in time, if there is one. By any one thread at a time. Signal safe, keeps errno. */
    bool (*switches_next)(struct kernel_switch_log *log, struct kernel_switch *out);
    void (*switches_close)(struct kernel_switch_log *log);
    /** Where the tracepoints are that tell of waits for futexes. @return 0; -EREMOTE as open(); -ENOENT (no tracefs, or a
     *  kernel without them), -EACCES and others of the kernel. */
    int (*futexes_find)(struct kernel_futex_points *points);
    /** Count the calling thread's calls to wait for futexes from now on, but those of base/tiny_lock.h. No descriptor stays
     *  open; a forked child has no such count. @return 0; -EPROTO (the kernel does not count as we expect, which is tried
     *  out), -EMFILE, -EACCES, -EPERM and others of the kernel. Not signal safe. */
    int (*futexes_open)(struct kernel_futexes *f, const struct kernel_futex_points *points);
    void (*futexes_close)(struct kernel_futexes *f);

    /** Kernel thread id of the caller. */
    pid_t (*gettid)(void);

    /** Threads of a process, from /proc/PID/task. @return their number, at most `cap` stored; or -errno (-ESRCH: no
     *  such process). */
    ssize_t (*threads)(pid_t pid, pid_t *tids, size_t cap);
    /** Whether a backend can be used. @param reason out: why not, with the remedy; or what it is. Lives as long as the
     *  process. @return 0 or -ELIBACC. */
    int (*backend)(enum kernel_backend which, const char **reason);
    /** The code of an event that the backend knows by its own name (a PAPI preset, an event of a PAPI component).
     *  @return 0, -ENOENT or another -errno. */
    int (*named)(enum kernel_backend which, const char *name, uint64_t *code);
    /** Whether files are those of a recorded machine instead of the running one. */
    bool (*recorded)(void);
    /** What the CPU says of itself by `ask`, as arch_cpu_ask(). @return NULL on a recorded machine: the running one is not
     *  asked. */
    const char *(*ask_cpu)(arch_cpu_ask_fn ask, struct arch_cpu *out);
    /** Read a small text file of /proc or /sys whole (under UPMU_FSROOT where that is set). NUL-terminated.
     *  @return bytes, -EFBIG when it does not fit (the buffer then holds the beginning), or -errno. */
    ssize_t (*read_file)(const char *path, char *buf, size_t cap);
    /** Names in a directory, each with `each`, sorted; a non-zero return ends it and is returned. @return 0 or -errno.
     * */
    int (*list_dir)(const char *path, int (*each)(const char *name, void *arg), void *arg);
    /** Start argv stopped just before exec. @return pid with *gate the descriptor that releases it, or -errno.
     *  Giving the gate to close() instead of release() ends the child quietly. */
    pid_t (*spawn)(char *const argv[], int *gate);
    /** Release a spawned command and learn how its exec went. Closes the gate.
     *  @param before out, may be NULL: what the process had used just before exec; all zero if it ended before
     *  @return 0, or -errno of exec. */
    int (*release)(int gate, struct kernel_usage *before);
    /** End a spawned command that was not released, whoever else holds a copy of its gate. Closes the gate; the child is
     *  still to be waited for. */
    void (*abandon)(int gate, pid_t pid);
    /** Whether the kernel takes events off a task that executes this program (looked up in PATH as by spawn), because the
     *  task gains rights by it or may not read it. */
    bool (*exec_detaches)(const char *program);
    /** wait4 continued over EINTR. @param used out, may be NULL: of the process and the children it waited for.
     *  @return 0 or -errno. */
    int (*wait)(pid_t pid, int *status, struct kernel_usage *used);
};

/** The real kernel. */
extern const struct kernel_ops upmu_kernel_perf;

/** Read through core_kernel(), set by core_kernel_use(). */
extern const struct kernel_ops *upmu_kernel_in_use __attribute__((visibility("hidden")));

/** The kernel in use: upmu_kernel_perf unless a test has set another (before anything is opened). Inline, since it is
 *  asked while counters run. */
static inline const struct kernel_ops *core_kernel(void)
{
    return upmu_kernel_in_use;
}
void core_kernel_use(const struct kernel_ops *ops);

#endif
