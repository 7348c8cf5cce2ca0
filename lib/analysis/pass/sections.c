/* SPDX-License-Identifier: MIT */
/*
 * Counter values over waits and holds.
 *
 * COUNTERS is recorded right before the event it belongs to, with the same tick and object. Only waits and holds with
 * counters at both ends are summed up; `n` is their number.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/pass/handlers.h"
#include "analysis/pass/values.h"

int snapshot_record(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    struct ov_snapshot *m = &o->threads[thread].snapshot;
    if (e->n_values > m->n) {
        struct upmu_value *values = reallocarray(m->values, e->n_values, sizeof *values);
        if (!values)
            return overview_no_memory();
        m->values = values;
    }
    m->n = e->n_values;
    m->tick = e->tick;
    m->object = e->object;
    if (m->n > 0)
        memcpy(m->values, e->values, m->n * sizeof *m->values);
    return 0;
}

/* The counters of this event; NULL if they were not recorded. */
static const struct ov_snapshot *section_snapshot(const struct overview *o, uint32_t thread,
                                                  const struct upmu_trace_event *e)
{
    const struct ov_snapshot *m = &o->threads[thread].snapshot;
    return m->n > 0 && m->tick == e->tick && m->object == e->object ? m : NULL;
}

int section_begin(struct overview *o, uint32_t thread, const struct upmu_trace_event *e, struct ov_section *s)
{
    const struct ov_snapshot *m = section_snapshot(o, thread, e);
    section_free(s);
    if (!m)
        return 0;
    s->before = malloc(m->n * sizeof *s->before);
    if (!s->before)
        return overview_no_memory();
    memcpy(s->before, m->values, m->n * sizeof *s->before);
    s->n = m->n;
    s->begin_ns = e->time_ns;
    return 0;
}

void section_free(struct ov_section *s)
{
    free(s->before);
    *s = (struct ov_section){0};
}

static int section_sum_allocate(struct ov_section_sums *sum, size_t n)
{
    if (sum->counts)
        return 0;
    sum->counts = calloc(n, sizeof *sum->counts);
    sum->n_counts = n;
    return sum->counts ? 0 : overview_no_memory();
}

int section_end(struct overview *o, uint32_t thread, const struct upmu_trace_event *e, struct ov_section *s,
                struct ov_section_sums *sum)
{
    const struct ov_snapshot *m = section_snapshot(o, thread, e);
    if (!m || !s->before || s->n != m->n) {
        section_free(s);
        return 0;
    }
    int rc = section_sum_allocate(sum, m->n);
    for (size_t i = 0; rc == 0 && i < m->n && i < sum->n_counts; i++) {
        struct upmu_value v = value_difference(&s->before[i], &m->values[i]);
        count_add(&sum->counts[i], &v, sum->n == 0);
    }
    if (rc == 0) {
        sum->n++;
        sum->ns += e->time_ns - s->begin_ns;
    }
    section_free(s);
    return rc;
}
