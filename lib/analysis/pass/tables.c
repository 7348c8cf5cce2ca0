/* SPDX-License-Identifier: MIT */
/* Lookup and creation of threads, objects, per-thread statistics and call sites. */
#include "analysis/pass/tables.h"

#include <stdlib.h>
#include <string.h>

int overview_rename(char **slot, const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        return overview_no_memory();
    free(*slot);
    *slot = copy;
    return 0;
}

/* ----------------------------------------------------------------------------------------------------- threads */

uint32_t thread_of_handle(const struct overview *o, uint32_t process, uint64_t handle)
{
    uint32_t early = map_find(&o->by_early, process, handle);
    return early != MAP_NONE && o->early[early].created ? MAP_NONE : map_find(&o->by_handle, process, handle);
}

int thread_note_handle(struct overview *o, uint32_t thread, uint64_t handle)
{
    struct ov_thread *t = &o->threads[thread];
    if (handle == 0 || t->handle != 0 || t->ended)
        return 0;
    t->handle = handle;
    return map_put(&o->by_handle, t->process, handle, thread) ? 0 : overview_no_memory();
}

uint32_t thread_new(struct overview *o, uint32_t process, pid_t pid, pid_t tid, uint64_t time_ns)
{
    struct ov_thread *all = array_reserve(o->threads, o->n_threads, &o->cap_threads, sizeof *all);
    if (!all)
        return MAP_NONE;
    o->threads = all;
    uint32_t index = (uint32_t)o->n_threads;
    if (!map_put(&o->by_tid, process, (uint32_t)tid, index))
        return MAP_NONE;
    const struct ov_process *p = &o->processes[process];
    /* The main thread existed when recording began. */
    bool from_start = tid == pid && p->start_ns > 0 && p->start_ns < time_ns;
    o->last_thread = index; /* an earlier thread with this tid has ended */
    all[o->n_threads++] = (struct ov_thread){.process = process,
                                             .pid = pid,
                                             .tid = tid,
                                             .last_stats = MAP_NONE,
                                             .woken_by = MAP_NONE,
                                             .begin_ns = from_start ? p->start_ns : time_ns,
                                             .switches = {.value = UPMU_NO_VALUE, .status = UPMU_NOT_COUNTED},
                                             .cpu_ns = UPMU_NO_VALUE,
                                             .ready_ns = UPMU_NO_VALUE};
    return index;
}

uint32_t thread_of(struct overview *o, uint32_t process, pid_t pid, pid_t tid, uint64_t time_ns)
{
    uint32_t found = o->last_thread;
    if (found < o->n_threads && o->threads[found].tid == tid && o->threads[found].process == process)
        return found;
    found = map_find(&o->by_tid, process, (uint32_t)tid);
    return found != MAP_NONE ? o->last_thread = found : thread_new(o, process, pid, tid, time_ns);
}

/* Whether the holder may be a thread of another process that has the same id, in another PID namespace. The recorder has searched its
 * own threads for the one that holds the lock. */
static bool holder_may_be_elsewhere(const struct upmu_trace_event *e)
{
    return e->lock_block.holder_since == 0 && (e->flags & (UPMU_TRACE_FLAG_PSHARED | UPMU_TRACE_FLAG_ROBUST));
}

/* Live threads of other processes with the holder's id. */
struct holder_search {
    uint32_t found, with_lock; /* the last one, and that of those whose process has used a lock at this address */
    uint32_t n, n_with_lock;
};

static struct holder_search holder_search(const struct overview *o, const struct upmu_trace_event *e)
{
    struct holder_search s = {.found = MAP_NONE, .with_lock = MAP_NONE};
    for (uint32_t p = 0; p < o->n_processes; p++) {
        uint32_t at = p == e->process ? MAP_NONE : map_find(&o->by_tid, p, (uint32_t)e->lock_block.holder);
        if (at == MAP_NONE || o->threads[at].ended)
            continue;
        s.found = at;
        s.n++;
        if (object_last(o, p, e->object_type, e->object) != MAP_NONE) {
            s.with_lock = at;
            s.n_with_lock++;
        }
    }
    return s;
}

