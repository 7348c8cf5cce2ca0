/* SPDX-License-Identifier: MIT */
/* Overhead of a set: the counts of an empty start and stop. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "core/set/set.h"

enum { OVERHEAD_TRIES = 32 };

static bool overhead_is_number(const struct upmu_value *v)
{
    return v->status == UPMU_EXACT || v->status == UPMU_SCALED;
}

/* Keep the smallest difference of each event. */
static void overhead_keep_least(struct upmu_value *least, const struct upmu_value *before,
                                const struct upmu_value *after, size_t n, bool first)
{
    for (size_t i = 0; i < n; i++) {
        struct upmu_value v = after[i];
        if (overhead_is_number(&before[i]) && overhead_is_number(&after[i])) {
            v.value -= before[i].value;
            v.raw -= before[i].raw;
            v.enabled -= before[i].enabled;
            v.running -= before[i].running;
        }
        if (first || !overhead_is_number(&v) || (overhead_is_number(&least[i]) && v.value < least[i].value))
            least[i] = v;
    }
}

/* What part i has counted so far: by its event, or without one from start to stop. */
static int overhead_reading(struct set_instance *in, size_t i, struct reading *now)
{
    if (!set_is_eventless(&in->counters.counter[i]))
        return counters_reading(&in->counters, in->words, i, now);
    *now = reading_since(&in->base[i], in->stopped[i]);
    return 0;
}

/* Advance the set's baseline past the counts of the tries. */
static void overhead_move_baseline(struct set_instance *in, size_t n, const struct reading *before)
{
    struct reading now;
    for (size_t i = 0; i < n; i++) {
        if (overhead_reading(in, i, &now) < 0)
            continue;
        struct reading tries = reading_since(&before[i], now);
        reading_advance(&in->base[i], &tries);
    }
}

static int overhead_try(struct upmu_set *set, struct upmu_value *least, struct upmu_value *before,
                        struct upmu_value *after)
{
    size_t n = set->list.n;
    int rc = upmu_set_read(set, before, n);
    for (int i = 0; i < OVERHEAD_TRIES && rc >= 0; i++) {
        rc = upmu_set_start(set);
        if (rc == 0)
            rc = upmu_set_stop(set);
        if (rc == 0)
            rc = upmu_set_read(set, after, n);
        if (rc >= 0)
            overhead_keep_least(least, before, after, n, i == 0);
        memcpy(before, after, n * sizeof *after);
    }
    return rc;
}

static int overhead_measure(struct upmu_set *set, struct upmu_value *least)
{
    struct set_instance *in = set->instances[0];
    size_t n = set->list.n, parts = set->list.n_all;
    struct upmu_value *values = calloc(2 * n, sizeof *values);
    struct reading *before = calloc(parts + 1, sizeof *before);
    if (!values || !before) {
        free(values);
        free(before);
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    }
    bool started = set->started;
    set->started = true; /* a set that was never started reads as zeros */
    counters_read(&in->counters, in->words);
    for (size_t i = 0; i < parts; i++)
        (void)overhead_reading(in, i, &before[i]);
    int rc = overhead_try(set, least, values, values + n);
    counters_read(&in->counters, in->words);
    overhead_move_baseline(in, parts, before);
    set->started = started;
    free(values);
    free(before);
    return rc < 0 ? rc : (int)n;
}

int upmu_set_overhead(struct upmu_set *set, struct upmu_value *values, size_t n)
{
    if (!set || !values)
        return ARGUMENT_NULL(set, values);
    if (n < set->list.n)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_overhead: `n` is %zu, the set has %zu events", n, set->list.n);
    if (!set_is_callers(set))
        return set_foreign(set, "upmu_set_overhead");
    if (set->opts.target != UPMU_TARGET_THREAD)
        return upmu_fail(UPMU_E_STATE,
                         "upmu_set_overhead: the overhead is measured for sets with target UPMU_TARGET_THREAD only");
    if (set->running)
        return upmu_fail(UPMU_E_STATE, "upmu_set_overhead: the set is running. Stop it first");
    return overhead_measure(set, values);
}
