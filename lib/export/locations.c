/* SPDX-License-Identifier: MIT */
/* Source lines with waits, or where a contended lock was acquired, by wait time: for the issue lists of IDEs. */
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LOCATIONS_MAX = 200 }; /* as many as a reader looks through */

/* A call site of an object, or of all objects that were created, or first used, at one call site. */
struct source_location {
    size_t object; /**< the first of them */
    size_t n;
    uint64_t address;
    uint64_t ns; /**< waits here; waits of other threads for a lock acquired here */
    struct upmu_wait_sum waits;
    uint64_t blocked, blocked_ns;
};

struct locations {
    struct source_location *list;
    size_t n, capacity;
    struct map by_group; /**< label of the group, and address */
};

static int location_by_time(const void *a, const void *b)
{
    const struct source_location *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

static void location_sum(struct source_location *p, const struct upmu_overview_call_site *s)
{
    p->ns += s->waits.total_ns + s->waits.unfinished_ns + s->blocked_ns;
    p->waits.count += s->waits.count;
    p->waits.total_ns += s->waits.total_ns;
    p->waits.max_ns = s->waits.max_ns > p->waits.max_ns ? s->waits.max_ns : p->waits.max_ns;
    p->waits.unfinished += s->waits.unfinished;
    p->waits.unfinished_ns += s->waits.unfinished_ns;
    p->blocked += s->blocked;
    p->blocked_ns += s->blocked_ns;
    p->n++;
}

/* The label of an object's group in its process; MAP_NONE: it is in none, or without memory. */
static uint32_t location_group(struct export_job *job, const struct upmu_overview_object *o)
{
    bool folds = o->named_by == UPMU_IDENTITY_CREATED || o->named_by == UPMU_IDENTITY_FIRST_USE;
    return folds ? tree_label(&job->tree, o->group, upmu_object_type_name(o->type), NULL, o->process + 1) : MAP_NONE;
}

static int locations_add(struct locations *p, size_t object, uint32_t group, const struct upmu_overview_call_site *s)
{
    uint32_t at = group == MAP_NONE ? MAP_NONE : map_find(&p->by_group, group, s->address);
    if (p->list && at < p->n) {
        location_sum(&p->list[at], s);
        return 0;
    }
    struct source_location *list = array_reserve(p->list, p->n, &p->capacity, sizeof *list);
    if (!list)
        return export_no_memory();
    p->list = list;
    if (group != MAP_NONE && !map_put(&p->by_group, group, s->address, (uint32_t)p->n))
        return export_no_memory();
    list[p->n] = (struct source_location){.object = object, .address = s->address};
    location_sum(&list[p->n++], s);
    return 0;
}

static int locations_collect(struct export_job *job, struct locations *p)
{
    struct upmu_overview_object o = {.size = sizeof o};
    struct upmu_overview_call_site s = {.size = sizeof s};
    for (size_t i = 0; upmu_overview_object_at(job->facts, i, &o) == 0; i++) {
        uint32_t group = location_group(job, &o);
        for (size_t k = 0; upmu_overview_call_site_at(job->facts, i, k, &s) == 0; k++) {
            bool counts = s.address != 0 && s.waits.total_ns + s.waits.unfinished_ns + s.blocked_ns > 0;
            int rc = counts ? locations_add(p, i, group, &s) : 0;
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
static void locations_message(struct textbuf *out, const char *object, const struct source_location *s)
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

typedef void (*location_fn)(struct export_job *job, const char *object, const struct source_location *site,
                            const struct upmu_symbol *symbol);

/* "mutex the till"; of several locks "mutex Cache::Cache cache.cc:12 (40)". */
static void location_object(const struct export_job *job, const struct source_location *l,
                            const struct upmu_overview_object *o, struct textbuf *out)
{
    if (l->n == 1)
        textbuf_printf(out, "%s", export_object_name(job, job->facts->pass.object_order[l->object]));
    else
        textbuf_printf(out, "%s %s (%zu)", upmu_object_type_name(o->type), o->group, l->n);
}

static int locations_write(struct export_job *job, location_fn line)
{
    struct locations p = {0};
    struct upmu_overview_object o = {.size = sizeof o};
    struct upmu_symbol symbol = {.size = sizeof symbol};
    struct textbuf name = {0};
    int rc = locations_collect(job, &p);
    for (size_t i = 0; rc == 0 && i < p.n; i++) {
        const struct source_location *l = &p.list[i];
        bool counted = i < LOCATIONS_MAX && upmu_overview_object_at(job->facts, l->object, &o) == 0 &&
                       location_symbol(job, &o, l->address, &symbol);
        name.len = 0;
        location_object(job, l, &o, &name);
        if (counted && name.data)
            line(job, name.data, l, &symbol);
        job->left_out += !counted;
        rc = name.failed ? export_no_memory() : export_flush(job);
    }
    textbuf_free(&name);
    map_free(&p.by_group);
    free(p.list);
    return rc;
}

static void tasks_write_line(struct export_job *job, const char *object, const struct source_location *site,
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

static void gcc_write_line(struct export_job *job, const char *object, const struct source_location *site,
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
    .window = EXPORT_WINDOW_SUMS,
    .summary = "lines where threads waited or made others wait, for Qt Creator's list of issues",
    .finish = tasks_finish,
};

const struct export_format export_gcc = {
    .name = "gcc",
    .suffix = "txt",
    .window = EXPORT_WINDOW_SUMS,
    .summary = "the same lines as a compiler's warnings, for any editor",
    .finish = gcc_finish,
};
