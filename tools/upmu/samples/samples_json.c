/* SPDX-License-Identifier: MIT */
/* Recorded samples as JSON. */
#include "samples.h"

#include "ui/json.h"
#include "upmu/sampler.h"

static const char *json_method(int stacks)
{
    return stacks == UPMU_SAMPLER_FRAME_POINTERS ? "fp" : stacks == UPMU_SAMPLER_COPY ? "dwarf" : "none";
}

static void json_totals(struct textbuf *j, const struct samples_report *r)
{
    const struct upmu_samples_totals *t = &r->totals;
    json_string(j, "dir", r->dir);
    json_string(j, "event", t->event);
    json_string(j, "unit", t->is_time ? "ns" : "events");
    json_string(j, "source", t->source == UPMU_SAMPLES_PERF ? "perf" : "timer");
    json_uint_if(j, "frequency", t->frequency > 0, t->frequency);
    json_uint_if(j, "period", t->period > 0, t->period);
    json_uint(j, "processes", t->processes);
    json_uint(j, "threads", t->threads);
    json_uint(j, "samples", t->samples);
    json_uint(j, "weight", t->weight);
    json_uint_if(j, "count", t->ended, t->count);
    if (t->is_calls) {
        json_object(j, "calls");
        json_uint(j, "returned", t->returned);
        json_uint(j, "not_returned", t->not_returned);
        json_uint(j, "shortest_ns", t->shortest_ns);
        json_uint(j, "longest_ns", t->longest_ns);
        json_uint_if(j, "cost_ns", t->call_cost_ns > 0, t->call_cost_ns);
        json_object_end(j);
    }
    json_bool(j, "with_kernel", t->with_kernel);
    json_uint(j, "kernel", t->kernel);
    json_bool(j, "ended", t->ended);
    json_uint(j, "lost", t->lost);
    json_uint(j, "throttled", t->throttled);
    json_uint(j, "unwritten", t->unwritten);
    json_uint(j, "damages", t->damages);
    json_object(j, "stacks");
    json_string(j, "method", json_method(t->stacks));
    json_uint(j, "whole", t->whole);
    json_uint(j, "cut", t->cut);
    json_uint(j, "broken", t->broken);
    json_object_end(j);
}

static void json_functions(struct textbuf *j, const struct samples_report *r)
{
    struct upmu_sample_function f = {.size = sizeof f};
    json_array(j, "functions");
    for (size_t i = 0; i < r->top && upmu_samples_function_at(r->samples, i, &f) == 0; i++) {
        json_object(j, NULL);
        json_string(j, "name", f.name);
        json_string(j, "module", f.module);
        json_uint(j, "offset", f.offset);
        json_string(j, "file", f.file);
        json_uint_if(j, "line", f.line > 0, f.line);
        json_uint(j, "self_samples", f.self_samples);
        json_uint(j, "samples", f.samples);
        json_uint(j, "self_weight", f.self_weight);
        json_uint(j, "weight", f.weight);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_paths(struct textbuf *j, const struct samples_report *r)
{
    struct upmu_sample_path p = {.size = sizeof p};
    json_array(j, "paths");
    for (size_t i = 0; upmu_samples_path_at(r->samples, i, &p) == 0; i++) {
        json_object(j, NULL);
        json_uint_if(j, "function", p.function != UPMU_NO_INDEX, p.function);
        json_uint(j, "parent", p.parent);
        json_uint(j, "depth", p.depth);
        json_uint(j, "self_samples", p.self_samples);
        json_uint(j, "samples", p.samples);
        json_uint(j, "self_weight", p.self_weight);
        json_uint(j, "weight", p.weight);
        json_object_end(j);
    }
    json_array_end(j);
}

/* "thread" of a sample is an index among these. */
static void json_threads(struct textbuf *j, const struct samples_report *r)
{
    struct upmu_sample_thread t = {.size = sizeof t};
    json_array(j, "thread_list");
    for (size_t i = 0; upmu_samples_thread_at(r->samples, i, &t) == 0; i++) {
        json_object(j, NULL);
        json_string(j, "name", t.name);
        json_int(j, "pid", t.pid);
        json_int(j, "tid", t.tid);
        json_uint(j, "samples", t.samples);
        json_uint(j, "weight", t.weight);
        json_object_end(j);
    }
    json_array_end(j);
}

/* With --top only the first functions are there, without paths, which refer to all. */
void samples_write_json(struct output *out, const struct samples_report *r)
{
    struct json_document doc;
    struct textbuf *j = json_begin(&doc, out->file, "upmu-samples");
    json_totals(j, r);
    json_functions(j, r);
    json_threads(j, r);
    if (r->top == SIZE_MAX)
        json_paths(j, r);
    json_end(&doc);
}
