/* SPDX-License-Identifier: MIT */
/* Threads as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* Without the time in which recording was stopped. */
static uint64_t thread_life(const struct upmu_overview_thread *t)
{
    return t->end_ns - t->begin_ns - t->stopped_ns;
}

/* By the kernel's word where it was asked; else what is known is the time in waits. */
static void threads_cell_bar(struct table *table, const struct upmu_overview_thread *t,
                             const struct upmu_overview_sched *s)
{
    struct bar b = {.life = thread_life(t)};
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
    uint64_t life = thread_life(t);
    cell_share(table, s->recorded || t->cpu_ns == UPMU_NO_VALUE ? s->running_ns : t->cpu_ns, life);
    cell_share(table, s->recorded || t->ready_ns == UPMU_NO_VALUE ? s->preempted_ns : t->ready_ns, life);
    cell_share(table, s->blocked_ns, life);
    if (s->recorded)
        table_cell(table, s->lost ? STYLE_WARNING : STYLE_PLAIN, "%s%" PRIu64 " + %" PRIu64, s->lost ? ">= " : "",
                   s->voluntary, s->involuntary);
    else
        threads_cell_switches(table, &t->switches);
}

/* A lower bound if the thread's begin was overwritten in a ring, or not recorded since recording was stopped, or if only counts of it were
 * recorded. */
static void threads_cell_life(struct table *table, const struct report *r, const struct upmu_overview_thread *t)
{
    struct upmu_trace_process p = {.size = sizeof p};
    uint64_t life = thread_life(t);
    bool known = t->started || upmu_overview_process_at(r->overview, t->process, &p) != 0 ||
                 t->begin_ns == p.start_ns ||
                 (p.overwritten == 0 && p.pauses == 0 && (t->ended || t->end_ns == r->totals.end_ns));
    char *text = report_duration(life);
    if (known || life == 0)
        table_cell(table, STYLE_PLAIN, "%s", life ? text : "");
    else
        table_cell(table, STYLE_WARNING, ">= %s", text);
    free(text);
}

/* A lower bound where events of the process were lost: a wait without its begin or end is in no sum. */
static void threads_cell_blocked(struct table *table, const struct report *r, const struct upmu_overview_thread *t)
{
    struct upmu_trace_process p = {.size = sizeof p};
    bool lost = upmu_overview_process_at(r->overview, t->process, &p) == 0 && p.lost_any > 0;
    if (!lost || t->blocked_ns == 0) {
        cell_duration(table, t->blocked_ns);
        return;
    }
    char *text = report_duration(t->blocked_ns);
    table_cell(table, STYLE_WARNING, ">= %s", text);
    free(text);
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
    cell_process(table, r, t->process, true);
    threads_cell_life(table, r, t);
    threads_cell_bar(table, t, &s);
    threads_cell_blocked(table, r, t);
    cell_share(table, t->blocked_ns, thread_life(t));
    threads_cell_sched(table, t, &s);
    cell_free(table, STYLE_PLAIN, threads_waits_text(r->overview, i));
}

/* What the scheduler's sums give for all processes of one host. */
struct host_load {
    const char *host; /* NULL: none yet */
    size_t processes, cpus;
    uint64_t begin_ns, end_ns;
    double ready_ns, running_ns;
};

/* The load of process `process`'s host, with that process added. */
static struct host_load *host_of(struct host_load *hosts, const struct report *r, uint32_t process)
{
    struct upmu_trace_process p = {.size = sizeof p};
    struct upmu_overview_path path = {.size = sizeof path};
    size_t cpus = upmu_overview_cpu_count(r->overview, process);
    struct host_load *h = hosts;
    if (upmu_overview_process_at(r->overview, process, &p) != 0 ||
        upmu_overview_path_read(r->overview, process, &path) != 0 || path.end_ns == path.begin_ns)
        return NULL;
    while (h->host && strcmp(h->host, p.host) != 0)
        h++;
    h->host = p.host;
    h->begin_ns = h->processes == 0 || path.begin_ns < h->begin_ns ? path.begin_ns : h->begin_ns;
    h->end_ns = path.end_ns > h->end_ns ? path.end_ns : h->end_ns;
    h->cpus = cpus > h->cpus ? cpus : h->cpus;
    h->processes++;
    return h;
}

/* Whether other programs are the reason why threads had no CPU. */
static void text_host(struct output *out, const struct host_load *h, bool only_host)
{
    double run = (double)(h->end_ns - h->begin_ns);
    if (h->ready_ns < READY_LEAST * run || h->running_ns >= OTHERS_LEAST * (double)h->cpus * run)
        return;
    fputs("  On average ", out->file);
    if (!only_host) {
        output_clean(out->file, h->host);
        fputs(": ", out->file);
    }
    fprintf(out->file, "%.1f threads had no CPU, while ", h->ready_ns / run);
    if (h->processes == 1)
        fputs("the process", out->file);
    else
        fprintf(out->file, "the %zu processes", h->processes);
    fprintf(out->file, " used %.1f of %zu CPUs: other programs, or a limit of %s group, had the rest\n",
            h->running_ns / run, h->cpus, h->processes == 1 ? "its" : "their");
}

