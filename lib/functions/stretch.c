/* SPDX-License-Identifier: MIT */
/*
 * Sums of a stretch of the recording, from the events of its calls.
 *
 * A call that reaches beyond the stretch counts as one, with the time that is in it. The recorder's cost is subtracted from calls that
 * are in it as a whole.
 */
#include "functions/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "upmu/trace.h"

/* A call that has not returned. Times are nanoseconds of the stretch. */
struct stretch_call {
    uint32_t path;  /* MAP_NONE: nested too deep */
    uint32_t below; /* the path below which its calls are */
    int64_t children, cost;
};

struct stretch {
    struct upmu_functions *functions;
    uint64_t begin_ns, last_ns; /* of the recording and of its calls, nanoseconds since 1970 */
    uint64_t from_ns, to_ns;    /* of the stream, CLOCK_MONOTONIC_RAW */
    struct stretch_call *calls;
    size_t depth, cap;
    uint32_t *active; /* calls of each path that have not returned */
    size_t cap_active;
};

static int stretch_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading events of functions");
}

static bool stretch_reserve_active(struct stretch *s)
{
    size_t wanted = s->functions->profile.cap_paths;
    if (s->cap_active >= wanted)
        return true;
    uint32_t *all = realloc(s->active, wanted * sizeof *all);
    if (!all)
        return false;
    memset(all + s->cap_active, 0, (wanted - s->cap_active) * sizeof *all);
    s->active = all;
    s->cap_active = wanted;
    return true;
}

static int stretch_enter(struct stretch *s, const struct stream_event *e)
{
    struct func_profile *p = &s->functions->profile;
    struct stretch_call *all = array_reserve(s->calls, s->depth, &s->cap, sizeof *all);
    if (!all)
        return stretch_no_memory();
    s->calls = all;
    uint32_t parent = s->depth ? all[s->depth - 1].below : 0, path = MAP_NONE;
    bool deep = p->paths[parent].depth == FUNC_PROFILE_DEPTH_MAX;
    if (deep)
        p->omitted++;
    else if ((path = func_profile_path(p, parent, e->row)) == MAP_NONE || !stretch_reserve_active(s))
        return stretch_no_memory();
    uint32_t below = deep ? parent : p->paths[path].recursion ? p->paths[path].recursion : path;
    all[s->depth++] = (struct stretch_call){.path = path, .below = below};
    if (!deep)
        s->active[path]++;
    return 0;
}

static uint64_t stretch_positive(int64_t ns)
{
    return ns > 0 ? (uint64_t)ns : 0;
}

static void stretch_leave(struct stretch *s, const struct functions_stream *of, const struct stream_event *e)
{
    struct stretch_call c = s->calls[--s->depth], *caller = s->depth ? &s->calls[s->depth - 1] : NULL;
    uint64_t begin = e->begin_raw_ns > s->from_ns ? e->begin_raw_ns : s->from_ns;
    uint64_t end = e->raw_ns < s->to_ns ? e->raw_ns : s->to_ns;
    bool outermost = c.path != MAP_NONE && --s->active[c.path] == 0;
    if (e->begin_raw_ns > s->to_ns || e->raw_ns < s->from_ns)
        return;
    bool whole = begin == e->begin_raw_ns && end == e->raw_ns;
    int64_t spent = (int64_t)(end - begin), inner = whole ? of->inner_ns : 0, outer = whole ? of->outer_ns : 0;
    uint64_t inclusive = stretch_positive(spent - c.cost - inner);
    const struct func_sums sums = {.calls = 1,
                                   .inclusive_ns = outermost ? inclusive : 0,
                                   .exclusive_ns = stretch_positive(spent - c.children - inner),
                                   .min_ns = inclusive,
                                   .max_ns = inclusive};
    if (c.path != MAP_NONE)
        func_profile_call(&s->functions->profile, c.path, &sums);
    if (caller) {
        caller->children += spent + outer;
        caller->cost += c.cost + inner + outer;
    }
}

static int stretch_read(struct stretch *s, struct functions_stream *of)
{
    struct stream_event e;
    uint64_t calls = s->functions->profile.calls;
    int rc = stream_begin(of);
    s->from_ns = of->from_raw_ns;
    s->to_ns = of->to_raw_ns;
    s->depth = 0;
    while (rc == 0 && (rc = stream_next(of, &e)) == 0) {
        s->last_ns = e.raw_ns + of->offset_ns > s->last_ns ? e.raw_ns + of->offset_ns : s->last_ns;
        if (!e.leaves)
            rc = stretch_enter(s, &e);
        else if (s->depth > 0)
            stretch_leave(s, of, &e);
    }
    s->functions->totals.threads += s->functions->profile.calls > calls;
    return rc == UPMU_E_END ? 0 : rc;
}

