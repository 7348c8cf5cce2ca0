/* SPDX-License-Identifier: MIT */
/* upmu report for people. Room: tools/upmu. Before it: the overview; after it: table and output. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "report.h"
#include "report_cells.h"
#include "table.h"

/* ------------------------------------------------------------------------------------------- how it was recorded */

static void text_clock_error(struct output *out, const struct upmu_trace_process *p)
{
    if (p->clock_error_ns == UPMU_NO_VALUE)
        fputs(", its error not recorded", out->file);
    else
        fprintf(out->file, " within %" PRIu64 " ns", p->clock_error_ns);
}

static void text_process(struct output *out, const struct upmu_trace_process *p)
{
    fprintf(out->file, "  process %ld on ", (long)p->pid);
    output_clean(out->file, p->host);
    fputs(", kernel ", out->file);
    output_clean(out->file, p->kernel);
    fputs(": ", out->file);
    output_clean(out->file, p->command);
    fprintf(out->file,
            "\n    %" PRIu64 " records (events, stacks, modules, counts), %s%" PRIu64 " lost%s, clock %.6g MHz",
            p->events, p->lost ? output_style(out, STYLE_BAD) : "", p->lost, p->lost ? output_plain(out) : "",
            (double)p->clock_hz / 1e6);
    text_clock_error(out, p);
    if (!p->complete)
        fprintf(out->file, "%s, without a proper end (killed, or still running)%s", output_style(out, STYLE_WARNING),
                output_plain(out));
    fputc('\n', out->file);
    if (p->overwritten)
        fprintf(out->file,
                "    %s%" PRIu64 " older events were overwritten: the recording is a ring, and begins with a gap%s\n",
                output_style(out, STYLE_WARNING), p->overwritten, output_plain(out));
}

/* Their time is inside the waits and regions. */
static void text_own_cost(struct output *out, const struct upmu_overview_totals *t)
{
    if (t->own_cost_ns == UPMU_NO_VALUE) {
        fputs("  own cost: not recorded\n", out->file);
        return;
    }
    char *cost = report_duration(t->own_cost_ns);
    fprintf(out->file,
            "  own cost: about %s for the events about locks and threads, %.2g %% of the threads' lifetime\n", cost,
            t->lifetime_ns ? 100.0 * (double)t->own_cost_ns / (double)t->lifetime_ns : 0.0);
    free(cost);
}

static void text_conditions(struct output *out, const struct report *r)
{
    const struct upmu_overview_totals *t = &r->totals;
    struct upmu_trace_process p = {.size = sizeof p};
    char *span = report_duration(t->end_ns - t->begin_ns);

    fprintf(out->file, "%sReport of ", output_style(out, STYLE_TITLE));
    output_clean(out->file, r->dir);
    fprintf(out->file, "%s: %" PRIu64 " events in %s, %zu %s, %zu %s\n", output_plain(out), t->events, span,
            t->n_processes, t->n_processes == 1 ? "process" : "processes", t->n_threads,
            t->n_threads == 1 ? "thread" : "threads");
    free(span);
    for (size_t i = 0; upmu_overview_process(r->overview, i, &p) == 0; i++)
        text_process(out, &p);
    text_own_cost(out, t);
    if (t->unmatched || t->unknown || t->unfinished)
        fprintf(out->file,
                "  %" PRIu64 " begins or ends without their partner (not counted), %" PRIu64
                " waits unfinished at the end, %" PRIu64 " events of unknown kinds\n",
                t->unmatched, t->unfinished, t->unknown);
    for (size_t i = 0; i < t->n_damages; i++) {
        fprintf(out->file, "  %sdamaged:%s ", output_style(out, STYLE_BAD), output_plain(out));
        output_clean(out->file, upmu_overview_damage(r->overview, i));
        fputc('\n', out->file);
    }
}

/* ----------------------------------------------------------------------------------------------------- threads */

static void cell_switches(struct table *table, const struct upmu_value *v)
{
    bool number = v->standing == UPMU_EXACT || v->standing == UPMU_SCALED;
    if (number)
        table_cell(table, STYLE_PLAIN, "%" PRIu64, v->value);
    else if (v->cause != 0)
        table_cell(table, STYLE_WARNING, "%s", upmu_standing_name(v->standing));
    else
        table_cell(table, STYLE_PLAIN, "%s", "");
}

