/* SPDX-License-Identifier: MIT */
/* The report of upmu stat for people. Room: tools/upmu. Before it: stat_run; after it: table and output. */
#include <inttypes.h>
#include <string.h>

#include "reason.h"
#include "stat.h"
#include "table.h"

static void text_title(struct output *out, const struct stat_request *q, const struct stat_result *r)
{
    fprintf(out->file, "\n %sCounts of ", output_style(out, STYLE_TITLE));
    if (q->pid > 0)
        fprintf(out->file, "process %ld", (long)q->pid);
    else if (!q->argv)
        fprintf(out->file, "CPU %d", q->cpu);
    for (char **word = q->argv; word && *word; word++) {
        fputs(word == q->argv ? "'" : " ", out->file);
        output_clean(out->file, *word);
    }
    if (q->argv)
        fputc('\'', out->file);
    if (q->pid > 0)
        fprintf(out->file, ", %zu %s at the start", r->instances, r->instances == 1 ? "thread" : "threads");
    if (r->runs > 1)
        fprintf(out->file, ", mean of %u runs", r->runs);
    fprintf(out->file, "%s\n", output_plain(out));
    if (r->interrupted)
        fprintf(out->file, " Run %u was interrupted and is left out.\n", r->interrupted);
}

/* Clocks are shown in milliseconds, as perf shows them. */
static void cell_value(struct table *t, const struct stat_event *e, const struct stat_result *r)
{
    if (strcmp(e->unit, "ns") == 0) {
        table_cell(t, STYLE_PLAIN, "%.2f", e->value.mean / 1e6);
        table_cell(t, STYLE_PLAIN, "msec");
        return;
    }
    if (r->runs > 1)
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

static void cell_standing(struct table *t, const struct stat_event *e)
{
    if (e->standing == UPMU_SCALED)
        table_cell(t, STYLE_WARNING, "scaled, counted %.1f %% of the time", stat_counted_percent(e));
    else
        table_cell(t, STYLE_PLAIN, "%s", upmu_standing_name(e->standing));
}

/* A sum over kinds of cores is followed by its parts. */
static void kind_rows(struct table *t, const struct stat_event *e, const struct stat_result *r)
{
    for (size_t k = 0; k < e->n_kinds; k++) {
        const struct stat_event part = {.unit = e->unit, .value = e->kinds[k].value, .total = e->kinds[k].total};
        if (part.value.n != r->runs)
            continue;
        cell_value(t, &part, r);
        table_cell(t, STYLE_PLAIN, "  on %s", e->kinds[k].pmu);
        cell_spread(t, &part.value, r->runs);
        cell_standing(t, e);
    }
}

static void text_events(struct output *out, const struct stat_result *r)
{
    static const struct table_column columns[] = {
        {"VALUE", true}, {"UNIT", false}, {"EVENT", false}, {"SPREAD", true}, {"STANDING", false},
    };
    struct table t;

    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < r->n_events; i++) {
        const struct stat_event *e = &r->events[i];
        if (!stat_has_number(e, r))
            continue;
        cell_value(&t, e, r);
        table_cell(&t, STYLE_PLAIN, "%s", e->name);
        cell_spread(&t, &e->value, r->runs);
        cell_standing(&t, e);
        kind_rows(&t, e, r);
    }
    if (t.n_cells > 0)
        fputc('\n', out->file);
    table_end(&t, out, 4);
}

/* Two events are told together when the same thing stands against both. */
static bool same_obstacle(const struct stat_event *a, const struct stat_event *b)
{
    return a->standing == b->standing && a->cause == b->cause &&
           strcmp(reason_body(a->reason, a->name), reason_body(b->reason, b->name)) == 0;
}

static bool told_before(const struct stat_result *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!stat_has_number(&r->events[k], r) && same_obstacle(&r->events[k], &r->events[i]))
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
        fputs("what is counted did not run in this time", out->file);
    else
        fputs("opened, but never on a counter: nothing is known", out->file);
    fputc('\n', out->file);
}

static void text_missing(struct output *out, const struct stat_result *r)
{
    for (size_t i = 0; i < r->n_events; i++) {
        const struct stat_event *e = &r->events[i];
        if (stat_has_number(e, r) || told_before(r, i))
            continue;
        fprintf(out->file, "\n    %s%s:%s %s", output_style(out, STYLE_WARNING), upmu_standing_name(e->standing),
                output_plain(out), e->name);
        for (size_t k = i + 1; k < r->n_events; k++)
            if (!stat_has_number(&r->events[k], r) && same_obstacle(e, &r->events[k]))
                fprintf(out->file, ", %s", r->events[k].name);
        text_obstacle(out, e);
    }
}

static void metric_row(void *arg, const struct upmu_metric_info *info, const struct upmu_metric_value *value)
{
    struct table *t = arg;

    /* Without a number there is nothing to add: the events it lacks have been told. */
    if (!isfinite(value->value))
        return;
    /* Four digits are enough; a thousand or more is not written with an exponent. */
    table_cell(t, STYLE_PLAIN, fabs(value->value) < 1000 ? "%.4g" : "%.0f", value->value);
    table_cell(t, STYLE_PLAIN, "%s", info->unit);
    table_cell(t, STYLE_PLAIN, "%s", info->name);
    table_cell(t, STYLE_PLAIN, "%s", info->formula);
    table_cell(t, value->standing == UPMU_EXACT ? STYLE_PLAIN : STYLE_WARNING, "%s",
               upmu_standing_name(value->standing));
}

static void text_metrics(struct output *out, const struct stat_result *r)
{
    static const struct table_column columns[] = {
        {"VALUE", true}, {"UNIT", false}, {"METRIC", false}, {"FORMULA", false}, {"STANDING", false},
    };
    struct table t;

    table_begin(&t, columns, sizeof columns / sizeof *columns);
    stat_metrics(r, metric_row, &t);
    if (t.n_cells > 0)
        fputc('\n', out->file);
    table_end(&t, out, 4);
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

void stat_write_text(struct output *out, const struct stat_request *request, const struct stat_result *result)
{
    text_title(out, request, result);
    text_events(out, result);
    text_missing(out, result);
    text_metrics(out, result);
    fputc('\n', out->file);
    text_time(out, &result->wall, "elapsed");
    text_time(out, &result->user, "user");
    text_time(out, &result->sys, "sys");
    fputc('\n', out->file);
}
