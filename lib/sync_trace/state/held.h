/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Locks held by a thread, readable by waiters in other threads.
 *
 * A thread adds and removes its last entry without a lock or a version. `lock` is stored last and cleared first, and `since`,
 * a different tick for each acquisition, is stored before `site`: a waiter that reads the same `since` before and after
 * `lock` and `site` has one acquisition's entry. Stores release and loads acquire, which is free on x86. Only moving
 * entries changes `version`, which is odd meanwhile. The depth is raised before the entry is filled, so that a signal
 * handler that locks in between adds its entry behind it.
 *
 * Beside a locked instruction each store counts: words that mostly have the right value already are read first.
 */
#ifndef UPMU_SYNC_HELD_H
#define UPMU_SYNC_HELD_H

#include <string.h>

#include "base/sanitizer.h"
#include "sync_trace/state/thread.h"

/** Remove entry `at`. */
void sync_held_remove_entry(struct sync_thread *t, uint32_t at);
/** Drop the oldest entry. */
void sync_held_shift(struct sync_thread *t);
/** Remove a lock that is not the last one; of a recursive lock, its last acquisition. @return false if not held. */
bool sync_held_remove(struct sync_thread *t, uintptr_t lock, struct sync_held *out);
/** If the thread holds the lock, its release is recorded. @return whether it does. */
bool sync_held_record(struct sync_thread *t, uintptr_t lock);
/** For a waiter: copy the holder's last entry of `lock` (the first if `outermost`) and request that its release is
 *  recorded. @return false if it does not hold the lock (any more). */
bool sync_held_ask(struct sync_thread *holder, uintptr_t lock, bool outermost, struct sync_held *out);
/** For a waiter whose holder has released the lock since: copy that acquisition, if it is the last one that it released.
 *  @return false if it is not, or if its tick was not read */
bool sync_held_last(const struct sync_thread *holder, uintptr_t lock, struct sync_held *out);
/** The thread that holds a lock whose owner is unknown; NULL. Searches all threads. */
struct sync_thread *sync_held_search(uintptr_t lock, struct sync_held *out);
/** The same for a lock with several holders: the first one found; all are asked to record their release. */
struct sync_thread *sync_held_search_all(uintptr_t lock, struct sync_held *out);

#if defined(__x86_64__) && defined(__LP64__) && !UNDER_ASAN && !UNDER_TSAN
/** Where a copy of the stack is kept at each acquisition in mode holders. */
#define SYNC_ORIGIN_FRAME() ((const uintptr_t *)__builtin_frame_address(0))

/** Before the entry is added that gets `since`: copy the stack from the frame pointer on, but not beyond its page, which may be
 *  the last one. */
static inline __attribute__((always_inline)) void sync_origin_copy(struct sync_thread *t, uint32_t d, uint64_t since,
                                                                   const uintptr_t *frame)
{
    enum { PAGE = 4096, BYTES = SYNC_ORIGIN_WORDS * sizeof(uintptr_t) };
    struct sync_origin *o = &t->origins[d % SYNC_ORIGINS];
    bool fits = ((uintptr_t)frame & (PAGE - 1)) <= PAGE - BYTES;
    __atomic_store_n(&o->since, since, __ATOMIC_RELEASE);
    if (LIKELY(fits)) {
        o->frame = (uintptr_t)frame;
        memcpy(o->word, frame, BYTES);
    } else {
        o->frame = 0;
        o->stack = 0;
    }
}
#else
#define SYNC_ORIGIN_FRAME() ((const uintptr_t *)NULL)
static inline void sync_origin_copy(struct sync_thread *t, uint32_t d, uint64_t since, const uintptr_t *frame)
{
    (void)frame;
    if (d < SYNC_ORIGINS)
        __atomic_store_n(&t->origins[d].since, 0, __ATOMIC_RELAXED);
    (void)since;
}
#endif

/** The entry added last, with `since`, was acquired with this stack. */
void sync_origin_known(struct sync_thread *t, uint64_t since, uint32_t stack);
/** For a waiter: copy the origin of an entry as sync_held_ask() returned it. @return false: there is none, or the lock was
 *  released. */
