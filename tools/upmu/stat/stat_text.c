/* SPDX-License-Identifier: MIT */
/* Text report of upmu stat. */
#include <inttypes.h>
#include <string.h>

#include "events/metrics.h"
#include "ui/reason.h"
#include "stat.h"
#include "ui/table.h"

enum { TITLES_EVERY = 25, LABEL_WIDTH = 20, VALUE_WIDTH = 18, NAME_WIDTH = 26 };

static void title_ids(struct output *out, const char *one, const char *several, const struct stat_ids *ids)
{
    fprintf(out->file, "%s ", ids->n == 1 ? one : several);
    for (size_t i = 0; i < ids->n; i++)
        fprintf(out->file, "%s%d", i > 0 ? ", " : "", ids->id[i]);
}

static void title_words(struct output *out, char **argv)
{
    for (char **word = argv; *word; word++) {
        fputs(word == argv ? "'" : " ", out->file);
        output_clean(out->file, *word);
    }
    fputc('\'', out->file);
}

static void title_target(struct output *out, const struct stat_request *q, const struct stat_result *r)
{
    if (q->target == STAT_COMMAND)
        title_words(out, q->argv);
    else if (q->all_cpus)
        fprintf(out->file, "all %zu CPUs", q->ids.n);
    else if (q->target == STAT_CPUS)
        title_ids(out, "CPU", "CPUs", &q->ids);
    else if (q->target == STAT_THREADS)
        title_ids(out, "thread", "threads", &q->ids);
    else
        title_ids(out, "process", "processes", &q->ids);
    if (q->target == STAT_PROCESSES)
        fprintf(out->file, ", %zu %s at the start", r->instances, r->instances == 1 ? "thread" : "threads");
    if (q->target != STAT_COMMAND && q->argv) {
        fputs(", during ", out->file);
        title_words(out, q->argv);
    }
}

static void stat_text_title(struct output *out, const struct stat_request *q, const struct stat_result *r)
{
    fprintf(out->file, "\n %sCounts of ", output_style(out, STYLE_TITLE));
    title_target(out, q, r);
    if (r->runs > 1)
        fprintf(out->file, ", mean of %u runs", r->runs);
    fprintf(out->file, "%s\n", output_plain(out));
    if (r->interrupted)
        fprintf(out->file, " Run %u was interrupted and is not included.\n", r->interrupted);
}

/* Clocks are shown in milliseconds, as perf shows them. */
static void cell_value(struct table *t, const struct stat_event *e, const struct stat_result *r)
{
    if (strcmp(e->unit, "ns") == 0) {
        table_cell(t, STYLE_PLAIN, "%.2f", e->value.mean / 1e6);
        table_cell(t, STYLE_PLAIN, "msec");
        return;
    }
    if (e->scale != 1)
        table_cell(t, STYLE_PLAIN, "%.2f", e->value.mean * e->scale);
    else if (r->runs > 1)
        table_cell(t, STYLE_PLAIN, "%.*f", stat_mean_decimals(&e->value), e->value.mean);
    else
        table_cell(t, STYLE_PLAIN, "%" PRIu64, e->total);
    table_cell(t, STYLE_PLAIN, "%s", e->unit);
}

static void cell_spread(struct table *t, const struct stat_mean *m, unsigned runs)
{
    double percent = stat_mean_error_percent(m);
    if (runs > 1 && isfinite(percent))
        table_cell(t, STYLE_PLAIN, "+- %.2f %%", percent);
    else
        table_cell(t, STYLE_PLAIN, "%s", "");
}

/* Where the number is from, unless it is counted through perf_event_open; and of what it is then. */
static const char *text_source_remark(const struct stat_event *e)
{
    switch (e->source) {
    case STAT_RUSAGE:
        return ", from rusage";
    case STAT_PROC:
        return ", from /proc";
    default:
        return "";
    }
}

static void cell_status(struct table *t, const struct stat_event *e, bool verbose)
{
    char times[96] = "";
    if (verbose && e->source != STAT_RUSAGE && e->source != STAT_PROC)
        snprintf(times, sizeof times, ", on a counter %" PRIu64 " of %" PRIu64 " ns", e->running, e->enabled);
    if (e->status == UPMU_SCALED)
        table_cell(t, STYLE_WARNING, "scaled, counted %.1f %% of the time%s", stat_counted_percent(e), times);
    else
        table_cell(t, STYLE_PLAIN, "%s%s%s", upmu_status_name(e->status), text_source_remark(e), times);
}

/* A sum over core types is followed by its parts. */
static void text_kind_rows(struct table *t, const struct stat_event *e, const struct stat_result *r)
{
    for (size_t k = 0; k < e->n_kinds; k++) {
        const struct stat_event part = {
            .unit = e->unit, .scale = e->scale, .value = e->kinds[k].value, .total = e->kinds[k].total};
        if (part.value.n != r->runs)
            continue;
        table_cell(t, STYLE_PLAIN, "%s", "");
        cell_value(t, &part, r);
        table_cell(t, STYLE_PLAIN, "  on %s", e->kinds[k].pmu);
        cell_spread(t, &part.value, r->runs);
        cell_status(t, e, false);
    }
}

