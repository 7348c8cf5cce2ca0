/* SPDX-License-Identifier: MIT */
/* Report at exit as text. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "region/report.h"

enum { NAME_WIDTH_MAX = 32, COLUMN = 15 };

/* ---------------------------------------------------------------------------------------------------- numbers */

/* 1234567 as "1,234,567", whatever the locale. */
static void text_grouped(uint64_t n, char *text, size_t cap)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    size_t used = 0;
    for (int i = 0; i < len && used + 2 < cap; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
}

/* A count with its status: "~" before an estimate, the status instead of a missing number, and the number of instances
 * counted if not all were. */
static void event_text(const struct region_stats *s, size_t i, char *text, size_t cap)
{
    const struct upmu_region_event_stats *e = &s->events[i];
    char number[40];
    if (e->stat.count == 0) {
        snprintf(text, cap, "%s", s->count ? upmu_status_name(e->status) : "-");
        return;
    }
    bool clock_event = upmu_regions.list.events[i].unit && strcmp(upmu_regions.list.events[i].unit, "ns") == 0;
    if (clock_event)
        snprintf(number, sizeof number, "%.3f ms", (double)e->stat.sum / 1e6);
    else
        text_grouped(e->stat.sum, number, sizeof number);
    if (e->without_value == 0)
        snprintf(text, cap, "%s%s", e->status == UPMU_SCALED ? "~" : "", number);
    else
        snprintf(text, cap, "%s%s (%" PRIu64 "/%" PRIu64 ")", e->enabled > e->running ? "~" : "", number, e->stat.count,
                 e->stat.count + e->without_value);
}

/* ---------------------------------------------------------------------------------------------------- columns */

static int text_name_width(const struct report *r)
{
    size_t width = strlen("region");
    for (size_t i = 0; i < r->n_rows; i++) {
        size_t n = strlen(r->rows[i].region);
        width = n > width ? n : width;
    }
    return width > NAME_WIDTH_MAX ? NAME_WIDTH_MAX : (int)width;
}

/* A name in its column, cut after `most` characters; see base/text/printable.h. */
static void text_put_name(struct textbuf *out, const char *name, size_t width, size_t most)
{
    char cells[NAME_WIDTH_MAX][PRINTABLE_MAX];
    size_t n = 0;
    for (; *name && n < most; n++)
        name += printable_next(name, cells[n]);
    bool cut = *name != '\0' && most > 3;
    for (size_t i = 0; i < n; i++)
        textbuf_printf(out, "%s", cut && i + 3 >= n ? "." : cells[i]);
    textbuf_printf(out, "%*s", n < width ? (int)(width - n) : 0, "");
}

static void text_put_row_head(struct textbuf *out, const struct report_row *row, int width)
{
    char thread[40];
    text_put_name(out, row->all ? row->region : "", (size_t)width, NAME_WIDTH_MAX);
    if (row->all)
        snprintf(thread, sizeof thread, row->stats.threads == 1 ? "1 thread" : "%u threads", row->stats.threads);
    else if (row->tid == 0)
        snprintf(thread, sizeof thread, "ended threads");
    else
        snprintf(thread, sizeof thread, "%d %s", (int)row->tid, row->thread);
    textbuf_add(out, "  ", 2);
    text_put_name(out, thread, 22, 22);
}

static void text_put_times(struct textbuf *out, const struct report *r, int width)
{
    textbuf_printf(out, "%-*s  %-22s %10s %12s %12s %7s %11s %11s %11s %12s\n", width, "region", "thread", "count",
                   "wall ms", "self ms", "wall %", "mean us", "min us", "max us", "descheduled");
    for (size_t i = 0; i < r->n_rows; i++) {
        const struct region_stats *s = &r->rows[i].stats;
        text_put_row_head(out, &r->rows[i], width);
        textbuf_printf(out, " %10" PRIu64, s->count);
        if (s->count == 0) {
            textbuf_printf(out, "  still open\n");
            continue;
        }
        textbuf_printf(out, " %12.3f %12.3f %7.2f %11.3f%c%11.3f %11.3f", (double)s->wall.sum / 1e6,
                       (double)s->self_ns / 1e6, 100.0 * (double)s->wall.sum / 1e9 / r->seconds / s->threads,
                       (double)s->wall.sum / 1e3 / (double)s->count, r->rows[i].brief ? '*' : ' ',
                       (double)s->wall.min / 1e3, (double)s->wall.max / 1e3);
        if (s->deschedule_unknown)
            textbuf_printf(out, " %12s\n", "unknown");
        else
            textbuf_printf(out, " %12" PRIu64 "\n", s->descheduled);
    }
}

