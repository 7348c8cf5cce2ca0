/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Lock order of a thread: each acquisition while other locks are held, recorded once.
 *
 * An acquisition is one lock together with the locks held. A thread records it once, once more after it has created or
 * joined a thread (later acquisitions may run in parallel with other threads), and after one of the locks was initialized
 * again. So the trace has every acquisition with its thread and time. Nothing is done while no lock is held.
 */
#ifndef UPMU_SYNC_LOCK_ORDER_H
#define UPMU_SYNC_LOCK_ORDER_H

#include "sync_trace/account/lock_sequence.h"

enum { SYNC_ORDER_PERIOD = 16 /**< more than the sum of the flags added to a number */ };

/** A thread has the block now. */
void sync_order_reset(struct sync_thread *t);
/** Record the acquisition unless the thread's table has its number. Keeps errno. */
void sync_order_record(struct sync_thread *t, uint64_t number, uintptr_t key, uint32_t type, uintptr_t site,
                       uint32_t flags);

/** If no wait followed the thread's last failed try, record that: another one failed, or the thread ends. */
void sync_order_try_given_up(struct sync_thread *t);
/** A try of the lock at `site` has failed. If no wait followed the one before, record that. */
void sync_order_try_failed(struct sync_thread *t, uintptr_t key, uintptr_t site);
/** The thread is about to wait for a lock, without a time limit. If its last try of this lock failed while it held the same
 *  locks, acquisitions by tries at that call site can wait: record that. Keeps errno. */
void sync_order_waits(struct sync_thread *t, uintptr_t key, uint32_t type, uintptr_t site);

/** The thread has created or joined another one. */
static inline void sync_order_renew(struct sync_thread *t)
{
    t->order.period += SYNC_ORDER_PERIOD;
    t->order.salt += (uint64_t)SYNC_ORDER_PERIOD << 32;
}

/** The thread acquires a lock, or is about to wait for it. `flags`: UPMU_TRACE_FLAG_TIMED, UPMU_TRACE_FLAG_TRIED. */
static inline void sync_order_check(struct sync_thread *t, uintptr_t key, uint32_t type, uintptr_t site, uint32_t flags)
{
    uint32_t d = t->depth;
    if (LIKELY(d == 0))
        return;
    uint64_t before = t->held[d - 1].number;
    uint64_t number = sync_sequence_add(before ? before : sync_sequence_held(t), key);
    number += t->order.salt + ((uint64_t)flags << 32);
    if (UNLIKELY(t->order.known[number >> t->order.shift] != number))
        sync_order_record(t, number, key, type, site, flags);
}

#endif
