/* SPDX-License-Identifier: MIT */
/** @file Call paths as text: the hottest one, and the tree of those with the largest shares. */
#ifndef UPMU_TOOL_CALL_TREE_H
#define UPMU_TOOL_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ui/output.h"

/** A call path; path 0 is the root, 0 as `child` or `next` is none. */
struct call_path {
    uint32_t function, parent, child, next, depth;
    bool recursion; /**< its weight is that of the active call of the same function, too */
    uint64_t weight, count;
};

/** Where paths and names come from. */
struct call_tree {
    const void *arg;
    size_t n;
    uint64_t total;
    bool is_time; /**< weights are nanoseconds */
    bool (*path_at)(const void *arg, uint32_t i, struct call_path *out);
    char *(*name)(const void *arg, uint32_t function); /**< to be freed */
};

/** From the root to the child with the largest weight, and so on. */
void call_tree_write_hottest(struct output *out, const struct call_tree *tree);
/** The paths with the largest weights, with those above them: four for each of `top` rows. */
void call_tree_write(struct output *out, const struct call_tree *tree, size_t top);

#endif
