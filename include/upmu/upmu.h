/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Performance counters: events by name, sets of events, values with a status, metrics, plans, and machine diagnosis.
 *
 *     struct upmu_set *set;
 *     struct upmu_value v[2];
 *     if (upmu_set_open(&set, "instructions,page-faults", NULL) < 0 || upmu_set_start(set) < 0) {
 *         fprintf(stderr, "%s\n", upmu_error());
 *         return;
 *     }
 *     work();
 *     upmu_set_stop(set);
 *     upmu_set_read(set, v, 2);
 *     upmu_set_close(set);
 *
 * Event names (grammar: docs/naming.md):
 *   cycles, l1d-load-miss ...   vendor-neutral names of libupmu
 *   cache-misses, PAPI_TOT_INS  names of perf and PAPI, where the meaning is the same
 *   msr/tsc/, cpu/event=0x3c/   a kernel PMU, with an event of its sysfs folder or its format fields
 *   native::NAME                the CPU's own event name, from the CPU's table or libpfm4
 *   r1a8                        a raw encoding of the core PMU, hexadecimal
 *   skl::NAME                   as native::NAME, with the PMU name of libpfm4 or that of the CPU
 *   sched:sched_switch          a kernel tracepoint, subsystem:event
 *   ipc, l1d-miss-ratio         a metric: the events of its formula, each once (upmu_metric_at())
 * each optionally followed by perf's modifiers: `:u` user mode only, `:k` kernel mode only, `:h` hypervisor mode, `:G` guests,
 * `:H` the host, `:p` precise. In lists, `{a,b}` puts events into one kernel group, which is counted at the same time or
 * refused.
 */
#ifndef UPMU_UPMU_H
#define UPMU_UPMU_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/api.h"
#include "upmu/version.h"

UPMU_BEGIN_DECLS

/* ------------------------------------------------------------------------------------------------ errors */

/**
 * Error codes. The numbers are stable and the same on every architecture. upmu_strerror() has a short text, upmu_error() the
 * message of the last failure.
 */
enum upmu_code {
    UPMU_OK = 0,             /**< success */
    UPMU_E_INVAL = -1,       /**< an argument or an option struct is not valid */
    UPMU_E_NOMEM = -2,       /**< out of memory */
    UPMU_E_NAME = -3,        /**< no event, metric, region, ... of this name or id */
    UPMU_E_UNSUPPORTED = -4, /**< this CPU, PMU or kernel cannot count the event */
    UPMU_E_NO_PMU = -5,      /**< the kernel has no hardware PMU (usual in virtual machines) */
    UPMU_E_PERM = -6,        /**< perf_event_paranoid or a missing capability denies it */
    UPMU_E_SECCOMP = -7,     /**< a seccomp filter or security module denies perf_event_open */
    UPMU_E_NO_SYSCALL = -8,  /**< perf_event_open does not exist (kernel, emulator or filter: ENOSYS) */
    UPMU_E_NFILES = -9,      /**< too many open descriptors, or libupmu's share of them is used up */
    UPMU_E_MLOCK = -10,      /**< perf_event_mlock_kb and RLIMIT_MEMLOCK permit no further mmap page */
    UPMU_E_BUSY = -11,       /**< the PMU is reserved by another user */
    UPMU_E_GONE = -12,       /**< the process, thread or CPU does not exist, or no longer */
    UPMU_E_FIT = -13,        /**< the events cannot be counted together on this CPU */
    UPMU_E_STATE = -14,      /**< the call is not valid in the object's state (for example read before start) */
    UPMU_E_IO = -15,         /**< reading or writing a file failed, or a read was short */
    UPMU_E_FORMAT = -16,     /**< the data is not in the expected format (a damaged or foreign trace) */
    UPMU_E_VERSION = -17,    /**< written by a release that this one cannot read */
    UPMU_E_LIMIT = -18,      /**< a fixed limit of the library is reached; the message names it */
    UPMU_E_SYSTEM = -19,     /**< another kernel error; the message has its errno */
    UPMU_E_BACKEND = -20,    /**< the chosen backend (UPMU_BACKEND) is not available */
    UPMU_E_PARTIAL = -21,    /**< the event ran for less time than its group: the count would be too low */
    UPMU_E_JUMP = -22,       /**< the counter changed by an impossible amount: a fault of the (virtual) PMU */
    UPMU_E_RANGE = -23,      /**< a derived event is below 0 or beyond 64 bits */
    UPMU_E_END = -24,    /**< the index is past the last entry of a table; not a failure, upmu_error() is not changed */
    UPMU_E_NESTED = -25, /**< recording is on already with other options, which do not change */
};

/** Short English text of a code ("permission denied by the kernel"); never NULL, for any number. Async-signal-safe. */
UPMU_API const char *upmu_strerror(int code);

