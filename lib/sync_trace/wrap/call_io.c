/* SPDX-License-Identifier: MIT */
/* Wrappers of calls that read and write descriptors, and of the names that _FORTIFY_SOURCE uses. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sync_trace/account/call.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/stack/unwind_pipe.h"

/* The C library declares some of these with a union in place of the address: they are defined here by their names alone. */

/* Names that _FORTIFY_SOURCE calls; no header declares them. NOLINTBEGIN(clang-diagnostic-reserved-identifier) */
UPMU_API ssize_t __read_chk(int fd, void *to, size_t bytes, size_t size);
UPMU_API ssize_t __recv_chk(int fd, void *to, size_t bytes, size_t size, int flags);
UPMU_API ssize_t __recvfrom_chk(int fd, void *to, size_t bytes, size_t size, int flags, struct sockaddr *from,
                                socklen_t *from_bytes);
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

/* That its pipe is empty, for libunwind. */
UPMU_API ssize_t read(int fd, void *to, size_t bytes)
{
    if (UNLIKELY(fd == sync_unwind_pipe.reads) && sync_unwind_pipe_refuses(CALL_SITE())) {
        errno = EAGAIN;
        return -1;
    }
    struct sync_thread *t = sync_call_thread();
    if (!t && sync_call_stop() == 0)
        return SYNC_REAL(read)(fd, to, bytes);
    SYNC_CALL c = sync_call_begin_of(t, UPMU_CALL_READ, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(read)(fd, to, bytes);
    c.rc = rc;
    return rc;
}

/* Not recorded: that of libunwind gets high numbers. */
UPMU_API int pipe2(int fd[2], int flags)
{
    int rc = SYNC_REAL(pipe2)(fd, flags);
    if (rc == 0)
        sync_unwind_pipe_raise(fd, CALL_SITE());
    return rc;
}

UPMU_API ssize_t __read_chk(int fd, void *to, size_t bytes, size_t size)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_READ, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(read_chk)(fd, to, bytes, size);
    c.rc = rc;
    return rc;
}

UPMU_API ssize_t readv(int fd, const struct iovec *to, int n)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_READ, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(readv)(fd, to, n);
    c.rc = rc;
    return rc;
}

UPMU_API ssize_t recv(int fd, void *to, size_t bytes, int flags)
{
    struct sync_thread *t = sync_call_thread();
    if (!t && sync_call_stop() == 0)
        return SYNC_REAL(recv)(fd, to, bytes, flags);
    SYNC_CALL c = sync_call_begin_of(t, UPMU_CALL_READ, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(recv)(fd, to, bytes, flags);
    c.rc = rc;
    return rc;
}

UPMU_API ssize_t __recv_chk(int fd, void *to, size_t bytes, size_t size, int flags)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_READ, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(recv_chk)(fd, to, bytes, size, flags);
    c.rc = rc;
    return rc;
}

UPMU_API ssize_t sync_recvfrom(int fd, void *to, size_t bytes, int flags, struct sockaddr *from,
                               socklen_t *from_bytes) __asm__("recvfrom");

ssize_t sync_recvfrom(int fd, void *to, size_t bytes, int flags, struct sockaddr *from, socklen_t *from_bytes)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_READ, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(recvfrom)(fd, to, bytes, flags, from, from_bytes);
    c.rc = rc;
    return rc;
}

UPMU_API ssize_t __recvfrom_chk(int fd, void *to, size_t bytes, size_t size, int flags, struct sockaddr *from,
                                socklen_t *from_bytes)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_READ, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(recvfrom_chk)(fd, to, bytes, size, flags, from, from_bytes);
    c.rc = rc;
    return rc;
}

UPMU_API ssize_t recvmsg(int fd, struct msghdr *to, int flags)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_READ, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(recvmsg)(fd, to, flags);
    c.rc = rc;
    return rc;
}

