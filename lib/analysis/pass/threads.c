/* SPDX-License-Identifier: MIT */
/* Names and lifetimes of threads. */
#include <stdlib.h>
#include <string.h>

#include "analysis/pass/wakeup_graph.h"
#include "analysis/pass/handlers.h"
#include "analysis/pass/tables.h"

/* ------------------------------------------------------------------------------------------------------- names */

/* The live thread with that pthread_t, or MAP_NONE. */
static uint32_t thread_by_handle(const struct overview *o, uint32_t process, uint64_t handle)
{
    uint32_t thread = map_find(&o->by_handle, process, handle);
    return thread != MAP_NONE && !o->threads[thread].ended ? thread : MAP_NONE;
}

/* What is known of a pthread_t. @return NULL if there is no memory. */
static struct ov_early_name *thread_early(struct overview *o, uint32_t process, uint64_t handle)
{
    uint32_t at = map_find(&o->by_early, process, handle);
    if (at == MAP_NONE) {
        struct ov_early_name *all = array_reserve(o->early, o->n_early, &o->cap_early, sizeof *all);
        if (!all)
            return NULL;
        o->early = all;
        at = (uint32_t)o->n_early;
        if (!map_put(&o->by_early, process, handle, at))
            return NULL;
        all[o->n_early++] = (struct ov_early_name){0};
    }
    return &o->early[at];
}

/* Records a thread without an event of its own yet. */
static int thread_known_before_event(struct overview *o, uint32_t process, uint64_t handle, const char *name)
{
    struct ov_early_name *early = thread_early(o, process, handle);
    return early ? overview_rename(&early->name, name) : overview_no_memory();
}

static int name_thread(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    uint64_t own = o->threads[thread].handle;
    uint32_t named = e->object ? thread_by_handle(o, e->process, e->object) : thread;
    if (e->thread.peer != 0)
        named = thread_of(o, e->process, e->pid, e->thread.peer, e->time_ns);
    else if (named == MAP_NONE && own == 0 && map_find(&o->by_early, e->process, e->object) == MAP_NONE)
        named = thread; /* a thread older than the recording has no recorded pthread_t: it names itself */
    else if (named == MAP_NONE)
        return thread_known_before_event(o, e->process, e->object, e->name);
    if (named == MAP_NONE)
        return overview_no_memory();
    int rc = e->thread.peer != 0 ? thread_note_handle(o, named, e->object) : 0;
    return rc == 0 ? overview_rename(&o->threads[named].name, e->name) : rc;
}

/* -------------------------------------------------------------------------------------------------------- life */

static int thread_create(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    if (e->result != 0)
        return 0;
    int rc = wakeup_create(o, thread, e);
    if (rc != 0)
        return rc;
    if (e->thread.peer == 0) {
        struct ov_early_name *early = thread_early(o, e->process, e->object);
        if (!early)
            return overview_no_memory();
        early->created = !early->started; /* it may have started, and ended, before its creator returned */
        early->started = false;
        return 0;
    }
    uint32_t made = thread_of(o, e->process, e->pid, e->thread.peer, e->time_ns);
    if (made == MAP_NONE)
        return overview_no_memory();
    o->threads[made].creator = e->tid;
    return e->object == 0 || map_put(&o->by_handle, e->process, e->object, made) ? 0 : overview_no_memory();
}

static int thread_start(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    struct ov_thread *t = &o->threads[thread];
    t->started = true;
    t->begin_ns = e->time_ns;
    sched_start(t, e->time_ns);
    t->handle = e->object;
    t->start = e->site;
    int rc = wakeup_start(o, thread, e);
    if (rc != 0)
        return rc;
    if (e->thread.peer != 0)
        t->creator = e->thread.peer;
    if (e->object == 0)
        return 0;
    struct ov_early_name *early = thread_early(o, e->process, e->object);
    if (!early)
        return overview_no_memory();
    early->started = !early->created;
    early->created = false;
    if (early->name) {
        free(t->name);
        t->name = early->name;
        early->name = NULL;
    }
    return map_put(&o->by_handle, e->process, e->object, thread) ? 0 : overview_no_memory();
}

/* The scheduler's sum includes the time before a new thread's first event, which its life does not: not more than the rest of its life. */
static uint64_t thread_ready(const struct ov_thread *t, uint64_t ready_ns)
{
    uint64_t cpu = t->cpu_ns == UPMU_NO_VALUE ? 0 : t->cpu_ns;
    uint64_t most = t->end_ns > t->begin_ns + cpu ? t->end_ns - t->begin_ns - cpu : 0;
    return ready_ns < most ? ready_ns : most;
}

static int thread_exit_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    struct ov_thread *t = &o->threads[thread];
    uint32_t early = t->handle == 0 ? map_find(&o->by_early, t->process, e->object) : MAP_NONE;
    int rc = thread_note_handle(o, thread, e->object);
    if (early != MAP_NONE) /* recording was stopped between the creation and the start */
        o->early[early].created = false;
    /* The exit does not show that a wait ended: a canceled thread exits inside it. */
    t->actions--;
    t->ended = true;
    t->end_ns = e->time_ns;
    if (e->flags & UPMU_TRACE_FLAG_FINAL)
        t->switches =
            (struct upmu_value){.value = e->thread_exit.switches, .raw = e->thread_exit.switches, .status = UPMU_EXACT};
    if (e->thread_exit.cpu_ns > 0)
        t->cpu_ns = e->thread_exit.cpu_ns;
    if (e->thread_exit.ready_ns > 0)
        t->ready_ns = thread_ready(t, e->thread_exit.ready_ns);
    if (e->thread_exit.cpus > o->processes[t->process].cpus_allowed)
        o->processes[t->process].cpus_allowed = e->thread_exit.cpus;
    rc = rc == 0 ? waits_abandon(o, thread, e->time_ns) : rc;
    regions_abandon(o, thread, false);
    if (rc == 0)
        rc = sched_end(o, thread);
    return rc == 0 ? wakeup_end(o, thread, e->time_ns) : rc;
}

int thread_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_THREAD_CREATE:
        return thread_create(o, thread, e);
    case UPMU_TRACE_THREAD_START:
        /* The kernel reuses the ids of ended threads. */
        if (o->threads[thread].events > 1)
            thread = thread_new(o, e->process, e->pid, e->tid, e->time_ns);
        if (thread == MAP_NONE)
            return overview_no_memory();
        o->threads[thread].last_ns = e->time_ns;
        o->threads[thread].events = 1;
        return thread_start(o, thread, e);
    case UPMU_TRACE_THREAD_EXIT:
        return thread_exit_event(o, thread, e);
    case UPMU_TRACE_THREAD_NAME:
        return name_thread(o, thread, e);
    case UPMU_TRACE_THREAD_CANCEL: {
        uint32_t canceled = e->result == 0 ? thread_of_handle(o, e->process, e->object) : MAP_NONE;
        return canceled == MAP_NONE ? 0 : wakeup_canceled_by(o, canceled, thread, e->time_ns);
    }
    default:
        return 0;
    }
}
