/* SPDX-License-Identifier: MIT */
/* Recorded functions as text: profile, hottest path, call tree, callers and callees, sums by module and file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "report/report.h"
#include "report/report_cells.h"
#include "ui/memory.h"
#include "ui/table.h"

enum { NEIGHBORS = 5, TREE_ROWS = 4 };

static char *text_function(const struct functions_report *r, uint32_t i)
{
    struct upmu_function f = {.size = sizeof f};
    if (i == UPMU_NO_INDEX || upmu_functions_at(r->functions, i, &f) != 0)
        return memory_copy("(thread)");
    if (f.name && f.file)
        return memory_format("%s %s:%" PRIu32, f.name, report_base_name(f.file), f.line);
    if (f.name)
        return memory_format("%s (%s)", f.name, f.module ? report_base_name(f.module) : "?");
    return memory_format("%s%s0x%" PRIx64, f.module ? report_base_name(f.module) : "", f.module ? "+" : "", f.offset);
}

/* -------------------------------------------------------------------------------------------- how it was recorded */

static void text_warning(struct output *out, const char *what, uint64_t n)
{
    if (n > 0)
        fprintf(out->file, "  %s%s: %" PRIu64 "%s\n", output_style(out, STYLE_WARNING), what, n, output_plain(out));
}

static void text_head(struct output *out, const struct functions_report *r)
{
    const struct upmu_functions_totals *t = &r->totals;
    char *total = report_duration(t->total_ns), *cost = report_duration(t->cost_ns);
    fprintf(out->file, "%sFunctions of ", output_style(out, STYLE_TITLE));
    output_clean(out->file, r->dir);
    fprintf(out->file, "%s: %" PRIu64 " calls of %zu functions in %" PRIu64 " thread%s, %s\n", output_plain(out),
            t->calls, upmu_functions_count(r->functions), t->threads, t->threads == 1 ? "" : "s", total);
    fprintf(out->file, "  overhead: %.1f ns per call, %s in all, subtracted from the times below\n",
            (double)t->call_cost_ps / 1000, cost);
    text_warning(out, "processes that still run, reported as they are now", t->running);
    text_warning(out, "calls of functions that were not selected, whose time is their callers'", t->skipped);
    text_warning(out, "calls that had not returned, and end with the recording", t->open);
    text_warning(out, "calls lost, for lack of nodes (UPMU_FUNC_NODES) or space on disk", t->lost_space);
    text_warning(out, "calls lost, nested too deep", t->lost_depth);
    text_warning(out, "calls lost, of threads without a tree", t->lost_thread);
    text_warning(out, "calls left without a return (exceptions, longjmp, ends of threads)", t->left);
    text_warning(out, "returns without a recorded call", t->unmatched);
    text_warning(out, "paths left out, of more than 10,000 functions", t->omitted);
    free(total);
    free(cost);
}

/* ------------------------------------------------------------------------------------------------------- profile */

static void text_profile(struct output *out, const struct functions_report *r)
{
    static const struct table_column columns[] = {{"EXCLUSIVE", true}, {"SHARE", true}, {"INCLUSIVE", true},
                                                  {"SHARE", true},     {"CALLS", true}, {"MIN", true},
                                                  {"MEAN", true},      {"MAX", true},   {"FUNCTION", TABLE_NAME}};
    struct upmu_function f = {.size = sizeof f};
    struct table t;
    size_t i;
    report_title(out, "Functions by exclusive time");
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < r->top && upmu_functions_at(r->functions, i, &f) == 0; i++) {
        cell_duration(&t, f.exclusive_ns);
        cell_share(&t, f.exclusive_ns, r->totals.total_ns);
        cell_duration(&t, f.inclusive_ns);
        cell_share(&t, f.inclusive_ns, r->totals.total_ns);
        cell_count(&t, f.calls, true);
        cell_duration(&t, f.min_ns);
        cell_duration(&t, f.calls && !f.recursive ? f.inclusive_ns / f.calls : 0); /* nested calls have none */
        cell_duration(&t, f.max_ns);
        cell_free(&t, STYLE_PLAIN, text_function(r, (uint32_t)i));
    }
    table_end(&t, out, 2);
    report_more(out, upmu_functions_count(r->functions), i);
}

