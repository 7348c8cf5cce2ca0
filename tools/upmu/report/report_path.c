/* SPDX-License-Identifier: MIT */
/* Waits between threads and the critical path as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ui/memory.h"
#include "report.h"
#include "report_cells.h"
#include "ui/table.h"

enum { MATRIX_COLUMNS = TABLE_COLUMNS_MAX - 4 }; /* beside thread, name, the others, and all */

/* ------------------------------------------------------------------------------------------------------ matrix */

/* Sums by thread or process, index UINT32_MAX for those not known. */
struct path_sum {
    uint32_t of;
    uint64_t ns;
};

struct path_sums {
    struct path_sum *all; /* by index, those not known last; after path_sums_sort() the largest first */
    size_t n;
};

static struct path_sums path_sums_begin(const struct report *r)
{
    struct path_sums s = {.n = r->totals.n_threads + 1};
    s.all = memory_array(s.n, sizeof *s.all);
    for (size_t i = 0; i < s.n; i++)
        s.all[i].of = i + 1 < s.n ? (uint32_t)i : UINT32_MAX;
    return s;
}

static void path_sums_add(struct path_sums *s, uint32_t thread, uint64_t ns)
{
    s->all[thread < s->n - 1 ? thread : s->n - 1].ns += ns;
}

static int path_compare_sums(const void *a, const void *b)
{
    const struct path_sum *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return x->of < y->of ? -1 : x->of > y->of;
}

static void path_sums_sort(struct path_sums *s)
{
    qsort(s->all, s->n, sizeof *s->all, path_compare_sums);
    while (s->n > 0 && s->all[s->n - 1].ns == 0)
        s->n--;
}

struct matrix {
    struct path_sums waiters, others;
    bool unfinished;
};

static uint64_t path_pair_ns(const struct upmu_overview_pair *p)
{
    return p->waits.total_ns + p->waits.unfinished_ns;
}

static void path_matrix_read(const struct report *r, uint32_t process, struct matrix *m)
{
    struct upmu_overview_pair p = {.size = sizeof p};
    *m = (struct matrix){.waiters = path_sums_begin(r), .others = path_sums_begin(r)};
    for (size_t i = 0; upmu_overview_pair_at(r->overview, i, &p) == 0; i++) {
        if (p.process != process)
            continue;
        path_sums_add(&m->waiters, p.waiter, path_pair_ns(&p));
        path_sums_add(&m->others, p.other, path_pair_ns(&p));
        m->unfinished = m->unfinished || p.waits.unfinished > 0;
    }
    path_sums_sort(&m->waiters);
    path_sums_sort(&m->others);
}

static char *path_thread_title(const struct report *r, uint32_t thread)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    if (thread == UINT32_MAX || upmu_overview_thread_at(r->overview, thread, &t) != 0)
        return memory_copy("NOT KNOWN");
    return memory_format("%ld", (long)t.tid);
}

static uint64_t path_matrix_cell(const struct report *r, uint32_t waiter, uint32_t other)
{
    struct upmu_overview_pair p = {.size = sizeof p};
    for (size_t i = 0; upmu_overview_pair_at(r->overview, i, &p) == 0; i++)
        if (p.waiter == waiter && p.other == other)
            return path_pair_ns(&p);
    return 0;
}

static void path_matrix_row(struct table *t, const struct report *r, const struct matrix *m, size_t row, size_t columns)
{
    struct upmu_overview_thread of = {.size = sizeof of};
    const struct path_sum *w = &m->waiters.all[row];
    uint64_t shown = 0;
    if (upmu_overview_thread_at(r->overview, w->of, &of) != 0)
        return;
    table_cell(t, STYLE_PLAIN, "%ld", (long)of.tid);
    table_cell(t, STYLE_PLAIN, "%s", of.name);
    for (size_t i = 0; i < columns; i++) {
        uint64_t ns = path_matrix_cell(r, w->of, m->others.all[i].of);
        shown += ns;
        cell_duration(t, ns);
    }
    cell_duration(t, w->ns - shown);
    cell_duration(t, w->ns);
}

