/* SPDX-License-Identifier: MIT */
/* Log of nested lock acquisitions, built from a recording's events. */
#include "deadlock/acquisitions.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int log_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading the lock acquisitions of a recording");
}

/* Grows an array of the log by one element if needed. */
static bool log_reserve(void *array, size_t n, size_t *cap, size_t size)
{
    void **slot = array, *grown = array_reserve(*slot, n, cap, size);
    if (grown)
        *slot = grown;
    return grown != NULL;
}

/* -------------------------------------------------------------------------------------------------------- locks */

/* Number of the process that objects in shared memory belong to; no process of a recording has it. */
enum { LOG_SHARED = MAP_NONE - 1 };

/* What identifies the object at an address. @return whether it is in shared memory. */
static bool log_identify(const struct acquisition_log *l, uint32_t *process, uint64_t *address)
{
    if (!process_relations_shared(&l->relations, *process, *address, address))
        return false;
    *process = LOG_SHARED;
    return true;
}

/* The entry of an address; NULL without memory. */
static struct acq_address *log_address_entry(struct acquisition_log *l, uint32_t process, uint64_t address)
{
    (void)log_identify(l, &process, &address);
    uint32_t i = map_find(&l->by_address, process, address);
    if (i == MAP_NONE) {
        i = (uint32_t)l->n_addresses;
        if (!log_reserve(&l->addresses, l->n_addresses, &l->cap_addresses, sizeof *l->addresses) ||
            !map_put(&l->by_address, process, address, i))
            return NULL;
        l->addresses[l->n_addresses++] = (struct acq_address){.lock = MAP_NONE};
    }
    return &l->addresses[i];
}

static int log_add_init(struct acquisition_log *l, const struct upmu_trace_event *e)
{
    struct acq_address *entry = log_address_entry(l, e->process, e->object);
    if (!entry)
        return log_no_memory();
    *entry =
        (struct acq_address){.lock = MAP_NONE, .init_stack = e->stack, .init_process = e->process, .initialized = true};
    return 0;
}

/* A lock in shared memory stays when one process unmaps it. */
static int log_add_destroy(struct acquisition_log *l, const struct upmu_trace_event *e)
{
    uint32_t process = e->process;
    uint64_t address = e->object;
    bool unmapped = log_identify(l, &process, &address) && e->flags & UPMU_TRACE_FLAG_FREED;
    uint32_t i = map_find(&l->by_address, process, address);
    if (i != MAP_NONE && !unmapped)
        l->addresses[i] = (struct acq_address){.lock = MAP_NONE};
    return 0;
}

/* MAP_NONE without memory. */
static uint32_t log_lock(struct acquisition_log *l, uint32_t process, uint64_t address, int32_t type)
{
    struct acq_address *entry = log_address_entry(l, process, address);
    if (!entry)
        return MAP_NONE;
    if (entry->lock == MAP_NONE) {
        if (!log_reserve(&l->locks, l->n_locks, &l->cap_locks, sizeof *l->locks))
            return MAP_NONE;
        l->locks[l->n_locks] = (struct acq_lock){.process = entry->initialized ? entry->init_process : process,
                                                 .address = address,
                                                 .init_stack = entry->init_stack,
                                                 .initialized = entry->initialized,
                                                 .written = entry->written};
        entry->lock = (uint32_t)l->n_locks++;
    }
    if (type != UPMU_OBJECT_NONE)
        l->locks[entry->lock].type = type;
    return entry->lock;
}

/* ------------------------------------------------------------------------------------------------ threads and
 * segments */

static uint32_t log_new_segment(struct acquisition_log *l)
{
    if (!log_reserve(&l->segments, l->n_segments, &l->cap_segments, sizeof *l->segments))
        return MAP_NONE;
    l->segments[l->n_segments] = (struct acq_segment){.next = MAP_NONE, .other = MAP_NONE};
    return (uint32_t)l->n_segments++;
}

