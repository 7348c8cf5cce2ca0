/* SPDX-License-Identifier: MIT */
/* Ranks whose calls are not recorded, as partners of those that are. */
#include <stdlib.h>

#include "mpi_job/job.h"

enum { COMM_WORLD = 1 };

struct partners {
    struct upmu_mpi *m;
    struct map recorded; /**< of a (job and communicator, rank of it) */
    struct map rows;     /**< of a (rank, partner) */
};

static uint64_t partner_comm(uint32_t job, uint64_t comm)
{
    return comm + job * UINT64_C(0x9e3779b97f4a7c15);
}

static int partners_index(struct partners *p)
{
    for (uint32_t i = 0; i < p->m->n_ranks; i++) {
        const struct job_rank *r = p->m->ranks[i];
        for (size_t k = 0; r->wrapped && k < r->n_comms; k++)
            if (!map_put(&p->recorded, partner_comm(r->job, r->comms[k].comm), (uint64_t)r->comms[k].rank, i))
                return job_no_memory();
    }
    return 0;
}

/* A half without the other one, if that is of a rank that is not recorded. */
static int partners_add(struct partners *p, const struct job_half *h, bool sends)
{
    struct upmu_mpi *m = p->m;
    int32_t other = sends ? h->destination : h->source;
    if (h->matched || h->dropped || h->open || other < 0 || !job_half_touches(m, h) ||
        map_find(&p->recorded, partner_comm(h->job, h->comm), (uint64_t)other) != MAP_NONE)
        return 0;
    int32_t partner = h->comm == COMM_WORLD ? other : -1;
    uint32_t at = map_find(&p->rows, h->rank, (uint32_t)partner);
    if (at == MAP_NONE) {
        struct upmu_mpi_partner *row = job_grow(&m->partners, &m->n_partners, &m->cap_partners, sizeof *row);
        at = (uint32_t)(m->n_partners - 1);
        if (!row || !map_put(&p->rows, h->rank, (uint32_t)partner, at))
            return job_no_memory();
        *row = (struct upmu_mpi_partner){.job = h->job, .rank = m->ranks[h->rank]->rank, .partner = partner};
    }
    m->partners[at].sent += sends;
    m->partners[at].received += !sends;
    return 0;
}

static int partners_compare(const void *x, const void *y)
{
    const struct upmu_mpi_partner *a = x, *b = y;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->partner < b->partner ? -1 : a->partner > b->partner;
}

int job_find_partners(struct upmu_mpi *m)
{
    struct partners p = {.m = m};
    int rc = partners_index(&p);
    for (size_t i = 0; rc == 0 && i < m->n_sends; i++)
        rc = partners_add(&p, &m->sends[i], true);
    for (size_t i = 0; rc == 0 && i < m->n_receives; i++)
        rc = partners_add(&p, &m->receives[i], false);
    if (m->n_partners)
        qsort(m->partners, m->n_partners, sizeof *m->partners, partners_compare);
    map_free(&p.recorded);
    map_free(&p.rows);
    return rc;
}
