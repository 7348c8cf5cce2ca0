/* SPDX-License-Identifier: MIT */
/* Ranks that wait for each other permanently, as the structs of upmu/mpi.h. */
#include <stdlib.h>

#include "base/error.h"
#include "base/text/name.h"
#include "base/opts.h"
#include "mpi_job/waiting.h"
#include "upmu/trace.h"

/* Blocked ranks that a node waits for: `n`, and the rank if it is one, else -1. */
struct deadlock_causes {
    int32_t rank;
    uint32_t n;
};

static void causes_of(const struct waiting *w, uint32_t node, struct deadlock_causes *c)
{
    if (w->info[node].finalized)
        c->rank = c->n++ == 0 ? w->m->ranks[w->info[node].finalized - 1]->rank : -1;
    for (size_t i = 0; i < w->n_edges; i++) {
        const struct ao_edge *e = &w->edges[i];
        if (e->from != node || e->to == AO_NONE || w->nodes[e->to].can)
            continue;
        if (w->info[e->to].kind == WAITING_OTHER) {
            causes_of(w, e->to, c); /* these have edges to ranks only */
            continue;
        }
        c->rank = c->n++ == 0 ? w->m->ranks[w->info[e->to].rank]->rank : -1;
    }
}

static int deadlock_add_thread(const struct waiting *w, uint32_t node, bool behind)
{
    struct upmu_mpi *m = w->m;
    const struct waiting_node *n = &w->info[node];
    struct job_deadlock_thread *t =
        job_grow(&m->deadlock_threads, &m->n_deadlock_threads, &m->cap_deadlock_threads, sizeof *m->deadlock_threads);
    if (!t)
        return UPMU_E_NOMEM;
    struct deadlock_causes c = {.rank = -1};
    causes_of(w, node, &c);
    *t = (struct job_deadlock_thread){.rank = n->rank, .behind = behind, .cause = c.rank, .n_causes = c.n};
    if (n->thread) {
        t->tid = n->thread->tid;
        t->open = n->thread->open;
        t->since_ns = t->open.begin;
        t->site = t->open.site;
        t->stack = t->open.stack;
    } else {
        t->tid = n->slot->tid;
        t->object = n->slot->object;
        t->kind = n->slot->kind;
        t->holder = n->slot->peer;
        t->since_ns = n->slot->since_ns;
        t->site = n->slot->site;
        t->stack = n->slot->stack;
    }
    return 0;
}

static bool node_is_in(const struct waiting *w, uint32_t node, uint32_t group, bool core)
{
    const struct ao_node *n = &w->nodes[node];
    return !n->can && n->group == group && n->core == core && w->info[node].kind == WAITING_THREAD;
}

static int deadlock_kind(const struct waiting *w, uint32_t group)
{
    bool any = false, mismatch = false, lock = false, finalized = false, message = false, collective = false;
    for (uint32_t i = 0; i < w->n_nodes; i++) {
        const struct waiting_node *n = &w->info[i];
        if (w->nodes[i].can || w->nodes[i].group != group || !w->nodes[i].core)
            continue;
        finalized |= n->finalized != 0;
        mismatch |= n->mismatch;
        any |= n->any;
        if (n->kind != WAITING_THREAD)
            continue;
        bool is_collective = n->thread && job_collective_class(n->thread->open.call) >= MPI_CLASS_BARRIER;
        lock |= n->slot && n->slot->kind == UPMU_TRACE_LOCK_BLOCK;
        collective |= is_collective;
        message |= !is_collective;
    }
    return finalized                ? UPMU_MPI_DEADLOCK_FINALIZED
           : lock                   ? UPMU_MPI_DEADLOCK_LOCK
           : mismatch               ? UPMU_MPI_DEADLOCK_COLLECTIVE
           : collective && !message ? UPMU_MPI_DEADLOCK_COLLECTIVE
           : any                    ? UPMU_MPI_DEADLOCK_KNOT
                                    : UPMU_MPI_DEADLOCK_CYCLE;
}

