/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A thread's calling-context tree: calls and returns.
 *
 * A signal handler may interrupt any of this, and calls and returns from functions of its own: it finds
 * the last frame published, and leaves it the last one again. So a frame is published before it is filled, with its node
 * filled in before as well, and a return counts its call before the frame goes.
 */
#ifndef UPMU_FUNC_TREE_H
#define UPMU_FUNC_TREE_H

#include "base/tick.h"
#include "func/counts.h"
#include "func/events.h"
#include "func/state.h"

/** Space for the nodes and frames that a new tree begins with. */
struct func_tree *func_tree_new(uint32_t number);
/** End all calls that have not returned, at `now` and a reading of the counters; NULL: at an unknown one. */
void func_tree_end(struct func_tree *t, uint64_t now, const struct func_reading *r);
/** The same at `tick`, when recording was stopped, 0: at the last return; but not before that. */
void func_tree_stop(struct func_tree *t, uint64_t tick);
/** Other functions are selected. No call is open. Nodes of functions whose selection has changed are not found any more. */
void func_tree_select(struct func_tree *t, uint32_t selected);
/** Whether calls are open. */
bool func_tree_has_calls(const struct func_tree *t);
/** Whether an address is on the signal stack on which the thread runs now, and the other is not. Keeps errno. */
bool func_is_on_signal_stack(uint64_t cfa, uint64_t other);
/** Take back everything that was recorded. */
void func_tree_clear(struct func_tree *t);

static inline struct func_node *func_nodes(const struct func_tree *t)
{
    return (struct func_node *)(uintptr_t)t->nodes_start;
}

static inline struct func_frame *func_tree_top(const struct func_tree *t)
{
    return (struct func_frame *)(uintptr_t)__atomic_load_n(&t->top, __ATOMIC_RELAXED);
}

static inline void func_tree_set_top(struct func_tree *t, const struct func_frame *f)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&t->top, (uintptr_t)f, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/** What a node is called in events. */
static inline uint32_t func_tree_number(const struct func_tree *t, const struct func_node *n)
{
    return (uint32_t)(((uintptr_t)n - t->nodes_start) / sizeof *n);
}

/** The last frame's call ends: count it. @return its ticks */
static inline uint64_t func_tree_count(struct func_tree *t, struct func_frame *f, struct func_node *n, uint64_t now)
{
    struct func_frame *caller = f - 1;
    uint64_t spent = now - f->start, cost = f->cost + t->inner_ticks;
    int64_t inclusive = (int64_t)(spent - cost);
    n->calls++;
    n->exclusive += spent - f->children;
    if (LIKELY(--n->active == 0))
        n->inclusive += (uint64_t)inclusive;
    if (UNLIKELY(inclusive < n->min))
        n->min = inclusive;
    if (UNLIKELY(inclusive > n->max))
        n->max = inclusive;
    caller->children += spent + t->outer_ticks;
    caller->cost += cost + t->outer_ticks;
    func_tree_set_top(t, caller);
    return spent;
}

/** Number of the node for the event of a call that ended at `now` after `spent` ticks; 0: no event is written. */
static inline uint32_t func_tree_end_event(struct func_tree *t, const struct func_node *n, uint64_t spent, uint64_t now)
{
    uint32_t number = func_tree_number(t, n);
    if ((n->child & FUNC_SKIPPED) || (UNLIKELY(spent < t->events_min) && func_events_take_back(t, number)) ||
        func_events_join(t, number, spent, now))
        return 0;
    return number | FUNC_EVENT_EXIT;
}

/** The last frame's call ends, with its event and its counts: at `r`; NULL: at an unknown reading. */
static inline void func_tree_pop(struct func_tree *t, struct func_frame *f, struct func_node *n, uint64_t now,
                                 const struct func_reading *r)
{
    if (func_process.counters > 0)
        func_counts_end(t, f, n->active == 1, r);
    uint64_t spent = func_tree_count(t, f, n, now);
    uint32_t what = t->event ? func_tree_end_event(t, n, spent, now) : 0;
    if (what)
        func_events_write(t, what, now);
}

/** A call of a function, as its entry hook finds it. */
struct func_call {
    uint64_t function;
    uint64_t cfa, hook, site; /**< as in struct func_frame */
};

