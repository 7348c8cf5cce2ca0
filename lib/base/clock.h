/* SPDX-License-Identifier: MIT */
/** @file Tick source of the recorder: selection, frequency, and readings of all clocks. tick.h has the fast path. */
#ifndef UPMU_BASE_CLOCK_H
#define UPMU_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/** One moment on every clock. */
struct clock_triple {
    uint64_t tick;
    uint64_t raw_ns;       /**< CLOCK_MONOTONIC_RAW of the host */
    uint64_t monotonic_ns; /**< CLOCK_MONOTONIC of the host */
    uint64_t realtime_ns;  /**< CLOCK_REALTIME */
    uint32_t width;        /**< ticks between the two tick readings around the clocks: the uncertainty */
};

/** Choose the tick source and record the first triple; cheap after the first call, thread safe. */
void clock_start(void);
/** A forked child, whose parent may have made a time namespace for it: before its first times. While no other thread records. */
void clock_renew(void);
/** Name of the tick source: "TSC", "CNTVCT_EL0", "rdtime.d", "rdtime", "drdtime", "rtc", "CLOCK_MONOTONIC_RAW". */
const char *clock_source(void);
/** Why the CPU's own counter is not used; "" if it is. */
const char *clock_source_reason(void);
/** Read a triple (the tightest of a few tries). Signal safe. */
void clock_sample(struct clock_triple *t);
/** Whether CLOCK_MONOTONIC_RAW of `earlier`, of another process, is this process's: else both are in different time namespaces. */
bool clock_is_same_since(const struct clock_triple *earlier, const struct clock_triple *now);
/** Fit the frequency from this earlier triple of the same clocks on, of another process; the first call with a plausible one decides.
 *  While no other thread calls this. */
void clock_fit_from(const struct clock_triple *earlier);
/** Ticks per second, fitted to MONOTONIC_RAW from clock_start(), or clock_fit_from(), until now: the longer, the more precise.
 *  Busy-waits until at least `min_ns` have passed since then, unless the source is CLOCK_MONOTONIC_RAW itself: then 1e9 at once. */
double clock_hz(uint64_t min_ns);
/** For tests, UPMU_TEST_CLOCK: a number of the host whose clocks this process has; 0: those of the machine. */
uint64_t clock_test_host(void);
/** The first triple. */
const struct clock_triple *clock_origin(void);

#endif
