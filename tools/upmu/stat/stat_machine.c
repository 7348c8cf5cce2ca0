/* SPDX-License-Identifier: MIT */
/* Reports of upmu stat for programs: JSON, and CSV in the order of fields of `perf stat -x,`. */
#include <inttypes.h>
#include <string.h>

#include "ui/csv.h"
#include "ui/json.h"
#include "ui/numbers.h"
#include "stat.h"

/* -------------------------------------------------------------------------------------------------- JSON */

/* One id is a number, several are an array under the plural. */
static void stat_json_ids(struct textbuf *j, const char *kind, const char *one, const char *several,
                          const struct stat_ids *ids)
{
    json_string(j, "kind", kind);
    if (ids->n == 1) {
        json_int(j, one, ids->id[0]);
        return;
    }
    json_array(j, several);
    for (size_t i = 0; i < ids->n; i++)
        json_int(j, NULL, ids->id[i]);
    json_array_end(j);
}

static void stat_json_target(struct textbuf *j, const struct stat_request *q)
{
    json_object(j, "target");
    if (q->target == STAT_COMMAND)
        json_string(j, "kind", "command");
    else if (q->target == STAT_PROCESSES)
        stat_json_ids(j, "process", "pid", "pids", &q->ids);
    else if (q->target == STAT_THREADS)
        stat_json_ids(j, "thread", "tid", "tids", &q->ids);
    else
        stat_json_ids(j, "cpu", "cpu", "cpus", &q->ids);
    if (q->argv) {
        json_array(j, "argv");
        for (char **word = q->argv; *word; word++)
            json_string(j, NULL, *word);
        json_array_end(j);
    }
    json_object_end(j);
}

static void stat_json_value(struct textbuf *j, const struct stat_event *e, const struct stat_result *r)
{
    bool number = stat_has_number(e, r);

    if (!number)
        json_null(j, "value");
    else if (r->runs > 1)
        json_double(j, "value", e->value.mean);
    else
        json_uint(j, "value", e->total);
    json_double(j, "deviation", number ? stat_mean_deviation(&e->value) : (double)NAN);
}

static void stat_json_cause(struct textbuf *j, int status, int cause)
{
    json_string(j, "status", upmu_status_name(status));
    json_string(j, "cause", cause ? upmu_strerror(cause) : NULL);
}

/* The parts of a sum over core types; the member is there where the sum has parts. */
static void stat_json_kinds(struct textbuf *j, const struct stat_event *e, const struct stat_result *r)
{
    if (e->n_kinds == 0)
        return;
    json_array(j, "kinds");
    for (size_t k = 0; k < e->n_kinds; k++) {
        json_object(j, NULL);
        json_string(j, "pmu", e->kinds[k].pmu);
        if (e->kinds[k].value.n != r->runs || e->kinds[k].total == UPMU_NO_VALUE)
            json_null(j, "value");
        else if (r->runs > 1)
            json_double(j, "value", e->kinds[k].value.mean);
        else
            json_uint(j, "value", e->kinds[k].total);
        json_object_end(j);
    }
    json_array_end(j);
}

static void stat_json_event(struct textbuf *j, const struct stat_event *e, const struct stat_result *r)
{
    json_object(j, NULL);
    json_string(j, "name", e->name);
    stat_json_value(j, e, r);
    json_string(j, "unit", e->scale != 1 ? "" : e->unit);
    json_double(j, "scale", e->scale); /* the value times this is in: */
    json_string(j, "scale_unit", e->scale != 1 ? e->unit : NULL);
    stat_json_cause(j, e->status, e->cause);
    json_string(j, "source", stat_has_number(e, r) ? stat_source_name(e->source) : NULL);
    json_string(j, "reason", e->reason[0] ? e->reason : NULL);
    json_uint(j, "enabled_ns", e->enabled);
    json_uint(j, "running_ns", e->running);
    stat_json_kinds(j, e, r);
    json_object_end(j);
}

static void stat_json_metric(void *arg, const struct upmu_metric_info *info, const struct upmu_metric_value *value)
{
    struct textbuf *j = arg;

    json_object(j, NULL);
    json_string(j, "name", info->name);
    json_double(j, "value", value->value);
    json_string(j, "unit", info->unit);
    json_string(j, "formula", info->formula);
    stat_json_cause(j, value->status, value->cause);
    json_object_end(j);
}

static void stat_json_seconds(struct textbuf *j, const char *key, const struct stat_mean *m)
{
    /* To the nanosecond: the clock has no more. */
    json_double(j, key, m->n > 0 ? (double)number_nanoseconds(m->mean) / 1e9 : (double)NAN);
}

static void stat_json_events(struct textbuf *j, const struct stat_event *events, const struct stat_result *r)
{
    json_array(j, "events");
    for (size_t i = 0; i < r->n_events; i++)
        stat_json_event(j, &events[i], r);
    json_array_end(j);
}

