/* SPDX-License-Identifier: MIT */
/*
 * Locks, condition variables, semaphores, barriers and joined threads, by address and generation. Room: analysis. Before it:
 * overview.c; after it: waits.c, holds.c and facts.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/pass/overview.h"

/* PTHREAD_BARRIER_SERIAL_THREAD of the machine that recorded: the same wherever there is glibc or musl. */
enum { BARRIER_SERIAL = -1 };

/* A pthread_t and a lock may be the same number. */
static uint64_t object_space(uint32_t process, int32_t type)
{
    return (uint64_t)process * 2 + (type == UPMU_OBJECT_THREAD);
}

static uint32_t object_new(struct overview *o, const struct upmu_trace_event *e, uint32_t before)
{
    struct ov_object *all = array_room(o->objects, o->n_objects, &o->cap_objects, sizeof *all);
    if (!all)
        return MAP_NONE;
    o->objects = all;
    uint32_t index = (uint32_t)o->n_objects;
    if (!map_put(&o->by_address, object_space(e->process, e->object_type), e->object, index))
        return MAP_NONE;
    if (before != MAP_NONE)
        all[before].followed = true;
    all[o->n_objects++] = (struct ov_object){.process = e->process,
                                             .pid = e->pid,
                                             .type = e->object_type,
                                             .address = e->object,
                                             .generation = before == MAP_NONE ? 0 : all[before].generation + 1,
                                             .counts_clear = before == MAP_NONE || all[before].counts_told};
    return index;
}

uint32_t object_last(const struct overview *o, uint32_t process, int32_t type, uint64_t address)
{
    return map_find(&o->by_address, object_space(process, type), address);
}

uint32_t object_of(struct overview *o, const struct upmu_trace_event *e, enum object_wish wish)
{
    uint32_t last = object_last(o, e->process, e->object_type, e->object);
    if (last == MAP_NONE)
        return object_new(o, e, MAP_NONE);
    struct ov_object *object = &o->objects[last];
    /* A name tells no type. */
    if (object->type == UPMU_OBJECT_NONE)
        object->type = e->object_type;
    bool other = e->object_type != UPMU_OBJECT_NONE && object->type != e->object_type;
    bool begins = wish == OBJECT_BEGIN && (object->used || object->created);
    bool over = wish == OBJECT_ALIVE && object->destroyed;
    return other || begins || over ? object_new(o, e, last) : last;
}

/* The one the thread's last event was about, if this one is about it too: most are, and it need not be looked for. */
static uint32_t object_again(const struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    uint32_t use = o->threads[thread].use;
    if (use == MAP_NONE)
        return MAP_NONE;
    const struct ov_object *object = &o->objects[o->uses[use].object];
    bool same = object->address == e->object && object->process == e->process && object->type == e->object_type;
    return same && !object->destroyed && !object->followed ? o->uses[use].object : MAP_NONE;
}

uint32_t object_known(const struct overview *o, uint32_t process, uint64_t address)
{
    uint32_t object = map_find(&o->by_address, object_space(process, UPMU_OBJECT_MUTEX), address);
    return object != MAP_NONE && !o->objects[object].destroyed ? object : MAP_NONE;
}

uint32_t use_of(struct overview *o, uint32_t thread, uint32_t object)
{
    struct ov_thread *t = &o->threads[thread];
    if (t->use != MAP_NONE && o->uses[t->use].object == object)
        return t->use;
    uint32_t found = map_find(&o->by_use, thread, object);
    if (found != MAP_NONE)
        return t->use = found;
    struct ov_use *all = array_room(o->uses, o->n_uses, &o->cap_uses, sizeof *all);
    if (!all)
        return MAP_NONE;
    o->uses = all;
    if (!map_put(&o->by_use, thread, object, (uint32_t)o->n_uses))
        return MAP_NONE;
    all[o->n_uses] = (struct ov_use){.thread = thread, .object = object, .share = MAP_NONE, .site = MAP_NONE};
    return t->use = (uint32_t)o->n_uses++;
}

