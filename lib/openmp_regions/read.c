/* SPDX-License-Identifier: MIT */
/* Pass over the events of OpenMP. */
#include <stdlib.h>
#include <string.h>

#include "analysis/wait_state_file.h"
#include "base/error.h"
#include "openmp_regions/regions.h"
#include "openmp_regions/sites.h"
#include "trace/read/bare.h"

/* A time, moved into the stretch. */
static uint64_t read_time(const struct upmu_openmp *o, uint64_t ns)
{
    return ns < o->from_ns ? o->from_ns : ns > o->to_ns ? o->to_ns : ns;
}

/* Index of the process of an event; NONE without memory. */
static uint32_t read_process(struct upmu_openmp *o, struct upmu_trace *trace, const struct upmu_trace_event *e)
{
    uint32_t found = map_find(&o->by_process, e->process, 0);
    if (found != MAP_NONE)
        return found;
    struct upmu_trace_process of = {.size = sizeof of};
    struct omp_process *p = omp_grow(&o->processes, &o->n_processes, &o->cap_processes, sizeof *p);
    if (!p || !map_put(&o->by_process, e->process, 0, (uint32_t)(o->n_processes - 1)))
        return NONE;
    p->process = e->process;
    p->pid = e->pid;
    p->begin = p->last = e->time_ns;
    if (upmu_trace_process_at(trace, e->process, &of) == 0 && of.start_ns < e->time_ns)
        p->begin = read_time(o, of.start_ns);
    return (uint32_t)(o->n_processes - 1);
}

/* Index of the thread of an event; NONE without memory. The process's first thread lives from its begin on. */
static uint32_t read_thread(struct upmu_openmp *o, uint32_t process, const struct upmu_trace_event *e)
{
    uint32_t found = map_find(&o->by_thread, process, (uint64_t)e->tid);
    if (found != MAP_NONE)
        return found;
    struct omp_thread *t = omp_grow(&o->threads, &o->n_threads, &o->cap_threads, sizeof *t);
    if (!t || !map_put(&o->by_thread, process, (uint64_t)e->tid, (uint32_t)(o->n_threads - 1)))
        return NONE;
    t->process = process;
    t->tid = e->tid;
    t->begin = t->last = e->tid == e->pid ? o->processes[process].begin : e->time_ns;
    t->first_ns = e->tid == e->pid ? 0 : o->event_ns;
    o->processes[process].threads++;
    return (uint32_t)(o->n_threads - 1);
}

static int read_omp(struct upmu_openmp *o, uint32_t thread, const struct upmu_trace_event *e)
{
    const struct upmu_trace_omp *of = &e->omp;
    uint64_t now = e->time_ns;
    uint32_t running, construct = of->construct < REASONS ? of->construct : UPMU_OMP_NONE;
    switch (of->event) {
    case UPMU_OMP_PARALLEL_END:
        running = omp_running_find(o, o->threads[thread].process, of->value);
        if (running == NONE)
            o->processes[o->threads[thread].process].strays += o->counts;
        else {
            omp_master_end(o, running, now);
            omp_region_end(o, running, now);
        }
        return 0;
    case UPMU_OMP_MEMBER:
        return omp_member_begin(o, thread, of->value, of->number, now);
    case UPMU_OMP_MEMBER_END:
        omp_member_end(o, thread, now);
        return 0;
    case UPMU_OMP_WAIT:
        return omp_wait_begin(o, thread, construct, of->value, now);
    case UPMU_OMP_WAITED:
        omp_wait_end(o, thread, construct, of->value, now);
        return 0;
    case UPMU_OMP_RELEASE:
        omp_lock_release(o, thread, construct, of->value, now);
        return 0;
    case UPMU_OMP_TASK:
        return omp_task_begin(o, thread, of->value, now);
    case UPMU_OMP_TASK_END:
        omp_task_end(o, thread, now);
        return 0;
    case UPMU_OMP_TASK_CREATE:
        return omp_task_create(o, thread, of->value, now);
    case UPMU_OMP_ENTER:
        return omp_work_begin(o, thread, construct, of->value, now);
    case UPMU_OMP_LEAVE:
        omp_work_end(o, thread, construct, now);
        return 0;
    default:
        return 0;
    }
}

/* The life of a thread: only of those that have a part in OpenMP. */
static void read_life(struct upmu_openmp *o, const struct upmu_trace_event *e)
{
    uint32_t process = map_find(&o->by_process, e->process, 0);
    uint32_t thread = process == MAP_NONE ? MAP_NONE : map_find(&o->by_thread, process, (uint64_t)e->tid);
    if (process != MAP_NONE && e->time_ns > o->processes[process].last)
        o->processes[process].last = e->time_ns;
    if (thread == MAP_NONE)
        return;
    o->threads[thread].end = e->time_ns;
    o->threads[thread].has_ended = true;
}

/* Whether the value of an event is a call site. */
static bool read_has_site(const struct upmu_trace_omp *of)
{
    return of->event == UPMU_OMP_WAIT || of->event == UPMU_OMP_TASK || of->event == UPMU_OMP_TASK_CREATE ||
           of->event == UPMU_OMP_ENTER;
}

