/* SPDX-License-Identifier: MIT */
/* The seccomp filters of the calling thread, by /proc. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "region/region.h"

static uint32_t filters_number(const char *status, const char *label)
{
    const char *found = strstr(status, label);
    return found ? (uint32_t)strtoul(found + strlen(label), NULL, 10) : 0;
}

uint32_t region_filters(void)
{
    char status[4096];
    int saved = errno, fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC, 0);
    ssize_t n = fd >= 0 ? (ssize_t)syscall(SYS_read, fd, status, sizeof status - 1) : -1;
    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = saved;
    status[n > 0 ? n : 0] = '\0';
    uint32_t filters = filters_number(status, "\nSeccomp_filters:");
    return filters ? filters : filters_number(status, "\nSeccomp:") != 0;
}

bool region_filtered(void)
{
    return region_filters() > upmu_regions.filters;
}
