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
                                             .begin_ns = from_start ? p->start_ns : time_ns,
                                             .switches = {.value = UPMU_NO_VALUE, .status = UPMU_NOT_COUNTED}};
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

/* ----------------------------------------------------------------------------------------------------- objects */

/* Threads have a key space of their own: a pthread_t may equal the address of a lock. */
static uint64_t object_space(uint32_t process, int32_t type)
{
    return (uint64_t)process * 2 + (type == UPMU_OBJECT_THREAD);
}

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
