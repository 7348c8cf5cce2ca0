/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Causes and remedies of perf_event_open errors, for upmu_error(), the reasons of events and `upmu doctor`.
 *
 * EACCES, EPERM and ENOENT each have several causes. /proc, /sys and a trial call distinguish them, and are consulted each
 * time an error is explained: a remedy that is applied while the program runs must change the next message.
 */
#ifndef UPMU_CORE_EXPLAIN_H
#define UPMU_CORE_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/kernel_ops.h"

/** What was asked of the kernel. All zero but `event` and `cpu` = -1: a user-mode event of the calling thread. */
struct explain_context {
    const char *event; /**< its name as the user knows it */
    uint32_t type;     /**< perf type */
    pid_t pid;         /**< as in struct kernel_open */
    int cpu;           /**< -1 = any */
    bool wants_kernel; /**< kernel mode was asked for */
    /** Kernel mode was asked for, and the event counts with the modifier :u as well. */
    bool user_mode_counts;
    size_t descriptors; /**< that are still to be opened for all that was asked for at once; 0: one */
    bool precise;       /**< asked for with ':p' */
    bool grouped;       /**< opened into the group of other events */
    bool inherit;       /**< the failure may be for threads and children to be counted later: they can be left out */
    bool mapping;       /**< the event opened; mapping its page failed */
};

/** A cause with its remedy: each a sentence without its full stop; the remedy is "" where nothing can be done. */
struct explanation {
    int code; /**< enum upmu_code, never 0 */
    char cause[640];
    char remedy[352];
};

/** Find the cause of errno `err`. Keeps upmu_error(). */
void explain_open(const struct kernel_ops *k, int err, const struct explain_context *c, struct explanation *out);

/** The same, as the calling thread's message "EVENT: CAUSE. REMEDY.". @return its enum upmu_code, never 0. */
int explain_open_failure(const struct kernel_ops *k, int err, const struct explain_context *c);

/** An answer that may not be had. */
enum known {
    KNOWN_NOT = 0, /**< cannot be told here */
    KNOWN_YES,
    KNOWN_NO,
};

/** What the calling thread may do, as far as /proc tells. */
struct permissions {
    bool paranoid_known;
    int paranoid;
    enum known capable;              /**< CAP_PERFMON or CAP_SYS_ADMIN is effective where the kernel looks for it */
    bool contained_capability;       /**< it has one, but in a user namespace, where it does not count for perf */
    enum known seccomp;              /**< a seccomp filter is in force */
    long uid;                        /**< -1: not known */
    bool perfmon;                    /**< the kernel has CAP_PERFMON (Linux 5.8) */
    bool perfmon_foreign;            /**< which is enough to count processes of other users (Linux 5.9) */
    enum known first_user_namespace; /**< where capabilities count for perf */
};

void permissions_read(const struct kernel_ops *k, struct permissions *p);

/** Whether the kernel has a core PMU. */
enum known core_pmu_known(const struct kernel_ops *k);

/** Soft limit of the process by its name in /proc/self/limits ("Max open files"): "1024", "unlimited", or "" if it is
 *  not known. */
void limit_read(const struct kernel_ops *k, const char *name, char *buf, size_t cap);

/** A number of a file of /proc/sys. @return whether there is one. */
bool sysctl_read(const struct kernel_ops *k, const char *path, long *value);

#endif
