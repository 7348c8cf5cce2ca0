/* SPDX-License-Identifier: MIT */
/* Permissions of the calling thread for perf_event_open, from /proc and /sys. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/check/refusal.h"
#include "core/machine/machine.h"

enum {
    STATUS_MAX = 8192,
    CAP_SYS_ADMIN_BIT = 21,
    CAP_PERFMON_BIT = 38,
    CAP_CHECKPOINT_RESTORE_BIT = 40, /* of Linux 5.9 */
    SECCOMP_FILTER = 2
};

bool sysctl_read(const struct kernel_ops *k, const char *path, long *value)
{
    char text[64], *end;
    if (k->read_file(path, text, sizeof text) <= 0)
        return false;
    errno = 0;
    *value = strtol(text, &end, 10);
    return end != text && errno == 0;
}

/* The text after "Key:" at the start of a line, without leading blanks; NULL if there is no such line. */
static const char *status_field(const char *text, const char *key)
{
    size_t len = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, len) == 0 && line[len] == ':')
            return line + len + 1 + strspn(line + len + 1, " \t");
    }
    return NULL;
}

/* Capabilities and filters are per thread; thread-self exists since Linux 3.17. */
static bool status_read(const struct kernel_ops *k, char *text, size_t cap)
{
    return k->read_file("/proc/thread-self/status", text, cap) > 0 || k->read_file("/proc/self/status", text, cap) > 0;
}

/* The kernel checks the capability in the initial user namespace, which maps every user id to itself. */
static enum known in_initial_user_namespace(const struct kernel_ops *k)
{
    char text[256];
    unsigned long inside, outside, count;
    ssize_t n = k->read_file("/proc/self/uid_map", text, sizeof text);
    if (n == -ENOENT) /* a kernel without user namespaces has only the initial one */
        return KNOWN_YES;
    if (n < 0 || sscanf(text, "%lu %lu %lu", &inside, &outside, &count) != 3)
        return KNOWN_NOT;
    return inside == 0 && outside == 0 && count == UINT32_MAX ? KNOWN_YES : KNOWN_NO;
}

static void capability_read(const char *status, struct permissions *p)
{
    const char *field = status_field(status, "CapEff");
    if (!field)
        return;
    unsigned long long effective = strtoull(field, NULL, 16);
    if (!(effective & (1ull << CAP_PERFMON_BIT | 1ull << CAP_SYS_ADMIN_BIT))) {
        p->capable = KNOWN_NO;
        return;
    }
    p->capable = p->first_user_namespace;
    p->contained_capability = p->capable == KNOWN_NO;
}

void permissions_read(const struct kernel_ops *k, struct permissions *p)
{
    char status[STATUS_MAX];
    long value;
    *p = (struct permissions){.uid = -1};
    if (sysctl_read(k, "/proc/sys/kernel/perf_event_paranoid", &value) && value >= INT_MIN && value <= INT_MAX) {
        p->paranoid_known = true;
        p->paranoid = (int)value;
    }
    p->first_user_namespace = in_initial_user_namespace(k);
    if (sysctl_read(k, "/proc/sys/kernel/cap_last_cap", &value)) {
        p->perfmon = value >= CAP_PERFMON_BIT;
        p->perfmon_foreign = value >= CAP_CHECKPOINT_RESTORE_BIT;
    }
    if (!status_read(k, status, sizeof status))
        return;
    capability_read(status, p);
    const char *field = status_field(status, "Seccomp");
    if (field)
        p->seccomp = strtol(field, NULL, 10) == SECCOMP_FILTER ? KNOWN_YES : KNOWN_NO;
    field = status_field(status, "Uid");
    if (field)
        p->uid = strtol(field, NULL, 10);
}

static int permissions_stop_at_first(const char *name, void *arg)
{
    (void)name, (void)arg;
    return 1;
}

enum known core_pmu_known(const struct kernel_ops *k)
{
    if (machine_get()->core_pmu[0])
        return KNOWN_YES;
    /* Every kernel with perf events lists the software PMU: an empty or unreadable list proves nothing. */
    return k->list_dir(MACHINE_PMU_DIR, permissions_stop_at_first, NULL) == 1 ? KNOWN_NO : KNOWN_NOT;
}

void limit_read(const struct kernel_ops *k, const char *name, char *buf, size_t cap)
{
    char text[4096];
    buf[0] = '\0';
    if (k->read_file("/proc/self/limits", text, sizeof text) <= 0)
        return;
    const char *line = strstr(text, name);
    if (!line)
        return;
    line += strlen(name);
    line += strspn(line, " ");
    int len = (int)strcspn(line, " \n");
    snprintf(buf, cap, "%.*s", len, line);
}
