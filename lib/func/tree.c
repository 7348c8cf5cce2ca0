/* SPDX-License-Identifier: MIT */
/* A thread's calling-context tree: growth, and calls that do not return in order. */
#include "func/tree.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/own_memory.h"
#include "func/files.h"
#include "func/modules.h"
#include "func/select.h"

/* -------------------------------------------------------------------------------------------------- new, clear */

static void tree_name(uint32_t number, char name[32])
{
    snprintf(name, 32, FUNC_THREAD_FILE, number);
}

static size_t tree_round(size_t bytes)
{
    return (bytes + FUNC_STEP_BYTES - 1) / FUNC_STEP_BYTES * FUNC_STEP_BYTES;
}

/* Frames below this address have their space, with one more behind the last one. */
static uint64_t tree_frames_limit(const struct func_tree *t, uint64_t end)
{
    return t->self + end - 2 * sizeof(struct func_frame);
}

/* The thread's own frame, and the two nodes that are always there. */
static void tree_fill(struct func_tree *t)
{
    struct func_node *nodes = func_nodes(t);
    struct func_frame *base = (struct func_frame *)(void *)((char *)t + t->frames_at);
    memset(nodes, 0, FUNC_NODES_FIXED * sizeof *nodes);
    *base = (struct func_frame){.cfa = UINT64_MAX, .node = t->nodes_start};
    __atomic_store_n(&t->nodes, FUNC_NODES_FIXED, __ATOMIC_RELEASE);
    func_tree_set_top(t, base);
}

/* Where the first frame and the first node are in their pages: a load waits for a store to the same place of another page, and
 * hooks use the header, the first frames and the first nodes at once. */
enum { TREE_FRAMES_IN_PAGE = 42 * sizeof(struct func_frame), TREE_NODES_IN_PAGE = 52 * sizeof(struct func_node) };
_Static_assert(sizeof(struct func_tree) <= TREE_FRAMES_IN_PAGE, "all are apart");

struct func_tree *func_tree_new(uint32_t number)
{
    char name[32];
    const struct func_process *p = &func_process;
    size_t frames_at = FUNC_HEADER_BYTES + TREE_FRAMES_IN_PAGE;
    size_t frames_end =
        FUNC_HEADER_BYTES + tree_round(FUNC_FRAMES_MAX * sizeof(struct func_frame) + TREE_FRAMES_IN_PAGE);
    size_t nodes_at = frames_end + TREE_NODES_IN_PAGE, bytes = nodes_at + p->nodes_max * sizeof(struct func_node);
    size_t first = FUNC_STEP_BYTES / 4;
    tree_name(number, name);
    struct func_tree *t = func_file_map(name, bytes, frames_at + first);
    if (!t || !func_file_reserve(name, nodes_at, nodes_at + first))
        return NULL; /* what was mapped stays unused */
    t->version = FUNC_VERSION;
    t->number = number;
    t->frames_at = frames_at;
    t->nodes_at = nodes_at;
    t->self = (uintptr_t)t;
    t->nodes_start = t->self + nodes_at;
    t->frames_end = tree_frames_limit(t, frames_at + first);
    t->frames_max = FUNC_FRAMES_MAX;
    t->nodes_max = p->nodes_max;
    t->nodes_ready = (uint32_t)(first / sizeof(struct func_node));
    if (t->nodes_ready > t->nodes_max)
        t->nodes_ready = t->nodes_max;
    t->inner_ticks = p->inner_ticks;
    t->outer_ticks = p->outer_ticks;
    tree_fill(t);
    if (!func_counts_new(t))
        return NULL;
    func_events_start(t);
    memcpy(t->magic, FUNC_THREAD_MAGIC, sizeof t->magic);
    return t;
}

void func_tree_clear(struct func_tree *t)
{
    tree_fill(t);
    memset(t->known, 0, sizeof t->known);
    func_events_clear(t);
    func_events_thread(t, t->tid, tick_now());
    t->lost_open = t->left = t->unmatched = t->stopped = 0;
    memset(t->lost, 0, sizeof t->lost);
}

/* ------------------------------------------------------------------------------------------------------- growth */

/* Space grows to twice its size. @return the new end; `end` if there is none. */
static uint64_t tree_grow(const struct func_tree *t, uint64_t begin, uint64_t end, uint64_t limit)
{
    char name[32];
    uint64_t wanted = begin + 2 * (end - begin);
    tree_name(t->number, name);
    wanted = wanted < limit ? wanted : limit;
    return wanted > end && func_file_reserve(name, end, wanted) ? wanted : end;
}