/* Times of CLOCK_MONOTONIC_RAW are those of the trace but for a constant, for each process. */
static int stretch_set_clock(struct stretch *s, struct functions_stream *of, const struct upmu_trace *trace)
{
    struct upmu_trace_process p = {.size = sizeof p};
    struct stream_event first;
    size_t i = 0;
    while (upmu_trace_process_at(trace, i, &p) == 0 && (uint32_t)p.pid != of->pid)
        i++;
    if (i == upmu_trace_process_count(trace))
        return upmu_fail(UPMU_E_STATE, "the times of process %lu are not known: it has no trace",
                         (unsigned long)of->pid);
    of->offset_ns = upmu_trace_time_of_raw(trace, i, 0);
    int rc = stream_begin(of);
    if (rc == 0)
        rc = stream_next(of, &first);
    if (rc == 0 && first.raw_ns + of->offset_ns < s->begin_ns)
        s->begin_ns = first.raw_ns + of->offset_ns;
    return rc == UPMU_E_END ? 0 : rc;
}

/* The recording begins at its start, or with an event of its trace or a call that is before. */
static int stretch_set_clocks(struct stretch *s, const char *dir)
{
    const struct upmu_trace_event *e;
    struct upmu_trace *trace;
    int rc = upmu_trace_open(&trace, dir);
    if (rc < 0)
        return rc;
    rc = upmu_trace_next(trace, &e);
    uint64_t start_ns = upmu_trace_begin_ns(trace);
    s->begin_ns = rc > 0 ? e->time_ns : UINT64_MAX;
    s->begin_ns = start_ns != 0 && start_ns < s->begin_ns ? start_ns : s->begin_ns;
    for (size_t i = 0; rc >= 0 && i < s->functions->n_streams; i++)
        rc = stretch_set_clock(s, &s->functions->streams[i], trace);
    upmu_trace_close(trace);
    return rc < 0 ? rc : 0;
}

static int stretch_finish(struct stretch *s, uint64_t from_ns, uint64_t to_ns)
{
    struct upmu_functions_totals *t = &s->functions->totals;
    uint64_t last = s->last_ns > s->begin_ns ? s->last_ns - s->begin_ns : 0;
    if (from_ns > last)
        return upmu_fail(UPMU_E_INVAL, "the time window begins at %.9f s, after the last call, at %.9f s",
                         (double)from_ns / 1e9, (double)last / 1e9);
    t->cost_ns = (uint64_t)((double)s->functions->profile.calls * (double)t->call_cost_ps / 1000);
    t->begin_ns = s->begin_ns;
    t->from_ns = s->begin_ns + from_ns;
    t->to_ns = s->begin_ns + (to_ns && to_ns < last ? to_ns : last);
    return 0;
}

int functions_limit(struct upmu_functions *f, const char *dir, uint64_t from_ns, uint64_t to_ns)
{
    struct stretch s = {.functions = f};
    if (f->n_streams == 0)
        return upmu_fail(UPMU_E_INVAL, "recorded functions have sums without times, so that a stretch has none. Record "
                                       "with 'upmu record --function-events'");
    int rc = stretch_set_clocks(&s, dir);
    func_profile_free(&f->profile);
    f->n_counters = 0; /* calls have no counts of their own */
    f->totals.threads = 0;
    if (rc == 0 && func_profile_path(&f->profile, 0, FUNC_PROFILE_THREAD) == MAP_NONE)
        rc = stretch_no_memory();
    for (size_t i = 0; rc == 0 && i < f->n_streams; i++) {
        struct functions_stream *of = &f->streams[i];
        of->from_raw_ns = s.begin_ns + from_ns - of->offset_ns;
        of->to_raw_ns = to_ns ? s.begin_ns + to_ns - of->offset_ns : UINT64_MAX;
        rc = stretch_read(&s, of);
    }
    if (rc == 0 && !func_profile_drop(&f->profile))
        rc = stretch_no_memory();
    free(s.calls);
    free(s.active);
    return rc == 0 ? stretch_finish(&s, from_ns, to_ns) : rc;
}
