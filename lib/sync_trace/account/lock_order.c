/* SPDX-License-Identifier: MIT */
/*
 * Table and records of a thread's lock order.
 *
 * The table of a thread grows with what it has recorded; where it cannot grow, acquisitions are recorded again now and then,
 * which costs trace space only.
 */
#include "sync_trace/account/lock_order.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/own_memory.h"
#include "base/tick.h"
#include "sync_trace/account/sem_permits.h"
#include "sync_trace/emit/event.h"
#include "sync_trace/libc/layout.h"
#include "sync_trace/stack/unwind.h"
#include "sync_trace/stack/holder_stack.h"
#include "sync_trace/state/counts.h"
#include "sync_trace/state/shared_memory.h"
#include "trace/format/schema.h"

enum { PROBES = 8, KNOWN_MAX_BITS = 20 };

/* Key of a held lock; 0 if another thread has released it, as is possible with a semaphore. */
static uintptr_t order_held_key(const struct sync_thread *t, uint32_t i)
{
    return __atomic_load_n(&t->held[i].lock, __ATOMIC_RELAXED);
}

void sync_order_reset(struct sync_thread *t)
{
    if (!t->order.known) {
        t->order.known = t->order.first;
        t->order.shift = 64 - SYNC_ORDER_FIRST_BITS;
    }
    /* Another thread had the block: its numbers are of another period, its permits are not this thread's. */
    sync_order_renew(t);
    t->order.salt = (uint64_t)t->order.period << 32;
    memset(t->permits, 0, sizeof t->permits);
    t->tried = t->tried_written = t->tried_given_up = 0;
    t->n_given_up = 0;
}

/* ----------------------------------------------------------------------------------------------------- the table */

static uint64_t *order_slot(const struct sync_order *o, uint64_t number, uint32_t i)
{
    uint64_t at = number >> o->shift, mask = ((uint64_t)1 << (64 - o->shift)) - 1;
    return &o->known[(at + i) & mask];
}

static bool order_put(const struct sync_order *o, uint64_t number)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        uint64_t *p = order_slot(o, number, i);
        if (*p == 0 || *p == number) {
            *p = number;
            return true;
        }
    }
    return false;
}

/* Four times as large. A table full of numbers of an earlier period is emptied instead. */
static void order_grow(struct sync_order *o)
{
    uint32_t bits = 64 - o->shift, more = bits + 2;
    uint64_t n = (uint64_t)1 << bits;
    o->used = 0;
    if (o->since == o->period && more <= KNOWN_MAX_BITS) {
        uint64_t *larger = own_memory_map(sizeof *larger << more, MAP_NORESERVE);
        if (larger) {
            struct sync_order now = {.known = larger, .shift = 64 - more};
            for (uint64_t i = 0; i < n; i++)
                now.used += o->known[i] != 0 && order_put(&now, o->known[i]);
            if (o->known != o->first)
                own_memory_unmap(o->known, sizeof *o->known << bits);
            o->known = larger;
            o->shift = now.shift;
            o->used = now.used;
            return;
        }
    }
    for (uint64_t i = 0; i < n; i++)
        o->known[i] = 0;
    o->since = o->period;
}

/* @return false if the number was in the table. The first slot is the fast one: a number found in another one moves there. */
static bool order_learn(struct sync_order *o, uint64_t number)
{
    uint64_t *first = order_slot(o, number, 0);
    for (uint32_t i = 1; i < PROBES; i++) {
        uint64_t *p = order_slot(o, number, i);
        if (*p != number)
            continue;
        *p = *first;
        *first = number;
        return false;
    }
    if (o->used >= (uint64_t)1 << (63 - o->shift) || !order_put(o, number)) {
        order_grow(o);
        if (!order_put(o, number))
            *first = number;
    }
    o->used++;
    return true;
}

static bool order_is_held(const struct sync_thread *t, uintptr_t lock)
{
    for (uint32_t i = 0; i < t->depth; i++) {
        uintptr_t held = order_held_key(t, i);
        if (held - sync_key_is_reader(t, held) == lock)
            return true;
    }
    return false;
}

static uint32_t order_count_held(const struct sync_thread *t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->depth; i++)
        n += order_held_key(t, i) != 0;
    return n;
}

/* The stack at which it was acquired. */
static uint32_t order_held_stack(struct sync_thread *t, uint64_t tick, uint32_t i)
{
    const struct sync_held *h = &t->held[i]; /* other threads write `wanted` */
    const struct sync_held entry = {.lock = h->lock, .site = h->site, .since = h->since};
    uint32_t before = sync_guard_as(t, SYNC_WALKS);
    uint32_t stack = before == SYNC_READY ? sync_holder_stack(t, tick, t, &entry) : 0;
    sync_unguard(t, before);
    return stack;
}

/* Notes where the locks are, if other processes may have the acquired one, too: their orders can contradict this one. */
static void order_note_shared(struct sync_thread *t, uintptr_t lock, uint32_t type)
{
    if (LIKELY(!sync_lock_may_be_shared((const void *)lock, type)))
        return;
    uint32_t before = sync_guard(t);
    sync_shared_memory_note(lock);
    for (uint32_t i = 0; i < t->depth; i++)
        sync_shared_memory_note(order_held_key(t, i) & ~(uintptr_t)1);
    sync_unguard(t, before);
}

