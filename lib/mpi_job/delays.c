/* SPDX-License-Identifier: MIT */
/*
 * Causes of waits between MPI ranks: the calls and regions that took the late rank longer.
 *
 * Between the last synchronization of two ranks and a wait of one for the other, both are expected to do the same. Each piece
 * that took the late rank longer has caused its proportion of the wait. Waits are processed from the last one back: the
 * proportion in which the late rank waited itself is added to the cost of that earlier wait.
 */
#include <stdlib.h>

#include "base/error.h"
#include "mpi_job/job.h"

/* Bounds of the work per wait: without a synchronization for long, only the pieces near the wait count. */
enum { PIECES_MAX = 4096, SYNCS_MAX = 16 };

/* A wait. Waits are sorted by end. */
struct delayed {
    struct job_wait wait;
    uint64_t end, since; /**< since: last synchronization of both ranks */
    double cost;         /**< its duration, and shares of later waits */
};

/* A collective call that ended after all of its ranks had begun. */
struct sync {
    uint64_t end;
    uint32_t group;
};

/* A rank's waits within an interval. */
struct share {
    uint32_t wait;
    double ns;
};

struct delays {
    struct upmu_mpi *m;
    struct delayed *waits;
    size_t n_waits;
    struct sync *syncs;
    size_t *first_sync;  /**< by rank, with one more */
    struct map pairs;    /**< last wait of a pair of ranks */
    struct map by_begin; /**< wait of a rank in the call that began then */
    struct map rows;     /**< delay of a rank and key */
    double *excess;      /**< by key, and one more for MPI_Init(): time that the late rank took longer */
    uint32_t *example;   /**< by key: the late rank's own key */
    uint32_t *touched;
    size_t n_touched;
    struct share *shares; /**< of the late rank */
    size_t n_shares, cap_shares;
    double waited; /**< by the late rank, less that of the other one */
    double *row_ns;
    size_t n_row_ns, cap_row_ns;
};

static int delays_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while looking for the causes of waits");
}

/* ------------------------------------------------------------------------------------------------ synchronizations */

static int delayed_compare(const void *x, const void *y)
{
    const struct delayed *a = x, *b = y;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return a->wait.rank < b->wait.rank ? -1 : a->wait.rank > b->wait.rank;
}

/* List the synchronizing calls of each rank by time, which is the order of its nodes. */
static void delays_list_syncs(struct delays *d)
{
    struct upmu_mpi *m = d->m;
    for (uint32_t i = 1; i <= m->n_nodes; i++)
        d->first_sync[job_node(m, i)->rank + 1] += job_node(m, i)->all;
    for (size_t i = 0; i < m->n_ranks; i++)
        d->first_sync[i + 1] += d->first_sync[i];
    for (uint32_t i = 1; i <= m->n_nodes; i++) {
        const struct job_node *n = job_node(m, i);
        if (n->all)
            d->syncs[d->first_sync[n->rank]++] = (struct sync){n->end, n->group};
    }
    for (size_t i = m->n_ranks; i > 0; i--)
        d->first_sync[i] = d->first_sync[i - 1];
    d->first_sync[0] = 0;
}