/**
 * Message of the calling thread's last failure, with cause and remedy; "" if there is none. Never NULL. Owned by the library,
 * valid until the thread's next failure. Success does not change it. Two kinds of failure do not change it either, and
 * upmu_strerror() describes their codes: UPMU_E_END, and failures of functions documented as async-signal-safe
 * (upmu_region_begin() and the like, upmu_mark(), upmu_sync_set_mode()). Exception: the first region of a thread, which opens
 * its counters, may set a message.
 */
UPMU_API const char *upmu_error(void);

/** Code of the message of upmu_error(); UPMU_OK if there is none. */
UPMU_API int upmu_error_code(void);

/**
 * Copy the message of upmu_error(), for languages in which a thread of execution may change its system thread between two
 * calls.
 * @param text out: at most `size` bytes with the terminating NUL; may be NULL if `size` is 0
 * @return length of the message in bytes; the copy is truncated if this is `size` or more.
 */
UPMU_API size_t upmu_error_copy(char *text, size_t size);

/** Version of the library in use, as "0.2.0"; compare with UPMU_VERSION_STRING of the headers. Async-signal-safe. */
UPMU_API const char *upmu_version(void);

/* ------------------------------------------------------------------------------------------------ values */

/** Status of a value. Only exact and scaled values have a number. */
enum upmu_status {
    UPMU_NOT_COUNTED = 0, /**< opened, but not on a counter during the interval */
    UPMU_EXACT = 1,       /**< counted during the whole interval */
    UPMU_SCALED = 2,      /**< counted during a part of it (running < enabled) and extrapolated */
    UPMU_REFUSED = 3,     /**< not counted because of permission, limits or another user of the PMU: see `cause` */
    UPMU_UNSUPPORTED = 4, /**< this CPU, PMU or kernel cannot count it: see `cause` */
};

/** upmu_value.value without a number: so large that a missing check of the status is noticed. */
#define UPMU_NO_VALUE UINT64_MAX

/** A count and its status. */
struct upmu_value {
    uint64_t value;   /**< the count, in the unit of the event; UPMU_NO_VALUE unless exact or scaled */
    uint64_t raw;     /**< the count before scaling */
    uint64_t enabled; /**< time that the event was enabled, nanoseconds */
    uint64_t running; /**< time that it was on a counter, nanoseconds */
    int32_t status;   /**< enum upmu_status */
    int32_t cause;    /**< enum upmu_code: cause of REFUSED and UNSUPPORTED, else 0 */
};

/** "exact", "scaled", "not counted", "refused", "unsupported"; "?" for any other number. Async-signal-safe. */
UPMU_API const char *upmu_status_name(int status);

/** The weaker of two statuses, in the order exact, scaled, not counted, refused, unsupported. Async-signal-safe. */
UPMU_API int upmu_status_weakest(int a, int b);

/* ------------------------------------------------------------------------------------------------ events */

/** Match of an encoding with the definition of a vendor-neutral name. */
enum upmu_match {
    UPMU_MATCH_ABSENT = 0,      /**< this CPU has no such event */
    UPMU_MATCH_EXACT = 1,       /**< as defined, according to documents */
    UPMU_MATCH_APPROXIMATE = 2, /**< similar: `note` has the difference */
};

/** Modes in which an event is not counted, as bits. */
enum upmu_exclude {
    UPMU_EXCLUDE_USER = 1u << 0,   /**< user mode */
    UPMU_EXCLUDE_KERNEL = 1u << 1, /**< kernel mode */
    UPMU_EXCLUDE_HV = 1u << 2,     /**< hypervisor mode */
    UPMU_EXCLUDE_HOST = 1u << 3,   /**< counted in virtual machines only */
    UPMU_EXCLUDE_GUEST = 1u << 4,  /**< counted on the host only */
    UPMU_EXCLUDE_NAMED = 1u << 8,  /**< the modes are those of the name's modifier: none may be excluded beside these */
};

