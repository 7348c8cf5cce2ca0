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

/* A thread's first call, and calls of functions that were not called last. */
__attribute__((noinline)) FUNC_PLAIN static void hook_enter_slowly(uint64_t function, uint64_t cfa, uint64_t hook,
                                                                   uint64_t site)
{
    struct func_tree *t = func_tls.thread->tree;
    const struct func_call call = {function, cfa, hook, site};
    if (t || (t = func_thread_start()) != NULL)
        func_tree_enter(t, &call);
}

UPMU_API FUNC_PLAIN void __cyg_profile_func_enter(void *function, void *site)
{
    uint32_t gate = func_gate;
    if (LIKELY(gate == FUNC_OFF))
        return;
    struct func_tree *t = func_tls.thread->tree;
    const struct func_call call = {(uintptr_t)function, HOOK_CFA(), HOOK_RETURN(), (uintptr_t)site};
    struct func_frame *f;
    if (LIKELY(gate == FUNC_ON_ISA) && LIKELY(t != NULL) && LIKELY((f = func_tree_enter_known(t, &call)) != NULL))
        func_tree_begin(t, f, HOOK_TICK());
    else
        hook_enter_slowly(call.function, call.cfa, call.hook, call.site);
}

/* A call that was not recorded does not return: without a tree there is nothing to do. */
__attribute__((noinline)) FUNC_PLAIN static void hook_return_slowly(uint64_t function, uint64_t cfa)
{
    uint64_t now = tick_now();
    if (func_tls.thread->tree)
        func_tree_return_late(func_tls.thread->tree, function, cfa, now);
}

UPMU_API FUNC_PLAIN void __cyg_profile_func_exit(void *function, void *site)
{
    uint32_t gate = func_gate;
    (void)site;
    if (LIKELY(gate == FUNC_OFF))
        return;
    if (LIKELY(gate == FUNC_ON_ISA)) {
        uint64_t now = HOOK_TICK();
        struct func_tree *t = func_tls.thread->tree;
        if (UNLIKELY(!t))
            return;
        struct func_frame *f = func_tree_top(t);
        struct func_node *n = func_frame_node(f);
        if (LIKELY(n->function == (uintptr_t)function)) {
            func_tree_pop(t, f, n, now);
            return;
        }
    }
    hook_return_slowly((uintptr_t)function, HOOK_CFA());
}
