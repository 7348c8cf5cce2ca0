/* SPDX-License-Identifier: MIT */
/* Report at exit as JSON. */
#include <inttypes.h>
#include <math.h>

#include "region/report.h"

enum { SCHEMA_VERSION = 1 };

static void put_stat(struct textbuf *out, const struct upmu_stat *s)
{
    textbuf_printf(out, "{\"count\":%" PRIu64 ",\"sum\":", s->count);
    if (s->count == 0) {
        textbuf_printf(out, "null,\"min\":null,\"max\":null,\"last\":null,\"sum_squares\":null}");
        return;
    }
    textbuf_printf(out,
                   "%" PRIu64 ",\"min\":%" PRIu64 ",\"max\":%" PRIu64 ",\"last\":%" PRIu64 ",\"sum_squares\":%.17g}",
                   s->sum, s->min, s->max, s->last, s->sum_squares);
}

static void put_events(struct textbuf *out, const struct region_stats *s)
{
    textbuf_printf(out, "\"events\":[");
    for (uint32_t i = 0; i < s->n_events; i++) {
        const struct upmu_region_event_stats *e = &s->events[i];
        textbuf_printf(out, "%s{\"name\":", i ? "," : "");
        textbuf_json(out, region_event_name(i));
        textbuf_printf(out, ",\"status\":");
        textbuf_json(out, upmu_status_name(e->status));
        if (e->cause) {
            textbuf_printf(out, ",\"cause\":");
            textbuf_json(out, upmu_strerror(e->cause));
        }
        textbuf_printf(out,
                       ",\"without_value\":%" PRIu64 ",\"enabled_ns\":%" PRIu64 ",\"running_ns\":%" PRIu64 ",\"stat\":",
                       e->without_value, e->enabled, e->running);
        put_stat(out, &e->stat);
        textbuf_printf(out, "}");
    }
    textbuf_printf(out, "]");
}

static void put_metrics(struct textbuf *out, const struct region_stats *s)
{
    const char *names[UPMU_REGION_EVENTS_MAX];
    struct upmu_value values[UPMU_REGION_EVENTS_MAX];
    struct upmu_metric_info m = {.size = sizeof m};
    const char *comma = "";
    report_values(s, names, values);
    textbuf_printf(out, "\"metrics\":[");
    for (size_t i = 0; upmu_metric_at(i, &m) == 0; i++) {
        struct upmu_metric_value v;
        if (upmu_metric_eval(m.name, names, values, s->n_events, (double)s->wall.sum / 1e9, &v) < 0)
            continue;
        textbuf_printf(out, "%s{\"name\":\"%s\",\"unit\":\"%s\",\"status\":\"%s\",\"value\":", comma, m.name, m.unit,
                       upmu_status_name(v.status));
        if (isnan(v.value))
            textbuf_printf(out, "null}");
        else
            textbuf_printf(out, "%.17g}", v.value);
        comma = ",";
    }
    textbuf_printf(out, "]");
}

static void put_row(struct textbuf *out, const struct report *r, const struct report_row *row)
{
    const struct region_stats *s = &row->stats;
    textbuf_printf(out, "{\"region\":");
    textbuf_json(out, row->region);
    if (row->all)
        textbuf_printf(out, ",\"thread\":null,\"threads\":%u", s->threads);
    else {
        textbuf_printf(out, ",\"thread\":{\"tid\":%d,\"ended\":%s,\"name\":", (int)row->tid,
                       row->ended ? "true" : "false");
        textbuf_json(out, row->thread);
        textbuf_printf(out, "}");
    }
    textbuf_printf(out, ",\"short\":%s", report_short(r, row) ? "true" : "false");
    textbuf_printf(out,
                   ",\"count\":%" PRIu64 ",\"open\":%" PRIu64 ",\"self_ns\":%" PRIu64 ",\"descheduled\":%" PRIu64
                   ",\"deschedule_unknown\":%" PRIu64 ",\"wall_ns\":",
                   s->count, s->open, s->self_ns, s->descheduled, s->deschedule_unknown);
    put_stat(out, &s->wall);
    textbuf_printf(out, ",");
    put_events(out, s);
    textbuf_printf(out, ",");
    put_metrics(out, s);
    textbuf_printf(out, "}");
}

static void put_health(struct textbuf *out, const struct upmu_region_health *h)
{
    textbuf_printf(out,
                   "\"health\":{\"end_without_begin\":%" PRIu64 ",\"closed_by_outer\":%" PRIu64 ",\"too_deep\":%" PRIu64
                   ",\"names_cut\":%" PRIu64 ",\"names_refused\":%" PRIu64 ",\"interrupted\":%" PRIu64
                   ",\"never_ended\":%" PRIu64 ",\"threads_without_counters\":%" PRIu64 ",\"threads_merged\":%" PRIu64
                   ",\"marks\":%" PRIu64 ",\"trace_lost\":%" PRIu64 ",\"begin_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64 "}",
                   h->end_without_begin, h->closed_by_outer, h->too_deep, h->names_cut, h->names_refused,
                   h->interrupted, h->never_ended, h->threads_without_counters, h->threads_merged, h->marks,
                   h->trace_lost, h->begin_ns, h->end_ns);
}

static void put_notes(struct textbuf *out)
{
    const char *comma = "";
    textbuf_printf(out, "\"notes\":[");
    for (size_t i = 0; i < upmu_regions.list.n; i++) {
        if (!upmu_regions.event_reasons[i])
            continue;
        textbuf_printf(out, "%s", comma);
        textbuf_json(out, upmu_regions.event_reasons[i]);
        comma = ",";
    }
    if (upmu_regions.note) {
        textbuf_printf(out, "%s", comma);
        textbuf_json(out, upmu_regions.note);
    }
    textbuf_printf(out, "]");
}

static void write_json(const struct report *r, struct textbuf *out)
{
    textbuf_printf(out,
                   "{\"schema\":\"upmu-regions\",\"schema_version\":%d,\"libupmu\":\"%s\",\"program\":", SCHEMA_VERSION,
                   upmu_version());
    textbuf_json(out, r->program);
    textbuf_printf(out, ",\"host\":");
    textbuf_json(out, r->host);
    textbuf_printf(out,
                   ",\"pid\":%d,\"forked\":%s,\"seconds\":%.9f,\"threads\":%zu,\"clock\":\"%s\",\"trace\":", r->pid,
                   r->child ? "true" : "false", r->seconds, r->threads, r->clock);
    if (upmu_regions.trace)
        textbuf_json(out, trace_writer_dir(upmu_regions.trace));
    else
        textbuf_printf(out, "null");
    textbuf_printf(out, ",\"regions\":[");
    for (size_t i = 0; i < r->n_rows; i++) {
        textbuf_printf(out, "%s\n", i ? "," : "");
        put_row(out, r, &r->rows[i]);
    }
    textbuf_printf(out, "],\n");
    put_health(out, &r->health);
    textbuf_printf(out, ",");
    put_notes(out);
    textbuf_printf(out, "}\n");
}

const struct report_format report_json = {.write = write_json};
