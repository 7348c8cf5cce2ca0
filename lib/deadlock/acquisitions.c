/* SPDX-License-Identifier: MIT */
/* Takings, locks and threads of a recording, as its events come. Room: analysis. Before it: the trace reader; after it:
 * order_cycles.c. */
#include "deadlock/acquisitions.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "no memory for the orders of locks");
}

/* Room for one more in an array of the book; the array's place is updated. */
static bool room(void *array, size_t n, size_t *cap, size_t size)
{
    void **slot = array, *grown = array_room(*slot, n, cap, size);
    if (grown)
        *slot = grown;
    return grown != NULL;
}

/* -------------------------------------------------------------------------------------------------------- locks */

/* What is known of an address; NULL without memory. */
static struct book_life *life_at(struct order_book *b, uint32_t process, uint64_t address)
{
    uint32_t i = map_find(&b->by_address, process, address);
    if (i == MAP_NONE) {
        i = (uint32_t)b->n_lives;
        if (!room(&b->lives, b->n_lives, &b->cap_lives, sizeof *b->lives) ||
            !map_put(&b->by_address, process, address, i))
            return NULL;
        b->lives[b->n_lives++] = (struct book_life){.lock = MAP_NONE};
    }
    return &b->lives[i];
}

static int begin_life(struct order_book *b, const struct upmu_trace_event *e)
{
    struct book_life *life = life_at(b, e->process, e->object);
    if (!life)
        return no_memory();
    *life = (struct book_life){.lock = MAP_NONE, .made = e->stack};
    return 0;
}

static int end_life(struct order_book *b, const struct upmu_trace_event *e)
{
    uint32_t i = map_find(&b->by_address, e->process, e->object);
    if (i != MAP_NONE)
        b->lives[i] = (struct book_life){.lock = MAP_NONE};
    return 0;
}

/* MAP_NONE without memory. */
static uint32_t lock_at(struct order_book *b, uint32_t process, uint64_t address, int32_t type)
{
    struct book_life *life = life_at(b, process, address);
    if (!life)
        return MAP_NONE;
    if (life->lock == MAP_NONE) {
        if (!room(&b->locks, b->n_locks, &b->cap_locks, sizeof *b->locks))
            return MAP_NONE;
        b->locks[b->n_locks] = (struct book_lock){.process = process, .address = address, .made = life->made};
        life->lock = (uint32_t)b->n_locks++;
    }
    if (type != UPMU_OBJECT_NONE)
        b->locks[life->lock].type = type;
    return life->lock;
}

/* ------------------------------------------------------------------------------------------------ threads, moments */

static uint32_t new_moment(struct order_book *b)
{
    if (!room(&b->moments, b->n_moments, &b->cap_moments, sizeof *b->moments))
        return MAP_NONE;
    b->moments[b->n_moments] = (struct book_moment){.next = MAP_NONE, .other = MAP_NONE};
    return (uint32_t)b->n_moments++;
}

static uint32_t new_thread(struct order_book *b, uint32_t process, pid_t tid)
{
    uint32_t moment = new_moment(b), i = (uint32_t)b->n_threads;
    if (moment == MAP_NONE || !room(&b->threads, b->n_threads, &b->cap_threads, sizeof *b->threads) ||
        !map_put(&b->by_tid, process, (uint64_t)tid, i))
        return MAP_NONE;
    b->threads[b->n_threads++] = (struct book_thread){.process = process, .tid = tid, .moment = moment};
    return i;
}

static uint32_t thread_at(struct order_book *b, const struct upmu_trace_event *e)
{
    uint32_t i = map_find(&b->by_tid, e->process, (uint64_t)e->tid);
    return i != MAP_NONE ? i : new_thread(b, e->process, e->tid);
}

/* The thread goes on to its next moment. @return the one before, MAP_NONE without memory. */
static uint32_t pass_moment(struct order_book *b, uint32_t thread)
{
    uint32_t before = b->threads[thread].moment, next = new_moment(b);
    if (next == MAP_NONE)
        return MAP_NONE;
    b->moments[before].next = next;
    b->threads[thread].moment = next;
    return before;
}

