/* SPDX-License-Identifier: MIT */
/* Records of regions in a thread: creation and sums. */
#include "region/region.h"

struct region_record *region_record_new(struct region_thread *t, uint32_t id)
{
    if (t->n_records >= REGION_NAMES_MAX)
        return NULL;
    uint32_t index = t->n_records;
    struct region_record *r = (struct region_record *)(void *)(t->records + index * upmu_regions.record_bytes);
    r->id = id;
    r->threads = 1;
    __atomic_store_n(&t->record_of[id], (uint16_t)(index + 1), __ATOMIC_RELEASE);
    __atomic_store_n(&t->n_records, index + 1, __ATOMIC_RELEASE);
    return r;
}

static void record_sum_merge(struct region_sum *into, const struct region_sum *s)
{
    if (s->count == 0)
        return;
    if (into->count == 0 || s->min < into->min)
        into->min = s->min;
    if (s->max > into->max)
        into->max = s->max;
    into->count += s->count;
    into->sum += s->sum;
    into->last = s->last;
    into->squares += s->squares;
}

static void record_event_merge(struct region_event_sum *into, const struct region_event_sum *e)
{
    bool first = into->sum.count == 0 && into->without_value == 0;
    if (e->sum.count == 0 && e->without_value == 0)
        return;
    into->status = first ? e->status : upmu_status_weakest(into->status, e->status);
    into->cause = into->cause ? into->cause : e->cause;
    into->enabled += e->enabled;
    into->running += e->running;
    into->without_value += e->without_value;
    record_sum_merge(&into->sum, &e->sum);
}

void region_record_merge(struct region_record *into, const struct region_record *r)
{
    into->count += r->count;
    into->self += r->self;
    into->descheduled += r->descheduled;
    into->deschedule_unknown += r->deschedule_unknown;
    into->open += r->open;
    into->threads += r->threads;
    record_sum_merge(&into->wall, &r->wall);
    for (size_t i = 0; i < upmu_regions.list.n; i++)
        record_event_merge(&into->events[i], &r->events[i]);
}

void region_misuse_add(struct region_misuse *into, const struct region_misuse *m)
{
    uint64_t *a = (uint64_t *)into;
    const uint64_t *b = (const uint64_t *)m;
    for (size_t i = 0; i < sizeof *into / sizeof *a; i++)
        a[i] += __atomic_load_n(&b[i], __ATOMIC_RELAXED);
}

void region_record_leave_late(struct region_record *r, uint64_t late)
{
    for (size_t i = 0; late && i < upmu_regions.list.n; i++) {
        struct region_event_sum *e = &r->events[i];
        if (!(late >> i & 1) || e->sum.count + e->without_value == 0)
            continue;
        e->without_value += e->sum.count;
        e->sum = (struct region_sum){0};
        e->enabled = e->running = 0;
        e->status = upmu_status_weakest(e->status, UPMU_NOT_COUNTED);
        e->cause = UPMU_E_PARTIAL;
    }
}