/* Report a group of blocked nodes as a deadlock, if threads are among them. */
static int deadlock_add(const struct waiting *w, uint32_t group)
{
    struct upmu_mpi *m = w->m;
    struct job_deadlock d = {.kind = deadlock_kind(w, group), .first = (uint32_t)m->n_deadlock_threads};
    int rc = 0;
    for (int core = 1; rc == 0 && core >= 0; core--)
        for (uint32_t i = 0; rc == 0 && i < w->n_nodes; i++) {
            if (!node_is_in(w, i, group, core))
                continue;
            rc = deadlock_add_thread(w, i, !core);
            d.n += core != 0;
            d.n_behind += !core;
        }
    if (rc != 0 || d.n == 0)
        return rc;
    d.job = m->ranks[m->deadlock_threads[d.first].rank]->job;
    struct job_deadlock *to = job_grow(&m->deadlocks, &m->n_deadlocks, &m->cap_deadlocks, sizeof *m->deadlocks);
    if (!to)
        return UPMU_E_NOMEM;
    *to = d;
    return 0;
}

/* Threads at locks alone are the matter of upmu/deadlock.h. */
static bool group_has_call(const struct waiting *w, uint32_t group)
{
    for (uint32_t i = 0; i < w->n_nodes; i++)
        if (node_is_in(w, i, group, true) && w->info[i].thread)
            return true;
    return false;
}

int job_find_deadlocks(struct upmu_mpi *m)
{
    struct waiting w;
    int rc = waiting_build(&w, m);
    for (uint32_t group = 0; rc == 0 && group < w.graph.n_groups; group++)
        if (group_has_call(&w, group))
            rc = deadlock_add(&w, group);
    waiting_free(&w);
    return rc;
}

/* --------------------------------------------------------------------------------------------------------- public */

int upmu_mpi_deadlock_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_deadlock *out)
{
    if (!mpi)
        return argument_null(__func__, "mpi");
    if (index >= mpi->n_deadlocks)
        return UPMU_E_END;
    const struct job_deadlock *d = &mpi->deadlocks[index];
    const struct upmu_mpi_deadlock ours = {.job = d->job, .kind = d->kind, .n_threads = d->n, .n_behind = d->n_behind};
    return OPTS_GIVE(out, ours, UPMU_MPI_DEADLOCK_SIZE_V1);
}

int upmu_mpi_deadlock_thread_at(const struct upmu_mpi *mpi, size_t index, size_t k,
                                struct upmu_mpi_deadlock_thread *out)
{
    if (!mpi)
        return argument_null(__func__, "mpi");
    if (index >= mpi->n_deadlocks || k >= (size_t)mpi->deadlocks[index].n + mpi->deadlocks[index].n_behind)
        return UPMU_E_END;
    const struct job_deadlock_thread *t = &mpi->deadlock_threads[mpi->deadlocks[index].first + k];
    const struct job_rank *r = mpi->ranks[t->rank];
    const struct upmu_mpi_deadlock_thread ours = {
        .process = r->process,
        .rank = r->rank,
        .pid = (int32_t)r->pid,
        .tid = (int32_t)t->tid,
        .host = r->host,
        .name = t->open.begin ? mpi_call_rows[t->open.call].name : NULL,
        .comm = t->open.comm,
        .sequence = job_collective_class(t->open.call) >= MPI_CLASS_BARRIER ? t->open.sequence : 0,
        .peer = t->open.begin ? t->open.peer : UPMU_MPI_NONE,
        .tag = t->open.begin ? t->open.tag : UPMU_MPI_NONE,
        .cause = t->cause,
        .n_causes = t->n_causes,
        .object = t->object,
        .wait_kind = t->kind,
        .holder = (int32_t)t->holder,
        .since_ns = t->since_ns,
        .site = t->site,
        .stack = t->stack,
        .behind = t->behind,
    };
    return OPTS_GIVE(out, ours, UPMU_MPI_DEADLOCK_THREAD_SIZE_V1);
}

const char *upmu_mpi_deadlock_name(int kind)
{
    static const char *const names[] = {
        [UPMU_MPI_DEADLOCK_CYCLE] = "message-cycle", [UPMU_MPI_DEADLOCK_COLLECTIVE] = "collective-mismatch",
        [UPMU_MPI_DEADLOCK_KNOT] = "wildcard-knot",  [UPMU_MPI_DEADLOCK_LOCK] = "lock-and-message",
        [UPMU_MPI_DEADLOCK_FINALIZED] = "finalized",
    };
    return NAME_OF(names, kind);
}