static int add_create(struct order_book *b, const struct upmu_trace_event *e)
{
    uint32_t thread = e->result == 0 ? thread_at(b, e) : MAP_NONE;
    if (e->result != 0)
        return 0;
    uint32_t before = thread == MAP_NONE ? MAP_NONE : pass_moment(b, thread);
    if (before == MAP_NONE)
        return no_memory();
    return map_put(&b->by_creation, e->process, e->object, before) ? 0 : no_memory();
}

/* A number given to a new thread again is another thread. */
static int add_start(struct order_book *b, const struct upmu_trace_event *e)
{
    uint32_t thread = new_thread(b, e->process, e->tid);
    if (thread == MAP_NONE || !map_put(&b->by_handle, e->process, e->object, thread))
        return no_memory();
    uint32_t creation = map_find(&b->by_creation, e->process, e->object);
    if (creation != MAP_NONE && b->moments[creation].other == MAP_NONE)
        b->moments[creation].other = b->threads[thread].moment;
    return 0;
}

static int add_joined(struct order_book *b, const struct upmu_trace_event *e)
{
    if (e->result != 0)
        return 0;
    uint32_t thread = thread_at(b, e);
    if (thread == MAP_NONE || pass_moment(b, thread) == MAP_NONE)
        return no_memory();
    uint32_t ended = map_find(&b->by_handle, e->process, e->object);
    /* The handle may be another thread's by now. */
    if (ended != MAP_NONE && (e->peer == 0 || b->threads[ended].tid == e->peer))
        b->moments[b->threads[ended].moment].other = b->threads[thread].moment;
    return 0;
}

bool order_book_before(struct order_book *b, uint32_t a, uint32_t z)
{
    /* Along a thread's moments; the other threads met on the way come later, each once. */
    size_t n = 0;
    uint32_t search = ++b->searches, at = a;
    while (true) {
        while (at != MAP_NONE && b->moments[at].seen != search) {
            struct book_moment *m = &b->moments[at];
            m->seen = search;
            if (at == z)
                return at != a;
            if (m->other != MAP_NONE)
                b->branches[n++] = m->other;
            at = m->next;
        }
        if (n == 0)
            return false;
        at = b->branches[--n];
    }
}

/* ------------------------------------------------------------------------------------------------------ takings */

static int finish_taking(struct order_book *b, struct book_thread *t, const struct upmu_trace_event *e)
{
    if (!room(&b->takings, b->n_acquisitions, &b->cap_takings, sizeof *b->takings) ||
        !room(&b->facts, b->n_acquisitions, &b->cap_facts, sizeof *b->facts))
        return no_memory();
    uint32_t first = (uint32_t)b->n_held;
    for (size_t i = 0; i < t->n_held; i++) {
        if (!room(&b->held, b->n_held, &b->cap_held, sizeof *b->held) ||
            !room(&b->sites, b->n_held, &b->cap_sites, sizeof *b->sites))
            return no_memory();
        b->held[b->n_held] = t->held[i];
        b->sites[b->n_held++] = t->sites[i];
    }
    b->takings[b->n_acquisitions] = (struct wg_taking){
        .thread = (uint32_t)(t - b->threads),
        .lock = t->lock,
        .shared = (t->flags & UPMU_TRACE_FLAG_SHARED) != 0,
        .breakable = (t->flags & (UPMU_TRACE_FLAG_TIMED | UPMU_TRACE_FLAG_TRIED)) != 0,
        .first_held = first,
        .n_held = (uint32_t)t->n_held,
    };
    b->facts[b->n_acquisitions++] = (struct book_taking){
        .process = e->process,
        .pid = e->pid,
        .tid = e->tid,
        .moment = t->moment,
        .stack = t->stack,
        .flags = t->flags,
        .time_ns = t->time_ns,
    };
    t->expected = 0;
    return 0;
}

