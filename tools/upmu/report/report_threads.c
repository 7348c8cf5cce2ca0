/* SPDX-License-Identifier: MIT */
/* Threads as text. */
#include <inttypes.h>
#include <stdlib.h>

#include "ui/memory.h"
#include "report.h"
#include "report_cells.h"
#include "ui/table.h"

static void threads_cell_switches(struct table *table, const struct upmu_value *v)
{
    bool number = v->status == UPMU_EXACT || v->status == UPMU_SCALED;
    if (number)
        table_cell(table, STYLE_PLAIN, "%" PRIu64, v->value);
    else if (v->cause != 0)
        table_cell(table, STYLE_WARNING, "%s", upmu_status_name(v->status));
    else
        table_cell(table, STYLE_PLAIN, "%s", "");
}

static char *threads_waits_text(const struct upmu_overview *overview, size_t thread)
{
    char *text = memory_copy("");
    struct upmu_overview_thread_wait of_kind = {.size = sizeof of_kind};
    for (int kind = 0; upmu_overview_thread_wait_at(overview, thread, kind, &of_kind) == 0; kind++) {
        const struct upmu_wait_sum *w = &of_kind.waits;
        if (w->count + w->unfinished == 0)
            continue;
        char *ns = wait_total_text(w);
        char *longer = memory_format("%s%s%s %s (%" PRIu64 "%s)", text, text[0] ? ", " : "", upmu_wait_kind_name(kind),
                                     ns, w->count + w->unfinished, w->unfinished ? ", the last unfinished" : "");
        free(ns);
        free(text);
        text = longer;
    }
    return text;
}

/* How a thread's life went, a character for each part of it. */
enum { BAR_CHARS = 20 };

#define READY_LEAST 0.1   /* mean number of threads without a CPU that is worth a line */
#define OTHERS_LEAST 0.75 /* of its CPUs: a process that has more of them competes with itself */

struct bar {
    char text[BAR_CHARS + 1];
    size_t n;
    uint64_t life, ns; /* of the whole, and of what is drawn */
};

static void threads_bar_add(struct bar *b, char what, uint64_t ns)
{
    b->ns += ns;
    size_t until = b->life ? (size_t)((double)b->ns / (double)b->life * BAR_CHARS + 0.5) : 0;
    while (b->n < until && b->n < BAR_CHARS)
        b->text[b->n++] = what;
}

/* By the kernel's word where it was asked; else what is known is the time in waits. */
static void threads_cell_bar(struct table *table, const struct upmu_overview_thread *t,
                             const struct upmu_overview_sched *s)
{
    struct bar b = {.life = t->end_ns - t->begin_ns};
    if (s->recorded) {
        threads_bar_add(&b, '=', s->running_ns);
        threads_bar_add(&b, '!', s->preempted_ns);
        threads_bar_add(&b, '-', s->blocked_ns);
    } else {
        threads_bar_add(&b, '-', t->blocked_ns);
    }
    threads_bar_add(&b, ' ', b.life - (b.ns < b.life ? b.ns : b.life));
    table_cell(table, STYLE_PLAIN, "|%-*s|", BAR_CHARS, b.text);
}

static void threads_cell_sched(struct table *table, const struct upmu_overview_thread *t,
                               const struct upmu_overview_sched *s)
{
    uint64_t life = t->end_ns - t->begin_ns;
    cell_share(table, s->recorded || t->cpu_ns == UPMU_NO_VALUE ? s->running_ns : t->cpu_ns, life);
    cell_share(table, s->recorded || t->ready_ns == UPMU_NO_VALUE ? s->preempted_ns : t->ready_ns, life);
    cell_share(table, s->blocked_ns, life);
    if (s->recorded)
        table_cell(table, s->lost ? STYLE_WARNING : STYLE_PLAIN, "%s%" PRIu64 " + %" PRIu64, s->lost ? ">= " : "",
                   s->voluntary, s->involuntary);
    else
        threads_cell_switches(table, &t->switches);
}

static void thread_row(struct table *table, const struct report *r, size_t i, const struct upmu_overview_thread *t,
                       bool *has_sched)
{
    struct upmu_overview_sched s = {.size = sizeof s};
    if (upmu_overview_sched_at(r->overview, i, &s) != 0)
        s = (struct upmu_overview_sched){0};
    *has_sched = *has_sched || s.recorded;
    table_cell(table, STYLE_PLAIN, "%ld", (long)t->tid);
    table_cell(table, STYLE_PLAIN, "%s", t->name);
    cell_free(table, STYLE_PLAIN, report_duration(t->end_ns - t->begin_ns));
    threads_cell_bar(table, t, &s);
    cell_duration(table, t->blocked_ns);
    cell_share(table, t->blocked_ns, t->end_ns - t->begin_ns);
    threads_cell_sched(table, t, &s);
    cell_free(table, STYLE_PLAIN, threads_waits_text(r->overview, i));
}

