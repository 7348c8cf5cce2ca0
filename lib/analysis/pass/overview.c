/* SPDX-License-Identifier: MIT */
/* The pass over a recording: one event after the other, to those it concerns. Room: analysis. Before it: the trace
 * reader; after it: threads.c, objects.c, regions.c. */
#include "analysis/pass/overview.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int overview_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "no memory for the overview of a recording");
}

int overview_rename(char **slot, const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        return overview_no_memory();
    free(*slot);
    *slot = copy;
    return 0;
}

int overview_process(struct overview *o, const struct ov_process *process)
{
    struct ov_process *all = array_room(o->processes, o->n_processes, &o->cap_processes, sizeof *all);
    if (!all)
        return overview_no_memory();
    o->processes = all;
    all[o->n_processes++] = *process;
    return 0;
}

enum concern {
    CONCERNS_NOBODY,
    CONCERNS_REGION,
    CONCERNS_OBJECT,
    CONCERNS_THREAD,
    CONCERNS_MARK,
    CONCERNS_SCHED,    /* no doing of the thread's own */
    CONCERNS_COUNTERS, /* goes with the event after it */
};

static enum concern concern_of(int kind)
{
    if (kind == UPMU_TRACE_REGION_BEGIN || kind == UPMU_TRACE_REGION_END)
        return CONCERNS_REGION;
    if (kind == UPMU_TRACE_MARK || kind == UPMU_TRACE_LOCK_ORDER) /* for deadlocks only */
        return CONCERNS_MARK;
    if (kind == UPMU_TRACE_LOCK_REQUEST) /* the acquisition or the wait that follows it has the rest */
        return CONCERNS_MARK;
    if (kind == UPMU_TRACE_THREAD_JOIN || kind == UPMU_TRACE_THREAD_JOINED)
        return CONCERNS_OBJECT;
    if (kind >= UPMU_TRACE_THREAD_CREATE && kind <= UPMU_TRACE_THREAD_CANCEL)
        return CONCERNS_THREAD;
    if ((kind >= UPMU_TRACE_SCHED_BEGIN && kind <= UPMU_TRACE_KERNEL_LOCK_DONE) || kind == UPMU_TRACE_FUTEX_COUNTS)
        return CONCERNS_SCHED;
    if (kind == UPMU_TRACE_COUNTERS)
        return CONCERNS_COUNTERS;
    bool lock = kind >= UPMU_TRACE_LOCK_BLOCK && kind <= UPMU_TRACE_LOCK_CONSISTENT;
    bool cond = kind >= UPMU_TRACE_COND_WAIT && kind <= UPMU_TRACE_COND_BROADCAST;
    bool sem = kind >= UPMU_TRACE_SEM_POST && kind <= UPMU_TRACE_SEM_VALUE;
    bool other = kind >= UPMU_TRACE_BARRIER_ARRIVE && kind <= UPMU_TRACE_FUTEX_ALSO;
    return lock || cond || sem || other ? CONCERNS_OBJECT : CONCERNS_NOBODY;
}

static void note_time(struct overview *o, struct ov_process *p, const struct upmu_trace_event *e)
{
    if (o->events++ == 0)
        o->begin_ns = e->time_ns;
    o->end_ns = e->time_ns;
    p->last_ns = e->time_ns;
}

/* For what recording them has cost. */
static void note_form(struct ov_process *p, const struct upmu_trace_event *e)
{
    bool short_kind = e->kind == UPMU_TRACE_LOCK_ACQUIRE || e->kind == UPMU_TRACE_LOCK_RELEASE ||
                      e->kind == UPMU_TRACE_SEM_POST ||
                      (e->kind == UPMU_TRACE_LOCK_REQUEST && e->object_type == UPMU_OBJECT_MUTEX);
    bool compact = short_kind && e->result == 0 && e->site == 0 && (e->flags & ~(uint32_t)UPMU_TRACE_FLAG_SHARED) == 0;
    p->compact += compact;
    p->full += !compact;
    p->stacked += e->stack != 0 && e->kind != UPMU_TRACE_LOCK_REQUEST; /* one for it and what follows */
}

