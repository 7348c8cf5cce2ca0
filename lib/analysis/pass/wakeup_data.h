/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The wakeup graph: which thread's action ended which thread's wait.
 *
 * The critical path, the gains of shorter critical sections, and the waits between threads are computed from it. A node is
 * recorded only where a path can turn, so the number of nodes is that of the waits, not of the events: a release is a
 * node only if a thread waits for the lock. Hold times between two nodes of a thread are kept as sums.
 */
#ifndef UPMU_ANALYSIS_WAKEUP_DATA_H
#define UPMU_ANALYSIS_WAKEUP_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "upmu/analysis.h"

enum node_kind {
    NODE_BEGIN,  /**< of the thread; `cause` is its creation */
    NODE_ACTION, /**< an action that may have ended the wait of another thread */
    NODE_WAIT,   /**< a wait begins */
    NODE_RESUME, /**< after a wait, which `cause` ended */
    NODE_END,    /**< of the thread, or of its recording */
};

/** A point in a thread's execution. Indices are MAP_NONE where there is none. */
struct wakeup_node {
    uint64_t time_ns;
    uint32_t thread;
    uint32_t prev;   /**< the preceding node of the thread */
    uint32_t cause;  /**< the node of another thread that this one depends on */
    uint32_t object; /**< NODE_WAIT, NODE_RESUME: the object waited for */
    uint32_t hold;   /**< first of the holds since `prev` */
    uint16_t kind;   /**< enum node_kind */
    bool
        in_vain; /**< a resumption after which the thread found nothing to do, and nodes up to its next wait for the same */
};

/** How long a thread held an object between two of its nodes. */
struct wakeup_hold {
    uint64_t ns;
    uint32_t object;
    uint32_t next;
};

struct wakeup_thread {
    uint32_t last;      /**< its latest node */
    uint32_t hold;      /**< first of the holds since then */
    uint32_t waits_for; /**< the object waited for, while `last` is the begin of the wait */
    uint32_t canceled;  /**< node of the last request to cancel it; MAP_NONE: none */
};

struct wakeup_object {
    uint32_t waiters;     /**< threads that wait for it */
    uint32_t armed;       /**< of a mutex: signaled threads that need it to resume */
    uint32_t cause;       /**< the last node that could have ended a wait for it */
    uint32_t mutex;       /**< of a condition variable: the mutex of its last wait */
    uint32_t arrived;     /**< of a barrier: threads that wait in the present round */
    uint32_t leaving;     /**< threads of the preceding round that have not resumed yet */
    uint32_t round_cause; /**< the last arrival of that round */
    bool watched;         /**< part of a multi-word futex wait: its waiters are not counted */
};

/** Waits of one thread that another one ended or could have ended earlier. */
struct wakeup_pair {
    uint32_t waiter, other; /**< threads; `other` MAP_NONE: not known. It may have its first event after the window */
    struct upmu_wait_sum waits;
};

struct wakeup_graph {
    bool disabled;             /**< by a pass without end, which would accumulate nodes without bound */
    struct wakeup_node *nodes; /**< in time order, but for NODE_BEGIN */
    size_t n_nodes, cap_nodes;
    struct wakeup_hold *holds;
    size_t n_holds, cap_holds;
    struct wakeup_thread *threads; /**< by index of the thread */
    size_t n_threads, cap_threads;
    struct wakeup_object *objects; /**< by index of the object */
    size_t n_objects, cap_objects;
    struct wakeup_pair *pairs; /**< longest total first after wakeup_finish() */
    size_t n_pairs, cap_pairs;
    struct map by_created, by_pair;
};

#endif