/** Description of an event on this machine. Strings are valid for the life of the process. */
struct upmu_event_info {
    size_t size;               /**< in: sizeof(struct upmu_event_info); out: bytes filled */
    const char *name;          /**< canonical name with modifiers */
    const char *summary;       /**< one line: what is counted */
    const char *unit;          /**< "" for plain counts, "ns" for clocks */
    const char *papi;          /**< PAPI preset of the same meaning, or NULL */
    const char *perf;          /**< perf's generic name, or NULL */
    const char *pmu;           /**< kernel PMU that counts it ("software", "cpu", "msr"); NULL if absent */
    uint32_t type;             /**< perf_event_attr.type; UINT32_MAX for a derived event */
    int32_t match;             /**< enum upmu_match */
    uint64_t config;           /**< perf_event_attr.config; this and the next two UPMU_NO_VALUE for a derived event */
    uint64_t config1;          /**< perf_event_attr.config1 */
    uint64_t config2;          /**< perf_event_attr.config2 */
    const char *encoding;      /**< the encoding as text, with the raw encoding of a perf generic event */
    const char *counters;      /**< counters that can count it ("0-3", "fixed 1", "any"), "" if unknown */
    const char *note;          /**< why it is approximate or absent, else "" */
    const char *source;        /**< document of the encoding, "" for events of the running kernel */
    uint64_t raw_encoding;     /**< raw encoding, of a perf generic event, too; UPMU_NO_VALUE: none or unknown */
    const char *generic_event; /**< perf generic event of the name ("hw-cache:0x10001"), used or not; "" if none */
    /** Which of the two is used, and what is known of the other one; "" for events outside the CPU's table. The reason is
     *  upmu_cpu_info.rule. */
    const char *choice;
    /** Derived event: the weighted sum, as in "dtlb-load-miss + dtlb-store-miss"; else "". Its terms are counted together if
     *  they fit; its status is the weakest of theirs; a sum below 0 or beyond 64 bits is NOT_COUNTED (UPMU_E_RANGE). */
    const char *formula;
    double scale;           /**< a count times this is in `scale_unit`; 1 for plain counts */
    const char *scale_unit; /**< "Joules", as in the kernel's sysfs; "" if none */
    /** CPUs on which it is counted with UPMU_TARGET_CPU, one per socket or die ("0,18"); "" if it counts tasks. */
    const char *cpus;
    uint32_t exclude; /**< enum upmu_exclude, from the modifiers `u`, `k`, `G` and `H` and the CPU's rules */
    uint32_t precise; /**< perf_event_attr.precise_ip, from the modifier `p`; 4: the highest that is accepted (`P`) */
};
#define UPMU_EVENT_INFO_SIZE_V1 UPMU_SIZE_V1_(struct upmu_event_info, 176)

/**
 * Find an event by its name. No event is opened.
 * @return 0; UPMU_E_NAME (unknown; the message suggests a name), UPMU_E_UNSUPPORTED (known, but absent on this CPU: `info` is
 *         filled, with UPMU_MATCH_ABSENT), UPMU_E_INVAL (size, NULL or malformed name), UPMU_E_NOMEM.
 * Thread safe, not async-signal-safe.
 */
UPMU_API UPMU_CHECKED int upmu_event_find(const char *name, struct upmu_event_info *info);

/**
 * Test whether an event can be counted: open it for the calling thread, run, read and close it.
 * @param name    one event
 * @param counted may be NULL: the event is only opened and run. Otherwise out: its count over a load of some hundred
 *                microseconds in the calling thread: many kinds of instructions, mispredicted branches, cache and TLB misses,
 *                page faults and a sleep. 0: the event runs, but is rare or its counter does not work
 * @return 0 if it can be counted; else the code of the cause, as upmu_set_open() with UPMU_SET_STRICT; UPMU_E_INVAL (NULL).
 * Thread safe, not async-signal-safe.
 */
UPMU_API UPMU_CHECKED int upmu_event_probe(const char *name, uint64_t *counted);

/** Number of event names of this machine: the vendor-neutral set (absent ones included), then the events of kernel PMUs in
 *  sysfs, which is read once. Thread safe, not async-signal-safe. */
UPMU_API size_t upmu_event_count(void);

/** Name of event `i`. @param name out: valid for the life of the process; NULL on failure
 *  @return 0; UPMU_E_END; UPMU_E_INVAL (NULL). Thread safe, not async-signal-safe. */
UPMU_API UPMU_CHECKED int upmu_event_name_at(size_t i, const char **name);

/* -------------------------------------------------------------------------------------------------- CPUs */

/** A CPU family with a table in libupmu. Strings are static. */
struct upmu_cpu_info {
    size_t size;             /**< in: sizeof(struct upmu_cpu_info); out: bytes filled */
    const char *name;        /**< key of the core family: "gs464e", "zen3", "generic" */
    const char *title;       /**< full name with the chips: "Loongson GS464E (3A2000, 3A3000)" */
    const char *vendor;      /**< "loongson", "sunway", "x86", "arm", "riscv", "generic" */
    const char *remark;      /**< note for users of this CPU, or "" */
    const char *rule;        /**< rule by which its events use perf generic events or raw encodings */
    uint32_t counters;       /**< number of general counters; 0 = unknown */
    uint32_t fixed_counters; /**< number of further counters for one event each */
    uint32_t counter_bits;   /**< width of a counter; 0 = unknown */
};
#define UPMU_CPU_INFO_SIZE_V1 UPMU_SIZE_V1_(struct upmu_cpu_info, 64)

