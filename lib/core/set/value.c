/* SPDX-License-Identifier: MIT */
/* Values and their status, computed from counts and times. */
#include "core/set/value.h"

#include "base/text/name.h"
#include "base/checked.h"

static struct upmu_value value_from_interval(uint64_t raw, uint64_t enabled, uint64_t running)
{
    struct upmu_value v = {.raw = raw, .enabled = enabled, .running = running};
    if (running == 0 || value_is_jump(raw, running)) {
        v.value = UPMU_NO_VALUE;
        v.status = UPMU_NOT_COUNTED;
        v.cause = running > 0 ? UPMU_E_JUMP : 0;
    } else if (running >= enabled) {
        v.value = raw;
        v.status = UPMU_EXACT;
    } else {
        v.value = mul_div_u64(raw, enabled, running);
        v.status = UPMU_SCALED;
    }
    return v;
}

struct upmu_value value_total(const struct reading *r)
{
    return value_from_interval(r->count, r->enabled, r->running);
}

/* A counter that went backwards was reset or replaced: the difference is meaningless. */
static bool value_is_backwards(const struct reading *before, const struct reading *after)
{
    return after->count < before->count || after->enabled < before->enabled || after->running < before->running;
}

/* Counted during an unknown part of this time. The non-zero time keeps a sum from treating it as a thread that
 * slept. */
static struct upmu_value value_unknown(uint64_t enabled)
{
    struct upmu_value v = value_without(UPMU_NOT_COUNTED, 0);
    v.enabled = enabled > 0 ? enabled : 1;
    return v;
}

/* Stale times at the start of an interval in which the counter did not always run. */
static bool value_is_unknown(const struct reading *before, const struct reading *after)
{
    return before->stale && after->running != after->enabled;
}

struct upmu_value value_between(const struct reading *before, const struct reading *after)
{
    if (value_is_backwards(before, after))
        return value_without(UPMU_NOT_COUNTED, 0);
    uint64_t enabled = after->enabled - before->enabled;
    uint64_t running = after->running - before->running;
    if (value_is_unknown(before, after))
        return value_unknown(enabled);
    struct upmu_value v = value_from_interval(after->count - before->count, enabled, running);
    if (value_times_exact(before, after) && !value_is_jump(v.raw, running)) {
        v.value = v.raw;
        v.status = UPMU_EXACT;
    }
    return v;
}

/* Whether parts were counted for the whole time, within the precision of successive readings. */
static bool value_is_whole(uint64_t running, uint64_t enabled)
{
    const uint64_t reading_ns = 20000;
    uint64_t missing = running < enabled ? enabled - running : 0;
    return running > 0 && missing <= reading_ns && missing <= enabled / 1000;
}

static struct upmu_value value_from_parts(const struct upmu_value *parts, const struct reading *after, size_t n)
{
    struct upmu_value sum = {0};
    uint64_t enabled_ever = 0, running_ever = 0;
    bool all_along = false; /* the thread stayed on one core type */
    for (size_t k = 0; k < n; k++) {
        all_along = all_along || parts[k].status == UPMU_EXACT;
        sum.raw = sat_add_u64(sum.raw, parts[k].raw);
        sum.running = sat_add_u64(sum.running, parts[k].running);
        running_ever = sat_add_u64(running_ever, after[k].running);
        sum.enabled = parts[k].enabled > sum.enabled ? parts[k].enabled : sum.enabled;
        enabled_ever = after[k].enabled > enabled_ever ? after[k].enabled : enabled_ever;
    }
    bool shorter_than_a_step = sum.enabled == 0 && value_is_whole(running_ever, enabled_ever);
    if (value_is_jump(sum.raw, sum.running))
        return value_without(UPMU_NOT_COUNTED, UPMU_E_JUMP);
    if (!all_along && !shorter_than_a_step && !value_is_whole(sum.running, sum.enabled))
        return value_from_interval(sum.raw, sum.enabled, sum.running);
    sum.running = sum.enabled;
    sum.value = sum.raw;
    sum.status = UPMU_EXACT;
    return sum;
}

struct upmu_value value_of_core_types(const struct reading *before, const struct reading *after, size_t n,
                                      struct upmu_value *by_type)
{
    struct upmu_value parts[VALUE_CORE_TYPES_MAX];
    for (size_t k = 0; k < n; k++) {
        if (value_is_backwards(&before[k], &after[k]))
            return value_without(UPMU_NOT_COUNTED, 0);
        parts[k] = value_between(&before[k], &after[k]);
        if (value_is_unknown(&before[k], &after[k]))
            return parts[k];
    }
    struct upmu_value sum = n == 1 ? parts[0] : value_from_parts(parts, after, n);
    for (size_t k = 0; by_type && k < n; k++) {
        by_type[k] = (struct upmu_value){.raw = parts[k].raw,
                                         .value = UPMU_NO_VALUE,
                                         .enabled = parts[k].running,
                                         .running = parts[k].running,
                                         .status = sum.status,
                                         .cause = sum.cause};
        if (sum.status == UPMU_EXACT)
            by_type[k].value = parts[k].raw;
        if (sum.status == UPMU_SCALED)
            by_type[k].value = mul_div_u64(parts[k].raw, sum.enabled, sum.running);
    }
    return sum;
}

