/* SPDX-License-Identifier: MIT */
/*
 * Sums of recorded calls.
 *
 * Trees are merged by function: a path of the result has a function once, as in the recorded trees. Files may be damaged, or
 * be written meanwhile: a node is read once, and indices are checked.
 */
#include "func/format/profile.h"

#include <stdlib.h>
#include <string.h>

struct pending {
    uint32_t node;   /* of the recorded tree */
    uint32_t parent; /* of the profile */
};

/* A copy of a recorded tree, and what is to be read of it. */
struct merge {
    struct func_node *nodes;
    uint8_t *seen;
    uint64_t *open; /* calls of each node that have not returned */
    uint32_t n;
    struct pending *pending;
    size_t n_pending;
    double ns_per_tick;
    uint32_t inner_ticks;
    const struct func_tree_counts *counts;
};

bool func_tree_is_valid(const struct func_tree *t, size_t bytes)
{
    return bytes >= FUNC_HEADER_BYTES && memcmp(t->magic, FUNC_THREAD_MAGIC, sizeof t->magic) == 0 &&
           t->version >= FUNC_VERSION_OLDEST && t->version <= FUNC_VERSION && t->frames_at >= FUNC_HEADER_BYTES &&
           t->frames_at % 8 == 0 && t->nodes_at % 8 == 0 && t->nodes_at >= t->frames_at + sizeof(struct func_frame) &&
           t->nodes_at <= bytes && bytes - t->nodes_at >= FUNC_NODES_FIXED * sizeof(struct func_node);
}

static uint32_t profile_count(const struct func_tree *t, size_t bytes)
{
    size_t space = (bytes - t->nodes_at) / sizeof(struct func_node);
    uint32_t n = __atomic_load_n(&t->nodes, __ATOMIC_ACQUIRE), ready = t->nodes_ready;
    n = n < ready ? n : ready;
    return n < space ? n : (uint32_t)space;
}

/* ---------------------------------------------------------------------------------------------- open calls */

/* Calls that have not returned end now. From the innermost one outwards, as they would return. */
static void merge_end_open_calls(struct merge *m, const struct func_tree *t, uint64_t end_tick)
{
    size_t space = (t->nodes_at - t->frames_at) / sizeof(struct func_frame);
    uint64_t from = t->self + t->frames_at, last = __atomic_load_n(&t->top, __ATOMIC_RELAXED);
    size_t top = (size_t)(last - from) / sizeof(struct func_frame);
    const struct func_frame *frames = (const void *)((const char *)t + t->frames_at);
    uint64_t children = 0, cost = 0;
    if (last < from || top >= space)
        return;
    for (size_t i = 1; i <= top; i++) { /* of a process that was killed, the last return is the last that is known */
        uint64_t known = frames[i].start + frames[i].children;
        end_tick = end_tick > known ? end_tick : known;
    }
    for (size_t i = top; i > 0; i--) {
        struct func_frame f = frames[i];
        uint64_t node = (f.node - t->nodes_start) / sizeof *m->nodes;
        if (f.node < t->nodes_start || node >= m->n || node < FUNC_NODES_FIXED || m->nodes[node].active == 0)
            continue;
        struct func_node *n = &m->nodes[node];
        uint64_t spent = end_tick > f.start ? end_tick - f.start : 0;
        int64_t inclusive = (int64_t)(spent - f.cost - cost - t->inner_ticks);
        n->calls++;
        m->open[node]++;
        n->exclusive += spent - f.children - children;
        if (--n->active == 0)
            n->inclusive += (uint64_t)inclusive;
        n->min = inclusive < n->min ? inclusive : n->min;
        n->max = inclusive > n->max ? inclusive : n->max;
        children = spent + t->outer_ticks;
        cost += f.cost + t->inner_ticks + t->outer_ticks;
    }
}

/* ----------------------------------------------------------------------------------------------------- counts */

enum func_known func_sum_value(const struct func_sum *s, uint64_t lost, uint64_t *value)
{
    /* below 0: small differences, from which the hooks' counts were subtracted */
    uint64_t count = s->count > 0 ? (uint64_t)s->count : 0;
    if (lost > 0 || (s->running < s->enabled && s->running <= 0))
        return FUNC_COUNT_UNKNOWN;
    bool exact = s->running >= s->enabled;
    *value = exact ? count : (uint64_t)((double)count * (double)s->enabled / (double)s->running);
    return exact ? FUNC_COUNT_EXACT : FUNC_COUNT_SCALED;
}

