/* SPDX-License-Identifier: MIT */
/*
 * Semaphores used as locks, or as counting semaphores with n permits.
 *
 * They are in a table of the process, by address, without a lock; one that does not fit is not treated so. A forked child
 * inherits the table.
 */
#include "sync_trace/account/sem_permits.h"

#include <errno.h>

#include "base/tick.h"
#include "region/recorder.h"
#include "sync_trace/account/lock_sequence.h"
#include "sync_trace/emit/event.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/state/held.h"

#define SEM_SHARED_LOCK UINT32_MAX /* as the value of one that processes share, initialized with 1 */

enum { PERMIT_PROBES = 8 };

struct sync_sems sync_sems;

static uintptr_t *sem_slot(uintptr_t sem, uint32_t i)
{
    return &sync_sems.sem[(sync_sem_slot(sem) + i) % SYNC_SEM_SLOTS];
}

bool sync_sem_any(void)
{
    return __atomic_load_n(&sync_sems.used, __ATOMIC_RELAXED) != 0;
}

static uintptr_t *sem_find(uintptr_t sem)
{
    if (!sync_sem_any())
        return NULL;
    for (uint32_t i = 0; i < PERMIT_PROBES; i++)
        if (__atomic_load_n(sem_slot(sem, i), __ATOMIC_ACQUIRE) == sem)
            return sem_slot(sem, i);
    return NULL;
}

