/* SPDX-License-Identifier: MIT */
/*
 * Own cost of the hooks, measured at the start.
 *
 * A call is longer by both hooks: by the part from the tick that it begins with to the one that it ends with, which its own
 * duration contains, and by the rest, which only its caller's contains. The smallest of some rounds is kept: what is
 * subtracted is the least that a call costs.
 */
#include "func/hooks.h"

#include "base/tick.h"
#include "func/tree.h"

enum { ROUNDS = 16, CALLS = 512 };

typedef void hook(void *, void *);

/* Any address that is no function. */
static char measured;

void func_overhead_measure(void)
{
    hook *volatile enter = __cyg_profile_func_enter, *volatile leave = __cyg_profile_func_exit;
    uint64_t least_all = UINT64_MAX, least_inner = UINT64_MAX;
    enter(&measured, &measured);
    leave(&measured, &measured);
    struct func_tree *t = func_tls.thread->tree;
    if (!t)
        return;
    const struct func_node *n = &func_nodes(t)[FUNC_NODES_FIXED];
    for (int round = 0; round < ROUNDS; round++) {
        struct func_reading counts;
        func_counts_measure_begin(&counts);
        uint64_t before = n->inclusive, begin = tick_now();
        for (int i = 0; i < CALLS; i++) {
            enter(&measured, &measured);
            leave(&measured, &measured);
        }
        uint64_t all = (tick_now() - begin) / CALLS, inner = (n->inclusive - before) / CALLS;
        func_counts_measure_end(t, FUNC_NODES_FIXED, &counts, CALLS);
        least_all = all < least_all ? all : least_all;
        least_inner = inner < least_inner ? inner : least_inner;
    }
    func_tree_clear(t);
    struct func_process_header *h = func_process.shared->header;
    func_counts_measured(h);
    h->sourceless = 0; /* what was measured has no source */
    func_process.inner_ticks = t->inner_ticks = h->inner_ticks = (uint32_t)least_inner;
    func_process.outer_ticks = t->outer_ticks = h->outer_ticks =
        (uint32_t)(least_all > least_inner ? least_all - least_inner : 0);
}
