/* SPDX-License-Identifier: MIT */
/* Results of upmu stat: sums over targets, mean and spread over runs. */
#include <stdlib.h>
#include <string.h>

#include "ui/memory.h"
#include "events/metrics.h"
#include "stat.h"

/* -------------------------------------------------------------------------------------------- statistics */

void stat_mean_add(struct stat_mean *m, double x)
{
    m->n++;
    double distance = x - m->mean;
    m->mean += distance / m->n;
    m->m2 += distance * (x - m->mean);
}

double stat_mean_deviation(const struct stat_mean *m)
{
    return m->n > 1 ? sqrt(m->m2 / (m->n - 1)) : (double)NAN;
}

double stat_mean_error_percent(const struct stat_mean *m)
{
    if (m->n < 2 || m->m2 <= 0)
        return 0;
    return m->mean > 0 ? 100.0 * stat_mean_deviation(m) / sqrt(m->n) / m->mean : (double)NAN;
}

int stat_mean_decimals(const struct stat_mean *m)
{
    return m->mean == floor(m->mean) ? 0 : 2;
}

bool stat_has_number(const struct stat_event *e, const struct stat_result *result)
{
    return (e->status == UPMU_EXACT || e->status == UPMU_SCALED) && e->value.n == result->runs && result->runs > 0;
}

bool stat_succeeded(const struct stat_request *request, const struct stat_result *result)
{
    bool any = request->target == STAT_COMMAND;
    for (size_t i = 0; i < result->n_events; i++)
        any |= result->events[i].status != UPMU_REFUSED && result->events[i].status != UPMU_UNSUPPORTED;
    return any;
}

double stat_counted_percent(const struct stat_event *e)
{
    return e->enabled > 0 ? 100.0 * (double)e->running / (double)e->enabled : 0;
}

/* From the sums over the runs, not from their rounded means. */
void stat_metrics(const struct stat_result *result, stat_metric_fn each, void *arg)
{
    const char **names = memory_array(result->n_events, sizeof *names);
    struct upmu_value *values = memory_array(result->n_events, sizeof *values);
    struct upmu_metric_info info = {.size = sizeof info};
    double seconds = result->wall.mean * result->wall.n;

    for (size_t i = 0; i < result->n_events; i++) {
        const struct stat_event *e = &result->events[i];
        names[i] = e->name;
        values[i] = (struct upmu_value){
            .value = UPMU_NO_VALUE,
            .enabled = e->enabled,
            .running = e->running,
            .status = e->status,
            .cause = e->cause,
        };
        if (!stat_has_number(e, result))
            continue;
        values[i].value = values[i].raw = e->total;
        if (e->total == UPMU_NO_VALUE)
            values[i].status = UPMU_NOT_COUNTED;
    }
    for (size_t i = 0; upmu_metric_at(i, &info) == 0; i++) {
        struct upmu_metric_value value;
        if (info.on_demand && !metrics_listed(result->request->events, info.name) &&
            !metrics_listed(result->request->metrics, info.name))
            continue;
        if (upmu_metric_eval(info.name, names, values, result->n_events, seconds, &value) == 0)
            each(arg, &info, &value);
    }
    free(names);
    free(values);
}

/* ------------------------------------------------------------------------------------------ one event */

static void result_event_begin(struct stat_event *e, const char *name)
{
    struct upmu_event_info info = {.size = sizeof info};
    int rc = upmu_event_find(name, &info);
    bool known = rc == 0 || rc == UPMU_E_UNSUPPORTED, scaled = known && info.scale_unit[0] != '\0';
    *e = (struct stat_event){
        .name = memory_copy(name),
        .unit = memory_copy(scaled  ? info.scale_unit
                            : known ? info.unit
                                    : ""),
        .scale = scaled ? info.scale : 1,
        .reason = memory_copy(""),
        .status = UPMU_EXACT,
    };
}

/* Most machines have one core type, which is not worth a row of its own. */
static void result_kinds_begin(struct stat_event *e, const struct upmu_set *set, size_t i)
{
    if (!upmu_set_core_type(set, i, 1))
        return;
    while (upmu_set_core_type(set, i, e->n_kinds))
        e->n_kinds++;
    e->kinds = memory_array(e->n_kinds, sizeof *e->kinds);
    for (size_t k = 0; k < e->n_kinds; k++)
        e->kinds[k] = (struct stat_kind){.pmu = memory_copy(upmu_set_core_type(set, i, k))};
}

