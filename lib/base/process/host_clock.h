/* SPDX-License-Identifier: MIT */
/** @file Time namespaces: clocks of the host, by which the kernel's records and all recordings count. */
#ifndef UPMU_BASE_HOST_CLOCK_H
#define UPMU_BASE_HOST_CLOCK_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static inline bool host_clock_identity(const char *path, struct stat *st)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool known = fd >= 0 && fstat(fd, st) == 0;
    if (fd >= 0)
        close(fd);
    return known;
}

/* The file has the offsets of the children's namespace, which is another one between unshare() and fork(). */
static inline bool host_clock_offsets_are_own(void)
{
    struct stat own, children;
    return host_clock_identity("/proc/self/ns/time", &own) &&
           host_clock_identity("/proc/self/ns/time_for_children", &children) && own.st_ino == children.st_ino;
}

/* Of lines "CLOCK SECONDS NANOSECONDS". */
static inline int64_t host_clock_parse(const char *text, const char *clock)
{
    enum { NS_PER_S = 1000000000 };
    const char *line = strstr(text, clock);
    char *end;
    if (!line)
        return 0;
    int64_t seconds = strtoll(line + strlen(clock), &end, 10);
    return seconds * NS_PER_S + strtoll(end, NULL, 10);
}

/** Nanoseconds by which a clock of this process, "monotonic" (and CLOCK_MONOTONIC_RAW) or "boottime", is ahead of the host's; 0 where /proc
 *  does not have it. No allocation, no stdio. Keeps errno. */
static inline int64_t host_clock_offset_of(const char *clock)
{
    char text[128];
    int saved = errno;
    int64_t offset = 0;
    int fd = open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC); /* Linux 5.6 */
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n > 0) {
        text[n] = '\0';
        offset = host_clock_parse(text, clock);
    }
    if (offset != 0 && !host_clock_offsets_are_own())
        offset = 0;
    errno = saved;
    return offset;
}

static inline int64_t host_clock_offset_ns(void)
{
    return host_clock_offset_of("monotonic");
}

/** CLOCK_MONOTONIC_RAW of the host in nanoseconds. For tools; libraries with a recorder have tick_portable(). */
static inline uint64_t host_clock_raw_ns(void)
{
    enum { NS_PER_S = 1000000000 };
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now); /* cannot fail: the clock exists and the pointer is ours */
    return (uint64_t)((int64_t)now.tv_sec * NS_PER_S + now.tv_nsec - host_clock_offset_ns());
}

#endif
