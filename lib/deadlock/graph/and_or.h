/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Nodes of an AND-OR graph that can never continue.
 *
 * A node can continue once `need` of its targets can: all of them, one of them, or any number between. The nodes that can are the least
 * fixed point; the others are blocked. Pure functions: no allocation, all memory is the caller's.
 */
#ifndef UPMU_DEADLOCK_GRAPH_AND_OR_H
#define UPMU_DEADLOCK_GRAPH_AND_OR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AO_NONE UINT32_MAX

struct ao_node {
    uint32_t need; /**< targets that must be able to continue; 0: it runs */
    /* Output. */
    bool can;       /**< it can continue */
    bool core;      /**< it is part of a smallest set of blocked nodes that wait for nothing but each other */
    uint32_t group; /**< number of that set, or of one that it waits for; AO_NONE: it can continue */
};

struct ao_edge {
    uint32_t from, to; /**< nodes; `to` AO_NONE: nothing can ever do that */
    bool never;        /**< `to` will not do that, whether it can continue or not */
};

struct ao_graph {
    struct ao_node *nodes;
    uint32_t n_nodes;
    const struct ao_edge *edges;
    uint32_t n_edges;
    uint32_t *work;    /**< ao_work() elements */
    uint32_t n_groups; /**< output */
};

/** Elements of `work`. */
size_t ao_work(uint32_t n_nodes, uint32_t n_edges);

/** Find the blocked nodes and the groups that they form. */
void ao_solve(struct ao_graph *g);

#endif
