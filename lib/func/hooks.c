/* SPDX-License-Identifier: MIT */
/*
 * The functions that code built with -finstrument-functions calls at entry and return.
 *
 * The C library has empty ones, so that such a program needs no library. Off, they are a load and a branch. They take no
 * lock, allocate nothing after a thread's first call, and keep errno.
 */
#include "func/hooks.h"

#include "func/threads.h"
#include "func/tree.h"

/* The hook's frame is below that of the function, and lower than that of any caller on the same stack. */
#if defined(__GNUC__) && !defined(__clang__)
#define HOOK_CFA() ((uint64_t)(uintptr_t)__builtin_dwarf_cfa())
#else
#define HOOK_CFA() ((uint64_t)(uintptr_t)__builtin_frame_address(0))
#endif
/* tick_now() without its choice, which the gate has. */
#ifdef TICK_ISA_NAME
#define HOOK_TICK() tick_isa()
#else
#define HOOK_TICK() tick_portable()
#endif
#define HOOK_RETURN() ((uint64_t)(uintptr_t)__builtin_return_address(0))

/* A thread's first call, calls of functions that were not called last, and the first one after a change of the gate. */
__attribute__((noinline)) FUNC_PLAIN static void hook_enter_slowly(uint64_t function, uint64_t cfa, uint64_t hook,
                                                                   uint64_t site)
{
    const struct func_call call = {function, cfa, hook, site};
    struct func_thread *th = func_thread_begin(cfa);
    if (!th)
        return;
    uint64_t before = func_thread_claim_slow(th, cfa);
    func_tree_enter(th->tree, &call);
    func_thread_release_slow(th, before);
}

/* Hooks without events do not save registers for what follows, and those with events not for a block that is full. */
__attribute__((noinline)) FUNC_PLAIN static void
hook_write_slowly(struct func_thread *th, uint32_t gate, struct func_tree *t, uint64_t at, uint32_t what, uint64_t now)
{
    func_events_write_slowly(t, at, what, now);
    func_thread_release(th, gate);
}

static inline void hook_write(struct func_thread *th, uint32_t gate, struct func_tree *t, uint32_t what, uint64_t now)
{
    uint64_t at = what ? func_events_take(t) : 0;
    if (what && !func_events_fits(t, at, now)) {
        hook_write_slowly(th, gate, t, at, what, now);
        return;
    }
    if (what)
        func_events_store(at, what, now);
    func_thread_release(th, gate);
}

__attribute__((noinline)) FUNC_PLAIN static void
hook_begin_event(struct func_thread *th, uint32_t gate, struct func_tree *t, const struct func_node *n, uint64_t now)
{
    hook_write(th, gate, t, func_tree_begin_event(t, n), now);
}

/* @return false if the call has to be recorded by hook_enter_slowly(). */
__attribute__((always_inline)) static inline bool hook_enter_known(uint32_t gate, const struct func_call *call)
{
    struct func_thread *th = func_tls.thread;
    if (LIKELY(th->gate == gate)) {
        func_thread_claim(th);
        struct func_tree *t = th->tree;
        struct func_frame *f = func_tree_enter_known(t, call);
        if (LIKELY(f != NULL)) {
            uint64_t now = HOOK_TICK();
            f->start = now;
            if (UNLIKELY(t->event))
                hook_begin_event(th, gate, t, func_frame_node(f), now);
            else
                func_thread_release(th, gate);
            return true;
        }
        func_thread_release(th, gate);
    }
    return false;
}

__attribute__((always_inline)) static inline void hook_enter(uint32_t gate, const struct func_call *call)
{
    if (UNLIKELY(!hook_enter_known(gate, call)))
        hook_enter_slowly(call->function, call->cfa, call->hook, call->site);
}

UPMU_API FUNC_PLAIN void __cyg_profile_func_enter(void *function, void *site)
{
    uint32_t gate = func_gate_read();
    if (LIKELY(!(gate & FUNC_KIND)))
        return;
    const struct func_call call = {(uintptr_t)function, HOOK_CFA(), HOOK_RETURN(), (uintptr_t)site};
    hook_enter(gate, &call);
}

/* A function has one entry sled: it takes the place of the hook. */
FUNC_PLAIN void func_hook_enter(uint64_t function, uint64_t cfa, uint64_t site)
{
    uint32_t gate = func_gate_read();
    const struct func_call call = {function, cfa, function, site};
    if (LIKELY(gate & FUNC_KIND))
        hook_enter(gate, &call);
}

