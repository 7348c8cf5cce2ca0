/* SPDX-License-Identifier: MIT */
/** @file How a command restricts its system calls, seen by running it under ptrace. */
#ifndef UPMU_TOOL_DOCTOR_COMMAND_H
#define UPMU_TOOL_DOCTOR_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** A restriction that a thread of the command has installed. */
enum restriction {
    RESTRICTION_FILTER, /**< a seccomp filter */
    RESTRICTION_STRICT, /**< strict mode */
    RESTRICTION_CLOCK,  /**< time stamps raise a signal (PR_SET_TSC) */
};

struct restricted {
    enum restriction kind;
    pid_t tid;
    char name[16];       /**< of the thread */
    const void *program; /**< of a filter: its instructions; NULL if they could not be read */
    uint32_t n;          /**< of these */
    bool bypasses_libc;  /**< the call does not come from the C library: a recorder does not see it */
};

/**
 * Run a command to its end, with its standard output on standard error, and report each restriction.
 * @return its wait status; or -1 after a message, with `*status` what to exit with.
 */
int doctor_watch(char **argv, void (*found)(const struct restricted *r, void *arg), void *arg, int *status);

#endif
