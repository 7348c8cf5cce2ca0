/* SPDX-License-Identifier: MIT */
/*
 * File descriptors held by the library: limit, count and numbers.
 *
 * Measuring must neither exhaust a program's descriptors nor change their numbers: the library holds at most its
 * share of the soft limit, only while enough of the range is free, and keeps its descriptors in the upper half of
 * the range. Between its creation and the move a descriptor has the lowest free number; the kernel offers no way
 * around that.
 *
 * The limit is read each time, because a program may change it. The count is one word per process, as the limit is;
 * a forked child inherits both descriptors and count.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/spare.h"
#include "kernel/parts.h"

static unsigned held;

static struct rlimit descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return (struct rlimit){0};
    return limit;
}

bool kernel_descriptor_reserve(void)
{
    uint64_t allowed = kernel_descriptors_allowed(descriptor_limit().rlim_cur);
    unsigned now = __atomic_add_fetch(&held, 1, __ATOMIC_RELAXED);
    if (now <= allowed && spare_descriptors_left())
        return true;
    kernel_descriptor_unreserve();
    return false;
}

void kernel_descriptor_claim(void)
{
    __atomic_add_fetch(&held, 1, __ATOMIC_RELAXED);
}

void kernel_descriptor_unreserve(void)
{
    __atomic_sub_fetch(&held, 1, __ATOMIC_RELAXED);
}

int kernel_descriptor_park(int fd)
{
    int base = spare_descriptors_from(descriptor_limit().rlim_cur);
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

static bool descriptor_is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

void kernel_descriptors_now(struct kernel_descriptors *now)
{
    enum { LOOKED_AT_MAX = 65536 };
    struct rlimit limit = descriptor_limit();
    int saved = errno;
    *now =
        (struct kernel_descriptors){.soft = limit.rlim_cur, .hard = limit.rlim_max, .held = kernel_descriptors_held()};
    for (int fd = 0; fd < LOOKED_AT_MAX && (rlim_t)fd < limit.rlim_cur; fd++)
        now->open += descriptor_is_open(fd);
    errno = saved;
}
