/* SPDX-License-Identifier: MIT */
/* Wrappers of calls that wait for a signal, of those that send one, and of those that set its action. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "sync_trace/account/call.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/sample/cpu_timer.h"

/* As sigtimedwait(). A thread that blocks all signals after its timer began has the timer's signal pending: it is taken and
 * dropped. The time limit begins again, for such a signal ends a wait only at its start: a waiting thread needs no CPU time. */
static int signal_wait(const sigset_t *set, siginfo_t *info, const struct timespec *most)
{
    siginfo_t own;
    siginfo_t *got = info ? info : &own;
    int rc;
    do {
        rc = most ? SYNC_REAL(sigtimedwait)(set, got, most) : SYNC_REAL(sigwaitinfo)(set, got);
    } while (rc > 0 && sync_cpu_timer_sent(got));
    return rc;
}

/* As sigwait(), which does not report who sent the signal. */
static int signal_wait_number(const sigset_t *set, int *sig)
{
    int rc, saved = errno, failed;
    if (!sync_cpu_timer_in(set))
        return SYNC_REAL(sigwait)(set, sig);
    do {
        rc = signal_wait(set, NULL, NULL);
    } while (rc < 0 && errno == EINTR);
    failed = rc < 0 ? errno : 0;
    errno = saved;
    if (rc > 0)
        *sig = rc;
    return failed;
}

UPMU_API int sigwait(const sigset_t *set, int *sig)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_SIGNAL, -1, 0, CALL_SITE());
    int rc = signal_wait_number(set, sig);
    c.error = rc;
    c.rc = 0;
    return rc;
}

UPMU_API int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_SIGNAL, -1, 0, CALL_SITE());
    int rc = signal_wait(set, info, NULL);
    c.rc = rc;
    return rc;
}

UPMU_API int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *most)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_SIGNAL, -1, most ? UPMU_TRACE_FLAG_TIMED : 0, CALL_SITE());
    int rc = signal_wait(set, info, most);
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

#if !SYNC_UNDER_SANITIZER
/* A program that resets all signals, as daemons do, would end by that of its timers. */
UPMU_API int sigaction(int sig, const struct sigaction *set, struct sigaction *old)
{
    return sync_cpu_timer_has(sig) ? sync_cpu_timer_action(set, old) : SYNC_REAL(sigaction)(sig, set, old);
}

UPMU_API void (*signal(int sig, void (*handler)(int)))(int)
{
    const struct sigaction set = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct sigaction old;
    if (!sync_cpu_timer_has(sig))
        return SYNC_REAL(signal)(sig, handler);
    return sync_cpu_timer_action(&set, &old) == 0 ? old.sa_handler : SIG_ERR;
}
#endif