UPMU_API int recvmmsg(int fd, struct mmsghdr *to, unsigned n, int flags, struct timespec *most)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_READ, fd, most ? UPMU_TRACE_FLAG_TIMED : 0, CALL_SITE());
    int rc = SYNC_REAL(recvmmsg)(fd, to, n, flags, most);
    c.rc = rc;
    return rc;
}

UPMU_API int sync_accept(int fd, struct sockaddr *from, socklen_t *bytes) __asm__("accept");

int sync_accept(int fd, struct sockaddr *from, socklen_t *bytes)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_READ, fd, 0, CALL_SITE());
    int rc = SYNC_REAL(accept)(fd, from, bytes);
    c.rc = rc;
    return rc;
}

UPMU_API int sync_accept4(int fd, struct sockaddr *from, socklen_t *bytes, int flags) __asm__("accept4");

int sync_accept4(int fd, struct sockaddr *from, socklen_t *bytes, int flags)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_READ, fd, 0, CALL_SITE());
    int rc = SYNC_REAL(accept4)(fd, from, bytes, flags);
    c.rc = rc;
    return rc;
}

/* That the memory is not readable, for libunwind. */
UPMU_API ssize_t write(int fd, const void *from, size_t bytes)
{
    if (UNLIKELY(fd == sync_unwind_pipe.writes) && sync_unwind_pipe_refuses(CALL_SITE())) {
        errno = EFAULT;
        return -1;
    }
    struct sync_thread *t = sync_call_thread();
    if (!t && sync_call_stop() == 0)
        return SYNC_REAL(write)(fd, from, bytes);
    SYNC_CALL c = sync_call_begin_of(t, UPMU_CALL_WRITE, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(write)(fd, from, bytes);
    c.rc = rc;
    return rc;
}

UPMU_API ssize_t writev(int fd, const struct iovec *from, int n)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(writev)(fd, from, n);
    c.rc = rc;
    return rc;
}

UPMU_API int fsync(int fd)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, fd, 0, CALL_SITE());
    int rc = SYNC_REAL(fsync)(fd);
    c.rc = rc;
    return rc;
}

UPMU_API int fdatasync(int fd)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, fd, 0, CALL_SITE());
    int rc = SYNC_REAL(fdatasync)(fd);
    c.rc = rc;
    return rc;
}

UPMU_API ssize_t send(int fd, const void *from, size_t bytes, int flags)
{
    struct sync_thread *t = sync_call_thread();
    if (!t && sync_call_stop() == 0)
        return SYNC_REAL(send)(fd, from, bytes, flags);
    SYNC_CALL c = sync_call_begin_of(t, UPMU_CALL_WRITE, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(send)(fd, from, bytes, flags);
    c.rc = rc;
    return rc;
}

UPMU_API ssize_t sync_sendto(int fd, const void *from, size_t bytes, int flags, const struct sockaddr *to,
                             socklen_t to_bytes) __asm__("sendto");

ssize_t sync_sendto(int fd, const void *from, size_t bytes, int flags, const struct sockaddr *to, socklen_t to_bytes)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(sendto)(fd, from, bytes, flags, to, to_bytes);
    c.rc = rc;
    return rc;
}

UPMU_API ssize_t sendmsg(int fd, const struct msghdr *from, int flags)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(sendmsg)(fd, from, flags);
    c.rc = rc;
    return rc;
}

UPMU_API int sendmmsg(int fd, struct mmsghdr *from, unsigned n, int flags)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, fd, 0, CALL_SITE());
    int rc = SYNC_REAL(sendmmsg)(fd, from, n, flags);
    c.rc = rc;
    return rc;
}

UPMU_API int sync_connect(int fd, const struct sockaddr *to, socklen_t bytes) __asm__("connect");

int sync_connect(int fd, const struct sockaddr *to, socklen_t bytes)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, fd, 0, CALL_SITE());
    int rc = SYNC_REAL(connect)(fd, to, bytes);
    c.rc = rc;
    return rc;
}
