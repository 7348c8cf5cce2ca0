/* SPDX-License-Identifier: MIT */
/* Dispatcher of the event pass. */
#include "analysis/pass/wakeup_graph.h"
#include "analysis/pass/path.h"
#include "analysis/pass/overview.h"
#include "analysis/pass/handlers.h"
#include "analysis/pass/holds.h"
#include "analysis/pass/tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum event_category {
    CATEGORY_UNKNOWN,
    CATEGORY_REGION,
    CATEGORY_OBJECT,
    CATEGORY_THREAD,
    CATEGORY_NO_STATE,
    CATEGORY_SCHED,    /* recorded by the kernel, not by the thread */
    CATEGORY_COUNTERS, /* belongs to the event after it */
};

static enum event_category event_category_of(int kind)
{
    if (kind == UPMU_TRACE_REGION_BEGIN || kind == UPMU_TRACE_REGION_END || kind == UPMU_TRACE_REGIONS_DISCARDED)
        return CATEGORY_REGION;
    /* LOCK_ORDER changes no wait and no hold; the acquisition or wait after a LOCK_REQUEST has all that is needed here. */
    if (kind == UPMU_TRACE_MARK || kind == UPMU_TRACE_LOCK_ORDER || kind == UPMU_TRACE_LOCK_REQUEST ||
        (kind >= UPMU_TRACE_MPI_ENTER && kind <= UPMU_TRACE_MPI_START) || /* of upmu/mpi.h */
        (kind >= UPMU_TRACE_OMP && kind <= UPMU_TRACE_HEAP_FREE))         /* of upmu/openmp.h and upmu/heap.h */
        return CATEGORY_NO_STATE;
    if (kind == UPMU_TRACE_THREAD_JOIN || kind == UPMU_TRACE_THREAD_JOINED || kind == UPMU_TRACE_CALL_BLOCK ||
        kind == UPMU_TRACE_CALL_RETURN)
        return CATEGORY_OBJECT;
    if (kind >= UPMU_TRACE_THREAD_CREATE && kind <= UPMU_TRACE_THREAD_CANCEL)
        return CATEGORY_THREAD;
    if ((kind >= UPMU_TRACE_SCHED_BEGIN && kind <= UPMU_TRACE_KERNEL_LOCK_DONE) || kind == UPMU_TRACE_FUTEX_COUNTS)
        return CATEGORY_SCHED;
    if (kind == UPMU_TRACE_COUNTERS)
        return CATEGORY_COUNTERS;
    bool lock = kind >= UPMU_TRACE_LOCK_BLOCK && kind <= UPMU_TRACE_LOCK_CONSISTENT;
    bool cond = kind >= UPMU_TRACE_COND_WAIT && kind <= UPMU_TRACE_COND_BROADCAST;
    bool sem = kind >= UPMU_TRACE_SEM_POST && kind <= UPMU_TRACE_SEM_VALUE;
    bool other = kind >= UPMU_TRACE_BARRIER_ARRIVE && kind <= UPMU_TRACE_FUTEX_ALSO;
    return lock || cond || sem || other ? CATEGORY_OBJECT : CATEGORY_UNKNOWN;
}

static void overview_note_time(struct overview *o, struct ov_process *p, const struct upmu_trace_event *e)
{
    if (o->events++ == 0)
        o->begin_ns = o->start_ns != 0 && o->start_ns < e->time_ns ? o->start_ns : e->time_ns;
    o->openmp += e->kind == UPMU_TRACE_OMP || e->kind == UPMU_TRACE_OMP_PARALLEL;
    /* Of a trace that is being written, the begin of a call's wait is read after later events. */
    o->end_ns = e->time_ns > o->end_ns ? e->time_ns : o->end_ns;
    p->last_ns = e->time_ns > p->last_ns ? e->time_ns : p->last_ns;
}

/* Counts events by size class, from which the cost of recording is computed. */
static void overview_count_form(struct ov_process *p, const struct upmu_trace_event *e)
{
    bool short_kind = e->kind == UPMU_TRACE_LOCK_ACQUIRE || e->kind == UPMU_TRACE_LOCK_RELEASE ||
                      e->kind == UPMU_TRACE_SEM_POST ||
                      (e->kind == UPMU_TRACE_LOCK_REQUEST && e->object_type == UPMU_OBJECT_MUTEX);
    bool compact = short_kind && e->result == 0 && e->site == 0 && (e->flags & ~(uint32_t)UPMU_TRACE_FLAG_SHARED) == 0;
    p->compact += compact;
    p->full += !compact;
    p->stacked += e->stack != 0 && e->kind != UPMU_TRACE_LOCK_REQUEST; /* it shares its stack with the next event */
}

