/* SPDX-License-Identifier: MIT */
/* Wrappers of sleep() and its relatives. */
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "sync_trace/account/call.h"
#include "sync_trace/libc/resolve.h"

UPMU_API unsigned sleep(unsigned seconds)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_SLEEP, -1, UPMU_TRACE_FLAG_TIMED, CALL_SITE());
    unsigned rc = SYNC_REAL(sleep)(seconds);
    c.rc = rc;
    return rc;
}

UPMU_API int usleep(useconds_t us)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_SLEEP, -1, UPMU_TRACE_FLAG_TIMED, CALL_SITE());
    int rc = SYNC_REAL(usleep)(us);
    c.rc = rc;
    return rc;
}

UPMU_API int nanosleep(const struct timespec *time, struct timespec *rest)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_SLEEP, -1, UPMU_TRACE_FLAG_TIMED, CALL_SITE());
    int rc = SYNC_REAL(nanosleep)(time, rest);
    c.rc = rc;
    return rc;
}

UPMU_API int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_SLEEP, -1, UPMU_TRACE_FLAG_TIMED, CALL_SITE());
    int rc = SYNC_REAL(clock_nanosleep)(clock, flags, time, rest);
    c.error = rc;
    c.rc = 0;
    return rc;
}

UPMU_API int thrd_sleep(const struct timespec *time, struct timespec *rest)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_SLEEP, -1, UPMU_TRACE_FLAG_TIMED, CALL_SITE());
    int rc = SYNC_REAL(thrd_sleep)(time, rest);
    c.rc = rc;
    return rc;
}
