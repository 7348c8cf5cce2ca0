/* SPDX-License-Identifier: MIT */
/** @file The calling thread's error message, returned by upmu_error(). */
#ifndef UPMU_BASE_ERROR_H
#define UPMU_BASE_ERROR_H

#include "upmu/upmu.h"

/** Longest message kept, in bytes with its NUL. */
enum { ERROR_TEXT_MAX = 1024 };

/** Set the thread's message and return `code`: `return upmu_fail(UPMU_E_INVAL, "...")`. Keeps errno. Allocates the
 *  thread's buffer on first use; without memory the message is a fixed text with UPMU_E_NOMEM. Not for the traced path. Exported for
 *  libupmu_analysis, so that a process has one message per thread. */
UPMU_API int upmu_fail(int code, const char *fmt, ...) UPMU_PRINTF(2, 3);

/** "ENOENT" and so on; "errno 123" for numbers without a name. Static storage, never NULL. */
const char *upmu_errno_name(int errnum);

#endif
