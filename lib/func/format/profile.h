/* SPDX-License-Identifier: MIT */
/** @file Sums of recorded calls: the trees of many threads as one, functions, and edges between them. */
#ifndef UPMU_FUNC_PROFILE_H
#define UPMU_FUNC_PROFILE_H

#include <stdbool.h>

#include "base/map.h"
#include "func/format/layout.h"

/** Function number of nodes that are no function: of threads. */
#define FUNC_PROFILE_THREAD UINT32_MAX

enum { FUNC_PROFILE_DEPTH_MAX = 10000 }; /**< different functions on a path */

struct func_sums {
    uint64_t calls;
    uint64_t inclusive_ns; /**< of nested calls the outermost only */
    uint64_t exclusive_ns;
    uint64_t min_ns, max_ns;
    uint64_t open; /**< of `calls`, those that had not returned */
};

/** What calls have counted of an event. */
struct func_count_sums {
    struct func_sum inclusive, exclusive;
    uint64_t inclusive_lost, exclusive_lost; /**< calls without a count */
};

/** What is known of a sum. */
enum func_known { FUNC_COUNT_UNKNOWN, FUNC_COUNT_EXACT, FUNC_COUNT_SCALED };
/** The number of a sum of which `lost` parts are missing: exact if the counter ran all the time. `*value` is set if it is known. */
enum func_known func_sum_value(const struct func_sum *s, uint64_t lost, uint64_t *value);

/** Counts of the nodes of a tree. */
struct func_tree_counts {
    const struct func_count *counts; /**< NULL: there are none */
    size_t bytes;
    int64_t inner[FUNC_COUNTERS_MAX]; /**< own counts of a call */
};

/** Node 0 is all threads. A parent has a lower index than its children. */
struct func_path {
    uint32_t function;
    uint32_t parent, child, next; /**< 0: none */
    uint32_t depth;
    uint32_t recursion; /**< 0, or the node of the active call of the same function */
    struct func_sums sums;
};

struct func_edge {
    uint32_t caller, callee; /**< FUNC_PROFILE_THREAD: called by no recorded function */
    struct func_sums sums;
    size_t counts; /**< index of its counts */
};

/** All zero is an empty profile. */
struct func_profile {
    uint32_t counters; /**< events that calls have counted: set before the first tree is added */
    struct func_count_sums *path_counts, *function_counts, *edge_counts; /**< `counters` of each */
    size_t cap_path_counts, cap_edge_counts;
    struct func_path *paths;
    size_t n_paths, cap_paths;
    struct map by_parent;
    struct func_sums *functions; /**< by number */
    size_t n_functions;
    struct func_edge *edges;
    size_t n_edges, cap_edges;
    struct map by_pair;
    uint64_t calls;   /**< of all nodes */
    uint64_t skipped; /**< calls of functions that were not selected */
    uint64_t omitted; /**< nodes nested too deep */
};

/** Number of a function, from 0 on; MAP_NONE without memory. */
typedef uint32_t func_number(void *arg, uint64_t function);

/** Whether a mapped file of `bytes` bytes has a tree that can be read. */
bool func_tree_is_valid(const struct func_tree *t, size_t bytes);
/** Add a thread's tree and its counts, which may still be written; calls that have not returned end at `end_tick`, if that is after them.
 *  @return false without memory. */
bool func_profile_add(struct func_profile *p, const struct func_tree *t, size_t bytes, uint64_t end_tick,
                      double ns_per_tick, const struct func_tree_counts *counts, func_number *number, void *arg);
/** After the last tree: sum up `n` functions, and edges. @return false without memory. */
bool func_profile_sum(struct func_profile *p, size_t n);
/** The path of `function` called from path `parent`; the first one is 0, of FUNC_PROFILE_THREAD. MAP_NONE without memory. Parents are less
 *  deep than FUNC_PROFILE_DEPTH_MAX. */
uint32_t func_profile_path(struct func_profile *p, uint32_t parent, uint32_t function);
/** Add a call of a path, without counts. */
void func_profile_call(struct func_profile *p, uint32_t path, const struct func_sums *call);
/** Remove the paths without calls, which have no children with some. No path can be added after it. @return false without memory. */
bool func_profile_drop(struct func_profile *p);
void func_profile_free(struct func_profile *p);

#endif