static int begin_taking(struct order_book *b, uint32_t thread, const struct upmu_trace_event *e)
{
    uint32_t lock = lock_at(b, e->process, e->object, e->object_type);
    struct book_thread *t = &b->threads[thread];
    if (lock == MAP_NONE)
        return no_memory();
    b->incomplete += t->expected != 0;
    t->tick = e->tick;
    t->object = e->object;
    t->lock = lock;
    t->stack = e->stack;
    t->flags = e->flags & ~(uint32_t)UPMU_TRACE_FLAG_HOLDER_SHARED;
    t->time_ns = e->time_ns;
    t->expected = (uint32_t)e->count;
    t->n_held = 0;
    return 0;
}

/* Whatever was told of it as a lock was told in good faith, and is taken back when all events are in. */
static int add_no_lock(struct order_book *b, const struct upmu_trace_event *e)
{
    uint32_t lock = lock_at(b, e->process, e->object, e->object_type);
    if (lock == MAP_NONE)
        return no_memory();
    b->locks[lock].is_none = true;
    return 0;
}

static int add_order(struct order_book *b, const struct upmu_trace_event *e)
{
    uint32_t thread = thread_at(b, e);
    if (thread == MAP_NONE)
        return no_memory();
    struct book_thread *t = &b->threads[thread];
    bool goes_on =
        t->expected != 0 && t->tick == e->tick && t->object == e->object && t->expected == (uint32_t)e->count;
    int rc = goes_on ? 0 : begin_taking(b, thread, e);
    uint32_t places = (uint32_t)(e->count >> UPMU_PLACES_SHIFT);
    int32_t type = places ? UPMU_OBJECT_SEM : UPMU_OBJECT_NONE;
    uint32_t held = rc == 0 ? lock_at(b, e->process, e->object2, type) : MAP_NONE;
    t = &b->threads[thread];
    if (held == MAP_NONE || !room(&t->held, t->n_held, &t->cap_held, sizeof *t->held) ||
        !room(&t->sites, t->n_held, &t->cap_sites, sizeof *t->sites))
        return no_memory();
    t->held[t->n_held] = (struct wg_order_held){
        .lock = held, .shared = (e->flags & UPMU_TRACE_FLAG_HOLDER_SHARED) != 0, .places = places};
    t->sites[t->n_held++] = (struct book_held){.site = e->holder_site};
    return t->n_held == t->expected ? finish_taking(b, t, e) : 0;
}

int order_book_add(struct order_book *b, const struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_LOCK_ORDER:
        return e->count == 0 ? add_no_lock(b, e) : add_order(b, e);
    case UPMU_TRACE_LOCK_INIT:
        return begin_life(b, e);
    case UPMU_TRACE_LOCK_DESTROY:
        return end_life(b, e);
    case UPMU_TRACE_THREAD_CREATE:
        return add_create(b, e);
    case UPMU_TRACE_THREAD_START:
        return add_start(b, e);
    case UPMU_TRACE_THREAD_JOINED:
        return add_joined(b, e);
    default:
        return 0;
    }
}

/* A lock that only one taking has heard of: it makes no order, and keeps nobody apart. */
static uint32_t lock_of_its_own(struct order_book *b, uint32_t like)
{
    if (!room(&b->locks, b->n_locks, &b->cap_locks, sizeof *b->locks))
        return MAP_NONE;
    b->locks[b->n_locks] = b->locks[like];
    return (uint32_t)b->n_locks++;
}

int order_book_take_back(struct order_book *b)
{
    for (size_t i = 0; i < b->n_held + b->n_acquisitions; i++) {
        uint32_t *lock = i < b->n_held ? &b->held[i].lock : &b->takings[i - b->n_held].lock;
        if (!b->locks[*lock].is_none)
            continue;
        *lock = lock_of_its_own(b, *lock);
        if (*lock == MAP_NONE)
            return no_memory();
    }
    return 0;
}

void order_book_free(struct order_book *b)
{
    for (size_t i = 0; i < b->n_threads; i++) {
        free(b->threads[i].held);
        free(b->threads[i].sites);
    }
    void *arrays[] = {b->locks, b->lives, b->threads, b->moments, b->branches, b->takings, b->facts, b->held, b->sites};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    struct map *maps[] = {&b->by_address, &b->by_tid, &b->by_handle, &b->by_creation, &b->by_pair};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        map_free(maps[i]);
    memset(b, 0, sizeof *b);
}
