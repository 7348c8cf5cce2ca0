/* SPDX-License-Identifier: MIT */
/* Timeline rows as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ui/memory.h"
#include "report_cells.h"
#include "ui/table.h"
#include "timeline.h"

/* "7583 customer", "?" if it is not known: to be freed. */
static char *timeline_thread(const struct timeline *t, uint32_t thread)
{
    struct upmu_overview_thread of = {.size = sizeof of};
    if (thread == UINT32_MAX || upmu_overview_thread_at(t->report.overview, thread, &of) != 0)
        return memory_copy("?");
    const char *name = of.name;
    return memory_format("%ld%s%s", (long)of.tid, name[0] ? " " : "", name);
}

/* "thread 7583 (customer)", the name only if it is recorded: to be freed. */
static char *timeline_peer(const struct timeline *t, uint32_t process, pid_t tid)
{
    struct upmu_overview_thread of = {.size = sizeof of};
    for (size_t i = 0; upmu_overview_thread_at(t->report.overview, i, &of) == 0; i++)
        if (of.process == process && of.tid == tid && of.name[0])
            return memory_format("thread %ld (%s)", (long)tid, of.name);
    return memory_format("thread %ld", (long)tid);
}

/* "mutex the till", "" for no object: to be freed. */
static char *timeline_object(const struct timeline *t, uint32_t object)
{
    struct upmu_overview_object of = {.size = sizeof of};
    if (object == UINT32_MAX || upmu_overview_object_at(t->report.overview, object, &of) != 0)
        return memory_copy("");
    char *name = report_object_name(&t->report, &of);
    bool bare = of.type == UPMU_OBJECT_THREAD || of.type == UPMU_OBJECT_CALL;
    char *text = bare ? memory_copy(name) : memory_format("%s %s", report_type_name(of.type), name);
    free(name);
    return text;
}

/* "waits for", "releases", ...: what a row's thread does. */
static const char *timeline_verb(const struct upmu_timeline_row *row)
{
    switch (row->kind) {
    case UPMU_ROW_WAIT:
        return row->wait_kind == UPMU_WAIT_JOIN    ? "waits for the end of"
               : row->wait_kind >= UPMU_WAIT_SLEEP ? "waits in"
                                                   : "waits for";
    case UPMU_ROW_REGION:
        return "in region";
    case UPMU_ROW_ACQUIRE:
        return "acquires";
    case UPMU_ROW_RELEASE:
        return "releases";
    case UPMU_ROW_MARK:
        return "mark";
    default:
        break;
    }
    return upmu_trace_kind_name(row->event);
}

static uint64_t row_since(const struct timeline *t, uint64_t ns)
{
    return ns > t->report.totals.begin_ns ? ns - t->report.totals.begin_ns : 0;
}