bool thread_of_holder(struct overview *o, const struct upmu_trace_event *e, uint32_t *holder)
{
    pid_t tid = e->lock_block.holder;
    uint32_t own = *holder = map_find(&o->by_tid, e->process, (uint32_t)tid);
    if (own != MAP_NONE && !holder_may_be_elsewhere(e))
        return true;
    const struct holder_search others = holder_search(o, e);
    if (others.n_with_lock == 1)
        *holder = others.with_lock;
    else if (own != MAP_NONE && tid != e->tid)
        *holder = others.n_with_lock == 0 ? own : MAP_NONE;
    else if (others.n > 0)
        *holder = others.n == 1 ? others.found : MAP_NONE;
    else if (own == MAP_NONE)
        *holder = thread_of(o, e->process, e->pid, tid, e->time_ns);
    return *holder != MAP_NONE || others.n > 0;
}

/* ----------------------------------------------------------------------------------------------------- objects */

/* Threads and calls have key spaces of their own: a pthread_t may equal the address of a lock. */
static uint64_t object_space(uint32_t process, int32_t type)
{
    enum { SPACES = 3 };
    return (uint64_t)process * SPACES + (type == UPMU_OBJECT_THREAD ? 1 : type == UPMU_OBJECT_CALL ? 2 : 0);
}

/* Add the object of an event. `before`: the earlier object at its address, or MAP_NONE. @return its index; MAP_NONE without
 * memory. */
static uint32_t object_new(struct overview *o, const struct upmu_trace_event *e, uint32_t before)
{
    struct ov_object *all = array_reserve(o->objects, o->n_objects, &o->cap_objects, sizeof *all);
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
                                             .tick = e->tick,
                                             .generation = before == MAP_NONE ? 0 : all[before].generation + 1,
                                             .counts_clear = before == MAP_NONE || all[before].counts_final};
    return index;
}

uint32_t object_last(const struct overview *o, uint32_t process, int32_t type, uint64_t address)
{
    return map_find(&o->by_address, object_space(process, type), address);
}

uint32_t object_of(struct overview *o, const struct upmu_trace_event *e, enum object_lookup lookup)
{
    uint32_t last = object_last(o, e->process, e->object_type, e->object);
    if (last == MAP_NONE)
        return object_new(o, e, MAP_NONE);
    struct ov_object *object = &o->objects[last];
    /* Created by an event without a type, such as LOCK_NAME. */
    if (object->type == UPMU_OBJECT_NONE)
        object->type = e->object_type;
    bool other = e->object_type != UPMU_OBJECT_NONE && object->type != e->object_type;
    bool begins = lookup == LOOKUP_NEW && (object->used || object->created);
    bool over = lookup == LOOKUP_LIVE && object->destroyed;
    return other || begins || over ? object_new(o, e, last) : last;
}

bool object_remember(struct overview *o, uint32_t object)
{
    const struct ov_object *x = &o->objects[object];
    return map_put(&o->by_address, object_space(x->process, x->type), x->address, object);
}

uint32_t object_known(const struct overview *o, uint32_t process, uint64_t address)
{
    uint32_t object = map_find(&o->by_address, object_space(process, UPMU_OBJECT_MUTEX), address);
    return object != MAP_NONE && !o->objects[object].destroyed ? object : MAP_NONE;
}

uint32_t stats_of(struct overview *o, uint32_t thread, uint32_t object)
{
    struct ov_thread *t = &o->threads[thread];
    if (t->last_stats != MAP_NONE && o->thread_stats[t->last_stats].object == object)
        return t->last_stats;
    uint32_t found = map_find(&o->by_thread_object, thread, object);
    if (found != MAP_NONE)
        return t->last_stats = found;
    struct ov_thread_stats *all = array_reserve(o->thread_stats, o->n_thread_stats, &o->cap_thread_stats, sizeof *all);
    if (!all)
        return MAP_NONE;
    o->thread_stats = all;
    if (!map_put(&o->by_thread_object, thread, object, (uint32_t)o->n_thread_stats))
        return MAP_NONE;
    all[o->n_thread_stats] =
        (struct ov_thread_stats){.thread = thread, .object = object, .graph_hold = MAP_NONE, .site = MAP_NONE};
    return t->last_stats = (uint32_t)o->n_thread_stats++;
}