enum { STACKS_TRIED_MAX = 100 }; /* of one thread: each is looked up */

/* A stack of the thread that shows the function it was started with: those of std::call_once() in the C++ library do not. */
static void note_stack(const struct overview *o, struct ov_thread *t, const struct upmu_trace_event *e)
{
    if (e->stack == 0 || t->stack_shows_start || t->stack == e->stack || t->stacks_tried == STACKS_TRIED_MAX)
        return;
    t->stack = e->stack;
    t->stacks_tried++;
    t->stack_shows_start = o->stack_shows_start && o->stack_shows_start(o->call_site_arg, e->process, e->stack);
}

/* An event that a thread can record only while it does not wait. */
static bool event_shows_running(const struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_LOCK_COUNTS:
    case UPMU_TRACE_LOCK_ORDER:
    case UPMU_TRACE_THREAD_EXIT:
    case UPMU_TRACE_FUTEX_ALSO: /* belongs to the begin of the wait */
    case UPMU_TRACE_LOCK_ACQUIRED:
    case UPMU_TRACE_LOCK_FAILED:
    case UPMU_TRACE_COND_WAKE:
    case UPMU_TRACE_THREAD_JOINED:
    case UPMU_TRACE_BARRIER_LEAVE:
    case UPMU_TRACE_FUTEX_WOKEN:
    case UPMU_TRACE_CALL_RETURN:
        return false;
    default:
        return true;
    }
}

static int overview_dispatch(struct overview *o, const struct upmu_trace_event *e)
{
    enum event_category category = event_category_of(e->kind);
    if (category == CATEGORY_UNKNOWN) {
        o->unknown++;
        return 0;
    }
    if (e->process >= o->n_processes)
        return upmu_fail(UPMU_E_INVAL, "an event has process index %u, the trace has %zu processes",
                         (unsigned)e->process, o->n_processes);
    overview_note_time(o, &o->processes[e->process], e);
    if (category != CATEGORY_REGION && category != CATEGORY_SCHED && category != CATEGORY_COUNTERS)
        overview_count_form(&o->processes[e->process], e);
    /* The thread that destroys a lock records the counts of all threads. */
    pid_t tid = e->kind == UPMU_TRACE_LOCK_COUNTS ? e->lock_counts.thread : e->tid;
    uint32_t thread = thread_of(o, e->process, e->pid, tid, e->time_ns);
    if (thread == MAP_NONE)
        return overview_no_memory();
    if (category == CATEGORY_SCHED)
        return sched_event(o, thread, e);
    if (category == CATEGORY_COUNTERS)
        return snapshot_record(o, thread, e);
    struct ov_thread *t = &o->threads[thread];
    t->last_ns = e->time_ns;
    t->events++;
    note_stack(o, t, e);
    bool acts = e->kind != UPMU_TRACE_LOCK_COUNTS && e->kind != UPMU_TRACE_LOCK_ORDER;
    t->actions += acts;
    if (acts && e->kind != UPMU_TRACE_THREAD_EXIT)
        t->acted_ns = e->time_ns;
    if (t->n_pending > 0 && event_shows_running(e) && wakeup_interrupt(o, thread, e->time_ns) != 0)
        return overview_no_memory();
    switch (category) {
    case CATEGORY_REGION:
        return region_event(o, thread, e);
    case CATEGORY_OBJECT:
        return object_event(o, thread, e);
    case CATEGORY_THREAD:
        return thread_event(o, thread, e);
    default:
        return e->kind == UPMU_TRACE_LOCK_ORDER ? object_order_event(o, e) : 0;
    }
}

int overview_add(struct overview *o, const struct upmu_trace_event *e)
{
    int rc = overview_dispatch(o, e);
    if (rc != 0 || !o->hooks || !o->hooks->event || event_category_of(e->kind) == CATEGORY_UNKNOWN)
        return rc;
    /* Look the thread up again: THREAD_START may have created a new one. */
    return o->hooks->event(o->hooks->arg, o, thread_of(o, e->process, e->pid, e->tid, e->time_ns), e);
}

void overview_extend_wait(struct overview *o, uint32_t process, pid_t tid, uint64_t address, uint64_t until,
                          uint64_t most_ns)
{
    uint32_t thread = map_find(&o->by_tid, process, (uint32_t)tid);
    struct ov_thread *t = thread != MAP_NONE ? &o->threads[thread] : NULL;
    if (!t || t->ended || t->n_pending == 0)
        return;
    const struct pending_wait *p = &t->pending[t->n_pending - 1];
    if (o->objects[p->object].address != address || until < p->begin_ns)
        return;
    uint64_t ns = until - p->begin_ns;
    t->blocked_until_ns = p->begin_ns + (ns < most_ns ? ns : most_ns);
}