/**
 * Find a CPU family, on any machine.
 * @param cpu key of a family or name of a chip, in any case, with or without the name of the manufacturer
 *            ("Loongson-3A5000", "kx-6000", "sw831"); NULL: the running machine
 * @return 0; UPMU_E_NAME (unknown; the message suggests a name), UPMU_E_INVAL (NULL, size). Thread safe, not
 *         async-signal-safe.
 */
UPMU_API UPMU_CHECKED int upmu_cpu_find(const char *cpu, struct upmu_cpu_info *info);

/** Number of CPU families. Async-signal-safe. */
UPMU_API size_t upmu_cpu_count(void);

/** CPU family `i`. @return 0; UPMU_E_END; UPMU_E_INVAL (NULL, size). Thread safe, not async-signal-safe. */
UPMU_API UPMU_CHECKED int upmu_cpu_at(size_t i, struct upmu_cpu_info *info);

/** Find an event of a CPU by its name, as upmu_event_find(), on any machine, from the CPU's table only. Names of the running
 *  kernel (`pmu/event/`) are UPMU_E_NAME. `cpu` as for upmu_cpu_find(). Thread safe, not async-signal-safe. */
UPMU_API UPMU_CHECKED int upmu_cpu_event_find(const char *cpu, const char *name, struct upmu_event_info *info);

/** Number of names in a CPU's table: the vendor-neutral set (absent ones included), then the CPU's own names as
 *  `native::NAME`; 0 for an unknown CPU. `cpu` as for upmu_cpu_find(). Thread safe, not async-signal-safe. */
UPMU_API size_t upmu_cpu_event_count(const char *cpu);

/** Name of event `i` of a CPU. @param name out: valid for the life of the process; NULL on failure
 *  @return 0; UPMU_E_END; UPMU_E_NAME (unknown CPU), UPMU_E_INVAL (NULL), UPMU_E_NOMEM. Thread safe, not async-signal-safe. */
UPMU_API UPMU_CHECKED int upmu_cpu_event_name_at(const char *cpu, size_t i, const char **name);

/* ----------------------------------------------------------------------------------------------- metrics */

/** A metric. Strings are valid for the life of the process. */
struct upmu_metric_info {
    size_t size;               /**< in: sizeof(struct upmu_metric_info); out: bytes filled */
    const char *name;          /**< "ipc" */
    const char *summary;       /**< "instructions per cycle" */
    const char *formula;       /**< "100 * l1d-miss / l1d-access": arithmetic over events and `wall-time` in seconds */
    const char *unit;          /**< "", "%", "/s" */
    const char *events;        /**< its events, comma-separated, for upmu_set_open(); "" if only time is used */
    const char *missing_event; /**< the missing event, if this CPU cannot compute the metric; else "" */
    int32_t on_demand;         /**< 1: equivalent to another metric; lists leave it out unless asked for by name */
};
#define UPMU_METRIC_INFO_SIZE_V1 UPMU_SIZE_V1_(struct upmu_metric_info, 64)

/** Metric `index`: those of the library, then those of users. Of several formulas for a metric, the first one whose events the
 *  CPU has is returned. @return 0; UPMU_E_END; UPMU_E_INVAL (NULL, size). Thread safe, not async-signal-safe. */
UPMU_API UPMU_CHECKED int upmu_metric_at(size_t index, struct upmu_metric_info *info);

/** Metric `index` on a CPU, on any machine; `cpu` as for upmu_cpu_find(). The names are those of upmu_metric_at(); `formula`,
 *  `events` and `missing_event` may differ. @return as upmu_metric_at(); UPMU_E_NAME (unknown CPU). */
UPMU_API UPMU_CHECKED int upmu_cpu_metric_at(const char *cpu, size_t index, struct upmu_metric_info *info);
/** Number of metrics, the same for every CPU. Thread safe, not async-signal-safe. */
UPMU_API size_t upmu_metric_count(void);

/**
 * Define metrics from a file. A line is `name = formula`; `#` begins a comment. A formula has + - * / and parentheses over
 * numbers, event names as for upmu_set_open(), and `wall-time` (seconds); - and / need blanks around them. The file named by
 * the variable UPMU_METRICS is read before the first metric is looked up.
 * @param path NULL: return the result of reading the file of UPMU_METRICS
 * @return number of metrics read (0 without UPMU_METRICS); UPMU_E_IO (unreadable), UPMU_E_FORMAT (the message has file, line and
 *         cause; no metric of the file is defined), UPMU_E_NOMEM. Thread safe, not async-signal-safe.
 */
UPMU_API UPMU_CHECKED int upmu_metric_load(const char *path);

