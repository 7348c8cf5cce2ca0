/* SPDX-License-Identifier: MIT */
/**
 * @file Causes and remedies of perf_event_open errors, for upmu_error(), the reasons of events and `upmu doctor`.
 *
 * EACCES, EPERM and ENOENT each have several causes. /proc, /sys and a trial call distinguish them, and are read
 * each time an error is explained, so that a remedy applied while the program runs changes the next message.
 */
#ifndef UPMU_CORE_REFUSAL_H
#define UPMU_CORE_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/kernel_ops.h"

/** What was requested from the kernel. All zero except `event` and `cpu` = -1: a user-mode event of the calling
 *  thread. */
struct explain_context {
    const char *event; /**< its name as given by the user */
    uint32_t type;     /**< perf type */
    pid_t pid;         /**< as in struct kernel_open */
    int cpu;           /**< -1 = any */
    bool wants_kernel; /**< kernel mode was requested */
    /** Kernel mode was requested, and the event can be counted with the modifier :u. */
    bool user_mode_counts;
    size_t descriptors; /**< number that the request still needs, besides those it holds; 0: one */
    bool precise;       /**< requested with ':p' */
    bool grouped;       /**< opened into the group of other events */
    bool inherit;       /**< the failure may concern threads and children to be counted later, which can be excluded */
    bool mapping;       /**< the event is open; mapping its page failed */
};

/** A cause with its remedy: each a sentence without its full stop; the remedy is "" if there is none. */
struct explanation {
    int code; /**< enum upmu_code, never 0 */
    char cause[640];
    char remedy[352];
};

enum { EXPLANATION_TEXT_MAX = 1536 };

/** Write "EVENT: CAUSE. REMEDY.". */
void explain_text(const char *event, const struct explanation *e, char *buf, size_t cap);

/** Find the cause of errno `err`. Keeps upmu_error(). */
void explain_open(const struct kernel_ops *k, int err, const struct explain_context *c, struct explanation *out);

/** Set upmu_error() of the calling thread to "EVENT: CAUSE. REMEDY.". @return its enum upmu_code, never 0. */
int explain_open_failure(const struct kernel_ops *k, int err, const struct explain_context *c);

/** A fact that may be unknown. */
enum known {
    KNOWN_NOT = 0, /**< cannot be determined */
    KNOWN_YES,
    KNOWN_NO,
};

/** Permissions of the calling thread, according to /proc. */
struct permissions {
    bool paranoid_known;
    int paranoid;
    enum known capable;              /**< CAP_PERFMON or CAP_SYS_ADMIN is effective in the initial user namespace */
    bool contained_capability;       /**< it has one in another user namespace, where it has no effect on perf */
    enum known seccomp;              /**< a seccomp filter is installed */
    long uid;                        /**< -1: unknown */
    bool perfmon;                    /**< the kernel has CAP_PERFMON (Linux 5.8) */
    bool perfmon_foreign;            /**< and it suffices to count processes of other users (Linux 5.9) */
    enum known first_user_namespace; /**< where capabilities apply to perf */
};

void permissions_read(const struct kernel_ops *k, struct permissions *p);

/** Whether the kernel has a core PMU. */
enum known core_pmu_known(const struct kernel_ops *k);

/** Soft limit of the process by its name in /proc/self/limits ("Max open files"): "1024", "unlimited", or "" if
 *  unknown. */
void limit_read(const struct kernel_ops *k, const char *name, char *buf, size_t cap);

/** Read a number from a file of /proc/sys. @return whether there is one. */
bool sysctl_read(const struct kernel_ops *k, const char *path, long *value);

#endif