static void path_matrix_table(struct output *out, const struct report *r, const struct matrix *m, uint32_t process)
{
    struct table_column columns[TABLE_COLUMNS_MAX] = {{"THREAD", true}, {"NAME", TABLE_NAME}};
    char *titles[MATRIX_COLUMNS];
    struct table t;
    size_t n = m->others.n < MATRIX_COLUMNS ? m->others.n : MATRIX_COLUMNS, rows = 0;

    for (size_t i = 0; i < n; i++) {
        titles[i] = path_thread_title(r, m->others.all[i].of);
        columns[i + 2] = (struct table_column){titles[i], true};
    }
    columns[n + 2] = (struct table_column){"OTHERS", true};
    columns[n + 3] = (struct table_column){"ALL", true};
    report_title(out, m->unfinished ? "Waits between threads (unfinished waits count up to the end)"
                                    : "Waits between threads");
    if (r->totals.n_processes > 1)
        report_text_process(out, r, "  in process ", process, "\n");
    table_begin(&t, columns, n + 4);
    for (; rows < m->waiters.n && rows < r->top; rows++)
        path_matrix_row(&t, r, m, rows, n);
    table_end(&t, out, 2);
    report_more(out, m->waiters.n, rows);
    for (size_t i = 0; i < n; i++)
        free(titles[i]);
}

void report_text_matrix(struct output *out, const struct report *r)
{
    for (uint32_t process = 0; process < r->totals.n_processes; process++) {
        struct matrix m;
        path_matrix_read(r, process, &m);
        if (m.waiters.n > 0)
            path_matrix_table(out, r, &m, process);
        free(m.waiters.all);
        free(m.others.all);
    }
}

/* -------------------------------------------------------------------------------------------------------- path */

/* Shares are of the time in which recording was not stopped. */
static uint64_t path_recorded_ns(const struct upmu_overview_path *p)
{
    return p->end_ns - p->begin_ns - p->stopped_ns;
}

static double path_percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* Why a part of the path is not recorded. */
static const char *path_stopped_text(const struct report *r, uint32_t process)
{
    struct upmu_overview_recorded of = {.size = sizeof of};
    struct upmu_trace_process p = {.size = sizeof p};
    bool lost = upmu_overview_process_at(r->overview, process, &p) == 0 && p.lost_any > 0;
    if (!lost || upmu_overview_recorded_at(r->overview, process, &of) != 0)
        return report_stopped_text(r, process);
    return of.stops == 0 ? "events of the thread were lost" : "recording was stopped or events of the thread were lost";
}

static void path_text_sum(struct output *out, const struct report *r, uint32_t process,
                          const struct upmu_overview_path *p)
{
    uint64_t all = path_recorded_ns(p);
    char *length = report_duration(all), *run = report_duration(p->run_ns), *wake = report_duration(p->wake_ns),
         *unknown = report_duration(p->unknown_ns);
    if (r->totals.n_processes > 1)
        report_text_process(out, r, "  process ", process, ": ");
    else
        fputs("  ", out->file);
    fprintf(out->file, "%s: %s running (%.1f %%)", length, run, path_percent(p->run_ns, all));
    if (p->handoffs)
        fprintf(out->file, ", %s in wakeups (%.1f %%)", wake, path_percent(p->wake_ns, all));
    if (p->unknown_ns)
        fprintf(out->file, ", %s in waits that no recorded thread of it ended (%.1f %%)", unknown,
                path_percent(p->unknown_ns, all));
    if (p->handoffs)
        fprintf(out->file, "; %" PRIu64 " %s between threads", p->handoffs, p->handoffs == 1 ? "switch" : "switches");
    if (report_was_stopped(p->stopped_ns, p->end_ns - p->begin_ns)) {
        char *stopped = report_duration(p->stopped_ns);
        fprintf(out->file, "; without %s in which %s", stopped, path_stopped_text(r, process));
        free(stopped);
    }
    fputc('\n', out->file);
    free(length);
    free(run);
    free(wake);
    free(unknown);
}

