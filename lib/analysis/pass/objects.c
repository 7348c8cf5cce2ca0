/* SPDX-License-Identifier: MIT */
/* Events of locks, condition variables, semaphores, barriers, futexes and joined threads. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/pass/handlers.h"
#include "analysis/pass/holds.h"
#include "analysis/pass/tables.h"

/* PTHREAD_BARRIER_SERIAL_THREAD of the recorded machine: the same in glibc and musl. */
enum { BARRIER_SERIAL = -1 };

/* Fast path: the object of the thread's preceding event, if this event is about it, too. */
static uint32_t object_again(const struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    uint32_t stats = o->threads[thread].last_stats;
    if (stats == MAP_NONE)
        return MAP_NONE;
    const struct ov_object *object = &o->objects[o->thread_stats[stats].object];
    bool same = object->address == e->object && object->process == e->process && object->type == e->object_type;
    return same && !object->destroyed && !object->followed ? o->thread_stats[stats].object : MAP_NONE;
}

/* ------------------------------------------------------------------------------------------------------ events */

/* Counts the call site of an acquisition. A stack that is not readable yet may be later: only a site found is
 * cached. */
static int object_count_site(struct overview *o, struct ov_thread_stats *u, const struct upmu_trace_event *e)
{
    if (u->site == MAP_NONE || u->site_address != e->site || u->site_stack != e->stack) {
        uint64_t address = call_site_address(o, e);
        if (address == 0)
            return 0;
        u->site = call_site_of(o, u->object, address);
        if (u->site == MAP_NONE)
            return overview_no_memory();
        u->site_address = e->site;
        u->site_stack = e->stack;
    }
    o->sites[u->site].taken++;
    return 0;
}

static int object_taken(struct overview *o, uint32_t stats, const struct upmu_trace_event *e)
{
    struct ov_thread_stats *u = &o->thread_stats[stats];
    hold_take(u, e, o->objects[u->object].recursive);
    u->contended_since += e->kind == UPMU_TRACE_LOCK_ACQUIRED;
    int rc = section_begin(o, o->thread_stats[stats].thread, e, &u->section);
    return rc == 0 ? object_count_site(o, u, e) : rc;
}

/* Readers have a count of their own; no rwlock has an odd address. */
static uint64_t object_count_key(const struct upmu_trace_event *e)
{
    return e->object + (e->flags & UPMU_TRACE_FLAG_SHARED);
}

static int object_counts(struct overview *o, uint32_t stats, const struct upmu_trace_event *e)
{
    struct ov_thread_stats *u = &o->thread_stats[stats];
    uint64_t counted = object_count_key(e);
    uint32_t at = map_find(&o->by_baseline, u->thread, counted);
    if (at == MAP_NONE) {
        struct ov_baseline *all = array_reserve(o->baselines, o->n_baselines, &o->cap_baselines, sizeof *all);
        if (!all)
            return overview_no_memory();
        o->baselines = all;
        at = (uint32_t)o->n_baselines;
        if (!map_put(&o->by_baseline, u->thread, counted, at))
            return overview_no_memory();
        all[o->n_baselines++] = (struct ov_baseline){.object = MAP_NONE};
    }
    /* All earlier counts were recorded when the preceding object at the address ended, or there was none. */
    if (o->objects[u->object].counts_clear)
        o->baselines[at].object = u->object;
    hold_counts(u, &o->baselines[at], e);
    return 0;
}

static int object_released(struct overview *o, uint32_t thread, uint32_t stats, const struct upmu_trace_event *e)
{
    uint32_t object = o->thread_stats[stats].object;
    int rc = wakeup_add_hold(o, stats, hold_end(&o->thread_stats[stats]), e->time_ns);
    hold_release(&o->thread_stats[stats], e);
    return rc == 0 ? wakeup_wake(o, thread, object, e->time_ns, false) : rc;
}

static int object_lock_event(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    uint32_t stats = stats_of(o, thread, object);
    int rc = 0;
    if (stats == MAP_NONE)
        return overview_no_memory();
    switch (e->kind) {
    case UPMU_TRACE_LOCK_ACQUIRED:
        rc = wait_end(o, thread, object, e);
        /* A once object is waited for, but never held. */
        return rc == 0 && e->object_type != UPMU_OBJECT_ONCE ? object_taken(o, stats, e) : rc;
    case UPMU_TRACE_LOCK_ACQUIRE:
        return object_taken(o, stats, e);
    case UPMU_TRACE_LOCK_RELEASE:
        rc = section_end(o, thread, e, &o->thread_stats[stats].section, &o->objects[object].held);
        return rc == 0 ? object_released(o, thread, stats, e) : rc;
    default:
        return object_counts(o, stats, e);
    }
}

