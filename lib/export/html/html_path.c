/* SPDX-License-Identifier: MIT */
/* The critical paths: what they are made of as JSON, their steps as columns. Room: export. Before it: html.c; after it:
 * the page's model.js. */
#include "export/html/html.h"

static void write_objects(const struct export_job *job, struct textbuf *b, size_t process)
{
    struct upmu_overview_path_object o = {.size = sizeof o};
    html_key(b, "objects");
    html_open(b, '[');
    for (size_t i = 0; upmu_overview_path_object_at(job->facts, process, i, &o) == 0; i++) {
        html_open(b, '{');
        html_pair(b, "object", o.object);
        html_pair(b, "held", o.held_ns);
        html_pair(b, "wakes", o.wakes);
        html_pair(b, "wake", o.wake_ns);
        html_pair(b, "unknown", o.unknown_ns);
        html_pair_value(b, "gain", o.gain_ns);
        html_pair_value(b, "gainHalf", o.gain_half_ns);
        html_close(b, '}');
    }
    html_close(b, ']');
}

int html_paths_write(struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_path p = {.size = sizeof p};
    int rc = 0;
    html_key(b, "paths");
    html_open(b, '[');
    for (size_t i = 0; i < job->facts->pass.n_processes; i++) {
        rc = upmu_overview_path_read(job->facts, i, &p);
        if (rc != 0)
            return rc;
        html_open(b, '{');
        html_pair(b, "begin", html_since(job->html, p.begin_ns));
        html_pair(b, "end", html_since(job->html, p.end_ns));
        html_pair(b, "early", p.begin_ns < job->html->base_ns ? job->html->base_ns - p.begin_ns : 0);
        html_pair(b, "run", p.run_ns);
        html_pair(b, "wake", p.wake_ns);
        html_pair(b, "unknown", p.unknown_ns);
        html_pair(b, "hops", p.handoffs);
        html_pair(b, "steps", p.n_segments);
        write_objects(job, b, i);
        html_close(b, '}');
    }
    html_close(b, ']');
    return 0;
}

typedef uint64_t (*step_number)(const struct upmu_overview_path_segment *s);

static uint64_t step_kind(const struct upmu_overview_path_segment *s)
{
    return (uint64_t)s->kind;
}

static uint64_t step_thread(const struct upmu_overview_path_segment *s)
{
    return s->thread;
}

static uint64_t step_ns(const struct upmu_overview_path_segment *s)
{
    return s->end_ns - s->begin_ns;
}

/* Each step begins where the one before it ends: lengths are enough. */
int html_path_columns(struct export_job *job)
{
    static const struct {
        const char *name;
        step_number number;
    } columns[] = {{"path.kind", step_kind}, {"path.thread", step_thread}, {"path.ns", step_ns}};
    int rc = 0;
    for (size_t c = 0; rc == 0 && c < sizeof columns / sizeof *columns; c++) {
        struct upmu_overview_path_segment s = {.size = sizeof s};
        struct textbuf b = {0};
        size_t n = 0;
        for (size_t process = 0; process < job->facts->pass.n_processes; process++)
            for (size_t i = 0; upmu_overview_path_segment_at(job->facts, process, i, &s) == 0; i++, n++)
                html_varint(&b, columns[c].number(&s));
        rc = html_pack_section(job, columns[c].name, n, &b);
        textbuf_free(&b);
    }
    return rc;
}
