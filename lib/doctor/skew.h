/* SPDX-License-Identifier: MIT */
/** @file Clock offsets between CPUs, bounded by messages between them. */
#ifndef UPMU_DOCTOR_SKEW_H
#define UPMU_DOCTOR_SKEW_H

#include <stdint.h>

/** Bounds of one CPU's clock offset to the first CPU: it is ahead by `low` to `high` ticks. */
struct skew_pair {
    int64_t low, high;
    uint64_t rounds; /**< messages with an answer; 0: no bounds */
};

/** Clock offsets of all CPUs, in ticks. */
struct skew {
    unsigned allowed;  /**< CPUs that the caller may run on */
    unsigned compared; /**< of them, the first one and those that answered in time */
    uint64_t at_most;  /**< upper bound of all offsets */
    uint64_t at_least; /**< lower bound of the largest offset; 0: no message seemed to arrive before it was sent */
    int64_t lowest, highest;      /**< of all bounds; those of the first CPU are 0 */
    int64_t most_low, least_high; /**< the greatest `low` and the smallest `high` */
};

/** Start with the first CPU only. */
void skew_begin(struct skew *s, unsigned allowed);
/** Add a message: its times sent, there and back, each by the local CPU's clock. */
void skew_note(struct skew_pair *p, uint64_t sent, uint64_t there, uint64_t back);
/** Add one more CPU. A pair without rounds changes nothing. */
void skew_join(struct skew *s, const struct skew_pair *p);

/** The tick of clock.c, ordered with all memory accesses around it. clock_start() must have run. */
uint64_t skew_tick(void);

/** Compare the CPUs that the calling thread may run on with the first of them, by two threads at a time on fixed
 *  CPUs. The caller's affinity is unchanged. @param now skew_tick(), or another clock to test @param budget_ns
 *  approximate time limit: a busy CPU is not compared @return 0, or -errno if the CPUs cannot be listed. */
int skew_measure(uint64_t (*now)(void), uint64_t budget_ns, struct skew *s);

#endif
