/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Events of a thread: 8 bytes for each call and each return, or for both, beside its tree.
 *
 * An event is the number of a tree node, which stands for the call path, and the lower half of a tick. A signal handler may
 * interrupt this: where one instruction takes the address of an event, the handler's events follow it.
 */
#ifndef UPMU_FUNC_EVENTS_H
#define UPMU_FUNC_EVENTS_H

#include "func/state.h"

/** Create the event file of a new tree. Events are counted as lost if there is no space for it. */
void func_events_start(struct func_tree *t);
/** Record which thread uses the tree from now on. */
void func_events_thread(struct func_tree *t, uint32_t tid, uint64_t now);
/** Apply the minimum duration of the tree's selection: shorter calls get no events. */
void func_events_select(struct func_tree *t);
/** Discard all recorded events. */
void func_events_clear(struct func_tree *t);
/** Write an event to address `at` where func_events_fits() is false: reserve space or start a new upper half of the tick. */
void func_events_write_slowly(struct func_tree *t, uint64_t at, uint32_t what, uint64_t now);

/** Take the address of the next event. Except on x86-64, events of a handler that interrupts this are overwritten, calls and returns
 *  alike. */
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

/** Remove the begin event of a call that was too short, if no event follows it. @return whether it was removed. */
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

/** Make one event of a call and its return at `now`, if the call has the last event and func_leaf(). A handler that comes in between finds the
 *  event of the call, or that of both, which is undone. @return whether it did. */
static inline bool func_events_join(struct func_tree *t, uint32_t node, uint64_t spent, uint64_t now)
{
    const uint64_t begin = (uint64_t)node << 32 | (uint32_t)(now - spent);
    uint64_t next = __atomic_load_n(&t->event, __ATOMIC_RELAXED), *last = (uint64_t *)(uintptr_t)next - 1;
    const uint32_t both = func_leaf(node, spent);
    if (!both || next > t->events_end || *last != begin)
        return false;
    __atomic_store_n(last, (uint64_t)both << 32 | (uint32_t)begin, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (LIKELY(__atomic_load_n(&t->event, __ATOMIC_RELAXED) == next))
        return true;
    __atomic_store_n(last, begin, __ATOMIC_RELAXED);
    return false;
}

/** Whether an event at tick `now` can be stored at address `at`: space is reserved, and the upper half of the tick is current. */
static inline bool func_events_fits(const struct func_tree *t, uint64_t at, uint64_t now)
{
    return LIKELY(at < t->events_end) && LIKELY(now >> 32 == t->events_high);
}

/** Write an event of a tree with events. `what`: number of the node, with FUNC_EVENT_EXIT if it is left. */
static inline void func_events_write(struct func_tree *t, uint32_t what, uint64_t now)
{
    uint64_t at = func_events_take(t);
    if (func_events_fits(t, at, now))
        func_events_store(at, what, now);
    else
        func_events_write_slowly(t, at, what, now);
}

#endif
