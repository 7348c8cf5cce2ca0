/* SPDX-License-Identifier: MIT */
/* MPI jobs as the structs of upmu/mpi.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text/name.h"
#include "base/opts.h"
#include "mpi_job/job.h"

/* ----------------------------------------------------------------------------------------------------------- jobs */

static bool job_is_before(const struct job_rank *a, const struct job_rank *b)
{
    if (a->job_id != b->job_id)
        return a->job_id < b->job_id;
    return a->rank != b->rank ? a->rank < b->rank : a->wrapped > b->wrapped;
}

static int rank_compare(const void *x, const void *y)
{
    const struct job_rank *const *a = x, *const *b = y;
    return job_is_before(*a, *b) ? -1 : job_is_before(*b, *a);
}

static void rank_free(struct job_rank *r)
{
    free(r->library);
    free(r->host);
    free(r->comms);
    free(r->threads);
    free(r->lane.pieces);
    wait_state_file_free(&r->evidence.file);
    free(r);
}

/* Processes that a rank has started have its labels, but make no call: only the rank itself stays. */
static void jobs_keep_ranks(struct upmu_mpi *m)
{
    size_t kept = 0;
    qsort(m->ranks, m->n_ranks, sizeof *m->ranks, rank_compare);
    for (size_t i = 0; i < m->n_ranks; i++) {
        struct job_rank *r = m->ranks[i], *before = kept ? m->ranks[kept - 1] : NULL;
        bool again = !r->wrapped && before && before->job_id == r->job_id && before->rank == r->rank;
        if (again)
            rank_free(r);
        else
            m->ranks[kept++] = r;
    }
    m->n_ranks = kept;
    for (size_t i = 0; i < m->n_processes; i++)
        m->rank_of_process[i] = UINT32_MAX;
    for (size_t i = 0; i < kept; i++)
        m->rank_of_process[m->ranks[i]->process] = (uint32_t)i;
}

static int jobs_number(struct upmu_mpi *m)
{
    for (size_t i = 0; i < m->n_ranks; i++) {
        struct job_rank *r = m->ranks[i];
        bool first = i == 0 || m->ranks[i - 1]->job_id != r->job_id;
        if (first && !job_grow(&m->jobs, &m->n_jobs, &m->cap_jobs, sizeof *m->jobs))
            return UPMU_E_NOMEM;
        r->job = (uint32_t)(m->n_jobs - 1);
        if (r->wrapped)
            m->jobs[r->job].world = (uint32_t)r->size;
        m->jobs[r->job].ranks += r->wrapped != 0;
    }
    return 0;
}

static uint64_t rank_time(const struct upmu_mpi *m, const struct job_rank *r)
{
    return job_within(m, r->begin, job_rank_end(r));
}

static uint64_t rank_useful(const struct upmu_mpi *m, const struct job_rank *r)
{
    uint64_t time = rank_time(m, r);
    return time > r->mpi_ns ? time - r->mpi_ns : 0;
}

static void jobs_compute(struct upmu_mpi *m)
{
    for (size_t i = 0; i < m->n_ranks; i++) {
        const struct job_rank *r = m->ranks[i];
        struct upmu_mpi_job *j = &m->jobs[r->job];
        if (!r->wrapped)
            continue;
        uint64_t useful = rank_useful(m, r), begin = job_cut(m, r->begin), end = job_cut(m, job_rank_end(r));
        j->begin_ns = j->begin_ns == 0 || begin < j->begin_ns ? begin : j->begin_ns;
        j->end_ns = end > j->end_ns ? end : j->end_ns;
        j->useful_max_ns = useful > j->useful_max_ns ? useful : j->useful_max_ns;
        j->useful_mean_ns += (double)useful / j->ranks;
    }
    for (size_t i = 0; i < m->n_jobs; i++) {
        struct upmu_mpi_job *j = &m->jobs[i];
        double time = (double)(j->end_ns - j->begin_ns), longest = (double)j->useful_max_ns;
        if (time <= 0 || longest <= 0)
            continue;
        j->load_balance = j->useful_mean_ns / longest;
        j->communication = longest / time;
        j->parallel = j->useful_mean_ns / time;
    }
}

/* ---------------------------------------------------------------------------------------------------------- waits */

