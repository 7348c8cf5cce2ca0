/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What every lock that somebody holds has in common: counting, the stack of held locks, events, one family as the other.
 * Room: sync_trace; before it rwlock.c, spin.c, c11_mutex.c, which know the calls; after it held.h, counts.c, record.c.
 * (mutex.c has the same written out for the one case that decides what recording costs.)
 *
 * The inline parts are meant for constant `type`: they fold to what that family needs.
 */
#ifndef UPMU_SYNC_LOCKABLE_H
#define UPMU_SYNC_LOCKABLE_H

#include "base/tick.h"
#include "sync_trace/held.h"
#include "sync_trace/lock_order.h"
#include "trace/write/stream_fast.h"

/** A call about a lock. */
struct lockable {
    uintptr_t key; /**< see sync_key_object() */
    uint32_t type; /**< enum upmu_object_type */
    uintptr_t site;
    uint32_t how;   /**< UPMU_TRACE_FLAG_TIMED, UPMU_TRACE_FLAG_TRIED */
    uint32_t asked; /**< what sync_request() has said */
};

/** Mode all with the stack of the request, or without stacks: then the call site stands in for it. */
static inline void lockable_taken_all(struct sync_thread *t, const struct lockable *l)
{
    uint64_t tick = tick_now();
    uint32_t flags = sync_key_flags(l->key, l->type);
    sync_held_push(t, l->key, l->site, tick, HELD_RECORDED);
    (void)stream_fast_flags(t->stream, tick, UPMU_TRACE_LOCK_ACQUIRE, (int32_t)l->type, flags,
                            sync_key_object(l->key, l->type), l->asked ? l->asked : sync_site_id(t, tick, l->site));
}

/** The thread has it, and did not wait. `result` is what the call returned. */
static inline __attribute__((always_inline)) void lockable_taken(struct sync_thread *t, uint32_t mode,
                                                                 const struct lockable *l, int32_t result)
{
    if (UNLIKELY(t->depth != 0) && mode != MODE_COUNTS)
        sync_order(t, l->key, l->type, l->site, l->how);
    struct sync_count *c = sync_count(t, l->key, l->type);
    c->acquired++;
    if (UNLIKELY((mode != MODE_ALL && --c->until == 0) || result != 0))
        sync_taken_slow(t, mode, c, l->key, l->site, result);
    else if (LIKELY(mode == MODE_CONTENDED || mode == MODE_COUNTS))
        sync_held_push(t, l->key, l->site, 0, HELD_QUIET);
    else if (mode == MODE_HOLDERS)
        sync_held_push(t, l->key, l->site, tick_now(), HELD_QUIET);
    else if (mode == MODE_ALL && (l->asked || sync_process.depth == 0))
        lockable_taken_all(t, l);
    else
        sync_taken_slow(t, mode, c, l->key, l->site, result);
}

/** Whether there is nothing to look at but the lock: recording, and holding nothing. */
static inline bool lockable_is_usual(const struct sync_thread *t)
{
    return LIKELY(t != NULL && __atomic_load_n(&t->ready, __ATOMIC_RELAXED) && t->depth == 0);
}

/** What lockable_taken() does then in mode contended. */
static inline void lockable_taken_quietly(struct sync_thread *t, uintptr_t key, uint32_t type, uintptr_t site)
{
    struct sync_count *c = sync_count(t, key, type);
    c->acquired++;
    if (LIKELY(--c->until != 0))
        sync_held_push(t, key, site, 0, HELD_QUIET);
    else
        sync_taken_slow(t, MODE_CONTENDED, c, key, site, 0);
}

/** A try that found it taken: an event in mode all. */
void lockable_tried(struct sync_thread *t, uint32_t mode, const struct lockable *l, int32_t result);

/** A held lock that is being let go of: between lockable_release() and lockable_released() is the real call. */
struct lockable_release {
    struct sync_held held;
    uint64_t tick; /**< 0: not recorded */
    bool known;    /**< it was among the locks held; else nothing is done */
};

/** Take it off the stack of held locks, wherever it lies there. @return false if this thread is not known to hold it. */
bool lockable_release(struct sync_thread *t, uint32_t mode, const struct lockable *l, struct lockable_release *r);
/** The real call has returned: `kept` if it failed, so that the lock is still held. */
void lockable_released(struct sync_thread *t, const struct lockable *l, const struct lockable_release *r, bool kept);

/** Whether nothing is left to do but the real call: it was taken last, nobody waits, and it is not recorded. */
static inline bool lockable_release_quietly(struct sync_thread *t, uint32_t mode, uintptr_t key)
{
    const struct sync_held *h = sync_held_top(t, key);
    if (UNLIKELY(!h || mode == MODE_ALL || __atomic_load_n(&h->wanted, __ATOMIC_RELAXED) != HELD_QUIET))
        return false;
    sync_held_pop(t);
    return true;
}

/** Whether a release is nothing but the real call: recording is off, and nothing is left of what was taken while it was
 *  on. Wrappers ask this first, and need no frame then. */
static inline bool lockable_is_idle(uint32_t mode)
{
    const struct sync_thread *t = sync_tls.thread;
    return LIKELY(mode == MODE_OFF && (t == NULL || t->depth == 0));
}

/** The block of a thread that keeps account of what it holds, also when recording is off by now; NULL. */
static inline struct sync_thread *lockable_holder(uint32_t mode)
{
    struct sync_thread *t = sync_tls.thread;
    bool nothing = t == NULL || !__atomic_load_n(&t->ready, __ATOMIC_RELAXED) || (mode == MODE_OFF && t->depth == 0);
    return nothing ? NULL : t;
}

#endif
