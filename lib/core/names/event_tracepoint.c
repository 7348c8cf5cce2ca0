/* SPDX-License-Identifier: MIT */
/* Tracepoints by name: their ids from tracefs, and why these cannot be read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "core/names/event.h"
#include "core/names/intern.h"
#include "core/kernel_ops.h"

#define TRACEFS "/sys/kernel/tracing"

enum { TRACEPOINT_PATH_MAX = 320 };

/* The events folder in tracefs, which older systems mount inside debugfs. */
static const char *const tracepoint_folders[] = {TRACEFS "/events", "/sys/kernel/debug/tracing/events"};
enum { TRACEPOINT_FOLDERS = sizeof tracepoint_folders / sizeof *tracepoint_folders };

/* A first entry is enough: the folder can be listed. */
static int tracepoint_stop(const char *name, void *arg)
{
    (void)name;
    (void)arg;
    return 1;
}

/* Whether the folder can be listed and is not empty: an empty one is an unused mount point. */
static bool tracepoint_listed(const char *folder)
{
    return core_kernel()->list_dir(folder, tracepoint_stop, NULL) == 1;
}

struct tracepoint_offers {
    struct suggest *suggest;
    const char *prefix;
};

static int tracepoint_offer(const char *name, void *arg)
{
    const struct tracepoint_offers *o = arg;
    char full[EVENT_NAME_MAX];
    snprintf(full, sizeof full, "%s%s", o->prefix, name);
    const char *kept = intern(full);
    if (kept)
        suggest_offer(o->suggest, kept);
    return 0;
}

/* Fail for a tracepoint that a readable tracefs does not have. */
static int tracepoint_unknown(const char *folder, const char *subsystem, const char *base)
{
    char path[TRACEPOINT_PATH_MAX], prefix[EVENT_NAME_MAX + 1];
    struct suggest s;
    suggest_begin(&s, base);
    snprintf(path, sizeof path, "%s/%s", folder, subsystem);
    snprintf(prefix, sizeof prefix, "%s:", subsystem);
    if (core_kernel()->list_dir(path, tracepoint_offer, &(struct tracepoint_offers){&s, prefix}) < 0)
        return upmu_fail(UPMU_E_NAME, "no event '%s': '%s' is neither an event nor a subsystem of tracepoints (%s)",
                         base, subsystem, folder);
    if (s.best)
        return upmu_fail(UPMU_E_NAME, "no tracepoint '%s'; did you mean '%s'?", base, s.best);
    return upmu_fail(UPMU_E_NAME, "no tracepoint '%s'; %s lists those of the subsystem", base, path);
}

/* Fail if the id cannot be read; it is only in tracefs. */
static int tracepoint_unreadable(const char *base, int err, struct event *out)
{
    if (err == -EACCES || err == -EPERM)
        return upmu_fail(UPMU_E_PERM,
                         "'%s': the id of a tracepoint is in tracefs, which this user may not read (%s). Run as root, "
                         "or let the group %u read it: as root, 'mount -o remount,gid=%u,mode=750 " TRACEFS "'",
                         base, upmu_errno_name(-err), (unsigned)getgid(), (unsigned)getgid());
    if (err != -ENOENT)
        return upmu_fail(UPMU_E_SYSTEM, "'%s': the id of the tracepoint cannot be read from tracefs (%s)", base,
                         upmu_errno_name(-err));
    (void)upmu_fail(
        UPMU_E_UNSUPPORTED,
        "'%s': the id of a tracepoint is in tracefs, which is not mounted. Run 'mount -t tracefs tracefs " TRACEFS
        "' as root",
        base);
    snprintf(out->note, sizeof out->note, "%s", upmu_error());
    return UPMU_E_UNSUPPORTED;
}

static int tracepoint_number(const char *base, const char *path, const char *text, struct event *out)
{
    char *end;
    errno = 0;
    out->config = strtoull(text, &end, 10);
    if (end == text || errno != 0 || (*end != '\0' && *end != '\n'))
        return upmu_fail(UPMU_E_SYSTEM, "'%s': %s does not contain a number", base, path);
    out->class = EVENT_SOFTWARE;
    out->type = KERNEL_TYPE_TRACEPOINT;
    out->kernel_only = out->all_modes_only = true;
    out->match = UPMU_MATCH_EXACT;
    out->summary = "tracepoint of the kernel";
    out->source = "tracefs";
    snprintf(out->pmu, sizeof out->pmu, "tracepoint");
    return 0;
}

int event_from_tracepoint(const char *base, struct event *out)
{
    char subsystem[EVENT_NAME_MAX], path[TRACEPOINT_PATH_MAX], text[64];
    const char *colon = strchr(base, ':');
    int err = -ENOENT;
    snprintf(subsystem, sizeof subsystem, "%.*s", (int)(colon - base), base);
    if (strpbrk(base, "*?["))
        return upmu_fail(UPMU_E_INVAL, "'%s': wildcards are not supported; give one tracepoint", base);
    if (strchr(base, '/') || subsystem[0] == '.' || colon[1] == '.')
        return upmu_fail(UPMU_E_INVAL, "event '%s': expected subsystem:event", base);
    for (size_t i = 0; i < TRACEPOINT_FOLDERS; i++) {
        snprintf(path, sizeof path, "%s/%s/%s/id", tracepoint_folders[i], subsystem, colon + 1);
        ssize_t n = core_kernel()->read_file(path, text, sizeof text);
        if (n > 0)
            return tracepoint_number(base, path, text, out);
        if (n < 0 && n != -ENOENT && err == -ENOENT)
            err = (int)n;
        if (n == -ENOENT && tracepoint_listed(tracepoint_folders[i]))
            return tracepoint_unknown(tracepoint_folders[i], subsystem, base);
    }
    return tracepoint_unreadable(base, err, out);
}