/* Of several waits within one call, for several messages, the longest one is that of the call. */
static int wait_compare_call(const void *x, const void *y)
{
    const struct job_wait *a = x, *b = y;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->call != b->call)
        return a->call < b->call ? -1 : 1;
    return a->ns > b->ns ? -1 : a->ns < b->ns;
}

static int wait_compare_row(const void *x, const void *y)
{
    const struct job_wait *a = x, *b = y;
    if (a->pattern != b->pattern)
        return a->pattern < b->pattern ? -1 : 1;
    if (a->call != b->call)
        return a->call < b->call ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->cause < b->cause ? -1 : a->cause > b->cause;
}

static int row_compare(const void *x, const void *y)
{
    const struct upmu_mpi_wait *a = x, *b = y;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    return a->ns > b->ns ? -1 : a->ns < b->ns;
}

static void waits_keep_longest(struct upmu_mpi *m)
{
    size_t kept = 0;
    qsort(m->waits, m->n_waits, sizeof *m->waits, wait_compare_call);
    for (size_t i = 0; i < m->n_waits; i++) {
        const struct job_wait *w = &m->waits[i];
        if (kept && m->waits[kept - 1].rank == w->rank && m->waits[kept - 1].begin == w->begin &&
            m->waits[kept - 1].call == w->call)
            continue;
        m->waits[kept++] = *w;
    }
    m->n_waits = kept;
}

/* Waits, messages and deadlocks without a part in the stretch are left out; a deadlock lasts to the end of the recording. */
static void mpi_drop(struct upmu_mpi *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->n_waits; i++) {
        struct job_wait w = m->waits[i];
        w.ns = job_within(m, w.begin, w.begin + w.ns);
        if (w.ns != 0)
            m->waits[kept++] = w;
    }
    m->n_waits = kept;
    kept = 0;
    for (size_t i = 0; i < m->n_messages; i++)
        if (job_touches(m, m->sends[m->messages[i].send].posted, m->receives[m->messages[i].receive].end))
            m->messages[kept++] = m->messages[i];
    m->n_messages = kept;
    kept = 0;
    for (size_t i = 0; i < m->n_deadlocks; i++) {
        uint64_t since = 0;
        for (uint32_t k = 0; k < m->deadlocks[i].n; k++) {
            const struct job_deadlock_thread *t = &m->deadlock_threads[m->deadlocks[i].first + k];
            since = t->since_ns > since ? t->since_ns : since;
        }
        if (since <= m->to_ns)
            m->deadlocks[kept++] = m->deadlocks[i];
    }
    m->n_deadlocks = kept;
}

