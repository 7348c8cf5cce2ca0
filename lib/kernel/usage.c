/* SPDX-License-Identifier: MIT */
/* Times and faults that the kernel accounts to tasks: getrusage() and /proc/PID/stat. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "kernel/parts.h"

static uint64_t usage_ns(const struct timeval *tv)
{
    return (uint64_t)tv->tv_sec * 1000000000u + (uint64_t)tv->tv_usec * 1000u;
}

void kernel_usage_of(const struct rusage *r, struct kernel_usage *out)
{
    *out = (struct kernel_usage){
        .user_ns = usage_ns(&r->ru_utime),
        .system_ns = usage_ns(&r->ru_stime),
        .minor_faults = (uint64_t)r->ru_minflt,
        .major_faults = (uint64_t)r->ru_majflt,
        .switches = (uint64_t)r->ru_nvcsw + (uint64_t)r->ru_nivcsw,
    };
}

static int usage_of_thread(struct kernel_usage *out)
{
    struct rusage r;
    int saved = errno;
    if (getrusage(RUSAGE_THREAD, &r) < 0) {
        int err = errno;
        errno = saved;
        return -err;
    }
    kernel_usage_of(&r, out);
    return 0;
}

/* The name in parentheses may contain blanks and parentheses: fields are counted from the last one. */
static int usage_of_process(pid_t pid, struct kernel_usage *out)
{
    char path[64], text[1024];
    unsigned long long minor, minor_children, major, major_children, user, system;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    ssize_t n = kernel_read_file(path, text, sizeof text);
    if (n < 0)
        return n == -ENOENT ? -ESRCH : (int)n;
    const char *name_end = strrchr(text, ')');
    long hz = sysconf(_SC_CLK_TCK);
    if (hz <= 0 || !name_end ||
        sscanf(name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %llu %llu %llu %llu %llu %llu", &minor, &minor_children,
               &major, &major_children, &user, &system) != 6)
        return -EPROTO;
    uint64_t tick_ns = 1000000000u / (uint64_t)hz;
    *out = (struct kernel_usage){
        .user_ns = user * tick_ns,
        .system_ns = system * tick_ns,
        .minor_faults = minor,
        .major_faults = major,
        .switches = KERNEL_USAGE_UNKNOWN,
    };
    return 0;
}

int kernel_usage(pid_t pid, struct kernel_usage *out)
{
    return pid == 0 ? usage_of_thread(out) : usage_of_process(pid, out);
}
