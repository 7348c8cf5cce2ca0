/* SPDX-License-Identifier: MIT */
/** @file What the files of the graph share (chain.c, chain_waits.c). Room: analysis. */
#ifndef UPMU_ANALYSIS_CHAIN_INNER_H
#define UPMU_ANALYSIS_CHAIN_INNER_H

#include "analysis/pass/overview.h"

/* NULL and MAP_NONE are returned without memory. */

struct chain_object *chain_object(struct overview *o, uint32_t object);
/** The thread, which begins with its first moment, at `time_ns` at the latest. */
struct chain_thread *chain_thread(struct overview *o, uint32_t thread, uint64_t time_ns);
/** A new moment of a thread that is known; `thread`, `prev` and `share` of `stop` are filled in here. */
uint32_t chain_stop(struct overview *o, uint32_t thread, struct chain_stop stop);
/** The moment in which the thread does something for others. */
uint32_t chain_at(struct overview *o, uint32_t thread, uint64_t time_ns);

#endif