static int text_column_width(size_t i)
{
    int n = (int)strlen(region_event_name(i));
    return n > COLUMN ? n : COLUMN;
}

static void text_put_counts(struct textbuf *out, const struct report *r, int width)
{
    size_t n = upmu_regions.list.n;
    if (n == 0)
        return;
    textbuf_printf(out, "\n%-*s  %-22s", width, "region", "thread");
    for (size_t i = 0; i < n; i++)
        textbuf_printf(out, " %*s", text_column_width(i), region_event_name(i));
    textbuf_printf(out, "\n");
    for (size_t k = 0; k < r->n_rows; k++) {
        text_put_row_head(out, &r->rows[k], width);
        for (size_t i = 0; i < n; i++) {
            char text[64];
            event_text(&r->rows[k].stats, i, text, sizeof text);
            textbuf_printf(out, " %*s", text_column_width(i), text);
        }
        textbuf_printf(out, "\n");
    }
}

/* ---------------------------------------------------------------------------------------------------- metrics */

static bool report_row_metric(const struct report_row *row, const char *metric, struct upmu_metric_value *out)
{
    const char *names[UPMU_REGION_EVENTS_MAX];
    struct upmu_value values[UPMU_REGION_EVENTS_MAX];
    region_stats_values(&row->stats, names, values);
    return upmu_metric_eval(metric, names, values, row->stats.n_events, (double)row->stats.wall.sum / 1e9, out) == 0;
}

/* Metrics for which any region has a number, up to `cap`. */
static size_t report_known_metrics(const struct report *r, struct upmu_metric_info *metrics, size_t cap)
{
    size_t n = 0;
    struct upmu_metric_info m = {.size = sizeof m};
    for (size_t i = 0; n < cap && upmu_metric_at(i, &m) == 0; i++) {
        if (m.on_demand)
            continue;
        bool any = false;
        for (size_t k = 0; k < r->n_rows && !any; k++) {
            struct upmu_metric_value v;
            any = r->rows[k].all && !r->rows[k].brief && report_row_metric(&r->rows[k], m.name, &v) && !isnan(v.value);
        }
        if (any)
            metrics[n++] = m;
    }
    return n;
}

/* A metric in its column; "~" as for counts, "-" where there is no number. */
static void text_put_metric(struct textbuf *out, const struct report_row *row, const struct upmu_metric_info *m)
{
    struct upmu_metric_value v;
    char text[48] = "-";
    int width = (int)strlen(m->name) > COLUMN ? (int)strlen(m->name) : COLUMN;
    if (report_row_metric(row, m->name, &v) && !isnan(v.value))
        snprintf(text, sizeof text, "%s%.3f%s%s", v.status == UPMU_SCALED ? "~" : "", v.value, m->unit[0] ? " " : "",
                 m->unit);
    textbuf_printf(out, " %*s", width, text);
}

/* Metrics are those of a region in all threads; brief rows are left out. */
static void text_put_metrics(struct textbuf *out, const struct report *r, int width)
{
    struct upmu_metric_info metrics[16];
    size_t n = report_known_metrics(r, metrics, sizeof metrics / sizeof *metrics);
    if (n == 0)
        return;
    textbuf_printf(out, "\n%-*s", width, "region");
    for (size_t i = 0; i < n; i++)
        textbuf_printf(out, " %*s", COLUMN, metrics[i].name);
    textbuf_printf(out, "\n");
    for (size_t k = 0; k < r->n_rows; k++) {
        if (!r->rows[k].all || r->rows[k].brief)
            continue;
        text_put_name(out, r->rows[k].region, (size_t)width, NAME_WIDTH_MAX);
        for (size_t i = 0; i < n; i++)
            text_put_metric(out, &r->rows[k], &metrics[i]);
        textbuf_printf(out, "\n");
    }
    for (size_t i = 0; i < n; i++)
        textbuf_printf(out, "%s%s = %s", i ? "; " : "(", metrics[i].name, metrics[i].formula);
    textbuf_printf(out, ")\n");
}

static void text_put_short(struct textbuf *out, const struct report *r)
{
    for (size_t k = 0; k < r->n_rows; k++) {
        if (!r->rows[k].brief)
            continue;
        textbuf_printf(
            out, "* shorter than ten times libupmu's own cost: counts such as task-clock are largely its own, and no "
                 "metric is derived\n");
        return;
    }
}