/* ---------------------------------------------------------------------------------------------------- call paths */

static void text_path(struct output *out, const struct functions_report *r, const struct upmu_function_path *p)
{
    char *ns = report_duration(p->inclusive_ns), *name = text_function(r, p->function);
    double share = r->totals.total_ns ? 100.0 * (double)p->inclusive_ns / (double)r->totals.total_ns : 0;
    fprintf(out->file, "  %5.1f %%  %9s  %12" PRIu64 "  %*s", share, ns, p->calls, (int)(2 * (p->depth - 1)), "");
    output_clean(out->file, name);
    fprintf(out->file, "%s\n", p->recursion ? " (recursion)" : "");
    free(ns);
    free(name);
}

/* The child with the longest time; 0 if it has none. */
static uint32_t text_hottest(const struct functions_report *r, uint32_t parent)
{
    struct upmu_function_path p = {.size = sizeof p};
    uint32_t best = 0;
    uint64_t most = 0;
    if (upmu_functions_path_at(r->functions, parent, &p) != 0)
        return 0;
    for (uint32_t c = p.child; c != 0 && upmu_functions_path_at(r->functions, c, &p) == 0; c = p.next)
        if (!p.recursion && p.inclusive_ns > most) {
            most = p.inclusive_ns;
            best = c;
        }
    return best;
}

static void text_hottest_path(struct output *out, const struct functions_report *r)
{
    struct upmu_function_path p = {.size = sizeof p};
    report_title(out, "Hottest path: share, inclusive time, calls");
    for (uint32_t i = text_hottest(r, 0); i != 0 && upmu_functions_path_at(r->functions, i, &p) == 0;
         i = text_hottest(r, i))
        text_path(out, r, &p);
}

struct row {
    uint32_t path;
    uint64_t ns;
};

static int text_compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

/* Select the paths with the longest times, and the paths they are below. A recursive call has no row: its time is in that of the
 * outermost call. */
static bool *text_choose(const struct functions_report *r, size_t n, size_t wanted)
{
    struct upmu_function_path p = {.size = sizeof p};
    struct row *rows = memory_array(n, sizeof *rows);
    bool *chosen = memory_array(n, sizeof *chosen);
    size_t found = 0;
    for (uint32_t i = 1; i < n && upmu_functions_path_at(r->functions, i, &p) == 0; i++)
        if (!p.recursion)
            rows[found++] = (struct row){i, p.inclusive_ns};
    qsort(rows, found, sizeof *rows, text_compare_rows);
    for (size_t i = 0; i < found && i < wanted; i++)
        for (uint32_t at = rows[i].path; at != 0 && !chosen[at] && upmu_functions_path_at(r->functions, at, &p) == 0;
             at = p.parent)
            chosen[at] = true;
    free(rows);
    return chosen;
}

/* Children in the order of their times. */
static void text_tree_below(struct output *out, const struct functions_report *r, const bool *chosen, uint32_t parent)
{
    struct upmu_function_path p = {.size = sizeof p};
    size_t n = 0, cap = 16;
    struct row *rows = memory_array(cap, sizeof *rows);
    if (upmu_functions_path_at(r->functions, parent, &p) != 0)
        p.child = 0;
    for (uint32_t c = p.child; c != 0 && upmu_functions_path_at(r->functions, c, &p) == 0; c = p.next) {
        if (!chosen[c])
            continue;
        if (n == cap)
            rows = memory_resize(rows, cap *= 2, sizeof *rows);
        rows[n++] = (struct row){c, p.inclusive_ns};
    }
    qsort(rows, n, sizeof *rows, text_compare_rows);
    for (size_t i = 0; i < n; i++)
        if (upmu_functions_path_at(r->functions, rows[i].path, &p) == 0) {
            text_path(out, r, &p);
            text_tree_below(out, r, chosen, rows[i].path);
        }
    free(rows);
}

