/* SPDX-License-Identifier: MIT */
/* Regions: pairs of begin and end, and the counters between them. */
#include <stdlib.h>
#include <string.h>

#include "analysis/pass/handlers.h"
#include "analysis/pass/values.h"

/* Name of the region over a thread's lifetime (UPMU_REGION_THREADS). */
#define LIFE_REGION "(thread)"

/* Names with equal hashes use consecutive keys. */
static uint64_t region_name_hash(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        h = (h ^ *c) * 0x100000001b3u;
    return h;
}

static uint32_t region_new(struct overview *o, const struct upmu_trace_event *e, uint64_t key)
{
    struct ov_region *all = array_reserve(o->regions, o->n_regions, &o->cap_regions, sizeof *all);
    if (!all)
        return MAP_NONE;
    o->regions = all;
    struct ov_region r = {.process = e->process, .pid = e->pid, .min_ns = UPMU_NO_VALUE, .n_counts = e->n_values};
    r.name = strdup(e->name);
    r.counts = calloc(e->n_values + 1, sizeof *r.counts);
    if (!r.name || !r.counts || !map_put(&o->by_region, e->process, key, (uint32_t)o->n_regions)) {
        free(r.name);
        free(r.counts);
        return MAP_NONE;
    }
    all[o->n_regions] = r;
    return (uint32_t)o->n_regions++;
}

static uint32_t region_of(struct overview *o, const struct upmu_trace_event *e)
{
    for (uint64_t key = region_name_hash(e->name);; key++) {
        uint32_t found = map_find(&o->by_region, e->process, key);
        if (found == MAP_NONE)
            return region_new(o, e, key);
        if (strcmp(o->regions[found].name, e->name) == 0)
            return found;
    }
}

/* Records the present value of the thread's context-switch counter. */
static void region_note_switches(struct overview *o, struct ov_thread *t, const struct upmu_trace_event *e)
{
    size_t i = o->processes[t->process].switches;
    if (i < e->n_values)
        t->switches = e->values[i];
}

/* Calls the timeline hook for the begin (`before` NULL) or the end. */
static int region_notify(struct overview *o, uint32_t thread, uint32_t region, uint64_t begin_ns,
                         const struct upmu_value *before, const struct upmu_trace_event *e)
{
    const struct timeline_hooks *h = o->hooks;
    int (*hook)(void *, const struct span *) = h ? (before ? h->end : h->begin) : NULL;
    const struct span s = {.kind = SPAN_REGION,
                           .thread = thread,
                           .what = region,
                           .begin_ns = begin_ns,
                           .end_ns = before ? e->time_ns : 0,
                           .holder = MAP_NONE,
                           .finished = before != NULL,
                           .before = before ? before : e->values,
                           .after = before ? e->values : NULL,
                           .n_values = e->n_values};
    return hook ? hook(h->arg, &s) : 0;
}

static int region_begin(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    struct ov_thread *t = &o->threads[thread];
    uint32_t region = region_of(o, e);
    if (region == MAP_NONE)
        return overview_no_memory();
    region_note_switches(o, t, e);
    if (t->n_open == UPMU_REGION_DEPTH_MAX) {
        o->unmatched++;
        return 0;
    }
    if (t->n_open == t->cap_open) {
        struct open_region *open = array_reserve(t->open, t->n_open, &t->cap_open, sizeof *open);
        if (!open)
            return overview_no_memory();
        t->open = open;
        struct upmu_value *values = reallocarray(t->open_values, t->cap_open, sizeof *values * UPMU_REGION_EVENTS_MAX);
        if (!values)
            return overview_no_memory();
        t->open_values = values;
    }
    size_t n = e->n_values < UPMU_REGION_EVENTS_MAX ? e->n_values : UPMU_REGION_EVENTS_MAX;
    t->open[t->n_open] = (struct open_region){.region = region, .begin_ns = e->time_ns};
    if (n > 0)
        memcpy(&t->open_values[t->n_open * UPMU_REGION_EVENTS_MAX], e->values, n * sizeof *e->values);
    t->n_open++;
    return region_notify(o, thread, region, e->time_ns, NULL, e);
}

static void region_add_counts(struct upmu_overview_count *counts, size_t n_counts, bool first,
                              const struct upmu_value *before, const struct upmu_trace_event *e)
{
    size_t n = e->n_values < n_counts ? e->n_values : n_counts;
    for (size_t i = 0; i < n && i < UPMU_REGION_EVENTS_MAX; i++) {
        struct upmu_value v = value_difference(&before[i], &e->values[i]);
        count_add(&counts[i], &v, first);
    }
}

