/* SPDX-License-Identifier: MIT */
/*
 * The report of upmu stat for programs: JSON, and CSV in the order of fields of `perf stat -x,`. Room: tools/upmu.
 * Before it: stat_run; after it: json, csv and output.
 */
#include <inttypes.h>
#include <string.h>

#include "csv.h"
#include "json.h"
#include "stat.h"

/* -------------------------------------------------------------------------------------------------- JSON */

static void json_target(struct json *j, const struct stat_request *q)
{
    json_object(j, "target");
    if (q->argv) {
        json_string(j, "kind", "command");
        json_array(j, "argv");
        for (char **word = q->argv; *word; word++)
            json_string(j, NULL, *word);
        json_array_end(j);
    } else if (q->pid > 0) {
        json_string(j, "kind", "process");
        json_int(j, "pid", q->pid);
    } else {
        json_string(j, "kind", "cpu");
        json_int(j, "cpu", q->cpu);
    }
    json_object_end(j);
}

static void json_value(struct json *j, const struct stat_event *e, const struct stat_result *r)
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

static void json_cause(struct json *j, int standing, int cause)
{
    json_string(j, "standing", upmu_standing_name(standing));
    json_string(j, "cause", cause ? upmu_strerror(cause) : NULL);
}

/* The parts of a sum over kinds of cores; the member is there where the sum has parts. */
static void json_kinds(struct json *j, const struct stat_event *e, const struct stat_result *r)
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

static void json_event(struct json *j, const struct stat_event *e, const struct stat_result *r)
{
    json_object(j, NULL);
    json_string(j, "name", e->name);
    json_value(j, e, r);
    json_string(j, "unit", e->unit);
    json_cause(j, e->standing, e->cause);
    json_string(j, "reason", e->reason[0] ? e->reason : NULL);
    json_uint(j, "enabled_ns", e->enabled);
    json_uint(j, "running_ns", e->running);
    json_kinds(j, e, r);
    json_object_end(j);
}

static void json_metric(void *arg, const struct upmu_metric_info *info, const struct upmu_metric_value *value)
{
    struct json *j = arg;

    json_object(j, NULL);
    json_string(j, "name", info->name);
    json_double(j, "value", value->value);
    json_string(j, "unit", info->unit);
    json_string(j, "formula", info->formula);
    json_cause(j, value->standing, value->cause);
    json_object_end(j);
}

static void json_seconds(struct json *j, const char *key, const struct stat_mean *m)
{
    /* To the nanosecond: the clock has no more. */
    json_double(j, key, m->n > 0 ? round(m->mean * 1e9) / 1e9 : (double)NAN);
}

void stat_write_json(struct output *out, const struct stat_request *request, const struct stat_result *result)
{
    struct json j;

    json_begin(&j, out->file, "upmu-stat");
    json_target(&j, request);
    json_uint(&j, "runs", result->runs);
    if (result->interrupted)
        json_uint(&j, "interrupted_run", result->interrupted);
    if (request->argv)
        json_int(&j, "exit_status", result->status);
    else
        json_null(&j, "exit_status");
    json_uint(&j, "instances", result->instances);
    json_seconds(&j, "elapsed_s", &result->wall);
    json_seconds(&j, "user_s", &result->user);
    json_seconds(&j, "sys_s", &result->sys);
    json_array(&j, "events");
    for (size_t i = 0; i < result->n_events; i++)
        json_event(&j, &result->events[i], result);
    json_array_end(&j);
    json_array(&j, "metrics");
    stat_metrics(result, json_metric, &j);
    json_array_end(&j);
    json_end(&j);
}

/* --------------------------------------------------------------------------------------------------- CSV */

static void csv_value(struct csv *c, const struct stat_event *e, const struct stat_result *r)
{
    bool clock = strcmp(e->unit, "ns") == 0;

    if (!stat_has_number(e, r)) {
        csv_field(c, e->standing == UPMU_NOT_COUNTED ? "<not counted>" : "<not supported>");
        csv_field(c, clock ? "msec" : e->unit);
        return;
    }
    if (clock)
        csv_format(c, "%.2f", e->value.mean / 1e6);
    else if (r->runs > 1)
        csv_format(c, "%.*f", stat_mean_decimals(&e->value), e->value.mean);
    else
        csv_format(c, "%" PRIu64, e->total);
    csv_field(c, clock ? "msec" : e->unit);
}

/* value, unit, event, [spread over the runs,] time on a counter in ns, share of the time on a counter, and perf's two
 * fields for a metric of the event, which stay empty: our metrics have lines in the other formats. */
static void csv_event(struct csv *c, const struct stat_event *e, const struct stat_result *r)
{
    csv_value(c, e, r);
    csv_field(c, e->name);
    if (r->runs > 1)
        csv_format(c, "%.2f%%", stat_has_number(e, r) ? stat_mean_error_percent(&e->value) : 0.0);
    csv_format(c, "%" PRIu64, e->running / r->runs);
    csv_format(c, "%.2f", stat_counted_percent(e));
    csv_field(c, "");
    csv_field(c, "");
    csv_row_end(c);
}

void stat_write_csv(struct output *out, const struct stat_result *result)
{
    struct csv c;

    csv_begin(&c, out->file, ',');
    for (size_t i = 0; i < result->n_events; i++)
        csv_event(&c, &result->events[i], result);
}
