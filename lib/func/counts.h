/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Counts of a thread's calls: events of regions (UPMU_EVENTS), read at each call and return.
 *
 * Sums of nodes are in a file beside the tree, those of open calls in memory: what a call has counted is known when it returns.
 */
#ifndef UPMU_FUNC_COUNTS_H
#define UPMU_FUNC_COUNTS_H

#include "func/state.h"
#include "region/recorder.h"

/** One reading of all counters. */
struct func_reading {
    uint32_t n; /**< 0: none could be read */
    struct recorder_count now[RECORDER_EVENTS_MAX];
};

/** Which events are counted: after the trace was opened, in the first thread. @return 0; UPMU_E_INVAL (UPMU_FUNC_COUNTERS). */
int func_counts_start(void);
/** Store the names and causes for the readers. */
void func_counts_describe(struct func_process_header *h);
/** Event `i`. */
const struct func_counter *func_counts_counter(uint32_t i);
/** Space for the counts of a new tree. @return false: its calls have none, which is recorded. */
bool func_counts_new(struct func_tree *t);
/** Reserve space for the counts of nodes below `nodes`. Async-signal-safe. @return false without space. */
bool func_counts_reserve(struct func_tree *t, uint32_t nodes);
/** A new node has counted nothing. */
void func_counts_clear_node(struct func_tree *t, uint32_t node);

void func_counts_read(struct func_reading *r);
/** Call of frame `f` begins. */
void func_counts_begin(struct func_tree *t, struct func_frame *f);
/** It ends at a reading; NULL: at an unknown one. `outermost`: no call of the same node is active. */
void func_counts_end(struct func_tree *t, struct func_frame *f, bool outermost, const struct func_reading *r);

/** Own cost: least counts of a call, inside and around it, of measured calls of the first node. */
void func_counts_measure_begin(struct func_reading *r);
void func_counts_measure_end(const struct func_tree *t, uint32_t node, const struct func_reading *before,
                             uint32_t calls);
/** What was measured is subtracted from now on. */
void func_counts_measured(struct func_process_header *h);

#endif
