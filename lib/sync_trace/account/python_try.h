/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Tries by which CPython acquires its locks.
 *
 * CPython tries a lock, a semaphore, and waits for it only if that fails: lock.acquire(), with lock: and lock.acquire(False) are the
 * same call until then. The bytecode instruction that the interpreter executes shows which of them it is.
 */
#ifndef UPMU_SYNC_PYTHON_TRY_H
#define UPMU_SYNC_PYTHON_TRY_H

#include <stdint.h>

#include "upmu/trace.h"

struct python_version;

struct sync_python {
    uintptr_t start, end; /**< of the interpreter's module; 0: the process has none whose frames are known */
    void *(*thread_state)(void);
    const void *is_true;                  /**< Python's True */
    const struct python_version *version; /**< NULL: of none that is known */
};
extern struct sync_python sync_python;

/** Look up the interpreter: CPython 3.11 to 3.13, 64 bits. */
void sync_python_start(void);

uint32_t sync_python_try_flags_(void);

/** The flags of an acquisition by a try: UPMU_TRACE_FLAG_TRIED; 0 if the call would have waited; with UPMU_TRACE_FLAG_TIMED if it
 *  need not. Reads the calling thread's frames only. */
static inline uint32_t sync_python_try_flags(uintptr_t site)
{
    return __builtin_expect(site - sync_python.start >= sync_python.end - sync_python.start, 1)
               ? (uint32_t)UPMU_TRACE_FLAG_TRIED
               : sync_python_try_flags_();
}

#endif
