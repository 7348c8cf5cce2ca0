/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The scripted kernel: lib/core/kernel_ops.h implemented by a script of the test.
 *
 *     scripted_reset();
 *     scripted_counter(KERNEL_TYPE_HARDWARE, 0, (struct scripted_sample[]){{100, 50, 50}, {300, 150, 150}}, 2);
 *     scripted_file("/proc/sys/kernel/perf_event_paranoid", "2\n");
 *     scripted_rule(scripted_rule_deny, &(int){EACCES});
 *     core_kernel_use(&upmu_kernel_scripted);
 *
 * No system call is made for events or files. What was not scripted does not exist: an event is ENOENT, so are a file, a
 * directory and a process. Scripts may be changed at any time; the code under test may call from any thread.
 */
#ifndef UPMU_KERNEL_SCRIPTED_H
#define UPMU_KERNEL_SCRIPTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/kernel_ops.h"
#include "kernel/page.h"

extern const struct kernel_ops upmu_kernel_scripted;

/** Forget all scripts, descriptors, pages and the log. */
void scripted_reset(void);

/* -------------------------------------------------------------------------------------------------- events */

/** What one read finds. */
struct scripted_sample {
    uint64_t value, enabled, running;
};

/** A `config` that matches every config of the type without a script of its own. */
#define SCRIPTED_ANY UINT64_MAX

/** The event opens; its reads find the samples in turn, the last one again and again. Each open, and a new script,
 *  starts at the first.
 *  In a group read every member gives its own value, the times are the leader's. A member's own descriptor gives what the
 *  group last gave. The samples are copied. */
void scripted_counter(uint32_t type, uint64_t config, const struct scripted_sample *samples, size_t n);

/** Opening the event fails with this errno. */
void scripted_open_error(uint32_t type, uint64_t config, int err);

/** Where the event is a member of a group, it runs this much less than its leader. To be called after scripted_counter(). */
void scripted_late(uint32_t type, uint64_t config, uint64_t ns);

/** At most `n` descriptors at once, then -EMFILE. */
void scripted_open_limit(size_t n);

/** The next `times` reads of the event (0: all) give `result`: a negative errno, or the bytes of a short read.
 *  To be called after scripted_counter() with the same type and config. */
void scripted_read_fault(uint32_t type, uint64_t config, ssize_t result, unsigned times);

/** The next controls fail with this errno (0: work again). */
void scripted_control_error(int err);

/* --------------------------------------------------------------------------------------------------- rules */

/** A rule decides on an open: 0, or -errno. `group` holds the `n` events opened into the group so far, leader first. */
typedef int (*scripted_rule_fn)(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg);
/** Add a rule; they are asked in the order added, before the event itself is looked up; the first refusal counts. */
void scripted_rule(scripted_rule_fn rule, void *arg);

/** A placement decides whether a group ever gets its counters. If not, it opens and is never counted: running is 0. */
typedef bool (*scripted_place_fn)(const struct kernel_open *group, size_t n, void *arg);
void scripted_place(scripted_place_fn place, void *arg);

/** Everything is refused with *(int *)arg: EACCES (Debian's paranoid 3), EPERM or ENOSYS (seccomp). */
int scripted_rule_deny(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg);
/** The kernel's own checks for a caller without capabilities at perf_event_paranoid = *(int *)arg. */
int scripted_rule_paranoid(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg);
/** Hardware, cache and raw events are ENOENT. */
int scripted_rule_no_pmu(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg);
/** Hardware events take no exclude bit (RISC-V without Sscofpmf): EOPNOTSUPP. */
int scripted_rule_no_filter(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg);
/** Software and hardware events in one group are EINVAL (Loongson MIPS, old LoongArch). */
int scripted_rule_no_mixed_group(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg);
/** More hardware events in a group than *(int *)arg counters are EINVAL. */
int scripted_rule_group_size(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg);
/** Sunway core3B: raw codes and exclude bits it takes. */
int scripted_rule_core3b(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg);
/** Sunway core3B: no two events on one of its two counters, nor any group that needs that. */
bool scripted_place_core3b(const struct kernel_open *group, size_t n, void *arg);

/** The files and rules of an unprivileged user (no capability, no seccomp) at a perf_event_paranoid value. */
void scripted_user(int paranoid);

/** A seccomp filter denies each trial of the call with this errno (0: there is none); opens have scripted_rule_deny(). */
void scripted_filter(int err);
/** The descriptors of the process: 3 of 1024 are open after a reset, and the hard limit is 4096. */
void scripted_descriptors_are(const struct kernel_descriptors *now);

/* --------------------------------------------------------------------------------------------------- files */

/** A file. Its parent directories come to be with it. */
void scripted_file(const char *path, const char *text);
/** Reading the file, or listing the directory, fails with this errno. */
void scripted_file_error(const char *path, int err);
/** Whether the files are to be taken for those of a recorded machine. */
void scripted_recording(bool recorded);
/** The identity of the CPU (copied), and its source; NULL: none, as after a reset. */
void scripted_cpu(const struct arch_cpu *cpu, const char *teller);
/** The backend PAPI can be used from now on; events opened through it are ordinary ones of the script. */
void scripted_papi(bool usable);
/** PAPI's code of one event that only PAPI has. */
void scripted_papi_event(const char *name, uint64_t code);
/** An empty directory. */
void scripted_dir(const char *path);

/* ------------------------------------------------------------------------------------- threads and commands */

/** The answer of the next threads() of a process; several calls make a list that changes from call to call, and the
 *  last answer stays. n = 0: no such process. */
