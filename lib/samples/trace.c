/* SPDX-License-Identifier: MIT */
/* Samples that a program took itself, by timers of the CPU time of its threads: events of the trace. */
#include <stdio.h>
#include <string.h>

#include "samples/samples.h"
#include "upmu/sampler.h"
#include "upmu/trace.h"

enum { TRACE_SECOND = 1000000000 }; /* in nanoseconds */

/* Modules of the process that became known since the last sample. */
static bool trace_map_modules(struct upmu_samples *s, const struct upmu_trace *trace, uint32_t process,
                              struct space *space)
{
    while (space->n < upmu_trace_module_count(trace, process)) {
        struct upmu_trace_module m = UPMU_INIT(struct upmu_trace_module);
        if (upmu_trace_module_at(trace, process, space->n, &m) != 0 ||
            !spaces_map_module(&s->spaces, space, m.start, m.end, m.base, m.path, m.build_id))
            return false;
    }
    return true;
}

static void trace_find_stack(const struct upmu_trace *trace, const struct upmu_trace_event *e,
                             struct samples_stack *out)
{
    struct upmu_trace_stack stack = UPMU_INIT(struct upmu_trace_stack);
    out->address[out->n++] = e->site;
    if (upmu_trace_stack_find(trace, e->process, e->stack, &stack) != 0)
        return;
    for (uint32_t i = 0; i < stack.n_frames && out->n < SAMPLES_FRAMES_MAX; i++)
        out->address[out->n++] = stack.frames[i];
    out->is_whole = !stack.truncated;
}

static bool trace_add_sample(struct upmu_samples *s, const struct upmu_trace *trace, const struct upmu_trace_event *e,
                             uint32_t thread)
{
    static const struct samples_stack empty;
    struct samples_stack stack = empty;
    struct samples_row row = {.raw_ns = e->time_ns, .weight = e->sample.cpu_ns, .thread = thread};
    struct space *space = spaces_of(&s->spaces, e->process);
    if (!space || !trace_map_modules(s, trace, e->process, space))
        return false;
    trace_find_stack(trace, e, &stack);
    return samples_path(s, space, &stack, &row) && samples_add(s, &row);
}

static bool trace_add(struct upmu_samples *s, const struct upmu_trace *trace, const struct upmu_trace_event *e)
{
    pid_t named = e->kind == UPMU_TRACE_THREAD_NAME && e->thread.peer ? e->thread.peer : e->tid;
    uint32_t i = samples_thread(s, (uint32_t)e->pid, (uint32_t)named);
    if (i == MAP_NONE)
        return false;
    struct samples_thread *t = &s->threads[i];
    if (e->kind == UPMU_TRACE_THREAD_NAME) {
        snprintf(t->name, sizeof t->name, "%.15s", e->name);
        return true;
    }
    if (!t->begun)
        t->first_ns = e->sample.total_ns - e->sample.cpu_ns;
    t->begun = true;
    t->last_ns = e->sample.total_ns;
    if (e->sample.period_ns)
        s->header.frequency = (TRACE_SECOND + e->sample.period_ns / 2) / e->sample.period_ns;
    return e->site == 0 || !samples_in_stretch(s, e->time_ns) || trace_add_sample(s, trace, e, i);
}

static int trace_read(struct upmu_samples *s, struct upmu_trace *trace)
{
    static const int kinds[] = {UPMU_TRACE_SAMPLE, UPMU_TRACE_THREAD_NAME};
    struct upmu_trace_filter_opts filter = UPMU_INIT(struct upmu_trace_filter_opts);
    const struct upmu_trace_event *e;
    int rc, more;
    filter.kinds = kinds;
    filter.n_kinds = sizeof kinds / sizeof *kinds;
    rc = upmu_trace_filter(trace, &filter);
    while (rc == 0 && (more = upmu_trace_next(trace, &e)) != 0) {
        if (more == UPMU_E_FORMAT)
            s->totals.damages++;
        else if (more < 0)
            rc = more;
        else if (!trace_add(s, trace, e))
            rc = samples_no_memory();
    }
    return rc;
}

/* The main thread has the name of its program. */
static void trace_name_main(struct upmu_samples *s, const struct upmu_trace_process *p)
{
    uint32_t i = map_find(&s->by_thread, (uint64_t)p->pid, (uint64_t)p->pid);
    size_t bytes = strcspn(p->command, " ");
    const char *name = memrchr(p->command, '/', bytes);
    name = name ? name + 1 : p->command;
    if (i != MAP_NONE && !s->threads[i].name[0])
        snprintf(s->threads[i].name, sizeof s->threads[i].name, "%.*s", (int)(p->command + bytes - name), name);
}

static void trace_total(struct upmu_samples *s, const struct upmu_trace *trace)
{
    struct sampling_header *h = &s->header;
    bool ended = true;
    for (size_t i = 0; i < upmu_trace_process_count(trace); i++) {
        struct upmu_trace_process p = UPMU_INIT(struct upmu_trace_process);
        if (upmu_trace_process_at(trace, i, &p) != 0)
            continue;
        ended = ended && (p.complete || p.execed);
        s->totals.lost += p.lost;
        trace_name_main(s, &p);
    }
    for (size_t i = 0; i < s->n_threads; i++)
        h->count += s->threads[i].last_ns - s->threads[i].first_ns;
    h->source = SAMPLING_TIMER;
    h->flags = SAMPLING_NS | (ended ? SAMPLING_ENDED : 0u);
    h->stacks = UPMU_SAMPLER_COPY;
    snprintf(h->event, sizeof h->event, "task-clock");
}

int samples_find_stretch(struct upmu_samples *s, const char *dir)
{
    const struct upmu_trace_event *e;
    struct upmu_trace *trace;
    uint64_t start_ns, begin_ns = 0, end_ns = 0;
    int more;
    if (upmu_trace_open(&trace, dir) != 0) /* that of the samples is set when they are read */
        return 0;
    start_ns = upmu_trace_begin_ns(trace) ? upmu_trace_begin_ns(trace) : UINT64_MAX;
    while ((more = upmu_trace_next(trace, &e)) != 0) {
        if (more < 0 && more != UPMU_E_FORMAT)
            break;
        if (more < 0)
            continue;
        begin_ns = begin_ns ? begin_ns : e->time_ns < start_ns ? e->time_ns : start_ns;
        end_ns = e->time_ns > end_ns ? e->time_ns : end_ns;
    }
    upmu_trace_close(trace);
    return more < 0 ? more : begin_ns ? samples_set_stretch(s, begin_ns, end_ns) : 0;
}

int samples_read_trace(struct upmu_samples *s, const char *dir)
{
    struct upmu_trace *trace;
    int rc = upmu_trace_open(&trace, dir);
    if (rc != 0)
        return rc;
    rc = trace_read(s, trace);
    bool any = false;
    for (size_t i = 0; i < s->n_threads; i++)
        any = any || s->threads[i].begun;
    if (rc == 0 && any)
        trace_total(s, trace);
    upmu_trace_close(trace);
    return rc == 0 && !any ? UPMU_E_STATE : rc;
}
