/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A tree of calls with weights: from the thread through the functions (or regions) to what was waited for. For formats that
 * show sums and no times. Room: export. Before it: export.c, which adds; after it: the formats of profiles.
 */
#ifndef UPMU_EXPORT_TREE_H
#define UPMU_EXPORT_TREE_H

#include <stdint.h>

#include "base/map.h"

/** What a node is: texts of the symbol tables or of the job, which live longer than the tree. */
struct tree_label {
    char *name;
    char *file;     /**< NULL if not known */
    char *module;   /**< NULL if not known */
    uint32_t line;  /**< where in the file, 0 if not known: the place of the call */
    uint32_t named; /**< of the label with the same name, file and module and line 0: the function itself */
};

struct tree_node {
    uint32_t label, parent;
    uint32_t child, sibling; /**< first child, next of the same parent; 0 = none */
    uint64_t count;          /**< waits, or instances of a region, that ended in this node */
    uint64_t ns;             /**< their time, without what is in nodes below */
    uint64_t *counts;        /**< counters of regions likewise, NULL if none was counted */
};

/** Node 0 is the root of all. */
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
/** The child of `parent` with that label, made if need be. MAP_NONE without memory. */
uint32_t tree_child(struct tree *t, uint32_t parent, uint32_t label);
/** The counters of a node, made if need be; NULL without memory. */
uint64_t *tree_counts(struct tree *t, uint32_t node);
/** Columns of tree_sums(): time, count, then the counters. */
static inline size_t tree_columns(const struct tree *t)
{
    return 2 + t->n_counts;
}
/** What a node has itself: tree_columns() numbers. */
void tree_own(const struct tree *t, uint32_t node, uint64_t *columns);
/** The same of all nodes with what is below them, a row per node; to be freed. NULL without memory. */
uint64_t *tree_sums(const struct tree *t);
void tree_free(struct tree *t);

#endif
