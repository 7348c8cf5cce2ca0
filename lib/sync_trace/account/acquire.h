/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Acquisition and release of a lock: counts, held locks, events.
 *
 * The inline functions are meant for a constant `type`: they fold to what a lock of that type needs. Sizes of their frames and
 * calls show in the cost of an uncontended pair, some ten nanoseconds. The tick comes first: a tick waits for the instructions
 * before it, and what follows is done while the CPU reads the next one.
 */
#ifndef UPMU_SYNC_ACQUIRE_H
#define UPMU_SYNC_ACQUIRE_H

#include "base/tick.h"
#include "sync_trace/account/lock_order.h"
#include "sync_trace/emit/event.h"
#include "sync_trace/state/counts.h"
#include "sync_trace/state/held.h"
#include "trace/write/stream_fast.h"

/** A call on a lock. */
struct lock_call {
    uintptr_t key; /**< see sync_key_object() */
    uint32_t type; /**< enum upmu_object_type */
    uintptr_t site;
    uint32_t flags;         /**< UPMU_TRACE_FLAG_TIMED, UPMU_TRACE_FLAG_TRIED */
    uint32_t request_stack; /**< from sync_request(), 0: none */
};

/** Slow path of sync_acquired(): an acquisition without a wait whose time is due to be sampled, or whose call failed. */
void sync_acquired_slow(struct sync_thread *t, uint32_t mode, struct sync_count *c, uintptr_t lock, uintptr_t site,
                        int32_t result);

/** Mode all with the stack of the request, or with the call site in place of a stack. */
static inline void sync_acquired_all(struct sync_thread *t, const struct lock_call *l, uint64_t tick)
{
    uint32_t flags = sync_key_flags(l->key, l->type);
    sync_held_push(t, l->key, l->site, tick, HELD_RECORDED);
    if (l->request_stack)
        sync_origin_known(t, tick, l->request_stack);
    (void)stream_fast_flags(t->stream, tick, UPMU_TRACE_LOCK_ACQUIRE, (int32_t)l->type, flags,
                            sync_key_object(l->key, l->type),
                            l->request_stack ? l->request_stack : sync_site_id(t, tick, l->site));
}

/** The thread has acquired the lock without a wait. `result` is what the call returned. */
static inline __attribute__((always_inline)) void sync_acquired(struct sync_thread *t, uint32_t mode,
                                                                const struct lock_call *l, int32_t result)
{
    if (UNLIKELY(t->depth != 0) && mode != MODE_COUNTS)
        sync_order_check(t, l->key, l->type, l->site, l->flags);
    const uint64_t tick = LIKELY(mode == MODE_HOLDERS) || mode == MODE_ALL ? tick_now() : 0;
    struct sync_count *c = sync_count(t, l->key, l->type);
    if (UNLIKELY((sync_count_add(c) && mode != MODE_ALL) || result != 0))
        sync_acquired_slow(t, mode, c, l->key, l->site, result);
    else if (LIKELY(mode == MODE_HOLDERS))
        sync_held_push_stack(t, l->key, l->site, tick);
    else if (mode == MODE_CONTENDED || mode == MODE_COUNTS)
        sync_held_push(t, l->key, l->site, 0, HELD_QUIET);
    else if (mode == MODE_ALL && (l->request_stack || sync_option(depth) == 0))
        sync_acquired_all(t, l, tick);
    else
        sync_acquired_slow(t, mode, c, l->key, l->site, result);
}

/** Whether the thread records and holds no lock. */
static inline bool sync_holds_nothing(const struct sync_thread *t)
{
    return LIKELY(t != NULL && sync_is_ready(t) && t->depth == 0);
}

/** sync_acquired_quietly() beyond the fast path. @return 0. */
int sync_acquired_unusually(struct sync_thread *t, uint32_t mode, uintptr_t key, uint32_t type, uintptr_t site);

/** sync_acquired() for a thread of which sync_holds_nothing() is true. `mode`: MODE_HOLDERS or MODE_CONTENDED. To be called last: what
 *  is rare needs no registers then. @return 0. */