static uint32_t log_new_thread(struct acquisition_log *l, uint32_t process, pid_t tid)
{
    uint32_t segment = log_new_segment(l), i = (uint32_t)l->n_threads;
    if (segment == MAP_NONE || !log_reserve(&l->threads, l->n_threads, &l->cap_threads, sizeof *l->threads) ||
        !map_put(&l->by_tid, process, (uint64_t)tid, i))
        return MAP_NONE;
    l->threads[l->n_threads++] = (struct acq_thread){.process = process, .tid = tid, .segment = segment};
    return i;
}

static uint32_t log_thread_with(struct acquisition_log *l, uint32_t process, pid_t tid)
{
    uint32_t i = map_find(&l->by_tid, process, (uint64_t)tid);
    return i != MAP_NONE ? i : log_new_thread(l, process, tid);
}

static uint32_t log_thread(struct acquisition_log *l, const struct upmu_trace_event *e)
{
    return log_thread_with(l, e->process, e->tid);
}

/* Begins the next segment of the thread. @return the preceding one, MAP_NONE without memory. */
static uint32_t log_next_segment(struct acquisition_log *l, uint32_t thread)
{
    uint32_t before = l->threads[thread].segment, next = log_new_segment(l);
    if (next == MAP_NONE)
        return MAP_NONE;
    l->segments[before].next = next;
    l->threads[thread].segment = next;
    return before;
}

static int log_add_create(struct acquisition_log *l, const struct upmu_trace_event *e)
{
    uint32_t thread = e->result == 0 ? log_thread(l, e) : MAP_NONE;
    if (e->result != 0)
        return 0;
    uint32_t before = thread == MAP_NONE ? MAP_NONE : log_next_segment(l, thread);
    if (before == MAP_NONE)
        return log_no_memory();
    return map_put(&l->by_creation, e->process, e->object, before) ? 0 : log_no_memory();
}

/* A reused tid is another thread. The first thread of a process is known from its fork. */
static int log_add_start(struct acquisition_log *l, const struct upmu_trace_event *e)
{
    uint32_t thread = e->tid == e->pid ? log_thread(l, e) : log_new_thread(l, e->process, e->tid);
    if (thread == MAP_NONE || !map_put(&l->by_handle, e->process, e->object, thread))
        return log_no_memory();
    uint32_t creation = map_find(&l->by_creation, e->process, e->object);
    if (creation != MAP_NONE && l->segments[creation].other == MAP_NONE)
        l->segments[creation].other = l->threads[thread].segment;
    return 0;
}

static int log_add_joined(struct acquisition_log *l, const struct upmu_trace_event *e)
{
    if (e->result != 0)
        return 0;
    uint32_t thread = log_thread(l, e);
    if (thread == MAP_NONE || log_next_segment(l, thread) == MAP_NONE)
        return log_no_memory();
    uint32_t ended = map_find(&l->by_handle, e->process, e->object);
    /* The handle may have been reused. */
    if (ended != MAP_NONE && (e->thread.peer == 0 || l->threads[ended].tid == e->thread.peer))
        l->segments[l->threads[ended].segment].other = l->threads[thread].segment;
    return 0;
}

/* ------------------------------------------------------------------------------------------- forks and ended children */

/* All that the child's threads did happens before what `thread` does from here on. */
static void log_end_child(struct acquisition_log *l, pid_t child, uint32_t thread)
{
    for (size_t i = 0; i < l->n_threads; i++) {
        const struct related_process *p = process_relations_of(&l->relations, l->threads[i].process);
        struct acq_segment *last = &l->segments[l->threads[i].segment];
        if (p && p->pid == child && last->other == MAP_NONE)
            last->other = l->threads[thread].segment;
    }
}

static int log_apply_relation(struct acquisition_log *l, uint32_t process, const struct process_relation *r)
{
    uint32_t thread = log_thread_with(l, process, r->tid);
    uint32_t before = thread == MAP_NONE ? MAP_NONE : log_next_segment(l, thread);
    if (before == MAP_NONE)
        return log_no_memory();
    if (r->forked == MAP_NONE) {
        log_end_child(l, r->child, thread);
        return 0;
    }
    uint32_t first = log_thread_with(l, r->forked, r->child);
    if (first == MAP_NONE)
        return log_no_memory();
    l->segments[before].other = l->threads[first].segment;
    return 0;
}

