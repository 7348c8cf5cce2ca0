/* SPDX-License-Identifier: MIT */
/* Differences and sums of counters, each with its standing. Room: analysis. Before it: region events; after it:
 * regions.c. */
#include "analysis/pass/overview.h"
#include "base/checked.h"

static bool has_number(const struct upmu_value *v)
{
    return v->standing == UPMU_EXACT || v->standing == UPMU_SCALED;
}

static struct upmu_value without(int standing, int cause)
{
    return (struct upmu_value){.value = UPMU_NO_VALUE, .standing = standing, .cause = cause};
}

struct upmu_value value_difference(const struct upmu_value *before, const struct upmu_value *after)
{
    if (after->cause != 0 || before->cause != 0)
        return without(upmu_standing_weakest(before->standing, after->standing),
                       after->cause ? after->cause : before->cause);
    /* A counter that went backwards was reset or replaced: its difference means nothing. */
    if (after->raw < before->raw || after->enabled < before->enabled || after->running < before->running)
        return without(UPMU_NOT_COUNTED, 0);
    struct upmu_value v = {.raw = after->raw - before->raw,
                           .enabled = after->enabled - before->enabled,
                           .running = after->running - before->running};
    /* Switches alone are counted without a time of their own; what has one was exact at no time before it ran. */
    if (before->standing == UPMU_EXACT && after->standing == UPMU_EXACT && after->enabled == 0) {
        v.value = v.raw;
        v.standing = UPMU_EXACT;
        return v;
    }
    /* Between two readings at the same moment of a counter that always counted, nothing happened: that is exact. */
    bool same_moment = v.enabled == 0 && after->running > 0 && after->running == after->enabled;
    if (v.running == 0 && !same_moment)
        return (struct upmu_value){.value = UPMU_NO_VALUE, .enabled = v.enabled, .standing = UPMU_NOT_COUNTED};
    v.standing = v.running >= v.enabled ? UPMU_EXACT : UPMU_SCALED;
    v.value = v.standing == UPMU_EXACT ? v.raw : mul_div_u64(v.raw, v.enabled, v.running);
    return v;
}

void count_add(struct upmu_overview_count *sum, const struct upmu_value *v, bool first)
{
    struct upmu_value *s = &sum->sum;
    uint64_t before = first || s->value == UPMU_NO_VALUE ? 0 : s->value;

    s->standing = first ? v->standing : upmu_standing_weakest(s->standing, v->standing);
    s->cause = s->cause ? s->cause : v->cause;
    s->raw = sat_add_u64(s->raw, v->raw);
    s->enabled = sat_add_u64(s->enabled, v->enabled);
    s->running = sat_add_u64(s->running, v->running);
    sum->without_value += !has_number(v);
    s->value = has_number(s) ? sat_add_u64(before, v->value) : UPMU_NO_VALUE;
}
