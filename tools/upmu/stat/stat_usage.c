/* SPDX-License-Identifier: MIT */
/*
 * Kernel accounting (wait4, /proc) as a source of events that may not be counted.
 *
 * Of a process /proc has faults and times of all its threads, ended ones included, but context switches only of threads that
 * are alive: those of a process are not known.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stat.h"

enum { NS_PER_SECOND = 1000000000 };

const char *stat_source_name(enum stat_source source)
{
    static const char *const names[] = {
        [STAT_NO_SOURCE] = NULL, [STAT_PERF_EVENT] = "perf_event", [STAT_RUSAGE] = "rusage", [STAT_PROC] = "/proc"};
    return names[source];
}

static void usage_put(struct stat_usage *u, enum stat_usage_field field, uint64_t value)
{
    u->field[field] = value;
    u->known |= 1u << field;
}

static bool usage_read(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t n = fread(text, 1, size - 1, file);
    (void)fclose(file); /* read only: no error is lost */
    text[n] = '\0';
    return n > 0;
}

static void usage_of_stat(struct stat_usage *u, const char *text)
{
    uint64_t minor, major, user, system;
    const char *after_name = strrchr(text, ')'); /* the name itself may hold anything */
    long ticks = sysconf(_SC_CLK_TCK);
    if (!after_name || ticks <= 0 ||
        sscanf(after_name, ") %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64 " %" SCNu64, &minor,
               &major, &user, &system) != 4)
        return;
    usage_put(u, STAT_MINOR_FAULTS, minor);
    usage_put(u, STAT_MAJOR_FAULTS, major);
    usage_put(u, STAT_USER_NS, user * (uint64_t)(NS_PER_SECOND / ticks));
    usage_put(u, STAT_SYSTEM_NS, system * (uint64_t)(NS_PER_SECOND / ticks));
}

static bool usage_line(const char *text, const char *key, uint64_t *value)
{
    const char *line = strstr(text, key);
    return line && sscanf(line + strlen(key), "%" SCNu64, value) == 1;
}

struct stat_usage stat_usage_of(enum stat_target target, pid_t id)
{
    struct stat_usage u = {0};
    char path[96], text[8192];
    uint64_t voluntary, involuntary;
    int n = snprintf(path, sizeof path, "/proc/%ld/", (long)id);
    if (target == STAT_THREADS)
        n += snprintf(path + n, sizeof path - (size_t)n, "task/%ld/", (long)id);
    else if (target != STAT_PROCESSES)
        return u;
    snprintf(path + n, sizeof path - (size_t)n, "stat");
    if (usage_read(path, text, sizeof text))
        usage_of_stat(&u, text);
    snprintf(path + n, sizeof path - (size_t)n, "status");
    if (target == STAT_THREADS && usage_read(path, text, sizeof text) &&
        usage_line(text, "\nvoluntary_ctxt_switches:", &voluntary) &&
        usage_line(text, "\nnonvoluntary_ctxt_switches:", &involuntary))
        usage_put(&u, STAT_SWITCHES, voluntary + involuntary);
    return u;
}

struct stat_usage stat_usage_of_command(const struct upmu_set *set)
{
    struct stat_usage u = {0};
    struct upmu_usage used = {.size = sizeof used};
    if (upmu_set_usage_read(set, &used) < 0)
        return u;
    usage_put(&u, STAT_USER_NS, used.user_ns);
    usage_put(&u, STAT_SYSTEM_NS, used.system_ns);
    usage_put(&u, STAT_MINOR_FAULTS, used.minor_faults);
    usage_put(&u, STAT_MAJOR_FAULTS, used.major_faults);
    usage_put(&u, STAT_SWITCHES, used.switches);
    return u;
}

/* The fields whose sum is the event, a bit each; 0 for an event that is not accounted. */
static unsigned usage_fields(const char *event)
{
    static const struct {
        const char *event;
        unsigned fields;
    } known[] = {
        {"page-faults", 1u << STAT_MINOR_FAULTS | 1u << STAT_MAJOR_FAULTS},
        {"minor-faults", 1u << STAT_MINOR_FAULTS},
        {"major-faults", 1u << STAT_MAJOR_FAULTS},
        {"context-switches", 1u << STAT_SWITCHES},
        {"user-time", 1u << STAT_USER_NS},
        {"system-time", 1u << STAT_SYSTEM_NS},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].event, event) == 0)
            return known[i].fields;
    return 0;
}

bool stat_usage_has(const char *event)
{
    return usage_fields(event) != 0;
}

bool stat_usage_value(const char *event, const struct stat_usage *before, const struct stat_usage *now, uint64_t *value)
{
    unsigned fields = usage_fields(event);
    if (fields == 0 || (before->known & now->known & fields) != fields)
        return false;
    *value = 0;
    for (unsigned f = 0; f < STAT_USAGE_FIELDS; f++)
        if (fields >> f & 1)
            *value += now->field[f] > before->field[f] ? now->field[f] - before->field[f] : 0;
    return true;
}
