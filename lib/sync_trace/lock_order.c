/* SPDX-License-Identifier: MIT */
/*
 * Takings that are not known yet. Room: sync_trace; before it order.h, after it the trace.
 *
 * The table of a thread grows with what it has told; where it cannot, takings are told again now and then, which costs
 * room in the trace and nothing else.
 */
#include "sync_trace/lock_order.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/tick.h"
#include "sync_trace/wrap/sem_lock.h"
#include "trace/write/writer.h"

enum { PROBES = 8, KNOWN_MAX_BITS = 20 };

uint32_t sync_lives[SYNC_LIVES];

/* What the thread holds there; 0 if somebody else has taken it away by now, as can be done with a semaphore. */
static uintptr_t held_at(const struct sync_thread *t, uint32_t i)
{
    return __atomic_load_n(&t->held[i].lock, __ATOMIC_RELAXED);
}

uint64_t sync_order_held(struct sync_thread *t)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < t->depth; i++) {
        struct sync_held *h = &t->held[i];
        if (h->number == 0)
            h->number = sync_order_step(number, held_at(t, i));
        number = h->number;
    }
    return number;
}

void sync_order_start(struct sync_thread *t)
{
    if (!t->order.known) {
        t->order.known = t->order.first;
        t->order.shift = 64 - SYNC_ORDER_FIRST_BITS;
    }
    /* Another thread had the block: its numbers are of another period, its rooms are not this one's. */
    sync_order_renew(t);
    t->order.salt = (uint64_t)t->order.period << 32;
    memset(t->rooms, 0, sizeof t->rooms);
}

/* ----------------------------------------------------------------------------------------------------- the table */

static uint64_t *place(const struct sync_order *o, uint64_t number, uint32_t i)
{
    uint64_t at = number >> o->shift, mask = ((uint64_t)1 << (64 - o->shift)) - 1;
    return &o->known[(at + i) & mask];
}

static bool put(const struct sync_order *o, uint64_t number)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        uint64_t *p = place(o, number, i);
        if (*p == 0 || *p == number) {
            *p = number;
            return true;
        }
    }
    return false;
}

/* Four times as large. What is full of an earlier period's numbers is emptied instead. */
static void grow(struct sync_order *o)
{
    uint32_t bits = 64 - o->shift, more = bits + 2;
    uint64_t n = (uint64_t)1 << bits;
    o->used = 0;
    if (o->since == o->period && more <= KNOWN_MAX_BITS) {
        uint64_t *larger = mmap(NULL, sizeof *larger << more, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (larger != MAP_FAILED) {
            struct sync_order now = {.known = larger, .shift = 64 - more};
            for (uint64_t i = 0; i < n; i++)
                now.used += o->known[i] != 0 && put(&now, o->known[i]);
            if (o->known != o->first)
                munmap(o->known, sizeof *o->known << bits);
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

/* @return false if it was known. The first place is free for what comes often: who is found further on moves there. */
static bool learn(struct sync_order *o, uint64_t number)
{
    uint64_t *first = place(o, number, 0);
    for (uint32_t i = 1; i < PROBES; i++) {
        uint64_t *p = place(o, number, i);
        if (*p != number)
            continue;
        *p = *first;
        *first = number;
        return false;
    }
    if (o->used >= (uint64_t)1 << (63 - o->shift) || !put(o, number)) {
        grow(o);
        if (!put(o, number))
            *first = number;
    }
    o->used++;
    return true;
}

/* ------------------------------------------------------------------------------------------------------- telling */

static bool already_held(const struct sync_thread *t, uintptr_t lock)
{
    for (uint32_t i = 0; i < t->depth; i++) {
        uintptr_t held = held_at(t, i);
        if (held - sync_key_is_reader(t, held) == lock)
            return true;
    }
    return false;
}

static uint32_t count_held(const struct sync_thread *t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->depth; i++)
        n += held_at(t, i) != 0;
    return n;
}

/* One event for each lock held; `e` has what they have in common. One taken away just now is missing, and with it the
 * taking: that is counted where it is read. */
static void tell_held(struct sync_thread *t, uint64_t tick, struct trace_sync e)
{
    uint32_t flags = e.flags;
    for (uint32_t i = 0; i < t->depth; i++) {
        uintptr_t held = held_at(t, i);
        bool reads = sync_key_is_reader(t, held);
        e.object2 = held - reads;
        e.holder_site = t->held[i].site;
        e.flags = flags | (reads ? UPMU_TRACE_FLAG_HOLDER_SHARED : 0);
        if (held)
            sync_write(t, tick, &e);
    }
}

static void tell_rooms(struct sync_thread *t, uint64_t tick, struct trace_sync e)
{
    uint64_t count = e.count;
    e.flags |= UPMU_TRACE_FLAG_HOLDER_SHARED;
    for (const struct sync_room *r = t->rooms; r < t->rooms + SYNC_ROOMS; r++) {
        e.object2 = r->sem;
        e.holder_site = r->site;
        e.count = count | (uint64_t)r->places << UPMU_PLACES_SHIFT;
        if (r->sem)
            sync_write(t, tick, &e);
    }
}

void sync_order_tell(struct sync_thread *t, uint64_t number, uintptr_t key, uint32_t type, uintptr_t site,
                     uint32_t flags)
{
    int saved = errno;
    sync_guard(t); /* a signal handler that locks in between must not find the table in the middle of a change */
    bool fresh = learn(&t->order, number);
    sync_unguard(t);
    /* Who has a lock already does not wait for others to give it back. */
    if (!fresh || already_held(t, sync_key_object(key, type)))
        return;
    uint64_t tick = tick_now();
    uint32_t n_rooms = t->order.salt != (uint64_t)t->order.period << 32 ? sync_sem_rooms(t) : 0, n = count_held(t);
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_ORDER,
        .object_type = (int32_t)type,
        .object = sync_key_object(key, type),
        .stack = n > 0 ? sync_stack(t, tick, site) : 0,
        .flags = flags | sync_key_flags(key, type),
        .count = n + n_rooms,
    };
    if (n > 0) {
        tell_held(t, tick, e);
        tell_rooms(t, tick, e);
    }
    errno = saved;
}
