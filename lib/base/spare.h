/* SPDX-License-Identifier: MIT */
/** @file Free file descriptors that stay the program's own, however few the limit allows. */
#ifndef UPMU_BASE_SPARE_H
#define UPMU_BASE_SPARE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/** Numbers below the soft limit that stay free while the library holds descriptors: the dynamic linker, the C library and
 *  the program's own short-lived files need them (without one, pthread_exit() aborts the program). */
enum { SPARE_DESCRIPTORS = 16 };

/**
 * Whether one more descriptor leaves SPARE_DESCRIPTORS free. Asked of the kernel each time, because the program opens and
 * closes as well. Opens nothing. Async-signal-safe, keeps errno.
 *
 * By F_GETFD, and neither poll() nor /proc/self/fd: the first calls into drivers, the second needs a descriptor. Numbers are
 * given out from the bottom, so from the top a program with descriptors to spare is recognized after a few calls. One that
 * uses all of the top of a large range is taken to use all of it.
 */
static inline bool spare_descriptors_left(void)
{
    enum { PROBES_MAX = 4096 };
    struct rlimit limit;
    int saved = errno, free_ones = 0;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return false;
    long top = limit.rlim_cur < INT32_MAX ? (long)limit.rlim_cur : INT32_MAX;
    long bottom = top > PROBES_MAX ? top - PROBES_MAX : 0;
    for (long fd = top - 1; fd >= bottom && free_ones <= SPARE_DESCRIPTORS; fd--)
        free_ones += fcntl((int)fd, F_GETFD) < 0 && errno == EBADF;
    errno = saved;
    return free_ones > SPARE_DESCRIPTORS;
}

#endif