/* Threads or CPUs, each by itself. */
static void stat_json_members(struct textbuf *j, const struct stat_result *r)
{
    if (r->n_members == 0)
        return;
    json_array(j, "members");
    for (size_t m = 0; m < r->n_members; m++) {
        json_object(j, NULL);
        json_string(j, "name", r->members[m].label);
        json_int(j, "id", r->members[m].id);
        stat_json_events(j, r->members[m].events, r);
        json_object_end(j);
    }
    json_array_end(j);
}

void stat_write_json(struct output *out, const struct stat_request *request, const struct stat_result *result)
{
    struct json_document doc;

    struct textbuf *j = json_begin(&doc, out->file, "upmu-stat");
    doc.one_line = request->interval > 0; /* the last one of a stream */
    stat_json_target(j, request);
    json_uint(j, "runs", result->runs);
    if (result->interrupted)
        json_uint(j, "interrupted_run", result->interrupted);
    if (request->argv)
        json_int(j, "exit_status", result->status);
    else
        json_null(j, "exit_status");
    json_uint(j, "instances", result->instances);
    stat_json_seconds(j, "elapsed_s", &result->wall);
    stat_json_seconds(j, "user_s", &result->user);
    stat_json_seconds(j, "sys_s", &result->sys);
    stat_json_members(j, result);
    stat_json_events(j, result->events, result);
    json_array(j, "metrics");
    stat_metrics(result, stat_json_metric, j);
    json_array_end(j);
    json_end(&doc);
}

void stat_interval_json(struct output *out, const struct stat_interval *interval, const struct stat_result *result)
{
    struct json_document doc;
    struct textbuf *j = json_begin_line(&doc, out->file, "upmu-stat-interval");
    json_uint(j, "interval", interval->number);
    json_double(j, "end_s", (double)number_nanoseconds(interval->seconds) / 1e9);
    stat_json_members(j, result);
    stat_json_events(j, result->events, result);
    json_end(&doc);
}

/* --------------------------------------------------------------------------------------------------- CSV */

static void stat_csv_value(struct csv *c, const struct stat_event *e, const struct stat_result *r)
{
    bool clock = strcmp(e->unit, "ns") == 0;

    if (!stat_has_number(e, r)) {
        csv_field(c, e->status == UPMU_NOT_COUNTED ? "<not counted>" : "<not supported>");
        csv_field(c, clock ? "msec" : e->unit);
        return;
    }
    if (clock)
        csv_format(c, "%.2f", e->value.mean / 1e6);
    else if (e->scale != 1)
        csv_format(c, "%.2f", e->value.mean * e->scale);
    else if (r->runs > 1)
        csv_format(c, "%.*f", stat_mean_decimals(&e->value), e->value.mean);
    else
        csv_format(c, "%" PRIu64, e->total);
    csv_field(c, clock ? "msec" : e->unit);
}

/* What is written before each row: the time of an interval, and whom the row is of. */
struct csv_series {
    const char *time; /* or NULL */
    const char *label;
};

/* value, unit, event, [spread over the runs,] time on a counter in ns, share of the time on a counter, and perf's two
 * fields for a metric of the event. Metrics have lines in the other formats; the second field names the source of what was
 * not counted through perf_event_open. */
static void stat_csv_event(struct csv *c, const struct csv_series *series, const struct stat_event *e,
                           const struct stat_result *r)
{
    bool accounted = stat_has_number(e, r) && e->source != STAT_PERF_EVENT && e->source != STAT_NO_SOURCE;
    if (series->time)
        csv_field(c, series->time);
    if (series->label)
        csv_field(c, series->label);
    stat_csv_value(c, e, r);
    csv_field(c, e->name);
    if (r->runs > 1)
        csv_format(c, "%.2f%%", stat_has_number(e, r) ? stat_mean_error_percent(&e->value) : 0.0);
    csv_format(c, "%" PRIu64, e->running / r->runs);
    csv_format(c, "%.2f", stat_counted_percent(e));
    csv_field(c, "");
    csv_field(c, accounted ? stat_source_name(e->source) : "");
    csv_row_end(c);
}

static void stat_csv_events(struct output *out, const struct stat_request *q, const char *time,
                            const struct stat_result *r)
{
    struct csv c;

    csv_begin(&c, out->file, q->separator);
    for (size_t m = 0; m < r->n_members; m++)
        for (size_t i = 0; i < r->n_events; i++)
            stat_csv_event(&c, &(struct csv_series){time, r->members[m].label}, &r->members[m].events[i], r);
    for (size_t i = 0; r->n_members == 0 && i < r->n_events; i++)
        stat_csv_event(&c, &(struct csv_series){time, NULL}, &r->events[i], r);
}

void stat_write_csv(struct output *out, const struct stat_request *request, const struct stat_result *result)
{
    stat_csv_events(out, request, request->interval > 0 ? "summary" : NULL, result);
}

void stat_interval_csv(struct output *out, const struct stat_request *request, const struct stat_interval *interval,
                       const struct stat_result *result)
{
    char time[32];
    snprintf(time, sizeof time, "%.9f", interval->seconds);
    stat_csv_events(out, request, time, result);
}
