/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Events by name, counter sets, values with their status, derived metrics, and what this machine can do.
 *
 *     struct upmu_set *set;
 *     struct upmu_value v[2];
 *     if (upmu_set_open(&set, "instructions,page-faults", NULL) < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 *     upmu_set_start(set);
 *     work();
 *     upmu_set_stop(set);
 *     upmu_set_read(set, v, 2);
 *     upmu_set_close(set);
 *
 * Event names (docs/naming.md has the grammar):
 *   cycles, l1d-load-miss ...   libupmu's own vendor-neutral names
 *   cache-misses, PAPI_TOT_INS  perf's and PAPI's names where the meaning is the same
 *   msr/tsc/, cpu/event=0x3c/   a PMU of the kernel, with an event of its sysfs folder or its format fields
 *   native::NAME                the CPU's own event name, through libpfm4 where it is installed
 *   r1a8                        a raw code of the core PMU, in hexadecimal
 *   skl::NAME               the same with the PMU's name as libpfm4 has it, or that of the CPU
 *   sched:sched_switch      a tracepoint of the kernel, subsystem:event
 *   ipc, l1d-miss-ratio     a metric: the events that it is computed from, each once (upmu_metric_at)
 * each optionally followed by modifiers as perf has them: `:u` user mode only, `:k` kernel mode only, `:h` hypervisor
 * mode, `:G` guests, `:H` the host, `:p` precise. In lists, `{a,b}` keeps events in one group of the kernel, so that they
 * are counted at the same time; where that is not possible the group is refused.
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
 * Why a call failed. The numbers are stable and the same on every architecture (errno's are not).
 * upmu_strerror() gives the short text, upmu_error() the last message with its cause and remedy.
 */
enum upmu_code {
    UPMU_OK = 0,
    UPMU_E_INVAL = -1,       /**< an argument or an option struct is not valid */
    UPMU_E_NOMEM = -2,       /**< out of memory */
    UPMU_E_NAME = -3,        /**< no event, metric or region has this name */
    UPMU_E_UNSUPPORTED = -4, /**< this CPU, PMU or kernel cannot count the event */
    UPMU_E_NO_PMU = -5,      /**< the kernel offers no hardware PMU (usual in virtual machines) */
    UPMU_E_PERM = -6,        /**< perf_event_paranoid or a missing capability forbids it */
    UPMU_E_SECCOMP = -7,     /**< a seccomp filter or security module denies perf_event_open */
    UPMU_E_NO_SYSCALL = -8,  /**< perf_event_open does not exist here (kernel, emulator or filter: ENOSYS) */
    UPMU_E_NFILES = -9,      /**< too many open descriptors, or libupmu's share of them is used up */
    UPMU_E_MLOCK = -10,      /**< perf_event_mlock_kb and RLIMIT_MEMLOCK allow no further mmap page */
    UPMU_E_BUSY = -11,       /**< the PMU is reserved by somebody else */
    UPMU_E_GONE = -12,       /**< the process, thread or CPU is not there (any more) */
    UPMU_E_FIT = -13,        /**< the events cannot be counted together on this CPU */
    UPMU_E_STATE = -14,      /**< the call does not fit the object's state (for example read before start) */
    UPMU_E_IO = -15,         /**< reading or writing a file failed, or a read was short */
    UPMU_E_FORMAT = -16,     /**< the bytes are not what the format says (a damaged or foreign trace) */
    UPMU_E_VERSION = -17,    /**< written by a version this one cannot read */
    UPMU_E_LIMIT = -18,      /**< a fixed limit of the library is reached; the message says which */
    UPMU_E_SYSTEM = -19,     /**< any other refusal of the kernel; the message has its errno */
    UPMU_E_BACKEND = -20,    /**< the backend chosen (UPMU_BACKEND) cannot be used here */
    UPMU_E_PARTIAL = -21,    /**< the kernel ran the event for less time than its group: the count would be too low */
    UPMU_E_JUMP = -22,       /**< the counter moved by more than can have happened: a fault of the (virtual) PMU */
    UPMU_E_RANGE = -23,      /**< a derived event came out below 0 or beyond 64 bits */
    UPMU_E_END = -24,    /**< the index is past the last entry of a table; no failure, and upmu_error() is left alone */
    UPMU_E_NESTED = -25, /**< recording is on already, with other options; it goes on with those it has */
};

/** Short English text of a code ("permission denied by the kernel"); never NULL, for any number. Signal safe. */
UPMU_API const char *upmu_strerror(int code);

/**
 * The calling thread's last message: what failed, why, and the remedy. Never NULL; "" if nothing has failed yet.
 * Owned by the library, valid until the thread's next failing call. A success does not clear it. These return a code and
 * leave the message as it is: UPMU_E_END, and every call documented as signal safe (upmu_region_begin() and its kin,
 * upmu_mark(), upmu_sync_set_mode()); upmu_strerror() has a text for their codes. Only the first region of a thread, which
 * opens its counters, may set it.
 */
UPMU_API const char *upmu_error(void);

/** The code that came with the message of upmu_error(); UPMU_OK if nothing has failed yet. */
UPMU_API int upmu_error_code(void);

/**
 * Copy the message of upmu_error(), for languages whose threads of execution change the system's thread between two calls.
 * @param text out: at most `size` bytes with the terminating NUL; may be NULL if `size` is 0
 * @return length of the message in bytes; the copy is cut if this is `size` or more.
 */
UPMU_API size_t upmu_error_copy(char *text, size_t size);

/** Version of the library in use, as "0.2.0"; compare with UPMU_VERSION_STRING of the headers. */
UPMU_API const char *upmu_version(void);

/* ------------------------------------------------------------------------------------------------ values */

/** What a number is worth. A failure never looks like 0: without EXACT or SCALED there is no number. */
enum upmu_status {
    UPMU_NOT_COUNTED = 0, /**< opened, but on no counter during the interval: nothing is known */
    UPMU_EXACT = 1,       /**< counted during the whole interval */
    UPMU_SCALED = 2,      /**< counted part of the time (running < enabled) and extrapolated */
    UPMU_REFUSED = 3,     /**< permission, limits or another user of the PMU prevent it; `cause` tells */
    UPMU_UNSUPPORTED = 4, /**< this CPU, PMU or kernel cannot count it; `cause` tells */
};

/** What `upmu_value.value` holds when there is no number: so large that forgetting the status is noticed. */
#define UPMU_NO_VALUE UINT64_MAX

/** One count with everything needed to judge it. */
struct upmu_value {
    uint64_t value;   /**< the count, in the event's unit; UPMU_NO_VALUE unless exact or scaled */
    uint64_t raw;     /**< what was counted before scaling */
    uint64_t enabled; /**< nanoseconds the event was enabled */
    uint64_t running; /**< nanoseconds it was on a counter */
    int32_t status;   /**< enum upmu_status */
    int32_t cause;    /**< enum upmu_code behind REFUSED and UNSUPPORTED, else 0 */
};

/** "exact", "scaled", "not counted", "refused", "unsupported"; "?" for any other number. Signal safe. */
UPMU_API const char *upmu_status_name(int status);

/** The weaker of two statuses, in the order exact, scaled, not counted, refused, unsupported. Signal safe. */
UPMU_API int upmu_status_weakest(int a, int b);

/* ------------------------------------------------------------------------------------------------ events */

/** How faithfully an encoding counts what the vendor-neutral name says. */
enum upmu_match {
    UPMU_MATCH_ABSENT = 0,      /**< this CPU has no such event */
    UPMU_MATCH_EXACT = 1,       /**< the definition, as documented */
    UPMU_MATCH_APPROXIMATE = 2, /**< close to it; `note` says in what it differs */
};

/** What a name becomes on this machine. Strings are owned by the library and live as long as the process. */
struct upmu_event_info {
    size_t size;          /**< in: sizeof(struct upmu_event_info) */
    const char *name;     /**< canonical name, modifiers included */
    const char *summary;  /**< one line: what it counts */
    const char *unit;     /**< "" for plain counts, "ns" for clocks */
    const char *papi;     /**< PAPI preset of the same meaning, or NULL */
    const char *perf;     /**< perf's generic name, or NULL */
    const char *pmu;      /**< kernel PMU that counts it ("software", "cpu", "msr"), or NULL when absent */
    uint32_t type;        /**< perf_event_attr.type; UINT32_MAX for a derived event, which is several */
    int32_t match;        /**< enum upmu_match */
    uint64_t config;      /**< perf_event_attr.config; this and the next two UPMU_NO_VALUE for a derived event */
    uint64_t config1;     /**< perf_event_attr.config1 */
    uint64_t config2;     /**< perf_event_attr.config2 */
    const char *encoding; /**< the same for people, with the machine code where the kernel id hides it */
    const char *counters; /**< counters it may use ("0-3", "fixed 1", "any"), "" if not known */
    const char *note;     /**< why approximate or absent, else "" */
    const char *source;   /**< where the row comes from, "" for events of the running kernel */
    /** The CPU's own code, behind a generic id too; UPMU_NO_VALUE if there is none or it is not known. */
    uint64_t raw_encoding;
    const char
        *generic_event; /**< the kernel's generic id for the same name ("hw-cache:0x10001"), used or not; "" if none */
    /** Which of the two codes is used, and what is known of the other one; "" for events outside the CPU's table.
     *  Why it is so is the rule of the CPU, upmu_cpu_info.rule. */
    const char *choice;
    /** Of a derived event, the weighted sum that it is: "dtlb-load-miss + dtlb-store-miss"; else "". Its parts are counted
     *  together where they fit, its value is worth as much as the weakest of theirs, and a sum below 0 or beyond 64 bits is
     *  no number (NOT_COUNTED, UPMU_E_RANGE). */
    const char *formula;
    double scale;           /**< a count times this is in `scale_unit`; 1 where a count is what it is */
    const char *scale_unit; /**< "Joules", as the kernel's sysfs has it; "" where there is none */
    /** CPUs that the event is counted on, one per socket or die ("0,18"), with UPMU_TARGET_CPU; "" if it counts tasks. */
    const char *cpus;
};
#define UPMU_EVENT_INFO_SIZE_V1 UPMU_SIZE_V1_(struct upmu_event_info, 176)

/**
 * Look a name up without opening anything.
 * @return 0; UPMU_E_NAME (unknown; the message suggests), UPMU_E_UNSUPPORTED (known, absent on this CPU: `info` is
 *         filled, match UPMU_MATCH_ABSENT), UPMU_E_INVAL (size, NULL or malformed name), UPMU_E_NOMEM.
 * Thread safe, not signal safe.
 */
UPMU_API UPMU_CHECKED int upmu_event_find(const char *name, struct upmu_event_info *info);

/**
 * Try an event: open it for the calling thread, run, read and close it.
 * @param name    one event
 * @param counted NULL: the event only has to open and to run. Else out: what it counted under a load of some hundred
 *                microseconds of the calling thread, with instructions of many kinds, mispredicted branches, cache and TLB
 *                misses, page faults and a sleep. 0 means that the event runs but was not seen to count: it is rare, or the
 *                counter does not work; the library cannot tell which
 * @return 0 if it can be counted here and now, else the code of what prevents it, as upmu_set_open() with UPMU_SET_STRICT.
 * Thread safe, not signal safe.
 */
UPMU_API UPMU_CHECKED int upmu_event_probe(const char *name, uint64_t *counted);

/** Number of event names known on this machine: the vendor-neutral set (absent ones included), then the events of the
 *  kernel's PMUs in sysfs, which is read once. Thread safe, not signal safe. */
UPMU_API size_t upmu_event_count(void);

/** Name `i` of these. @param name out: owned by the library, lives as long as the process; NULL on failure
 *  @return 0; UPMU_E_END (`i` is past the last), UPMU_E_INVAL (`name` is NULL). Thread safe, not signal safe. */
UPMU_API UPMU_CHECKED int upmu_event_name_at(size_t i, const char **name);

/* -------------------------------------------------------------------------------------------------- CPUs */

/** A CPU that libupmu has a table for. Strings are static. */
struct upmu_cpu_info {
    size_t size;             /**< in: sizeof(struct upmu_cpu_info) */
    const char *name;        /**< key of the core family: "gs464e", "zen3", "generic" */
    const char *title;       /**< for people, with the chips: "Loongson GS464E (3A2000, 3A3000)" */
    const char *vendor;      /**< "loongson", "sunway", "x86", "arm", "riscv", "generic" */
    const char *remark;      /**< what users of this CPU must know, or "" */
    const char *rule;        /**< by which its events use generic ids of the kernel or raw codes */
    uint32_t counters;       /**< general counters; 0 = not known */
    uint32_t fixed_counters; /**< counters tied to one event each, beside them */
    uint32_t counter_bits;   /**< width of a counter; 0 = not known */
};
#define UPMU_CPU_INFO_SIZE_V1 UPMU_SIZE_V1_(struct upmu_cpu_info, 64)

/**
 * A CPU's table, whatever machine this is.
 * @param cpu key of a family or name of a chip, in capitals or not, the maker's name in front or not ("Loongson-3A5000",
 *            "kx-6000", "sw831"); NULL: the running machine's
 * @return 0; UPMU_E_NAME (unknown; the message suggests), UPMU_E_INVAL (info or its size). Thread safe, not signal safe.
 */
UPMU_API UPMU_CHECKED int upmu_cpu_find(const char *cpu, struct upmu_cpu_info *info);

/** Number of CPU families that libupmu has a table for. Signal safe. */
UPMU_API size_t upmu_cpu_count(void);

/** Family `i`, as upmu_cpu_find() has it. @return 0; UPMU_E_END (`i` is past the last), UPMU_E_INVAL (info or its size).
 *  Thread safe, not signal safe. */
UPMU_API UPMU_CHECKED int upmu_cpu_at(size_t i, struct upmu_cpu_info *info);

/**
 * What a name becomes on a CPU, whatever machine this is: as upmu_event_find(), out of the table alone. Names of the
 * running kernel (`pmu/event/`) are UPMU_E_NAME. Thread safe, not signal safe.
 */
UPMU_API UPMU_CHECKED int upmu_cpu_event_find(const char *cpu, const char *name, struct upmu_event_info *info);

/** Number of names that a CPU's table knows: the vendor-neutral set (absent ones included), then the CPU's own names as
 *  `native::NAME`. @param cpu as in upmu_cpu_find(); 0 for an unknown CPU. Thread safe, not signal safe. */
UPMU_API size_t upmu_cpu_event_count(const char *cpu);

/** Name `i` of these. @param name out: owned by the library, lives as long as the process; NULL on failure
 *  @return 0; UPMU_E_END (`i` is past the last), UPMU_E_NAME (unknown CPU), UPMU_E_INVAL (`name` is NULL), UPMU_E_NOMEM.
 *  Thread safe, not signal safe. */
UPMU_API UPMU_CHECKED int upmu_cpu_event_name_at(const char *cpu, size_t i, const char **name);

/* ----------------------------------------------------------------------------------------------- metrics */

/** A derived metric. Strings are static. */
struct upmu_metric_info {
    size_t size;         /**< in: sizeof(struct upmu_metric_info) */
    const char *name;    /**< "ipc" */
    const char *summary; /**< "instructions per cycle" */
    const char *formula; /**< "100 * l1d-miss / l1d-access": arithmetic over events and `wall-time` in seconds */
    const char *unit;    /**< "", "%", "/s" */
    const char *events;  /**< the names it needs, comma-separated, fit for upmu_set_open(); "" if time is enough */
    const char *missing_event; /**< why it cannot be computed on this CPU: the event that it lacks; "" if it can */
    int32_t on_demand; /**< 1: it says the same as another one in other words, and is shown where it was asked for */
};
#define UPMU_METRIC_INFO_SIZE_V1 UPMU_SIZE_V1_(struct upmu_metric_info, 64)

/**
 * The metrics of the library and of users, one after the other. Of those that can be computed from several sets of events,
 * the first one is shown whose events the CPU has.
 * @return 0 and the metric at `index` (0, 1, ...), or UPMU_E_NAME past the last one. Thread safe, not signal safe.
 */
UPMU_API UPMU_CHECKED int upmu_metric_at(size_t index, struct upmu_metric_info *info);

/** The same on a CPU by its name as in upmu_cpu_find(), whatever machine this is: the names are the same, what they are
 *  computed from and `lacks` differ. */
UPMU_API UPMU_CHECKED int upmu_cpu_metric_at(const char *cpu, size_t index, struct upmu_metric_info *info);
/** Number of metrics, of the library and of users; the same for every CPU. Thread safe. */
UPMU_API size_t upmu_metric_count(void);

/**
 * Define metrics by a file: a line is `name = formula`, and `#` begins a comment. A formula has + - * / and parentheses over
 * numbers, names of events as upmu_set_open() takes them, and `wall-time` (seconds); - and / stand between blanks. The file of
 * the variable UPMU_METRICS is read before the first metric is looked up.
 * @param path NULL: give what became of the file of UPMU_METRICS
 * @return number of metrics read (0 if there is no such variable); UPMU_E_IO (cannot be read), UPMU_E_FORMAT (the message has
 *         file, line and what is wrong; nothing of the file is taken), UPMU_E_NOMEM. Thread safe, not signal safe.
 */
UPMU_API UPMU_CHECKED int upmu_metric_load(const char *path);

/** A group of metrics that answer one question. Strings live as long as the process. */
struct upmu_metric_group_info {
    size_t size;         /**< in: sizeof(struct upmu_metric_group_info) */
    const char *name;    /**< "cache" */
    const char *summary; /**< one line */
    const char *metrics; /**< those that the CPU can compute, comma-separated; "" if none */
    const char *events;  /**< the events of these, each once, fit for upmu_set_open() */
};
#define UPMU_METRIC_GROUP_INFO_SIZE_V1 UPMU_SIZE_V1_(struct upmu_metric_group_info, 40)

/**
 * @param cpu   as in upmu_cpu_find(); NULL: this machine
 * @param index 0, 1, ...
 * @return 0; UPMU_E_NAME (past the last group, or no such CPU), UPMU_E_INVAL, UPMU_E_NOMEM. Thread safe, not signal safe.
 */
UPMU_API UPMU_CHECKED int upmu_metric_group_at(const char *cpu, size_t index, struct upmu_metric_group_info *info);
/** Number of groups. */
UPMU_API size_t upmu_metric_group_count(void);

/** A metric's result; there is a number only if `status` is exact or scaled, else `value` is NaN. */
struct upmu_metric_value {
    double value;
    int32_t status; /**< the weakest status of its parts */
    int32_t cause;  /**< enum upmu_code behind REFUSED and UNSUPPORTED, else 0 */
};

/**
 * Compute a metric from values already read.
 * @param names,values what was counted, `n` of each; names as given by upmu_set_name() or as the user wrote them. A count of an
 *        event with a scale (upmu_event_info.scale) is taken times that
 * @param seconds wall time of the interval, for rates
 * @return 0, also when a part has no number (the status tells); UPMU_E_NAME (no such metric, or a part was not
 *         among `names`); UPMU_E_INVAL. Thread safe.
 */
UPMU_API UPMU_CHECKED int upmu_metric_eval(const char *metric, const char *const *names,
                                           const struct upmu_value *values, size_t n, double seconds,
                                           struct upmu_metric_value *out);

/* -------------------------------------------------------------------------------------------------- sets */

/**
 * A list of events counted for one target. Opaque; one thread at a time. It belongs to the process that opened it: in a
 * child made by fork, upmu_set_close() frees the child's copy and leaves the parent's counters and command alone; start,
 * stop, reset, read and wait return UPMU_E_STATE. A set with UPMU_TARGET_THREAD is started, stopped, reset and read by the
 * thread that opened it alone (UPMU_E_STATE from others); any thread may close it.
 */
struct upmu_set;

/** What a set counts. */
enum upmu_target {
    UPMU_TARGET_THREAD = 0,  /**< the calling thread alone (the default); user-space reads where they are granted */
    UPMU_TARGET_PROCESS = 1, /**< every thread of the process `pid`, and the threads and processes they create later */
    /** `argv`, started by upmu_set_start(), with all its children. The kernel ends the counting of a program that gains
     *  rights when it is executed (set-user-ID, set-group-ID, file capabilities) or that may not be read: if `argv` is one,
     *  all values are REFUSED (UPMU_E_PERM); if a child becomes one later, what it does from then on is not in the sum. */
    UPMU_TARGET_COMMAND = 2,
    UPMU_TARGET_CPU = 3, /**< everything on `cpu`; needs perf_event_paranoid <= 0 or CAP_PERFMON */
    UPMU_TARGET_TASK =
        4, /**< the thread with the id `pid`, of any process, and the threads and processes it creates later */
};

enum upmu_set_flag {
    /** Fail if any event cannot be counted. Default: open what can be, the rest is REFUSED or UNSUPPORTED. */
    UPMU_SET_STRICT = 1u << 0,
    /** Do not read through the mmap page even where it is granted (for comparison). */
    UPMU_SET_NO_USER_READ = 1u << 1,
    /** Target thread: count the threads and processes it creates later too (then without user-space reads). */
    UPMU_SET_INHERIT = 1u << 2,
    /** Target process, task or command: leave threads and processes created later out. */
    UPMU_SET_NO_INHERIT = 1u << 3,
    /** All events of a core's counters must be counted at the same time: if they would take turns, opening fails with
     *  UPMU_E_FIT. Default: they take turns, and their values are SCALED. */
    UPMU_SET_TOGETHER = 1u << 4,
};

/** Options of upmu_set_open(); NULL or all zero but `size` means: the calling thread. */
struct upmu_set_opts {
    size_t size;     /**< sizeof(struct upmu_set_opts) */
    uint32_t target; /**< enum upmu_target */
    uint32_t flags;  /**< enum upmu_set_flag */
    pid_t pid;       /**< UPMU_TARGET_PROCESS, UPMU_TARGET_TASK */
    int cpu;         /**< UPMU_TARGET_CPU: 0 ... */
    char *const
        *argv; /**< UPMU_TARGET_COMMAND: NULL-terminated; argv[0] is looked up in PATH. Not used after the call */
    /** Who counts: "perf" (perf_event_open; NULL and "" mean it) or "papi" (libpapi, opened at run time). The variable
     *  UPMU_BACKEND wins. Through PAPI there are no user-space reads by libupmu, no commands and no inheritance, and events
     *  that do not fit on the counters at once are refused. Not used after the call. */
    const char *backend;
};
#define UPMU_SET_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_set_opts, 40)

/**
 * Open counters, stopped and at zero.
 * @param set    out: to be freed with upmu_set_close(); NULL on failure
 * @param events comma-separated names
 * @param opts   may be NULL
 * @return 0 even if some events cannot be counted (their values say so), unless UPMU_SET_STRICT;
 *         UPMU_E_NAME (a name nobody knows), UPMU_E_INVAL, UPMU_E_NOMEM, UPMU_E_GONE (pid or cpu), UPMU_E_PERM
 *         (the process is not yours), UPMU_E_BACKEND (it cannot be used here), UPMU_E_FIT (UPMU_SET_TOGETHER, and they do
 *         not fit), with STRICT also the code of the first event that cannot be counted.
 * Not signal safe.
 */
UPMU_API UPMU_CHECKED int upmu_set_open(struct upmu_set **set, const char *events, const struct upmu_set_opts *opts);

/** Number of events, in the order given to upmu_set_open(). */
UPMU_API size_t upmu_set_event_count(const struct upmu_set *set);

/** Name of event `i` as counted, with the modifiers really in force (":u" is added where the kernel allows no more);
 *  NULL if out of range. Lives as long as the set. */
UPMU_API const char *upmu_set_name(const struct upmu_set *set, size_t i);

/** Why event `i` is not counted, with the remedy; "" if it is. Lives as long as the set. */
UPMU_API const char *upmu_set_reason(const struct upmu_set *set, size_t i);

/** Number of kernel groups the events of one thread or CPU were put into: over 1 they may take turns. */
UPMU_API size_t upmu_set_group_count(const struct upmu_set *set);

/** Threads (or CPUs) counted: 1 for the calling thread, a command or a CPU. */
UPMU_API size_t upmu_set_instance_count(const struct upmu_set *set);

/** Whether event `i` is read without a system call at this moment (decided anew on each read). */
UPMU_API int upmu_set_user_read(const struct upmu_set *set, size_t i);

/**
 * Start counting; a command is executed now. Starting a running set changes nothing.
 * @return 0; UPMU_E_STATE (a command that already ended, another process or thread), UPMU_E_IO (the command cannot be executed: the message has
 *         the reason), UPMU_E_SYSTEM, UPMU_E_BUSY (PAPI counts this thread for somebody else).
 */
UPMU_API UPMU_CHECKED int upmu_set_start(struct upmu_set *set);

/** Stop counting; values stay readable. Stopping a stopped set changes nothing. @return 0, UPMU_E_SYSTEM, or UPMU_E_STATE
 *  (another process or thread). */
UPMU_API int upmu_set_stop(struct upmu_set *set);

/** Set all counts and both times to zero, running or not. @return 0, UPMU_E_SYSTEM, or UPMU_E_STATE (another process or
 *  thread). */
UPMU_API int upmu_set_reset(struct upmu_set *set);

/**
 * Read all events: the sum over the threads counted, running or stopped.
 * @param values out: `n` values, n >= upmu_set_event_count(); those that could not be read say so
 * @return number of events; UPMU_E_INVAL (n too small); UPMU_E_STATE (never started, another process or thread).
 * No allocation. A count that went backwards is not counted; if the program closed the descriptors of the library behind
 * its back (close_range), the values are refused from then on.
 */
UPMU_API int upmu_set_read(struct upmu_set *set, struct upmu_value *values, size_t n);

/** Name of the kernel's PMU that counts event `i` on the `kind`-th kind of core (0 ...), NULL past the last: most machines
 *  have one kind. A count of upmu_set_read() is the sum over them. Lives as long as the set. */
UPMU_API const char *upmu_set_core_type(const struct upmu_set *set, size_t i, size_t kind);

/**
 * What event `i` counted on one kind of core, as of the last upmu_set_read(). Its times are those spent on that kind.
 * @return 0; UPMU_E_INVAL (no such event or kind, no value); UPMU_E_STATE (never started, another process or thread).
 */
UPMU_API UPMU_CHECKED int upmu_set_read_core_type(struct upmu_set *set, size_t i, size_t kind,
                                                  struct upmu_value *value);

/**
 * Wait for the command of a set to end.
 * @param status out, may be NULL: as waitpid(2) gives it
 * @return 0; UPMU_E_STATE (no command, not started, another process). Interrupted waits are continued.
 */
UPMU_API int upmu_set_wait(struct upmu_set *set, int *status);

/**
 * Whether what a set counts is still there. Any thread of the process that opened the set may ask.
 * @return 1: the thread, process or command lives (a command also before its start), the CPU is online; 0: it has ended, though
 *         its process id may have been given to another since; UPMU_E_INVAL (no set), UPMU_E_STATE (a forked child),
 *         UPMU_E_SYSTEM (/proc does not tell: it is not mounted, or hides the process). Reads /proc; not signal safe.
 */
UPMU_API UPMU_CHECKED int upmu_set_alive(struct upmu_set *set);

/**
 * Measure what an empty upmu_set_start() and upmu_set_stop() of this set count themselves, to be subtracted from a count per
 * start/stop pair: the least of several tries, event by event. Counts and times of the set stay as they were.
 * @param values out: `n` values, n >= upmu_set_event_count(); an event that has no number in the set has none here
 * @return number of events; UPMU_E_INVAL (no set, n too small); UPMU_E_STATE (not a set with UPMU_TARGET_THREAD, the set runs,
 *         another process or thread); UPMU_E_SYSTEM, UPMU_E_BUSY as upmu_set_start(). Allocates; not signal safe.
 */
UPMU_API UPMU_CHECKED int upmu_set_overhead(struct upmu_set *set, struct upmu_value *values, size_t n);

/** Resource use of a command by the kernel's own accounting, which needs no right to count. */
struct upmu_usage {
    size_t size; /**< in: sizeof(struct upmu_usage) */
    uint64_t user_ns;
    uint64_t system_ns;
    uint64_t minor_faults;
    uint64_t major_faults;
    uint64_t switches; /**< voluntary and involuntary context switches */
};
#define UPMU_USAGE_SIZE_V1 UPMU_SIZE_V1_(struct upmu_usage, 48)

/**
 * What the command of a set has used between its execution and its end, with those of its children that were waited for:
 * what is counted only if perf_event_open is granted has another source here. The kernel does not account for children that
 * are still running and for those that their parent let the kernel reap.
 * @return 0; UPMU_E_INVAL; UPMU_E_STATE (no command, its end was not waited for, or the kernel accounted for nothing).
 */
UPMU_API UPMU_CHECKED int upmu_set_usage_read(const struct upmu_set *set, struct upmu_usage *usage);

/** Process id of the command or process counted; 0 for other targets, and for a command before its start. */
UPMU_API pid_t upmu_set_pid(const struct upmu_set *set);

/** Close; NULL is fine. A command that still runs is left alone; one that was never started is ended. */
UPMU_API void upmu_set_close(struct upmu_set *set);

/* ------------------------------------------------------------------------------------------------- plans */

/** How a list of events is counted together: groups, counters, turns. Nothing is opened. Opaque; one thread at a time. */
struct upmu_plan;

/** What an entry of a plan stands for. */
enum upmu_plan_role {
    UPMU_PLAN_EVENT = 0,     /**< an event of the list, on the first kind of core */
    UPMU_PLAN_CORE_TYPE = 1, /**< the same event on another kind of core, to be added */
    UPMU_PLAN_FILLER = 2,    /**< opened to keep other groups from running beside its own, and not read */
    UPMU_PLAN_TERM = 3,      /**< a further event of the formula of a derived one */
};

/** An entry of a plan. Strings live as long as the plan. */
struct upmu_plan_entry {
    size_t size;          /**< in: sizeof(struct upmu_plan_entry) */
    const char *name;     /**< of the event */
    const char *pmu;      /**< that counts it; "" if nothing does */
    const char *encoding; /**< as in struct upmu_event_info */
    const char *counter;  /**< one that it can have in its group: "0", "fixed 1", "0 and 1"; "" if that is not known */
    const char *reason;   /**< why it is in no group, with the remedy; else "" */
    uint32_t role;        /**< enum upmu_plan_role */
    uint32_t event;       /**< number of the event of the list that it belongs to */
    uint32_t same_as;     /**< number of the entry whose count it shares; its own number if it is opened itself */
    int32_t group;        /**< 0 ..., -1: none, because of `cause`, or as it takes no event (user-time) */
    uint32_t multiplexed; /**< groups that take turns with its own, that one included: 1 = counted all the time */
    int32_t cause;        /**< enum upmu_code where it is in no group, else 0 */
};
#define UPMU_PLAN_ENTRY_SIZE_V1 UPMU_SIZE_V1_(struct upmu_plan_entry, 72)

/**
 * Plan a list of events.
 * @param plan   out: to be freed with upmu_plan_close(); NULL on failure
 * @param cpu    as in upmu_cpu_find(); NULL: the running machine
 * @param events comma-separated names
 * @return 0, also if some events are in no group; UPMU_E_NAME (an event or CPU that nobody knows), UPMU_E_INVAL,
 *         UPMU_E_LIMIT (too many), UPMU_E_NOMEM. Not signal safe.
 */
UPMU_API UPMU_CHECKED int upmu_plan_open(struct upmu_plan **plan, const char *cpu, const char *events);

/** Entries: first the events in the order of the list, then the others. */
UPMU_API size_t upmu_plan_entry_count(const struct upmu_plan *plan);

/** Number of groups. */
UPMU_API size_t upmu_plan_group_count(const struct upmu_plan *plan);

/** Whether it is proven that no plan has fewer groups: always up to eight events, nearly always with more. */
UPMU_API int upmu_plan_proven(const struct upmu_plan *plan);

/** What limits the counters of the running machine at the moment (the kernel's watchdog), or "". */
UPMU_API const char *upmu_plan_note(const struct upmu_plan *plan);

/** @return 0; UPMU_E_INVAL (no such entry, or its size). Thread safe. */
UPMU_API UPMU_CHECKED int upmu_plan_entry_at(const struct upmu_plan *plan, size_t i, struct upmu_plan_entry *entry);

/** Free; NULL is fine. */
UPMU_API void upmu_plan_close(struct upmu_plan *plan);

/* ------------------------------------------------------------------------------------------- this machine */

/** How a check of upmu_diagnose() came out. */
enum upmu_finding_state {
    UPMU_FINDING_OK = 0,      /**< works */
    UPMU_FINDING_LIMITED = 1, /**< works in part */
    UPMU_FINDING_MISSING = 2, /**< does not work */
    UPMU_FINDING_INFO = 3,    /**< a fact, neither good nor bad */
};

/** One thing found out about the machine; strings are valid during the callback only. */
struct upmu_finding {
    const char *topic;  /**< stable key: "cpu", "pmu", "permission", "user-read", "clock", "unwinder", ... */
    int32_t state;      /**< enum upmu_finding_state */
    const char *text;   /**< what was found */
    const char *remedy; /**< the command or setting that mends it, or "" */
};

/**
 * Examine the machine: CPU and table in use, PMUs, permissions, user-space reads, clock, native names, unwinder.
 * Opens and closes counters of the calling thread, and starts threads on its CPUs, two at a time, to compare their clocks:
 * they are gone at the end, after at most some tenths of a second.
 * @param found called once per finding, in a fixed order of topics; a non-zero return ends the examination
 * @return 0, or what `found` returned; UPMU_E_INVAL; UPMU_E_FORMAT (UPMU_FSROOT names a damaged recording).
 */
UPMU_API int upmu_diagnose(int (*found)(const struct upmu_finding *finding, void *arg), void *arg);

UPMU_END_DECLS

#endif