/** Whether frame `f`, the last one, was left without a return (longjmp, exception): the frame of call `c` is not deeper in the stack.
 *  At the same address `f` is still the caller if this function was inlined into it: same call site, other hook. */
static inline bool func_frame_is_left(const struct func_frame *f, const struct func_call *c)
{
    return UNLIKELY(c->cfa >= f->cfa) && (c->cfa > f->cfa || c->site != f->site || c->hook == f->hook);
}

static inline struct func_node *func_frame_node(const struct func_frame *f)
{
    return (struct func_node *)(uintptr_t)f->node;
}

/** The node whose children are calls made from frame `f`: that of the frame, unless that is a recursion. */
static inline struct func_node *func_frame_at(const struct func_tree *t, const struct func_frame *f)
{
    struct func_node *n = func_frame_node(f);
    return LIKELY(!(n->child & FUNC_RECURSION)) ? n : &func_nodes(t)[n->child & FUNC_CHILD_MASK];
}

/** Push frame `g` of call `c`, with node `n`. func_tree_begin() must follow. */
static inline void func_tree_push(struct func_tree *t, struct func_frame *g, struct func_node *n,
                                  const struct func_call *c)
{
    n->active++;
    g->node = (uintptr_t)n;
    g->cfa = c->cfa;
    func_tree_set_top(t, g);
    g->node = (uintptr_t)n;
    g->cfa = c->cfa;
    g->hook = c->hook;
    g->site = c->site;
    g->children = 0;
    g->cost = 0;
}

/** Number of the node for the event of a call's begin; 0: no event is written. */
static inline uint32_t func_tree_begin_event(const struct func_tree *t, const struct func_node *n)
{
    return LIKELY(!(n->child & FUNC_SKIPPED)) ? func_tree_number(t, n) : 0;
}

/** Start the time of a pushed frame and write its event. To be called last, so that the hook's own work is not counted. */
static inline void func_tree_begin(struct func_tree *t, struct func_frame *f, uint64_t now)
{
    f->start = now;
    uint32_t what = t->event ? func_tree_begin_event(t, func_frame_node(f)) : 0;
    if (what)
        func_events_write(t, what, now);
}

/** Whether space is reserved for frame `g`, and one more for calls that get none. */
static inline bool func_tree_has_space(const struct func_tree *t, const struct func_frame *g)
{
    return (uintptr_t)g < t->frames_end;
}

/** Where the cache has the child that a call enters. */
static inline uint64_t *func_tree_known(struct func_tree *t, const struct func_call *c)
{
    enum { HASH_BITS = 32 };
    uint32_t hash = (uint32_t)(c->function + c->site) * 2654435769u;
    return &t->known[hash >> (HASH_BITS - FUNC_KNOWN_BITS)];
}

/** The child of frame `f` that call `c` enters, or any other node. The cache is read first: its place depends on no load, so that
 *  functions called in turn are found while the last frame is read. */
static inline struct func_node *func_tree_find_known(struct func_tree *t, const struct func_frame *f,
                                                     const struct func_call *c)
{
    uint64_t known = __atomic_load_n(func_tree_known(t, c), __ATOMIC_RELAXED);
    struct func_node *n = (struct func_node *)(uintptr_t)(t->nodes_start + (uint32_t)known);
    if (LIKELY(n->function == c->function) && LIKELY(t->nodes_start + (known >> 32) == f->node))
        return n;
    return (struct func_node *)(uintptr_t)(t->nodes_start + func_frame_at(t, f)->last);
}

/** Fast entry of a function whose node is known. @return the new frame, for func_tree_begin(); NULL: call func_tree_enter() instead. */
static inline struct func_frame *func_tree_enter_known(struct func_tree *t, const struct func_call *c)
{
    struct func_frame *f = func_tree_top(t), *g = f + 1;
    struct func_node *n = func_tree_find_known(t, f, c);
    if (UNLIKELY(n->function != c->function) || func_frame_is_left(f, c) || UNLIKELY(!func_tree_has_space(t, g)))
        return NULL;
    func_tree_push(t, g, n, c);
    return g;
}

/** Entry of a function in all other cases. */
void func_tree_enter(struct func_tree *t, const struct func_call *c);

/** A return from a function that is not the last one called, at `now`. */
void func_tree_return_late(struct func_tree *t, uint64_t function, uint64_t cfa, uint64_t now,
                           const struct func_reading *r);

#endif
