/* SPDX-License-Identifier: MIT */
/** @file Values and their status, computed from counts and times. No other file decides a status. */
#ifndef UPMU_CORE_VALUE_H
#define UPMU_CORE_VALUE_H

#include <stdbool.h>

#include "upmu/upmu.h"

/** A cumulative reading of one counter. */
struct reading {
    uint64_t count;
    uint64_t enabled; /**< ns */
    uint64_t running; /**< ns */
    /** The count is current, the times are older. The counter was running at that older time and is running now. */
    bool stale;
};

/** The value of everything counted so far; not counted if the counter never ran. */
struct upmu_value value_total(const struct reading *r);

/** The value of the interval between two readings. Exact if the counter ran all the time it was enabled. An
 *  interval shorter than the step of the kernel's clock has no times: it is exact if the counter has always run.
 *  With stale times in `before` and a counter that did not run all the time since, the counted time is unknown: the
 *  interval is not counted. */
struct upmu_value value_between(const struct reading *before, const struct reading *after);

/** Whether value_between() makes every non-decreasing count with these times exact: evaluated once for all counters
 *  of a group, which share their times. */
static inline bool value_times_exact(const struct reading *before, const struct reading *after)
{
    if (after->enabled < before->enabled || after->running < before->running)
        return false;
    uint64_t enabled = after->enabled - before->enabled, running = after->running - before->running;
    bool shorter_than_a_step = enabled == 0 && after->running == after->enabled && after->running > 0;
    if (before->stale && after->running != after->enabled)
        return false; /* the counter was multiplexed at an unknown time */
    return running >= enabled && (running > 0 || shorter_than_a_step);
}

/** Whether a count is impossible for its time: virtual PMUs have been seen to add 2^47 to a 48-bit counter now and
 *  then (AMD guests). No CPU event comes 10,000 times per nanosecond. */
static inline bool value_is_jump(uint64_t raw, uint64_t running)
{
    return __builtin_expect(raw >> 40 != 0, 0) && raw / 10000 > running;
}

enum { VALUE_CORE_TYPES_MAX = 4 };

/**
 * The value of an interval of one event that has one counter per core type. A thread runs on one core type at a
 * time: each counter runs for a part of the time, and together they run for all of it.
 *
 * The readings of the core types are not simultaneous. If one counter ran all the time, the thread stayed there and
 * the sum is exact; otherwise up to 20 us and 0.1 % of the time may be missing for an exact sum.
 * @param n core types, at least 1
 * @param by_type out, may be NULL: the count on each; times are those on that type
 */
struct upmu_value value_of_core_types(const struct reading *before, const struct reading *after, size_t n,
                                      struct upmu_value *by_type);

/** The weighted sum of terms over the same interval: a number only if every term has one, with the weakest status
 *  of the terms. A sum below 0 or beyond 64 bits is not counted, with UPMU_E_RANGE. Traced path. */
struct upmu_value value_weighted(const struct upmu_value *terms, const int32_t *weights, size_t n);

/** A value without a number. */
struct upmu_value value_without(int status, int cause);

/** Remove the number from a value of 0 that may mean that the CPU lacks the event. @return whether it was such a
 *  value. */
bool value_doubt_zero(struct upmu_value *v);

/** The status for a cause: unsupported if it can never work here, not counted if it ran for a part of the time,
 *  else refused. */
int value_status_of(int code);

/** sum += v. Exact only if all parts are; a part that was never enabled (its thread slept) changes nothing. */
void value_add(struct upmu_value *sum, const struct upmu_value *v);

#endif
