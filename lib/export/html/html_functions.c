/* SPDX-License-Identifier: MIT */
/*
 * Recorded functions: the call paths of all threads with the longest times, and sums of functions.
 *
 * A path is as long as its box in a flame graph: its exclusive time, and that of all paths below it. The time of paths that
 * are left out is kept as `rest` of the path above them, so that boxes are as wide as without the limit.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "export/html/html.h"

enum { FUNCTIONS_NAME_MAX = 1024 }; /* bytes: the page shows fewer */

struct functions_path {
    uint64_t ns;   /**< with all paths below it */
    uint64_t rest; /**< of paths below it that are left out */
    uint32_t number;
    uint32_t above; /**< of a path that is left out: the last one above it that is not */
};

struct functions_rank {
    uint64_t ns;
    uint32_t path;
};

/** What is on the page: numbers are from 1 on, 0 is none. */
struct functions_shown {
    struct upmu_functions *from;
    struct upmu_functions_totals totals;
    bool whole; /**< of the whole recording, though the page is of a stretch */
    struct functions_path *paths;
    size_t n_paths, n_kept;
    uint32_t *functions;
    size_t n_functions, n_listed;
};

/* Sums without times are shown of the whole recording. */
static int functions_open(const struct export_job *job, struct functions_shown *f)
{
    struct upmu_functions_opts opts = {
        .size = sizeof opts, .debug_dir = job->opts.debug_dir, .from_ns = job->opts.from_ns, .to_ns = job->opts.to_ns};
    int rc = upmu_functions_open(&f->from, job->dir, &opts);
    if (rc == UPMU_E_INVAL && (opts.from_ns | opts.to_ns) != 0) {
        f->whole = true;
        opts.from_ns = opts.to_ns = 0;
        rc = upmu_functions_open(&f->from, job->dir, &opts);
    }
    f->totals.size = sizeof f->totals;
    return rc == 0 ? upmu_functions_totals_read(f->from, &f->totals) : rc;
}

static int functions_by_time(const void *a, const void *b)
{
    const struct functions_rank *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return x->path < y->path ? -1 : x->path > y->path;
}

/* No path is longer than the one above it, which has a lower index: it comes first. */
static int functions_pick(struct functions_shown *f)
{
    struct upmu_function_path p = {.size = sizeof p};
    size_t frames = 0;
    struct functions_rank *order = calloc(f->n_paths + 1, sizeof *order);
    if (!order)
        return export_no_memory();
    for (size_t i = 1; i < f->n_paths; i++)
        order[i - 1] = (struct functions_rank){f->paths[i].ns, (uint32_t)i};
    if (f->n_paths > 1)
        qsort(order, f->n_paths - 1, sizeof *order, functions_by_time);
    for (size_t i = 0; i + 1 < f->n_paths && f->n_kept < HTML_CALL_PATHS_MAX; i++) {
        if (upmu_functions_path_at(f->from, order[i].path, &p) != 0 || (frames += p.depth) > HTML_CALL_FRAMES_MAX)
            break;
        f->paths[order[i].path].number = 1; /* until they are numbered */
        f->n_kept++;
    }
    free(order);
    return 0;
}

static int functions_choose_paths(struct functions_shown *f)
{
    struct upmu_function_path p = {.size = sizeof p};
    f->n_paths = upmu_functions_path_count(f->from);
    f->paths = calloc(f->n_paths + 1, sizeof *f->paths);
    if (!f->paths)
        return export_no_memory();
    for (size_t i = f->n_paths; i-- > 1;) /* a parent is lower than its children */
        if (upmu_functions_path_at(f->from, i, &p) == 0) {
            f->paths[i].ns += p.exclusive_ns;
            f->paths[p.parent].ns += f->paths[i].ns;
        }
    int rc = functions_pick(f);
    uint32_t number = 0;
    for (size_t i = 1; rc == 0 && i < f->n_paths && upmu_functions_path_at(f->from, i, &p) == 0; i++) {
        struct functions_path *path = &f->paths[i], *parent = &f->paths[p.parent];
        if (path->number) {
            path->number = ++number;
            continue;
        }
        path->above = p.parent == 0 || parent->number ? p.parent : parent->above;
        f->paths[path->above].rest += p.exclusive_ns;
    }
    return rc;
}

