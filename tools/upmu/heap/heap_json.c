/* SPDX-License-Identifier: MIT */
/* Heap as JSON. */
#include "heap.h"
#include "report/report.h"
#include "ui/json.h"

static void json_stack(struct textbuf *j, const struct heap_report *r, const struct upmu_heap_path *k)
{
    struct upmu_symbol s = UPMU_INIT(struct upmu_symbol);
    json_array(j, "stack");
    for (size_t i = 0; k->stack && upmu_overview_frame_at(r->overview, k->process, k->stack, i, &s) == 0; i++) {
        json_object(j, NULL);
        json_string(j, "function", s.function);
        json_string(j, "file", s.file);
        json_uint_if(j, "line", s.line != 0, s.line);
        json_string(j, "module", s.module);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_rows(struct textbuf *j, const struct heap_report *r, uint64_t process)
{
    size_t n = 0;
    json_array(j, "sites");
    for (size_t i = 0; i < r->n_rows; i++) {
        const struct heap_row *row = &r->rows[i];
        if (row->sum.process != process || n++ >= r->top)
            continue;
        json_object(j, NULL);
        json_string(j, "name", row->name);
        json_string(j, "function", row->function);
        json_string(j, "file", row->file);
        json_uint_if(j, "line", row->line != 0, row->line);
        json_uint(j, "paths", row->paths);
        json_uint(j, "samples", row->sum.samples);
        json_uint(j, "peak_bytes", row->sum.peak_bytes);
        json_uint(j, "live_bytes", row->sum.live_bytes);
        json_uint(j, "live_blocks", row->sum.live_blocks);
        json_uint(j, "allocated_bytes", row->sum.allocated_bytes);
        json_uint(j, "allocated_blocks", row->sum.allocated_blocks);
        json_stack(j, r, &row->sum);
        json_object_end(j);
    }
    json_array_end(j);
}

/* Forked children of a process whose allocations are missing. */
static void json_children(struct textbuf *j, const struct heap_report *r, uint64_t process)
{
    struct upmu_trace_process p = UPMU_INIT(struct upmu_trace_process);
    if (upmu_overview_process_at(r->overview, process, &p) != 0)
        return;
    json_uint_if(j, "children_filtered", p.children_filtered != 0, p.children_filtered);
    json_uint_if(j, "children_failed", p.children_failed != 0, p.children_failed);
}

void heap_write_json(struct output *out, const struct heap_report *r)
{
    struct upmu_heap_process p = UPMU_INIT(struct upmu_heap_process);
    struct json_document doc;
    struct textbuf *j = json_begin(&doc, out->file, "upmu-heap");
    json_string(j, "dir", r->dir);
    report_json_stretch(j, r->overview);
    json_array(j, "processes");
    for (size_t i = 0; upmu_heap_process_at(r->heap, i, &p) == 0; i++) {
        json_object(j, NULL);
        json_int(j, "pid", p.pid);
        json_uint(j, "period", p.period);
        json_uint(j, "samples", p.samples);
        json_uint(j, "allocated_bytes", p.allocated_bytes);
        json_uint(j, "allocated_blocks", p.allocated_blocks);
        json_uint(j, "live_bytes", p.live_bytes);
        json_uint(j, "live_blocks", p.live_blocks);
        json_uint(j, "peak_bytes", p.peak_bytes);
        json_uint(j, "peak_ns", p.peak_ns);
        json_uint(j, "strays", p.strays);
        json_children(j, r, p.process);
        json_rows(j, r, p.process);
        json_object_end(j);
    }
    json_array_end(j);
    json_end(&doc);
}