static int log_apply_until(struct acquisition_log *l, uint32_t process, uint64_t tick)
{
    struct related_process *p = process_relations_of(&l->relations, process);
    int rc = 0;
    while (rc == 0 && p && p->applied < p->n_relations && p->relations[p->applied].tick <= tick)
        rc = log_apply_relation(l, process, &p->relations[p->applied++]);
    return rc;
}

/* All events of a process come after the fork that made it. */
static int log_fork_applied(struct acquisition_log *l, uint32_t process)
{
    struct related_process *p = process_relations_of(&l->relations, process);
    if (!p || p->seen)
        return 0;
    p->seen = true;
    int rc = log_fork_applied(l, p->parent_index);
    return rc == 0 ? log_apply_until(l, p->parent_index, p->parent.tick) : rc;
}

static int log_relate(struct acquisition_log *l, const struct upmu_trace_event *e)
{
    int rc = log_fork_applied(l, e->process);
    return rc == 0 ? log_apply_until(l, e->process, e->tick) : rc;
}

bool acquisition_log_happens_before(struct acquisition_log *l, uint32_t a, uint32_t z)
{
    /* Depth first: along the segments of a thread, then from the branches to other threads; each segment is
     * visited once. */
    size_t n = 0;
    uint32_t search = ++l->searches, at = a;
    while (true) {
        while (at != MAP_NONE && l->segments[at].seen != search) {
            struct acq_segment *m = &l->segments[at];
            m->seen = search;
            if (at == z)
                return at != a;
            if (m->other != MAP_NONE)
                l->branches[n++] = m->other;
            at = m->next;
        }
        if (n == 0)
            return false;
        at = l->branches[--n];
    }
}

/* ------------------------------------------------------------------------------------------------------
 * acquisitions */

static int finish_acquisition(struct acquisition_log *l, struct acq_thread *t, const struct upmu_trace_event *e)
{
    if (!log_reserve(&l->acquisitions, l->n_acquisitions, &l->cap_acquisitions, sizeof *l->acquisitions) ||
        !log_reserve(&l->details, l->n_acquisitions, &l->cap_details, sizeof *l->details))
        return log_no_memory();
    uint32_t first = (uint32_t)l->n_held;
    for (size_t i = 0; i < t->n_held; i++) {
        if (!log_reserve(&l->held, l->n_held, &l->cap_held, sizeof *l->held) ||
            !log_reserve(&l->sites, l->n_held, &l->cap_sites, sizeof *l->sites))
            return log_no_memory();
        l->held[l->n_held] = t->held[i];
        l->sites[l->n_held++] = t->sites[i];
    }
    l->acquisitions[l->n_acquisitions] = (struct wg_acquisition){
        .thread = (uint32_t)(t - l->threads),
        .lock = t->lock,
        .shared = (t->flags & UPMU_TRACE_FLAG_SHARED) != 0,
        .breakable = (t->flags & (UPMU_TRACE_FLAG_TIMED | UPMU_TRACE_FLAG_TRIED)) != 0,
        .first_held = first,
        .n_held = (uint32_t)t->n_held,
    };
    l->details[l->n_acquisitions++] = (struct acq_details){
        .process = e->process,
        .pid = e->pid,
        .tid = e->tid,
        .segment = t->segment,
        .stack = t->stack,
        .flags = t->flags,
        .time_ns = t->time_ns,
        .address = t->object,
    };
    t->expected = 0;
    return 0;
}