uint32_t site_of(struct overview *o, uint32_t object, uint64_t address)
{
    uint32_t found = map_find(&o->by_site, object, address);
    if (found != MAP_NONE)
        return found;
    struct ov_site *all = array_room(o->sites, o->n_sites, &o->cap_sites, sizeof *all);
    if (!all)
        return MAP_NONE;
    o->sites = all;
    if (!map_put(&o->by_site, object, address, (uint32_t)o->n_sites))
        return MAP_NONE;
    all[o->n_sites] = (struct ov_site){.object = object, .address = address};
    return (uint32_t)o->n_sites++;
}

/* ------------------------------------------------------------------------------------------------------ events */

/* Where it was taken. A stack that has not been read yet may be known later: only what was found is remembered. */
static int count_site(struct overview *o, struct ov_use *u, const struct upmu_trace_event *e)
{
    if (u->site == MAP_NONE || u->site_address != e->site || u->site_stack != e->stack) {
        uint64_t address = e->site;
        if (address == 0 && e->stack != 0 && o->stack_site)
            address = o->stack_site(o->stack_arg, e->process, e->stack);
        if (address == 0)
            return 0;
        u->site = site_of(o, u->object, address);
        if (u->site == MAP_NONE)
            return overview_no_memory();
        u->site_address = e->site;
        u->site_stack = e->stack;
    }
    o->sites[u->site].taken++;
    return 0;
}

static int object_taken(struct overview *o, uint32_t use, const struct upmu_trace_event *e)
{
    struct ov_use *u = &o->uses[use];
    hold_take(u, e, o->objects[u->object].recursive);
    u->contended_since += e->kind == UPMU_TRACE_LOCK_ACQUIRED;
    int rc = section_begin(o, o->uses[use].thread, e, &u->section);
    return rc == 0 ? count_site(o, u, e) : rc;
}

/* Readers have a count of their own; a lock that has readers is never at an odd address. */
static uint64_t counted_at(const struct upmu_trace_event *e)
{
    return e->object + (e->flags & UPMU_TRACE_FLAG_SHARED);
}

static int object_counts(struct overview *o, uint32_t use, const struct upmu_trace_event *e)
{
    struct ov_use *u = &o->uses[use];
    uint64_t counted = counted_at(e);
    uint32_t at = map_find(&o->by_tally, u->thread, counted);
    if (at == MAP_NONE) {
        struct ov_tally *all = array_room(o->tallies, o->n_tallies, &o->cap_tallies, sizeof *all);
        if (!all)
            return overview_no_memory();
        o->tallies = all;
        at = (uint32_t)o->n_tallies;
        if (!map_put(&o->by_tally, u->thread, counted, at))
            return overview_no_memory();
        all[o->n_tallies++] = (struct ov_tally){.object = MAP_NONE};
    }
    /* All that was counted before this lock was told when the one before it ended; or there was none. */
    if (o->objects[u->object].counts_clear)
        o->tallies[at].object = u->object;
    hold_counts(u, &o->tallies[at], e);
    return 0;
}

static int object_released(struct overview *o, uint32_t thread, uint32_t use, const struct upmu_trace_event *e)
{
    uint32_t object = o->uses[use].object;
    int rc = chain_held(o, use, hold_begun(&o->uses[use]), e->time_ns);
    hold_release(&o->uses[use], e);
    return rc == 0 ? chain_wake(o, thread, object, e->time_ns, false) : rc;
}

static int lock_event(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    uint32_t use = use_of(o, thread, object);
    int rc = 0;
    if (use == MAP_NONE)
        return overview_no_memory();
    switch (e->kind) {
    case UPMU_TRACE_LOCK_ACQUIRED:
        rc = wait_end(o, thread, object, e);
        /* Who waited for a function to be run once has nothing to give back. */
        return rc == 0 && e->object_type != UPMU_OBJECT_ONCE ? object_taken(o, use, e) : rc;
    case UPMU_TRACE_LOCK_ACQUIRE:
        return object_taken(o, use, e);
    case UPMU_TRACE_LOCK_RELEASE:
        rc = section_end(o, thread, e, &o->uses[use].section, &o->objects[object].held);
        return rc == 0 ? object_released(o, thread, use, e) : rc;
    default:
        return object_counts(o, use, e);
    }
}

