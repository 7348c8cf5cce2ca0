/* SPDX-License-Identifier: MIT */
/* OpenMP as text: processes, threads, regions, constructs. */
#include <inttypes.h>
#include <stdlib.h>

#include "openmp.h"
#include "report/report.h"
#include "report/report_cells.h"
#include "ui/memory.h"
#include "ui/table.h"

enum { REASONS_FROM = 5, COLUMNS_MAX = 20 };

static void text_process(struct output *out, const struct openmp_report *r, const struct upmu_openmp_process *p)
{
    char *time = report_duration(p->time_ns);
    fprintf(out->file, "%sOpenMP of ", output_style(out, STYLE_TITLE));
    output_clean(out->file, r->dir);
    report_text_stretch(out, r->overview);
    fprintf(out->file, ", process %d: ", (int)p->pid);
    output_clean(out->file, p->runtime[0] ? p->runtime : "unknown runtime");
    fprintf(out->file, "%s\n  %" PRIu64 " parallel region%s run by %" PRIu64 " thread%s in %s", output_plain(out),
            p->regions, p->regions == 1 ? "" : "s", p->threads, p->threads == 1 ? "" : "s", time);
    free(time);
    if (p->time_ns)
        fprintf(out->file, "; outside of regions (serial) %.1f %%",
                100 * (1 - (double)p->parallel_ns / (double)p->time_ns));
    fputc('\n', out->file);
    if (p->unfinished)
        fprintf(out->file,
                "  %s%" PRIu64
                " region%s had not ended at the end of the recording: up to the last event of the process%s\n",
                output_style(out, STYLE_WARNING), p->unfinished, p->unfinished == 1 ? "" : "s", output_plain(out));
    if (p->strays)
        fprintf(out->file, "  %s%" PRIu64 " events of unknown regions: some events are missing%s\n",
                output_style(out, STYLE_WARNING), p->strays, output_plain(out));
}

static void text_threads(struct output *out, const struct openmp_report *r, size_t process)
{
    static const struct table_column columns[] = {
        {"THREAD", TABLE_NUMBER}, {"TIME", TABLE_NUMBER},   {"WORK", TABLE_NUMBER}, {"SHARE", TABLE_NUMBER},
        {"WAIT", TABLE_NUMBER},   {"SERIAL", TABLE_NUMBER}, {"IDLE", TABLE_NUMBER}};
    struct upmu_openmp_thread k = {.size = sizeof k};
    struct table t;
    size_t all = 0;
    report_title(out, "Threads: work and waits in regions; serial and idle time outside");
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; upmu_openmp_thread_at(r->openmp, i, &k) == 0; i++) {
        if (k.process != process || k.time_ns == 0 || all++ >= r->top)
            continue;
        table_cell(&t, STYLE_PLAIN, "%" PRId32, k.tid);
        cell_duration(&t, k.time_ns);
        cell_duration(&t, k.work_ns);
        cell_share(&t, k.work_ns, k.time_ns);
        cell_duration(&t, k.wait_ns);
        cell_duration(&t, k.begins ? k.outside_ns : 0);
        cell_duration(&t, k.begins ? 0 : k.outside_ns);
    }
    table_end(&t, out, 2);
    report_more(out, all, all < r->top ? all : r->top);
}

static void text_regions(struct output *out, const struct openmp_report *r, size_t process)
{
    static const struct table_column columns[] = {
        {"REGION", TABLE_NAME}, {"COUNT", TABLE_NUMBER}, {"THREADS", TABLE_NUMBER}, {"ELAPSED", TABLE_NUMBER},
        {"WORK", TABLE_NUMBER}, {"WAIT", TABLE_NUMBER},  {"SHARE", TABLE_NUMBER},   {"NESTED", TABLE_NUMBER},
        {"GAIN", TABLE_NUMBER}, {"TASKS", TABLE_NUMBER}};
    struct upmu_openmp_region k = {.size = sizeof k};
    struct table t;
    size_t all = 0;
    report_title(out, "Parallel regions by elapsed time (GAIN: time saved if the work were divided evenly)");
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; upmu_openmp_region_at(r->openmp, i, &k) == 0; i++) {
        if (k.process != process || all++ >= r->top)
            continue;
        cell_free(&t, STYLE_PLAIN, openmp_region_name(r, &k));
        cell_count(&t, k.count, true);
        cell_count(&t, k.threads, true);
        cell_duration(&t, k.elapsed_ns);
        cell_duration(&t, k.work_ns);
        cell_duration(&t, k.wait_ns);
        cell_share(&t, k.wait_ns, k.time_ns);
        cell_duration(&t, k.nested_ns);
        cell_duration(&t, k.gain_ns);
        if (k.tasks)
            cell_count(&t, k.tasks, true);
        else
            table_cell(&t, STYLE_PLAIN, "%s", "");
    }
    table_end(&t, out, 2);
    report_more(out, all, all < r->top ? all : r->top);
}

