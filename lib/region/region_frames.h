/* SPDX-License-Identifier: MIT */
/** @file Begin and end of regions in a thread: the traced path. */
#ifndef UPMU_REGION_FRAMES_H
#define UPMU_REGION_FRAMES_H

#include "region/region.h"

/** Rare code, kept out of line so that the frequent path needs fewer registers. */
#define COLD __attribute__((cold, noinline))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/** The recorder works on the thread's stack between these two: a signal handler is refused and counted. */
static inline void recorder_enter(struct region_thread *t)
{
    __atomic_store_n(&t->busy, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline int recorder_leave(struct region_thread *t, int rc)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&t->busy, 0, __ATOMIC_RELAXED);
    return rc;
}

static inline struct region_frame *frame_at(const struct region_thread *t, uint32_t depth)
{
    return (struct region_frame *)(void *)(t->frames + depth * upmu_regions.frame_bytes);
}

/** Begin region `id`, inside the recorder. @return 0, UPMU_E_LIMIT (counted). */
int region_push(struct region_thread *t, uint32_t id);
/** End it and the regions inside it that are still open, inside the recorder. @return 0, UPMU_E_STATE (counted). */
int region_pop(struct region_thread *t, uint32_t id);

/** Smallest cost in ticks of a begin and an end that aggregate, without the trace, into a record that reports skip.
 *  @return false if the thread is nested too deep to try. */
bool region_pair_cost(struct region_thread *t, uint64_t *begin, uint64_t *end);

/** Begin the region of a new thread's life, and end it with the thread: open regions inside it stay open. Without
 *  UPMU_REGION_THREADS neither does anything. */
void region_life_begin(struct region_thread *t);
bool region_life_is_open(const struct region_thread *t);
void region_life_end(struct region_thread *t);
/** The thread ends: its open regions are counted, and the trace has where they end. */
void region_leave_open(struct region_thread *t);

/** Record the thread's counters for the event of that tick about `object` that follows; if `*tick` is 0 it is set to the time
 *  after the reading. Traced path. @return false if there are none, or they could not be written (which is counted). */
bool region_counters(struct region_thread *t, uint64_t *tick, uint64_t object);

#endif