static char *row_seconds(uint64_t ns)
{
    return memory_format("%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

/* Where it was: the call site, or the innermost frame of the stack. */
static uint64_t row_location(const struct timeline *t, const struct upmu_timeline_row *row)
{
    struct upmu_trace_stack stack = {.size = sizeof stack};
    if (row->site != 0 || row->stack == 0 ||
        upmu_overview_stack_find(t->report.overview, row->process, row->stack, &stack) != 0 || stack.n_frames == 0)
        return row->site;
    return stack.frames[0];
}

/* How long it lasted: "12.34 ms", ">= 12.34 ms" if it had no end. */
static char *row_length(const struct upmu_timeline_row *row)
{
    if (row->kind != UPMU_ROW_WAIT && row->kind != UPMU_ROW_REGION)
        return memory_copy("");
    if (!row->ended && row->end_ns == row->begin_ns)
        return memory_copy("no end");
    char *ns = report_duration(row->end_ns - row->begin_ns);
    if (row->ended)
        return ns;
    char *text = memory_format(">= %s", ns);
    free(ns);
    return text;
}

/* What it is about. */
static char *row_subject(const struct timeline *t, const struct upmu_timeline_row *row)
{
    char *object = timeline_object(t, row->object), *text = NULL;
    if (row->text[0] && object[0])
        text = memory_format("%s: %s", object, row->text);
    else if (row->text[0])
        text = memory_copy(row->text);
    else if (row->kind == UPMU_ROW_THREAD && row->peer != 0)
        text = timeline_peer(t, row->process, row->peer);
    else
        text = memory_copy(object);
    free(object);
    return text;
}

/* The holder and the remarks in one cell. */
static char *row_join_cells(char *first, char *second)
{
    char *text = memory_format("%s%s%s", first, first[0] && second[0] ? ", " : "", second);
    free(first);
    free(second);
    return text;
}

static char *row_remarks(const struct upmu_timeline_row *row)
{
    char *text = memory_copy(row->flags & UPMU_TRACE_FLAG_SHARED    ? "for reading"
                             : row->flags & UPMU_TRACE_FLAG_SAMPLED ? "sampled"
                                                                    : "");
    if (row->event == UPMU_TRACE_BARRIER_ARRIVE && row->result < 0)
        return row_join_cells(text, memory_copy("arrived last"));
    if (row->result <= 0 || row->kind == UPMU_ROW_REGION)
        return text;
    const char *error = strerrorname_np(row->result);
    return row_join_cells(text, memory_copy(error ? error : "failed"));
}

static char *row_holder(const struct timeline *t, const struct upmu_timeline_row *row)
{
    if (row->holder == UINT32_MAX)
        return memory_copy("");
    char *name = timeline_thread(t, row->holder), *text = memory_format("held by %s", name);
    free(name);
    return text;
}

static void text_row(struct table *table, const struct timeline *t, const struct upmu_timeline_row *row)
{
    uint64_t location = row_location(t, row);
    table_cell(table, STYLE_DIM, "%" PRIu64, row->number);
    cell_free(table, STYLE_PLAIN, row_seconds(row_since(t, row->begin_ns)));
    cell_free(table, STYLE_PLAIN, timeline_thread(t, row->thread));
    table_cell(table, STYLE_PLAIN, "%s", timeline_verb(row));
    cell_free(table, STYLE_PLAIN, row_subject(t, row));
    cell_free(table, row->ended ? STYLE_PLAIN : STYLE_WARNING, row_length(row));
    cell_free(table, STYLE_PLAIN, row_join_cells(row_holder(t, row), row_remarks(row)));
    cell_free(table, STYLE_PLAIN, location ? report_location(&t->report, row->process, location) : memory_copy(""));
}

void timeline_write_text(struct output *out, const struct timeline *t)
{
    static const struct table_column columns[] = {
        {"ROW", true},          {"AT (S)", true},   {"THREAD", false}, {"ACTION", false},
        {"OBJECT", TABLE_NAME}, {"DURATION", true}, {"", false},       {"LOCATION", false},
    };
    struct upmu_timeline_row row = {.size = sizeof row};
    struct table table;
    const struct upmu_timeline_totals *n = &t->totals;

    fprintf(out->file, "%sTimeline of ", output_style(out, STYLE_TITLE));
    output_clean(out->file, t->report.dir);
    fprintf(out->file, "%s: %" PRIu64 " of %" PRIu64 " rows match; ", output_plain(out), n->matched, n->rows);
    if (n->shown > 0)
        fprintf(out->file, "page %ld: %" PRIu64 " to %" PRIu64 "\n", t->page, n->skipped + 1, n->skipped + n->shown);
    else
        fprintf(out->file, "page %ld is empty\n", t->page);
    report_text_stop_times(out, &t->report);
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; upmu_timeline_row_at(t->rows, i, &row) == 0; i++)
        text_row(&table, t, &row);
    table_end(&table, out, 2);
    if (n->skipped + n->shown < n->matched)
        fprintf(out->file, "  ... and %" PRIu64 " more: --page %ld; --event ROW shows one with its call stack\n",
                n->matched - n->skipped - n->shown, t->page + 1);
}

/* ------------------------------------------------------------------------------------------------------- one row */

static void row_print_line(struct output *out, const char *what, char *text)
{
    if (text[0]) {
        fprintf(out->file, "  %-10s ", what);
        output_clean(out->file, text);
        fputc('\n', out->file);
    }
    free(text);
}

static void text_holder(struct output *out, const struct timeline *t, const struct upmu_timeline_row *row)
{
    if (row->holder == UINT32_MAX)
        return;
    char *name = timeline_thread(t, row->holder);
    char *location = report_location(&t->report, row->process, row->holder_site);
    if (row->holder_since != 0 && row->holder_since <= row->begin_ns) {
        char *before = report_duration(row->begin_ns - row->holder_since);
        row_print_line(out, "held by", memory_format("%s, acquired at %s, %s before", name, location, before));
        free(before);
    } else {
        row_print_line(out, "held by", memory_format("%s, acquired at %s", name, location));
    }
    free(name);
    free(location);
}

static void text_counts(struct output *out, const struct timeline *t, const struct upmu_timeline_row *row)
{
    for (size_t i = 0; i < row->n_counts; i++) {
        const char *name = upmu_overview_counter_name(t->report.overview, row->process, i);
        char *value = report_value(name, &row->counts[i]);
        row_print_line(out, i == 0 ? "counters" : "", memory_format("%s %s", name ? name : "?", value));
        free(value);
    }
}

void timeline_write_row(struct output *out, const struct timeline *t)
{
    struct upmu_timeline_row row = {.size = sizeof row};
    if (upmu_timeline_row_at(t->rows, 0, &row) != 0)
        return;
    char *what = row_subject(t, &row), *at = row_seconds(row_since(t, row.begin_ns)),
         *until = row_seconds(row_since(t, row.end_ns));
    fprintf(out->file, "%sRow %" PRIu64 "%s: ", output_style(out, STYLE_TITLE), row.number, output_plain(out));
    char *headline = memory_format("%s %s", timeline_verb(&row), what);
    output_clean(out->file, headline);
    fputc('\n', out->file);
    row_print_line(out, "thread", timeline_thread(t, row.thread));
    row_print_line(out, "at",
                   row.end_ns > row.begin_ns ? memory_format("%s s, until %s s", at, until)
                                             : memory_format("%s s", at));
    row_print_line(out, "duration", row_length(&row));
    row_print_line(out, "remarks", row_remarks(&row));
    text_holder(out, t, &row);
    text_counts(out, t, &row);
    uint64_t location = row_location(t, &row);
    if (row.stack != 0)
        report_text_stack(out, &t->report, row.process, row.stack, "call stack:");
    else if (location != 0)
        row_print_line(out, "location", report_location(&t->report, row.process, location));
    free(what);
    free(at);
    free(until);
    free(headline);
}
