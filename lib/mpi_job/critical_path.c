/* SPDX-License-Identifier: MIT */
/*
 * The critical path of each job: which rank it ran on at each time.
 *
 * From the end of the rank that ended last back: along that rank until the end of its last wait for another one, then along that one
 * from the same moment. Steps of a job are stored in the order of time.
 */
#include <stdlib.h>

#include "mpi_job/job.h"

struct path {
    struct upmu_mpi *m;
    struct job_wait *waits; /**< by rank, then by their ends */
    size_t *first;          /**< by rank, with one more */
    struct map rows;        /**< of a rank and key */
};

static uint64_t wait_end(const struct job_wait *w)
{
    return w->begin + w->ns;
}

static int wait_compare(const void *x, const void *y)
{
    const struct job_wait *a = x, *b = y;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return wait_end(a) < wait_end(b) ? -1 : wait_end(a) > wait_end(b);
}

static int path_start(struct path *p)
{
    struct upmu_mpi *m = p->m;
    p->waits = calloc(m->n_waits + 1, sizeof *p->waits);
    p->first = calloc(m->n_ranks + 1, sizeof *p->first);
    if (!p->waits || !p->first)
        return job_no_memory();
    for (size_t i = 0; i < m->n_waits; i++) {
        p->waits[i] = m->waits[i];
        p->first[m->waits[i].rank + 1]++;
    }
    for (size_t i = 0; i < m->n_ranks; i++)
        p->first[i + 1] += p->first[i];
    if (m->n_waits)
        qsort(p->waits, m->n_waits, sizeof *p->waits, wait_compare);
    return 0;
}

/* The last wait of a rank that ended before `time`; NULL: none. */
static const struct job_wait *path_wait(const struct path *p, uint32_t rank, uint64_t time)
{
    size_t low = p->first[rank], high = p->first[rank + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (wait_end(&p->waits[middle]) < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low > p->first[rank] ? &p->waits[low - 1] : NULL;
}

static int path_row_add(struct path *p, uint32_t rank, uint32_t key, uint64_t ns)
{
    struct upmu_mpi *m = p->m;
    const struct job_key *k = &m->keys[key];
    uint32_t at = map_find(&p->rows, rank, k->same);
    if (at == MAP_NONE) {
        const struct job_rank *r = m->ranks[rank];
        struct upmu_mpi_path *row = job_grow(&m->paths, &m->n_paths, &m->cap_paths, sizeof *row);
        at = (uint32_t)(m->n_paths - 1);
        if (!row || !map_put(&p->rows, rank, k->same, at))
            return job_no_memory();
        *row = JOB_ROW(struct upmu_mpi_path, m, r, k);
    }
    m->paths[at].ns += ns;
    return 0;
}

static int path_step_add(struct path *p, uint32_t rank, uint64_t begin, uint64_t end)
{
    struct upmu_mpi *m = p->m;
    const struct job_lane *lane = &m->ranks[rank]->lane;
    if (!job_touches(m, begin, end))
        return 0;
    begin = job_cut(m, begin);
    end = job_cut(m, end);
    struct job_step *step = job_grow(&m->steps, &m->n_steps, &m->cap_steps, sizeof *step);
    int rc = step ? 0 : UPMU_E_NOMEM;
    if (step)
        *step = (struct job_step){.rank = rank, .begin = begin, .end = end};
    for (size_t i = job_piece_after(lane, begin); rc == 0 && i < lane->n_pieces && lane->pieces[i].begin < end; i++) {
        const struct job_piece *of = &lane->pieces[i];
        uint64_t from = of->begin > begin ? of->begin : begin, to = of->end < end ? of->end : end;
        rc = path_row_add(p, rank, of->key, to - from);
    }
    return rc;
}

/* The rank of a job that ended last. */
static uint32_t path_last(const struct upmu_mpi *m, uint32_t job)
{
    uint32_t last = MAP_NONE;
    for (uint32_t i = 0; i < m->n_ranks; i++) {
        const struct job_rank *r = m->ranks[i];
        if (r->wrapped && r->job == job && (last == MAP_NONE || job_rank_end(r) > job_rank_end(m->ranks[last])))
            last = i;
    }
    return last;
}

/* Each step ends before the one that was found before it, as a wait ends before the time that it is looked for. */
static int path_of_job(struct path *p, uint32_t job)
{
    struct upmu_mpi *m = p->m;
    size_t first = m->n_steps;
    uint32_t rank = path_last(m, job);
    uint64_t time = rank == MAP_NONE ? 0 : job_rank_end(m->ranks[rank]);
    int rc = 0;
    while (rc == 0 && rank != MAP_NONE && time > m->ranks[rank]->begin) {
        const struct job_wait *w = path_wait(p, rank, time);
        uint64_t since = w && wait_end(w) > m->ranks[rank]->begin ? wait_end(w) : m->ranks[rank]->begin;
        rc = path_step_add(p, rank, since, time);
        time = since;
        rank = w && since == wait_end(w) ? w->cause : MAP_NONE;
    }
    for (size_t i = first, k = m->n_steps; i + 1 < k; i++) {
        const struct job_step step = m->steps[i];
        m->steps[i] = m->steps[--k];
        m->steps[k] = step;
    }
    return rc;
}

static int path_compare_rows(const void *x, const void *y)
{
    const struct upmu_mpi_path *a = x, *b = y;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    return a->ns > b->ns ? -1 : a->ns < b->ns;
}

int job_find_paths(struct upmu_mpi *m)
{
    struct path p = {.m = m};
    int rc = path_start(&p);
    for (uint32_t job = 0; rc == 0 && job < m->n_jobs; job++)
        rc = path_of_job(&p, job);
    if (m->n_paths)
        qsort(m->paths, m->n_paths, sizeof *m->paths, path_compare_rows);
    free(p.waits);
    free(p.first);
    map_free(&p.rows);
    return rc;
}