/* Whether other programs are the reason why threads of a process had no CPU. */
static void text_others(struct output *out, const struct report *r, uint32_t process, double ready, double running)
{
    struct upmu_overview_path path = {.size = sizeof path};
    size_t cpus = upmu_overview_cpu_count(r->overview, process);
    if (upmu_overview_path_read(r->overview, process, &path) != 0 || path.end_ns == path.begin_ns)
        return;
    double run = (double)(path.end_ns - path.begin_ns);
    if (ready >= READY_LEAST * run && running < OTHERS_LEAST * (double)cpus * run)
        fprintf(out->file,
                "  On average %.1f threads had no CPU, while the process used %.1f of %zu CPUs: other programs, or a "
                "limit of its group, had the rest\n",
                ready / run, running / run, cpus);
}

/* Where PREEMPTED comes from without switch records. */
static void text_ready(struct output *out, const struct report *r)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    double ready = 0, running = 0;
    uint32_t process = 0;
    bool any = false;
    for (size_t i = 0; upmu_overview_thread_at(r->overview, i, &t) == 0; i++) {
        if (t.ready_ns != UPMU_NO_VALUE && !any)
            fputs(
                "  PREEMPTED: ready to run without a CPU, by the kernel's sums; 'upmu record --sched' has each time\n",
                out->file);
        any |= t.ready_ns != UPMU_NO_VALUE;
        if (t.process != process) { /* threads are in the order of processes */
            text_others(out, r, process, ready, running);
            ready = running = 0;
            process = t.process;
        }
        ready += t.ready_ns != UPMU_NO_VALUE ? (double)t.ready_ns : 0;
        running += t.cpu_ns != UPMU_NO_VALUE ? (double)t.cpu_ns : 0;
    }
    text_others(out, r, process, ready, running);
}

static void text_threads(struct output *out, const struct report *r)
{
    static const struct table_column columns[] = {
        {"THREAD", true},
        {"NAME", TABLE_NAME},
        {"LIFETIME", true},
        {"", false},
        {"BLOCKED", true},
        {"SHARE", true},
        {"RUNNING", true},
        {"PREEMPTED", true},
        {"OFF", true},
        {"SWITCHES", true},
        {"WAITED FOR (COUNT)", false},
    };
    struct upmu_overview_thread t = {.size = sizeof t};
    struct table table;
    bool has_sched = false;
    size_t i = 0;

    report_title(out, "Threads");
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    for (; i < r->top && upmu_overview_thread_at(r->overview, i, &t) == 0; i++)
        thread_row(&table, r, i, &t, &has_sched);
    table_end(&table, out, 2);
    if (!has_sched)
        text_ready(out, r);
    if (has_sched)
        fputs("  |=!-| running, preempted, blocked, from the kernel's switch records (switches: voluntary + "
              "preempted);"
              " blank: not recorded\n",
              out->file);
    report_more(out, r->totals.n_threads, i);
}

/* The first threads of process `process` that have counters of their whole life, a row each. */
static void thread_counts(struct output *out, const struct report *r, uint32_t process)
{
    struct table_column columns[TABLE_COLUMNS_MAX] = {{"THREAD", true}, {"NAME", TABLE_NAME}};
    struct upmu_overview_thread t = {.size = sizeof t};
    struct table table;
    const char *name;
    size_t n = 2, all = 0;

    for (; n < TABLE_COLUMNS_MAX && (name = upmu_overview_counter_name(r->overview, process, n - 2)) != NULL; n++)
        columns[n] = (struct table_column){name, true};
    table_begin(&table, columns, n);
    for (size_t i = 0; upmu_overview_thread_at(r->overview, i, &t) == 0; i++) {
        if (t.process != process || t.n_counts < n - 2 || all++ >= r->top)
            continue;
        table_cell(&table, STYLE_PLAIN, "%ld", (long)t.tid);
        table_cell(&table, STYLE_PLAIN, "%s", t.name);
        for (size_t k = 2; k < n; k++)
            cell_free(&table, STYLE_PLAIN, report_value(columns[k].title, &t.counts[k - 2].sum));
    }
    if (all > 0 && n > 2)
        report_title(out, "Counters of threads, over their lifetime");
    table_end(&table, out, 2);
    report_more(out, all, all < r->top ? all : r->top);
}

void report_text_threads(struct output *out, const struct report *r)
{
    text_threads(out, r);
    for (uint32_t process = 0; process < r->totals.n_processes; process++)
        thread_counts(out, r, process);
}