/* Those of the paths, and the first ones by exclusive time. */
static int functions_choose(struct functions_shown *f)
{
    struct upmu_function_path p = {.size = sizeof p};
    f->n_functions = upmu_functions_count(f->from);
    f->functions = calloc(f->n_functions + 1, sizeof *f->functions);
    if (!f->functions)
        return export_no_memory();
    for (size_t i = 1; i < f->n_paths && upmu_functions_path_at(f->from, i, &p) == 0; i++)
        if (f->paths[i].number)
            f->functions[p.function] = 1;
    for (size_t i = 0; i < f->n_functions; i++)
        if (f->functions[i] || i < HTML_FUNCTIONS_MAX)
            f->functions[i] = (uint32_t)++f->n_listed;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------ writing */

static void functions_write_totals(const struct functions_shown *f, struct textbuf *b)
{
    const struct upmu_functions_totals *t = &f->totals;
    json_uint(b, "whole", f->whole);
    json_uint(b, "threads", t->threads);
    json_uint(b, "calls", t->calls);
    json_uint(b, "open", t->open);
    json_uint(b, "ns", t->total_ns);
    json_uint(b, "cost", t->cost_ns);
    json_uint(b, "lostSpace", t->lost_space);
    json_uint(b, "lostDepth", t->lost_depth);
    json_uint(b, "lostThread", t->lost_thread);
    json_uint(b, "left", t->left);
    json_uint(b, "stopped", t->stopped);
    json_uint(b, "unmatched", t->unmatched);
    json_uint(b, "skipped", t->skipped);
    json_uint(b, "running", t->running);
    json_uint(b, "started", t->never_started < t->processes);
    json_uint(b, "omitted", t->omitted);
    json_uint(b, "damages", t->damages);
    json_uint(b, "count", f->n_functions);
    json_uint(b, "pathsLeftOut", f->n_paths > 0 ? f->n_paths - 1 - f->n_kept : 0);
    json_uint(b, "rest", f->paths[0].rest);
}

/* [name, file, line, module, calls, open, inclusive, exclusive, shortest, longest, recursive] */
static void functions_write_one(const struct upmu_function *f, struct textbuf *b)
{
    char text[FUNCTIONS_NAME_MAX];
    const char *module = f->module ? f->module : "", *slash = strrchr(module, '/');
    if (f->name)
        snprintf(text, sizeof text, "%s", f->name);
    else
        snprintf(text, sizeof text, "%.250s%s0x%llx", slash ? slash + 1 : module, f->module ? "+" : "",
                 (unsigned long long)f->offset);
    json_array(b, NULL);
    json_string(b, NULL, text);
    json_string(b, NULL, f->file ? f->file : "");
    json_uint(b, NULL, f->line);
    json_string(b, NULL, module);
    json_uint(b, NULL, f->calls);
    json_uint(b, NULL, f->open);
    json_uint(b, NULL, f->inclusive_ns);
    json_uint(b, NULL, f->exclusive_ns);
    json_uint(b, NULL, f->min_ns);
    json_uint(b, NULL, f->max_ns);
    json_uint(b, NULL, f->recursive);
    json_array_end(b);
}

static void functions_write_facts(const struct functions_shown *f, struct textbuf *b)
{
    struct upmu_function one = {.size = sizeof one};
    json_object(b, "functions");
    functions_write_totals(f, b);
    json_array(b, "list");
    for (size_t i = 0; i < f->n_functions; i++)
        if (f->functions[i] && upmu_functions_at(f->from, i, &one) == 0)
            functions_write_one(&one, b);
    json_array_end(b);
    json_object_end(b);
}

typedef uint64_t functions_column(const struct functions_shown *f, size_t i, const struct upmu_function_path *p);

static uint64_t functions_parent(const struct functions_shown *f, size_t i, const struct upmu_function_path *p)
{
    (void)i;
    return f->paths[p->parent].number;
}

static uint64_t functions_function(const struct functions_shown *f, size_t i, const struct upmu_function_path *p)
{
    (void)i;
    return f->functions[p->function] - 1;
}

static uint64_t functions_calls(const struct functions_shown *f, size_t i, const struct upmu_function_path *p)
{
    (void)f;
    (void)i;
    return p->calls;
}

static uint64_t functions_own(const struct functions_shown *f, size_t i, const struct upmu_function_path *p)
{
    (void)f;
    (void)i;
    return p->exclusive_ns;
}

static uint64_t functions_rest(const struct functions_shown *f, size_t i, const struct upmu_function_path *p)
{
    (void)p;
    return f->paths[i].rest;
}

static uint64_t functions_recursion(const struct functions_shown *f, size_t i, const struct upmu_function_path *p)
{
    (void)f;
    (void)i;
    return p->recursion != 0;
}

static int functions_write_column(struct export_job *job, const struct functions_shown *f, const char *name,
                                  functions_column *number)
{
    struct upmu_function_path p = {.size = sizeof p};
    struct textbuf b = {0};
    for (size_t i = 1; i < f->n_paths && upmu_functions_path_at(f->from, i, &p) == 0; i++)
        if (f->paths[i].number)
            html_varint(&b, number(f, i, &p));
    int rc = html_pack_section(job, name, f->n_kept, &b);
    textbuf_free(&b);
    return rc;
}

static int functions_write_columns(struct export_job *job, const struct functions_shown *f)
{
    static const struct {
        const char *name;
        functions_column *number;
    } columns[] = {{"functions.parent", functions_parent}, {"functions.function", functions_function},
                   {"functions.calls", functions_calls},   {"functions.own", functions_own},
                   {"functions.rest", functions_rest},     {"functions.recursion", functions_recursion}};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof columns / sizeof *columns; i++)
        rc = functions_write_column(job, f, columns[i].name, columns[i].number);
    return rc;
}

int html_functions_write(struct export_job *job, struct textbuf *b)
{
    struct functions_shown f = {0};
    int rc = functions_open(job, &f);
    if (rc == 0)
        rc = functions_choose_paths(&f);
    if (rc == 0)
        rc = functions_choose(&f);
    if (rc == 0)
        functions_write_facts(&f, b);
    if (rc == 0)
        rc = functions_write_columns(job, &f);
    upmu_functions_close(f.from);
    free(f.paths);
    free(f.functions);
    return rc == UPMU_E_STATE ? 0 : rc; /* none were recorded */
}
