/* SPDX-License-Identifier: MIT */
/*
 * Semaphores that are used as locks, or as rooms for so many: which ones, and who has them. Room: sync_trace; before it
 * sem.c, after it held.h, the trace.
 *
 * Which semaphores may be locks stands in a table of the process, by address, without a lock; one for which there is no
 * place among its neighbours is none. A forked child goes on with its parent's table.
 */
#include "sync_trace/wrap/sem_lock.h"

#include <errno.h>

#include "base/tick.h"
#include "sync_trace/held.h"
#include "sync_trace/lock_order.h"
#include "trace/write/writer.h"

enum { PLACES = 4096, PROBES = 8 };

static struct {
    uint32_t used; /* semaphores in it: while there is none, nobody has to look */
    uintptr_t sem[PLACES];
    uint32_t value[PLACES]; /* what it was made with; 0: it is being made */
} maybe;

static uintptr_t *place(uintptr_t sem, uint32_t i)
{
    return &maybe.sem[((sem >> 4 ^ sem >> 14) + i) % PLACES];
}

bool sync_sem_any(void)
{
    return __atomic_load_n(&maybe.used, __ATOMIC_RELAXED) != 0;
}

static uintptr_t *find(uintptr_t sem)
{
    if (!sync_sem_any())
        return NULL;
    for (uint32_t i = 0; i < PROBES; i++)
        if (__atomic_load_n(place(sem, i), __ATOMIC_ACQUIRE) == sem)
            return place(sem, i);
    return NULL;
}

/* @return whether it was there; of several callers at once one hears so. */
static bool forget(uintptr_t sem)
{
    uintptr_t *p = find(sem);
    uintptr_t expected = sem;
    if (!p || !__atomic_compare_exchange_n(p, &expected, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return false;
    __atomic_fetch_sub(&maybe.used, 1, __ATOMIC_RELAXED);
    return true;
}

void sync_sem_made(const sem_t *s, bool is_shared, unsigned value)
{
    sync_sem_ended(s);
    if (value == 0 || value > SYNC_ROOM_MOST || is_shared)
        return;
    __atomic_fetch_add(&maybe.used, 1, __ATOMIC_RELEASE); /* first: who finds it may forget it at once */
    for (uint32_t i = 0; i < PROBES; i++) {
        uintptr_t expected = 0, *at = place((uintptr_t)s, i);
        if (!__atomic_compare_exchange_n(at, &expected, (uintptr_t)s, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            continue;
        __atomic_store_n(&maybe.value[at - maybe.sem], value, __ATOMIC_RELEASE);
        return;
    }
    __atomic_fetch_sub(&maybe.used, 1, __ATOMIC_RELAXED);
}

void sync_sem_ended(const sem_t *s)
{
    if (forget((uintptr_t)s))
        sync_live_taken_away((uintptr_t)s);
}

uint32_t sync_sem_places(const sem_t *s)
{
    const uintptr_t *at = find((uintptr_t)s);
    return at ? __atomic_load_n(&maybe.value[at - maybe.sem], __ATOMIC_ACQUIRE) : 0;
}

/* Of more rooms at once than there is memory for, the thread is taken to be outside: as if nobody knew of them. */
static void enter_room(struct sync_thread *t, uintptr_t sem, uint32_t places, uintptr_t site)
{
    for (uint32_t i = 0; i < SYNC_ROOMS; i++) {
        struct sync_room *r = &t->rooms[i];
        if (r->sem)
            continue;
        *r = (struct sync_room){.sem = sem, .site = site, .places = places, .number = sync_order_step(0, sem)};
        t->order.salt += r->number;
        return;
    }
}

static bool leave_room(struct sync_thread *t, uintptr_t sem)
{
    for (uint32_t i = SYNC_ROOMS; i-- > 0;) {
        struct sync_room *r = &t->rooms[i];
        if (r->sem != sem)
            continue;
        t->order.salt -= r->number;
        *r = (struct sync_room){0};
        return true;
    }
    return false;
}

uint32_t sync_sem_rooms(struct sync_thread *t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < SYNC_ROOMS; i++) {
        uintptr_t sem = t->rooms[i].sem;
        if (sem && sync_sem_places((const sem_t *)sem) != t->rooms[i].places)
            (void)leave_room(t, sem); /* it turned out to be none, or has ended */
        n += t->rooms[i].sem != 0;
    }
    return n;
}

void sync_sem_held(struct sync_thread *t, uint32_t mode, const sem_t *s, uint32_t places, uintptr_t site)
{
    bool timed = mode == MODE_HOLDERS || mode == MODE_ALL;
    if (places == 1)
        sync_held_push(t, (uintptr_t)s, site, timed ? tick_now() : 0, HELD_QUIET);
    else if (places > 1)
        enter_room(t, (uintptr_t)s, places, site);
}

/* Told once in its life, by whoever finds out. */
static void tell_no_lock(const sem_t *s, uintptr_t site)
{
    struct sync_thread *t = __atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE) ? sync_thread() : NULL;
    if (!t)
        return;
    int saved = errno;
    uint64_t tick = tick_now();
    const struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_ORDER,
        .object_type = UPMU_OBJECT_SEM,
        .object = (uintptr_t)s,
        .stack = sync_stack(t, tick, site),
    };
    sync_write(t, tick, &e);
    errno = saved;
}

void sync_sem_given(struct sync_thread *t, const sem_t *s, uintptr_t site)
{
    struct sync_held h;
    if (!find((uintptr_t)s))
        return;
    if (t && sync_held_top(t, (uintptr_t)s)) { /* taken last */
        sync_held_pop(t);
        return;
    }
    if (t && leave_room(t, (uintptr_t)s))
        return;
    bool holds = t && t->depth > 0 && sync_held_remove(t, (uintptr_t)s, &h);
    if (!holds && forget((uintptr_t)s)) {
        tell_no_lock(s, site);
        sync_live_taken_away((uintptr_t)s);
    }
}