void scripted_threads(pid_t pid, const pid_t *tids, size_t n);

/** The next command: its pid or -errno of spawn, 0 or -errno of exec, its wait status. */
void scripted_command(pid_t spawned, int exec_result, int status);
/** What the next command has used just before its exec, and in all. */
void scripted_command_usage(const struct kernel_usage *before, const struct kernel_usage *after);
/** Whether the kernel takes events off a task that executes the next commands. */
void scripted_exec_detaches(bool detaches);

/* --------------------------------------------------------------------------------------------------- pages */

/** Contents of every page mapped from now on. */
void scripted_page_contents(const struct kernel_page *page);
/** The page mapped on a descriptor, NULL if none. */
struct kernel_page *scripted_page(int fd);
/** At most `n` pages at once, then -err. */
void scripted_map_limit(size_t n, int err);
/** `n` context switches of the calling thread: RUSAGE_THREAD and, if `pages_follow`, every page's lock show them. */
void scripted_switch(unsigned n, bool pages_follow);
/** The kernel rewrites every page `n` times, without a switch. */
void scripted_rewrite_pages(unsigned n);
/** What work() returns from now on; all zero: there is no known work. */
void scripted_work(struct kernel_work each);
/** What usage() gives for a process, 0: the calling thread; any other fails with ESRCH. `err`: fails with this errno. */
void scripted_usage(pid_t pid, const struct kernel_usage *usage, int err);
/** thread_switches() fails with this errno. */
void scripted_switches_error(int err);

/* -------------------------------------------------------------------------------------------------- switches */

/** The kernel has recorded these switches of the (one) thread that asks for them, in addition to what it had before. */
void scripted_switches(const struct kernel_switch *records, size_t n);
/** Asking for records of switches fails with this errno (0: works again). */
void scripted_switches_open_error(int err);
/** Tracepoints cannot be found, with this errno (0: they can). */
void scripted_points_error(int err);
/** The tracepoints that the last buffer was opened with, a bit each. */
uint32_t scripted_points_open(void);
/** Buffers of records open now. */
size_t scripted_switch_logs(void);

/** The thread whose waits for futexes are counted calls the kernel `n` times more. */
void scripted_futex_waits(uint64_t n);
/** Their tracepoints cannot be found, or not be opened, with these errnos (0: they can). */
void scripted_futexes_errors(int find, int open);
/** Counts of them open now. */
size_t scripted_futexes_now(void);

/* ----------------------------------------------------------------------------------------------------- log */

enum scripted_op {
    SCRIPTED_OPEN,
    SCRIPTED_CLOSE,
    SCRIPTED_READ,
    SCRIPTED_ENABLE,
    SCRIPTED_DISABLE,
    SCRIPTED_MAP,
    SCRIPTED_UNMAP,
    SCRIPTED_PAGE_READ,
    SCRIPTED_SWITCHES,
    SCRIPTED_THREADS,
    SCRIPTED_SPAWN,
    SCRIPTED_RELEASE,
    SCRIPTED_ABANDON,
    SCRIPTED_WAIT,
};

struct scripted_call {
    enum scripted_op op;
    int fd; /**< also a gate; -1 where there is none */
    ssize_t result;
    struct kernel_open req; /**< of an open */
};

/** Calls of one kind so far. */
size_t scripted_count(enum scripted_op op);
/** The i-th call of one kind, NULL past the last. Valid until the next call of the code under test. */
const struct scripted_call *scripted_nth(enum scripted_op op, size_t i);
/** Descriptors and gates open now. */
size_t scripted_open_now(void);
/** Pages mapped now. */
size_t scripted_mapped_now(void);
/** Uses of descriptors and pages that are not there: closed twice, read after close, unmapped twice. */
size_t scripted_misuse(void);

/** Called before each logged call is carried out, without any lock: the place to change a script under way. */
void scripted_hook(void (*hook)(enum scripted_op op, int fd, void *arg), void *arg);

/* ----------------------------------------------------------------------- between the twin's own source files */

/** Run the hook before a call; add the call to the log. */
void scripted_before(enum scripted_op op, int fd);
void scripted_note(struct scripted_call call);
void scripted_log_reset(void);
int scripted_work_done(struct kernel_work *work, bool sleep);
int scripted_usage_of(pid_t pid, struct kernel_usage *out);
ssize_t scripted_read_file(const char *path, char *buf, size_t cap);
int scripted_list_dir(const char *path, int (*each)(const char *name, void *arg), void *arg);
int scripted_backend(enum kernel_backend which, const char **reason);
int scripted_named(enum kernel_backend which, const char *name, uint64_t *code);
bool scripted_recorded(void);
int scripted_reach(void);
void scripted_descriptors(struct kernel_descriptors *now);
const char *scripted_ask_cpu(arch_cpu_ask_fn ask, struct arch_cpu *out);
void scripted_files_reset(void);
int scripted_switches_open(struct kernel_switch_log *log, size_t bytes, const struct kernel_point_layout *points);
int scripted_points_find(uint32_t wanted, struct kernel_point_layout *layout);
bool scripted_switches_next(struct kernel_switch_log *log, struct kernel_switch *out);
void scripted_switches_close(struct kernel_switch_log *log);
void scripted_switches_reset(void);
int scripted_futexes_find(struct kernel_futex_points *points);
int scripted_futexes_open(struct kernel_futexes *f, const struct kernel_futex_points *points);
void scripted_futexes_close(struct kernel_futexes *f);

#endif
