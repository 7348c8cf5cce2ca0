/* SPDX-License-Identifier: MIT */
/* Wrappers of calls that wait for a child process. */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "sync_trace/account/call.h"
#include "sync_trace/fork.h"
#include "sync_trace/libc/resolve.h"

/* `status` NULL: not asked for. Of a stopped child it is no end. */
static pid_t child_waited_for(pid_t child, const int *status, int options)
{
    bool ends_only = (options & (WUNTRACED | WCONTINUED)) == 0;
    if (child > 0 && (status ? WIFEXITED(*status) || WIFSIGNALED(*status) : ends_only))
        sync_fork_child_ended(child, 0);
    return child;
}

UPMU_API pid_t wait(int *status)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    pid_t rc = SYNC_REAL(wait)(status);
    c.rc = rc;
    return child_waited_for(rc, status, 0);
}

UPMU_API pid_t waitpid(pid_t pid, int *status, int options)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    pid_t rc = SYNC_REAL(waitpid)(pid, status, options);
    c.rc = rc;
    return child_waited_for(rc, status, options);
}

UPMU_API pid_t wait3(int *status, int options, struct rusage *usage)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    pid_t rc = SYNC_REAL(wait3)(status, options, usage);
    c.rc = rc;
    return child_waited_for(rc, status, options);
}

UPMU_API pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    pid_t rc = SYNC_REAL(wait4)(pid, status, options, usage);
    c.rc = rc;
    return child_waited_for(rc, status, options);
}

UPMU_API int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    int rc = SYNC_REAL(waitid)(type, id, info, options);
    c.rc = rc;
    bool ended = rc == 0 && info && info->si_signo == SIGCHLD &&
                 (info->si_code == CLD_EXITED || info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED);
    if (ended && !(options & WNOWAIT))
        sync_fork_child_ended(info->si_pid, 0);
    return rc;
}

UPMU_API int system(const char *command)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    uint64_t begin = sync_recording() ? tick_now() : 0;
    int rc = SYNC_REAL(system)(command);
    c.rc = rc;
    if (command && rc != -1 && begin != 0)
        sync_fork_child_ended(0, begin);
    return rc;
}