/* The CPU time of a thread, if recorded: from the kernel's switch records, its task-clock, or at its end. */
static bool path_thread_on_cpu(const struct report *r, size_t thread, const struct upmu_overview_thread *of,
                               uint64_t *ns)
{
    struct upmu_overview_sched sched = {.size = sizeof sched};
    const char *counter;
    if (upmu_overview_sched_at(r->overview, thread, &sched) == 0 && sched.recorded && sched.unknown_ns == 0) {
        *ns = sched.running_ns;
        return true;
    }
    for (size_t i = 0; i < of->n_counts && (counter = upmu_overview_counter_name(r->overview, of->process, i)); i++) {
        if (strcmp(counter, "task-clock") != 0 || of->counts[i].sum.status != UPMU_EXACT)
            continue;
        *ns = of->counts[i].sum.value;
        return true;
    }
    *ns = of->cpu_ns;
    return of->cpu_ns != UPMU_NO_VALUE;
}

/* Most of what lies on the path is then neither a wait on record nor work: a person must not look for work there. */
static void path_doubt(struct output *out, const struct upmu_overview_thread *of, uint64_t on_path, uint64_t on_cpu)
{
    char *cpu = report_duration(on_cpu), *path = report_duration(on_path), *ready = report_duration(of->ready_ns);
    fprintf(out->file, "  thread %ld ran for %s in total, but is on the path for %s: ", (long)of->tid, cpu, path);
    if (of->ready_ns != UPMU_NO_VALUE && on_cpu + of->ready_ns >= on_path / 2)
        fprintf(out->file, "it was ready without a CPU for %s in total\n", ready);
    else
        fputs("the rest is preemption or waits that are\n"
              "  not recorded, as for pages of memory\n",
              out->file);
    free(ready);
    free(cpu);
    free(path);
}

static void path_doubts(struct output *out, const struct report *r, const struct path_sums *threads, size_t rows)
{
    enum { WORTH_A_WORD_NS = 1000000 };
    struct upmu_overview_thread of = {.size = sizeof of};
    uint64_t on_cpu;
    for (size_t i = 0; i < rows; i++) {
        uint64_t ns = threads->all[i].ns;
        if (ns >= WORTH_A_WORD_NS && upmu_overview_thread_at(r->overview, threads->all[i].of, &of) == 0 &&
            path_thread_on_cpu(r, threads->all[i].of, &of, &on_cpu) && on_cpu < ns / 2)
            path_doubt(out, &of, ns, on_cpu);
    }
}

static void path_threads_table(struct output *out, const struct report *r, const struct path_sums *threads,
                               uint64_t all)
{
    static const struct table_column columns[] = {
        {"THREAD", true}, {"NAME", TABLE_NAME}, {"RUNNING ON PATH", true}, {"SHARE", true}};
    struct upmu_overview_thread of = {.size = sizeof of};
    struct table t;
    size_t rows = 0;
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (; rows < threads->n && rows < r->top; rows++) {
        if (upmu_overview_thread_at(r->overview, threads->all[rows].of, &of) != 0)
            break;
        table_cell(&t, STYLE_PLAIN, "%ld", (long)of.tid);
        table_cell(&t, STYLE_PLAIN, "%s", of.name);
        cell_duration(&t, threads->all[rows].ns);
        cell_share(&t, threads->all[rows].ns, all);
    }
    table_end(&t, out, 2);
    report_more(out, threads->n, rows);
}

static void path_threads(struct output *out, const struct report *r, uint32_t process,
                         const struct upmu_overview_path *p)
{
    struct upmu_overview_path_segment s = {.size = sizeof s};
    struct path_sums threads = path_sums_begin(r);
    for (size_t i = 0; upmu_overview_path_segment_at(r->overview, process, i, &s) == 0; i++)
        if (s.kind == UPMU_PATH_RUNNING)
            path_sums_add(&threads, s.thread, s.end_ns - s.begin_ns);
    path_sums_sort(&threads);
    if (p->handoffs > 0) /* else it is the path's one thread */
        path_threads_table(out, r, &threads, path_recorded_ns(p));
    path_doubts(out, r, &threads, threads.n < r->top ? threads.n : r->top);
    free(threads.all);
}

