/* SPDX-License-Identifier: MIT */
/** @file Turning counts and times into values with their status. Room: core; before it the kernel's reads, after it
 *  sets, regions and the trace. The only place where a status is decided. */
#ifndef UPMU_CORE_VALUE_H
#define UPMU_CORE_VALUE_H

#include <stdbool.h>

#include "upmu/upmu.h"

/** A cumulative reading of one counter. */
struct reading {
    uint64_t count;
    uint64_t enabled; /**< ns */
    uint64_t running; /**< ns */
    /** The count is of now, the times are of some moment before it, up to which it ran all the time and since then, too. */
    bool stale;
};

/** The value of everything counted so far: not counted if it never ran. */
struct upmu_value value_total(const struct reading *r);

/**
 * The value of the interval between two readings. Exact if it ran all the time it was enabled. An interval shorter
 * than the step of the kernel's clock has no times of its own: it counts as exact if the counter was running all along.
 * With stale times before and a counter that had to wait since, there is no telling for which time the count stands: the
 * interval is not counted.
 */
struct upmu_value value_between(const struct reading *before, const struct reading *after);

/** Whether value_between() makes every count exact whose readings have these times and that did not go backwards: asked
 *  once for all counters of a group, which share their times. */
static inline bool value_times_exact(const struct reading *before, const struct reading *after)
{
    if (after->enabled < before->enabled || after->running < before->running)
        return false;
    uint64_t enabled = after->enabled - before->enabled, running = after->running - before->running;
    bool shorter_than_a_step = enabled == 0 && after->running == after->enabled && after->running > 0;
    if (before->stale && after->running != after->enabled)
        return false; /* when the time was lost is known, since when it is counted here is not */
    return running >= enabled && (running > 0 || shorter_than_a_step);
}

/**
 * Whether a count cannot have happened in the time it was counted: virtual PMUs have been seen to add 2^47 to a 48-bit counter
 * now and then (AMD guests). Nothing that a CPU counts comes 10,000 times a nanosecond.
 */
static inline bool value_is_jump(uint64_t raw, uint64_t running)
{
    return __builtin_expect(raw >> 40 != 0, 0) && raw / 10000 > running;
}

enum { VALUE_KINDS_MAX = 4 };

/**
 * The value of an interval of one event that is counted on each kind of core by a counter of its own. A thread is on one
 * kind at a time: each counter runs for a part of the time, and together they run for all of it.
 *
 * The readings of the kinds are not of one instant. If one of them ran all along, the thread was there, and nothing is
 * in doubt; else what is missing of the whole time may be up to 20 us and a thousandth of it for the count to be exact.
 * @param n       kinds, at least 1
 * @param by_kind out, may be NULL: what was counted on each; times are those on that kind
 */
struct upmu_value value_of_kinds(const struct reading *before, const struct reading *after, size_t n,
                                 struct upmu_value *by_kind);

/**
 * The weighted sum of terms over the same interval: a number only if all have one, and worth as much as the weakest. A sum
 * below 0 or beyond 64 bits is not counted, with UPMU_E_RANGE. Traced path.
 */
struct upmu_value value_weighted(const struct upmu_value *terms, const int32_t *weights, size_t n);

/** A value without a number. */
struct upmu_value value_without(int status, int cause);

/** Take the number from a value of 0 that may as well mean that the CPU lacks the event. @return whether it was one. */
bool value_doubt_zero(struct upmu_value *v);

/** The status for a cause: unsupported for what can never work here, not counted for what ran in part, else refused. */
int value_status_of(int code);

/** sum += v. Exact only if all parts are; a part that was never enabled (its thread slept) takes nothing away. */
void value_add(struct upmu_value *sum, const struct upmu_value *v);

#endif
