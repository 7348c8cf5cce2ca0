/* SPDX-License-Identifier: MIT */
/** @file Calling-context tree with weights: thread, functions or regions, waits. For formats with sums instead of
 *  times. */
#ifndef UPMU_EXPORT_TREE_H
#define UPMU_EXPORT_TREE_H

#include <stdint.h>

#include "base/map.h"

/** What a label names. */
enum tree_kind { TREE_FUNCTION, TREE_THREAD, TREE_WAIT, TREE_REGION };

/** Label of a node: texts of the symbol tables or of the job, which outlive the tree. */
struct tree_label {
    char *name;
    char *file;              /**< NULL if not known */
    char *module;            /**< NULL if not known */
    int kind;                /**< enum tree_kind */
    uint32_t line;           /**< line of the call in the file, 0 if not known */
    uint32_t function_label; /**< the label of the function itself: same name, file and module, line 0 */
};

struct tree_node {
    uint32_t label, parent;
    uint32_t child, sibling; /**< first child, next of the same parent; 0 = none */
    uint64_t count;          /**< waits, or instances of a region, that ended in this node */
    uint64_t ns;             /**< their time, without that of nodes below */
    uint64_t *counts;        /**< counters of regions likewise, NULL if none was counted */
};

/** Node 0 is the root. */
struct tree {
    struct tree_label *labels;
    size_t n_labels, cap_labels;
    struct map by_text; /**< (hash, line) */
    struct tree_node *nodes;
    size_t n_nodes, cap_nodes;
    struct map by_child; /**< (parent, label) */
    size_t n_counts;     /**< counters per node */
};

/** @return 0; UPMU_E_NOMEM. */
int tree_start(struct tree *t, size_t n_counts);
/** The label with these texts, which are copied. MAP_NONE without memory. */
uint32_t tree_label(struct tree *t, const char *name, const char *file, const char *module, uint32_t line);
/** The label of a thread, wait or region. MAP_NONE without memory. */
uint32_t tree_label_of(struct tree *t, enum tree_kind kind, const char *name);
/** The nearest node of a kind from `node` to the root, itself included; 0: none. */
uint32_t tree_nearest(const struct tree *t, uint32_t node, enum tree_kind kind);
/** The child of `parent` with that label, created if needed. MAP_NONE without memory. */
uint32_t tree_child(struct tree *t, uint32_t parent, uint32_t label);
/** The counters of a node, allocated if needed; NULL without memory. */
uint64_t *tree_counts(struct tree *t, uint32_t node);
/** Number of columns in a row of tree_sums(): time, count, then the counters. */
static inline size_t tree_columns(const struct tree *t)
{
    return 2 + t->n_counts;
}
/** A node's own sums: tree_columns() numbers. */
void tree_own(const struct tree *t, uint32_t node, uint64_t *columns);
/** Sums of all nodes including the nodes below, a row per node; the caller frees them. NULL without memory. */
uint64_t *tree_sums(const struct tree *t);
void tree_free(struct tree *t);

#endif
