/* SPDX-License-Identifier: MIT */
/* Heap as text: processes, and where they allocate. */
#include <inttypes.h>
#include <stdlib.h>

#include "heap.h"
#include "report/report.h"
#include "report/report_cells.h"
#include "ui/disk.h"
#include "ui/memory.h"
#include "ui/table.h"
#include "upmu/trace.h"

static void text_process(struct output *out, const struct heap_report *r, const struct upmu_heap_process *p)
{
    struct upmu_overview_totals totals = UPMU_INIT(struct upmu_overview_totals);
    char *period = disk_size((double)p->period), *all = disk_size((double)p->allocated_bytes);
    char *peak = disk_size((double)p->peak_bytes), *live = disk_size((double)p->live_bytes);
    fprintf(out->file, "%sHeap of ", output_style(out, STYLE_TITLE));
    output_clean(out->file, r->dir);
    report_text_stretch(out, r->overview);
    fprintf(out->file,
            ", process %d: %" PRIu64 " sample%s, %s%s%s\n  allocated %s in %" PRIu64
            " blocks; live at the end %s in %" PRIu64 " blocks; peak %s",
            (int)p->pid, p->samples, p->samples == 1 ? "" : "s", p->period == 1 ? "of every block" : "one every ",
            p->period == 1 ? "" : period, output_plain(out), all, p->allocated_blocks, live, p->live_blocks, peak);
    if (upmu_overview_totals_read(r->overview, &totals) == 0 && p->peak_ns >= totals.begin_ns) {
        char *time = report_duration(p->peak_ns - totals.begin_ns);
        fprintf(out->file, " after %s", time);
        free(time);
    }
    fputc('\n', out->file);
    if (p->strays)
        fprintf(out->file, "  %s%" PRIu64 " blocks were freed whose allocation is not in the recording%s\n",
                output_style(out, STYLE_WARNING), p->strays, output_plain(out));
    free(period);
    free(all);
    free(peak);
    free(live);
}

static void text_rows(struct output *out, const struct heap_report *r, const struct upmu_heap_process *p)
{
    static const struct table_column columns[] = {
        {"PEAK", TABLE_NUMBER},      {"SHARE", TABLE_NUMBER},  {"LIVE", TABLE_NUMBER},    {"BLOCKS", TABLE_NUMBER},
        {"ALLOCATED", TABLE_NUMBER}, {"BLOCKS", TABLE_NUMBER}, {"SAMPLES", TABLE_NUMBER}, {"CALL SITE", TABLE_NAME}};
    struct table t;
    size_t all = 0;
    report_title(out,
                 "Call sites by bytes at the peak (LIVE: at the end, ALLOCATED: in total; estimates from samples)");
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < r->n_rows; i++) {
        const struct upmu_heap_path *k = &r->rows[i].sum;
        if (k->process != p->process || all++ >= r->top)
            continue;
        cell_free(&t, STYLE_PLAIN, disk_size((double)k->peak_bytes));
        cell_share(&t, k->peak_bytes, p->peak_bytes);
        cell_free(&t, STYLE_PLAIN, disk_size((double)k->live_bytes));
        cell_count(&t, k->live_blocks, true);
        cell_free(&t, STYLE_PLAIN, disk_size((double)k->allocated_bytes));
        cell_count(&t, k->allocated_blocks, true);
        cell_count(&t, k->samples, true);
        table_cell(&t, STYLE_PLAIN, "%s", r->rows[i].name);
    }
    table_end(&t, out, 2);
    report_more(out, all, all < r->top ? all : r->top);
}

/* The call stack of the site with the most bytes at the peak. */
static void text_stack(struct output *out, const struct heap_report *r, const struct upmu_heap_process *p)
{
    struct upmu_symbol s = UPMU_INIT(struct upmu_symbol);
    size_t at = 0;
    while (at < r->n_rows && r->rows[at].sum.process != p->process)
        at++;
    if (at == r->n_rows || r->rows[at].sum.stack == 0)
        return;
    report_title(out, "Call stack of the first one");
    for (size_t i = 0; upmu_overview_frame_at(r->overview, p->process, r->rows[at].sum.stack, i, &s) == 0; i++) {
        fputs("  ", out->file);
        output_clean(out->file, s.function ? s.function : "?");
        if (s.file && s.line) {
            fputc(' ', out->file);
            output_clean(out->file, s.file);
            fprintf(out->file, ":%" PRIu32, s.line);
        }
        fputc('\n', out->file);
    }
}

/* What forked children allocated outside of the recording. */
static void text_children(struct output *out, const struct heap_report *r)
{
    struct upmu_trace_process p = UPMU_INIT(struct upmu_trace_process);
    uint64_t missing = 0;
    for (size_t i = 0; upmu_overview_process_at(r->overview, i, &p) == 0; i++)
        missing += (uint64_t)p.children_filtered + p.children_failed;
    if (missing > 0)
        fprintf(out->file, "\n%s%" PRIu64 " forked child%s not be recorded: what they allocated is missing%s\n",
                output_style(out, STYLE_WARNING), missing, missing == 1 ? " could" : "ren could", output_plain(out));
}

void heap_write_text(struct output *out, const struct heap_report *r)
{
    struct upmu_heap_process p = UPMU_INIT(struct upmu_heap_process);
    for (size_t i = 0; upmu_heap_process_at(r->heap, i, &p) == 0; i++) {
        if (i > 0)
            fputc('\n', out->file);
        text_process(out, r, &p);
        text_rows(out, r, &p);
        text_stack(out, r, &p);
    }
    text_children(out, r);
}
