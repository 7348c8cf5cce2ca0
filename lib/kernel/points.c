/* SPDX-License-Identifier: MIT */
/* Ids and record layouts of the kernel's tracepoints, from tracefs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/parts.h"

enum { RAW_MAX = 60 }; /* bytes of a record that switch_log.c reads */

static const struct {
    const char *path;  /* below the events folder */
    const char *value; /* names of fields */
    const char *more;  /* NULL: none */
    uint32_t kind;
} points[KERNEL_POINTS] = {
    [KERNEL_POINT_WAKING] = {"sched/sched_waking", "pid", NULL, KERNEL_SWITCH_WAKES},
    [KERNEL_POINT_LOCK_BEGIN] = {"lock/contention_begin", "lock_addr", "flags", KERNEL_SWITCH_LOCK_BEGIN},
    [KERNEL_POINT_LOCK_END] = {"lock/contention_end", "lock_addr", "ret", KERNEL_SWITCH_LOCK_END},
};

ssize_t kernel_point_format(const char *path, char *text, size_t size)
{
    static const char *const folders[] = {"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"};
    ssize_t n = -ENOENT;
    for (size_t i = 0; n < 0 && i < sizeof folders / sizeof *folders; i++) {
        char file[128];
        snprintf(file, sizeof file, "%s/%s/format", folders[i], path);
        ssize_t got = kernel_read_file(file, text, size);
        n = got >= 0 || n == -ENOENT ? got : n; /* tracefs that may not be read, rather than one that is not mounted */
    }
    return n;
}

/* Find a line "field:TYPE NAME; offset:N; size:N; ...". @return false if there is no such field of 4 or 8 bytes. */
static bool points_find_field(const char *text, const char *name, uint16_t *at, uint16_t *bytes)
{
    char ending[64];
    unsigned offset, size;
    snprintf(ending, sizeof ending, " %s;", name);
    const char *found = strstr(text, ending);
    if (!found || sscanf(found + strlen(ending), " offset:%u; size:%u;", &offset, &size) != 2)
        return false;
    if ((size != sizeof(uint32_t) && size != sizeof(uint64_t)) || offset > RAW_MAX - size)
        return false;
    *at = (uint16_t)offset;
    *bytes = (uint16_t)size;
    return true;
}

static int points_find_one(size_t i, struct kernel_point_layout *out)
{
    char text[4096];
    unsigned long long id;
    ssize_t n = kernel_point_format(points[i].path, text, sizeof text);
    if (n < 0)
        return (int)n;
    const char *number = strstr(text, "ID: ");
    *out = (struct kernel_point_layout){.kind = points[i].kind};
    if (!number || sscanf(number, "ID: %llu", &id) != 1 ||
        !points_find_field(text, points[i].value, &out->value, &out->value_bytes) ||
        (points[i].more && !points_find_field(text, points[i].more, &out->more, &out->more_bytes))) {
        *out = (struct kernel_point_layout){0};
        return -EPROTO; /* an unknown kernel */
    }
    out->id = id;
    return 0;
}

int kernel_points_find(uint32_t wanted, struct kernel_point_layout *layout)
{
    int rc = 0;
    for (size_t i = 0; i < KERNEL_POINTS; i++) {
        layout[i] = (struct kernel_point_layout){0};
        int found = wanted & 1u << i ? points_find_one(i, &layout[i]) : 0;
        rc = rc == 0 ? found : rc;
    }
    return rc;
}
