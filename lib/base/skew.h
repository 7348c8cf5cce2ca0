/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How far the ticks of different CPUs are apart: a message goes to another CPU and back, and its ticks bound what that
 * CPU's clock can be. Room: base; before it the tick, after it the doctor.
 */
#ifndef UPMU_BASE_SKEW_H
#define UPMU_BASE_SKEW_H

#include <stdint.h>

/** What is known of one CPU's clock against the first one's: it is ahead by `low` to `high` ticks. */
struct skew_pair {
    int64_t low, high;
    uint64_t rounds; /**< messages that came back; without any nothing is known */
};

/** What is known of all CPUs, in ticks. */
struct skew {
    unsigned allowed;        /**< CPUs that the caller may run on */
    unsigned compared;       /**< of them, the first one and those that answered it in time */
    uint64_t at_most;        /**< no two of the compared clocks are further apart */
    uint64_t at_least;       /**< two of them are so far apart; 0: no message was seen to arrive before it was sent */
    int64_t lowest, highest; /**< of the bounds of all, the first one's included, which are 0 */
    int64_t most_low, least_high; /**< the greatest `low` and the least `high` of them */
};

/** Nothing is known but the first CPU. */
void skew_begin(struct skew *s, unsigned allowed);
/** A message was `sent`, was `there`, and was `back`, each by its CPU's clock. */
void skew_note(struct skew_pair *p, uint64_t sent, uint64_t there, uint64_t back);
/** One more CPU is known. A pair without rounds changes nothing. */
void skew_join(struct skew *s, const struct skew_pair *p);

/** The tick of clock.c, not read before what stands before it, nor after what stands behind it. clock_start() has run. */
uint64_t skew_tick(void);

/**
 * Compare the CPUs that the calling thread may run on with the first of them, by two threads at a time that each have one
 * of the CPUs. The caller's own affinity stays as it is.
 * @param now       skew_tick(), or another clock to be judged
 * @param budget_ns no more time than that is taken, about: a busy CPU stays without comparison
 * @return 0, or -errno if it cannot be told which CPUs there are.
 */
int skew_measure(uint64_t (*now)(void), uint64_t budget_ns, struct skew *s);

#endif