static inline __attribute__((always_inline)) int sync_acquired_quietly(struct sync_thread *t, uint32_t mode,
                                                                       uintptr_t key, uint32_t type, uintptr_t site)
{
    const uint64_t tick = LIKELY(mode == MODE_HOLDERS) ? tick_now() : 0;
    struct sync_count *c = sync_count_first(t, key, type);
    uint64_t number;
    bool known = __atomic_load_n(&c->lock, __ATOMIC_RELAXED) == key; /* other threads make it dormant */
    if (UNLIKELY(!known || sync_count_is_due_next(c, &number)))
        return sync_acquired_unusually(t, mode, key, type, site);
    c->acquired = number;
    sync_held_push_first(t, key, site, tick, mode == MODE_HOLDERS);
    return 0;
}

/** Record a failed trylock: an event in MODE_ALL only. `result`: what the call returned. */
void sync_try_failed(struct sync_thread *t, uint32_t mode, const struct lock_call *l, int32_t result);

/** A release in progress: the real call is between sync_release_begin() and sync_release_end(). */
struct lock_release {
    struct sync_held held;
    uint64_t tick; /**< 0: not recorded */
    bool known;    /**< it was among the locks held; if not, nothing is done */
};

/** Remove the lock from the locks held. @return false if this thread is not recorded to hold it. */
bool sync_release_begin(struct sync_thread *t, uint32_t mode, const struct lock_call *l, struct lock_release *r);
/** Write the release of a lock whose hold was `h`. Keeps errno. */
void sync_release_write(struct sync_thread *t, const struct lock_call *l, const struct sync_held *h, uint64_t tick);
/** The real call has returned; `kept`: it failed, and the lock is still held. */
void sync_release_end(struct sync_thread *t, const struct lock_call *l, const struct lock_release *r, bool kept);

/** Release a lock that was acquired last, that no thread waits for, and that is not recorded. @return false if it is
 *  not such a lock. */
static inline bool sync_release_quietly(struct sync_thread *t, uint32_t mode, uintptr_t key)
{
    const struct sync_held *h = sync_held_top(t, key);
    if (UNLIKELY(!h || mode == MODE_ALL || __atomic_load_n(&h->wanted, __ATOMIC_RELAXED) != HELD_QUIET))
        return false;
    sync_held_pop(t, key);
    return true;
}

/** The same for a thread that may have no block. Wrappers test this before what needs a frame. The only lock held is tested by loads
 *  that do not wait for each other: a locked instruction, as the release has, waits for all of them. */
static inline __attribute__((always_inline)) bool sync_release_at_once(struct sync_thread *t, uint32_t mode,
                                                                       uintptr_t key)
{
    if (UNLIKELY(t == NULL || mode == MODE_ALL || !sync_is_ready(t)))
        return false;
    if (UNLIKELY(t->depth != 1))
        return sync_release_quietly(t, mode, key);
    struct sync_held *h = &t->held[0];
    if (UNLIKELY(__atomic_load_n(&h->lock, __ATOMIC_RELAXED) != key ||
                 __atomic_load_n(&h->wanted, __ATOMIC_RELAXED) != HELD_QUIET))
        return false;
    __atomic_store_n(&h->lock, key | HELD_RELEASED, __ATOMIC_RELAXED);
    __atomic_store_n(&t->depth, 0, __ATOMIC_RELEASE);
    return true;
}

/** Whether a release is only the real call: tracing is off, and no lock acquired while it was on is held. Wrappers
 *  test this first, and need no frame then. Before the first recording, and in general after the last one, the thread need not be
 *  looked at. */
static inline __attribute__((always_inline)) bool sync_release_is_idle(uint32_t mode)
{
    if (UNLIKELY(mode != MODE_OFF))
        return false;
    if (LIKELY(__atomic_load_n(&sync_gate.held, __ATOMIC_RELAXED) == 0))
        return true;
    const struct sync_thread *t = sync_tls.thread;
    return LIKELY(t == NULL || t->depth == 0);
}

#endif
