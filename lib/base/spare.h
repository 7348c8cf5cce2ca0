/* SPDX-License-Identifier: MIT */
/** @file Free file descriptors reserved for the program. */
#ifndef UPMU_BASE_SPARE_H
#define UPMU_BASE_SPARE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/** Descriptors that stay free while the library holds any: the dynamic linker, the C library and the program need
 *  them for short-lived files (without one, pthread_exit() aborts the program). */
enum { SPARE_DESCRIPTORS = 16 };

/**
 * Whether one more descriptor leaves SPARE_DESCRIPTORS free. Checked in the kernel each time, because the program
 * opens and closes descriptors, too. Opens nothing. Async-signal-safe, keeps errno.
 *
 * Uses F_GETFD: poll() would call into drivers, and /proc/self/fd needs a descriptor. Numbers are assigned from the
 * bottom, so for a program with free descriptors a few calls at the top suffice. If all tested numbers at the top
 * of a large range are in use, the whole range is assumed to be.
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

/** The lowest number that descriptors of the library are moved to, under a limit of `soft`: the program may have closed the standard
 *  ones, and may rely on getting the lowest free one. The kernel's table is as long as the highest number in use, so a limit of a
 *  million does not lead to such numbers. */
static inline int spare_descriptors_from(rlim_t soft)
{
    enum { RANGE_MAX = 4096 };
    return (int)((soft < RANGE_MAX ? soft : RANGE_MAX) / 2);
}

#endif
