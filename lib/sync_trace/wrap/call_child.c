/* SPDX-License-Identifier: MIT */
/* Wrappers of calls that wait for a child process. */
#include <sys/resource.h>
#include <sys/wait.h>

#include "sync_trace/account/call.h"
#include "sync_trace/libc/resolve.h"

UPMU_API pid_t wait(int *status)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    pid_t rc = SYNC_REAL(wait)(status);
    c.rc = rc;
    return rc;
}

UPMU_API pid_t waitpid(pid_t pid, int *status, int options)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    pid_t rc = SYNC_REAL(waitpid)(pid, status, options);
    c.rc = rc;
    return rc;
}

UPMU_API pid_t wait3(int *status, int options, struct rusage *usage)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    pid_t rc = SYNC_REAL(wait3)(status, options, usage);
    c.rc = rc;
    return rc;
}

UPMU_API pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    pid_t rc = SYNC_REAL(wait4)(pid, status, options, usage);
    c.rc = rc;
    return rc;
}

UPMU_API int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    int rc = SYNC_REAL(waitid)(type, id, info, options);
    c.rc = rc;
    return rc;
}
