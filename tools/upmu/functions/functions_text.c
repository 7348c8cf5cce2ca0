/* SPDX-License-Identifier: MIT */
/* Recorded functions as text: profile, hottest path, call tree, callers and callees, sums by module and file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree.h"
#include "functions.h"
#include "functions_counts.h"
#include "functions_longest.h"
#include "report/report.h"
#include "report/report_cells.h"
#include "ui/memory.h"
#include "ui/table.h"

enum { NEIGHBORS = 5 };

char *functions_name(const struct functions_report *r, uint32_t function)
{
    struct upmu_function f = {.size = sizeof f};
    if (function == UPMU_NO_INDEX || upmu_functions_at(r->functions, function, &f) != 0)
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

/* Events that were asked for and have no counts. */
static void text_refused(struct output *out, const struct functions_report *r)
{
    struct upmu_function_counter c = {.size = sizeof c};
    for (size_t i = 0; upmu_functions_counter_at(r->functions, i, &c) == 0; i++)
        if (c.cause != 0)
            fprintf(out->file, "  %snot counted by function: %s: %s%s\n", output_style(out, STYLE_WARNING), c.name,
                    c.reason[0] ? c.reason : upmu_strerror(c.cause), output_plain(out));
}

void functions_write_stretch(struct output *out, const struct functions_report *r)
{
    const struct upmu_functions_totals *t = &r->totals;
    if (t->begin_ns)
        fprintf(out->file, " from %.9g to %.9g s", (double)(t->from_ns - t->begin_ns) / 1e9,
                (double)(t->to_ns - t->begin_ns) / 1e9);
}

static void text_head(struct output *out, const struct functions_report *r)
{
    const struct upmu_functions_totals *t = &r->totals;
    char *total = report_duration(t->total_ns), *cost = report_duration(t->cost_ns);
    fprintf(out->file, "%sFunctions of ", output_style(out, STYLE_TITLE));
    output_clean(out->file, r->dir);
    functions_write_stretch(out, r);
    fprintf(out->file, "%s: %" PRIu64 " calls of %zu functions in %" PRIu64 " thread%s, %s\n", output_plain(out),
            t->calls, upmu_functions_count(r->functions), t->threads, t->threads == 1 ? "" : "s", total);
    fprintf(out->file, "  overhead: %.1f ns per call, %s in all, subtracted from the times below\n",
            (double)t->call_cost_ps / 1000, cost);
    text_refused(out, r);
    if (t->event_bytes > 0)
        fprintf(out->file, "  events of each call: %" PRIu64 " in %.1f MiB\n", r->longest ? r->longest->events : 0,
                (double)t->event_bytes / (1 << 20));
    text_warning(out, "threads whose oldest events were overwritten (UPMU_FUNC_RING)", t->rings);
    text_warning(out, "calls without events, shorter than UPMU_FUNC_MIN", t->events_short);
    text_warning(out, "events lost, for lack of space", t->events_lost);
    text_warning(out, "processes that still run, reported as they are now", t->running);
    if (t->never_started < t->processes)
        text_warning(out, "processes in which recording was never started", t->never_started);
    text_warning(out, "calls of functions that were not selected, whose time is their callers'", t->skipped);
    text_warning(out, "functions whose source was not known when they were selected by source (build with -g)",
                 t->sourceless);
    text_warning(out, "calls that had not returned, and end with the recording", t->open);
    text_warning(out, "calls lost, for lack of nodes (UPMU_FUNC_NODES) or space on disk", t->lost_space);
    text_warning(out, "calls lost, nested too deep", t->lost_depth);
    text_warning(out, "calls lost, of threads without a tree", t->lost_thread);
    text_warning(out, "calls left without a return (exceptions, longjmp, ends of threads)", t->left);
    text_warning(out, "calls that ended because recording was stopped, or other functions were selected", t->stopped);
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
        cell_free(&t, STYLE_PLAIN, functions_name(r, (uint32_t)i));
    }
    table_end(&t, out, 2);
    report_more(out, upmu_functions_count(r->functions), i);
}

/* ---------------------------------------------------------------------------------------------------- call paths */

static bool text_path_at(const void *arg, uint32_t i, struct call_path *out)
{
    const struct functions_report *r = arg;
    struct upmu_function_path p = {.size = sizeof p};
    if (upmu_functions_path_at(r->functions, i, &p) != 0)
        return false;
    *out = (struct call_path){.function = p.function,
                              .parent = p.parent,
                              .child = p.child,
                              .next = p.next,
                              .depth = p.depth,
                              .recursion = p.recursion != 0,
                              .weight = p.inclusive_ns,
                              .count = p.calls};
    return true;
}

static char *text_path_name(const void *arg, uint32_t function)
{
    return functions_name(arg, function);
}

static struct call_tree text_tree(const struct functions_report *r)
{
    return (struct call_tree){.arg = r,
                              .n = upmu_functions_path_count(r->functions),
                              .total = r->totals.total_ns,
                              .is_time = true,
                              .path_at = text_path_at,
                              .name = text_path_name};
}

void functions_write_hottest(struct output *out, const struct functions_report *r)
{
    const struct call_tree tree = text_tree(r);
    call_tree_write_hottest(out, &tree);
}

static void text_paths(struct output *out, const struct functions_report *r)
{
    const struct call_tree tree = text_tree(r);
    report_title(out, "Hottest path: share, inclusive time, calls");
    functions_write_hottest(out, r);
    report_title(out, "Call tree: share, inclusive time, calls");
    call_tree_write(out, &tree, r->top);
}

/* -------------------------------------------------------------------------------------------- callers and callees */

static void text_neighbors(struct output *out, const struct functions_report *r, uint32_t function, bool callers)
{
    struct upmu_function_edge e = {.size = sizeof e};
    size_t shown = 0;
    for (size_t i = 0; shown < NEIGHBORS && upmu_functions_edge_at(r->functions, i, &e) == 0; i++) {
        if ((callers ? e.callee : e.caller) != function)
            continue;
        char *ns = report_duration(e.inclusive_ns), *name = functions_name(r, callers ? e.caller : e.callee);
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
        char *name = functions_name(r, i);
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

static void text_never_started(struct output *out, const struct functions_report *r)
{
    fputs("  recording was never started: 'upmu ctl ", out->file);
    output_clean(out->file, r->dir);
    fputs(" functions on' starts it while the program runs\n", out->file);
}

/* Why there is nothing to show. */
static void text_nothing(struct output *out, const struct functions_report *r)
{
    if (r->totals.never_started == r->totals.processes)
        text_never_started(out, r);
    else if (r->totals.to_ns > r->totals.from_ns)
        fputs("  no recorded function ran in this time window\n", out->file);
    else if (r->totals.skipped > 0)
        fputs("  no function that was called is selected (UPMU_FUNC_INCLUDE, UPMU_FUNC_EXCLUDE, UPMU_FUNC_BELOW)\n",
              out->file);
    else
        fputs("  no instrumented function was called: build with -finstrument-functions or -fpatchable-function-entry, "
              "or "
              "record functions of libraries with 'upmu record --wrap-calls'\n",
              out->file);
}

void functions_write_text(struct output *out, const struct functions_report *r)
{
    text_head(out, r);
    if (upmu_functions_count(r->functions) == 0) {
        text_nothing(out, r);
        return;
    }
    text_profile(out, r);
    functions_counts_text(out, r);
    text_paths(out, r);
    if (r->longest)
        functions_longest_text(out, r, r->longest);
    text_edges(out, r);
    text_groups(out, r, false);
    text_groups(out, r, true);
}
