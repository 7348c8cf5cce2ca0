/* SPDX-License-Identifier: MIT */
/* Who waited for whom, and the critical path, as the public structs have them. Room: analysis. Before it: path.c; after
 * it: tools, through include/upmu/analysis.h. */
#include "analysis/public.h"
#include "base/error.h"
#include "base/opts.h"

static int give(void *out, size_t size, const void *ours, size_t known)
{
    if (!opts_give(out, size, known, ours, known))
        return upmu_fail(UPMU_E_INVAL, "this struct has at least %zu bytes, not %zu: set its size", known, size);
    return 0;
}

static int no_place(void)
{
    return upmu_fail(UPMU_E_INVAL, "no overview, no such process, or no place for what it says");
}

/* Where a thread or object of the pass stands among those that callers know. */
static uint32_t place_of(const uint32_t *places, uint32_t number)
{
    return number == MAP_NONE ? UINT32_MAX : places[number];
}

int upmu_overview_pair_at(const struct upmu_overview *overview, size_t i, struct upmu_overview_pair *out)
{
    if (!overview || !out)
        return no_place();
    const struct overview *o = &overview->pass;
    if (i >= o->chain.n_pairs)
        return UPMU_E_NAME;
    const struct chain_pair *p = &o->chain.pairs[i];
    const struct upmu_overview_pair ours = {
        .process = o->threads[p->waiter].process,
        .waiter = place_of(o->thread_place, p->waiter),
        .other = place_of(o->thread_place, p->other),
        .waiter_tid = o->threads[p->waiter].tid,
        .other_tid = p->other == MAP_NONE ? 0 : o->threads[p->other].tid,
        .waits = p->waits,
    };
    return give(out, out->size, &ours, sizeof ours);
}

int upmu_overview_path_read(const struct upmu_overview *overview, size_t process, struct upmu_overview_path *out)
{
    if (!overview || !out || process >= overview->pass.paths.n)
        return no_place();
    const struct path *p = &overview->pass.paths.of[process];
    const struct upmu_overview_path ours = {
        .begin_ns = p->begin_ns,
        .end_ns = p->end_ns,
        .run_ns = p->run_ns,
        .wake_ns = p->wake_ns,
        .unknown_ns = p->unknown_ns,
        .handoffs = p->handoffs,
        .n_segments = p->n_segments,
        .n_objects = p->n_locks,
    };
    return give(out, out->size, &ours, sizeof ours);
}

int upmu_overview_path_segment_at(const struct upmu_overview *overview, size_t process, size_t i,
                                  struct upmu_overview_path_segment *out)
{
    if (!overview || !out || process >= overview->pass.paths.n)
        return no_place();
    const struct overview *o = &overview->pass;
    const struct path *p = &o->paths.of[process];
    if (i >= p->n_segments)
        return UPMU_E_NAME;
    const struct path_step *s = &o->paths.steps[p->first_step + i];
    const struct upmu_overview_path_segment ours = {
        .kind = s->kind,
        .thread = place_of(o->thread_place, s->thread),
        .waker = place_of(o->thread_place, s->from),
        .object = place_of(o->object_place, s->object),
        .begin_ns = s->begin_ns,
        .end_ns = s->end_ns,
    };
    return give(out, out->size, &ours, sizeof ours);
}

int upmu_overview_path_object_at(const struct upmu_overview *overview, size_t process, size_t i,
                                 struct upmu_overview_path_object *out)
{
    if (!overview || !out || process >= overview->pass.paths.n)
        return no_place();
    const struct overview *o = &overview->pass;
    const struct path *p = &o->paths.of[process];
    if (i >= p->n_locks)
        return UPMU_E_NAME;
    const struct path_lock *l = &o->paths.locks[p->first_lock + i];
    const struct upmu_overview_path_object ours = {
        .object = place_of(o->object_place, l->object),
        .held_ns = l->held_ns,
        .wakes = l->wakes,
        .wake_ns = l->wake_ns,
        .unknown_ns = l->unknown_ns,
        .gain_ns = l->gain_ns,
        .gain_half_ns = l->gain_half_ns,
    };
    return give(out, out->size, &ours, sizeof ours);
}
