/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Clock of a trace: conversion of ticks to nanoseconds.
 *
 * The conversion is linear: time = realtime of the origin + ticks since the origin / frequency. The kernel derives
 * CLOCK_MONOTONIC_RAW from the same counter with a fixed factor, so a line is exact and the longest baseline gives the
 * best frequency. Steps and slewing of the time of day after the origin have no effect.
 */
#ifndef UPMU_TRACE_CLOCKMAP_H
#define UPMU_TRACE_CLOCKMAP_H

#include <stdint.h>

#include "base/clock.h"

struct textbuf;

/** A CTF clock: time of tick t in seconds since 1970 is offset_s + (offset + t) / hz. */
struct clock_map {
    uint64_t hz;
    int64_t offset_s;
    uint64_t offset; /**< ticks, less than hz */
};

/** The tick source that is not a counter of the CPU: its ticks are nanoseconds. */
#define CLOCK_MAP_PORTABLE "CLOCK_MONOTONIC_RAW"

/** Shorter baselines do not give a better frequency than the one measured when recording began. */
#define CLOCK_MAP_BASELINE_NS UINT64_C(2000000)

/** Ticks per second between two moments, rounded; 0 if `b` is not later than `a` on both clocks. */
uint64_t clock_map_hz(const struct clock_triple *a, const struct clock_triple *b);

/** The line of slope `hz` (not 0) through `origin`. */
void clock_map_set(struct clock_map *map, const struct clock_triple *origin, uint64_t hz);

/** Nanoseconds since 1970 of `tick`, never less for a later tick; cut to what 64 bits hold. */
uint64_t clock_map_ns(const struct clock_map *map, uint64_t tick);

/** The last result of clock_map_ns(), so that a tick soon after it costs one 64-bit division. All zero at first; for one
 *  map only. */
struct clock_steps {
    uint64_t tick; /**< last converted */
    uint64_t ns;   /**< of it, less the offset's part */
    uint64_t rest; /**< of that division */
    int64_t offset_ns;
    uint64_t reach; /**< ticks after `tick` for which the fast path is exact; 0: use the slow path */
};

/** The same number as clock_map_ns(). */
uint64_t clock_steps_ns(struct clock_steps *steps, const struct clock_map *map, uint64_t tick);

/** The clock of another host, measured twice: its time at two of our ticks. */
struct clock_reference {
    uint32_t points;   /**< 0: none; 1: measured at the start only; 2: also at the end */
    uint32_t reserved; /**< 0 */
    uint64_t error_ns; /**< the times are off by at most that much; 0: this host is the reference itself */
    uint64_t raw_ns;   /**< CLOCK_MONOTONIC_RAW of this host at the first tick */
    struct {
        uint64_t tick;
        uint64_t ns;       /**< of the reference, since 1970 */
        uint64_t round_ns; /**< round trip of the message that found it; 0: this host is the reference itself */
    } at[2];
    char host[64]; /**< name of the reference */
};

/** Time of the reference at `tick`, by the line through both points, or of slope `hz` through the only one. */
uint64_t clock_reference_ns(const struct clock_reference *r, uint64_t hz, uint64_t tick);

/** The clock of this host as the reference has it: the same line, with a slope of whole ticks per second. Off by at most half a tick
 *  per second from the middle of both points on. */
void clock_map_refer(struct clock_map *map, const struct clock_reference *r, uint64_t hz);

/** The TSDL clock block, from "clock {" to "};" and a newline. `uuid` identifies machine and boot: readers treat clocks
 *  of equal uuid as one clock. `width` is the uncertainty of the origin in ticks. */
void clock_map_text(struct textbuf *out, const struct clock_map *map, const char *uuid, uint32_t width);

#endif
