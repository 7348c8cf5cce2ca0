/* SPDX-License-Identifier: MIT */
/*
 * Replay of a job with a network that takes no time, for serialization and transfer efficiency.
 *
 * Begins and ends of calls are replayed in the order of their recorded times. Between calls a rank takes as long as it did; a call ends as
 * soon as the calls that it depends on have begun. All of these began before it ended when it was recorded, so that the replay never
 * takes longer than the recording.
 */
#include <stdlib.h>

#include "base/error.h"
#include "mpi_job/job.h"

/* Recorded begin or end of a call. */
struct replay_point {
    uint64_t time;
    uint32_t node;
    bool end;
};

struct replay {
    struct upmu_mpi *m;
    uint64_t *clock;      /**< by rank */
    uint32_t *first_edge; /**< by node, with one more at the end: the edges are sorted by node */
    struct replay_point *points;
    size_t n_points;
};

static int replay_compare_points(const void *x, const void *y)
{
    const struct replay_point *a = x, *b = y;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->end != b->end)
        return a->end ? 1 : -1;
    return a->node < b->node ? -1 : a->node > b->node;
}

static int edge_compare(const void *x, const void *y)
{
    const struct job_edge *a = x, *b = y;
    return a->node < b->node ? -1 : a->node > b->node;
}

/* Whether a call has a part in the stretch. */
static bool replay_has(const struct upmu_mpi *m, const struct job_node *n)
{
    return job_touches(m, n->begin, n->end ? n->end : UINT64_MAX);
}

/* Outside of MPI, before `until`, from the piece `*at` on. */
static uint64_t replay_outside(const struct upmu_mpi *m, const struct job_lane *lane, uint32_t *at, uint64_t until)
{
    uint64_t sum = 0;
    for (; *at < lane->n_pieces && lane->pieces[*at].end <= until; ++*at) {
        const struct job_piece *p = &lane->pieces[*at];
        sum += m->keys[p->key].inside ? 0 : job_share(m, p->ns, p->begin, p->end);
    }
    return sum;
}

/* The times between calls, as far as they are in the stretch. */
static int replay_cut(struct upmu_mpi *m)
{
    uint32_t *at = calloc(m->n_ranks + 1, sizeof *at);
    if (!at)
        return job_no_memory();
    for (uint32_t i = 1; i <= m->n_nodes; i++) {
        struct job_node *n = job_node(m, i);
        if (n->begin <= m->to_ns)
            n->before_ns = replay_outside(m, &m->ranks[n->rank]->lane, &at[n->rank], n->begin);
    }
    for (size_t i = 0; i < m->n_ranks; i++)
        m->ranks[i]->lane.before_ns = replay_outside(m, &m->ranks[i]->lane, &at[i], UINT64_MAX);
    free(at);
    return 0;
}

static int replay_prepare(struct replay *r)
{
    struct upmu_mpi *m = r->m;
    r->clock = calloc(m->n_ranks + 1, sizeof *r->clock);
    r->first_edge = calloc(m->n_nodes + 2, sizeof *r->first_edge);
    r->points = calloc(2 * m->n_nodes + 1, sizeof *r->points);
    if (!r->clock || !r->first_edge || !r->points)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while replaying an MPI job");
    if (m->n_edges)
        qsort(m->edges, m->n_edges, sizeof *m->edges, edge_compare);
    for (size_t i = 0, e = 0; i <= m->n_nodes + 1; i++) {
        while (e < m->n_edges && m->edges[e].node < i)
            e++;
        r->first_edge[i] = (uint32_t)e;
    }
    for (uint32_t i = 1; i <= m->n_nodes; i++) {
        const struct job_node *n = job_node(m, i);
        if (!replay_has(m, n))
            continue;
        r->points[r->n_points++] = (struct replay_point){job_cut(m, n->begin), i, false};
        if (n->end && n->end <= m->to_ns)
            r->points[r->n_points++] = (struct replay_point){n->end, i, true};
    }
    qsort(r->points, r->n_points, sizeof *r->points, replay_compare_points);
    return 0;
}

static void replay_begin(struct replay *r, struct job_node *n)
{
    uint64_t *clock = &r->clock[n->rank];
    *clock += n->before_ns;
    n->ideal = *clock;
    uint64_t *group = n->group ? &r->m->groups[n->group - 1] : NULL;
    if (group && *group < n->ideal)
        *group = n->ideal;
}

static void replay_end(struct replay *r, uint32_t number)
{
    struct upmu_mpi *m = r->m;
    const struct job_node *n = job_node(m, number);
    uint64_t *clock = &r->clock[n->rank], until = *clock;
    for (uint32_t e = r->first_edge[number]; e < r->first_edge[number + 1]; e++) {
        const struct job_node *on = job_node(m, m->edges[e].on);
        if (on->begin <= n->end && on->ideal > until)
            until = on->ideal;
    }
    if (n->all && m->groups[n->group - 1] > until)
        until = m->groups[n->group - 1];
    uint64_t lasts = job_within(m, n->begin, n->end);
    if (n->kept && n->ideal + lasts > until)
        until = n->ideal + lasts;
    *clock = until;
}

static void replay_result(const struct replay *r)
{
    struct upmu_mpi *m = r->m;
    for (size_t i = 0; i < m->n_ranks; i++) {
        const struct job_rank *rank = m->ranks[i];
        struct upmu_mpi_job *j = &m->jobs[rank->job];
        uint64_t end = r->clock[i] + rank->lane.before_ns;
        if (!rank->wrapped)
            continue;
        if (rank->lane.several || rank->has_gaps || j->ranks < j->world)
            j->ideal_ns = UPMU_NO_VALUE;
        else if (end > j->ideal_ns)
            j->ideal_ns = end;
    }
    for (size_t i = 0; i < m->n_jobs; i++) {
        struct upmu_mpi_job *j = &m->jobs[i];
        if (j->ideal_ns == 0 || j->end_ns <= j->begin_ns)
            j->ideal_ns = UPMU_NO_VALUE;
        if (j->ideal_ns == UPMU_NO_VALUE)
            continue;
        j->serialization = (double)j->useful_max_ns / (double)j->ideal_ns;
        j->transfer = (double)j->ideal_ns / (double)(j->end_ns - j->begin_ns);
    }
}

int job_replay(struct upmu_mpi *m)
{
    struct replay r = {.m = m};
    bool whole = m->from_ns == 0 && m->to_ns == UINT64_MAX;
    int rc = whole ? 0 : replay_cut(m);
    if (rc == 0)
        rc = replay_prepare(&r);
    for (size_t i = 0; rc == 0 && i < r.n_points; i++) {
        if (r.points[i].end)
            replay_end(&r, r.points[i].node);
        else
            replay_begin(&r, job_node(m, r.points[i].node));
    }
    if (rc == 0)
        replay_result(&r);
    free(r.clock);
    free(r.first_edge);
    free(r.points);
    return rc;
}
