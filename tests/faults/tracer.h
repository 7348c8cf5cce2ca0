/* SPDX-License-Identifier: MIT */
/** @file System calls of a command, by ptrace. */
#ifndef UPMU_TESTS_TRACER_H
#define UPMU_TESTS_TRACER_H

#include <stdbool.h>
#include <stddef.h>

enum { TRACER_NUMBERS = 1024, TRACER_PHASES = 3 };

/** The calls made: by number, in the phases between getpgid() calls of the first process. */
struct tracer_calls {
    unsigned made[TRACER_PHASES][TRACER_NUMBERS];
};

/** Run a command with the environment `set` ("NAME=VALUE", ended by NULL) in addition. Prints failures. @return its wait status; -1:
 *  this kernel has no PTRACE_GET_SYSCALL_INFO, or tracing is refused. */
int tracer_run(char **argv, const char *const *set, struct tracer_calls *out);

#endif