static int read_event(struct upmu_openmp *o, struct omp_sites *sites, struct upmu_trace *trace,
                      const struct upmu_trace_event *e)
{
    struct upmu_trace_event own;
    if (e->kind == UPMU_TRACE_THREAD_EXIT) {
        read_life(o, e);
        return 0;
    }
    uint32_t process = read_process(o, trace, e);
    uint32_t thread = process == NONE ? NONE : read_thread(o, process, e);
    if (thread == NONE)
        return UPMU_E_NOMEM;
    int rc;
    struct omp_process *p = &o->processes[process];
    /* The runtime's events at the end of the process come after the end of its threads. */
    if (o->threads[thread].has_ended)
        return 0;
    p->last = e->time_ns > p->last ? e->time_ns : p->last;
    switch (e->kind) {
    case UPMU_TRACE_OMP_ENV:
        p->method = e->omp_env.method;
        if (!p->runtime && !(p->runtime = strdup(e->name)))
            return upmu_fail(UPMU_E_NOMEM, "out of memory while reading OpenMP events");
        return 0;
    case UPMU_TRACE_OMP_PARALLEL:
        rc = omp_region_begin(o, thread, e->omp_parallel.region, omp_site(sites, trace, e->process, e->site),
                              e->time_ns);
        return rc == 0 && e->omp_parallel.threads == 1
                   ? omp_member_begin(o, thread, e->omp_parallel.region, 0, e->time_ns)
                   : rc;
    case UPMU_TRACE_OMP:
        own = *e;
        if (read_has_site(&e->omp))
            own.omp.value = omp_site(sites, trace, e->process, e->omp.value);
        return read_omp(o, thread, &own);
    default:
        return 0;
    }
}

/* Of a process that was killed: what its threads did last, they did until another process saw it last. Without the file, until its last
 * event. */
static int read_alive(struct upmu_openmp *o, const struct upmu_trace *trace)
{
    int rc = 0;
    for (size_t i = 0; rc != UPMU_E_NOMEM && i < o->n_processes; i++) {
        struct omp_process *p = &o->processes[i];
        struct upmu_trace_process of = {.size = sizeof of};
        struct wait_state_file f;
        if (upmu_trace_process_at(trace, p->process, &of) != 0 || of.complete || of.execed)
            continue;
        rc = wait_state_file_read(&f, trace_process_dir(trace, p->process));
        uint64_t until =
            rc > 0 && f.header.alive_raw_ns ? trace_time_of_raw(trace, p->process, f.header.alive_raw_ns) : 0;
        until = read_time(o, until);
        p->last = until > p->last ? until : p->last;
        wait_state_file_free(&f);
    }
    return rc == UPMU_E_NOMEM ? rc : 0;
}

/* Regions that had not ended, the inner ones first, and the rest of each thread's life. */
static void read_finish(struct upmu_openmp *o)
{
    for (uint64_t last = UINT64_MAX;;) {
        uint32_t newest = NONE;
        for (size_t i = 0; i < o->n_running; i++)
            if (o->running[i].id && o->running[i].began_ns <= last &&
                (newest == NONE || o->running[i].began_ns > o->running[newest].began_ns))
                newest = (uint32_t)i;
        if (newest == NONE)
            break;
        struct omp_running *r = &o->running[newest];
        last = r->began_ns;
        o->regions[r->region].unfinished += r->counts;
        o->processes[r->process].unfinished += r->counts;
        omp_region_end(o, newest, o->processes[r->process].last);
    }
    for (size_t i = 0; i < o->n_threads; i++) {
        struct omp_thread *t = &o->threads[i];
        omp_waits_end(o, (uint32_t)i, o->processes[t->process].last);
        t->end = t->has_ended && t->end > t->last ? t->end : t->has_ended ? t->last : o->processes[t->process].last;
        t->n_frames = 0;
        omp_pass_outside(t, t->end);
        t->end = t->last;
        if (t->end == t->begin && (o->from_ns != 0 || o->to_ns != UINT64_MAX))
            o->processes[t->process].threads--;
    }
}

/* The event with its time in the stretch. */
static struct upmu_trace_event read_into_stretch(struct upmu_openmp *o, const struct upmu_trace_event *e)
{
    struct upmu_trace_event in = *e;
    if (!o->begun && e->time_ns >= o->from_ns)
        omp_stretch_begin(o);
    if (e->time_ns > o->to_ns)
        o->counts = false;
    o->event_ns = e->time_ns;
    in.time_ns = read_time(o, e->time_ns);
    return in;
}

int omp_read(struct upmu_openmp *o, const char *dir)
{
    static const int kinds[] = {UPMU_TRACE_OMP, UPMU_TRACE_OMP_PARALLEL, UPMU_TRACE_OMP_ENV, UPMU_TRACE_THREAD_EXIT};
    const struct upmu_trace_filter_opts only = {
        .size = sizeof only, .kinds = kinds, .n_kinds = sizeof kinds / sizeof *kinds};
    struct upmu_trace *trace;
    struct omp_sites sites = {.n = 0};
    const struct upmu_trace_event *e;
    int rc = upmu_trace_open(&trace, dir);
    if (rc != 0)
        return rc;
    rc = upmu_trace_filter(trace, &only);
    while (rc == 0 && (rc = upmu_trace_next(trace, &e)) > 0) {
        struct upmu_trace_event in = read_into_stretch(o, e);
        rc = read_event(o, &sites, trace, &in);
    }
    if (!o->begun)
        omp_stretch_begin(o);
    if (rc >= 0)
        rc = read_alive(o, trace);
    read_finish(o);
    omp_sites_free(&sites);
    upmu_trace_close(trace);
    return rc;
}
