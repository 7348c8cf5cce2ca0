/* SPDX-License-Identifier: MIT */
/*
 * What the thread that called MPI_Init() did in each rank: its calls, and pieces of time between and in them.
 *
 * A piece is keyed by its innermost region, and outside of regions by the call before which it was, or in which. Call sites of different
 * processes are the same if they are at the same place of the same file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi_job/job.h"

static uint64_t text_hash(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return h;
}

static int lane_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading MPI events");
}

/* ----------------------------------------------------------------------------------------------------------- keys */

/* 1 + index of a region's name; 0 without memory. Names with the same hash are tried one after the other. */
static uint32_t region_number(struct lanes *l, const char *name)
{
    struct upmu_mpi *m = l->m;
    uint64_t hash = text_hash(name);
    for (uint64_t i = 0;; i++) {
        uint32_t at = map_find(&l->names, hash, i);
        if (at != MAP_NONE && strcmp(m->names[at], name) == 0)
            return at + 1;
        if (at != MAP_NONE)
            continue;
        char *copy = strdup(name), **slot = copy ? job_grow(&m->names, &m->n_names, &m->cap_names, sizeof copy) : NULL;
        if (!slot) {
            free(copy);
            return 0;
        }
        *slot = copy;
        return map_put(&l->names, hash, i, (uint32_t)(m->n_names - 1)) ? (uint32_t)m->n_names : 0;
    }
}

/* MAP_NONE without memory. */
static uint32_t key_number(struct lanes *l, const struct job_key *k)
{
    struct upmu_mpi *m = l->m;
    uint64_t a = (uint64_t)k->process << 32 | (uint64_t)k->call << 1 | k->inside;
    uint64_t b = k->region ? UINT64_MAX - k->region : k->site;
    uint32_t at = map_find(&l->keys, a, b);
    if (at != MAP_NONE)
        return at;
    struct job_key *to = job_grow(&m->keys, &m->n_keys, &m->cap_keys, sizeof *to);
    if (!to)
        return MAP_NONE;
    *to = *k;
    at = (uint32_t)(m->n_keys - 1);
    to->same = at;
    return map_put(&l->keys, a, b, at) ? at : MAP_NONE;
}

/* The file and the place in it of a call site; NULL: not known. */
static const char *site_file(const struct upmu_trace *trace, const struct job_key *k, uint64_t *place)
{
    struct upmu_trace_module of = {.size = sizeof of};
    for (size_t i = 0; k->site && upmu_trace_module_at(trace, k->process, i, &of) == 0; i++)
        if (k->site >= of.start && k->site < of.end) {
            *place = k->site - of.base;
            return of.path;
        }
    return NULL;
}

static int keys_compare(struct lanes *l, const struct upmu_trace *trace)
{
    struct map same = {0};
    struct upmu_mpi *m = l->m;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < m->n_keys; i++) {
        struct job_key *k = &m->keys[i];
        uint64_t place = 0;
        const char *file = k->region ? NULL : site_file(trace, k, &place);
        uint64_t a = (uint64_t)k->region << 32 | (uint64_t)k->call << 1 | k->inside;
        uint64_t b = file ? text_hash(file) + place : 0;
        uint32_t at = map_find(&same, a, b);
        if (at != MAP_NONE)
            k->same = at;
        else if (!map_put(&same, a, b, i))
            rc = lane_no_memory();
    }
    map_free(&same);
    return rc;
}

/* --------------------------------------------------------------------------------------------------------- pieces */

static bool is_lane(const struct job_rank *r, pid_t tid)
{
    return r->wrapped && r->init_tid == tid;
}

/* The piece up to `time` is of that key. @return 0; UPMU_E_NOMEM. */
static int lane_cut(struct lanes *l, struct job_rank *r, uint64_t time, const struct job_key *k)
{
    struct job_lane *lane = &r->lane;
    uint64_t begin = lane->since ? lane->since : r->begin, polls = lane->polls_ns;
    lane->since = time;
    lane->polls_ns = 0;
    if (time <= begin)
        return 0;
    uint32_t key = key_number(l, k);
    struct job_piece *p =
        key == MAP_NONE ? NULL : job_grow(&lane->pieces, &lane->n_pieces, &lane->cap_pieces, sizeof *p);
    if (!p)
        return lane_no_memory();
    *p = (struct job_piece){
        .begin = begin, .end = time, .ns = time - begin > polls ? time - begin - polls : 0, .key = key};
    lane->before_ns += k->inside ? 0 : p->ns;
    return 0;
}

static struct job_key lane_key(const struct job_rank *r, const struct job_thread *t)
{
    uint32_t depth = t->depth > JOB_REGIONS_MAX ? JOB_REGIONS_MAX : t->depth;
    return (struct job_key){.process = r->process, .region = depth ? t->region[depth - 1] : 0};
}