static int take(struct overview *o, const struct upmu_trace_event *e)
{
    enum concern concern = concern_of(e->kind);
    if (concern == CONCERNS_NOBODY) {
        o->unknown++;
        return 0;
    }
    if (e->process >= o->n_processes)
        return upmu_fail(UPMU_E_INVAL, "an event names process %u of %zu", (unsigned)e->process, o->n_processes);
    note_time(o, &o->processes[e->process], e);
    if (concern != CONCERNS_REGION && concern != CONCERNS_SCHED && concern != CONCERNS_COUNTERS)
        note_form(&o->processes[e->process], e);
    /* Counts of a lock that ends are told for all threads by the one that ends it. */
    pid_t tid = e->kind == UPMU_TRACE_LOCK_COUNTS && e->peer ? e->peer : e->tid;
    uint32_t thread = thread_of(o, e->process, e->pid, tid, e->time_ns);
    if (thread == MAP_NONE)
        return overview_no_memory();
    if (concern == CONCERNS_SCHED)
        return sched_event(o, thread, e);
    if (concern == CONCERNS_COUNTERS)
        return moment_note(o, thread, e);
    struct ov_thread *t = &o->threads[thread];
    t->last_ns = e->time_ns;
    t->events++;
    t->actions += e->kind != UPMU_TRACE_LOCK_COUNTS && e->kind != UPMU_TRACE_LOCK_ORDER;
    switch (concern) {
    case CONCERNS_REGION:
        return e->kind == UPMU_TRACE_REGION_BEGIN ? region_begin(o, thread, e) : region_end(o, thread, e);
    case CONCERNS_OBJECT:
        return object_event(o, thread, e);
    case CONCERNS_THREAD:
        return thread_event(o, thread, e);
    default:
        return 0;
    }
}

int overview_add(struct overview *o, const struct upmu_trace_event *e)
{
    int rc = take(o, e);
    if (rc != 0 || !o->hooks || !o->hooks->event || concern_of(e->kind) == CONCERNS_NOBODY)
        return rc;
    /* Looked up again: with its start a thread may have become another one. */
    return o->hooks->event(o->hooks->arg, o, thread_of(o, e->process, e->pid, e->tid, e->time_ns), e);
}

/* A thread whose end was not recorded: with its process's last event, or as long as it is known to have stood. */
static uint64_t last_seen(struct overview *o, const struct ov_thread *t)
{
    uint64_t last = o->processes[t->process].last_ns;
    if (t->stood_ns > o->end_ns)
        o->end_ns = t->stood_ns;
    return t->stood_ns > last ? t->stood_ns : last;
}

int overview_finish(struct overview *o)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < o->n_threads; i++) {
        struct ov_thread *t = &o->threads[i];
        if (!t->ended)
            t->end_ns = last_seen(o, t);
        rc = waits_abandon(o, (uint32_t)i, t->end_ns);
        regions_abandon(o, (uint32_t)i);
        if (rc == 0 && !t->ended)
            rc = sched_end(o, (uint32_t)i);
    }
    if (rc == 0)
        rc = chain_finish(o);
    if (rc == 0)
        rc = overview_sort(o);
    return rc == 0 ? paths_find(o) : rc;
}

static void free_things(struct overview *o)
{
    for (size_t i = 0; i < o->n_threads; i++) {
        free(o->threads[i].name);
        free(o->threads[i].open);
        free(o->threads[i].also);
        free(o->threads[i].open_values);
        free(o->threads[i].counts);
        free(o->threads[i].moment.values);
        for (size_t k = 0; k < o->threads[i].n_pending; k++)
            section_forget(&o->threads[i].pending[k].section);
    }
    for (size_t i = 0; i < o->n_objects; i++) {
        free(o->objects[i].name);
        free(o->objects[i].held.counts);
        free(o->objects[i].waited.counts);
    }
    for (size_t i = 0; i < o->n_uses; i++)
        section_forget(&o->uses[i].section);
    for (size_t i = 0; i < o->n_regions; i++) {
        free(o->regions[i].name);
        free(o->regions[i].counts);
    }
    for (size_t i = 0; i < o->n_early; i++)
        free(o->early[i].name);
}

void overview_free(struct overview *o)
{
    free_things(o);
    chain_free(&o->chain);
    paths_free(&o->paths);
    struct map *maps[] = {&o->by_tid, &o->by_handle, &o->by_early,  &o->by_tally, &o->by_address,
                          &o->by_use, &o->by_site,   &o->by_region, &o->by_waker, &o->by_kernel_lock};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        map_free(maps[i]);
    void *arrays[] = {o->processes,    o->threads,      o->objects,      o->uses,         o->sites,
                      o->regions,      o->early,        o->tallies,      o->thread_order, o->object_order,
                      o->region_order, o->thread_place, o->object_place, o->wakers,       o->kernel_locks};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    *o = (struct overview){0};
}