uint32_t call_site_of(struct overview *o, uint32_t object, uint64_t address)
{
    uint32_t found = map_find(&o->by_site, object, address);
    if (found != MAP_NONE)
        return found;
    struct ov_call_site *all = array_reserve(o->sites, o->n_sites, &o->cap_sites, sizeof *all);
    if (!all)
        return MAP_NONE;
    o->sites = all;
    if (!map_put(&o->by_site, object, address, (uint32_t)o->n_sites))
        return MAP_NONE;
    all[o->n_sites] = (struct ov_call_site){.object = object, .address = address};
    return (uint32_t)o->n_sites++;
}

int call_site_note(struct overview *o, uint32_t object, uint64_t bare, uint64_t call)
{
    if (bare == 0 || call == 0 || bare == call)
        return 0;
    uint32_t at = map_find(&o->by_bare_site, object, bare);
    if (at != MAP_NONE) {
        if (o->bare_sites[at].call != call)
            o->bare_sites[at].call = 0;
        return 0;
    }
    struct ov_bare_site *all = array_reserve(o->bare_sites, o->n_bare_sites, &o->cap_bare_sites, sizeof *all);
    if (!all)
        return overview_no_memory();
    o->bare_sites = all;
    all[o->n_bare_sites] = (struct ov_bare_site){.call = call};
    return map_put(&o->by_bare_site, object, bare, (uint32_t)o->n_bare_sites++) ? 0 : overview_no_memory();
}

uint64_t call_site_outside(const struct overview *o, uint32_t object, uint64_t bare)
{
    uint32_t at = map_find(&o->by_bare_site, object, bare);
    return at != MAP_NONE && o->bare_sites[at].call ? o->bare_sites[at].call : bare;
}

static void call_site_add(struct ov_call_site *to, const struct ov_call_site *from)
{
    struct upmu_wait_sum *sums[] = {&to->waits, &to->paired, &to->known, &to->partial};
    const struct upmu_wait_sum *more[] = {&from->waits, &from->paired, &from->known, &from->partial};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        sums[i]->count += more[i]->count;
        sums[i]->total_ns += more[i]->total_ns;
        sums[i]->max_ns = more[i]->max_ns > sums[i]->max_ns ? more[i]->max_ns : sums[i]->max_ns;
        sums[i]->unfinished += more[i]->unfinished;
        sums[i]->unfinished_ns += more[i]->unfinished_ns;
    }
    to->taken += from->taken;
    to->blocked += from->blocked;
    to->blocked_ns += from->blocked_ns;
}

void call_sites_merge(struct overview *o)
{
    size_t kept = 0;
    for (size_t i = 0; i < o->n_sites; i++) {
        struct ov_call_site *s = &o->sites[i];
        uint64_t call = call_site_outside(o, s->object, s->address);
        uint32_t at = call != s->address ? map_find(&o->by_site, s->object, call) : MAP_NONE;
        if (at == MAP_NONE)
            continue;
        call_site_add(&o->sites[at], s);
        s->object = MAP_NONE;
    }
    for (size_t i = 0; i < o->n_sites; i++)
        if (o->sites[i].object != MAP_NONE)
            o->sites[kept++] = o->sites[i];
    o->n_sites = kept;
    for (size_t i = 0; i < o->n_objects; i++)
        o->objects[i].longest.holder_site = call_site_outside(o, (uint32_t)i, o->objects[i].longest.holder_site);
}

/* Time without the stretches in which recording was stopped. */
uint64_t recorded_ns_paused(const struct ov_process *p, uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t ns = end_ns - begin_ns;
    size_t low = 0, high = p->n_pauses;
    while (low < high) { /* the first that ends after the begin */
        size_t middle = low + (high - low) / 2;
        if (p->pauses[middle].end_ns <= begin_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < p->n_pauses && p->pauses[low].begin_ns < end_ns; low++) {
        const struct ov_pause *pause = &p->pauses[low];
        uint64_t from = pause->begin_ns > begin_ns ? pause->begin_ns : begin_ns;
        ns -= (pause->end_ns < end_ns ? pause->end_ns : end_ns) - from;
    }
    return ns;
}
