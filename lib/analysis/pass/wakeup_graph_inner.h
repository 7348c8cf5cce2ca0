/* SPDX-License-Identifier: MIT */
/** @file Access to the wakeup graph for wakeup_graph.c and wakeup_waits.c. */
#ifndef UPMU_ANALYSIS_WAKEUP_GRAPH_INNER_H
#define UPMU_ANALYSIS_WAKEUP_GRAPH_INNER_H

#include "analysis/pass/state.h"

/* NULL and MAP_NONE are returned without memory. */

struct wakeup_object *wakeup_object(struct overview *o, uint32_t object);
/** The thread; created with a NODE_BEGIN, at `time_ns` at the latest. */
struct wakeup_thread *wakeup_thread(struct overview *o, uint32_t thread, uint64_t time_ns);
/** Append a node to a thread in the graph, which sets `thread`, `prev` and `hold`. */
uint32_t wakeup_node_add(struct overview *o, uint32_t thread, struct wakeup_node node);
/** The node of an action of the thread. */
uint32_t wakeup_action(struct overview *o, uint32_t thread, uint64_t time_ns);

#endif