static struct stat_event *result_events_begin(const struct stat_parts *parts)
{
    struct stat_event *events = memory_array(parts->n_events, sizeof *events);
    const struct upmu_set *set = parts->part[0].set;
    for (size_t i = 0; i < parts->n_events; i++) {
        result_event_begin(&events[i], upmu_set_name(set, i));
        if (parts->n == 1)
            result_kinds_begin(&events[i], set, i);
    }
    return events;
}

static void result_events_free(struct stat_event *events, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(events[i].name);
        free(events[i].unit);
        free(events[i].reason);
        for (size_t k = 0; k < events[i].n_kinds; k++)
            free(events[i].kinds[k].pmu);
        free(events[i].kinds);
    }
    free(events);
}

static bool value_is_number(const struct upmu_value *v)
{
    return v->status == UPMU_EXACT || v->status == UPMU_SCALED;
}

static void result_event_add(struct stat_event *e, const struct stat_reading *r, const char *reason)
{
    const struct upmu_value *v = &r->v;
    int weakest = upmu_status_weakest(e->status, v->status);

    if (weakest != e->status)
        e->cause = v->cause;
    e->status = weakest;
    e->enabled += v->enabled;
    e->running += v->running;
    if (!value_is_number(v)) {
        free(e->reason);
        e->reason = memory_copy(reason);
        return;
    }
    e->source = r->source;
    if (__builtin_add_overflow(e->total, v->value, &e->total))
        e->total = UPMU_NO_VALUE;
    stat_mean_add(&e->value, (double)v->value);
}

/* The core types have a number where the sum has one. */
static void result_kinds_add(struct stat_event *e, struct upmu_set *set, size_t i)
{
    for (size_t k = 0; k < e->n_kinds; k++) {
        struct upmu_value v;
        if (upmu_set_read_core_type(set, i, k, &v) < 0 || !value_is_number(&v))
            continue;
        if (__builtin_add_overflow(e->kinds[k].total, v.value, &e->kinds[k].total))
            e->kinds[k].total = UPMU_NO_VALUE;
        stat_mean_add(&e->kinds[k].value, (double)v.value);
    }
}

/* ------------------------------------------------------------------------------------------ all of a result */

static void result_begin(struct stat_result *result, const struct stat_parts *parts)
{
    result->n_events = parts->n_events;
    result->events = result_events_begin(parts);
    for (size_t p = 0; p < parts->n; p++)
        result->instances += upmu_set_instance_count(parts->part[p].set);
    if (!parts->request->each)
        return;
    result->n_members = parts->n;
    result->members = memory_array(parts->n, sizeof *result->members);
    for (size_t p = 0; p < parts->n; p++)
        result->members[p] = (struct stat_member){
            .label = memory_copy(parts->part[p].label), .id = parts->part[p].id, .events = result_events_begin(parts)};
}

/* @param interval the reading is what was counted since the one before */
static void result_add_event(struct stat_result *result, const struct stat_parts *parts, size_t k, bool interval)
{
    struct stat_reading sum = {.seen = false};
    const char *reason = stat_parts_reason(parts, k);
    for (size_t p = 0; p < parts->n; p++) {
        const struct stat_part *part = &parts->part[p];
        struct stat_reading r = interval ? stat_reading_between(&part->before[k], &part->now[k]) : part->now[k];
        stat_reading_add(&sum, &r);
        if (interval && r.at_end)
            reason = "counted by the kernel's accounting when the command ends";
        if (p < result->n_members)
            result_event_add(&result->members[p].events[k], &r, reason);
    }
    result_event_add(&result->events[k], &sum, reason);
    if (!interval && parts->n == 1)
        result_kinds_add(&result->events[k], parts->part[0].set, k);
}

void stat_result_add(struct stat_result *result, const struct stat_parts *parts, bool interval)
{
    if (!result->events)
        result_begin(result, parts);
    for (size_t k = 0; k < result->n_events; k++)
        result_add_event(result, parts, k, interval);
    stat_mean_add(&result->wall, parts->ended - parts->began);
    const struct stat_usage *used = &parts->part[0].used;
    if (parts->request->target == STAT_COMMAND && used->known >> STAT_USER_NS & 1) {
        stat_mean_add(&result->user, (double)used->field[STAT_USER_NS] * 1e-9);
        stat_mean_add(&result->sys, (double)used->field[STAT_SYSTEM_NS] * 1e-9);
    }
    result->runs++;
}

void stat_result_free(struct stat_result *result)
{
    result_events_free(result->events, result->n_events);
    for (size_t p = 0; p < result->n_members; p++) {
        free(result->members[p].label);
        result_events_free(result->members[p].events, result->n_events);
    }
    free(result->members);
}