static bool tree_reserve_frames(struct func_tree *t)
{
    uint64_t end = t->frames_end - t->self + 2 * sizeof(struct func_frame);
    uint64_t now = tree_grow(t, t->frames_at, end, t->frames_at + t->frames_max * sizeof(struct func_frame));
    t->frames_end = tree_frames_limit(t, now);
    return now > end;
}

static bool tree_reserve_nodes(struct func_tree *t)
{
    uint64_t end = t->nodes_at + t->nodes_ready * sizeof(struct func_node);
    uint64_t now = tree_grow(t, t->nodes_at, end, t->nodes_at + t->nodes_max * sizeof(struct func_node));
    if (now > end && !func_counts_reserve(t, (uint32_t)((now - t->nodes_at) / sizeof(struct func_node))))
        return false;
    __atomic_store_n(&t->nodes_ready, (uint32_t)((now - t->nodes_at) / sizeof(struct func_node)), __ATOMIC_RELAXED);
    return now > end;
}

/* ----------------------------------------------------------------------------------------------------- children */

static uint32_t tree_find_child(const struct func_tree *t, const struct func_node *parent, uint64_t function)
{
    const struct func_node *nodes = func_nodes(t);
    uint32_t c = __atomic_load_n(&parent->child, __ATOMIC_ACQUIRE);
    while (c != 0 && __atomic_load_n(&nodes[c].function, __ATOMIC_RELAXED) != function)
        c = nodes[c].next;
    return c;
}

static uint32_t tree_index(const struct func_tree *t, const struct func_node *n)
{
    return (uint32_t)(n - func_nodes(t));
}

static bool tree_is_lost(const struct func_tree *t, const struct func_frame *f)
{
    return f->node == (uintptr_t)&func_nodes(t)[FUNC_NODE_LOST];
}

static bool tree_is_thread(const struct func_tree *t, const struct func_frame *f)
{
    return f->node == t->nodes_start;
}

/* The node of a function that is active on this path; 0 if it is not. */
static uint32_t tree_find_active(const struct func_tree *t, const struct func_frame *f, uint64_t function)
{
    const struct func_node *at;
    for (; (at = func_frame_at(t, f))->function != 0; f--)
        if (at->function == function)
            return tree_index(t, at);
    return 0;
}

/* A handler that interrupts this gets another number. */
static uint32_t tree_new_node(struct func_tree *t, uint64_t function, uint32_t child)
{
    uint32_t i = __atomic_fetch_add(&t->nodes, 1, __ATOMIC_RELAXED);
    if (i >= t->nodes_ready && !(tree_reserve_nodes(t) && i < t->nodes_ready)) {
        __atomic_fetch_sub(&t->nodes, 1, __ATOMIC_RELAXED);
        return FUNC_NODE_LOST;
    }
    struct func_node *n = &func_nodes(t)[i];
    func_counts_clear_node(t, i);
    *n = (struct func_node){.min = INT64_MAX, .max = INT64_MIN, .child = child};
    __atomic_store_n(&n->function, function, __ATOMIC_RELEASE);
    return i;
}

/* Functions on the call path of a frame: of recursions the outermost call only. */
static uint32_t tree_depth(const struct func_tree *t, const struct func_frame *f)
{
    uint32_t depth = 0;
    for (const struct func_node *n; (n = func_frame_at(t, f)) != func_nodes(t); depth++, f--)
        while (func_frame_node(f) != n)
            f--;
    return depth;
}

/* Whether calls of a function from a node, the one at that depth, are recorded. */
static bool tree_is_selected(const struct func_tree *t, uint64_t function, uint32_t caller, uint32_t depth)
{
    uint32_t max = func_depth_max(t->selected);
    return (max == 0 || depth < max) && func_is_selected(t->selected, function, caller == FUNC_NODE_THREAD);
}

/* What a new node has for its first child. Of a function that is not selected, its caller: what it calls is called from there. */
static uint32_t tree_first_child(const struct func_tree *t, const struct func_frame *f, uint64_t function)
{
    func_modules_see(function);
    uint32_t at = tree_index(t, func_frame_at(t, f));
    uint32_t depth = func_depth_max(t->selected) > 0 ? tree_depth(t, f) : 0;
    if (!tree_is_selected(t, function, at, depth))
        return FUNC_RECURSION | FUNC_SKIPPED | at;
    uint32_t active = tree_find_active(t, f, function);
    return active ? FUNC_RECURSION | active : 0;
}