static void text_member(struct table *t, const struct openmp_report *r, size_t region, size_t index,
                        const struct upmu_openmp_member *m)
{
    table_cell(t, STYLE_PLAIN, "%" PRIu32, m->number);
    table_cell(t, STYLE_PLAIN, "%" PRId32, m->tid);
    cell_duration(t, m->time_ns);
    cell_duration(t, m->work_ns);
    cell_duration(t, m->nested_ns);
    for (size_t i = 0; i < openmp_n_reasons; i++)
        cell_duration(t, upmu_openmp_region_wait_ns(r->openmp, region, index, openmp_reasons[i].construct));
}

static void text_members(struct output *out, const struct openmp_report *r, size_t region)
{
    struct table_column columns[COLUMNS_MAX] = {{"NUMBER", TABLE_NUMBER},
                                                {"THREAD", TABLE_NUMBER},
                                                {"TIME", TABLE_NUMBER},
                                                {"WORK", TABLE_NUMBER},
                                                {"NESTED", TABLE_NUMBER}};
    struct upmu_openmp_member m = {.size = sizeof m};
    struct table t;
    size_t i = 0;
    for (size_t k = 0; k < openmp_n_reasons; k++)
        columns[REASONS_FROM + k] = (struct table_column){openmp_reasons[k].title, TABLE_NUMBER};
    table_begin(&t, columns, REASONS_FROM + openmp_n_reasons);
    for (; upmu_openmp_member_at(r->openmp, region, i, &m) == 0; i++)
        if (i < r->top)
            text_member(&t, r, region, i, &m);
    table_end(&t, out, 2);
    report_more(out, i, i < r->top ? i : r->top);
}

/* The threads of each region that is shown. */
static void text_all_members(struct output *out, const struct openmp_report *r, size_t process)
{
    struct upmu_openmp_region k = {.size = sizeof k};
    size_t shown = 0;
    for (size_t i = 0; upmu_openmp_region_at(r->openmp, i, &k) == 0 && shown < r->top; i++) {
        if (k.process != process || k.wait_ns == 0)
            continue;
        char *name = openmp_region_name(r, &k), *title = memory_format("Work and waits: %s", name);
        report_title(out, title);
        free(title);
        free(name);
        text_members(out, r, i);
        shown++;
    }
}

static void text_constructs(struct output *out, const struct openmp_report *r, size_t process)
{
    static const struct table_column columns[] = {{"CONSTRUCT", TABLE_NAME}, {"COUNT", TABLE_NUMBER},
                                                  {"TIME", TABLE_NUMBER},    {"LONGEST", TABLE_NUMBER},
                                                  {"HELD", TABLE_NUMBER},    {"LONGEST", TABLE_NUMBER}};
    struct upmu_openmp_construct k = {.size = sizeof k};
    struct table t;
    size_t all = 0;
    report_title(out, "Constructs by time: waits for them; within loops, sections, single and tasks");
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; upmu_openmp_construct_at(r->openmp, i, &k) == 0; i++) {
        if (k.process != process || all++ >= r->top)
            continue;
        cell_free(&t, STYLE_PLAIN, openmp_construct_name(r, &k));
        cell_count(&t, k.count, true);
        cell_duration(&t, k.ns);
        cell_duration(&t, k.max_ns);
        cell_duration(&t, k.held_ns);
        cell_duration(&t, k.max_held_ns);
    }
    table_end(&t, out, 2);
    report_more(out, all, all < r->top ? all : r->top);
    if (all == 0)
        fputs("  none\n", out->file);
}

void openmp_write_text(struct output *out, const struct openmp_report *r)
{
    struct upmu_openmp_process p = {.size = sizeof p};
    size_t shown = 0;
    for (size_t i = 0; upmu_openmp_process_at(r->openmp, i, &p) == 0; i++) {
        if (p.time_ns == 0 && p.regions == 0)
            continue;
        if (shown++ > 0)
            fputc('\n', out->file);
        text_process(out, r, &p);
        text_threads(out, r, i);
        text_regions(out, r, i);
        text_all_members(out, r, i);
        text_constructs(out, r, i);
    }
}