static int object_life_event(struct ov_object *object, const struct upmu_trace_event *e)
{
    if (e->kind == UPMU_TRACE_LOCK_DESTROY) {
        object->destroyed = true;
        object->counts_final = e->flags & UPMU_TRACE_FLAG_FINAL;
        return 0;
    }
    if (e->kind == UPMU_TRACE_LOCK_INIT) {
        object->created = true;
        object->init_site = e->site;
        object->init_stack = e->stack;
    }
    return e->name[0] ? overview_rename(&object->name, e->name) : 0;
}

/* The mutex that a condition variable's wait releases and reacquires. */
static int object_cond_mutex(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    uint32_t mutex = object_known(o, e->process, e->cond.mutex);
    uint32_t stats = mutex == MAP_NONE ? MAP_NONE : map_find(&o->by_thread_object, thread, mutex);
    if (stats == MAP_NONE)
        return 0;
    if (e->kind == UPMU_TRACE_COND_WAIT) {
        int rc = wakeup_add_hold(o, stats, o->thread_stats[stats].begun, e->time_ns);
        hold_pause(&o->thread_stats[stats], e->time_ns);
        return rc == 0 ? section_end(o, thread, e, &o->thread_stats[stats].section, &o->objects[mutex].held) : rc;
    }
    hold_resume(&o->thread_stats[stats], e->time_ns);
    return section_begin(o, thread, e, &o->thread_stats[stats].section);
}

/* The tid of the joined thread, from the event or by its pthread_t. */
static void object_note_joined(struct overview *o, uint32_t object, const struct upmu_trace_event *e)
{
    uint32_t joined = map_find(&o->by_handle, e->process, e->object);
    if (e->thread.peer != 0)
        o->objects[object].peer = e->thread.peer;
    else if (joined != MAP_NONE && o->objects[object].peer == 0)
        o->objects[object].peer = o->threads[joined].tid;
}

static int object_wait_event(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    int rc = 0;
    switch (e->kind) {
    case UPMU_TRACE_COND_WAIT:
        rc = object_cond_mutex(o, thread, e);
        return rc == 0 ? wait_begin(o, thread, object, e) : rc;
    case UPMU_TRACE_THREAD_JOIN:
        object_note_joined(o, object, e);
        return wait_begin(o, thread, object, e);
    case UPMU_TRACE_LOCK_BLOCK:
        return wait_begin(o, thread, object, e);
    case UPMU_TRACE_COND_WAKE:
        rc = object_cond_mutex(o, thread, e);
        break;
    case UPMU_TRACE_THREAD_JOINED:
        /* Its pthread_t may be reused from now on. */
        o->objects[object].destroyed = e->result == 0;
        object_note_joined(o, object, e);
        break;
    default:
        break;
    }
    if (e->flags & UPMU_TRACE_FLAG_TRIED) {
        o->objects[object].tries_failed += e->result != 0;
        return 0;
    }
    o->objects[object].failed += e->result != 0 || e->kind == UPMU_TRACE_LOCK_FAILED;
    return rc == 0 ? wait_end(o, thread, object, e) : rc;
}

static int object_barrier_event(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    uint32_t stats = stats_of(o, thread, object);
    if (stats == MAP_NONE)
        return overview_no_memory();
    if (e->kind == UPMU_TRACE_BARRIER_ARRIVE)
        return wait_begin(o, thread, object, e);
    o->objects[object].rounds += e->result == BARRIER_SERIAL;
    o->thread_stats[stats].last += e->result == BARRIER_SERIAL;
    return wait_end(o, thread, object, e);
}

/* A multi-word futex wait is recorded under its first word; a wake of any other word ends it, too. */
static int object_futex_add_word(struct overview *o, uint32_t thread, uint32_t object)
{
    struct ov_thread *t = &o->threads[thread];
    uint32_t *all = array_reserve(t->also, t->n_also, &t->cap_also, sizeof *all);
    if (!all)
        return overview_no_memory();
    t->also = all;
    all[t->n_also++] = object;
    return wakeup_watch(o, object);
}