static char *waits_in_words(const struct upmu_overview_thread *t)
{
    char *text = memory_copy("");
    for (int kind = 0; kind < UPMU_WAIT_KINDS; kind++) {
        const struct upmu_wait_sum *w = &t->waits[kind];
        if (w->count + w->unfinished == 0)
            continue;
        char *ns = total_in_words(w);
        char *longer = memory_format("%s%s%s %s (%" PRIu64 "%s)", text, text[0] ? ", " : "", upmu_wait_kind_name(kind),
                                     ns, w->count + w->unfinished, w->unfinished ? ", the last unfinished" : "");
        free(ns);
        free(text);
        text = longer;
    }
    return text;
}

static void text_threads(struct output *out, const struct report *r)
{
    static const struct table_column columns[] = {
        {"THREAD", true},
        {"NAME", false},
        {"LIFETIME", true},
        {"BLOCKED", true},
        {"SHARE", true},
        {"SWITCHES", true},
        {"WAITED FOR (TIMES)", false},
    };
    struct upmu_overview_thread t = {.size = sizeof t};
    struct table table;
    size_t i = 0;

    report_title(out, "Threads");
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    for (; i < r->top && upmu_overview_thread(r->overview, i, &t) == 0; i++) {
        uint64_t life = t.end_ns - t.begin_ns;
        table_cell(&table, STYLE_PLAIN, "%ld", (long)t.tid);
        table_cell(&table, STYLE_PLAIN, "%s", report_thread_name(&t));
        cell_free(&table, STYLE_PLAIN, report_duration(life));
        cell_duration(&table, t.blocked_ns);
        cell_share(&table, t.blocked_ns, life);
        cell_switches(&table, &t.switches);
        cell_free(&table, STYLE_PLAIN, waits_in_words(&t));
    }
    table_end(&table, out, 2);
    report_more(out, r->totals.n_threads, i);
}

/* The first threads of process `process` that have counters of their whole life, a row each. */
static void thread_counts(struct output *out, const struct report *r, uint32_t process)
{
    struct table_column columns[TABLE_COLUMNS_MAX] = {{"THREAD", true}, {"NAME", false}};
    struct upmu_overview_thread t = {.size = sizeof t};
    struct table table;
    const char *name;
    size_t n = 2, all = 0;

    for (; n < TABLE_COLUMNS_MAX && (name = upmu_overview_counter(r->overview, process, n - 2)) != NULL; n++)
        columns[n] = (struct table_column){name, true};
    table_begin(&table, columns, n);
    for (size_t i = 0; upmu_overview_thread(r->overview, i, &t) == 0; i++) {
        if (t.process != process || t.n_counts < n - 2 || all++ >= r->top)
            continue;
        table_cell(&table, STYLE_PLAIN, "%ld", (long)t.tid);
        table_cell(&table, STYLE_PLAIN, "%s", report_thread_name(&t));
        for (size_t k = 2; k < n; k++)
            cell_free(&table, STYLE_PLAIN, report_value(columns[k].title, &t.counts[k - 2].sum));
    }
    if (all > 0 && n > 2)
        report_title(out, "Counters of threads, over their lives");
    table_end(&table, out, 2);
    report_more(out, all, all < r->top ? all : r->top);
}

void report_write_text(struct output *out, const struct report *r)
{
    text_conditions(out, r);
    text_threads(out, r);
    for (uint32_t process = 0; process < r->totals.n_processes; process++)
        thread_counts(out, r, process);
    report_text_sched(out, r);
    report_text_matrix(out, r);
    report_text_paths(out, r);
    report_text_objects(out, r);
    report_text_sections(out, r);
    report_text_regions(out, r);
}

void report_write_regions(struct output *out, const struct report *r)
{
    text_conditions(out, r);
    if (r->totals.n_regions == 0)
        fputs("\nNo regions: the program marks none, or none ended (man upmu, upmu/region.h)\n", out->file);
    report_text_regions(out, r);
}
