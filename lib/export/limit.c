/* SPDX-License-Identifier: MIT */
/*
 * Limit of timelines.
 *
 * Viewers do not open files of gigabytes. A reading ahead of the export picks the longest spans; of spans of one length it
 * picks by a sequence that spreads them evenly over the recording. A span is known by its number in the order of begins,
 * which is the same in each reading. Nesting stays proper, as a span is left out with both its ends.
 */
#include "export/limit.h"

#include <stdlib.h>

#include "base/error.h"

enum { LIMIT_BUFFER = 2 * EXPORT_LIMIT };

/* Multiples of the golden ratio's fraction: any run of numbers is spread evenly over all values. */
static uint64_t limit_spread(uint64_t number)
{
    return number * 0x9e3779b97f4a7c15u;
}

static int limit_by_length(const void *a, const void *b)
{
    const struct limit_span *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    uint64_t i = limit_spread(x->number), j = limit_spread(y->number);
    return i < j ? -1 : i > j;
}

static int limit_by_number(const void *a, const void *b)
{
    const struct limit_span *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void limit_cut(struct limit *l)
{
    if (l->n <= EXPORT_LIMIT)
        return;
    qsort(l->spans, l->n, sizeof *l->spans, limit_by_length);
    l->n = EXPORT_LIMIT;
    l->least = l->spans[EXPORT_LIMIT - 1];
    l->full = true;
}

int limit_offer(struct limit *l, uint64_t number, uint64_t ns)
{
    const struct limit_span span = {.number = number, .ns = ns};
    if (l->full && limit_by_length(&span, &l->least) > 0)
        return 0;
    if (!l->spans)
        l->spans = calloc(LIMIT_BUFFER, sizeof *l->spans);
    if (!l->spans)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while picking what to export");
    l->spans[l->n++] = span;
    if (l->n == LIMIT_BUFFER)
        limit_cut(l);
    return 0;
}

static struct limit_points *limit_points_of(struct limit *l, const struct upmu_trace_event *e)
{
    return e->kind == UPMU_TRACE_MARK ? &l->marks : &l->readings;
}

void limit_count(struct limit *l, const struct upmu_trace_event *e)
{
    limit_points_of(l, e)->n += e->kind == UPMU_TRACE_MARK ? 1 : e->n_values;
}

void limit_picked(struct limit *l)
{
    limit_cut(l);
    if (l->n > 1)
        qsort(l->spans, l->n, sizeof *l->spans, limit_by_number);
    l->marks.step = (l->marks.n + EXPORT_LIMIT - 1) / EXPORT_LIMIT;
    l->readings.step = (l->readings.n + EXPORT_LIMIT - 1) / EXPORT_LIMIT;
    l->omitted = l->begun - l->n;
    l->begun = 0;
    l->picking = false;
    l->picked = true;
}

uint64_t limit_begin(struct limit *l, bool *shown)
{
    *shown = !l->picked || (l->next < l->n && l->spans[l->next].number == l->begun);
    if (l->picked && *shown)
        l->next++;
    return l->begun++;
}

bool limit_shows(struct limit *l, const struct upmu_trace_event *e)
{
    struct limit_points *p = limit_points_of(l, e);
    bool is_point = e->kind == UPMU_TRACE_MARK || e->n_values > 0;
    return !l->picked || !is_point || p->step <= 1 || p->seen++ % p->step == 0;
}

void limit_free(struct limit *l)
{
    free(l->spans);
}