static int life_event(struct ov_object *object, const struct upmu_trace_event *e)
{
    if (e->kind == UPMU_TRACE_LOCK_DESTROY) {
        object->destroyed = true;
        object->counts_told = e->flags & UPMU_TRACE_FLAG_FINAL;
        return 0;
    }
    if (e->kind == UPMU_TRACE_LOCK_INIT) {
        object->created = true;
        object->init_site = e->site;
    }
    return e->name[0] ? overview_rename(&object->name, e->name) : 0;
}

/* The mutex that a condition variable's wait gives back (at its begin) and takes again. */
static int cond_mutex(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    uint32_t mutex = object_known(o, e->process, e->object2);
    uint32_t use = mutex == MAP_NONE ? MAP_NONE : map_find(&o->by_use, thread, mutex);
    if (use == MAP_NONE)
        return 0;
    if (e->kind == UPMU_TRACE_COND_WAIT) {
        int rc = chain_held(o, use, o->uses[use].begun, e->time_ns);
        hold_pause(&o->uses[use], e->time_ns);
        return rc == 0 ? section_end(o, thread, e, &o->uses[use].section, &o->objects[mutex].held) : rc;
    }
    hold_resume(&o->uses[use], e->time_ns);
    return section_begin(o, thread, e, &o->uses[use].section);
}

/* Which thread it is that is joined: as the event says, or by its pthread_t. */
static void note_joined(struct overview *o, uint32_t object, const struct upmu_trace_event *e)
{
    uint32_t joined = map_find(&o->by_handle, e->process, e->object);
    if (e->peer != 0)
        o->objects[object].peer = e->peer;
    else if (joined != MAP_NONE && o->objects[object].peer == 0)
        o->objects[object].peer = o->threads[joined].tid;
}

