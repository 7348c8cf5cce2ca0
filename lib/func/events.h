/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Events of a thread: 8 bytes for each call and each return, beside its tree.
 *
 * An event is a node of the tree, which has the whole call path, and the lower half of a tick. A signal handler may interrupt
 * this: where the place of an event is taken by one instruction, the handler's events come behind it.
 */
#ifndef UPMU_FUNC_EVENTS_H
#define UPMU_FUNC_EVENTS_H

#include "func/state.h"

/** Begin the file of events of a new tree. Without space for it, events are counted as lost. */
void func_events_start(struct func_tree *t);
/** The thread that uses the tree from now on. */
void func_events_thread(struct func_tree *t, uint32_t tid, uint64_t now);
/** Shorter calls have no events, as the tree's selection has it. */
void func_events_select(struct func_tree *t);
/** Take back everything that was recorded. */
void func_events_clear(struct func_tree *t);
/** An event for which there may be no space at `at`, its place. */
void func_events_write_slowly(struct func_tree *t, uint64_t at, uint32_t what, uint64_t now);

/** The place of the next event. Elsewhere than on x86-64 the events of a handler that interrupts this are overwritten: calls and
 *  returns alike. */
static inline uint64_t func_events_take(struct func_tree *t)
{
    uint64_t at = sizeof(uint64_t);
#if defined __x86_64__
    __asm__ volatile("xaddq %0, %1" : "+r"(at), "+m"(t->event) : : "cc");
#else
    at = __atomic_load_n(&t->event, __ATOMIC_RELAXED);
    __atomic_store_n(&t->event, at + sizeof(uint64_t), __ATOMIC_RELAXED);
#endif
    return at;
}

static inline void func_events_store(uint64_t at, uint32_t what, uint64_t now)
{
    __atomic_store_n((uint64_t *)(uintptr_t)at, (uint64_t)what << 32 | (uint32_t)now, __ATOMIC_RELAXED);
}

/** Take back the event of a call that was shorter than is recorded, if it is the last one. @return false: it is not. */
static inline bool func_events_take_back(struct func_tree *t, uint32_t node)
{
    uint64_t next = __atomic_load_n(&t->event, __ATOMIC_RELAXED), last = next - sizeof(uint64_t);
    if (next > t->events_end || *(const uint64_t *)(uintptr_t)last >> 32 != node)
        return false;
    if (!__atomic_compare_exchange_n(&t->event, &next, last, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return false; /* a handler came */
    t->events_short++;
    return true;
}

/** Whether an event of that time can be stored at `at`, its place. */
static inline bool func_events_fits(const struct func_tree *t, uint64_t at, uint64_t now)
{
    return LIKELY(at < t->events_end) && LIKELY(now >> 32 == t->events_high);
}

/** A node is entered, or left: `what`. The tree has events. */
static inline void func_events_write(struct func_tree *t, uint32_t what, uint64_t now)
{
    uint64_t at = func_events_take(t);
    if (func_events_fits(t, at, now))
        func_events_store(at, what, now);
    else
        func_events_write_slowly(t, at, what, now);
}

#endif