/* ------------------------------------------------------------------------------------------------------ merge */

static uint64_t merge_ns(const struct merge *m, uint64_t ticks)
{
    /* a sum of small durations, from which the hooks' cost was subtracted, may be below 0 */
    return (int64_t)ticks <= 0 ? 0 : (uint64_t)((double)ticks * m->ns_per_tick + 0.5);
}

static void sums_add(struct func_sums *s, const struct func_sums *more)
{
    if (more->calls == 0)
        return;
    s->min_ns = s->calls == 0 || more->min_ns < s->min_ns ? more->min_ns : s->min_ns;
    s->max_ns = more->max_ns > s->max_ns ? more->max_ns : s->max_ns;
    s->calls += more->calls;
    s->inclusive_ns += more->inclusive_ns;
    s->exclusive_ns += more->exclusive_ns;
    s->open += more->open;
}

/* Space for the counts of `n` rows of `cap`. @return false without memory. */
static bool profile_reserve_counts(const struct func_profile *p, struct func_count_sums **rows, size_t *cap,
                                   size_t wanted)
{
    if (p->counters == 0 || *cap >= wanted)
        return true;
    struct func_count_sums *all = reallocarray(*rows, wanted * p->counters, sizeof *all);
    if (!all)
        return false;
    memset(all + *cap * p->counters, 0, (wanted - *cap) * p->counters * sizeof *all);
    *rows = all;
    *cap = wanted;
    return true;
}

static void sum_add(struct func_sum *to, const struct func_sum *more)
{
    to->count += more->count;
    to->enabled += more->enabled;
    to->running += more->running;
}

static uint32_t profile_new_path(struct func_profile *p, uint32_t parent, uint32_t function)
{
    struct func_path *all = array_reserve(p->paths, p->n_paths, &p->cap_paths, sizeof *all);
    if (!all)
        return MAP_NONE;
    p->paths = all;
    if (!profile_reserve_counts(p, &p->path_counts, &p->cap_path_counts, p->cap_paths))
        return MAP_NONE;
    uint32_t i = (uint32_t)p->n_paths;
    if (i > 0 && !map_put(&p->by_parent, parent, function, i))
        return MAP_NONE;
    all[i] = (struct func_path){.function = function, .parent = parent};
    if (i > 0) {
        all[i].depth = all[parent].depth + 1;
        all[i].next = all[parent].child;
        all[parent].child = i;
    }
    p->n_paths++;
    return i;
}

uint32_t func_profile_path(struct func_profile *p, uint32_t parent, uint32_t function)
{
    if (p->n_paths == 0)
        return profile_new_path(p, 0, FUNC_PROFILE_THREAD);
    uint32_t i = map_find(&p->by_parent, parent, function);
    if (i != MAP_NONE)
        return i;
    uint32_t active = parent;
    while (active != 0 && p->paths[active].function != function)
        active = p->paths[active].parent;
    i = profile_new_path(p, parent, function);
    if (i != MAP_NONE)
        p->paths[i].recursion = active;
    return i;
}

void func_profile_call(struct func_profile *p, uint32_t path, const struct func_sums *call)
{
    sums_add(&p->paths[path].sums, call);
    p->calls += call->calls;
}

/* The children of a node, to be merged below a path. */
static void merge_push_children(struct merge *m, uint32_t node, uint32_t parent)
{
    uint32_t c = m->nodes[node].child;
    for (; c != 0 && !(c & FUNC_RECURSION) && c < m->n && !m->seen[c]; c = m->nodes[c].next) {
        m->seen[c] = 1;
        m->pending[m->n_pending++] = (struct pending){c, parent};
    }
}

/* Functions that are not selected have no path: their own time is their caller's, and what they call is among its children. */
static bool merge_is_skipped(const struct merge *m, const struct func_node *n)
{
    (void)m;
    return (n->child & (FUNC_RECURSION | FUNC_SKIPPED)) == (FUNC_RECURSION | FUNC_SKIPPED);
}

