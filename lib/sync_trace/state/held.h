/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Locks held by a thread, readable by waiters in other threads.
 *
 * An entry is written between two changes of `version`: stores release and loads acquire, which is free on x86 and gives
 * a seqlock without fences. Removing the last entry only lowers `depth`: a waiter that still reads it reports a state
 * that was true when its try failed. The depth is raised before the entry is filled, so that a signal handler that locks
 * in between adds its entry behind it.
 */
#ifndef UPMU_SYNC_HELD_H
#define UPMU_SYNC_HELD_H

#include "sync_trace/state/thread.h"

/** Drop the oldest entry. */
void sync_held_shift(struct sync_thread *t);
/** Remove a lock that is not the last one; of a recursive lock, its last acquisition. @return false if not held. */
bool sync_held_remove(struct sync_thread *t, uintptr_t lock, struct sync_held *out);
/** For a waiter: copy the holder's last entry of `lock` (the first if `outermost`) and request that its release is
 *  recorded. @return false if it does not hold the lock (any more). */
bool sync_held_ask(struct sync_thread *holder, uintptr_t lock, bool outermost, struct sync_held *out);
/** The thread that holds a lock whose owner is unknown; NULL. Searches all threads. */
struct sync_thread *sync_held_search(uintptr_t lock, struct sync_held *out);
/** The same for a lock with several holders: the first one found; all are asked to record their release. */
struct sync_thread *sync_held_search_all(uintptr_t lock, struct sync_held *out);

static inline void sync_held_push(struct sync_thread *t, uintptr_t lock, uintptr_t site, uint64_t since,
                                  uintptr_t wanted)
{
    if (UNLIKELY(t->depth >= SYNC_HELD_MAX))
        sync_held_shift(t);
    uint32_t d = t->depth, version = t->version;
    struct sync_held *h = &t->held[d];
    __atomic_store_n(&t->version, version + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&t->depth, d + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&h->lock, lock, __ATOMIC_RELEASE);
    __atomic_store_n(&h->site, site, __ATOMIC_RELEASE);
    __atomic_store_n(&h->since, since, __ATOMIC_RELEASE);
    __atomic_store_n(&h->wanted, wanted, __ATOMIC_RELEASE);
    h->number = 0; /* not read by other threads */
    __atomic_store_n(&t->version, version + 2, __ATOMIC_RELEASE);
}

/** The entry of the lock acquired last, if it is this one. */
static inline struct sync_held *sync_held_top(struct sync_thread *t, uintptr_t lock)
{
    uint32_t d = t->depth;
    struct sync_held *h = &t->held[(d - 1) % SYNC_HELD_MAX];
    return LIKELY(d != 0 && __atomic_load_n(&h->lock, __ATOMIC_RELAXED) == lock) ? h : NULL;
}

static inline void sync_held_pop(struct sync_thread *t)
{
    __atomic_store_n(&t->depth, t->depth - 1, __ATOMIC_RELAXED);
}

#endif