/* @return whether it was there; true for one of several concurrent callers. */
static bool sem_forget(uintptr_t sem)
{
    uintptr_t *p = sem_find(sem);
    uintptr_t expected = sem;
    if (!p || !__atomic_compare_exchange_n(p, &expected, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return false;
    __atomic_fetch_sub(&sync_sems.used, 1, __ATOMIC_RELAXED);
    return true;
}

/* Which recording this is. */
static uint64_t sem_recording(void)
{
    const struct control_header *control = upmu_recorder_control_();
    return control ? __atomic_load_n(&control->resumed_raw_ns, __ATOMIC_RELAXED) : 0;
}

void sync_sem_created(const sem_t *s, bool is_shared, unsigned value)
{
    sync_sem_destroyed(s);
    if (value == 0 || value > (is_shared ? 1 : SYNC_PERMITS_MAX))
        return;
    __atomic_fetch_add(&sync_sems.used, 1, __ATOMIC_RELEASE); /* first: another thread may remove it at once */
    for (uint32_t i = 0; i < PERMIT_PROBES; i++) {
        uintptr_t expected = 0, *at = sem_slot((uintptr_t)s, i);
        if (!__atomic_compare_exchange_n(at, &expected, (uintptr_t)s, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            continue;
        sync_sems.before[at - sync_sems.sem] = (struct sync_sem_before){.since = sem_recording(), .released = value};
        __atomic_store_n(&sync_sems.value[at - sync_sems.sem], is_shared ? SEM_SHARED_LOCK : value, __ATOMIC_RELEASE);
        return;
    }
    __atomic_fetch_sub(&sync_sems.used, 1, __ATOMIC_RELAXED);
}

static uint32_t sem_value(const sem_t *s)
{
    const uintptr_t *at = sem_find((uintptr_t)s);
    return at ? __atomic_load_n(&sync_sems.value[at - sync_sems.sem], __ATOMIC_ACQUIRE) : 0;
}

void sync_sem_opened(const sem_t *s, unsigned value)
{
    if (sem_value(s) != SEM_SHARED_LOCK || value != 1)
        sync_sem_created(s, true, value);
}

void sync_sem_destroyed(const sem_t *s)
{
    if (sem_forget((uintptr_t)s))
        sync_wait_state_disown_holder((uintptr_t)s);
}

uint32_t sync_sem_permits(const sem_t *s)
{
    uint32_t value = sem_value(s);
    return value != SEM_SHARED_LOCK ? value : 0;
}

/* Record that the thread has acquired permits of a semaphore; what does not fit into its table is not recorded. */
static void permit_push(struct sync_thread *t, uintptr_t sem, uint32_t permits, uintptr_t site)
{
    for (uint32_t i = 0; i < SYNC_PERMITS; i++) {
        struct sync_permit *r = &t->permits[i];
        if (r->sem)
            continue;
        *r = (struct sync_permit){.sem = sem, .site = site, .permits = permits, .number = sync_sequence_add(0, sem)};
        t->order.salt += r->number;
        return;
    }
}

static bool permit_remove(struct sync_thread *t, uintptr_t sem)
{
    for (uint32_t i = SYNC_PERMITS; i-- > 0;) {
        struct sync_permit *r = &t->permits[i];
        if (r->sem != sem)
            continue;
        t->order.salt -= r->number;
        *r = (struct sync_permit){0};
        return true;
    }
    return false;
}

uint32_t sync_sem_permits_held(struct sync_thread *t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < SYNC_PERMITS; i++) {
        uintptr_t sem = t->permits[i].sem;
        if (sem && sync_sem_permits((const sem_t *)sem) != t->permits[i].permits)
            (void)permit_remove(t, sem); /* it is used otherwise, or was destroyed */
        n += t->permits[i].sem != 0;
    }
    return n;
}

/* Whether a semaphore that processes share is a lock, as far as is known. If the thread that acquires it holds it, another process
 * has posted it: it is none. */
static bool sem_is_shared_lock(struct sync_thread *t, const sem_t *s, uintptr_t site)
{
    struct sync_held h;
    if (sem_value(s) != SEM_SHARED_LOCK)
        return false;
    if (!sync_held_remove(t, (uintptr_t)s, &h))
        return true;
    if (sem_forget((uintptr_t)s))
        sync_sem_not_a_lock(t, s, site);
    return false;
}

uint64_t sync_sem_acquired(struct sync_thread *t, uint32_t mode, const sem_t *s, uint32_t permits, uintptr_t site,
                           const uintptr_t *frame)
{
    if (permits == 0 && sem_is_shared_lock(t, s, site))
        permits = 1;
    bool timed = permits == 1 && (mode == MODE_HOLDERS || mode == MODE_ALL);
    uint64_t since = timed ? tick_now() : 0;
    if (timed && frame && sync_option(depth) != 0 && t->depth < SYNC_ORIGINS)
        sync_origin_copy(t, t->depth, since, frame);
    if (permits == 1)
        sync_held_push(t, (uintptr_t)s, site, since, HELD_QUIET);
    else if (permits > 1)
        permit_push(t, (uintptr_t)s, permits, site);
    return since;
}

void sync_sem_not_a_lock(struct sync_thread *t, const sem_t *s, uintptr_t site)
{
    int saved = errno;
    if (t) {
        uint64_t tick = tick_now();
        const struct trace_sync e = {
            .kind = UPMU_TRACE_LOCK_ORDER,
            .object_type = UPMU_OBJECT_SEM,
            .object = (uintptr_t)s,
            .stack = sync_stack(t, tick, site),
        };
        sync_write(t, tick, &e);
    }
    sync_wait_state_disown_holder((uintptr_t)s);
    errno = saved;
}

/* A post by a thread that is not recorded to hold the semaphore. So many acquisitions as it has permits may be older than
 * the recording, if it is older itself. */
static bool sem_held_before(uint32_t mode, sem_t *s)
{
    struct sync_held h;
    const uintptr_t *at = sem_find((uintptr_t)s);
    uint32_t permits = sync_sem_permits(s);
    int value;
    if (!at || sync_held_search((uintptr_t)s, &h))
        return false;
    if (mode == MODE_OFF)
        return true;
    uint64_t since = sem_recording();
    struct sync_sem_before *b = &sync_sems.before[at - sync_sems.sem];
    if (__atomic_exchange_n(&b->since, since, __ATOMIC_ACQ_REL) != since)
        __atomic_store_n(&b->released, 0, __ATOMIC_RELAXED);
    return SYNC_REAL(sem_getvalue)(s, &value) == 0 && value >= 0 && (uint32_t)value < permits &&
           __atomic_fetch_add(&b->released, 1, __ATOMIC_RELAXED) < permits;
}

enum sync_sem_release sync_sem_released(struct sync_thread *t, uint32_t mode, sem_t *s, struct sync_held *held)
{
    struct sync_held h;
    if (!sem_find((uintptr_t)s))
        return SYNC_SEM_RELEASED;
    const struct sync_held *top = t ? sync_held_top(t, (uintptr_t)s) : NULL;
    if (top) {
        if (held)
            *held = *top;
        sync_held_pop(t, (uintptr_t)s);
        return SYNC_SEM_RELEASED;
    }
    if (t && permit_remove(t, (uintptr_t)s))
        return SYNC_SEM_RELEASED;
    if (t && t->depth > 0 && sync_held_remove(t, (uintptr_t)s, &h)) {
        if (held)
            *held = h;
        return SYNC_SEM_RELEASED;
    }
    if (sem_held_before(mode, s))
        return mode == MODE_OFF ? SYNC_SEM_RELEASED : SYNC_SEM_HELD_BEFORE;
    return sem_forget((uintptr_t)s) ? SYNC_SEM_NOT_HELD : SYNC_SEM_RELEASED;
}