/* Events may need the next block, whose functions use vector registers. */
static inline bool hook_has_events(void)
{
    const struct func_tree *t = func_tls.thread->tree;
    return t && UNLIKELY(t->event);
}

FUNC_PLAIN bool func_hook_enter_known(uint64_t function, uint64_t cfa, uint64_t site)
{
    uint32_t gate = func_gate_read();
    const struct func_call call = {function, cfa, function, site};
    return UNLIKELY(!(gate & FUNC_KIND)) || (!hook_has_events() && hook_enter_known(gate, &call));
}

/* A call that was not recorded does not return: without a tree there is nothing to do. */
__attribute__((noinline)) FUNC_PLAIN static void hook_return_slowly(uint64_t function, uint64_t cfa)
{
    uint64_t now = tick_now();
    struct func_reading r;
    r.n = 0; /* the rest is not set */
    struct func_thread *th = func_tls.thread->tree ? func_thread_begin(cfa) : NULL;
    if (!th)
        return;
    if (func_process.counters > 0)
        func_counts_read(&r);
    uint64_t before = func_thread_claim_slow(th, cfa);
    func_tree_return_late(th->tree, function, cfa, now, &r);
    func_thread_release_slow(th, before);
}

__attribute__((noinline)) FUNC_PLAIN static void hook_end_event(struct func_thread *th, uint32_t gate,
                                                                struct func_tree *t, const struct func_node *n,
                                                                uint64_t spent, uint64_t now)
{
    hook_write(th, gate, t, func_tree_end_event(t, n, spent, now), now);
}

/* @return false if the function is not the last one that was called. */
__attribute__((always_inline)) static inline bool hook_return(uint32_t gate, uint64_t function)
{
    struct func_thread *th = func_tls.thread;
    if (LIKELY(th->gate == gate)) {
        uint64_t now = HOOK_TICK();
        func_thread_claim(th);
        struct func_tree *t = th->tree;
        struct func_frame *f = func_tree_top(t);
        struct func_node *n = func_frame_node(f);
        if (LIKELY(n->function == function)) {
            uint64_t spent = func_tree_count(t, f, n, now);
            if (UNLIKELY(t->event))
                hook_end_event(th, gate, t, n, spent, now);
            else
                func_thread_release(th, gate);
            return true;
        }
        func_thread_release(th, gate);
    }
    return false;
}

UPMU_API FUNC_PLAIN void __cyg_profile_func_exit(void *function, void *site)
{
    uint32_t gate = func_gate_read();
    (void)site;
    if (LIKELY(!(gate & FUNC_KIND)))
        return;
    if (UNLIKELY(!hook_return(gate, (uintptr_t)function)))
        hook_return_slowly((uintptr_t)function, HOOK_CFA());
}

FUNC_PLAIN void func_hook_return(uint64_t function, uint64_t cfa)
{
    uint32_t gate = func_gate_read();
    if (LIKELY(gate & FUNC_KIND) && UNLIKELY(!hook_return(gate, function)))
        hook_return_slowly(function, cfa);
}

FUNC_PLAIN bool func_hook_return_known(uint64_t function)
{
    uint32_t gate = func_gate_read();
    return UNLIKELY(!(gate & FUNC_KIND)) || (!hook_has_events() && hook_return(gate, function));
}

FUNC_PLAIN bool func_hook_returned_known(uint64_t cfa)
{
    const struct func_tree *t = func_tls.thread->tree;
    uint32_t gate = func_gate_read();
    if (UNLIKELY(!t || !(gate & FUNC_KIND)))
        return true;
    const struct func_frame *f = func_tree_top(t);
    return LIKELY(f->cfa == cfa) && !UNLIKELY(t->event) && hook_return(gate, func_frame_node(f)->function) &&
           func_tree_top(t)->cfa != cfa;
}

FUNC_PLAIN void func_hook_returned(uint64_t cfa)
{
    const struct func_tree *t = func_tls.thread->tree;
    if (!t || !(func_gate_read() & FUNC_KIND))
        return;
    const struct func_frame *f = func_tree_top(t), *top;
    while (UNLIKELY(f->cfa != cfa) && f->node != t->nodes_start)
        f--; /* what was left without a return ends with it */
    for (bool goes_on = true; goes_on && f->cfa == cfa; f = top) {
        top = func_tree_top(t);
        func_hook_return(func_frame_node(f)->function, cfa);
        goes_on = func_tree_top(t) < top;
        top = func_tree_top(t);
        if (top > f)
            top = f; /* a frame of the same function was above it */
    }
}
