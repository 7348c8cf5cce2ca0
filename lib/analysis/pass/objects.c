/* SPDX-License-Identifier: MIT */
/* Events of locks, condition variables, semaphores, barriers, futexes, joined threads, and of what calls wait for. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/event_fields.h"
#include "analysis/pass/wakeup_graph.h"
#include "analysis/pass/handlers.h"
#include "analysis/pass/holds.h"
#include "analysis/pass/tables.h"

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

/* An acquisition that ended a wait: it has the call site of the wait, whose stack leads outside of wrappers. */
static int object_count_waited_site(struct overview *o, const struct ov_thread_stats *u)
{
    uint32_t site = call_site_of(o, u->object, u->waited_site);
    if (site == MAP_NONE)
        return overview_no_memory();
    o->sites[site].taken++;
    return 0;
}

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
    bool waited = e->kind == UPMU_TRACE_LOCK_ACQUIRED && u->waited_site != 0;
    int rc = waited ? object_count_waited_site(o, u) : object_count_site(o, u, e);
    bool found = u->site != MAP_NONE && u->site_address == e->site && u->site_stack == e->stack;
    uint64_t site = found ? o->sites[u->site].address : 0;
    hold_take(u, e, waited ? u->waited_site : site,
              o->objects[u->object].recursive || (e->flags & UPMU_TRACE_FLAG_SHARED));
    u->contended_since += e->kind == UPMU_TRACE_LOCK_ACQUIRED;
    return rc == 0 ? section_begin(o, u->thread, e, &u->section) : rc;
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
    struct ov_thread_stats none = *u; /* counts cover the whole recording */
    hold_counts(o->window.whole ? &none : u, &o->baselines[at], e);
    return 0;
}