int lane_region(struct lanes *l, struct job_rank *r, struct job_thread *t, const struct upmu_trace_event *e)
{
    const struct job_key k = lane_key(r, t);
    int rc = is_lane(r, t->tid) && !t->open.node ? lane_cut(l, r, e->time_ns, &k) : 0;
    if (rc != 0)
        return rc;
    if (e->kind == UPMU_TRACE_REGION_END) {
        t->depth -= t->depth > 0;
        return 0;
    }
    if (e->kind == UPMU_TRACE_REGIONS_DISCARDED) {
        t->depth = t->depth > 0 && strcmp(l->m->names[t->region[0] - 1], "(thread)") == 0;
        return 0;
    }
    uint32_t number = region_number(l, e->name);
    if (!number)
        return lane_no_memory();
    if (t->depth < JOB_REGIONS_MAX)
        t->region[t->depth] = number;
    t->depth++;
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------- calls */

struct job_node *job_node(struct upmu_mpi *m, uint32_t number)
{
    return &m->nodes[number - 1];
}

/* Of calls whose dependencies are not analyzed. */
static bool class_is_kept(int class)
{
    return class == MPI_CLASS_PROBE || class == MPI_CLASS_NEIGHBOR || class == MPI_CLASS_COMM ||
           class == MPI_CLASS_COMM_OTHER || class == MPI_CLASS_COMM_FREE || class == MPI_CLASS_RMA ||
           class == MPI_CLASS_IO;
}

int lane_enter(struct lanes *l, struct job_rank *r, struct job_thread *t, const struct upmu_trace_event *e)
{
    struct upmu_mpi *m = l->m;
    struct job_key k = lane_key(r, t);
    if (!r->wrapped)
        return 0; /* MPI_Init() */
    if (r->init_tid != t->tid) {
        r->lane.several = true;
        return 0;
    }
    if (!k.region) {
        k.call = e->mpi.call;
        k.site = e->site;
        k.stack = e->stack;
    }
    int rc = lane_cut(l, r, e->time_ns, &k);
    if (rc != 0 || e->mpi.call == MPI_CALL_Finalize || m->n_nodes >= MAP_NONE - 1)
        return rc;
    struct job_node *n = job_grow(&m->nodes, &m->n_nodes, &m->cap_nodes, sizeof *n);
    if (!n)
        return lane_no_memory();
    *n = (struct job_node){.begin = e->time_ns,
                           .before_ns = r->lane.before_ns,
                           .rank = r->process,
                           .kept = class_is_kept(mpi_call_rows[e->mpi.call].class)};
    r->lane.before_ns = 0;
    t->open.node = (uint32_t)m->n_nodes;
    return 0;
}

int lane_leave(struct lanes *l, struct job_rank *r, struct job_thread *t, uint64_t end)
{
    if (!t->open.node)
        return 0;
    const struct job_key k = {
        .call = t->open.call, .inside = true, .process = r->process, .stack = t->open.stack, .site = t->open.site};
    job_node(l->m, t->open.node)->end = end;
    return lane_cut(l, r, end, &k);
}

/* The time after the last call of a rank that did not call MPI_Finalize(). */
static int lane_end(struct lanes *l, struct job_rank *r)
{
    for (size_t i = 0; i < r->n_threads; i++) {
        const struct job_thread *t = &r->threads[i];
        const struct job_key k = lane_key(r, t);
        if (is_lane(r, t->tid) && !t->open.begin && !r->end)
            return lane_cut(l, r, r->last, &k);
    }
    return 0;
}

int lanes_finish(struct lanes *l, const struct upmu_trace *trace)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < l->m->n_ranks; i++)
        rc = lane_end(l, l->m->ranks[i]);
    return rc == 0 ? keys_compare(l, trace) : rc;
}

void lanes_free(struct lanes *l)
{
    map_free(&l->names);
    map_free(&l->keys);
}

void lane_poll(struct job_rank *r, const struct upmu_trace_event *e)
{
    if (is_lane(r, e->tid))
        r->lane.polls_ns += e->mpi_poll.busy_ns;
}

uint64_t job_rank_end(const struct job_rank *r)
{
    return r->end ? r->end : r->last > r->begin ? r->last : r->begin;
}

size_t job_piece_after(const struct job_lane *lane, uint64_t time)
{
    size_t low = 0, high = lane->n_pieces;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lane->pieces[middle].end <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---------------------------------------------------------------------------------------------------------- edges */

int job_add_edge(struct upmu_mpi *m, uint32_t node, uint32_t on)
{
    if (!node || !on)
        return 0;
    struct job_edge *e = job_grow(&m->edges, &m->n_edges, &m->cap_edges, sizeof *e);
    if (!e)
        return lane_no_memory();
    *e = (struct job_edge){node, on};
    return 0;
}

void job_keep_duration(struct upmu_mpi *m, uint32_t node)
{
    if (node)
        job_node(m, node)->kept = true;
}
