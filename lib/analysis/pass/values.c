/* SPDX-License-Identifier: MIT */
/* Differences and sums of counter values and of wait times. */
#include "analysis/pass/values.h"

#include "base/checked.h"

static bool value_has_number(const struct upmu_value *v)
{
    return v->status == UPMU_EXACT || v->status == UPMU_SCALED;
}

static struct upmu_value value_without_number(int status, int cause)
{
    return (struct upmu_value){.value = UPMU_NO_VALUE, .status = status, .cause = cause};
}

struct upmu_value value_difference(const struct upmu_value *before, const struct upmu_value *after)
{
    if (after->cause != 0 || before->cause != 0)
        return value_without_number(upmu_status_weakest(before->status, after->status),
                                    after->cause ? after->cause : before->cause);
    /* A counter that decreased was reset or replaced. */
    if (after->raw < before->raw || after->enabled < before->enabled || after->running < before->running)
        return value_without_number(UPMU_NOT_COUNTED, 0);
    struct upmu_value v = {.raw = after->raw - before->raw,
                           .enabled = after->enabled - before->enabled,
                           .running = after->running - before->running};
    /* Context switches have no enabled time; a perf event without enabled time has not run yet. */
    if (before->status == UPMU_EXACT && after->status == UPMU_EXACT && after->enabled == 0) {
        v.value = v.raw;
        v.status = UPMU_EXACT;
        return v;
    }
    /* Two readings at the same time of a counter that was never multiplexed: the difference is exactly 0. */
    bool same_moment = v.enabled == 0 && after->running > 0 && after->running == after->enabled;
    if (v.running == 0 && !same_moment)
        return (struct upmu_value){.value = UPMU_NO_VALUE, .enabled = v.enabled, .status = UPMU_NOT_COUNTED};
    v.status = v.running >= v.enabled ? UPMU_EXACT : UPMU_SCALED;
    v.value = v.status == UPMU_EXACT ? v.raw : mul_div_u64(v.raw, v.enabled, v.running);
    return v;
}

void count_add(struct upmu_overview_count *sum, const struct upmu_value *v, bool first)
{
    struct upmu_value *s = &sum->sum;
    uint64_t before = first || s->value == UPMU_NO_VALUE ? 0 : s->value;

    s->status = first ? v->status : upmu_status_weakest(s->status, v->status);
    s->cause = s->cause ? s->cause : v->cause;
    s->raw = sat_add_u64(s->raw, v->raw);
    s->enabled = sat_add_u64(s->enabled, v->enabled);
    s->running = sat_add_u64(s->running, v->running);
    sum->without_value += !value_has_number(v);
    s->value = value_has_number(s) ? sat_add_u64(before, v->value) : UPMU_NO_VALUE;
}

void wait_sum_add(struct upmu_wait_sum *sum, uint64_t ns)
{
    sum->count++;
    sum->total_ns += ns;
    if (ns > sum->max_ns)
        sum->max_ns = ns;
}

void wait_sum_add_unfinished(struct upmu_wait_sum *sum, uint64_t ns)
{
    sum->unfinished++;
    sum->unfinished_ns += ns;
}