/* ------------------------------------------------------------------------------------------------------ notes */

/* The reason of event i without the event's name, since several events often share one. NULL if it is counted. */
static const char *text_bare_reason(size_t i)
{
    const char *reason = upmu_regions.event_reasons[i], *name = upmu_regions.list.events[i].name;
    size_t n = strlen(name);
    if (reason && strncmp(reason, name, n) == 0 && strncmp(reason + n, ": ", 2) == 0)
        return reason + n + 2;
    return reason;
}

static void text_put_reasons(struct textbuf *out)
{
    bool reported[UPMU_REGION_EVENTS_MAX] = {false};
    for (size_t i = 0; i < upmu_regions.list.n; i++) {
        const char *reason = text_bare_reason(i);
        if (!reason || reported[i])
            continue;
        textbuf_printf(out, "note: ");
        for (size_t k = i; k < upmu_regions.list.n; k++) {
            const char *other = text_bare_reason(k);
            if (!other || strcmp(other, reason) != 0)
                continue;
            textbuf_printf(out, "%s%s", k > i ? ", " : "", region_event_name(k));
            reported[k] = true;
        }
        textbuf_printf(out, ": %s\n", reason);
    }
}

static void text_put_closed(struct textbuf *out, const struct report *r)
{
    for (size_t i = 0; i < upmu_regions.list.n; i++) {
        struct textbuf note = {0};
        if (report_closed_note(r, i, &note) && !note.failed)
            textbuf_printf(out, "note: %s\n", note.data);
        textbuf_free(&note);
    }
}

static void text_put_misuse(struct textbuf *out, const struct upmu_region_health *h)
{
    const struct {
        uint64_t n;
        const char *text;
    } lines[] = {
        {h->end_without_begin, "end(s) of a region that was not open in that thread"},
        {h->closed_by_outer, "region(s) ended because one around them ended first"},
        {h->never_ended, "region(s) still open when their thread ended"},
        {h->too_deep, "begin(s) nested deeper than 256, not measured"},
        {h->names_cut, "name(s) longer than 255 bytes, cut"},
        {h->names_refused, "begin(s) refused: no name, or more than 2048 different names"},
        {h->interrupted,
         "begin(s) and end(s) turned away: signal handlers that hit the recorder, threads at their end"},
        {h->threads_without_counters,
         "thread(s) without some or all counters (limits): see the status of their values"},
        {h->threads_merged, "ended thread(s) added up in the row 'ended threads'"},
        {h->trace_lost, "event(s) LOST: they did not fit into the trace"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i].n > 0)
            textbuf_printf(out, "note: %" PRIu64 " %s\n", lines[i].n, lines[i].text);
}

static void write_text(const struct report *r, struct textbuf *out)
{
    const char *slash = strrchr(r->program, '/');
    int width = text_name_width(r);
    textbuf_printf(out, "\nlibupmu %s: regions of %s (pid %d%s), %.3f s, %zu thread%s measured\n\n", upmu_version(),
                   slash ? slash + 1 : r->program, r->pid, r->child ? ", forked" : "", r->seconds, r->threads,
                   r->threads == 1 ? "" : "s");
    if (r->n_rows == 0)
        textbuf_printf(out, "no region was entered\n");
    else {
        text_put_times(out, r, width);
        text_put_counts(out, r, width);
        text_put_metrics(out, r, width);
    }
    textbuf_printf(out, "\n");
    text_put_short(out, r);
    if (r->health.begin_ns != UPMU_NO_VALUE)
        textbuf_printf(
            out, "own cost of one instance: %" PRIu64 " ns begin + %" PRIu64 " ns end (without the trace); clock %s\n",
            r->health.begin_ns, r->health.end_ns, r->clock);
    else
        textbuf_printf(out, "own cost of one instance: not measured before counters were closed; clock %s\n", r->clock);
    if (upmu_regions.trace)
        textbuf_printf(out, "trace: %s (%" PRIu64 " lost)\n", trace_writer_dir(upmu_regions.trace),
                       r->health.trace_lost);
    text_put_misuse(out, &r->health);
    text_put_reasons(out);
    text_put_closed(out, r);
    if (upmu_regions.note)
        textbuf_printf(out, "note: %s\n", upmu_regions.note);
}

const struct report_format report_text = {.write = write_text};