static void text_tree(struct output *out, const struct functions_report *r)
{
    size_t n = upmu_functions_path_count(r->functions);
    bool *chosen = text_choose(r, n, r->top > SIZE_MAX / TREE_ROWS ? SIZE_MAX : TREE_ROWS * r->top);
    report_title(out, "Call tree: share, inclusive time, calls");
    text_tree_below(out, r, chosen, 0);
    free(chosen);
}

/* -------------------------------------------------------------------------------------------- callers and callees */

static void text_neighbors(struct output *out, const struct functions_report *r, uint32_t function, bool callers)
{
    struct upmu_function_edge e = {.size = sizeof e};
    size_t shown = 0;
    for (size_t i = 0; shown < NEIGHBORS && upmu_functions_edge_at(r->functions, i, &e) == 0; i++) {
        if ((callers ? e.callee : e.caller) != function)
            continue;
        char *ns = report_duration(e.inclusive_ns), *name = text_function(r, callers ? e.caller : e.callee);
        fprintf(out->file, "    %s %9s  %12" PRIu64 "  ", callers ? "called by" : "calls    ", ns, e.calls);
        output_clean(out->file, name);
        fputc('\n', out->file);
        free(ns);
        free(name);
        shown++;
    }
}

static void text_edges(struct output *out, const struct functions_report *r)
{
    report_title(out, "Callers and callees: inclusive time, calls");
    for (uint32_t i = 0; i < r->top && i < upmu_functions_count(r->functions); i++) {
        char *name = text_function(r, i);
        fputs("  ", out->file);
        output_clean(out->file, name);
        fputc('\n', out->file);
        free(name);
        text_neighbors(out, r, i, true);
        text_neighbors(out, r, i, false);
    }
}

/* ------------------------------------------------------------------------------------------------ module and file */

struct group {
    const char *name;
    uint64_t exclusive_ns, calls, functions;
};

static int text_compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return x->exclusive_ns < y->exclusive_ns ? 1 : x->exclusive_ns > y->exclusive_ns ? -1 : 0;
}

static void text_groups(struct output *out, const struct functions_report *r, bool by_file)
{
    const struct table_column columns[] = {{"EXCLUSIVE", true},
                                           {"SHARE", true},
                                           {"CALLS", true},
                                           {"FUNCTIONS", true},
                                           {by_file ? "FILE" : "MODULE", false}};
    struct upmu_function f = {.size = sizeof f};
    struct group *groups = memory_array(upmu_functions_count(r->functions) + 1, sizeof *groups);
    struct table t;
    size_t n = 0, i;
    for (size_t k = 0; upmu_functions_at(r->functions, k, &f) == 0; k++) {
        const char *name = by_file ? f.file : f.module;
        name = name ? name : "?";
        for (i = 0; i < n && strcmp(groups[i].name, name) != 0; i++)
            ;
        n += i == n;
        groups[i].name = name;
        groups[i].exclusive_ns += f.exclusive_ns;
        groups[i].calls += f.calls;
        groups[i].functions++;
    }
    qsort(groups, n, sizeof *groups, text_compare_groups);
    report_title(out, by_file ? "By file" : "By module");
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < n && i < r->top; i++) {
        cell_duration(&t, groups[i].exclusive_ns);
        cell_share(&t, groups[i].exclusive_ns, r->totals.total_ns);
        cell_count(&t, groups[i].calls, true);
        cell_count(&t, groups[i].functions, true);
        table_cell(&t, STYLE_PLAIN, "%s", groups[i].name);
    }
    table_end(&t, out, 2);
    report_more(out, n, i);
    free(groups);
}

void functions_write_text(struct output *out, const struct functions_report *r)
{
    text_head(out, r);
    text_profile(out, r);
    text_hottest_path(out, r);
    text_tree(out, r);
    text_edges(out, r);
    text_groups(out, r, false);
    text_groups(out, r, true);
}