static int begin_acquisition(struct acquisition_log *l, uint32_t thread, const struct upmu_trace_event *e)
{
    uint32_t lock = log_lock(l, e->process, e->object, e->object_type);
    struct acq_thread *t = &l->threads[thread];
    if (lock == MAP_NONE)
        return log_no_memory();
    l->locks[lock].writers_first |= (e->flags & UPMU_TRACE_FLAG_WRITERS_FIRST) != 0;
    l->locks[lock].written |= (e->flags & UPMU_TRACE_FLAG_SHARED) == 0;
    l->incomplete += t->expected != 0;
    t->tick = e->tick;
    t->object = e->object;
    t->lock = lock;
    t->stack = e->stack;
    t->flags = e->flags & ~(uint32_t)UPMU_TRACE_FLAG_HOLDER_SHARED;
    t->time_ns = e->time_ns;
    t->expected = e->lock_order.n_held;
    t->n_held = 0;
    return 0;
}

/* A semaphore recorded as a lock before it was known to be none: its acquisitions are dropped after the last event. */
static int log_add_non_lock(struct acquisition_log *l, const struct upmu_trace_event *e)
{
    uint32_t lock = log_lock(l, e->process, e->object, e->object_type);
    if (lock == MAP_NONE)
        return log_no_memory();
    l->locks[lock].is_none = true;
    return 0;
}

static int log_add_order(struct acquisition_log *l, const struct upmu_trace_event *e)
{
    uint32_t thread = log_thread(l, e);
    if (thread == MAP_NONE)
        return log_no_memory();
    struct acq_thread *t = &l->threads[thread];
    bool continues =
        t->expected != 0 && t->tick == e->tick && t->object == e->object && t->expected == e->lock_order.n_held;
    int rc = continues ? 0 : begin_acquisition(l, thread, e);
    uint32_t permits = e->lock_order.permits;
    int32_t type = permits ? UPMU_OBJECT_SEM : UPMU_OBJECT_NONE;
    uint32_t held = rc == 0 ? log_lock(l, e->process, e->lock_order.held, type) : MAP_NONE;
    t = &l->threads[thread];
    if (held == MAP_NONE || !log_reserve(&t->held, t->n_held, &t->cap_held, sizeof *t->held) ||
        !log_reserve(&t->sites, t->n_held, &t->cap_sites, sizeof *t->sites))
        return log_no_memory();
    t->held[t->n_held] = (struct wg_order_held){
        .lock = held, .shared = (e->flags & UPMU_TRACE_FLAG_HOLDER_SHARED) != 0, .permits = permits};
    t->sites[t->n_held++] = (struct acq_held){
        .address = e->lock_order.held, .site = e->lock_order.held_site, .stack = e->lock_order.held_stack};
    return t->n_held == t->expected ? finish_acquisition(l, t, e) : 0;
}

static int log_add_try(struct acquisition_log *l, const struct upmu_trace_event *e)
{
    if (!log_reserve(&l->tries, l->n_tries, &l->cap_tries, sizeof *l->tries))
        return log_no_memory();
    l->tries[l->n_tries++] = (struct acq_try){
        .process = e->process, .lock = e->object, .tried = e->lock_order.held_site, .wait_stack = e->stack};
    return 0;
}

/* Readers of an rwlock that nothing writes never wait, whatever its kind. */
static int log_add_writer(struct acquisition_log *l, const struct upmu_trace_event *e)
{
    bool counted = e->kind != UPMU_TRACE_LOCK_COUNTS || e->lock_counts.acquisitions > 0;
    bool rwlock = e->object_type == UPMU_OBJECT_RWLOCK || e->object_type == UPMU_OBJECT_QRWLOCK ||
                  e->object_type == UPMU_OBJECT_ABSL_MUTEX;
    if (!rwlock || e->flags & UPMU_TRACE_FLAG_SHARED || !counted)
        return 0;
    struct acq_address *entry = log_address_entry(l, e->process, e->object);
    if (!entry)
        return log_no_memory();
    entry->written = true;
    if (entry->lock != MAP_NONE)
        l->locks[entry->lock].written = true;
    return 0;
}

