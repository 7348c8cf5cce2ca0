/* SPDX-License-Identifier: MIT */
/*
 * Descriptors the library may hold, and where. Room: kernel; used by perf.c and spawn.c.
 *
 * A host program must not run out of descriptors because it is measured, nor find its own at other numbers than before:
 * the library takes at most its share of the soft limit and keeps what it takes in the upper half of the range. For the
 * moment between the system call that makes a descriptor and the move it has the lowest free number; the kernel offers
 * no way around that.
 *
 * The limit is asked for each time, because a program may change it. The count is one word per process, as the limit is;
 * a forked child inherits descriptors and count alike.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel/parts.h"

/* A limit of a million must not mean numbers near a million: the kernel's table is as long as the highest number used. */
enum { RANGE_MAX = 4096 };

static unsigned held;

static rlim_t soft_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 0;
    return limit.rlim_cur;
}

bool kernel_descriptor_reserve(void)
{
    rlim_t share = soft_limit() / KERNEL_NOFILE_SHARE;
    unsigned now = __atomic_add_fetch(&held, 1, __ATOMIC_RELAXED);
    if (now <= share)
        return true;
    kernel_descriptor_unreserve();
    return false;
}

void kernel_descriptor_unreserve(void)
{
    __atomic_sub_fetch(&held, 1, __ATOMIC_RELAXED);
}

int kernel_descriptor_park(int fd)
{
    rlim_t soft = soft_limit();
    int base = (int)((soft < RANGE_MAX ? soft : RANGE_MAX) / 2);
    if (fd >= base)
        return fd;
    int parked = fcntl(fd, F_DUPFD_CLOEXEC, base);
    int err = errno;
    close(fd);
    if (parked < 0) {
        kernel_descriptor_unreserve();
        return -err;
    }
    return parked;
}

void kernel_descriptor_close(int fd)
{
    int saved = errno;
    close(fd);
    kernel_descriptor_unreserve();
    errno = saved;
}

unsigned kernel_descriptors_held(void)
{
    return __atomic_load_n(&held, __ATOMIC_RELAXED);
}
