/* SPDX-License-Identifier: MIT */
/*
 * Calls of functions in timelines: recorded in files of their own, and passed on between the events of the trace by their times.
 *
 * Times of CLOCK_MONOTONIC_RAW are those of the trace but for a constant, for each process.
 */
#include "export/calls.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/pass/tables.h"

struct export_calls {
    struct upmu_functions *functions;
    struct upmu_function_event next;
    bool has_next;
    struct map by_id; /* index of the thread with a pid and tid */
    char **names;     /* of functions without one */
    size_t n_names;
};

static int calls_number_threads(struct export_job *job)
{
    const struct overview *o = &job->facts->pass;
    for (uint32_t i = 0; i < o->n_threads; i++)
        if (!map_put(&job->calls->by_id, (uint64_t)o->threads[i].pid, (uint64_t)o->threads[i].tid, i))
            return export_no_memory();
    return 0;
}

static int calls_advance(struct export_calls *c)
{
    c->next.size = sizeof c->next;
    int rc = upmu_functions_event_next(c->functions, &c->next);
    c->has_next = rc == 0;
    return rc == UPMU_E_END ? 0 : rc;
}

int calls_begin(struct export_job *job)
{
    if (!job->calls)
        return 0;
    int rc = upmu_functions_events_begin(job->calls->functions);
    return rc == 0 ? calls_advance(job->calls) : rc;
}

/* The thread of an event. Threads that did nothing else than calling functions are not in the trace, and are added. */
static uint32_t calls_thread(struct export_job *job, const struct upmu_function_event *e)
{
    struct export_calls *c = job->calls;
    struct upmu_trace_process p = {.size = sizeof p};
    uint32_t thread = map_find(&c->by_id, (uint64_t)e->pid, (uint64_t)e->tid), process = 0;
    if (thread != MAP_NONE)
        return thread;
    while (upmu_overview_process_at(job->facts, process, &p) == 0 && p.pid != e->pid)
        process++;
    if (p.pid != e->pid)
        return MAP_NONE;
    thread = thread_of(&job->facts->pass, process, e->pid, e->tid, timeline_of_raw(job->facts, process, e->raw_ns));
    return thread != MAP_NONE && map_put(&c->by_id, (uint64_t)e->pid, (uint64_t)e->tid, thread) ? thread : MAP_NONE;
}

/* Calls may begin before the first event of the trace, and end after its last one: they belong to the recording. */
static int calls_extend(struct export_job *job)
{
    struct export_calls *c = job->calls;
    struct overview *o = &job->facts->pass;
    int rc = calls_begin(job);
    for (; rc == 0 && c->has_next; rc = calls_advance(c)) {
        uint32_t thread = calls_thread(job, &c->next);
        uint64_t ns =
            thread == MAP_NONE ? UINT64_MAX : timeline_of_raw(job->facts, o->threads[thread].process, c->next.raw_ns);
        if (ns < o->begin_ns || o->end_ns == 0)
            o->begin_ns = ns;
        if (ns > o->end_ns && ns != UINT64_MAX)
            o->end_ns = ns;
        job->all++;
    }
    return rc;
}

int calls_open(struct export_job *job)
{
    const struct upmu_functions_opts opts = {.size = sizeof opts, .debug_dir = job->opts.debug_dir};
    struct upmu_functions_totals totals = {.size = sizeof totals};
    struct upmu_functions *functions = NULL;
    int rc = upmu_functions_open(&functions, job->dir, &opts);
    if (rc == UPMU_E_STATE)
        return 0;
    if (rc == 0)
        rc = upmu_functions_totals_read(functions, &totals);
    if (rc < 0 || totals.event_bytes == 0) {
        upmu_functions_close(functions);
        return rc;
    }
    job->calls = calloc(1, sizeof *job->calls);
    if (!job->calls) {
        upmu_functions_close(functions);
        return export_no_memory();
    }
    job->calls->functions = functions;
    job->calls->n_names = upmu_functions_count(functions);
    job->calls->names = calloc(job->calls->n_names + 1, sizeof(char *));
    rc = job->calls->names ? calls_number_threads(job) : export_no_memory();
    return rc == 0 ? calls_extend(job) : rc;
}

/* A call of a thread that the trace does not have is left out. */
static int calls_pass(struct export_job *job, const struct timeline_hooks *spans, uint32_t thread, size_t process)
{
    const struct upmu_function_event *e = &job->calls->next;
    struct span span = {.kind = SPAN_FUNCTION,
                        .thread = thread,
                        .what = e->function,
                        .begin_ns = timeline_of_raw(job->facts, process, e->begin_raw_ns),
                        .holder = MAP_NONE};
    if (e->kind == UPMU_FUNCTION_ENTER)
        return spans->begin(job, &span);
    span.end_ns = timeline_of_raw(job->facts, process, e->raw_ns);
    span.finished = !e->inferred;
    return spans->end(job, &span);
}

int calls_until(struct export_job *job, const struct timeline_hooks *spans, uint64_t now)
{
    struct export_calls *c = job->calls;
    int rc = 0;
    while (rc == 0 && c && c->has_next) {
        uint32_t thread = map_find(&c->by_id, (uint64_t)c->next.pid, (uint64_t)c->next.tid);
        if (thread != MAP_NONE) {
            size_t process = job->facts->pass.threads[thread].process;
            if (timeline_of_raw(job->facts, process, c->next.raw_ns) >= now)
                return 0;
            rc = calls_pass(job, spans, thread, process);
        } else {
            job->left_out += c->next.kind == UPMU_FUNCTION_ENTER;
        }
        job->done++;
        if (rc == 0)
            rc = calls_advance(c);
    }
    return rc;
}

const char *calls_name(const struct export_job *job, uint32_t function)
{
    struct export_calls *c = job->calls;
    struct upmu_function f = {.size = sizeof f};
    if (!c || function >= c->n_names || upmu_functions_at(c->functions, function, &f) != 0)
        return "?";
    if (f.name || c->names[function])
        return f.name ? f.name : c->names[function];
    const char *slash = f.module ? strrchr(f.module, '/') : NULL;
    char text[320];
    snprintf(text, sizeof text, "%.250s+0x%llx", slash ? slash + 1 : "", (unsigned long long)f.offset);
    c->names[function] = strdup(text);
    return c->names[function] ? c->names[function] : "?";
}

void calls_free(struct export_job *job)
{
    struct export_calls *c = job->calls;
    if (!c)
        return;
    for (size_t i = 0; c->names && i < c->n_names; i++)
        free(c->names[i]);
    free(c->names);
    map_free(&c->by_id);
    upmu_functions_close(c->functions);
    free(c);
    job->calls = NULL;
}
