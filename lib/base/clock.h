/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The recorder's clock: which tick source is used, its frequency, and moments read on all clocks at once. Room: base.
 * tick.h reads it on the fast path.
 */
#ifndef UPMU_BASE_CLOCK_H
#define UPMU_BASE_CLOCK_H

#include <stdint.h>

/** One moment on every clock. */
struct clock_triple {
    uint64_t tick;
    uint64_t raw_ns;       /**< CLOCK_MONOTONIC_RAW */
    uint64_t monotonic_ns; /**< CLOCK_MONOTONIC */
    uint64_t realtime_ns;  /**< CLOCK_REALTIME */
    uint32_t width;        /**< ticks between the two tick readings around the clocks: the moment's uncertainty */
};

/** Decide the tick source and remember the first triple; cheap after the first call, thread safe. */
void clock_start(void);
/** Where ticks come from: "TSC", "CNTVCT_EL0", "rdtime.d", "rdtime", "CLOCK_MONOTONIC_RAW". */
const char *clock_source(void);
/** Why the CPU's own counter is not used; "" when it is. */
const char *clock_source_reason(void);
/** Read a triple (the tightest of a few tries). Signal safe. */
void clock_sample(struct clock_triple *t);
/** Ticks per second fitted to MONOTONIC_RAW from clock_start() until now; waits until at least `min_ns` have passed
 *  since clock_start(), so that the fit means something. The longer the run, the better. CLOCK_MONOTONIC_RAW itself has
 *  1e9 at once. */
double clock_hz(uint64_t min_ns);
/** The first triple. */
const struct clock_triple *clock_origin(void);

#endif