int acquisition_log_add(struct acquisition_log *l, const struct upmu_trace_event *e)
{
    int rc = log_relate(l, e);
    if (rc != 0)
        return rc;
    switch (e->kind) {
    case UPMU_TRACE_LOCK_ORDER:
        if (e->lock_order.n_held == 0 && e->flags & UPMU_TRACE_FLAG_TRIED)
            return log_add_try(l, e);
        return e->lock_order.n_held == 0 ? log_add_non_lock(l, e) : log_add_order(l, e);
    case UPMU_TRACE_LOCK_ACQUIRE:
    case UPMU_TRACE_LOCK_BLOCK:
    case UPMU_TRACE_LOCK_COUNTS:
        return log_add_writer(l, e);
    case UPMU_TRACE_LOCK_INIT:
        return log_add_init(l, e);
    case UPMU_TRACE_LOCK_DESTROY:
        return log_add_destroy(l, e);
    case UPMU_TRACE_THREAD_CREATE:
        return log_add_create(l, e);
    case UPMU_TRACE_THREAD_START:
        return log_add_start(l, e);
    case UPMU_TRACE_THREAD_JOINED:
        return log_add_joined(l, e);
    default:
        return 0;
    }
}

/* A lock that no other acquisition refers to: it is part of no cycle, and gates nothing. */
static uint32_t log_unique_lock(struct acquisition_log *l, uint32_t like)
{
    if (!log_reserve(&l->locks, l->n_locks, &l->cap_locks, sizeof *l->locks))
        return MAP_NONE;
    l->locks[l->n_locks] = l->locks[like];
    return (uint32_t)l->n_locks++;
}

int acquisition_log_drop_non_locks(struct acquisition_log *l)
{
    for (size_t i = 0; i < l->n_held + l->n_acquisitions; i++) {
        uint32_t *lock = i < l->n_held ? &l->held[i].lock : &l->acquisitions[i - l->n_held].lock;
        if (!l->locks[*lock].is_none)
            continue;
        *lock = log_unique_lock(l, *lock);
        if (*lock == MAP_NONE)
            return log_no_memory();
    }
    return 0;
}

/* Whether tries of the lock at this call site were given up, and never followed by a wait. */
static bool log_gives_up(const struct acquisition_log *l, const struct acq_try *t, uint64_t lock)
{
    bool given_up = false;
    for (size_t i = 0; i < l->n_tries; i++) {
        const struct acq_try *o = &l->tries[i];
        if (o->process != t->process || o->tried != t->tried || o->lock != lock)
            continue;
        if (o->wait_stack != 0)
            return false;
        given_up = true;
    }
    return given_up;
}

void acquisition_log_tries_wait(struct acquisition_log *l, const struct acq_try *t,
                                uint64_t (*site_of)(void *arg, uint32_t process, uint32_t stack), void *arg)
{
    for (size_t i = 0; i < l->n_acquisitions; i++) {
        const struct acq_details *d = &l->details[i];
        bool only_tried = (d->flags & (UPMU_TRACE_FLAG_TIMED | UPMU_TRACE_FLAG_TRIED)) == UPMU_TRACE_FLAG_TRIED;
        if (only_tried && l->acquisitions[i].breakable && d->process == t->process &&
            site_of(arg, d->process, d->stack) == t->tried && !log_gives_up(l, t, d->address))
            l->acquisitions[i].breakable = false;
    }
}

void acquisition_log_set_writers(struct acquisition_log *l)
{
    for (size_t i = 0; i < l->n_acquisitions; i++) {
        struct wg_acquisition *t = &l->acquisitions[i];
        t->writers_first = t->shared && l->locks[t->lock].writers_first && l->locks[t->lock].written;
    }
}

void acquisition_log_free(struct acquisition_log *l)
{
    for (size_t i = 0; i < l->n_threads; i++) {
        free(l->threads[i].held);
        free(l->threads[i].sites);
    }
    void *arrays[] = {l->locks,        l->addresses, l->threads, l->segments, l->branches,
                      l->acquisitions, l->details,   l->held,    l->sites,    l->tries};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    struct map *maps[] = {&l->by_address, &l->by_tid, &l->by_handle, &l->by_creation, &l->by_pair};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        map_free(maps[i]);
    process_relations_free(&l->relations);
    memset(l, 0, sizeof *l);
}
