/* SPDX-License-Identifier: MIT */
/* Counts of functions, call paths and edges, as values with a status. */
#include "functions/functions.h"

#include "base/error.h"
#include "base/opts.h"

size_t upmu_functions_counter_count(const struct upmu_functions *functions)
{
    return functions ? functions->n_counters : 0;
}

int upmu_functions_counter_at(const struct upmu_functions *functions, size_t i, struct upmu_function_counter *out)
{
    if (!functions || !out)
        return ARGUMENT_NULL(functions, out);
    if (i >= functions->n_counters)
        return UPMU_E_END;
    const struct func_counter *c = &functions->counters[i];
    int64_t own = c->inner + c->outer;
    const struct upmu_function_counter counter = {
        .name = c->name, .reason = c->reason, .cause = c->cause, .call_counts = own > 0 ? (uint64_t)own : 0};
    return OPTS_GIVE(out, counter, UPMU_FUNCTION_COUNTER_SIZE_V1);
}

static uint64_t counts_positive(int64_t n)
{
    return n > 0 ? (uint64_t)n : 0;
}

static struct upmu_value counts_value(const struct func_counter *c, const struct func_sum *s, uint64_t without)
{
    static const int32_t statuses[] = {
        [FUNC_COUNT_UNKNOWN] = UPMU_NOT_COUNTED, [FUNC_COUNT_EXACT] = UPMU_EXACT, [FUNC_COUNT_SCALED] = UPMU_SCALED};
    struct upmu_value v = {.value = UPMU_NO_VALUE,
                           .raw = counts_positive(s->count),
                           .enabled = counts_positive(s->enabled),
                           .running = counts_positive(s->running),
                           .cause = c->cause};
    if (c->cause == 0)
        v.status = statuses[func_sum_value(s, without, &v.value)];
    else
        v.status = c->cause == UPMU_E_UNSUPPORTED || c->cause == UPMU_E_NO_PMU ? UPMU_UNSUPPORTED : UPMU_REFUSED;
    return v;
}

/* The sums of a row; NULL: there is none. */
static const struct func_count_sums *counts_row(const struct upmu_functions *f, int rows, size_t i)
{
    const struct func_profile *p = &f->profile;
    if (rows == UPMU_FUNCTION_ROWS && i < f->n_called)
        return p->function_counts + (size_t)f->order[i].row * p->counters;
    if (rows == UPMU_FUNCTION_EDGE_ROWS && i < p->n_edges)
        return p->edge_counts + p->edges[i].counts * p->counters;
    if (rows == UPMU_FUNCTION_PATH_ROWS && i < p->n_paths)
        return p->path_counts + i * p->counters;
    return NULL;
}

int upmu_functions_counts_read(const struct upmu_functions *functions, int rows, size_t i, size_t counter,
                               struct upmu_function_counts *out)
{
    if (!functions || !out)
        return ARGUMENT_NULL(functions, out);
    if (rows < UPMU_FUNCTION_ROWS || rows > UPMU_FUNCTION_PATH_ROWS)
        return upmu_fail(UPMU_E_INVAL,
                         "upmu_functions_counts_read: `rows` is %d, a value of enum upmu_function_rows is needed",
                         rows);
    if (counter >= functions->n_counters)
        return UPMU_E_END;
    const struct func_count_sums *s = counts_row(functions, rows, i);
    if (!s)
        return UPMU_E_END;
    const struct func_counter *c = &functions->counters[counter];
    s += counter;
    const struct upmu_function_counts counts = {.inclusive = counts_value(c, &s->inclusive, s->inclusive_lost),
                                                .exclusive = counts_value(c, &s->exclusive, s->exclusive_lost),
                                                .inclusive_without = s->inclusive_lost,
                                                .exclusive_without = s->exclusive_lost};
    return OPTS_GIVE(out, counts, UPMU_FUNCTION_COUNTS_SIZE_V1);
}
