/* SPDX-License-Identifier: MIT */
/* Recorded waits in progress, by semaphore or condition variable. */
#include "sync_trace/account/waiters.h"

struct waiters sync_waiters[WAITERS_SLOTS];
