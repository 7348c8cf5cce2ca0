/* SPDX-License-Identifier: MIT */
/* Wrappers of calls that read, write and copy files at an offset, and of writing back. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sync_trace/account/call.h"
#include "sync_trace/libc/resolve.h"

/* Names of the functions for offsets of 64 bits, which all offsets have here. musl has macros in their place. */
_Static_assert(sizeof(off_t) == sizeof(int64_t), "off_t has 64 bits");
#define ALIAS_64(name, of) extern UPMU_API __typeof__(of) sync_##of##64 __asm__(name) __attribute__((alias(#of)))

/* _FORTIFY_SOURCE calls it; no header declares it. NOLINTBEGIN(clang-diagnostic-reserved-identifier) */
UPMU_API ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t at, size_t size);
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

UPMU_API ssize_t pread(int fd, void *to, size_t bytes, off_t at)
{
    struct sync_thread *t = sync_call_thread();
    if (!t && sync_call_stop() == 0)
        return SYNC_REAL(pread)(fd, to, bytes, at);
    SYNC_CALL c = sync_call_begin_of(t, UPMU_CALL_READ, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(pread)(fd, to, bytes, at);
    c.rc = rc;
    return rc;
}
ALIAS_64("pread64", pread);

UPMU_API ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t at, size_t size)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_READ, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(pread_chk)(fd, to, bytes, at, size);
    c.rc = rc;
    return rc;
}
ALIAS_64("__pread64_chk", __pread_chk);

UPMU_API ssize_t preadv(int fd, const struct iovec *to, int n, off_t at)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_READ, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(preadv)(fd, to, n, at);
    c.rc = rc;
    return rc;
}
ALIAS_64("preadv64", preadv);

UPMU_API ssize_t pwrite(int fd, const void *from, size_t bytes, off_t at)
{
    struct sync_thread *t = sync_call_thread();
    if (!t && sync_call_stop() == 0)
        return SYNC_REAL(pwrite)(fd, from, bytes, at);
    SYNC_CALL c = sync_call_begin_of(t, UPMU_CALL_WRITE, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(pwrite)(fd, from, bytes, at);
    c.rc = rc;
    return rc;
}
ALIAS_64("pwrite64", pwrite);

UPMU_API ssize_t pwritev(int fd, const struct iovec *from, int n, off_t at)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(pwritev)(fd, from, n, at);
    c.rc = rc;
    return rc;
}
ALIAS_64("pwritev64", pwritev);

/* The C library's headers declare these where it has them. */
UPMU_API ssize_t preadv2(int fd, const struct iovec *to, int n, off_t at, int flags);
UPMU_API ssize_t pwritev2(int fd, const struct iovec *from, int n, off_t at, int flags);

UPMU_API ssize_t preadv2(int fd, const struct iovec *to, int n, off_t at, int flags)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_READ, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(preadv2)(fd, to, n, at, flags);
    c.rc = rc;
    return rc;
}
ALIAS_64("preadv64v2", preadv2);

UPMU_API ssize_t pwritev2(int fd, const struct iovec *from, int n, off_t at, int flags)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(pwritev2)(fd, from, n, at, flags);
    c.rc = rc;
    return rc;
}
ALIAS_64("pwritev64v2", pwritev2);

UPMU_API ssize_t splice(int from, off_t *from_at, int to, off_t *to_at, size_t bytes, unsigned flags)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, to, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(splice)(from, from_at, to, to_at, bytes, flags);
    c.rc = rc;
    return rc;
}

UPMU_API ssize_t tee(int from, int to, size_t bytes, unsigned flags)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, to, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(tee)(from, to, bytes, flags);
    c.rc = rc;
    return rc;
}

UPMU_API ssize_t vmsplice(int fd, const struct iovec *of, size_t n, unsigned flags)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, fd, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(vmsplice)(fd, of, n, flags);
    c.rc = rc;
    return rc;
}

UPMU_API ssize_t sendfile(int to, int from, off_t *at, size_t bytes)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, to, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(sendfile)(to, from, at, bytes);
    c.rc = rc;
    return rc;
}
/* As sendfile() is declared. */
extern UPMU_API ssize_t sync_sendfile64(int to, int from, off_t *at, size_t bytes) __asm__("sendfile64")
    __attribute__((alias("sendfile"), nothrow, leaf));

UPMU_API ssize_t copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t bytes, unsigned flags)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, to, 0, CALL_SITE());
    ssize_t rc = SYNC_REAL(copy_file_range)(from, from_at, to, to_at, bytes, flags);
    c.rc = rc;
    return rc;
}

UPMU_API int sync_file_range(int fd, off_t at, off_t bytes, unsigned flags)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, fd, 0, CALL_SITE());
    int rc = SYNC_REAL(sync_file_range)(fd, at, bytes, flags);
    c.rc = rc;
    return rc;
}

UPMU_API int msync(void *at, size_t bytes, int flags)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_WRITE, -1, 0, CALL_SITE());
    int rc = SYNC_REAL(msync)(at, bytes, flags);
    c.rc = rc;
    return rc;
}
