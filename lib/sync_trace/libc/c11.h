/* SPDX-License-Identifier: MIT */
/** @file Results of threads.h as errno values. */
#ifndef UPMU_SYNC_TRACE_C11_H
#define UPMU_SYNC_TRACE_C11_H

#include <errno.h>
#include <threads.h>

enum { C11_FAILED = 4095 }; /* thrd_error has no cause: a number that no errno has */

/** The errno value for a result of threads.h, as a POSIX function returns it. */
static inline int c11_errno(int result)
{
    switch (result) {
    case thrd_success:
        return 0;
    case thrd_busy:
        return EBUSY;
    case thrd_timedout:
        return ETIMEDOUT;
    case thrd_nomem:
        return ENOMEM;
    default:
        return C11_FAILED;
    }
}

#endif
