/* SPDX-License-Identifier: MIT */
/* Recorded functions as JSON. */
#include "functions.h"

#include "functions_counts.h"
#include "functions_longest.h"
#include "ui/json.h"

void functions_json_stretch(struct textbuf *j, const struct functions_report *r)
{
    if (r->totals.begin_ns) {
        json_uint(j, "from_ns", r->totals.from_ns);
        json_uint(j, "to_ns", r->totals.to_ns);
    }
}

static void json_totals(struct textbuf *j, const struct functions_report *r)
{
    const struct upmu_functions_totals *t = &r->totals;
    json_string(j, "dir", r->dir);
    functions_json_stretch(j, r);
    json_uint(j, "processes", t->processes);
    json_uint(j, "running", t->running);
    json_uint(j, "threads", t->threads);
    json_uint(j, "calls", t->calls);
    json_uint(j, "skipped", t->skipped);
    json_uint(j, "sourceless", t->sourceless);
    json_uint(j, "never_started", t->never_started);
    json_uint(j, "open", t->open);
    json_uint(j, "total_ns", t->total_ns);
    json_uint(j, "cost_ns", t->cost_ns);
    json_double(j, "call_cost_ns", (double)t->call_cost_ps / 1000);
    json_object(j, "lost");
    json_uint(j, "space", t->lost_space);
    json_uint(j, "depth", t->lost_depth);
    json_uint(j, "thread", t->lost_thread);
    json_object_end(j);
    json_uint(j, "left", t->left);
    json_uint(j, "stopped", t->stopped);
    json_uint(j, "unmatched", t->unmatched);
    json_uint(j, "omitted", t->omitted);
    json_uint(j, "damages", t->damages);
    json_uint(j, "events", r->longest ? r->longest->events : 0);
    json_uint(j, "event_bytes", t->event_bytes);
    json_uint(j, "events_lost", t->events_lost);
    json_uint(j, "events_short", t->events_short);
    json_uint(j, "rings", t->rings);
}

static void json_functions(struct textbuf *j, const struct functions_report *r)
{
    struct upmu_function f = {.size = sizeof f};
    json_array(j, "functions");
    for (size_t i = 0; i < r->top && upmu_functions_at(r->functions, i, &f) == 0; i++) {
        json_object(j, NULL);
        json_string(j, "name", f.name);
        json_string(j, "module", f.module);
        json_uint(j, "offset", f.offset);
        json_string(j, "file", f.file);
        json_uint(j, "line", f.line);
        json_uint(j, "calls", f.calls);
        json_uint(j, "open", f.open);
        json_bool(j, "recursive", f.recursive);
        json_uint(j, "inclusive_ns", f.inclusive_ns);
        json_uint(j, "exclusive_ns", f.exclusive_ns);
        json_uint(j, "min_ns", f.min_ns);
        json_uint(j, "max_ns", f.max_ns);
        functions_counts_json(j, r, UPMU_FUNCTION_ROWS, i);
        json_object_end(j);
    }
    json_array_end(j);
}

/* A function's index among "functions"; null for the thread. */
static void json_index(struct textbuf *j, const char *key, uint32_t function)
{
    json_uint_if(j, key, function != UPMU_NO_INDEX, function);
}

static void json_edges(struct textbuf *j, const struct functions_report *r)
{
    struct upmu_function_edge e = {.size = sizeof e};
    json_array(j, "edges");
    for (size_t i = 0; upmu_functions_edge_at(r->functions, i, &e) == 0; i++) {
        json_object(j, NULL);
        json_index(j, "caller", e.caller);
        json_index(j, "callee", e.callee);
        json_uint(j, "calls", e.calls);
        json_uint(j, "inclusive_ns", e.inclusive_ns);
        json_uint(j, "min_ns", e.min_ns);
        json_uint(j, "max_ns", e.max_ns);
        functions_counts_json(j, r, UPMU_FUNCTION_EDGE_ROWS, i);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_paths(struct textbuf *j, const struct functions_report *r)
{
    struct upmu_function_path p = {.size = sizeof p};
    json_array(j, "paths");
    for (size_t i = 0; upmu_functions_path_at(r->functions, i, &p) == 0; i++) {
        json_object(j, NULL);
        json_index(j, "function", p.function);
        json_uint(j, "parent", p.parent);
        json_uint(j, "depth", p.depth);
        json_uint(j, "recursion", p.recursion);
        json_uint(j, "calls", p.calls);
        json_uint(j, "inclusive_ns", p.inclusive_ns);
        json_uint(j, "exclusive_ns", p.exclusive_ns);
        functions_counts_json(j, r, UPMU_FUNCTION_PATH_ROWS, i);
        json_object_end(j);
    }
    json_array_end(j);
}

/* With --top only the first functions are there, without edges and paths, which refer to all. */
void functions_write_json(struct output *out, const struct functions_report *r)
{
    struct json_document doc;
    struct textbuf *j = json_begin(&doc, out->file, "upmu-functions");
    json_totals(j, r);
    functions_counters_json(j, r);
    json_functions(j, r);
    if (r->longest)
        functions_longest_json(j, r->longest);
    if (r->top == SIZE_MAX) {
        json_edges(j, r);
        json_paths(j, r);
    }
    json_end(&doc);
}
