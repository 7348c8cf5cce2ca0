/* SPDX-License-Identifier: MIT */
/* The seccomp filters of the calling thread, by /proc. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "region/region.h"

static uint32_t filters_number(const char *lines, const char *label)
{
    const char *found = strstr(lines, label);
    return found ? (uint32_t)strtoul(found + strlen(label), NULL, 10) : 0;
}

/* By pieces: the list of a user's groups, which comes before, may be longer than any buffer. */
static uint32_t filters_read(int fd)
{
    enum { LINE = 64 }; /* no line that is searched is longer */
    char text[2048];
    uint32_t filters = 0, is_filtered = 0;
    size_t kept = 0;
    ssize_t n;
    while ((n = (ssize_t)syscall(SYS_read, fd, text + kept, sizeof text - 1 - kept)) > 0) {
        size_t bytes = kept + (size_t)n, end = bytes;
        text[bytes] = '\0';
        while (end > 0 && text[end - 1] != '\n')
            end--;
        const char next = text[end]; /* of a line that is not complete */
        text[end] = '\0';
        filters |= filters_number(text, "\nSeccomp_filters:");
        is_filtered |= filters_number(text, "\nSeccomp:");
        text[end] = next;
        size_t from = end > 0 ? end - 1 : 0; /* labels are found by the end of the line before */
        kept = bytes - from < LINE ? bytes - from : 0;
        memmove(text, text + from, kept);
    }
    return filters ? filters : is_filtered != 0;
}

/* A number that cannot be read is larger than any that was read before: a program may lock itself in without /proc first. */
uint32_t region_filters(void)
{
    int saved = errno, fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC, 0);
    uint32_t filters = fd >= 0 ? filters_read(fd) : UINT32_MAX;
    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = saved;
    return filters;
}

bool region_filtered(void)
{
    return region_filters() > upmu_regions.filters;
}
