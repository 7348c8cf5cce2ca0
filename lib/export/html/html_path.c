/* SPDX-License-Identifier: MIT */
/* Critical paths: sums as JSON, segments as columns. */
#include "export/html/html.h"

#include "facts/facts.h"

static void path_write_objects(const struct export_job *job, struct textbuf *b, size_t process)
{
    struct upmu_overview_path_object o = {.size = sizeof o};
    json_array(b, "objects");
    for (size_t i = 0; upmu_overview_path_object_at(job->facts, process, i, &o) == 0; i++) {
        json_object(b, NULL);
        json_uint(b, "object", o.object);
        facts_path_object(b, &o);
        json_object_end(b);
    }
    json_array_end(b);
}

int html_paths_write(struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_path p = {.size = sizeof p};
    int rc = 0;
    json_array(b, "paths");
    for (size_t i = 0; i < job->facts->pass.n_processes; i++) {
        rc = upmu_overview_path_read(job->facts, i, &p);
        if (rc != 0)
            return rc;
        json_object(b, NULL);
        json_uint(b, "begin", html_since(job->html, p.begin_ns));
        json_uint(b, "end", html_since(job->html, p.end_ns));
        json_uint(b, "early", p.begin_ns < job->html->base_ns ? job->html->base_ns - p.begin_ns : 0);
        facts_path(b, &p);
        json_uint(b, "steps", p.n_segments);
        path_write_objects(job, b, i);
        json_object_end(b);
    }
    json_array_end(b);
    return 0;
}

typedef uint64_t (*step_number)(const struct upmu_overview_path_segment *s);

static uint64_t path_segment_kind(const struct upmu_overview_path_segment *s)
{
    return (uint64_t)s->kind;
}

static uint64_t path_segment_thread(const struct upmu_overview_path_segment *s)
{
    return s->thread;
}

static uint64_t path_segment_ns(const struct upmu_overview_path_segment *s)
{
    return s->end_ns - s->begin_ns;
}

/* Plus one; 0: none. */
static uint64_t path_segment_waker(const struct upmu_overview_path_segment *s)
{
    return s->waker == UPMU_NO_INDEX ? 0 : (uint64_t)s->waker + 1;
}

static uint64_t path_segment_object(const struct upmu_overview_path_segment *s)
{
    return s->object == UPMU_NO_INDEX ? 0 : (uint64_t)s->object + 1;
}

/* Each segment begins where the preceding one ends: lengths suffice. */
int html_path_columns(struct export_job *job)
{
    static const struct {
        const char *name;
        step_number number;
    } columns[] = {{"path.kind", path_segment_kind},
                   {"path.thread", path_segment_thread},
                   {"path.ns", path_segment_ns},
                   {"path.waker", path_segment_waker},
                   {"path.object", path_segment_object}};
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
