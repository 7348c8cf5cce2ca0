/* SPDX-License-Identifier: MIT */
/*
 * Derived metrics by name. Room: core; before it values already read, after it reports and the caller.
 *
 * A metric is a quotient of two events, or of an event and the wall time. Some have variants over different events; the
 * first whose events this CPU has is the one that is listed and the first whose events were counted is computed.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "core/event.h"
#include "core/metric.h"
#include "core/registry.h"
#include "core/value.h"

struct metric {
    const char *name, *summary, *formula, *unit, *events;
    const char *over, *under; /**< under NULL: wall time in seconds */
    double scale;
};

/* Rows of one name stand together, best variant first. */
static const struct metric metrics[] = {
    {"ipc", "instructions per cycle", "instructions / cycles", "", "instructions,cycles", "instructions", "cycles", 1},
    {"branch-miss-ratio", "share of branches mispredicted", "100 * branch-misses / branches", "%",
     "branch-misses,branches", "branch-misses", "branches", 100},
    {"l1d-miss-ratio", "share of L1 data cache accesses that miss", "100 * l1d-miss / l1d-access", "%",
     "l1d-miss,l1d-access", "l1d-miss", "l1d-access", 100},
    {"l1d-miss-ratio", "share of L1 data cache loads that miss", "100 * l1d-load-miss / l1d-load", "%",
     "l1d-load-miss,l1d-load", "l1d-load-miss", "l1d-load", 100},
    {"cache-miss-ratio", "share of perf's generic cache references that miss", "100 * cache-misses / cache-references",
     "%", "cache-misses,cache-references", "cache-misses", "cache-references", 100},
    {"llc-miss-ratio", "share of last-level cache accesses that miss", "100 * llc-miss / llc-access", "%",
     "llc-miss,llc-access", "llc-miss", "llc-access", 100},
    {"llc-miss-ratio", "share of last-level cache loads that miss", "100 * llc-load-miss / llc-load", "%",
     "llc-load-miss,llc-load", "llc-load-miss", "llc-load", 100},
    {"clock-ghz", "clock rate while on a CPU", "cycles / task-clock", "GHz", "cycles,task-clock", "cycles",
     "task-clock", 1},
    {"cpus-used", "CPUs kept busy on average", "task-clock / wall time", "", "task-clock", "task-clock", NULL, 1e-9},
    {"context-switches-per-second", "context switches per second of wall time", "context-switches / wall time", "/s",
     "context-switches", "context-switches", NULL, 1},
    {"page-faults-per-second", "page faults per second of wall time", "page-faults / wall time", "/s", "page-faults",
     "page-faults", NULL, 1},
};
enum { METRICS = sizeof metrics / sizeof *metrics };

size_t metric_parts(size_t index, const char *parts[METRIC_EVENTS_MAX])
{
    if (index >= METRICS)
        return 0;
    parts[0] = metrics[index].over;
    parts[1] = metrics[index].under;
    return metrics[index].under ? 2 : 1;
}

static bool counted_here(const struct metric *m)
{
    struct event e;
    return event_resolve(m->over, &e) == 0 && (!m->under || event_resolve(m->under, &e) == 0);
}

/* The variant to show for the metric whose first row is `first`. */
static const struct metric *best_variant(size_t first)
{
    for (size_t i = first; i < METRICS && strcmp(metrics[i].name, metrics[first].name) == 0; i++)
        if (counted_here(&metrics[i]))
            return &metrics[i];
    return &metrics[first];
}

int upmu_metric_info(size_t index, struct upmu_metric_info *info)
{
    if (!info || info->size < sizeof *info)
        return upmu_fail(UPMU_E_INVAL, "upmu_metric_info: info must be given, with info->size = sizeof *info");
    for (size_t i = 0; i < METRICS; i++) {
        if (i > 0 && strcmp(metrics[i].name, metrics[i - 1].name) == 0)
            continue;
        if (index-- > 0)
            continue;
        const struct metric *m = best_variant(i);
        struct upmu_metric_info full = {
            .name = m->name, .summary = m->summary, .formula = m->formula, .unit = m->unit, .events = m->events};
        opts_give(info, info->size, sizeof full, &full, sizeof full);
        return 0;
    }
    return upmu_fail(UPMU_E_NAME, "upmu_metric_info: no metric has this index");
}