/* What a node's calls have counted, for its path. Of calls that have not returned it is not known. `skipped`: its calls are not
 * recorded, and its own part is the path's. */
static void merge_counts(const struct merge *m, struct func_profile *p, uint32_t node, uint32_t path, bool skipped)
{
    const struct func_tree_counts *c = m->counts;
    struct func_count_sums *to = p->counters ? &p->path_counts[(size_t)path * p->counters] : NULL;
    size_t known = c && c->counts && p->counters ? c->bytes / sizeof *c->counts / p->counters : 0;
    uint64_t calls = m->nodes[node].calls, open = m->open[node];
    for (uint32_t i = 0; i < p->counters; i++, to++) {
        if (node >= known) {
            to->inclusive_lost += skipped ? 0 : calls;
            to->exclusive_lost += calls;
            continue;
        }
        const struct func_count from = c->counts[(size_t)node * p->counters + i];
        if (!skipped) {
            sum_add(&to->inclusive, &from.inclusive);
            to->inclusive_lost += from.inclusive_lost + open;
        }
        sum_add(&to->exclusive, &from.exclusive);
        to->exclusive.count -= (int64_t)(calls - open - from.exclusive_lost) * c->inner[i];
        to->exclusive_lost += from.exclusive_lost + open;
    }
}

static bool merge_node(struct merge *m, struct func_profile *p, struct pending at, func_number *number, void *arg)
{
    const struct func_node *n = &m->nodes[at.node];
    if (p->paths[at.parent].depth == FUNC_PROFILE_DEPTH_MAX) {
        p->omitted++;
        return true;
    }
    if (merge_is_skipped(m, n)) {
        p->skipped += n->calls;
        if (at.parent != 0)
            merge_counts(m, p, at.node, at.parent, true);
        if (at.parent != 0)
            p->paths[at.parent].sums.exclusive_ns += merge_ns(m, n->exclusive - n->calls * m->inner_ticks);
        return true;
    }
    uint32_t function = number(arg, n->function);
    uint32_t i = function == MAP_NONE ? MAP_NONE : func_profile_path(p, at.parent, function);
    if (i == MAP_NONE)
        return false;
    const struct func_sums sums = {.calls = n->calls,
                                   .inclusive_ns = merge_ns(m, n->inclusive),
                                   .exclusive_ns = merge_ns(m, n->exclusive - n->calls * m->inner_ticks),
                                   .min_ns = merge_ns(m, (uint64_t)n->min),
                                   .max_ns = merge_ns(m, (uint64_t)n->max),
                                   .open = m->open[at.node]};
    func_profile_call(p, i, &sums);
    merge_counts(m, p, at.node, i, false);
    merge_push_children(m, at.node, p->paths[i].recursion ? p->paths[i].recursion : i);
    return true;
}

static bool merge_run(struct merge *m, struct func_profile *p, func_number *number, void *arg)
{
    bool ok = p->n_paths > 0 || func_profile_path(p, 0, FUNC_PROFILE_THREAD) == 0;
    if (ok)
        merge_push_children(m, FUNC_NODE_THREAD, 0);
    while (ok && m->n_pending > 0)
        ok = merge_node(m, p, m->pending[--m->n_pending], number, arg);
    return ok;
}

bool func_profile_add(struct func_profile *p, const struct func_tree *t, size_t bytes, uint64_t end_tick,
                      double ns_per_tick, const struct func_tree_counts *counts, func_number *number, void *arg)
{
    struct merge m = {
        .n = profile_count(t, bytes), .ns_per_tick = ns_per_tick, .inner_ticks = t->inner_ticks, .counts = counts};
    if (m.n < FUNC_NODES_FIXED)
        return true;
    m.nodes = malloc(m.n * sizeof *m.nodes);
    m.seen = calloc(m.n, 1);
    m.open = calloc(m.n, sizeof *m.open);
    m.pending = malloc(m.n * sizeof *m.pending);
    bool ok = m.nodes && m.seen && m.open && m.pending;
    if (ok) {
        memcpy(m.nodes, (const char *)t + t->nodes_at, m.n * sizeof *m.nodes);
        merge_end_open_calls(&m, t, end_tick);
        ok = merge_run(&m, p, number, arg);
    }
    free(m.nodes);
    free(m.seen);
    free(m.open);
    free(m.pending);
    return ok;
}