static int waits_sum(struct upmu_mpi *m)
{
    const struct job_wait *last = NULL;
    waits_keep_longest(m);
    qsort(m->waits, m->n_waits, sizeof *m->waits, wait_compare_row);
    for (size_t i = 0; i < m->n_waits; i++) {
        const struct job_wait *w = &m->waits[i];
        struct job_rank *r = m->ranks[w->rank];
        uint64_t ns = job_within(m, w->begin, w->begin + w->ns);
        if (ns == 0)
            continue;
        if (!last || wait_compare_row(w, last) != 0) {
            struct upmu_mpi_wait *row = job_grow(&m->rows, &m->n_rows, &m->cap_rows, sizeof *m->rows);
            if (!row)
                return UPMU_E_NOMEM;
            *row = (struct upmu_mpi_wait){.job = r->job,
                                          .name = mpi_call_rows[w->call].name,
                                          .pattern = w->pattern,
                                          .rank = r->rank,
                                          .cause = m->ranks[w->cause]->rank};
        }
        struct upmu_mpi_wait *row = &m->rows[m->n_rows - 1];
        last = w;
        row->count++;
        row->ns += ns;
        row->max_ns = ns > row->max_ns ? ns : row->max_ns;
        if (w->pattern != UPMU_MPI_WAIT_FINALIZE)
            r->wait_ns += ns;
    }
    qsort(m->rows, m->n_rows, sizeof *m->rows, row_compare);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------- calls */

static int call_compare(const void *x, const void *y)
{
    const struct upmu_mpi_call *a = x, *b = y;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return a->calls > b->calls ? -1 : a->calls < b->calls;
}

static void call_add(struct upmu_mpi_call *c, const struct job_rank *r, const struct job_call *of)
{
    c->calls += of->calls;
    c->ns += of->ns;
    c->bytes += of->bytes;
    if (of->ns >= c->max_ns) {
        c->max_ns = of->ns;
        c->max_rank = r->rank;
    }
}

static int calls_sum_job(struct upmu_mpi *m, uint32_t job)
{
    for (uint32_t k = 0; k < MPI_CALL_NUMBERS; k++) {
        struct upmu_mpi_call c = {.job = job, .name = mpi_call_rows[k].name};
        for (size_t i = 0; i < m->n_ranks; i++)
            if (m->ranks[i]->job == job && m->ranks[i]->call[k].calls)
                call_add(&c, m->ranks[i], &m->ranks[i]->call[k]);
        struct upmu_mpi_call *row = c.calls ? job_grow(&m->calls, &m->n_calls, &m->cap_calls, sizeof c) : NULL;
        if (c.calls && !row)
            return UPMU_E_NOMEM;
        if (row)
            *row = c;
    }
    return 0;
}

static int calls_sum(struct upmu_mpi *m)
{
    int rc = 0;
    for (uint32_t job = 0; rc == 0 && job < m->n_jobs; job++)
        rc = calls_sum_job(m, job);
    if (m->n_calls)
        qsort(m->calls, m->n_calls, sizeof *m->calls, call_compare);
    return rc;
}

/* --------------------------------------------------------------------------------------------------------- public */

/* The halves have the process's index; ranks are sorted once all are known. */
static int mpi_analyze(struct upmu_mpi *m)
{
    int rc = jobs_number(m);
    for (size_t i = 0; i < m->n_sends; i++)
        m->sends[i].job = m->ranks[m->sends[i].rank]->job;
    for (size_t i = 0; i < m->n_receives; i++)
        m->receives[i].job = m->ranks[m->receives[i].rank]->job;
    for (size_t i = 0; i < m->n_parts; i++)
        m->parts[i].job = m->ranks[m->parts[i].rank]->job;
    if (rc == 0 && m->n_sends + m->n_receives)
        rc = job_match_messages(m);
    if (rc == 0)
        rc = job_find_partners(m);
    if (rc == 0 && m->n_parts)
        rc = job_match_collectives(m);
    if (rc == 0 && m->n_waits)
        rc = waits_sum(m);
    if (rc == 0)
        rc = calls_sum(m);
    jobs_compute(m);
    if (rc == 0)
        rc = job_replay(m);
    if (rc == 0 && m->n_waits)
        rc = job_find_delays(m);
    if (rc == 0)
        rc = job_find_paths(m);
    if (rc == 0)
        rc = job_find_deadlocks(m);
    mpi_drop(m);
    return rc;
}

/* Process indices become rank indices. */
static void mpi_renumber(struct upmu_mpi *m)
{
    for (size_t i = 0; i < m->n_sends; i++)
        m->sends[i].rank = m->rank_of_process[m->sends[i].rank];
    for (size_t i = 0; i < m->n_receives; i++)
        m->receives[i].rank = m->rank_of_process[m->receives[i].rank];
    for (size_t i = 0; i < m->n_pending; i++)
        m->pending[i].rank = m->rank_of_process[m->pending[i].rank];
    for (size_t i = 0; i < m->n_parts; i++)
        m->parts[i].rank = m->rank_of_process[m->parts[i].rank];
    for (size_t i = 0; i < m->n_nodes; i++)
        m->nodes[i].rank = m->rank_of_process[m->nodes[i].rank];
}

int job_open_between(struct upmu_mpi **mpi, const char *dir, uint64_t from_ns, uint64_t to_ns, job_ran_fn *ran,
                     void *arg)
{
    struct upmu_mpi *m = calloc(1, sizeof *m);
    if (!m)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while reading MPI events");
    m->from_ns = from_ns;
    m->to_ns = to_ns ? to_ns : UINT64_MAX;
    int rc = job_read(m, dir);
    if (rc == 0 && m->n_ranks == 0)
        rc = upmu_fail(UPMU_E_STATE, "\"%s\" has no MPI ranks. Record with 'upmu record --mpi'", dir);
    if (rc == 0) {
        jobs_keep_ranks(m);
        mpi_renumber(m);
        job_read_evidence(m, dir, ran, arg);
        rc = mpi_analyze(m);
    }
    if (rc == 0)
        *mpi = m;
    else
        upmu_mpi_close(m);
    return rc;
}

int job_open_dir(struct upmu_mpi **mpi, const char *dir, job_ran_fn *ran, void *arg)
{
    return job_open_between(mpi, dir, 0, 0, ran, arg);
}

int upmu_mpi_open(struct upmu_mpi **mpi, const char *dir)
{
    if (mpi)
        *mpi = NULL;
    return mpi && dir ? job_open_dir(mpi, dir, NULL, NULL) : ARGUMENT_NULL(mpi, dir);
}

int upmu_mpi_open_between(struct upmu_mpi **mpi, const char *dir, uint64_t from_ns, uint64_t to_ns)
{
    if (mpi)
        *mpi = NULL;
    if (!mpi || !dir)
        return ARGUMENT_NULL(mpi, dir);
    if (to_ns != 0 && to_ns < from_ns)
        return upmu_fail(UPMU_E_INVAL, "%s: to_ns is before from_ns", __func__);
    return job_open_between(mpi, dir, from_ns, to_ns, NULL, NULL);
}

void upmu_mpi_close(struct upmu_mpi *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n_ranks; i++)
        rank_free(m->ranks[i]);
    free(m->ranks);
    free(m->sends);
    free(m->receives);
    free(m->probes);
    free(m->messages);
    free(m->parts);
    free(m->pending);
    free(m->deadlocks);
    free(m->deadlock_threads);
    free(m->waits);
    free(m->jobs);
    free(m->calls);
    free(m->rows);
    free(m->rank_of_process);
    free(m->delays);
    free(m->partners);
    free(m->steps);
    free(m->paths);
    for (size_t i = 0; i < m->n_names; i++)
        free(m->names[i]);
    free(m->names);
    free(m->keys);
    free(m->nodes);
    free(m->edges);
    free(m->groups);
    free(m);
}

