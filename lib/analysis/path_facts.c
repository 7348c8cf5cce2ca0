/* SPDX-License-Identifier: MIT */
/* Waiting pairs and critical path as public structs. */
#include "analysis/public.h"
#include "base/error.h"
#include "base/opts.h"

/* The public index of a thread or object of the pass. */
static uint32_t path_public_index(const uint32_t *ranks, uint32_t number)
{
    return number == MAP_NONE ? UPMU_NO_INDEX : ranks[number];
}

int upmu_overview_pair_at(const struct upmu_overview *overview, size_t i, struct upmu_overview_pair *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    const struct overview *o = &overview->pass;
    if (i >= o->graph.n_pairs)
        return UPMU_E_END;
    const struct wakeup_pair *p = &o->graph.pairs[i];
    const struct upmu_overview_pair ours = {
        .process = o->threads[p->waiter].process,
        .waiter = path_public_index(o->thread_rank, p->waiter),
        .other = path_public_index(o->thread_rank, p->other),
        .waiter_tid = o->threads[p->waiter].tid,
        .other_tid = p->other == MAP_NONE ? 0 : o->threads[p->other].tid,
        .waits = p->waits,
    };
    return OPTS_GIVE(out, ours, UPMU_OVERVIEW_PAIR_SIZE_V1);
}

int upmu_overview_path_read(const struct upmu_overview *overview, size_t process, struct upmu_overview_path *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    if (process >= overview->pass.paths.n)
        return UPMU_E_END;
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
        .stopped_ns = p->stopped_ns,
    };
    return OPTS_GIVE(out, ours, UPMU_OVERVIEW_PATH_SIZE_V1);
}

int upmu_overview_path_segment_at(const struct upmu_overview *overview, size_t process, size_t i,
                                  struct upmu_overview_path_segment *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    if (process >= overview->pass.paths.n)
        return UPMU_E_END;
    const struct overview *o = &overview->pass;
    const struct path *p = &o->paths.of[process];
    if (i >= p->n_segments)
        return UPMU_E_END;
    const struct path_step *s = &o->paths.steps[p->first_step + i];
    const struct upmu_overview_path_segment ours = {
        .kind = s->kind,
        .thread = path_public_index(o->thread_rank, s->thread),
        .waker = path_public_index(o->thread_rank, s->from),
        .object = path_public_index(o->object_rank, s->object),
        .begin_ns = s->begin_ns,
        .end_ns = s->end_ns,
    };
    return OPTS_GIVE(out, ours, UPMU_OVERVIEW_PATH_SEGMENT_SIZE_V1);
}

int upmu_overview_path_object_at(const struct upmu_overview *overview, size_t process, size_t i,
                                 struct upmu_overview_path_object *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    if (process >= overview->pass.paths.n)
        return UPMU_E_END;
    const struct overview *o = &overview->pass;
    const struct path *p = &o->paths.of[process];
    if (i >= p->n_locks)
        return UPMU_E_END;
    const struct path_lock *l = &o->paths.locks[p->first_lock + i];
    const struct upmu_overview_path_object ours = {
        .object = path_public_index(o->object_rank, l->object),
        .held_ns = l->held_ns,
        .wakes = l->wakes,
        .wake_ns = l->wake_ns,
        .unknown_ns = l->unknown_ns,
        .gain_ns = l->gain_ns,
        .gain_half_ns = l->gain_half_ns,
    };
    return OPTS_GIVE(out, ours, UPMU_OVERVIEW_PATH_OBJECT_SIZE_V1);
}

size_t upmu_overview_pair_count(const struct upmu_overview *overview)
{
    return overview ? overview->pass.graph.n_pairs : 0;
}

size_t upmu_overview_path_segment_count(const struct upmu_overview *overview, size_t process)
{
    return overview && process < overview->pass.paths.n ? overview->pass.paths.of[process].n_segments : 0;
}

size_t upmu_overview_path_object_count(const struct upmu_overview *overview, size_t process)
{
    return overview && process < overview->pass.paths.n ? overview->pass.paths.of[process].n_locks : 0;
}