/* A thread without an exit event: it ended when its process was last seen alive, at the last event if that is not known, its waits if
 * they are known to have lasted until then. One with counts alone has ended, or not: its last counts. Of one that only others name no
 * time is known. */
static void overview_end_unseen(struct overview *o, struct ov_thread *t)
{
    const struct ov_process *p = &o->processes[t->process];
    /* Of regions alone there is no event at the end of a thread: one without an open region has ended, or not. */
    bool regions_only = p->full + p->compact == 0 && t->n_open == 0 && t->tid != t->pid;
    bool acted = (t->actions > 0 && !regions_only) || t->sched.recorded;
    uint64_t last = acted ? p->last_ns : t->last_ns != 0 ? t->last_ns : t->begin_ns, seen_ns = t->blocked_until_ns;
    if (!acted || t->blocked_until_ns < last)
        t->blocked_until_ns = last;
    t->end_ns = acted && p->alive_ns > t->blocked_until_ns ? p->alive_ns : t->blocked_until_ns;
    if (waits_are_lost(o, t))
        t->blocked_until_ns = seen_ns;
    if (t->end_ns > o->end_ns)
        o->end_ns = t->end_ns;
}

/* A thread that had not ended at the end of the window. */
static void overview_end_in_window(const struct overview *o, uint32_t thread, struct ov_thread *t)
{
    const struct ov_thread *all = &o->window.whole->threads[thread];
    t->end_ns = window_time(&o->window, all->end_ns);
    t->blocked_until_ns = all->ended ? t->end_ns : window_time(&o->window, all->blocked_until_ns);
    if (all->sched.seen_ns >= t->end_ns || all->ended)
        t->sched.seen_ns = t->end_ns;
}

/* The kernel's sums are of the whole life: they are kept if recording was stopped for a moment only, as at its end. */
static void overview_check_sums(const struct overview *o, struct ov_thread *t)
{
    enum { MOST_PARTS = 1000 };
    uint64_t all = t->end_ns - t->begin_ns, life = recorded_ns(o, t->process, t->begin_ns, t->end_ns);
    if (all - life > all / MOST_PARTS)
        t->cpu_ns = t->ready_ns = UPMU_NO_VALUE;
    else if (life < all && t->cpu_ns != UPMU_NO_VALUE && t->cpu_ns > life)
        t->cpu_ns = life;
}

/* Sums of the whole life of a thread whose begin was overwritten, or not recorded since recording was stopped: they are not of the
 * part that is known. */
static void overview_forget_whole_life(const struct overview *o, struct ov_thread *t)
{
    const struct ov_process *p = &o->processes[t->process];
    bool may_be_older = p->overwritten || (p->n_pauses > 0 && p->pauses[0].begin_ns < t->begin_ns);
    if (!may_be_older || t->started || t->begin_ns == p->start_ns)
        return;
    t->cpu_ns = t->ready_ns = UPMU_NO_VALUE;
    t->switches = (struct upmu_value){.value = UPMU_NO_VALUE, .status = UPMU_NOT_COUNTED};
}

static int overview_end_thread(struct overview *o, uint32_t thread)
{
    struct ov_thread *t = &o->threads[thread];
    if (!t->ended && o->window.whole)
        overview_end_in_window(o, thread, t);
    else if (!t->ended)
        overview_end_unseen(o, t);
    overview_forget_whole_life(o, t);
    int rc = waits_abandon(o, thread, t->ended ? t->end_ns : t->blocked_until_ns);
    regions_abandon(o, thread, !t->ended && window_is_outlasted(o, thread));
    overview_check_sums(o, t);
    return rc == 0 && !t->ended ? sched_end(o, thread) : rc;
}

int overview_end(struct overview *o)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < o->n_threads; i++)
        rc = overview_end_thread(o, (uint32_t)i);
    for (size_t i = 0; rc == 0 && i < o->n_thread_stats; i++)
        rc = hold_finish(o, &o->thread_stats[i], o->threads[o->thread_stats[i].thread].end_ns);
    call_sites_merge(o);
    return rc == 0 ? wakeup_finish(o) : rc;
}

int overview_conclude(struct overview *o)
{
    int rc = overview_sort(o);
    return rc == 0 ? paths_find(o) : rc;
}