/** A group of related metrics. Strings are valid for the life of the process. */
struct upmu_metric_group_info {
    size_t size;         /**< in: sizeof(struct upmu_metric_group_info); out: bytes filled */
    const char *name;    /**< "cache" */
    const char *summary; /**< one line */
    const char *metrics; /**< its metrics that the CPU can compute, comma-separated; "" if none */
    const char *events;  /**< the events of these, each once, for upmu_set_open() */
};
#define UPMU_METRIC_GROUP_INFO_SIZE_V1 UPMU_SIZE_V1_(struct upmu_metric_group_info, 40)

/**
 * Metric group `index`.
 * @param cpu as for upmu_cpu_find(); NULL: this machine
 * @return 0; UPMU_E_END; UPMU_E_NAME (unknown CPU), UPMU_E_INVAL (NULL, size), UPMU_E_NOMEM. Thread safe, not
 *         async-signal-safe.
 */
UPMU_API UPMU_CHECKED int upmu_metric_group_at(const char *cpu, size_t index, struct upmu_metric_group_info *info);
/** Number of metric groups. Thread safe. */
UPMU_API size_t upmu_metric_group_count(void);

/** Value of a metric. */
struct upmu_metric_value {
    double value;   /**< the number if `status` is exact or scaled, else NaN */
    int32_t status; /**< enum upmu_status: the weakest status of its events */
    int32_t cause;  /**< enum upmu_code: cause of REFUSED and UNSUPPORTED, else 0 */
};

/**
 * Compute a metric from values.
 * @param names   `n` names of the counted events, from upmu_set_name() or as given to upmu_set_open()
 * @param values  their values. Counts of an event with a scale (upmu_event_info.scale) are multiplied by it
 * @param seconds wall time of the interval, for rates
 * @return 0, also if an event has no number (see `status`); UPMU_E_NAME (no such metric, or one of its events is not in
 *         `names`); UPMU_E_INVAL (NULL). Thread safe.
 */
UPMU_API UPMU_CHECKED int upmu_metric_eval(const char *metric, const char *const *names,
                                           const struct upmu_value *values, size_t n, double seconds,
                                           struct upmu_metric_value *out);

/* -------------------------------------------------------------------------------------------------- sets */

/**
 * A set of events counted for one target. One thread at a time. It belongs to the process that opened it: in a child made by
 * fork(), upmu_set_close() frees the child's copy without effect on the parent's counters and command; start, stop, reset,
 * read and wait return UPMU_E_STATE. A set with UPMU_TARGET_THREAD can be started, stopped, reset and read only by the thread
 * that opened it (UPMU_E_STATE in others), and closed by any thread.
 */
struct upmu_set;

/** Target of a set. */
enum upmu_target {
    UPMU_TARGET_THREAD = 0,  /**< the calling thread (the default); with user-space reads where permitted */
    UPMU_TARGET_PROCESS = 1, /**< all threads of process `pid`, and threads and processes that they create later */
    /** The command `argv`, started by upmu_set_start(), with all its children. The kernel stops counting a program that gains
     *  privileges at exec (set-user-ID, set-group-ID, file capabilities) or is unreadable: if `argv` is one, all values are
     *  REFUSED (UPMU_E_PERM); the counts of a child end when it becomes one. */
    UPMU_TARGET_COMMAND = 2,
    UPMU_TARGET_CPU = 3,  /**< everything on CPU `cpu`; needs perf_event_paranoid <= 0 or CAP_PERFMON */
    UPMU_TARGET_TASK = 4, /**< thread `pid` of any process, and threads and processes that it creates later */
};

/** Flags of a set. */
enum upmu_set_flag {
    /** Fail if an event cannot be counted. Default: such events are REFUSED or UNSUPPORTED, the others are counted. */
    UPMU_SET_STRICT = 1u << 0,
    /** Do not read through the mmap page even where permitted (for comparison). */
    UPMU_SET_NO_USER_READ = 1u << 1,
    /** Target thread: also count threads and processes that it creates later (without user-space reads). */
    UPMU_SET_INHERIT = 1u << 2,
    /** Target process, task or command: do not count threads and processes created later. */
    UPMU_SET_NO_INHERIT = 1u << 3,
    /** Count all events of the core PMU at the same time: if they would be multiplexed, opening fails with UPMU_E_FIT.
     *  Default: they are multiplexed, with SCALED values. */
    UPMU_SET_TOGETHER = 1u << 4,
};

