/* SPDX-License-Identifier: MIT */
/** @file Identity of the calling thread and process, without a system call per question. */
#ifndef UPMU_CORE_CALLER_H
#define UPMU_CORE_CALLER_H

#include <stdint.h>

/** The calling thread's number, 0 before the first question. */
extern _Thread_local uint64_t caller_thread_number __attribute__((tls_model("initial-exec"), visibility("hidden")));
/** The process's number, which the kernel sets to 0 in a forked child; NULL before the first question, or if it cannot. */
extern uint64_t *caller_process_page __attribute__((visibility("hidden")));

uint64_t caller_thread_first(void);
uint64_t caller_process_first(void);

/** A number of the calling thread: never 0, never used again in this process. Inline: counters run while a set asks. */
static inline uint64_t caller_thread(void)
{
    return caller_thread_number != 0 ? caller_thread_number : caller_thread_first();
}

/** A number of the process: another one in a forked child, however it was forked. */
static inline uint64_t caller_process(void)
{
    uint64_t *page = __atomic_load_n(&caller_process_page, __ATOMIC_ACQUIRE);
    uint64_t number = page ? __atomic_load_n(page, __ATOMIC_ACQUIRE) : 0;
    return number != 0 ? number : caller_process_first();
}

#endif
