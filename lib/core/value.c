/* SPDX-License-Identifier: MIT */
/* Standings. Room: core; before it the kernel's reads, after it sets, regions and the trace. */
#include "core/value.h"

#include "base/checked.h"

static struct upmu_value value_of_interval(uint64_t raw, uint64_t enabled, uint64_t running)
{
    struct upmu_value v = {.raw = raw, .enabled = enabled, .running = running};
    if (running == 0) {
        v.value = UPMU_NO_VALUE;
        v.standing = UPMU_NOT_COUNTED;
    } else if (running >= enabled) {
        v.value = raw;
        v.standing = UPMU_EXACT;
    } else {
        v.value = mul_div_u64(raw, enabled, running);
        v.standing = UPMU_SCALED;
    }
    return v;
}

struct upmu_value value_total(const struct reading *r)
{
    return value_of_interval(r->count, r->enabled, r->running);
}

struct upmu_value value_between(const struct reading *before, const struct reading *after)
{
    /* A counter that went backwards was reset or replaced under us: its difference means nothing. */
    if (after->count < before->count || after->enabled < before->enabled || after->running < before->running)
        return value_without(UPMU_NOT_COUNTED, 0);
    uint64_t enabled = after->enabled - before->enabled;
    uint64_t running = after->running - before->running;
    struct upmu_value v = value_of_interval(after->count - before->count, enabled, running);
    if (value_times_exact(before, after)) {
        v.value = v.raw;
        v.standing = UPMU_EXACT;
    }
    return v;
}

struct upmu_value value_without(int standing, int cause)
{
    return (struct upmu_value){.value = UPMU_NO_VALUE, .standing = standing, .cause = cause};
}

bool value_doubt_zero(struct upmu_value *v)
{
    if (v->raw != 0 || (v->standing != UPMU_EXACT && v->standing != UPMU_SCALED))
        return false;
    v->standing = UPMU_NOT_COUNTED;
    v->value = UPMU_NO_VALUE;
    return true;
}

int value_standing_of(int code)
{
    switch (code) {
    case UPMU_E_UNSUPPORTED:
    case UPMU_E_NO_PMU:
    case UPMU_E_NAME:
    case UPMU_E_NO_SYSCALL:
        return UPMU_UNSUPPORTED;
    default:
        return UPMU_REFUSED;
    }
}

void value_add(struct upmu_value *sum, const struct upmu_value *v)
{
    if (v->standing == UPMU_NOT_COUNTED && v->enabled == 0 && v->cause == 0)
        return;
    int weakest = upmu_standing_weakest(sum->standing, v->standing);
    if (sum->standing == UPMU_NOT_COUNTED && sum->enabled == 0 && sum->cause == 0)
        weakest = v->standing; /* the first part that says anything */
    sum->raw = sat_add_u64(sum->raw, v->raw);
    sum->enabled = sat_add_u64(sum->enabled, v->enabled);
    sum->running = sat_add_u64(sum->running, v->running);
    uint64_t have = sum->value == UPMU_NO_VALUE ? 0 : sum->value;
    uint64_t more = v->value == UPMU_NO_VALUE ? 0 : v->value;
    if (sum->cause == 0 || weakest != sum->standing)
        sum->cause = v->cause; /* the cause is that of the standing */
    sum->standing = weakest;
    bool number = weakest == UPMU_EXACT || weakest == UPMU_SCALED;
    sum->value = number ? sat_add_u64(have, more) : UPMU_NO_VALUE;
}

const char *upmu_standing_name(int standing)
{
    static const char *const names[] = {
        [UPMU_NOT_COUNTED] = "not counted", [UPMU_EXACT] = "exact",
        [UPMU_SCALED] = "scaled",           [UPMU_REFUSED] = "refused",
        [UPMU_UNSUPPORTED] = "unsupported",
    };
    if (standing < 0 || standing > UPMU_UNSUPPORTED)
        return "?";
    return names[standing];
}

static int standing_rank(int standing)
{
    switch (standing) {
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

int upmu_standing_weakest(int a, int b)
{
    return standing_rank(a) >= standing_rank(b) ? a : b;
}
