/* SPDX-License-Identifier: MIT */
/* Wrappers of poll(), select(), epoll_wait() and their relatives, and of the names that _FORTIFY_SOURCE uses. */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "sync_trace/account/call.h"
#include "sync_trace/libc/resolve.h"

/* Names that _FORTIFY_SOURCE calls; no header declares them. NOLINTBEGIN(clang-diagnostic-reserved-identifier) */
UPMU_API int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t bytes);
UPMU_API int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *most, const sigset_t *mask, size_t bytes);
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

UPMU_API int poll(struct pollfd *fds, nfds_t n, int ms)
{
    struct sync_thread *t = sync_call_thread();
    if (!t && sync_call_stop() == 0)
        return SYNC_REAL(poll)(fds, n, ms);
    SYNC_CALL c = sync_call_begin_of(t, UPMU_CALL_POLL, -1, ms >= 0 ? UPMU_TRACE_FLAG_TIMED : 0, CALL_SITE());
    int rc = SYNC_REAL(poll)(fds, n, ms);
    c.rc = rc;
    if (n == 1 && rc >= 0)
        c.fd = fds->fd; /* not before the call: it may not be readable */
    return rc;
}

UPMU_API int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t bytes)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_POLL, -1, ms >= 0 ? UPMU_TRACE_FLAG_TIMED : 0, CALL_SITE());
    int rc = SYNC_REAL(poll_chk)(fds, n, ms, bytes);
    c.rc = rc;
    if (n == 1 && rc >= 0)
        c.fd = fds->fd; /* not before the call: it may not be readable */
    return rc;
}

UPMU_API int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *most, const sigset_t *mask)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_POLL, -1, most ? UPMU_TRACE_FLAG_TIMED : 0, CALL_SITE());
    int rc = SYNC_REAL(ppoll)(fds, n, most, mask);
    c.rc = rc;
    if (n == 1 && rc >= 0)
        c.fd = fds->fd; /* not before the call: it may not be readable */
    return rc;
}

UPMU_API int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *most, const sigset_t *mask, size_t bytes)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_POLL, -1, most ? UPMU_TRACE_FLAG_TIMED : 0, CALL_SITE());
    int rc = SYNC_REAL(ppoll_chk)(fds, n, most, mask, bytes);
    c.rc = rc;
    if (n == 1 && rc >= 0)
        c.fd = fds->fd; /* not before the call: it may not be readable */
    return rc;
}

UPMU_API int select(int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *most)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_POLL, -1, most ? UPMU_TRACE_FLAG_TIMED : 0, CALL_SITE());
    int rc = SYNC_REAL(select)(n, in, out, except, most);
    c.rc = rc;
    return rc;
}

UPMU_API int pselect(int n, fd_set *in, fd_set *out, fd_set *except, const struct timespec *most, const sigset_t *mask)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_POLL, -1, most ? UPMU_TRACE_FLAG_TIMED : 0, CALL_SITE());
    int rc = SYNC_REAL(pselect)(n, in, out, except, most, mask);
    c.rc = rc;
    return rc;
}

UPMU_API int epoll_wait(int fd, struct epoll_event *events, int n, int ms)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_POLL, fd, ms >= 0 ? UPMU_TRACE_FLAG_TIMED : 0, CALL_SITE());
    int rc = SYNC_REAL(epoll_wait)(fd, events, n, ms);
    c.rc = rc;
    return rc;
}

UPMU_API int epoll_pwait(int fd, struct epoll_event *events, int n, int ms, const sigset_t *mask)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_POLL, fd, ms >= 0 ? UPMU_TRACE_FLAG_TIMED : 0, CALL_SITE());
    int rc = SYNC_REAL(epoll_pwait)(fd, events, n, ms, mask);
    c.rc = rc;
    return rc;
}

/* glibc 2.35 */
UPMU_API int epoll_pwait2(int fd, struct epoll_event *events, int n, const struct timespec *most, const sigset_t *mask);

UPMU_API int epoll_pwait2(int fd, struct epoll_event *events, int n, const struct timespec *most, const sigset_t *mask)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_POLL, fd, most ? UPMU_TRACE_FLAG_TIMED : 0, CALL_SITE());
    int rc = SYNC_REAL(epoll_pwait2)(fd, events, n, most, mask);
    c.rc = rc;
    return rc;
}
