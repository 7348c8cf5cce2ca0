/* SPDX-License-Identifier: MIT */
/** @file Process-local identity of the calling thread and process. */
#ifndef UPMU_CORE_CALLER_H
#define UPMU_CORE_CALLER_H

#include <stdint.h>

/** Number of the calling thread, 0 before its first call. */
extern _Thread_local uint64_t caller_thread_number __attribute__((tls_model("initial-exec"), visibility("hidden")));
/** Number of the process, cleared by the kernel in a forked child. NULL before the first call, or without
 *  MADV_WIPEONFORK. */
extern uint64_t *caller_process_page __attribute__((visibility("hidden")));

uint64_t caller_thread_first(void);
uint64_t caller_process_first(void);

/** A number of the calling thread, never 0 and never reused in this process. Inline because counters run meanwhile.
 *  */
static inline uint64_t caller_thread(void)
{
    return caller_thread_number != 0 ? caller_thread_number : caller_thread_first();
}

/** A number of the process; differs in a forked child, however it was forked. */
static inline uint64_t caller_process(void)
{
    uint64_t *page = __atomic_load_n(&caller_process_page, __ATOMIC_ACQUIRE);
    uint64_t number = page ? __atomic_load_n(page, __ATOMIC_ACQUIRE) : 0;
    return number != 0 ? number : caller_process_first();
}

#endif