/* One event for each lock held; `e` has their common fields. A lock that another thread released just now is missing, which
 * makes the acquisition incomplete: readers count that. */
static void order_record_held(struct sync_thread *t, uint64_t tick, struct trace_sync e)
{
    uint32_t flags = e.flags;
    for (uint32_t i = 0; i < t->depth; i++) {
        uintptr_t held = order_held_key(t, i);
        bool reads = sync_key_is_reader(t, held);
        e.object2 = held - reads;
        e.holder_site = t->held[i].site;
        e.holder_stack = held ? order_held_stack(t, tick, i) : 0;
        e.flags = flags | (reads ? UPMU_TRACE_FLAG_HOLDER_SHARED : 0);
        if (held)
            sync_write(t, tick, &e);
    }
}

static void order_record_permits(struct sync_thread *t, uint64_t tick, struct trace_sync e)
{
    uint64_t count = e.count;
    e.flags |= UPMU_TRACE_FLAG_HOLDER_SHARED;
    for (const struct sync_permit *r = t->permits; r < t->permits + SYNC_PERMITS; r++) {
        e.object2 = r->sem;
        e.holder_site = r->site;
        e.count = count | (uint64_t)r->permits << SCHEMA_PERMITS_SHIFT;
        if (r->sem)
            sync_write(t, tick, &e);
    }
}

static uint32_t order_kind_flags(uintptr_t key, uint32_t type)
{
    const void *lock = (const void *)sync_key_object(key, type);
    return type == UPMU_OBJECT_RWLOCK && sync_rwlock_writers_first(lock) ? UPMU_TRACE_FLAG_WRITERS_FIRST : 0;
}

void sync_order_record(struct sync_thread *t, uint64_t number, uintptr_t key, uint32_t type, uintptr_t site,
                       uint32_t flags)
{
    int saved = errno;
    uint32_t before = sync_guard_as(t, SYNC_WALKS);
    if (UNLIKELY(before != SYNC_READY)) { /* a signal handler may have interrupted a change of the table */
        sync_unguard(t, before);
        return;
    }
    bool fresh = order_learn(&t->order, number);
    sync_unguard(t, before);
    /* A thread that holds the lock already does not wait for other threads to release it. */
    if (!fresh || order_is_held(t, sync_key_object(key, type)))
        return;
    uint64_t tick = tick_now();
    uint32_t n_permits = t->order.salt != (uint64_t)t->order.period << 32 ? sync_sem_permits_held(t) : 0,
             n = order_count_held(t);
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_ORDER,
        .object_type = (int32_t)type,
        .object = sync_key_object(key, type),
        .stack = n > 0 ? sync_stack(t, tick, site) : 0,
        .flags = flags | sync_key_flags(key, type) | order_kind_flags(key, type),
        .count = n + n_permits,
    };
    if (n > 0) {
        order_note_shared(t, e.object, type);
        order_record_held(t, tick, e);
        order_record_permits(t, tick, e);
    }
    errno = saved;
}

/* ------------------------------------------------------------------------------------- tries followed by a wait */

static uint64_t order_holding(struct sync_thread *t)
{
    return t->depth > 0 ? sync_sequence_held(t) : 0;
}

/* `stack`: of the wait at a call site; 0: no wait followed the try. */
static void order_write_try(struct sync_thread *t, uint64_t tick, uintptr_t lock, uint32_t stack)
{
    const struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_ORDER,
        .object = lock,
        .stack = stack,
        .flags = UPMU_TRACE_FLAG_TRIED,
        .holder_site = t->tried_site,
    };
    sync_write(t, tick, &e);
}

void sync_order_try_given_up(struct sync_thread *t)
{
    enum { GIVEN_UP_MAX = 64 };
    if (t->tried == 0 || t->tried_given_up == t->tried || t->n_given_up >= GIVEN_UP_MAX)
        return;
    order_write_try(t, tick_now(), t->tried & ~(uintptr_t)1, 0);
    t->tried_given_up = t->tried;
    t->n_given_up++;
}

void sync_order_try_failed(struct sync_thread *t, uintptr_t key, uintptr_t site)
{
    int saved = errno;
    sync_order_try_given_up(t);
    t->tried = key;
    t->tried_site = site;
    t->tried_holding = order_holding(t);
    errno = saved;
}

void sync_order_waits(struct sync_thread *t, uintptr_t key, uint32_t type, uintptr_t site)
{
    bool same = t->tried_holding == order_holding(t);
    bool known = t->tried_written == t->tried_site && t->tried_lock == key;
    t->tried = 0;
    if (!same || known)
        return;
    int saved = errno;
    uint64_t tick = tick_now();
    uint32_t stack = sync_stack(t, tick, site); /* the caller may be the function that tried */
    order_write_try(t, tick, sync_key_object(key, type), stack ? stack : sync_site_id(t, tick, site));
    t->tried_written = t->tried_site;
    t->tried_lock = key;
    errno = saved;
}