/* The child of a frame's node that a call enters; FUNC_NODE_LOST if there is no space for it. */
static uint32_t tree_child(struct func_tree *t, const struct func_frame *f, const struct func_call *call)
{
    uint64_t function = call->function;
    struct func_node *nodes = func_nodes(t), *parent = func_frame_at(t, f);
    if (tree_is_lost(t, f))
        return FUNC_NODE_LOST;
    uint32_t c = tree_find_child(t, parent, function);
    if (c == 0) {
        uint32_t first = __atomic_load_n(&parent->child, __ATOMIC_ACQUIRE);
        c = tree_new_node(t, function, tree_first_child(t, f, function));
        if (c == FUNC_NODE_LOST)
            return c;
        do /* a handler may add another child in between */
            nodes[c].next = first;
        while (!__atomic_compare_exchange_n(&parent->child, &first, c, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    }
    parent->last = c * (uint32_t)sizeof *parent;
    __atomic_store_n(func_tree_known(t, call), (f->node - t->nodes_start) << 32 | parent->last, __ATOMIC_RELAXED);
    return c;
}

/* ---------------------------------------------------------------------------------------------------- selection */

/* Calls of the same function get a node of their own from here on. */
static void tree_retire(struct func_node *n)
{
    __atomic_store_n(&n->function, n->function | (uint64_t)FUNC_SAME_MODULE << FUNC_ADDRESS_BITS, __ATOMIC_RELAXED);
}

/* The children of node `i`; `depth` has that of each node. */
static void tree_select_children(struct func_tree *t, uint32_t i, uint32_t *depth, uint32_t count)
{
    struct func_node *nodes = func_nodes(t);
    for (uint32_t c = nodes[i].child; c != 0 && c < count; c = nodes[c].next) {
        bool skipped = (nodes[c].child & FUNC_SKIPPED) != 0;
        depth[c] = depth[i] + 1;
        if (nodes[c].function >> FUNC_ADDRESS_BITS == 0 &&
            skipped == tree_is_selected(t, nodes[c].function, i, depth[i]))
            tree_retire(&nodes[c]);
    }
}

/* A node comes after its caller's. Without memory for their depths, all are retired. */
void func_tree_select(struct func_tree *t, uint32_t selected)
{
    struct func_node *nodes = func_nodes(t);
    uint32_t n = t->nodes < t->nodes_ready ? t->nodes : t->nodes_ready;
    uint32_t *depth = own_memory_map_wiped(n * sizeof *depth);
    t->selected = selected;
    func_events_select(t);
    for (uint32_t i = depth ? FUNC_NODE_THREAD : FUNC_NODES_FIXED; i < n; i++)
        if (!depth)
            tree_retire(&nodes[i]);
        else if (!(nodes[i].child & FUNC_RECURSION))
            tree_select_children(t, i, depth, n);
    if (depth)
        own_memory_unmap(depth, n * sizeof *depth);
}

/* --------------------------------------------------------------------------------------------- out of order */

/* A call that gets no frame: it, and all that is called from it, is only counted. */
static void tree_lose(struct func_tree *t, struct func_frame *f, const struct func_call *c, uint64_t cause)
{
    struct func_frame *g = f + 1;
    if (tree_is_lost(t, f))
        cause = f->children; /* that of the first one */
    t->lost[cause]++;
    if (t->lost_open++ > 0)
        return;
    *g = (struct func_frame){.node = (uintptr_t)&func_nodes(t)[FUNC_NODE_LOST],
                             .cfa = c->cfa,
                             .hook = c->hook,
                             .site = c->site,
                             .children = cause};
    func_tree_set_top(t, g);
}

bool func_is_on_signal_stack(uint64_t cfa, uint64_t other)
{
    stack_t s;
    int saved = errno;
    bool on = sigaltstack(NULL, &s) == 0 && (s.ss_flags & SS_ONSTACK);
    errno = saved;
    return on && cfa - (uintptr_t)s.ss_sp < s.ss_size && other - (uintptr_t)s.ss_sp >= s.ss_size;
}

/* Where the return address of the function of call `c` is in its stack frame: the first word with that value, at most a page away, and
 * below the thread's first call, where all is stack; 0: none is found. The upper bits of a signed address differ. */
__attribute__((no_sanitize("address", "thread"))) static uint64_t tree_return_slot(const struct func_tree *t,
                                                                                   const struct func_call *c)
{
    enum { BYTES_MAX = 4096, SIGNED_BITS = 16, WORD = sizeof(uintptr_t) };
    const struct func_frame *base = (const struct func_frame *)(const void *)((const char *)t + t->frames_at);
    const uint64_t first = base[1].cfa, limit = c->cfa + BYTES_MAX, end = first < limit ? first : limit;
    if (c->hook == c->function || !func_tree_has_calls(t))
        return 0; /* a sled: `cfa` is where the function's frame begins */
    for (uint64_t at = (c->cfa + WORD - 1) & ~(uint64_t)(WORD - 1); at < end; at += WORD)
        if ((uint64_t)(*(const uintptr_t *)(uintptr_t)at ^ c->site) << SIGNED_BITS == 0)
            return at;
    return 0;
}

/* Whether frame `f` was left although that of call `c`, which has more local data, reaches deeper: the return address of `c`, at `slot`,
 * is not below it, so that a caller of `f` calls. The slot of a function that was inlined is that of the one around it. */
static bool tree_is_beside(const struct func_frame *f, const struct func_call *c, uint64_t slot)
{
    return slot >= f->cfa && c->site != f->site;
}

/* The fast path does not compare these: there, the call has been made from this frame before. */
static bool tree_is_left_beside(struct func_tree *t, const struct func_frame *f, const struct func_call *c)
{
    return func_tree_find_known(t, f, c)->function != c->function && tree_is_beside(f, c, tree_return_slot(t, c));
}

static void tree_leave(struct func_tree *t, struct func_frame *f, uint64_t now, const struct func_reading *r)
{
    if (tree_is_lost(t, f)) {
        t->lost_open = 0;
        func_tree_set_top(t, f - 1);
        return;
    }
    t->left++;
    func_tree_pop(t, f, func_frame_node(f), now, r);
}

/* End calls that were left without a return. @return the last frame that is left. */
static struct func_frame *tree_resync(struct func_tree *t, const struct func_call *c)
{
    uint64_t now = tick_now();
    struct func_frame *f = func_tree_top(t);
    if (c->cfa > f->cfa && func_is_on_signal_stack(c->cfa, f->cfa))
        return f;
    struct func_reading r;
    r.n = 0;
    if (func_process.counters > 0)
        func_counts_read(&r);
    const uint64_t slot = tree_return_slot(t, c);
    for (; func_frame_is_left(f, c) || tree_is_beside(f, c, slot); f = func_tree_top(t))
        tree_leave(t, f, now, &r);
    return f;
}

/* @return the frame that returns, now the last one; NULL if it has none. */
static struct func_frame *tree_unwind(struct func_tree *t, uint64_t function, uint64_t cfa, uint64_t now,
                                      const struct func_reading *r)
{
    struct func_frame *f = func_tree_top(t);
    if (tree_is_lost(t, f) && cfa <= f->cfa && t->lost_open > 0) {
        if (--t->lost_open == 0)
            func_tree_set_top(t, f - 1);
        return NULL;
    }
    while (!tree_is_thread(t, f) && func_frame_node(f)->function != function)
        f--;
    if (tree_is_thread(t, f)) {
        t->unmatched++;
        return NULL;
    }
    while (func_tree_top(t) != f)
        tree_leave(t, func_tree_top(t), now, r);
    return f;
}

void func_tree_return_late(struct func_tree *t, uint64_t function, uint64_t cfa, uint64_t now,
                           const struct func_reading *r)
{
    struct func_frame *f = tree_unwind(t, function, cfa, now, r);
    if (f)
        func_tree_pop(t, f, func_frame_node(f), now, r);
}

void func_tree_enter(struct func_tree *t, const struct func_call *c)
{
    struct func_frame *f = func_tree_top(t);
    if (func_frame_is_left(f, c) || tree_is_left_beside(t, f, c))
        f = tree_resync(t, c);
    uint32_t child = tree_child(t, f, c);
    if (child == FUNC_NODE_LOST) {
        tree_lose(t, f, c, FUNC_LOSS_NODES);
        return;
    }
    if (!func_tree_has_space(t, f + 1) && !tree_reserve_frames(t)) {
        tree_lose(t, f, c, FUNC_LOSS_DEPTH);
        return;
    }
    struct func_node *n = &func_nodes(t)[child];
    func_tree_push(t, f + 1, n, c);
    if (func_process.counters > 0)
        func_counts_begin(t, f + 1);
    func_tree_begin(t, f + 1, tick_now());
}

bool func_tree_has_calls(const struct func_tree *t)
{
    return !tree_is_thread(t, func_tree_top(t));
}

void func_tree_end(struct func_tree *t, uint64_t now, const struct func_reading *r)
{
    struct func_frame *f;
    while (!tree_is_thread(t, f = func_tree_top(t)))
        tree_leave(t, f, now, r);
}

/* Calls and returns may have been recorded a moment after the stop. */
void func_tree_stop(struct func_tree *t, uint64_t tick)
{
    uint64_t left = t->left, now = tick_now();
    if (tick > now)
        tick = 0;
    for (const struct func_frame *f = func_tree_top(t); !tree_is_thread(t, f); f--)
        if (!tree_is_lost(t, f) && f->start + f->children > tick)
            tick = f->start + f->children;
    func_tree_end(t, tick, NULL);
    t->stopped += t->left - left;
    t->left = left;
}