/* Where PREEMPTED comes from without switch records. */
static void text_ready(struct output *out, const struct report *r)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    struct host_load *hosts = memory_array(r->totals.n_processes + 1, sizeof *hosts), *h = NULL;
    uint32_t process = UINT32_MAX;
    bool any = false;
    for (size_t i = 0; upmu_overview_thread_at(r->overview, i, &t) == 0; i++) {
        if (t.process != process) /* threads are in the order of processes */
            h = host_of(hosts, r, process = t.process);
        if (!h)
            continue;
        any |= t.ready_ns != UPMU_NO_VALUE;
        h->ready_ns += t.ready_ns != UPMU_NO_VALUE ? (double)t.ready_ns : 0;
        h->running_ns += t.cpu_ns != UPMU_NO_VALUE ? (double)t.cpu_ns : 0;
    }
    if (any)
        fputs("  PREEMPTED: ready to run without a CPU, by the kernel's sums; 'upmu record --sched' has each time\n",
              out->file);
    for (h = hosts; h->host; h++)
        text_host(out, h, !hosts[1].host);
    free(hosts);
}

/** A thread by its index, with its time in waits. */
struct ranked_thread {
    uint64_t blocked_ns;
    size_t index;
};

static int ranked_compare(const void *a, const void *b)
{
    const struct ranked_thread *x = a, *y = b;
    if (x->blocked_ns != y->blocked_ns)
        return x->blocked_ns > y->blocked_ns ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The threads of all processes, those that were blocked longest first: the analysis sorts them within each process only.
 * @return them, to be freed. */
static struct ranked_thread *threads_ranked(const struct report *r, size_t *n)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    struct ranked_thread *all = memory_array(upmu_overview_thread_count(r->overview) + 1, sizeof *all);
    for (*n = 0; upmu_overview_thread_at(r->overview, *n, &t) == 0; ++*n)
        all[*n] = (struct ranked_thread){t.blocked_ns, *n};
    qsort(all, *n, sizeof *all, ranked_compare);
    return all;
}

static void text_threads(struct output *out, const struct report *r)
{
    static const struct table_column columns[] = {
        {"THREAD", true},    {"NAME", TABLE_NAME}, {"PROCESS", TABLE_NAME}, {"LIFETIME", true},
        {"", false},         {"BLOCKED", true},    {"SHARE", true},         {"RUNNING", true},
        {"PREEMPTED", true}, {"OFF", true},        {"SWITCHES", true},      {"WAITED FOR (COUNT)", false},
    };
    struct upmu_overview_thread t = {.size = sizeof t};
    struct table table;
    bool has_sched = false;
    size_t i = 0, n;
    struct ranked_thread *ranked = threads_ranked(r, &n);

    if (n == 0) { /* of a recording that was never started */
        free(ranked);
        return;
    }
    report_title(out, "Threads");
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    for (; i < r->top && i < n && upmu_overview_thread_at(r->overview, ranked[i].index, &t) == 0; i++)
        thread_row(&table, r, ranked[i].index, &t, &has_sched);
    free(ranked);
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

static bool counts_same_counters(const struct report *r, uint32_t a, uint32_t b)
{
    const char *x, *y;
    size_t i = 0;
    do {
        x = upmu_overview_counter_name(r->overview, a, i);
        y = upmu_overview_counter_name(r->overview, b, i);
        i++;
    } while (x && y && strcmp(x, y) == 0);
    return !x && !y;
}

/* The first threads of processes `first` to `last`, all with the same counters, that have counters of their whole life, a row each. */
static void counts_text(struct output *out, const struct report *r, uint32_t first, uint32_t last)
{
    struct table_column columns[TABLE_COLUMNS_MAX] = {{"THREAD", true}, {"NAME", TABLE_NAME}, {"PROCESS", TABLE_NAME}};
    enum { FIXED = 3 };
    struct upmu_overview_thread t = {.size = sizeof t};
    struct table table;
    const char *name;
    size_t n = FIXED, all = 0;

    for (; n < TABLE_COLUMNS_MAX && (name = upmu_overview_counter_name(r->overview, first, n - FIXED)) != NULL; n++)
        columns[n] = (struct table_column){name, true};
    table_begin(&table, columns, n);
    for (size_t i = 0; n > FIXED && upmu_overview_thread_at(r->overview, i, &t) == 0; i++) {
        if (t.process < first || t.process > last || t.n_counts < n - FIXED || all++ >= r->top)
            continue;
        table_cell(&table, STYLE_PLAIN, "%ld", (long)t.tid);
        table_cell(&table, STYLE_PLAIN, "%s", t.name);
        cell_process(&table, r, t.process, true);
        for (size_t k = FIXED; k < n; k++)
            cell_free(&table, STYLE_PLAIN, report_value(columns[k].title, &t.counts[k - FIXED].sum));
    }
    if (all > 0)
        report_title(out, "Counters of threads, over their lifetime");
    table_end(&table, out, 2);
    report_more(out, all, all < r->top ? all : r->top);
}

void report_text_threads(struct output *out, const struct report *r)
{
    text_threads(out, r);
    for (uint32_t first = 0, next; first < r->totals.n_processes; first = next) {
        for (next = first + 1; next < r->totals.n_processes && counts_same_counters(r, first, next);)
            next++;
        counts_text(out, r, first, next - 1);
    }
}