static void text_event_row(struct table *t, const char *label, const struct stat_event *e, const struct stat_request *q,
                           const struct stat_result *r)
{
    table_cell(t, STYLE_PLAIN, "%s", label);
    cell_value(t, e, r);
    table_cell(t, STYLE_PLAIN, "%s", e->name);
    cell_spread(t, &e->value, r->runs);
    cell_status(t, e, q->verbose);
}

/* A member that did nothing has a row as well: it was counted. */
static void text_member_row(struct table *t, const char *label, const struct stat_event *e,
                            const struct stat_request *q, const struct stat_result *r)
{
    if (stat_has_number(e, r)) {
        text_event_row(t, label, e, q, r);
        return;
    }
    table_cell(t, STYLE_PLAIN, "%s", label);
    table_cell(t, STYLE_PLAIN, "-");
    table_cell(t, STYLE_PLAIN, "%s", "");
    table_cell(t, STYLE_PLAIN, "%s", e->name);
    table_cell(t, STYLE_PLAIN, "%s", "");
    table_cell(t, STYLE_WARNING, "%s", upmu_status_name(e->status));
}

static void text_events(struct output *out, const struct stat_request *q, const struct stat_result *r)
{
    const struct table_column columns[] = {
        {q->target == STAT_CPUS ? "CPU" : "THREAD", false},
        {"VALUE", true},
        {"UNIT", false},
        {"EVENT", false},
        {"SPREAD", true},
        {"STATUS", false},
    };
    struct table t;

    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t m = 0; m < r->n_members; m++)
        for (size_t i = 0; i < r->n_events; i++)
            text_member_row(&t, r->members[m].label, &r->members[m].events[i], q, r);
    for (size_t i = 0; i < r->n_events; i++) {
        if (!stat_has_number(&r->events[i], r))
            continue;
        text_event_row(&t, r->n_members > 0 ? "all" : "", &r->events[i], q, r);
        text_kind_rows(&t, &r->events[i], r);
    }
    if (t.n_cells > 0)
        fputc('\n', out->file);
    table_end(&t, out, 4);
}

/* Events that are not counted for the same reason share a paragraph. */
static bool text_same_obstacle(const struct stat_event *a, const struct stat_event *b)
{
    return a->status == b->status && a->cause == b->cause &&
           strcmp(reason_body(a->reason, a->name), reason_body(b->reason, b->name)) == 0;
}

static bool text_obstacle_printed(const struct stat_result *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!stat_has_number(&r->events[k], r) && text_same_obstacle(&r->events[k], &r->events[i]))
            return true;
    return false;
}

static void text_obstacle(struct output *out, const struct stat_event *e)
{
    fputs("\n      ", out->file);
    if (e->reason[0] != '\0')
        output_clean(out->file, reason_body(e->reason, e->name));
    else if (e->cause != 0)
        fprintf(out->file, "%s", upmu_strerror(e->cause));
    else if (e->enabled == 0)
        fputs("the target did not run in this time", out->file);
    else
        fputs("opened, but never scheduled on a counter", out->file);
    fputc('\n', out->file);
}

static void text_missing(struct output *out, const struct stat_result *r)
{
    for (size_t i = 0; i < r->n_events; i++) {
        const struct stat_event *e = &r->events[i];
        if (stat_has_number(e, r) || text_obstacle_printed(r, i))
            continue;
        fprintf(out->file, "\n    %s%s:%s %s", output_style(out, STYLE_WARNING), upmu_status_name(e->status),
                output_plain(out), e->name);
        for (size_t k = i + 1; k < r->n_events; k++)
            if (!stat_has_number(&r->events[k], r) && text_same_obstacle(e, &r->events[k]))
                fprintf(out->file, ", %s", r->events[k].name);
        text_obstacle(out, e);
    }
}

struct text_metric_rows {
    struct table table;
    const struct stat_result *result;
};

/* A metric that was given by name has a row without a number, too. The events it lacks have their paragraphs. */
static void text_metric_row(void *arg, const struct upmu_metric_info *info, const struct upmu_metric_value *value)
{
    struct text_metric_rows *rows = arg;
    struct table *t = &rows->table;
    bool number = isfinite(value->value), divided = !number;

    if (!number && !metrics_listed(rows->result->request->events, info->name))
        return;
    for (size_t i = 0; i < rows->result->n_events; i++)
        divided &= stat_has_number(&rows->result->events[i], rows->result);
    if (!number)
        table_cell(t, STYLE_DIM, "-");
    else /* Four digits are enough; a thousand or more is not written with an exponent. */
        table_cell(t, STYLE_PLAIN, fabs(value->value) < 1000 ? "%.4g" : "%.0f", value->value);
    table_cell(t, STYLE_PLAIN, "%s", info->unit);
    table_cell(t, STYLE_PLAIN, "%s", info->name);
    table_cell(t, STYLE_PLAIN, "%s", info->formula);
    table_cell(t, value->status == UPMU_EXACT ? STYLE_PLAIN : STYLE_WARNING, "%s%s", upmu_status_name(value->status),
               divided ? ": divided by 0, or inconsistent counts" : "");
}