bool func_profile_drop(struct func_profile *p)
{
    uint32_t *to = calloc(p->n_paths + 1, sizeof *to), kept = 0;
    if (!to)
        return false;
    for (size_t i = 0; i < p->n_paths; i++) {
        struct func_path path = p->paths[i];
        if (i > 0 && path.sums.calls == 0)
            continue;
        path.parent = to[path.parent];
        path.recursion = to[path.recursion];
        path.child = 0;
        path.next = i > 0 ? p->paths[path.parent].child : 0;
        if (i > 0)
            p->paths[path.parent].child = kept;
        to[i] = kept;
        p->paths[kept++] = path;
    }
    p->n_paths = kept;
    map_free(&p->by_parent);
    free(to);
    return true;
}

/* -------------------------------------------------------------------------------------------------------- sums */

static struct func_edge *profile_edge(struct func_profile *p, uint32_t caller, uint32_t callee)
{
    uint32_t i = map_find(&p->by_pair, caller, callee);
    if (i != MAP_NONE)
        return &p->edges[i];
    struct func_edge *all = array_reserve(p->edges, p->n_edges, &p->cap_edges, sizeof *all);
    if (!all)
        return NULL;
    p->edges = all;
    if (!profile_reserve_counts(p, &p->edge_counts, &p->cap_edge_counts, p->cap_edges))
        return NULL;
    i = (uint32_t)p->n_edges;
    if (!map_put(&p->by_pair, caller, callee, i))
        return NULL;
    all[i] = (struct func_edge){.caller = caller, .callee = callee, .counts = i};
    p->n_edges++;
    return &all[i];
}

static void profile_sum_counts(const struct func_profile *p, struct func_count_sums *to,
                               const struct func_count_sums *from, bool outermost)
{
    for (uint32_t i = 0; i < p->counters; i++, to++, from++) {
        if (outermost) {
            sum_add(&to->inclusive, &from->inclusive);
            to->inclusive_lost += from->inclusive_lost;
        }
        sum_add(&to->exclusive, &from->exclusive);
        to->exclusive_lost += from->exclusive_lost;
    }
}

/* A function's inclusive time is that of its outermost calls. */
static bool profile_sum_path(struct func_profile *p, uint32_t i)
{
    const struct func_path *path = &p->paths[i];
    struct func_sums own = path->sums;
    struct func_edge *e = profile_edge(p, p->paths[path->parent].function, path->function);
    if (!e)
        return false;
    sums_add(&e->sums, &own);
    if (p->counters > 0) {
        const struct func_count_sums *counts = p->path_counts + (size_t)i * p->counters;
        profile_sum_counts(p, p->edge_counts + e->counts * p->counters, counts, true);
        profile_sum_counts(p, p->function_counts + (size_t)path->function * p->counters, counts, !path->recursion);
    }
    if (path->recursion)
        own.inclusive_ns = 0;
    sums_add(&p->functions[path->function], &own);
    return true;
}

bool func_profile_sum(struct func_profile *p, size_t n)
{
    p->functions = calloc(n + 1, sizeof *p->functions);
    p->n_functions = n;
    p->function_counts = calloc(n * p->counters + 1, sizeof *p->function_counts);
    bool ok = p->functions && p->function_counts;
    for (uint32_t i = 1; ok && i < p->n_paths; i++)
        ok = p->paths[i].function < n && profile_sum_path(p, i);
    for (uint32_t i = 1; ok && i < p->n_paths; i++)
        if (p->paths[i].parent == 0)
            p->paths[0].sums.inclusive_ns += p->paths[i].sums.inclusive_ns;
    return ok;
}

void func_profile_free(struct func_profile *p)
{
    free(p->paths);
    free(p->functions);
    free(p->edges);
    free(p->path_counts);
    free(p->function_counts);
    free(p->edge_counts);
    map_free(&p->by_parent);
    map_free(&p->by_pair);
    *p = (struct func_profile){0};
}