static int object_released(struct overview *o, uint32_t thread, uint32_t stats, const struct upmu_trace_event *e)
{
    uint32_t object = o->thread_stats[stats].object;
    int rc = hold_release(o, &o->thread_stats[stats], e);
    hold_add_calls(o, &o->thread_stats[stats]);
    if (rc == 0)
        rc = wakeup_add_hold(o, stats, o->thread_stats[stats].hold.begin_ns, e->time_ns);
    if (e->object_type == UPMU_OBJECT_SEM) { /* the post that follows wakes */
        o->objects[object].was_held = true;
        return rc;
    }
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
        o->thread_stats[stats].waited_site = 0;
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

/* The mutex of a condition variable's wait, of which this may be the first event. */
static uint32_t object_cond_first(struct overview *o, const struct upmu_trace_event *e)
{
    struct upmu_trace_event mutex = *e;
    mutex.kind = UPMU_TRACE_LOCK_RELEASE;
    mutex.object = e->cond.mutex;
    mutex.object_type = UPMU_OBJECT_MUTEX;
    return object_of(o, &mutex, LOOKUP_LIVE);
}

/* The mutex that a condition variable's wait releases and reacquires. */
static int object_cond_mutex(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    bool waits = e->kind == UPMU_TRACE_COND_WAIT && e->cond.mutex != 0, held = waits && e->cond.held_since != 0;
    uint32_t mutex = waits ? object_cond_first(o, e) : object_known(o, e->process, e->cond.mutex);
    if (waits && mutex == MAP_NONE)
        return overview_no_memory();
    uint32_t stats = mutex == MAP_NONE ? MAP_NONE
                     : held            ? stats_of(o, thread, mutex)
                                       : map_find(&o->by_thread_object, thread, mutex);
    if (stats == MAP_NONE)
        return held ? overview_no_memory() : 0;
    if (e->kind == UPMU_TRACE_COND_WAIT) {
        int rc = hold_pause(o, &o->thread_stats[stats], e);
        hold_add_calls(o, &o->thread_stats[stats]);
        if (rc == 0)
            rc = wakeup_add_hold(o, stats, o->thread_stats[stats].hold.begin_ns, e->time_ns);
        return rc == 0 ? section_end(o, thread, e, &o->thread_stats[stats].section, &o->objects[mutex].held) : rc;
    }
    hold_resume(&o->thread_stats[stats], e);
    return section_begin(o, thread, e, &o->thread_stats[stats].section);
}

/* A thread that was woken, and waits again without having released the mutex, has found nothing to do. */
static void object_note_wakes(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    struct ov_thread *t = &o->threads[thread];
    if (e->kind == UPMU_TRACE_COND_WAIT && e->cond.held_since != 0 && t->woken_by == object &&
        t->woken_ns == e->cond.held_since) {
        o->objects[object].in_vain++;
        wakeup_note_vain(o, thread, object);
    }
    t->woken_by = e->kind == UPMU_TRACE_COND_WAKE && e->result == 0 ? object : MAP_NONE;
    t->woken_ns = e->time_ns;
}

/* The tid of the joined thread, from the event or by its pthread_t. */
static void object_note_joined(struct overview *o, uint32_t object, const struct upmu_trace_event *e)
{
    uint32_t joined = thread_of_handle(o, e->process, e->object);
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
        object_note_wakes(o, thread, object, e);
        rc = object_cond_mutex(o, thread, e);
        return rc == 0 ? wait_begin(o, thread, object, e) : rc;
    case UPMU_TRACE_THREAD_JOIN:
        object_note_joined(o, object, e);
        return wait_begin(o, thread, object, e);
    case UPMU_TRACE_LOCK_BLOCK:
        return wait_begin(o, thread, object, e);
    case UPMU_TRACE_COND_WAKE:
        object_note_wakes(o, thread, object, e);
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
    bool last = event_did_not_wait(e);
    o->objects[object].rounds += last;
    o->thread_stats[stats].last += last;
    return (last ? wait_cancel : wait_end)(o, thread, object, e);
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
    return (event_did_not_wait(e) ? wait_cancel : object_wait_event)(o, thread, object, e);
}

/* What calls wait for is named by the call and the descriptor. */
static int object_name_call(struct ov_object *object, const struct upmu_trace_call *c)
{
    static const char *const calls[] = {"call",
                                        [UPMU_CALL_SLEEP] = "sleep",
                                        [UPMU_CALL_POLL] = "poll",
                                        [UPMU_CALL_SIGNAL] = "signal",
                                        [UPMU_CALL_READ] = "read",
                                        [UPMU_CALL_WRITE] = "write",
                                        [UPMU_CALL_CHILD] = "child process"};
    static const char *const types[] = {[UPMU_DESCRIPTOR_FILE] = "file ",     [UPMU_DESCRIPTOR_PIPE] = "pipe ",
                                        [UPMU_DESCRIPTOR_SOCKET] = "socket ", [UPMU_DESCRIPTOR_DEVICE] = "device ",
                                        [UPMU_DESCRIPTOR_EPOLL] = "epoll ",   [UPMU_DESCRIPTOR_EVENT] = "eventfd ",
                                        [UPMU_DESCRIPTOR_TIMER] = "timer ",   [UPMU_DESCRIPTOR_SIGNAL] = "signalfd "};
    char text[64];
    const char *call = c->call < sizeof calls / sizeof *calls ? calls[c->call] : calls[0];
    const char *type = c->descriptor_type < sizeof types / sizeof *types ? types[c->descriptor_type] : NULL;
    if (c->descriptor >= 0)
        snprintf(text, sizeof text, "%s %s%d", call, type ? type : "descriptor ", c->descriptor);
    else
        snprintf(text, sizeof text, "%s", call);
    return overview_rename(&object->name, text);
}

uint32_t call_object(struct overview *o, const struct upmu_trace_event *e)
{
    uint32_t object = object_of(o, e, LOOKUP_LIVE);
    bool done = object != MAP_NONE && (o->objects[object].name || object_name_call(&o->objects[object], &e->call) == 0);
    return done ? object : MAP_NONE;
}

static int object_call_event(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    int rc = o->objects[object].name ? 0 : object_name_call(&o->objects[object], &e->call);
    if (rc == 0 && e->kind == UPMU_TRACE_CALL_BLOCK)
        return wait_begin(o, thread, object, e);
    uint32_t waker = e->call.waker ? map_find(&o->by_tid, e->process, (uint32_t)e->call.waker) : MAP_NONE;
    if (rc == 0)
        rc = wakeup_woken_by_thread(o, object, waker, e->time_ns);
    return rc == 0 ? object_wait_event(o, thread, object, e) : rc;
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
    bool lives = e->kind != UPMU_TRACE_LOCK_INIT && e->kind != UPMU_TRACE_LOCK_DESTROY;
    if (that->used_stack == 0 && that->used_site == 0 && lives) {
        /* A release may be the first event: the use is the acquisition. */
        bool releases = e->kind == UPMU_TRACE_LOCK_RELEASE;
        that->used_site = releases ? e->lock_release.held_site : e->site;
        that->used_stack = releases ? 0 : e->stack;
    }
    that->recursive |= (e->flags & UPMU_TRACE_FLAG_RECURSIVE) != 0;
    that->shared |= that->type == UPMU_OBJECT_BARRIER && (e->flags & UPMU_TRACE_FLAG_PSHARED) != 0;
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
    case UPMU_TRACE_CALL_BLOCK:
    case UPMU_TRACE_CALL_RETURN:
        return object_call_event(o, thread, object, e);
    case UPMU_TRACE_COND_BROADCAST:
        that->broadcasts++;
        return wakeup_wake(o, thread, object, e->time_ns, true);
    default:
        return object_wait_event(o, thread, object, e);
    }
}

int object_order_event(struct overview *o, const struct upmu_trace_event *e)
{
    if (e->object_type != UPMU_OBJECT_SEM || e->lock_order.n_held != 0 || e->flags & UPMU_TRACE_FLAG_TRIED)
        return 0;
    uint32_t object = object_of(o, e, LOOKUP_LIVE);
    if (object == MAP_NONE)
        return overview_no_memory();
    o->objects[object].is_signal = true;
    return 0;
}
