/* SPDX-License-Identifier: MIT */
/*
 * Which ranks waited for which in collective calls.
 *
 * The n-th collective call on a communicator is the same one in all its ranks. It is analyzed only if all of them recorded it.
 */
#include <stdlib.h>

#include "mpi_job/job.h"

static int part_compare_key(const struct job_part *a, const struct job_part *b)
{
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    if (a->comm != b->comm)
        return a->comm < b->comm ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static int part_compare(const void *x, const void *y)
{
    const struct job_part *a = x, *b = y;
    int c = part_compare_key(a, b);
    return c ? c : a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* The part that began last; and first of all but one. */
static const struct job_part *part_last(const struct job_part *p, size_t n)
{
    const struct job_part *last = p;
    for (size_t i = 1; i < n; i++)
        last = p[i].begin > last->begin ? &p[i] : last;
    return last;
}

static const struct job_part *part_first_other(const struct job_part *p, size_t n, const struct job_part *without)
{
    const struct job_part *first = NULL;
    for (size_t i = 0; i < n; i++)
        if (&p[i] != without && (!first || p[i].begin < first->begin))
            first = &p[i];
    return first;
}

static int32_t part_place(const struct upmu_mpi *m, const struct job_part *p)
{
    const struct job_comm *c = job_comm_find(m->ranks[p->rank], p->comm);
    return c ? c->rank : -1;
}

static const struct job_part *part_root(const struct upmu_mpi *m, const struct job_part *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (part_place(m, &p[i]) == p->root)
            return &p[i];
    return NULL;
}

static int part_wait(struct upmu_mpi *m, const struct job_part *p, const struct job_part *cause, int pattern)
{
    const struct job_wait w = {
        .rank = p->rank, .cause = cause->rank, .begin = p->begin, .call = p->call, .pattern = pattern};
    return job_add_wait(m, &w, cause->begin, p->end);
}

static int group_wait_all(struct upmu_mpi *m, const struct job_part *p, size_t n, int pattern)
{
    const struct job_part *last = part_last(p, n);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = part_wait(m, &p[i], last, pattern);
    return rc;
}

static int group_from_root(struct upmu_mpi *m, const struct job_part *p, size_t n)
{
    const struct job_part *root = part_root(m, p, n);
    int rc = 0;
    for (size_t i = 0; root && rc == 0 && i < n; i++)
        rc = part_wait(m, &p[i], root, UPMU_MPI_LATE_BROADCAST);
    return rc;
}

static int group_to_root(struct upmu_mpi *m, const struct job_part *p, size_t n)
{
    const struct job_part *root = part_root(m, p, n), *first = root ? part_first_other(p, n, root) : NULL;
    return first ? part_wait(m, root, first, UPMU_MPI_EARLY_REDUCE) : 0;
}

/* Of those before a rank the one that began last; that rank itself if it began later. */
static const struct job_part *part_last_before(const struct upmu_mpi *m, const struct job_part *p, size_t n,
                                               const struct job_part *of)
{
    const struct job_part *last = of;
    for (size_t k = 0; k < n; k++)
        if (part_place(m, &p[k]) < part_place(m, of) && p[k].begin > last->begin)
            last = &p[k];
    return last;
}

/* A rank needs those before it. */
static int group_scan(struct upmu_mpi *m, const struct job_part *p, size_t n)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = part_wait(m, &p[i], part_last_before(m, p, n, &p[i]), UPMU_MPI_EARLY_SCAN);
    return rc;
}

/* For the replay of the job: what the parts' calls depend on. */
static int group_add_edges(struct upmu_mpi *m, const struct job_part *p, size_t n)
{
    int class = mpi_call_rows[p->call].class, rc = 0;
    const struct job_part *root = part_root(m, p, n);
    if (class == MPI_CLASS_FINALIZE)
        return 0;
    if (!job_grow(&m->groups, &m->n_groups, &m->cap_groups, sizeof *m->groups))
        return UPMU_E_NOMEM;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct job_node *node = p[i].node ? job_node(m, p[i].node) : NULL;
        if (!node)
            continue;
        node->group = (uint32_t)m->n_groups;
        node->all = class == MPI_CLASS_BARRIER || class == MPI_CLASS_ALL_TO_ALL ||
                    (class == MPI_CLASS_TO_ROOT && &p[i] == root);
        if (class == MPI_CLASS_FROM_ROOT && root)
            rc = job_add_edge(m, p[i].node, root->node);
        else if (class == MPI_CLASS_SCAN)
            rc = job_add_edge(m, p[i].node, part_last_before(m, p, n, &p[i])->node);
        else if (class != MPI_CLASS_TO_ROOT && !node->all)
            node->kept = true;
    }
    return rc;
}

static int group_add_waits(struct upmu_mpi *m, const struct job_part *p, size_t n)
{
    switch (mpi_call_rows[p->call].class) {
    case MPI_CLASS_FINALIZE:
        return group_wait_all(m, p, n, UPMU_MPI_WAIT_FINALIZE);
    case MPI_CLASS_BARRIER:
        return group_wait_all(m, p, n, UPMU_MPI_WAIT_BARRIER);
    case MPI_CLASS_ALL_TO_ALL:
        return group_wait_all(m, p, n, UPMU_MPI_WAIT_ALL);
    case MPI_CLASS_FROM_ROOT:
        return group_from_root(m, p, n);
    case MPI_CLASS_TO_ROOT:
        return group_to_root(m, p, n);
    case MPI_CLASS_SCAN:
        return group_scan(m, p, n);
    default:
        return 0;
    }
}

int job_collective_class(uint32_t call)
{
    enum { TO_BLOCKING = MPI_CALL_Ibarrier - MPI_CALL_Barrier }; /* both are in the same order */
    int class = mpi_call_rows[call].class;
    if (call == MPI_CALL_Comm_idup || call == MPI_CALL_Comm_idup_with_info)
        return MPI_CLASS_COMM;
    return class == MPI_CLASS_ICOLLECTIVE ? mpi_call_rows[call - TO_BLOCKING].class : class;
}

int job_match_collectives(struct upmu_mpi *m)
{
    int rc = 0;
    qsort(m->parts, m->n_parts, sizeof *m->parts, part_compare);
    for (size_t i = 0, n; rc == 0 && i < m->n_parts; i += n) {
        const struct job_part *p = &m->parts[i];
        const struct job_comm *comm = job_comm_find(m->ranks[p->rank], p->comm);
        bool alike = true, counts = job_touches(m, p->begin, p->end);
        for (n = 1; i + n < m->n_parts && part_compare_key(p, &p[n]) == 0; n++) {
            alike &= p[n].call == p->call && p[n].root == p->root;
            counts |= job_touches(m, p[n].begin, p[n].end);
        }
        struct upmu_mpi_job *job = &m->jobs[p->job];
        if (!comm || n != (size_t)comm->size || !alike) {
            job->partial += counts;
            for (size_t k = 0; k < n; k++)
                job_keep_duration(m, p[k].node);
            continue;
        }
        job->collectives += counts;
        rc = group_add_waits(m, p, n);
        if (rc == 0)
            rc = group_add_edges(m, p, n);
    }
    return rc;
}
