/* SPDX-License-Identifier: MIT */
/* Source lines with waits, or where a contended lock was acquired, by wait time: for the issue lists of IDEs. */
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LOCATIONS_MAX = 200 }; /* as many as a reader looks through */

struct source_location {
    size_t object, site;
    uint64_t ns; /* waits here; waits of other threads for a lock acquired here */
};

struct locations {
    struct source_location *list;
    size_t n, capacity;
};

static int location_by_time(const void *a, const void *b)
{
    const struct source_location *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return x->site < y->site ? -1 : x->site > y->site;
}

static int locations_add(struct locations *p, struct source_location location)
{
    struct source_location *list = array_reserve(p->list, p->n, &p->capacity, sizeof *list);
    if (!list)
        return export_no_memory();
    p->list = list;
    p->list[p->n++] = location;
    return 0;
}

static int locations_collect(const struct export_job *job, struct locations *p)
{
    struct upmu_overview_object o = {.size = sizeof o};
    struct upmu_overview_call_site s = {.size = sizeof s};
    for (size_t i = 0; upmu_overview_object_at(job->facts, i, &o) == 0; i++) {
        for (size_t k = 0; upmu_overview_call_site_at(job->facts, i, k, &s) == 0; k++) {
            uint64_t ns = s.waits.total_ns + s.waits.unfinished_ns + s.blocked_ns;
            int rc = s.address != 0 && ns > 0 ? locations_add(p, (struct source_location){i, k, ns}) : 0;
            if (rc < 0)
                return rc;
        }
    }
    if (p->n > 1)
        qsort(p->list, p->n, sizeof *p->list, location_by_time);
    return 0;
}

static double locations_milliseconds(uint64_t ns)
{
    return (double)ns / 1e6;
}

/* "mutex the till: 3 waits here, 12.500 ms, the longest 8.000 ms; acquired here, 2 waits of others, 9.000 ms" */
static void locations_message(struct textbuf *out, const char *object, const struct upmu_overview_call_site *s)
{
    uint64_t waits = s->waits.count + s->waits.unfinished;
    export_plain(out, object, "");
    if (waits > 0)
        textbuf_printf(out, ": %" PRIu64 " wait%s here, %.3f ms", waits, waits == 1 ? "" : "s",
                       locations_milliseconds(s->waits.total_ns + s->waits.unfinished_ns));
    if (waits > 1 && s->waits.max_ns > 0)
        textbuf_printf(out, ", the longest %.3f ms", locations_milliseconds(s->waits.max_ns));
    if (s->waits.unfinished > 0)
        textbuf_printf(out, ", %" PRIu64 " of them unfinished", s->waits.unfinished);
    if (s->blocked > 0)
        textbuf_printf(out, "%s acquired here, %" PRIu64 " wait%s of others meanwhile, %.3f ms", waits > 0 ? ";" : ":",
                       s->blocked, s->blocked == 1 ? "" : "s", locations_milliseconds(s->blocked_ns));
}

/* Without a known line, the function or module replaces the file. */
static bool location_symbol(struct export_job *job, const struct upmu_overview_object *o, uint64_t address,
                            struct upmu_symbol *s)
{
    return upmu_overview_line_at(job->facts, o->process, address, 0, s) == 0 && (s->file || s->module);
}

typedef void (*location_fn)(struct export_job *job, const char *object, const struct upmu_overview_call_site *site,
                            const struct upmu_symbol *symbol);

static int locations_write(struct export_job *job, location_fn line)
{
    struct locations p = {0};
    struct upmu_overview_object o = {.size = sizeof o};
    struct upmu_overview_call_site s = {.size = sizeof s};
    struct upmu_symbol symbol = {.size = sizeof symbol};
    int rc = locations_collect(job, &p);
    for (size_t i = 0; rc == 0 && i < p.n; i++) {
        bool counted = i < LOCATIONS_MAX && upmu_overview_object_at(job->facts, p.list[i].object, &o) == 0 &&
                       upmu_overview_call_site_at(job->facts, p.list[i].object, p.list[i].site, &s) == 0 &&
                       location_symbol(job, &o, s.address, &symbol);
        if (counted)
            line(job, export_object_name(job, job->facts->pass.object_order[p.list[i].object]), &s, &symbol);
        job->left_out += !counted;
        rc = export_flush(job);
    }
    free(p.list);
    return rc;
}

static void tasks_write_line(struct export_job *job, const char *object, const struct upmu_overview_call_site *site,
                             const struct upmu_symbol *symbol)
{
    export_plain(&job->out, symbol->file ? symbol->file : symbol->module, "");
    textbuf_printf(&job->out, "\t%ld\twarn\t", symbol->file ? (long)symbol->line : -1L);
    locations_message(&job->out, object, site);
    export_text(&job->out, "\n");
}

static int tasks_finish(struct export_job *job)
{
    return locations_write(job, tasks_write_line);
}

static void gcc_write_line(struct export_job *job, const char *object, const struct upmu_overview_call_site *site,
                           const struct upmu_symbol *symbol)
{
    export_plain(&job->out, symbol->file ? symbol->file : symbol->module, "");
    if (symbol->file)
        textbuf_printf(&job->out, ":%" PRIu32 ": warning: ", symbol->line);
    else
        textbuf_printf(&job->out, "+0x%" PRIx64 ": warning: ", symbol->offset);
    locations_message(&job->out, object, site);
    export_text(&job->out, " [contention]\n");
}

static int gcc_finish(struct export_job *job)
{
    return locations_write(job, gcc_write_line);
}

const struct export_format export_tasks = {
    .name = "tasks",
    .suffix = "tasks",
    .window = EXPORT_WINDOW_NONE,
    .summary = "lines where threads waited or made others wait, for Qt Creator's list of issues",
    .finish = tasks_finish,
};

const struct export_format export_gcc = {
    .name = "gcc",
    .suffix = "txt",
    .window = EXPORT_WINDOW_NONE,
    .summary = "the same lines as a compiler's warnings, for any editor",
    .finish = gcc_finish,
};
