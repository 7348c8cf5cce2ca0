/* SPDX-License-Identifier: MIT */
/* Free file descriptors, counted from the top of the range. */
#include "base/spare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>

/* A program with a higher limit that uses all of the top of the range is taken to use all of it. */
enum { SPARE_PROBES_MAX = 4096 };

/* F_GETFD, and neither poll() nor /proc/self/fd: the first calls into drivers, the second needs a descriptor. Numbers are
 * given out from the bottom, so a program with descriptors to spare is recognized after a few calls. */
bool spare_descriptors_left(void)
{
    struct rlimit limit;
    int saved = errno, free_ones = 0;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return false;
    long top = limit.rlim_cur < INT32_MAX ? (long)limit.rlim_cur : INT32_MAX;
    long bottom = top > SPARE_PROBES_MAX ? top - SPARE_PROBES_MAX : 0;
    for (long fd = top - 1; fd >= bottom && free_ones <= SPARE_DESCRIPTORS; fd--)
        free_ones += fcntl((int)fd, F_GETFD) < 0 && errno == EBADF;
    errno = saved;
    return free_ones > SPARE_DESCRIPTORS;
}