/** Options of upmu_set_open(); NULL or all zero but `size`: the calling thread. */
struct upmu_set_opts {
    size_t size;     /**< sizeof(struct upmu_set_opts) */
    uint32_t target; /**< enum upmu_target */
    uint32_t flags;  /**< enum upmu_set_flag */
    pid_t pid;       /**< UPMU_TARGET_PROCESS, UPMU_TARGET_TASK */
    int cpu;         /**< UPMU_TARGET_CPU: from 0 */
    char *const
        *argv; /**< UPMU_TARGET_COMMAND: NULL-terminated; argv[0] is searched in PATH. Not used after the call */
    /** "perf" (perf_event_open; also NULL and "") or "papi" (libpapi, opened at run time). The variable UPMU_BACKEND takes
     *  precedence. PAPI has no user-space reads by libupmu, no commands and no inheritance, and events that do not fit at the
     *  same time are refused. Not used after the call. */
    const char *backend;
};
#define UPMU_SET_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_set_opts, 40)

/**
 * Open counters, stopped and at zero.
 * @param set    out: to be closed with upmu_set_close(); NULL on failure
 * @param events comma-separated event names
 * @param opts   may be NULL
 * @return 0, also if some events cannot be counted (see the status of their values), unless UPMU_SET_STRICT;
 *         UPMU_E_NAME (unknown event), UPMU_E_INVAL, UPMU_E_NOMEM, UPMU_E_GONE (no such pid or CPU), UPMU_E_PERM (process of
 *         another user), UPMU_E_BACKEND (not available), UPMU_E_FIT (UPMU_SET_TOGETHER: the events do not fit); with STRICT
 *         also the code of the first event that cannot be counted. Not async-signal-safe.
 */
UPMU_API UPMU_CHECKED int upmu_set_open(struct upmu_set **set, const char *events, const struct upmu_set_opts *opts);

/** Number of events, in the order given to upmu_set_open(); 0 if `set` is NULL. */
UPMU_API size_t upmu_set_event_count(const struct upmu_set *set);

/** Name of event `i` with the modifiers in force (":u" is added where the kernel permits user mode only); NULL past the last
 *  event. Valid until the set is closed. */
UPMU_API const char *upmu_set_name(const struct upmu_set *set, size_t i);

/** Why event `i` is not counted, with a remedy; "" if it is counted. Valid until the set is closed. */
UPMU_API const char *upmu_set_reason(const struct upmu_set *set, size_t i);

/** Number of kernel groups for the events of one thread or CPU; if above 1 they may be multiplexed. */
UPMU_API size_t upmu_set_group_count(const struct upmu_set *set);

/** Number of counted threads or CPUs: 1 for the calling thread, a command or a CPU. */
UPMU_API size_t upmu_set_instance_count(const struct upmu_set *set);

/** 1 if event `i` can be read without a system call at this time (decided anew at each read), else 0. */
UPMU_API int upmu_set_user_read(const struct upmu_set *set, size_t i);

/**
 * Start counting; a command is executed now. No effect on a running set.
 * @return 0; UPMU_E_STATE (the command has ended; another process or thread), UPMU_E_IO (the command cannot be executed; the
 *         message has the cause), UPMU_E_SYSTEM, UPMU_E_BUSY (PAPI counts this thread for another user), UPMU_E_INVAL (NULL).
 */
UPMU_API UPMU_CHECKED int upmu_set_start(struct upmu_set *set);

/** Stop counting; values can be read further on. No effect on a stopped set.
 *  @return 0; UPMU_E_SYSTEM; UPMU_E_STATE (another process or thread); UPMU_E_INVAL (NULL). */
UPMU_API int upmu_set_stop(struct upmu_set *set);

/** Reset all counts and times to zero, running or not.
 *  @return 0; UPMU_E_SYSTEM; UPMU_E_STATE (another process or thread); UPMU_E_INVAL (NULL). */
UPMU_API int upmu_set_reset(struct upmu_set *set);

/**
 * Read all events, running or stopped: the sum over the counted threads.
 * @param values out: the first upmu_set_event_count() entries of `n`; unreadable events have a status without a number
 * @return number of events; UPMU_E_INVAL (NULL, `n` too small); UPMU_E_STATE (never started; another process or thread).
 * No allocation. A count that decreased is NOT_COUNTED. If the program closed descriptors of the library (close_range()), the
 * values are REFUSED from then on.
 */
UPMU_API int upmu_set_read(struct upmu_set *set, struct upmu_value *values, size_t n);

/** Name of the kernel PMU that counts event `i` on the `kind`-th core type (from 0), NULL past the last core type. Most
 *  machines have one; values of upmu_set_read() are sums over all. Valid until the set is closed. */
UPMU_API const char *upmu_set_core_type(const struct upmu_set *set, size_t i, size_t kind);

/**
 * Value of event `i` on one core type, as of the last upmu_set_read(). Its times are those on that core type.
 * @return 0; UPMU_E_END (no such event or core type); UPMU_E_INVAL (NULL); UPMU_E_STATE (never started; another process or
 *         thread).
 */
