/* SPDX-License-Identifier: MIT */
/* Comparison of two recordings as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "ui/memory.h"
#include "report_cells.h"
#include "ui/table.h"

static void text_recording(struct output *out, const char *what, const struct report *r)
{
    const struct upmu_overview_totals *t = &r->totals;
    char *span = report_duration(t->to_ns - t->from_ns);
    fprintf(out->file, "  %s: ", what);
    output_clean(out->file, r->dir);
    report_text_stretch(out, r->overview);
    fprintf(out->file, ": %" PRIu64 " events in %s, %zu %s, %s%" PRIu64 " lost%s\n", t->events, span, t->n_threads,
            t->n_threads == 1 ? "thread" : "threads", t->lost ? output_style(out, STYLE_BAD) : "", t->lost,
            t->lost ? output_plain(out) : "");
    free(span);
}

static void diff_cell_change(struct table *t, const struct diff_item *i, uint64_t before, uint64_t after)
{
    cell_change(t, i->side[DIFF_OLD].there, i->side[DIFF_NEW].there, before, after);
}

static void diff_cell_number(struct table *t, uint64_t n)
{
    cell_free(t, STYLE_PLAIN, n ? memory_format("%" PRIu64, n) : memory_copy(""));
}

static void text_list(struct output *out, const struct diff *d, const struct diff_list *l, const char *title,
                      const struct table_column *columns, size_t n_columns,
                      void (*row)(struct table *t, const struct diff_item *i))
{
    struct table t;
    size_t n = l->n < d->top ? l->n : d->top;
    if (n == 0)
        return;
    report_title(out, title);
    table_begin(&t, columns, n_columns);
    for (size_t i = 0; i < n; i++)
        row(&t, &l->all[i]);
    table_end(&t, out, 2);
    report_more(out, l->n, n);
}

static void diff_thread_row(struct table *t, const struct diff_item *i)
{
    const struct diff_side *a = &i->side[DIFF_OLD], *b = &i->side[DIFF_NEW];
    table_cell(t, STYLE_PLAIN, "%s", i->name);
    diff_cell_number(t, a->count);
    diff_cell_number(t, b->count);
    cell_duration(t, a->lifetime_ns);
    cell_duration(t, b->lifetime_ns);
    cell_duration(t, a->ns);
    cell_duration(t, b->ns);
    diff_cell_change(t, i, a->ns, b->ns);
}

static void diff_lock_row(struct table *t, const struct diff_item *i)
{
    const struct diff_side *a = &i->side[DIFF_OLD], *b = &i->side[DIFF_NEW];
    table_cell(t, STYLE_PLAIN, "%s", i->name);
    table_cell(t, STYLE_PLAIN, "%s", i->kind);
    diff_cell_number(t, a->count);
    diff_cell_number(t, b->count);
    cell_duration(t, a->ns);
    cell_duration(t, b->ns);
    diff_cell_change(t, i, a->ns, b->ns);
    cell_duration(t, a->on_path_ns);
    cell_duration(t, b->on_path_ns);
}

static void diff_region_row(struct table *t, const struct diff_item *i)
{
    const struct diff_side *a = &i->side[DIFF_OLD], *b = &i->side[DIFF_NEW];
    table_cell(t, STYLE_PLAIN, "%s", i->name);
    diff_cell_number(t, a->count);
    diff_cell_number(t, b->count);
    cell_duration(t, a->ns);
    cell_duration(t, b->ns);
    diff_cell_change(t, i, a->ns, b->ns);
    cell_duration(t, a->count ? a->ns / a->count : 0);
    cell_duration(t, b->count ? b->ns / b->count : 0);
}

static void diff_cell_value(struct table *t, const struct diff_item *i, const struct diff_side *side)
{
    const char *colon = strrchr(i->name, ' '); /* "region: counter"; a counter's name has no blank */
    if (side->there)
        cell_free(t, diff_has_number(side) ? STYLE_PLAIN : STYLE_WARNING, report_value(colon + 1, &side->value));
    else
        table_cell(t, STYLE_PLAIN, "%s", "");
}

static void diff_counter_row(struct table *t, const struct diff_item *i)
{
    const struct diff_side *a = &i->side[DIFF_OLD], *b = &i->side[DIFF_NEW];
    table_cell(t, STYLE_PLAIN, "%s", i->name);
    diff_cell_value(t, i, a);
    diff_cell_value(t, i, b);
    bool both = diff_has_number(a) && diff_has_number(b);
    if (both && a->value.value > 0 && a->value.value != b->value.value)
        table_cell(t, STYLE_PLAIN, "%+.1f %%",
                   ((double)b->value.value - (double)a->value.value) / (double)a->value.value * 100);
    else
        table_cell(t, STYLE_PLAIN, "%s", a->there ? b->there ? "" : "gone" : "new");
}

void diff_write_text(struct output *out, const struct diff *d)
{
    static const struct table_column threads[] = {{"NAME", TABLE_NAME},   {"OLD", true},   {"NEW", true},
                                                  {"LIFETIME OLD", true}, {"NEW", true},   {"BLOCKED OLD", true},
                                                  {"NEW", true},          {"CHANGE", true}};
    static const struct table_column locks[] = {
        {"LOCK", false}, {"KIND", false},  {"WAITS OLD", true},        {"NEW", true}, {"WAITED OLD", true},
        {"NEW", true},   {"CHANGE", true}, {"HELD ON PATH OLD", true}, {"NEW", true}};
    static const struct table_column regions[] = {{"REGION", TABLE_NAME}, {"COUNT OLD", true}, {"NEW", true},
                                                  {"WALL OLD", true},     {"NEW", true},       {"CHANGE", true},
                                                  {"MEAN OLD", true},     {"NEW", true}};
    static const struct table_column counters[] = {{"COUNTER", false}, {"OLD", true}, {"NEW", true}, {"CHANGE", true}};

    fprintf(out->file, "%sComparison of two recordings%s\n", output_style(out, STYLE_TITLE), output_plain(out));
    text_recording(out, "old", d->report[DIFF_OLD]);
    text_recording(out, "new", d->report[DIFF_NEW]);
    text_list(out, d, &d->threads, "Threads by name, by change of blocked time", threads,
              sizeof threads / sizeof *threads, diff_thread_row);
    text_list(out, d, &d->locks, "Locks and other objects, by change of wait time", locks, sizeof locks / sizeof *locks,
              diff_lock_row);
    text_list(out, d, &d->regions, "Regions, by change of wall time", regions, sizeof regions / sizeof *regions,
              diff_region_row);
    text_list(out, d, &d->counters, "Counters of regions, by relative change", counters,
              sizeof counters / sizeof *counters, diff_counter_row);
}
