/* SPDX-License-Identifier: MIT */
/* upmu report: how threads ran, by the kernel's records of their switches. Room: tools/upmu. Before it: report_text.c,
 * report_json.c; after it: the overview. */
#include <inttypes.h>

#include "json.h"
#include "report.h"
#include "report_cells.h"

static void cell_part(struct table *t, uint64_t ns, uint64_t life)
{
    cell_duration(t, ns);
    cell_share(t, ns, life);
}

static void text_row(struct table *table, const struct upmu_overview_thread *t, const struct upmu_overview_sched *s)
{
    uint64_t life = t->end_ns - t->begin_ns;
    table_cell(table, STYLE_PLAIN, "%ld", (long)t->tid);
    table_cell(table, STYLE_PLAIN, "%s", report_thread_name(t));
    cell_part(table, s->running_ns, life);
    cell_part(table, s->preempted_ns, life);
    cell_part(table, s->blocked_ns, life);
    cell_part(table, s->unknown_ns, life);
    cell_count(table, s->voluntary, s->lost == 0);
    cell_count(table, s->involuntary, s->lost == 0);
}

static void text_notes(struct output *out, const struct report *r)
{
    struct upmu_trace_process p = {.size = sizeof p};
    for (size_t i = 0; upmu_overview_process(r->overview, i, &p) == 0; i++)
        if (p.sched_note[0]) {
            fprintf(out->file, "  %sprocess %ld: switches were not recorded:%s ", output_style(out, STYLE_WARNING),
                    (long)p.pid, output_plain(out));
            output_clean(out->file, p.sched_note);
            fputc('\n', out->file);
        }
}

void report_text_sched(struct output *out, const struct report *r)
{
    static const struct table_column columns[] = {
        {"THREAD", true},    {"NAME", false}, {"RUNNING", true},   {"SHARE", true},
        {"PREEMPTED", true}, {"SHARE", true}, {"BLOCKED", true},   {"SHARE", true},
        {"UNKNOWN", true},   {"SHARE", true}, {"VOLUNTARY", true}, {"INVOLUNTARY", true},
    };
    struct upmu_overview_thread t = {.size = sizeof t};
    struct upmu_overview_sched s = {.size = sizeof s};
    struct table table;
    size_t told = 0;
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; upmu_overview_thread(r->overview, i, &t) == 0 && upmu_overview_sched(r->overview, i, &s) == 0;
         i++)
        if (s.told && told++ < r->top)
            text_row(&table, &t, &s);
    if (told > 0)
        report_title(out, "How threads ran, by the kernel's records of their switches");
    table_end(&table, out, 2);
    report_more(out, told, told < r->top ? told : r->top);
    text_notes(out, r);
}

void report_json_sched(struct json *j, const struct report *r, size_t i)
{
    struct upmu_overview_sched s = {.size = sizeof s};
    if (upmu_overview_sched(r->overview, i, &s) != 0 || !s.told) {
        json_null(j, "sched");
        return;
    }
    json_object(j, "sched");
    json_uint(j, "running_ns", s.running_ns);
    json_uint(j, "preempted_ns", s.preempted_ns);
    json_uint(j, "blocked_ns", s.blocked_ns);
    json_uint(j, "unknown_ns", s.unknown_ns);
    json_uint(j, "voluntary", s.voluntary);
    json_uint(j, "involuntary", s.involuntary);
    json_uint(j, "lost", s.lost);
    json_object_end(j);
}