static void path_cell_gain(struct table *t, uint64_t ns, uint64_t all)
{
    char *text = ns == UPMU_NO_VALUE ? memory_copy("") : report_duration(ns);
    if (ns == UPMU_NO_VALUE)
        table_cell(t, STYLE_PLAIN, "%s", text);
    else
        table_cell(t, STYLE_PLAIN, "%s (%.1f %%)", text, path_percent(ns, all));
    free(text);
}

static void path_objects(struct output *out, const struct report *r, uint32_t process,
                         const struct upmu_overview_path *p)
{
    static const struct table_column columns[] = {
        {"OBJECT", TABLE_NAME}, {"KIND", false},           {"HELD ON PATH", true},
        {"SHARE", true},        {"WAITED ON PATH", true},  {"WAKEUPS", true},
        {"WAKEUP TIME", true},  {"GAIN IF REMOVED", true}, {"GAIN IF HALVED", true},
    };
    struct upmu_overview_path_object l = {.size = sizeof l};
    struct upmu_overview_object o = {.size = sizeof o};
    uint64_t all = path_recorded_ns(p);
    struct table t;
    size_t i = 0;

    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (; i < r->top && upmu_overview_path_object_at(r->overview, process, i, &l) == 0 &&
           upmu_overview_object_at(r->overview, l.object, &o) == 0;
         i++) {
        cell_free(&t, STYLE_PLAIN, report_object_name(r, &o));
        table_cell(&t, STYLE_PLAIN, "%s", report_type_name(o.type));
        cell_duration(&t, l.held_ns);
        cell_share(&t, l.held_ns, all);
        cell_duration(&t, l.unknown_ns);
        cell_free(&t, STYLE_PLAIN, l.wakes ? memory_format("%" PRIu64, l.wakes) : memory_copy(""));
        cell_duration(&t, l.wake_ns);
        path_cell_gain(&t, l.gain_ns, all);
        path_cell_gain(&t, l.gain_half_ns, all);
    }
    table_end(&t, out, 2);
    report_more(out, p->n_objects, i);
}

static uint64_t path_length(const struct report *r, uint32_t process)
{
    struct upmu_overview_path p = {.size = sizeof p};
    if (upmu_overview_path_read(r->overview, process, &p) != 0 || p.handoffs + p.n_objects == 0)
        return 0;
    return p.end_ns - p.begin_ns;
}

/* Processes with something on their paths, the longest first. To be freed. */
static struct path_sum *path_processes(const struct report *r, size_t *n)
{
    struct path_sum *all = memory_array(r->totals.n_processes + 1, sizeof *all);
    *n = 0;
    for (uint32_t i = 0; i < r->totals.n_processes; i++)
        if (path_length(r, i) > 0)
            all[(*n)++] = (struct path_sum){.of = i, .ns = path_length(r, i)};
    qsort(all, *n, sizeof *all, path_compare_sums);
    return all;
}

void report_text_paths(struct output *out, const struct report *r)
{
    struct upmu_overview_path p = {.size = sizeof p};
    size_t n, shown = 0;
    struct path_sum *processes = path_processes(r, &n);
    if (n > 0)
        report_title(out, "Critical path: what determined the run time, and what shorter critical sections would gain");
    for (; shown < n && shown < r->top; shown++) {
        uint32_t process = processes[shown].of;
        if (upmu_overview_path_read(r->overview, process, &p) != 0)
            continue;
        path_text_sum(out, r, process, &p);
        path_threads(out, r, process, &p);
        path_objects(out, r, process, &p);
    }
    report_more(out, n, shown);
    free(processes);
}