/* Sums of the positive and of the negative terms. */
struct weighted {
    uint64_t added, taken;
    bool overflow;
};

static void weighted_add(struct weighted *w, uint64_t count, int32_t weight)
{
    uint64_t product, factor = (uint64_t)(weight < 0 ? -(int64_t)weight : weight);
    uint64_t *side = weight < 0 ? &w->taken : &w->added;
    w->overflow |= __builtin_mul_overflow(count, factor, &product) || __builtin_add_overflow(*side, product, side);
}

static bool weighted_in_range(const struct weighted *w)
{
    return !w->overflow && w->added >= w->taken;
}

struct upmu_value value_weighted(const struct upmu_value *terms, const int32_t *weights, size_t n)
{
    struct upmu_value sum = terms[0];
    struct weighted raw = {0}, value = {0};
    for (size_t i = 0; i < n; i++) {
        int weakest = upmu_status_weakest(sum.status, terms[i].status);
        sum.cause = weakest == sum.status ? sum.cause : terms[i].cause;
        sum.status = weakest;
        sum.enabled = terms[i].enabled > sum.enabled ? terms[i].enabled : sum.enabled;
        sum.running = terms[i].running < sum.running ? terms[i].running : sum.running;
        weighted_add(&raw, terms[i].raw, weights[i]);
        if (terms[i].value != UPMU_NO_VALUE)
            weighted_add(&value, terms[i].value, weights[i]);
    }
    bool number = sum.status == UPMU_EXACT || sum.status == UPMU_SCALED;
    bool in_range = weighted_in_range(&value) && value.added - value.taken != UPMU_NO_VALUE;
    sum.raw = weighted_in_range(&raw) ? raw.added - raw.taken : raw.overflow ? UINT64_MAX : 0;
    sum.value = number && in_range ? value.added - value.taken : UPMU_NO_VALUE;
    if (number && !in_range) {
        sum.status = UPMU_NOT_COUNTED;
        sum.cause = UPMU_E_RANGE;
    }
    return sum;
}

struct upmu_value value_without(int status, int cause)
{
    return (struct upmu_value){.value = UPMU_NO_VALUE, .status = status, .cause = cause};
}

bool value_doubt_zero(struct upmu_value *v)
{
    if (v->raw != 0 || (v->status != UPMU_EXACT && v->status != UPMU_SCALED))
        return false;
    v->status = UPMU_NOT_COUNTED;
    v->value = UPMU_NO_VALUE;
    return true;
}

int value_status_of(int code)
{
    switch (code) {
    case UPMU_E_UNSUPPORTED:
    case UPMU_E_NO_PMU:
    case UPMU_E_NAME:
    case UPMU_E_NO_SYSCALL:
        return UPMU_UNSUPPORTED;
    case UPMU_E_PARTIAL:
    case UPMU_E_JUMP:
    case UPMU_E_RANGE:
        return UPMU_NOT_COUNTED;
    default:
        return UPMU_REFUSED;
    }
}

void value_add(struct upmu_value *sum, const struct upmu_value *v)
{
    if (v->status == UPMU_NOT_COUNTED && v->enabled == 0 && v->cause == 0)
        return;
    int weakest = upmu_status_weakest(sum->status, v->status);
    if (sum->status == UPMU_NOT_COUNTED && sum->enabled == 0 && sum->cause == 0)
        weakest = v->status; /* the first part with a value */
    sum->raw = sat_add_u64(sum->raw, v->raw);
    sum->enabled = sat_add_u64(sum->enabled, v->enabled);
    sum->running = sat_add_u64(sum->running, v->running);
    uint64_t have = sum->value == UPMU_NO_VALUE ? 0 : sum->value;
    uint64_t more = v->value == UPMU_NO_VALUE ? 0 : v->value;
    if (sum->cause == 0 || weakest != sum->status)
        sum->cause = v->cause; /* the cause is that of the status */
    sum->status = weakest;
    bool number = weakest == UPMU_EXACT || weakest == UPMU_SCALED;
    sum->value = number ? sat_add_u64(have, more) : UPMU_NO_VALUE;
}

const char *upmu_status_name(int status)
{
    static const char *const names[] = {
        [UPMU_NOT_COUNTED] = "not counted", [UPMU_EXACT] = "exact",
        [UPMU_SCALED] = "scaled",           [UPMU_REFUSED] = "refused",
        [UPMU_UNSUPPORTED] = "unsupported",
    };
    return NAME_OF(names, status);
}

static int value_status_rank(int status)
{
    switch (status) {
    case UPMU_EXACT:
        return 0;
    case UPMU_SCALED:
        return 1;
    case UPMU_NOT_COUNTED:
        return 2;
    case UPMU_REFUSED:
        return 3;
    default:
        return 4;
    }
}

int upmu_status_weakest(int a, int b)
{
    return value_status_rank(a) >= value_status_rank(b) ? a : b;
}