static int wait_event(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    int rc = 0;
    switch (e->kind) {
    case UPMU_TRACE_COND_WAIT:
        rc = cond_mutex(o, thread, e);
        return rc == 0 ? wait_begin(o, thread, object, e) : rc;
    case UPMU_TRACE_THREAD_JOIN:
        note_joined(o, object, e);
        return wait_begin(o, thread, object, e);
    case UPMU_TRACE_LOCK_BLOCK:
        return wait_begin(o, thread, object, e);
    case UPMU_TRACE_COND_WAKE:
        rc = cond_mutex(o, thread, e);
        break;
    case UPMU_TRACE_THREAD_JOINED:
        /* Its pthread_t may now be given to another thread. */
        o->objects[object].destroyed = e->result == 0;
        note_joined(o, object, e);
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

static int barrier_event(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    uint32_t use = use_of(o, thread, object);
    if (use == MAP_NONE)
        return overview_no_memory();
    if (e->kind == UPMU_TRACE_BARRIER_ARRIVE)
        return wait_begin(o, thread, object, e);
    o->objects[object].rounds += e->result == BARRIER_SERIAL;
    o->uses[use].last += e->result == BARRIER_SERIAL;
    return wait_end(o, thread, object, e);
}

/* A wait for several words is known by the first of them; the others can end it as well. */
static int also(struct overview *o, uint32_t thread, uint32_t object)
{
    struct ov_thread *t = &o->threads[thread];
    uint32_t *all = array_room(t->also, t->n_also, &t->cap_also, sizeof *all);
    if (!all)
        return overview_no_memory();
    t->also = all;
    all[t->n_also++] = object;
    return chain_watch(o, object);
}

static int futex_event(struct overview *o, uint32_t thread, uint32_t object, const struct upmu_trace_event *e)
{
    struct ov_thread *t = &o->threads[thread];
    if (e->kind == UPMU_TRACE_FUTEX_ALSO)
        return also(o, thread, object);
    if (e->kind == UPMU_TRACE_FUTEX_WAIT) {
        t->n_also = 0;
        return wait_begin(o, thread, object, e);
    }
    if (e->count > 0 && e->count <= t->n_also)
        chain_woken_by(o, object, t->also[e->count - 1]);
    if (e->result != EAGAIN)
        return wait_event(o, thread, object, e);
    /* The word had changed: the kernel did not let it sleep. */
    wait_forget(o, thread, object, e);
    return 0;
}

/* All that was counted of the last lock there stands before its end, and this is more: it is of the next one, of which
 * nothing else may have been told. */
static bool is_next_ones(const struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    uint32_t last = object_last(o, e->process, e->object_type, e->object);
    if (last == MAP_NONE || !o->objects[last].destroyed || !o->objects[last].counts_told)
        return false;
    uint32_t at = map_find(&o->by_tally, thread, counted_at(e));
    return at == MAP_NONE || e->count > o->tallies[at].count;
}

static enum object_wish wish_of(const struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_LOCK_INIT:
        return OBJECT_BEGIN;
    case UPMU_TRACE_LOCK_DESTROY:
        return OBJECT_LAST;
    case UPMU_TRACE_LOCK_COUNTS: /* may be told long after the lock is gone */
        return is_next_ones(o, thread, e) ? OBJECT_ALIVE : OBJECT_LAST;
    default:
        return OBJECT_ALIVE;
    }
}

/* What concerns nobody's waiting or holding. */
static bool says_nothing(const struct upmu_trace_event *e)
{
    return e->kind == UPMU_TRACE_SEM_UNLINK || e->kind == UPMU_TRACE_SEM_VALUE || e->kind == UPMU_TRACE_SEM_CLOSE ||
           e->kind == UPMU_TRACE_LOCK_CONSISTENT;
}

int object_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    if (says_nothing(e))
        return 0;
    enum object_wish wish = wish_of(o, thread, e);
    uint32_t object = wish == OBJECT_ALIVE ? object_again(o, thread, e) : MAP_NONE;
    if (object == MAP_NONE)
        object = object_of(o, e, wish);
    if (object == MAP_NONE)
        return overview_no_memory();
    struct ov_object *that = &o->objects[object];
    that->used |= e->kind != UPMU_TRACE_LOCK_NAME && e->kind != UPMU_TRACE_LOCK_INIT;
    that->recursive |= (e->flags & UPMU_TRACE_FLAG_RECURSIVE) != 0;
    switch (e->kind) {
    case UPMU_TRACE_LOCK_ACQUIRED:
    case UPMU_TRACE_LOCK_ACQUIRE:
    case UPMU_TRACE_LOCK_RELEASE:
    case UPMU_TRACE_LOCK_COUNTS:
        return lock_event(o, thread, object, e);
    case UPMU_TRACE_LOCK_INIT:
    case UPMU_TRACE_LOCK_DESTROY:
    case UPMU_TRACE_LOCK_NAME:
    case UPMU_TRACE_SEM_OPEN:
        return life_event(that, e);
    case UPMU_TRACE_LOCK_MISUSE:
        that->misuses++;
        return 0;
    case UPMU_TRACE_COND_SIGNAL:
    case UPMU_TRACE_SEM_POST:
    case UPMU_TRACE_FUTEX_WAKE:
        that->signals++;
        return chain_wake(o, thread, object, e->time_ns, false);
    case UPMU_TRACE_BARRIER_ARRIVE:
    case UPMU_TRACE_BARRIER_LEAVE:
        return barrier_event(o, thread, object, e);
    case UPMU_TRACE_FUTEX_WAIT:
    case UPMU_TRACE_FUTEX_WOKEN:
    case UPMU_TRACE_FUTEX_ALSO:
        return futex_event(o, thread, object, e);
    case UPMU_TRACE_COND_BROADCAST:
        that->broadcasts++;
        return chain_wake(o, thread, object, e->time_ns, true);
    default:
        return wait_event(o, thread, object, e);
    }
}