/* Index past the rank's last synchronization that ended by `time`. */
static size_t syncs_until(const struct delays *d, uint32_t rank, uint64_t time)
{
    size_t low = d->first_sync[rank], high = d->first_sync[rank + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->syncs[middle].end <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* End of the last synchronization that ranks `a`, until `time`, and `b`, until `until`, have in common; 0: none. */
static uint64_t sync_of_both(const struct delays *d, uint32_t a, uint32_t b, uint64_t time, uint64_t until)
{
    size_t end_a = syncs_until(d, a, time), end_b = syncs_until(d, b, until);
    for (size_t i = 0; i < SYNCS_MAX && end_a - i > d->first_sync[a]; i++)
        for (size_t k = 0; k < SYNCS_MAX && end_b - k > d->first_sync[b]; k++) {
            const struct sync *x = &d->syncs[end_a - i - 1], *y = &d->syncs[end_b - k - 1];
            if (x->group == y->group)
                return x->end > y->end ? x->end : y->end;
        }
    return 0;
}

static int delays_find_syncs(struct delays *d)
{
    struct upmu_mpi *m = d->m;
    for (uint32_t i = 0; i < d->n_waits; i++) {
        struct delayed *w = &d->waits[i];
        uint32_t rank = w->wait.rank, cause = w->wait.cause;
        uint32_t low = rank < cause ? rank : cause, high = rank < cause ? cause : rank;
        uint32_t last = map_find(&d->pairs, low, high);
        uint64_t group = sync_of_both(d, rank, cause, w->wait.begin, w->end);
        w->since = m->ranks[low]->begin < m->ranks[high]->begin ? m->ranks[low]->begin : m->ranks[high]->begin;
        if (last != MAP_NONE && d->waits[last].end > w->since)
            w->since = d->waits[last].end;
        if (group > w->since)
            w->since = group;
        if (w->since > w->wait.begin)
            w->since = w->wait.begin;
        if (!map_put(&d->pairs, low, high, i) || !map_put(&d->by_begin, rank, w->wait.begin, i))
            return delays_no_memory();
    }
    return 0;
}

/* --------------------------------------------------------------------------------------------------------- excess */

static void excess_add(struct delays *d, uint32_t key, uint32_t example, double ns)
{
    if (d->example[key] == MAP_NONE) {
        d->touched[d->n_touched++] = key;
        d->example[key] = example;
        d->excess[key] = 0;
    }
    if (ns > 0) /* of the late rank */
        d->example[key] = example;
    d->excess[key] += ns;
}

/* The part of a piece that is a wait. */
static int excess_add_wait(struct delays *d, uint32_t rank, const struct job_piece *p, uint64_t from, uint64_t to,
                           double sign, double *ns)
{
    uint32_t at = map_find(&d->by_begin, rank, p->begin);
    const struct delayed *w = at == MAP_NONE ? NULL : &d->waits[at];
    uint64_t begin = w && w->wait.begin > from ? w->wait.begin : from, end = w && w->end < to ? w->end : to;
    if (!w || end <= begin)
        return 0;
    double waited = (double)(end - begin);
    *ns = *ns > waited ? *ns - waited : 0;
    d->waited += sign * waited;
    struct share *s = sign > 0 ? job_grow(&d->shares, &d->n_shares, &d->cap_shares, sizeof *s) : NULL;
    if (s)
        *s = (struct share){at, waited};
    return sign > 0 && !s ? delays_no_memory() : 0;
}

/* What a rank did in an interval. */
static int excess_add_rank(struct delays *d, uint32_t rank, uint64_t from, uint64_t to, double sign)
{
    const struct job_rank *r = d->m->ranks[rank];
    uint32_t init = (uint32_t)d->m->n_keys;
    size_t first = job_piece_after(&r->lane, from), end = job_piece_after(&r->lane, to);
    int rc = 0;
    end += end < r->lane.n_pieces;
    if (end - first > PIECES_MAX)
        first = end - PIECES_MAX;
    if (r->begin > from)
        excess_add(d, init, init, sign * (double)((r->begin < to ? r->begin : to) - from));
    for (size_t i = first; rc == 0 && i < end && r->lane.pieces[i].begin < to; i++) {
        const struct job_piece *p = &r->lane.pieces[i];
        uint64_t begin = p->begin > from ? p->begin : from, until = p->end < to ? p->end : to;
        double ns = (double)p->ns * (double)(until - begin) / (double)(p->end - p->begin);
        if (d->m->keys[p->key].inside)
            rc = excess_add_wait(d, rank, p, from, to, sign, &ns);
        excess_add(d, d->m->keys[p->key].same, p->key, sign * ns);
    }
    return rc;
}

static void excess_clear(struct delays *d)
{
    for (size_t i = 0; i < d->n_touched; i++)
        d->example[d->touched[i]] = MAP_NONE;
    d->n_touched = d->n_shares = 0;
    d->waited = 0;
}

/* ----------------------------------------------------------------------------------------------------------- rows */

static int row_add(struct delays *d, uint32_t rank, uint32_t same, uint32_t example, double ns)
{
    struct upmu_mpi *m = d->m;
    const struct job_rank *r = m->ranks[rank];
    uint32_t at = map_find(&d->rows, rank, same);
    if (at == MAP_NONE) {
        const struct job_key none = {.inside = true, .call = example == m->n_keys ? MPI_CALL_Init : MPI_CALL_NONE};
        const struct job_key *k = example < m->n_keys ? &m->keys[example] : &none;
        struct upmu_mpi_delay *row = job_grow(&m->delays, &m->n_delays, &m->cap_delays, sizeof *row);
        double *sum = row ? job_grow(&d->row_ns, &d->n_row_ns, &d->cap_row_ns, sizeof *sum) : NULL;
        at = (uint32_t)(m->n_delays - 1);
        if (!sum || !map_put(&d->rows, rank, same, at))
            return delays_no_memory();
        *row = JOB_ROW(struct upmu_mpi_delay, m, r, k);
    }
    m->delays[at].waits++;
    d->row_ns[at] += ns;
    return 0;
}

/* The cost of a wait goes to what the late rank did longer, and to its own waits. */
static int delays_of_wait(struct delays *d, const struct delayed *w)
{
    uint32_t none = (uint32_t)d->m->n_keys + 1, cause = w->wait.cause;
    double total = 0, shared = 0;
    int rc = excess_add_rank(d, cause, w->since, w->end, 1);
    if (rc == 0)
        rc = excess_add_rank(d, w->wait.rank, w->since, w->wait.begin, -1);
    for (size_t i = 0; i < d->n_touched; i++)
        total += d->excess[d->touched[i]] > 0 ? d->excess[d->touched[i]] : 0;
    for (size_t i = 0; i < d->n_shares; i++)
        shared += d->waits[d->shares[i].wait].end < w->end ? d->shares[i].ns : 0;
    double waited = d->waited > 0 && shared > 0 ? d->waited : 0;
    if (rc == 0 && total + waited <= 0)
        rc = row_add(d, cause, none, none, w->cost);
    for (size_t i = 0; rc == 0 && i < d->n_touched; i++) {
        uint32_t key = d->touched[i];
        if (d->excess[key] > 0)
            rc = row_add(d, cause, key, d->example[key], w->cost * d->excess[key] / (total + waited));
    }
    for (size_t i = 0; waited > 0 && i < d->n_shares; i++) {
        struct delayed *of = &d->waits[d->shares[i].wait];
        if (of->end < w->end)
            of->cost += w->cost * waited / (total + waited) * d->shares[i].ns / shared;
    }
    excess_clear(d);
    return rc;
}

static int delay_compare(const void *x, const void *y)
{
    const struct upmu_mpi_delay *a = x, *b = y;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    return a->ns > b->ns ? -1 : a->ns < b->ns;
}

static int delays_start(struct delays *d)
{
    struct upmu_mpi *m = d->m;
    size_t n_keys = m->n_keys + 1;
    d->waits = calloc(m->n_waits + 1, sizeof *d->waits);
    d->syncs = calloc(m->n_nodes + 1, sizeof *d->syncs);
    d->first_sync = calloc(m->n_ranks + 2, sizeof *d->first_sync);
    d->excess = calloc(n_keys, sizeof *d->excess);
    d->example = malloc(n_keys * sizeof *d->example);
    d->touched = calloc(n_keys, sizeof *d->touched);
    if (!d->waits || !d->syncs || !d->first_sync || !d->excess || !d->example || !d->touched)
        return delays_no_memory();
    for (size_t i = 0; i < n_keys; i++)
        d->example[i] = MAP_NONE;
    d->n_waits = m->n_waits;
    for (size_t i = 0; i < m->n_waits; i++) {
        const struct job_wait *w = &m->waits[i];
        d->waits[i] = (struct delayed){
            .wait = *w, .end = w->begin + w->ns, .cost = (double)job_within(m, w->begin, w->begin + w->ns)};
    }
    qsort(d->waits, d->n_waits, sizeof *d->waits, delayed_compare);
    delays_list_syncs(d);
    return delays_find_syncs(d);
}

static void delays_free(struct delays *d)
{
    free(d->waits);
    free(d->syncs);
    free(d->first_sync);
    free(d->excess);
    free(d->example);
    free(d->touched);
    free(d->shares);
    free(d->row_ns);
    map_free(&d->pairs);
    map_free(&d->by_begin);
    map_free(&d->rows);
}

int job_find_delays(struct upmu_mpi *m)
{
    struct delays d = {.m = m};
    int rc = delays_start(&d);
    for (size_t i = d.n_waits; rc == 0 && i > 0; i--)
        if (d.waits[i - 1].cost > 0)
            rc = delays_of_wait(&d, &d.waits[i - 1]);
    for (size_t i = 0; rc == 0 && d.row_ns && i < m->n_delays; i++)
        m->delays[i].ns = (uint64_t)(d.row_ns[i] + 0.5);
    if (rc == 0 && m->n_delays)
        qsort(m->delays, m->n_delays, sizeof *m->delays, delay_compare);
    delays_free(&d);
    return rc;
}