static void region_add(struct ov_region *r, uint64_t ns, const struct upmu_value *before,
                       const struct upmu_trace_event *e)
{
    region_add_counts(r->counts, r->n_counts, r->count == 0, before, e);
    r->count++;
    r->wall_ns += ns;
    r->min_ns = ns < r->min_ns ? ns : r->min_ns;
    r->max_ns = ns > r->max_ns ? ns : r->max_ns;
}

/* A part of a region: the counters at one of its ends are not known. */
static void region_add_cut(struct ov_region *r, uint64_t ns)
{
    static const struct upmu_value none[UPMU_REGION_EVENTS_MAX];
    const struct upmu_value unknown = {.value = UPMU_NO_VALUE, .status = UPMU_NOT_COUNTED};
    const struct upmu_trace_event e = {.n_values = 0};
    for (size_t i = 0; i < r->n_counts; i++)
        count_add(&r->counts[i], &unknown, r->count == 0);
    region_add(r, ns, none, &e);
}

/* Adds the counts of a thread's lifetime region to the thread. */
static int thread_add_lifetime(struct ov_thread *t, const struct upmu_value *before, const struct upmu_trace_event *e)
{
    bool first = t->counts == NULL;
    if (first && !(t->counts = calloc(e->n_values + 1, sizeof *t->counts)))
        return overview_no_memory();
    if (first)
        t->n_counts = e->n_values;
    region_add_counts(t->counts, t->n_counts, first, before, e);
    return 0;
}

static int region_end(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    struct ov_thread *t = &o->threads[thread];
    uint32_t region = region_of(o, e);
    size_t at = t->n_open;
    if (region == MAP_NONE)
        return overview_no_memory();
    region_note_switches(o, t, e);
    while (at > 0 && t->open[at - 1].region != region)
        at--;
    if (at == 0) {
        o->unmatched++;
        return 0;
    }
    /* Inner regions without an end are closed, too; their duration is not known. */
    for (size_t i = at; i < t->n_open; i++)
        o->regions[t->open[i].region].unfinished++;
    t->n_open = at - 1;
    const struct upmu_value *before = &t->open_values[(at - 1) * UPMU_REGION_EVENTS_MAX];
    if (t->open[at - 1].cut) {
        region_add_cut(&o->regions[region], e->time_ns - t->open[at - 1].begin_ns);
        return 0;
    }
    region_add(&o->regions[region], e->time_ns - t->open[at - 1].begin_ns, before, e);
    int rc = region_notify(o, thread, region, t->open[at - 1].begin_ns, before, e);
    if (rc != 0)
        return rc;
    return strcmp(e->name, LIFE_REGION) == 0 ? thread_add_lifetime(t, before, e) : 0;
}

void regions_abandon(struct overview *o, uint32_t thread, bool cut)
{
    struct ov_thread *t = &o->threads[thread];
    for (size_t i = 0; i < t->n_open; i++) {
        struct ov_region *r = &o->regions[t->open[i].region];
        if (cut && t->end_ns > t->open[i].begin_ns)
            region_add_cut(r, t->end_ns - t->open[i].begin_ns);
        else if (!cut)
            r->unfinished++;
    }
    t->n_open = 0;
}

/* The thread's open regions but that of its life have no end. */
static int region_discard(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    struct ov_thread *t = &o->threads[thread];
    int (*hook)(void *, const struct span *) = o->hooks ? o->hooks->end : NULL;
    size_t life = t->n_open > 0 && strcmp(o->regions[t->open[0].region].name, LIFE_REGION) == 0;
    int rc = 0;
    while (rc == 0 && t->n_open > life) {
        const struct open_region *open = &t->open[--t->n_open];
        const struct span s = {.kind = SPAN_REGION,
                               .thread = thread,
                               .what = open->region,
                               .begin_ns = open->begin_ns,
                               .end_ns = e->time_ns,
                               .holder = MAP_NONE};
        o->regions[open->region].unfinished++;
        rc = hook && !open->cut ? hook(o->hooks->arg, &s) : 0;
    }
    return rc;
}

static int regions_discard(struct overview *o, const struct upmu_trace_event *e)
{
    uint32_t of = e->thread.peer ? map_find(&o->by_tid, e->process, (uint32_t)e->thread.peer) : MAP_NONE;
    int rc = of != MAP_NONE ? region_discard(o, of, e) : 0;
    for (uint32_t i = 0; rc == 0 && e->thread.peer == 0 && i < o->n_threads; i++)
        if (o->threads[i].process == e->process)
            rc = region_discard(o, i, e);
    return rc;
}

int region_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    if (e->kind == UPMU_TRACE_REGIONS_DISCARDED)
        return regions_discard(o, e);
    return e->kind == UPMU_TRACE_REGION_BEGIN ? region_begin(o, thread, e) : region_end(o, thread, e);
}
