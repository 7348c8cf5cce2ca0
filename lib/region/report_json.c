/* SPDX-License-Identifier: MIT */
/* Report at exit as JSON. */
#include "base/text/json.h"
#include "region/report.h"

enum { SCHEMA_VERSION = 1 };

static void json_put_stat(struct textbuf *out, const char *key, const struct upmu_stat *s)
{
    json_object(out, key);
    json_uint(out, "count", s->count);
    if (s->count == 0) {
        static const char *const keys[] = {"sum", "min", "max", "last", "sum_squares"};
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            json_null(out, keys[i]);
    } else {
        json_uint(out, "sum", s->sum);
        json_uint(out, "min", s->min);
        json_uint(out, "max", s->max);
        json_uint(out, "last", s->last);
        json_double(out, "sum_squares", s->sum_squares);
    }
    json_object_end(out);
}

static void json_put_events(struct textbuf *out, const struct region_stats *s)
{
    json_array(out, "events");
    for (uint32_t i = 0; i < s->n_events; i++) {
        const struct upmu_region_event_stats *e = &s->events[i];
        json_object(out, NULL);
        json_string(out, "name", region_event_name(i));
        json_string(out, "status", upmu_status_name(e->status));
        if (e->cause)
            json_string(out, "cause", upmu_strerror(e->cause));
        json_uint(out, "without_value", e->without_value);
        json_uint(out, "enabled_ns", e->enabled);
        json_uint(out, "running_ns", e->running);
        json_put_stat(out, "stat", &e->stat);
        json_object_end(out);
    }
    json_array_end(out);
}

static void json_put_metrics(struct textbuf *out, const struct region_stats *s)
{
    const char *names[UPMU_REGION_EVENTS_MAX];
    struct upmu_value values[UPMU_REGION_EVENTS_MAX];
    struct upmu_metric_info m = {.size = sizeof m};
    region_stats_values(s, names, values);
    json_array(out, "metrics");
    for (size_t i = 0; upmu_metric_at(i, &m) == 0; i++) {
        struct upmu_metric_value v;
        if (upmu_metric_eval(m.name, names, values, s->n_events, (double)s->wall.sum / 1e9, &v) < 0)
            continue;
        json_object(out, NULL);
        json_string(out, "name", m.name);
        json_string(out, "unit", m.unit);
        json_string(out, "status", upmu_status_name(v.status));
        json_double(out, "value", v.value);
        json_object_end(out);
    }
    json_array_end(out);
}

static void json_put_row(struct textbuf *out, const struct report_row *row)
{
    const struct region_stats *s = &row->stats;
    json_object(out, NULL);
    json_string(out, "region", row->region);
    if (row->all) {
        json_null(out, "thread");
        json_uint(out, "threads", s->threads);
    } else {
        json_object(out, "thread");
        json_int(out, "tid", row->tid);
        json_bool(out, "ended", row->ended);
        json_string(out, "name", row->thread);
        json_object_end(out);
    }
    json_bool(out, "short", row->brief);
    json_uint(out, "count", s->count);
    json_uint(out, "open", s->open);
    json_uint(out, "self_ns", s->self_ns);
    json_uint(out, "descheduled", s->descheduled);
    json_uint(out, "deschedule_unknown", s->deschedule_unknown);
    json_put_stat(out, "wall_ns", &s->wall);
    json_put_events(out, s);
    json_put_metrics(out, s);
    json_object_end(out);
}

static void json_put_health(struct textbuf *out, const struct upmu_region_health *h)
{
    json_object(out, "health");
    json_uint(out, "end_without_begin", h->end_without_begin);
    json_uint(out, "closed_by_outer", h->closed_by_outer);
    json_uint(out, "too_deep", h->too_deep);
    json_uint(out, "names_cut", h->names_cut);
    json_uint(out, "names_refused", h->names_refused);
    json_uint(out, "interrupted", h->interrupted);
    json_uint(out, "never_ended", h->never_ended);
    json_uint(out, "threads_without_counters", h->threads_without_counters);
    json_uint(out, "threads_merged", h->threads_merged);
    json_uint(out, "marks", h->marks);
    json_uint(out, "trace_lost", h->trace_lost);
    json_uint_if(out, "begin_ns", h->begin_ns != UPMU_NO_VALUE, h->begin_ns);
    json_uint_if(out, "end_ns", h->end_ns != UPMU_NO_VALUE, h->end_ns);
    json_object_end(out);
}

static void json_put_notes(struct textbuf *out, const struct report *r)
{
    json_array(out, "notes");
    for (size_t i = 0; i < upmu_regions.list.n; i++)
        if (upmu_regions.event_reasons[i])
            json_string(out, NULL, upmu_regions.event_reasons[i]);
    for (size_t i = 0; i < upmu_regions.list.n; i++) {
        struct textbuf note = {0};
        if (report_closed_note(r, i, &note) && !note.failed)
            json_string(out, NULL, note.data);
        textbuf_free(&note);
    }
    if (upmu_regions.note)
        json_string(out, NULL, upmu_regions.note);
    json_array_end(out);
}

static void write_json(const struct report *r, struct textbuf *out)
{
    textbuf_add(out, "{", 1);
    json_string(out, "schema", "upmu-regions");
    json_int(out, "schema_version", SCHEMA_VERSION);
    json_string(out, "libupmu", upmu_version());
    json_string(out, "program", r->program);
    json_string(out, "host", r->host);
    json_int(out, "pid", r->pid);
    json_bool(out, "forked", r->child);
    json_key(out, "seconds");
    textbuf_printf(out, "%.9f", r->seconds);
    json_uint(out, "threads", r->threads);
    json_string(out, "clock", r->clock);
    json_string(out, "trace", upmu_regions.trace ? trace_writer_dir(upmu_regions.trace) : NULL);
    json_array(out, "regions");
    for (size_t i = 0; i < r->n_rows; i++) {
        json_line(out);
        json_put_row(out, &r->rows[i]);
    }
    json_array_end(out);
    json_line(out);
    json_put_health(out, &r->health);
    json_put_notes(out, r);
    textbuf_printf(out, "}\n");
}

const struct report_format report_json = {.write = write_json};
