/* SPDX-License-Identifier: MIT */
/* Events of all threads of a recording, merged by a heap of the threads' next ones. */
#include "functions/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"

enum { BASELINE_NS = 2000000 }; /* shorter recordings do not give a better frequency */

static int events_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading events of functions");
}

/* ------------------------------------------------------------------------------------------------------ streams */

static void stream_set_clock(struct functions_stream *s, const struct func_process_header *h)
{
    uint64_t ticks = h->end_tick - h->begin_tick, ns = h->end_raw_ns - h->begin_raw_ns;
    bool ended = h->end_tick > h->begin_tick && h->end_raw_ns > h->begin_raw_ns && ns > BASELINE_NS;
    s->begin_tick = h->begin_tick;
    s->begin_raw_ns = h->begin_raw_ns;
    s->ns_per_tick = ended ? (double)ns / (double)ticks : h->hz ? 1e9 / (double)h->hz : 0;
}

/* Functions and callers of the tree's nodes. */
static bool stream_set_nodes(struct functions_stream *s, const struct func_tree *t, size_t bytes, func_number *number,
                             void *arg)
{
    const struct func_node *nodes = (const void *)((const char *)t + t->nodes_at);
    size_t space = (bytes - t->nodes_at) / sizeof *nodes;
    uint32_t n = t->nodes < t->nodes_ready ? t->nodes : t->nodes_ready;
    s->n_nodes = n < space ? n : (uint32_t)space;
    s->rows = calloc(s->n_nodes + 1, sizeof *s->rows);
    s->parents = calloc(s->n_nodes + 1, sizeof *s->parents);
    if (!s->rows || !s->parents)
        return false;
    memset(s->rows, 0xff, (s->n_nodes + 1) * sizeof *s->rows);
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        bool skipped = nodes[i].child & FUNC_SKIPPED;
        if (i >= FUNC_NODES_FIXED && !skipped && (s->rows[i] = number(arg, nodes[i].function)) == MAP_NONE)
            return false;
        uint32_t c = nodes[i].child & FUNC_RECURSION ? 0 : nodes[i].child;
        for (uint32_t k = 0; c != 0 && c < s->n_nodes && k < s->n_nodes; c = nodes[c].next, k++)
            s->parents[c] = i;
    }
    return true;
}

int functions_add_stream(struct upmu_functions *f, const char *dir, const struct func_process_header *h,
                         const struct func_tree *t, uint64_t end_tick, size_t bytes, func_number *number, void *arg)
{
    char path[PATH_MAX];
    struct functions_stream s = {.pid = h->pid, .end_tick = end_tick, .to_raw_ns = UINT64_MAX};
    f->totals.events_lost += t->events_lost;
    f->totals.events_short += t->events_short;
    if (!stream_locate(&s, t))
        return 0;
    s.first_tid = t->tid;
    stream_set_clock(&s, h);
    s.inner_ns = (int64_t)(t->inner_ticks * s.ns_per_tick);
    s.outer_ns = (int64_t)(t->outer_ticks * s.ns_per_tick);
    if (snprintf(path, sizeof path, "%s/" FUNC_EVENTS_FILE, dir, t->number) >= (int)sizeof path)
        return 0;
    s.path = strdup(path);
    struct functions_stream *all = array_reserve(f->streams, f->n_streams, &f->cap_streams, sizeof *all);
    if (all)
        f->streams = all;
    if (!all || !s.path || !stream_set_nodes(&s, t, bytes, number, arg)) {
        stream_free(&s);
        return events_no_memory();
    }
    f->totals.event_bytes += stream_bytes(&s);
    f->totals.rings += s.in_ring != 0;
    all[f->n_streams++] = s;
    return 0;
}

void functions_free_streams(struct upmu_functions *f)
{
    for (size_t i = 0; i < f->n_streams; i++)
        stream_free(&f->streams[i]);
    free(f->streams);
    free(f->next);
}

/* ------------------------------------------------------------------------------------------------------ merging */

static bool next_is_before(const struct functions_next *a, const struct functions_next *b)
{
    return a->event.raw_ns != b->event.raw_ns ? a->event.raw_ns < b->event.raw_ns : a->stream < b->stream;
}

static void events_sift(struct upmu_functions *f, size_t at)
{
    struct functions_next *heap = f->next, moved = heap[at];
    for (size_t child; (child = 2 * at + 1) < f->n_next; at = child) {
        if (child + 1 < f->n_next && next_is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!next_is_before(&heap[child], &moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* The next event that is in the stretch, or ends a call that is partly in it. */
static int events_advance(struct functions_stream *s, struct stream_event *e)
{
    int rc;
    while ((rc = stream_next(s, e)) == 0 &&
           (e->raw_ns < s->from_raw_ns || (e->leaves ? e->begin_raw_ns : e->raw_ns) > s->to_raw_ns))
        continue;
    return rc;
}

int upmu_functions_events_begin(struct upmu_functions *functions)
{
    struct upmu_functions *f = functions;
    if (!f)
        return argument_null(__func__, "functions");
    if (f->n_streams == 0)
        return upmu_fail(UPMU_E_STATE, "no events of functions were recorded. Record with UPMU_FUNC_MODE=trace");
    f->next = f->next ? f->next : calloc(f->n_streams, sizeof *f->next);
    if (!f->next)
        return events_no_memory();
    f->n_next = 0;
    for (size_t i = 0; i < f->n_streams; i++) {
        struct functions_next *n = &f->next[f->n_next];
        int rc = stream_begin(&f->streams[i]);
        n->stream = (uint32_t)i;
        if (rc == 0)
            rc = events_advance(&f->streams[i], &n->event);
        if (rc < 0 && rc != UPMU_E_END)
            return rc;
        f->n_next += rc == 0;
    }
    for (size_t i = f->n_next / 2; i-- > 0;)
        events_sift(f, i);
    return 0;
}

int upmu_functions_event_next(struct upmu_functions *functions, struct upmu_function_event *out)
{
    struct upmu_functions *f = functions;
    if (!f || !out)
        return ARGUMENT_NULL(functions, out);
    if (f->n_next == 0)
        return UPMU_E_END;
    struct functions_next *first = &f->next[0];
    const struct stream_event e = first->event;
    const struct upmu_function_event ours = {.raw_ns = e.raw_ns,
                                             .begin_raw_ns = e.begin_raw_ns,
                                             .pid = (pid_t)f->streams[first->stream].pid,
                                             .tid = (pid_t)e.tid,
                                             .function = f->place[e.row],
                                             .depth = e.depth,
                                             .kind = e.leaves ? UPMU_FUNCTION_LEAVE : UPMU_FUNCTION_ENTER,
                                             .inferred = e.inferred};
    int rc = OPTS_GIVE(out, ours, UPMU_FUNCTION_EVENT_SIZE_V1);
    if (rc < 0)
        return rc;
    rc = events_advance(&f->streams[first->stream], &first->event);
    if (rc < 0 && rc != UPMU_E_END)
        return rc;
    if (rc == UPMU_E_END)
        *first = f->next[--f->n_next];
    events_sift(f, 0);
    return 0;
}