/* Whether names[i] is `part`, whatever alias was used; its modifiers in *modes. */
static bool is_part(const char *part, const char *name, const char **modes)
{
    char base[EVENT_NAME_MAX];
    const char *colon = strchr(name, ':');
    size_t len = colon ? (size_t)(colon - name) : strlen(name);
    if (len >= sizeof base)
        return false;
    memcpy(base, name, len);
    base[len] = '\0';
    const struct registry_event *r = registry_find(base);
    *modes = colon ? colon : "";
    return r && strcmp(r->name, part) == 0;
}

/* Index of `part` counted in these modes, NULL for any; -1 if it was not. */
static long find_part(const char *part, const char *wanted_modes, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *modes;
        if (names[i] && is_part(part, names[i], &modes) && (!wanted_modes || strcmp(modes, wanted_modes) == 0))
            return (long)i;
    }
    return -1;
}

static void compute(const struct metric *m, const struct upmu_value *over, const struct upmu_value *under,
                    double seconds, struct upmu_metric_value *out)
{
    out->value = NAN;
    out->standing = under ? upmu_standing_weakest(over->standing, under->standing) : over->standing;
    out->cause = !under || out->standing == over->standing ? over->cause : under->cause;
    if (out->standing != UPMU_EXACT && out->standing != UPMU_SCALED)
        return;
    double divisor = under ? (double)under->value : seconds;
    if (divisor > 0)
        out->value = m->scale * (double)over->value / divisor;
    else
        out->standing = UPMU_NOT_COUNTED; /* nothing to divide by: the interval holds no such event */
}

/* @return 1 if this variant's events were counted and `out` is filled. */
static int try_variant(const struct metric *m, const char *const *names, const struct upmu_value *values, size_t n,
                       double seconds, struct upmu_metric_value *out)
{
    /* User-mode instructions over all cycles would be a number that means nothing; clocks have no modes. */
    bool clock = m->under && strcmp(m->under, "task-clock") == 0;
    for (size_t over = 0; over < n; over++) {
        const char *modes;
        if (!names[over] || !is_part(m->over, names[over], &modes))
            continue;
        long under = m->under ? find_part(m->under, clock ? NULL : modes, names, n) : -1;
        if (m->under && under < 0)
            continue;
        compute(m, &values[over], m->under ? &values[under] : NULL, seconds, out);
        return 1;
    }
    return 0;
}

static int unknown_metric(const char *name)
{
    struct suggest s;
    suggest_begin(&s, name);
    for (size_t i = 0; i < METRICS; i++)
        suggest_offer(&s, metrics[i].name);
    return upmu_fail(UPMU_E_NAME, "no metric '%s'%s%s%s", name, s.best ? "; did you mean '" : "", s.best ? s.best : "",
                     s.best ? "'?" : "");
}

int upmu_metric_eval(const char *metric, const char *const *names, const struct upmu_value *values, size_t n,
                     double seconds, struct upmu_metric_value *out)
{
    if (!metric || !out || (n > 0 && (!names || !values)))
        return upmu_fail(UPMU_E_INVAL, "upmu_metric_eval: metric, names, values and out must be given");
    bool known = false, counted = false;
    *out = (struct upmu_metric_value){.value = NAN, .standing = UPMU_NOT_COUNTED};
    for (size_t i = 0; i < METRICS; i++) {
        struct upmu_metric_value one;
        if (strcmp(metrics[i].name, metric) != 0)
            continue;
        known = true;
        if (!try_variant(&metrics[i], names, values, n, seconds, &one))
            continue;
        /* A later variant is asked only if this one has no number; the first one's reason is told if none has. */
        if (!counted || !isnan(one.value))
            *out = one;
        counted = true;
        if (!isnan(one.value))
            break;
    }
    if (counted)
        return 0;
    return known ? upmu_fail(UPMU_E_NAME, "metric '%s': the events it needs were not counted", metric)
                 : unknown_metric(metric);
}
