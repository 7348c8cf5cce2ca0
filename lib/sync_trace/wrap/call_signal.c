/* SPDX-License-Identifier: MIT */
/* Wrappers of calls that wait for a signal, and of those that send one. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "sync_trace/account/call.h"
#include "sync_trace/libc/resolve.h"

UPMU_API int sigwait(const sigset_t *set, int *sig)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_SIGNAL, -1, 0, CALL_SITE());
    int rc = SYNC_REAL(sigwait)(set, sig);
    c.error = rc;
    c.rc = 0;
    return rc;
}

UPMU_API int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_SIGNAL, -1, 0, CALL_SITE());
    int rc = SYNC_REAL(sigwaitinfo)(set, info);
    c.rc = rc;
    return rc;
}

UPMU_API int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *most)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_SIGNAL, -1, most ? UPMU_TRACE_FLAG_TIMED : 0, CALL_SITE());
    int rc = SYNC_REAL(sigtimedwait)(set, info, most);
    c.rc = rc;
    return rc;
}

UPMU_API int sigsuspend(const sigset_t *mask)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_SIGNAL, -1, 0, CALL_SITE());
    int rc = SYNC_REAL(sigsuspend)(mask);
    c.rc = 0; /* EINTR is the signal it waited for */
    return rc;
}

UPMU_API int pause(void)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_SIGNAL, -1, 0, CALL_SITE());
    int rc = SYNC_REAL(pause)();
    c.rc = 0; /* EINTR is the signal it waited for */
    return rc;
}

/* The thread that a signal is sent to may wait for one. */
static void signal_note(int sig)
{
    struct sync_thread *t = sync_call_thread();
    if (t && sig > 0)
        sync_call_note_write(t, tick_now(), -sig);
}

UPMU_API int pthread_kill(pthread_t thread, int sig)
{
    signal_note(sig);
    return SYNC_REAL(pthread_kill)(thread, sig);
}

UPMU_API int pthread_sigqueue(pthread_t thread, int sig, const union sigval value)
{
    signal_note(sig);
    return SYNC_REAL(pthread_sigqueue)(thread, sig, value);
}

UPMU_API int kill(pid_t pid, int sig)
{
    signal_note(sig);
    return SYNC_REAL(kill)(pid, sig);
}

UPMU_API int sigqueue(pid_t pid, int sig, const union sigval value)
{
    signal_note(sig);
    return SYNC_REAL(sigqueue)(pid, sig, value);
}

UPMU_API int tgkill(pid_t pid, pid_t tid, int sig)
{
    signal_note(sig);
    return SYNC_REAL(tgkill)(pid, tid, sig);
}
