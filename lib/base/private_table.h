/* SPDX-License-Identifier: MIT */
/** @file Calls that open files without a descriptor in the program's table. */
#ifndef UPMU_BASE_PRIVATE_TABLE_H
#define UPMU_BASE_PRIVATE_TABLE_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/sanitizer.h"

/**
 * Call `run(argument)`, which may open files, so that the program never sees their descriptors: open() returns the lowest
 * free number, which another thread may be about to close, reuse or rely on.
 *
 * A process with one thread calls it directly, with all signals blocked but SIGBUS: a mapped file that `run` reads may have been
 * truncated, and the kernel ends a process that blocks the signal of a fault. Otherwise a short-lived thread with an empty descriptor
 * table of its own calls it on the same stack while the caller waits; it has the caller's errno, thread-local storage and credentials, and
 * descriptors that `run` leaves open are closed. Descriptors that were opened before do not exist in it. The same where `run` has returned
 * -EMFILE in a process with one thread: it is called again.
 *
 * `run` takes no lock that the caller may hold. Signal safe, keeps errno.
 *
 * @return the result of `run`, or -errno if there can be no such thread (-EAGAIN: RLIMIT_NPROC).
 */
int private_table_run(int (*run)(void *), void *argument);

/** Called before and after `run`, with the same signals blocked, if it is set: what the other thread calls is not the program's, and
 *  the thread-local storage is the caller's. Each library has its own. */
extern void (*private_table_hook)(bool begins);

/** open() and close() by the system calls, for the reason of private_fstat(). ThreadSanitizer takes a descriptor that it does not see
 *  closed for another thread's of the same number, so that its builds call the functions. */
static inline int private_open(const char *path, int flags, mode_t mode)
{
    return UNDER_TSAN ? open(path, flags, mode) : (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

static inline void private_close(int fd)
{
    if (UNDER_TSAN)
        close(fd);
    else
        syscall(SYS_close, fd);
}

/** fstat() of type, permissions, owner, size, device and inode, by the system call: libfaketime's fstat(), for one, takes a mutex, and
 *  called while that mutex's own lock is recorded it would wait for its own thread. @return 0, or -1 and errno */
static inline int private_fstat(int fd, struct stat *st)
{
#if defined __x86_64__ && defined __LP64__ || defined __aarch64__ || defined __riscv && __riscv_xlen == 64
    return (int)syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH); /* the kernel's struct is the C library's */
#else
    struct statx x;
    if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &x) != 0)
        return fstat(fd, st); /* a kernel before 4.11 */
    *st = (struct stat){.st_mode = x.stx_mode,
                        .st_uid = x.stx_uid,
                        .st_size = (off_t)x.stx_size,
                        .st_dev = makedev(x.stx_dev_major, x.stx_dev_minor),
                        .st_rdev = makedev(x.stx_rdev_major, x.stx_rdev_minor),
                        .st_ino = (ino_t)x.stx_ino};
    return 0;
#endif
}

#endif