int upmu_mpi_job_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_job *out)
{
    if (!mpi)
        return argument_null(__func__, "mpi");
    if (index >= mpi->n_jobs)
        return UPMU_E_END;
    return OPTS_GIVE(out, mpi->jobs[index], UPMU_MPI_JOB_SIZE_V1);
}

int upmu_mpi_rank_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_rank *out)
{
    if (!mpi)
        return argument_null(__func__, "mpi");
    if (index >= mpi->n_ranks)
        return UPMU_E_END;
    const struct job_rank *r = mpi->ranks[index];
    struct upmu_mpi_rank ours = {
        .job = r->job,
        .rank = r->rank,
        .pid = (int32_t)r->pid,
        .host = r->host,
        .library = r->library,
        .wrapped = r->wrapped != 0,
        .end = r->end        ? UPMU_MPI_END_FINALIZED
               : r->complete ? UPMU_MPI_END_EXITED
                             : UPMU_MPI_END_KILLED,
        .in_call = r->in_call,
        .calls = r->calls,
        .sent = r->sent,
        .sent_bytes = r->sent_bytes,
        .received = r->received,
        .received_bytes = r->received_bytes,
        .unknown_bytes = r->unknown_bytes,
        .process = r->process,
        .tid = (int32_t)r->init_tid,
    };
    if (r->wrapped) {
        ours.time_ns = rank_time(mpi, r);
        ours.useful_ns = rank_useful(mpi, r);
        ours.mpi_ns = r->mpi_ns;
        ours.wait_ns = r->wait_ns;
    }
    return OPTS_GIVE(out, ours, UPMU_MPI_RANK_SIZE_V1);
}

int upmu_mpi_call_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_call *out)
{
    if (!mpi)
        return argument_null(__func__, "mpi");
    if (index >= mpi->n_calls)
        return UPMU_E_END;
    return OPTS_GIVE(out, mpi->calls[index], UPMU_MPI_CALL_SIZE_V1);
}

int upmu_mpi_wait_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_wait *out)
{
    if (!mpi)
        return argument_null(__func__, "mpi");
    if (index >= mpi->n_rows)
        return UPMU_E_END;
    return OPTS_GIVE(out, mpi->rows[index], UPMU_MPI_WAIT_SIZE_V1);
}