UPMU_API UPMU_CHECKED int upmu_set_read_core_type(struct upmu_set *set, size_t i, size_t kind,
                                                  struct upmu_value *value);

/**
 * Wait for the end of the command. Interrupted waits are continued.
 * @param status out, may be NULL: exit status as from waitpid(2)
 * @return 0; UPMU_E_STATE (no command, not started, another process); UPMU_E_INVAL (NULL).
 */
UPMU_API int upmu_set_wait(struct upmu_set *set, int *status);

/**
 * Check whether the target of a set still exists. May be called by any thread of the process that opened the set.
 * @return 1: the thread, process or command exists (a command also before its start), or the CPU is online; 0: it has ended,
 *         even if its process id is in use again; UPMU_E_INVAL (NULL), UPMU_E_STATE (a forked child), UPMU_E_SYSTEM (/proc is not
 *         mounted or hides the process). Reads /proc; not async-signal-safe.
 */
UPMU_API UPMU_CHECKED int upmu_set_alive(struct upmu_set *set);

/**
 * Measure the counts of an empty upmu_set_start() and upmu_set_stop() pair of this set, to be subtracted from each
 * measurement: the minimum of several tries, per event. Counts and times of the set do not change.
 * @param values out: the first upmu_set_event_count() entries of `n`; events without a number have none here
 * @return number of events; UPMU_E_INVAL (NULL, `n` too small); UPMU_E_STATE (target is not UPMU_TARGET_THREAD; the set is
 *         running; another process or thread); UPMU_E_SYSTEM, UPMU_E_BUSY as upmu_set_start(). Allocates; not
 *         async-signal-safe.
 */
UPMU_API UPMU_CHECKED int upmu_set_overhead(struct upmu_set *set, struct upmu_value *values, size_t n);

/** Resource usage of a command from the kernel's accounting, which needs no permission to count. */
struct upmu_usage {
    size_t size;           /**< in: sizeof(struct upmu_usage); out: bytes filled */
    uint64_t user_ns;      /**< CPU time in user mode, nanoseconds */
    uint64_t system_ns;    /**< CPU time in kernel mode, nanoseconds */
    uint64_t minor_faults; /**< page faults without I/O */
    uint64_t major_faults; /**< page faults with I/O */
    uint64_t switches;     /**< voluntary and involuntary context switches */
};
#define UPMU_USAGE_SIZE_V1 UPMU_SIZE_V1_(struct upmu_usage, 48)

/**
 * Resource usage of the command of a set between exec and its end, with those children that were waited for. The kernel does
 * not account for children that still run, nor for those reaped automatically.
 * @return 0; UPMU_E_INVAL (NULL, size); UPMU_E_STATE (no command, upmu_set_wait() not done, or no accounting).
 */
UPMU_API UPMU_CHECKED int upmu_set_usage_read(const struct upmu_set *set, struct upmu_usage *usage);

/** Process id of the counted command or process; 0 for other targets, and for a command before its start. */
UPMU_API pid_t upmu_set_pid(const struct upmu_set *set);

/** Close and free; NULL does nothing. A running command is not affected; a command that was never started is removed. */
UPMU_API void upmu_set_close(struct upmu_set *set);

/* ------------------------------------------------------------------------------------------------- plans */

/** Plan of a list of events: groups, counters, multiplexing. No event is opened. One thread at a time. */
struct upmu_plan;

/** Role of an entry of a plan. */
enum upmu_plan_role {
    UPMU_PLAN_EVENT = 0,     /**< an event of the list, on the first core type */
    UPMU_PLAN_CORE_TYPE = 1, /**< the same event on another core type, to be added */
    UPMU_PLAN_FILLER = 2,    /**< opened to keep other groups from being scheduled with its own; not read */
    UPMU_PLAN_TERM = 3,      /**< a further event of the formula of a derived event */
};

/** An entry of a plan. Strings are valid until the plan is closed. */
struct upmu_plan_entry {
    size_t size;          /**< in: sizeof(struct upmu_plan_entry); out: bytes filled */
    const char *name;     /**< event name */
    const char *pmu;      /**< kernel PMU that counts it; "" if none */
    const char *encoding; /**< as in struct upmu_event_info */
    const char *counter;  /**< counter in its group: "0", "fixed 1", "0 and 1"; "" if unknown */
    const char *reason;   /**< why it is in no group, with a remedy; else "" */
    uint32_t role;        /**< enum upmu_plan_role */
    uint32_t event;       /**< index of its event in the list */
    uint32_t same_as;     /**< entry whose count it shares; its own index if it is opened itself */
    int32_t group;        /**< group, from 0; -1: none, see `cause`, or no event is needed (user-time) */
    uint32_t multiplexed; /**< number of groups multiplexed with its own, itself included; 1 = counted all the time */
    int32_t cause;        /**< enum upmu_code if it is in no group, else 0 */
};
#define UPMU_PLAN_ENTRY_SIZE_V1 UPMU_SIZE_V1_(struct upmu_plan_entry, 72)