bool sync_origin_read(const struct sync_thread *holder, const struct sync_held *entry, struct sync_origin *out);

/** Add entry `d`; `stack`: with its origin, if stacks are recorded. */
static inline __attribute__((always_inline)) void sync_held_fill(struct sync_thread *t, uint32_t d,
                                                                 const struct sync_held *entry, const bool stack)
{
    struct sync_held *h = &t->held[d];
    __atomic_store_n(&t->depth, d + 1, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* see sync_gate_close() */
    uint32_t gate = __atomic_load_n(&sync_gate.held, __ATOMIC_RELAXED);
    if (stack && LIKELY(gate & GATE_STACKS) && LIKELY(d < SYNC_ORIGINS))
        sync_origin_copy(t, d, entry->since, SYNC_ORIGIN_FRAME());
    else if (UNLIKELY(gate < GATE_RECORDS))
        __atomic_fetch_or(&sync_gate.held, GATE_LATE, __ATOMIC_RELAXED);
    __atomic_store_n(&h->since, entry->since, __ATOMIC_RELEASE);
    __atomic_store_n(&h->site, entry->site, __ATOMIC_RELEASE);
    uintptr_t wanted = __atomic_load_n(&h->wanted, __ATOMIC_RELAXED);
    if (UNLIKELY(((wanted ^ entry->wanted) | h->number) != 0)) {
        __atomic_store_n(&h->wanted, entry->wanted, __ATOMIC_RELAXED);
        h->number = 0; /* not read by other threads */
    }
    __atomic_store_n(&h->lock, entry->lock, __ATOMIC_RELEASE);
}

static inline void sync_held_push(struct sync_thread *t, uintptr_t lock, uintptr_t site, uint64_t since,
                                  uintptr_t wanted)
{
    if (UNLIKELY(t->depth >= SYNC_HELD_MAX))
        sync_held_shift(t);
    sync_held_fill(t, t->depth, &(struct sync_held){lock, site, since, wanted, 0}, false);
}

/** With the stack. */
static inline __attribute__((always_inline)) void sync_held_push_stack(struct sync_thread *t, uintptr_t lock,
                                                                       uintptr_t site, uint64_t since)
{
    if (UNLIKELY(t->depth >= SYNC_HELD_MAX))
        sync_held_shift(t);
    sync_held_fill(t, t->depth, &(struct sync_held){lock, site, since, HELD_QUIET, 0}, true);
}

/** For a thread that holds nothing. */
static inline __attribute__((always_inline)) void sync_held_push_first(struct sync_thread *t, uintptr_t lock,
                                                                       uintptr_t site, uint64_t since, const bool stack)
{
    sync_held_fill(t, 0, &(struct sync_held){lock, site, since, HELD_QUIET, 0}, stack);
}

/** The entry of the lock acquired last, if it is this one. */
static inline struct sync_held *sync_held_top(struct sync_thread *t, uintptr_t lock)
{
    uint32_t d = t->depth;
    struct sync_held *h = &t->held[(d - 1) % SYNC_HELD_MAX];
    return LIKELY(d != 0 && __atomic_load_n(&h->lock, __ATOMIC_RELAXED) == lock) ? h : NULL;
}

/** In the `lock` of an entry: it was released. No key is that large. */
#define HELD_RELEASED ((uintptr_t)1 << (8 * sizeof(uintptr_t) - 1))

/** Remove the last entry, which is of `lock`. */
static inline void sync_held_pop(struct sync_thread *t, uintptr_t lock)
{
    uint32_t d = t->depth - 1;
    __atomic_store_n(&t->held[d % SYNC_HELD_MAX].lock, lock | HELD_RELEASED, __ATOMIC_RELAXED);
    __atomic_store_n(&t->depth, d, __ATOMIC_RELEASE);
}

/** Remove all entries: the thread ends. */
void sync_held_clear(struct sync_thread *t);
/** Another thread has the block now: none of its locks is the last one that this thread released. */
void sync_held_forget(struct sync_thread *t);

#endif