int upmu_mpi_call_wait_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_call_wait *out)
{
    if (!mpi)
        return argument_null(__func__, "mpi");
    if (index >= mpi->n_waits)
        return UPMU_E_END;
    const struct job_wait *w = &mpi->waits[index];
    const struct job_rank *r = mpi->ranks[w->rank];
    const struct upmu_mpi_call_wait ours = {.job = r->job,
                                            .name = mpi_call_rows[w->call].name,
                                            .call_ns = w->begin,
                                            .ns = w->ns,
                                            .process = r->process,
                                            .pattern = w->pattern,
                                            .rank = r->rank,
                                            .cause = mpi->ranks[w->cause]->rank};
    return OPTS_GIVE(out, ours, UPMU_MPI_CALL_WAIT_SIZE_V1);
}

int upmu_mpi_message_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_message *out)
{
    if (!mpi)
        return argument_null(__func__, "mpi");
    if (index >= mpi->n_messages)
        return UPMU_E_END;
    const struct job_half *s = &mpi->sends[mpi->messages[index].send];
    const struct job_half *r = &mpi->receives[mpi->messages[index].receive];
    const struct job_rank *from = mpi->ranks[s->rank], *to = mpi->ranks[r->rank];
    const struct upmu_mpi_message ours = {.job = s->job,
                                          .source = from->rank,
                                          .destination = to->rank,
                                          .send_process = from->process,
                                          .receive_process = to->process,
                                          .send_tid = (int32_t)s->tid,
                                          .receive_tid = (int32_t)r->tid,
                                          .send_ns = s->posted,
                                          .receive_ns = r->end,
                                          .bytes = r->bytes != UPMU_NO_VALUE ? r->bytes : s->bytes,
                                          .comm = s->comm,
                                          .tag = s->tag};
    return OPTS_GIVE(out, ours, UPMU_MPI_MESSAGE_SIZE_V1);
}

int upmu_mpi_delay_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_delay *out)
{
    if (!mpi)
        return argument_null(__func__, "mpi");
    if (index >= mpi->n_delays)
        return UPMU_E_END;
    return OPTS_GIVE(out, mpi->delays[index], UPMU_MPI_DELAY_SIZE_V1);
}

int upmu_mpi_partner_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_partner *out)
{
    if (!mpi)
        return argument_null(__func__, "mpi");
    if (index >= mpi->n_partners)
        return UPMU_E_END;
    return OPTS_GIVE(out, mpi->partners[index], UPMU_MPI_PARTNER_SIZE_V1);
}

int upmu_mpi_path_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_path *out)
{
    if (!mpi)
        return argument_null(__func__, "mpi");
    if (index >= mpi->n_paths)
        return UPMU_E_END;
    return OPTS_GIVE(out, mpi->paths[index], UPMU_MPI_PATH_SIZE_V1);
}

int upmu_mpi_path_step_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_path_step *out)
{
    if (!mpi)
        return argument_null(__func__, "mpi");
    if (index >= mpi->n_steps)
        return UPMU_E_END;
    const struct job_step *s = &mpi->steps[index];
    const struct job_rank *r = mpi->ranks[s->rank];
    const struct upmu_mpi_path_step ours = {.job = r->job,
                                            .rank = r->rank,
                                            .tid = (int32_t)r->init_tid,
                                            .process = r->process,
                                            .begin_ns = s->begin,
                                            .end_ns = s->end};
    return OPTS_GIVE(out, ours, UPMU_MPI_PATH_STEP_SIZE_V1);
}

const char *upmu_mpi_pattern_name(int pattern)
{
    static const char *const names[] = {
        [UPMU_MPI_LATE_SENDER] = "late-sender",       [UPMU_MPI_LATE_RECEIVER] = "late-receiver",
        [UPMU_MPI_WAIT_BARRIER] = "wait-at-barrier",  [UPMU_MPI_WAIT_ALL] = "wait-for-all",
        [UPMU_MPI_LATE_BROADCAST] = "late-broadcast", [UPMU_MPI_EARLY_REDUCE] = "early-reduce",
        [UPMU_MPI_EARLY_SCAN] = "early-scan",         [UPMU_MPI_WAIT_FINALIZE] = "wait-at-finalize",
        [UPMU_MPI_WRONG_ORDER] = "wrong-order",
    };
    return NAME_OF(names, pattern);
}