/**
 * Plan a list of events.
 * @param plan   out: to be closed with upmu_plan_close(); NULL on failure
 * @param cpu    as for upmu_cpu_find(); NULL: the running machine
 * @param events comma-separated event names
 * @return 0, also if some events are in no group; UPMU_E_NAME (unknown event or CPU), UPMU_E_INVAL, UPMU_E_LIMIT (too many
 *         events), UPMU_E_NOMEM. Not async-signal-safe.
 */
UPMU_API UPMU_CHECKED int upmu_plan_open(struct upmu_plan **plan, const char *cpu, const char *events);

/** Number of entries: the events in the order of the list, then the others. */
UPMU_API size_t upmu_plan_entry_count(const struct upmu_plan *plan);

/** Number of groups. */
UPMU_API size_t upmu_plan_group_count(const struct upmu_plan *plan);

/** 1 if the number of groups is proven to be minimal (always up to eight events, nearly always with more), else 0. */
UPMU_API int upmu_plan_proven(const struct upmu_plan *plan);

/** Current limit of the counters of the running machine (the kernel's watchdog), or "". */
UPMU_API const char *upmu_plan_note(const struct upmu_plan *plan);

/** Entry `i`. @return 0; UPMU_E_END; UPMU_E_INVAL (NULL, size). Thread safe. */
UPMU_API UPMU_CHECKED int upmu_plan_entry_at(const struct upmu_plan *plan, size_t i, struct upmu_plan_entry *entry);

/** Close and free; NULL does nothing. */
UPMU_API void upmu_plan_close(struct upmu_plan *plan);

/* ------------------------------------------------------------------------------------------- diagnosis */

/** State of what was examined. */
enum upmu_diagnosis_state {
    UPMU_DIAGNOSIS_OK = 0,      /**< works */
    UPMU_DIAGNOSIS_LIMITED = 1, /**< works in part */
    UPMU_DIAGNOSIS_MISSING = 2, /**< does not work */
    UPMU_DIAGNOSIS_INFO = 3,    /**< information only */
};

/** A finding about the machine. Strings are valid during the callback. */
struct upmu_diagnosis {
    const char *topic;  /**< stable key: "cpu", "pmu", "permission", "user-read", "clock", "unwinder", ... */
    int32_t state;      /**< enum upmu_diagnosis_state */
    const char *text;   /**< the finding */
    const char *remedy; /**< command or setting that fixes it, or "" */
};

/**
 * Examine the machine: CPU and table in use, PMUs, permissions, user-space reads, clock, native names, unwinder. Opens and
 * closes counters of the calling thread, and runs two threads at a time on its CPUs to compare their clocks, for some tenths
 * of a second at most.
 * @param found called for each finding, in a fixed order of topics; a non-zero return value ends the examination
 * @return 0, or the return value of `found`; UPMU_E_INVAL (NULL); UPMU_E_FORMAT (UPMU_FSROOT is a damaged machine snapshot).
 */
UPMU_API int upmu_diagnose(int (*found)(const struct upmu_diagnosis *finding, void *arg), void *arg);

/** What a seccomp filter answers to a system call. */
enum upmu_filter_answer {
    UPMU_FILTER_ALLOWED = 0, /**< the kernel executes it */
    UPMU_FILTER_REFUSED = 1, /**< it fails: the recorder counts what it loses by that */
    UPMU_FILTER_ASKED = 2,   /**< another process decides */
    UPMU_FILTER_KILLED = 3,  /**< the process ends, or gets SIGSYS */
};

/** A system call of a recording. */
struct upmu_filter_call {
    const char *name;       /**< as in the manual; static */
    int32_t number;         /**< on this architecture */
    int32_t answer;         /**< enum upmu_filter_answer */
    uint32_t at_start;      /**< 1: made at the start of a recording */
    uint32_t later;         /**< 1: made while it runs, or at its end */
    uint32_t with_counters; /**< 1: made while it runs if it has counters */
};

/**
 * Judge a seccomp filter by the system calls that recording a program adds to it. A call with different arguments is judged once
 * for each.
 * @param program classic BPF, struct sock_filter as for seccomp(2)
 * @param n       instructions
 * @param found   called for each call; a non-zero return value ends the examination
 * @return 0, or the return value of `found`; UPMU_E_INVAL (NULL). Thread safe.
 */
UPMU_API int upmu_filter_judge(const void *program, size_t n,
                               int (*found)(const struct upmu_filter_call *call, void *arg), void *arg);

UPMU_END_DECLS

#endif