static int object_futex_event(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    struct ov_thread *t = &o->threads[thread];
    if (e->kind == UPMU_TRACE_FUTEX_ALSO)
        return object_futex_add_word(o, thread, object);
    if (e->kind == UPMU_TRACE_FUTEX_WAIT) {
        t->n_also = 0;
        return wait_begin(o, thread, object, e);
    }
    uint64_t index = e->futex_woken.index;
    if (index > 0 && index <= t->n_also)
        wakeup_woken_by(o, object, t->also[index - 1]);
    if (e->result != EAGAIN)
        return object_wait_event(o, thread, object, e);
    /* The word had changed: the thread did not wait. */
    wait_cancel(o, thread, object, e);
    return 0;
}

/* A count above the final one of the destroyed lock belongs to the next lock, of which no other event may exist. */
static bool counts_next_object(const struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    uint32_t last = object_last(o, e->process, e->object_type, e->object);
    if (last == MAP_NONE || !o->objects[last].destroyed || !o->objects[last].counts_final)
        return false;
    uint32_t at = map_find(&o->by_baseline, thread, object_count_key(e));
    return at == MAP_NONE || e->lock_counts.acquisitions > o->baselines[at].count;
}

static enum object_lookup object_lookup_for(const struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_LOCK_INIT:
        return LOOKUP_NEW;
    case UPMU_TRACE_LOCK_DESTROY:
        return LOOKUP_LATEST;
    case UPMU_TRACE_LOCK_COUNTS: /* may be recorded long after the lock was destroyed */
        return counts_next_object(o, thread, e) ? LOOKUP_LIVE : LOOKUP_LATEST;
    default:
        return LOOKUP_LIVE;
    }
}

/* Events that change no wait and no hold. */
static bool object_event_is_ignored(const struct upmu_trace_event *e)
{
    return e->kind == UPMU_TRACE_SEM_UNLINK || e->kind == UPMU_TRACE_SEM_VALUE || e->kind == UPMU_TRACE_SEM_CLOSE ||
           e->kind == UPMU_TRACE_LOCK_CONSISTENT;
}

int object_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    if (object_event_is_ignored(e))
        return 0;
    enum object_lookup lookup = object_lookup_for(o, thread, e);
    uint32_t object = lookup == LOOKUP_LIVE ? object_again(o, thread, e) : MAP_NONE;
    if (object == MAP_NONE)
        object = object_of(o, e, lookup);
    if (object == MAP_NONE)
        return overview_no_memory();
    struct ov_object *that = &o->objects[object];
    that->used |= e->kind != UPMU_TRACE_LOCK_NAME && e->kind != UPMU_TRACE_LOCK_INIT;
    if (that->used_stack == 0 && that->used_site == 0 && e->kind != UPMU_TRACE_LOCK_INIT) {
        that->used_site = e->site;
        that->used_stack = e->stack;
    }
    that->recursive |= (e->flags & UPMU_TRACE_FLAG_RECURSIVE) != 0;
    switch (e->kind) {
    case UPMU_TRACE_LOCK_ACQUIRED:
    case UPMU_TRACE_LOCK_ACQUIRE:
    case UPMU_TRACE_LOCK_RELEASE:
    case UPMU_TRACE_LOCK_COUNTS:
        return object_lock_event(o, thread, object, e);
    case UPMU_TRACE_LOCK_INIT:
    case UPMU_TRACE_LOCK_DESTROY:
    case UPMU_TRACE_LOCK_NAME:
    case UPMU_TRACE_SEM_OPEN:
        return object_life_event(that, e);
    case UPMU_TRACE_LOCK_MISUSE:
        that->misuses++;
        return 0;
    case UPMU_TRACE_COND_SIGNAL:
    case UPMU_TRACE_SEM_POST:
    case UPMU_TRACE_FUTEX_WAKE:
        that->signals++;
        return wakeup_wake(o, thread, object, e->time_ns, false);
    case UPMU_TRACE_BARRIER_ARRIVE:
    case UPMU_TRACE_BARRIER_LEAVE:
        return object_barrier_event(o, thread, object, e);
    case UPMU_TRACE_FUTEX_WAIT:
    case UPMU_TRACE_FUTEX_WOKEN:
    case UPMU_TRACE_FUTEX_ALSO:
        return object_futex_event(o, thread, object, e);
    case UPMU_TRACE_COND_BROADCAST:
        that->broadcasts++;
        return wakeup_wake(o, thread, object, e->time_ns, true);
    default:
        return object_wait_event(o, thread, object, e);
    }
}
