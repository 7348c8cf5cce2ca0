/* SPDX-License-Identifier: MIT */
/**
 * @file
 * System calls of a recording, and what a seccomp filter does with them.
 *
 * docs/security.md has the same list; `faults.calls` compares both with the calls that recorded programs make.
 */
#ifndef UPMU_CORE_SYSTEM_CALLS_H
#define UPMU_CORE_SYSTEM_CALLS_H

#include <stddef.h>
#include <stdint.h>

struct sock_filter;

enum system_call_use {
    SYSTEM_CALL_START = 1,       /**< start of a recording */
    SYSTEM_CALL_RUN = 2,         /**< while it runs */
    SYSTEM_CALL_END = 4,         /**< its end */
    SYSTEM_CALL_COUNTERS = 8,    /**< while it runs with counters, or records switches */
    SYSTEM_CALL_INSTEAD = 16,    /**< in place of another one, where that is missing */
    SYSTEM_CALL_TIMER = 32,      /**< samples by timers of CPU time (UPMU_SYNC_CPU_SAMPLES) */
    SYSTEM_CALL_UNFILTERED = 64, /**< while it runs, unless the program has installed a filter */
};

struct system_call {
    char name[24]; /**< in the row, so that no process relocates the list */
    uint32_t number;
    uint32_t uses;    /**< enum system_call_use */
    uint64_t args[6]; /**< as the recorder passes them; 0 for addresses, lengths and descriptors */
};

extern const struct system_call system_calls[];
extern const size_t system_calls_count;

/** What a filter's result means for the call. */
enum system_call_answer {
    SYSTEM_CALL_ALLOWED,
    SYSTEM_CALL_REFUSED, /**< it fails with an error */
    SYSTEM_CALL_ASKED,   /**< a tracer or another process decides */
    SYSTEM_CALL_KILLED,  /**< the process ends, or gets SIGSYS */
};

enum system_call_answer system_call_answer(uint32_t result);

/** Run a filter of `n` instructions, classic BPF as for seccomp(2), on a call of this ISA. @return its SECCOMP_RET_ value; that
 *  of killing the process for instructions that the kernel refuses. Signal safe. */
uint32_t system_call_filter(const struct sock_filter *program, size_t n, const struct system_call *call);

/** The first call with one of these uses, and not in place of another one, that the filter answers with the end of the process or a signal; NULL: none.
 *  Signal safe. */
const struct system_call *system_call_killed(const struct sock_filter *program, size_t n, uint32_t uses);

#endif