static void text_metrics(struct output *out, const struct stat_result *r)
{
    static const struct table_column columns[] = {
        {"VALUE", true}, {"UNIT", false}, {"METRIC", false}, {"FORMULA", false}, {"STATUS", false},
    };
    struct text_metric_rows rows = {.result = r};

    table_begin(&rows.table, columns, sizeof columns / sizeof *columns);
    stat_metrics(r, text_metric_row, &rows);
    if (rows.table.n_cells > 0)
        fputc('\n', out->file);
    table_end(&rows.table, out, 4);
}

static void text_time(struct output *out, const struct stat_mean *m, const char *what)
{
    if (m->n == 0)
        return;
    fprintf(out->file, "    %.6f s %s", m->mean, what);
    if (m->n > 1 && isfinite(stat_mean_error_percent(m)))
        fprintf(out->file, "  +- %.2f %%", stat_mean_error_percent(m));
    fputc('\n', out->file);
}

/* What the kernel's accounting leaves out. */
static void text_sources(struct output *out, const struct stat_request *q, const struct stat_result *r)
{
    bool rusage = false, proc = false;
    for (size_t i = 0; i < r->n_events; i++) {
        rusage |= r->events[i].source == STAT_RUSAGE && stat_has_number(&r->events[i], r);
        proc |= r->events[i].source == STAT_PROC && stat_has_number(&r->events[i], r);
    }
    if (rusage)
        fputs(
            "\n    rusage: by the kernel's accounting, of the command and its children that were waited for (wait4)\n",
            out->file);
    if (proc)
        fprintf(out->file, "\n    /proc: by the kernel's accounting, times in steps of a clock tick, %s\n",
                q->target == STAT_THREADS ? "of these threads without those they create"
                                          : "of these processes without their children");
}

void stat_write_text(struct output *out, const struct stat_request *request, const struct stat_result *result)
{
    stat_text_title(out, request, result);
    text_events(out, request, result);
    text_sources(out, request, result);
    text_missing(out, result);
    text_metrics(out, result);
    fputc('\n', out->file);
    text_time(out, &result->wall, "elapsed");
    text_time(out, &result->user, "user");
    text_time(out, &result->sys, "sys");
    fputc('\n', out->file);
}

/* ---------------------------------------------------------------------------------------------- intervals */

static void text_interval_titles(struct output *out, bool members)
{
    fprintf(out->file, "%s%12s  ", output_style(out, STYLE_TITLE), "TIME s");
    if (members)
        fprintf(out->file, "%-*s  ", LABEL_WIDTH, "COUNTED");
    fprintf(out->file, "%*s  %-4s  %-*s  STATUS%s\n", VALUE_WIDTH, "VALUE", "UNIT", NAME_WIDTH, "EVENT",
            output_plain(out));
}

static void text_interval_row(struct output *out, double seconds, const char *label, const struct stat_event *e,
                              const struct stat_result *r)
{
    bool number = stat_has_number(e, r), clock = strcmp(e->unit, "ns") == 0;
    char value[32] = "-";
    if (number && clock)
        snprintf(value, sizeof value, "%.2f", e->value.mean / 1e6);
    else if (number && e->scale != 1)
        snprintf(value, sizeof value, "%.2f", e->value.mean * e->scale);
    else if (number)
        snprintf(value, sizeof value, "%" PRIu64, e->total);
    fprintf(out->file, "%12.6f  ", seconds);
    if (label)
        fprintf(out->file, "%-*s  ", LABEL_WIDTH, label);
    fprintf(out->file, "%*s  %-4s  %-*s  %s%s\n", VALUE_WIDTH, value, clock ? "msec" : e->unit, NAME_WIDTH, e->name,
            upmu_status_name(e->status), text_source_remark(e));
}

void stat_interval_text(struct output *out, const struct stat_interval *interval, const struct stat_result *r)
{
    if (interval->number % TITLES_EVERY == 0)
        text_interval_titles(out, r->n_members > 0);
    for (size_t m = 0; m < r->n_members; m++)
        for (size_t i = 0; i < r->n_events; i++)
            text_interval_row(out, interval->seconds, r->members[m].label, &r->members[m].events[i], r);
    for (size_t i = 0; r->n_members == 0 && i < r->n_events; i++)
        text_interval_row(out, interval->seconds, NULL, &r->events[i], r);
}
