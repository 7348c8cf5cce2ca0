/* SPDX-License-Identifier: MIT */
/*
 * Which send belongs to which receive, and which of both waited.
 *
 * MPI delivers messages of one sender, receiver, communicator and tag in the order in which they were sent to the receives in the order
 * in which they were posted; a receive of any source or tag has those of its message once it is complete. With several threads of a rank
 * the order of their calls may be another one: then the receives are taken in the order in which they ended, so that as few as possible
 * end before their sends began.
 */
#include <stdlib.h>

#include "mpi_job/job.h"

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* 0: they may belong together. */
static int half_compare_key(const struct job_half *a, const struct job_half *b)
{
    int c = compare_u64(a->job, b->job);
    if (c == 0)
        c = compare_u64(a->comm, b->comm);
    if (c == 0)
        c = a->source < b->source ? -1 : a->source > b->source;
    if (c == 0)
        c = a->destination < b->destination ? -1 : a->destination > b->destination;
    return c ? c : a->tag < b->tag ? -1 : a->tag > b->tag;
}

static int half_compare(const void *x, const void *y)
{
    const struct job_half *a = x, *b = y;
    int c = half_compare_key(a, b);
    return c ? c : compare_u64(a->posted, b->posted);
}

static int half_compare_end(const void *x, const void *y)
{
    const struct job_half *a = x, *b = y;
    return compare_u64(a->end ? a->end : UINT64_MAX, b->end ? b->end : UINT64_MAX);
}

/* The number of halves with the key of the first one. `*several`: of more than one thread. */
static size_t halves_alike(const struct job_half *h, size_t n, bool *several)
{
    size_t i = 1;
    *several = false;
    for (; i < n && half_compare_key(h, &h[i]) == 0; i++)
        *several |= h[i].tid != h->tid;
    return i;
}

/* Sends and receives are sorted. */
static void messages_order_threads(struct upmu_mpi *m)
{
    size_t s = 0, n, sends;
    for (size_t r = 0; r < m->n_receives; r += n) {
        bool several, senders = false;
        n = halves_alike(&m->receives[r], m->n_receives - r, &several);
        while (s < m->n_sends && half_compare_key(&m->sends[s], &m->receives[r]) < 0)
            s++;
        sends = s < m->n_sends && half_compare_key(&m->sends[s], &m->receives[r]) == 0
                    ? halves_alike(&m->sends[s], m->n_sends - s, &senders)
                    : 0;
        s += sends;
        if (several || senders)
            qsort(&m->receives[r], n, sizeof *m->receives, half_compare_end);
    }
}

/* The probe that matched the message; NULL: none did. */
static const struct job_probe *message_probe(const struct upmu_mpi *m, const struct job_half *r)
{
    return r->probe ? &m->probes[r->probe - 1] : NULL;
}

/* The call that received it could not end before the send; the call that sent it ended after the receive was posted if it waited then, or
 * had to. */
static int message_add_edges(struct upmu_mpi *m, const struct job_half *s, const struct job_half *r, uint64_t posted)
{
    bool synchronous = s->call == MPI_CALL_Ssend || s->call == MPI_CALL_Issend || s->call == MPI_CALL_Ssend_init;
    bool waited = s->end > posted && s->begin < posted;
    const struct job_probe *probe = message_probe(m, r);
    int rc = job_add_edge(m, r->waited, s->made);
    if (rc == 0 && probe && probe->node) {
        job_node(m, probe->node)->kept = false;
        rc = job_add_edge(m, probe->node, s->made);
    }
    return rc == 0 && (synchronous || waited) ? job_add_edge(m, s->waited, r->made) : rc;
}

static int message_keep(struct upmu_mpi *m, const struct job_half *s, const struct job_half *r, uint32_t wait)
{
    struct job_message *to = job_grow(&m->messages, &m->n_messages, &m->cap_messages, sizeof *to);
    if (!to)
        return UPMU_E_NOMEM;
    *to = (struct job_message){(uint32_t)(s - m->sends), (uint32_t)(r - m->receives), wait};
    return 0;
}

static int message_add_waits(struct upmu_mpi *m, struct upmu_mpi_job *job, const struct job_half *s,
                             const struct job_half *r)
{
    const struct job_probe *probe = message_probe(m, r);
    uint64_t begin = probe ? probe->begin : r->begin, end = probe ? probe->end : r->end;
    uint64_t posted = probe ? probe->received : r->posted;
    bool counts = job_touches(m, s->posted, r->end > s->posted ? r->end : s->posted);
    int rc = 0;
    if (s->open || r->open)
        return 0; /* of a call that has not returned */
    job->messages += counts;
    if (end && end < s->posted) {
        job->reversed += counts;
        job->reversed_ns = counts && s->posted - end > job->reversed_ns ? s->posted - end : job->reversed_ns;
        return 0;
    }
    if (!r->probed)
        rc = message_add_edges(m, s, r, posted);
    const struct job_wait receiver = {.rank = r->rank,
                                      .cause = s->rank,
                                      .begin = begin,
                                      .call = probe ? probe->call : r->call,
                                      .pattern = UPMU_MPI_LATE_SENDER};
    size_t waits = m->n_waits;
    if (rc == 0 && end)
        rc = job_add_wait(m, &receiver, s->posted, end);
    if (rc == 0 && r->end)
        rc = message_keep(m, s, r, m->n_waits > waits ? (uint32_t)m->n_waits : 0);
    /* That the send could not go ahead is seen by its return after the receive was posted. */
    const struct job_wait sender = {
        .rank = s->rank, .cause = r->rank, .begin = s->begin, .call = s->call, .pattern = UPMU_MPI_LATE_RECEIVER};
    if (rc == 0 && posted && s->end > posted)
        rc = job_add_wait(m, &sender, posted, s->end);
    return rc;
}

/* ---------------------------------------------------------------------------------------------------------- order */

/** A message as its receiver has it. */
struct order_entry {
    uint32_t rank, wait;
    uint64_t begin, end, sent; /**< of the call that waited for it; begin of the send */
    uint64_t sent_later;       /**< the earliest send of this message and those received after it */
};

static int order_compare(const void *x, const void *y)
{
    const struct order_entry *a = x, *b = y;
    return a->rank != b->rank ? (a->rank < b->rank ? -1 : 1) : compare_u64(a->begin, b->begin);
}

/* The first message of the same receiver that a call after this one waited for; `n` if there is none. */
static size_t order_next(const struct order_entry *all, size_t n, size_t i)
{
    size_t low = i + 1, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all[middle].rank == all[i].rank && all[middle].begin < all[i].end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && all[low].rank == all[i].rank ? low : n;
}

/* A receiver waits for a late sender in wrong order if a message that was sent earlier is received later. */
static int messages_find_order(struct upmu_mpi *m)
{
    size_t n = m->n_messages;
    struct order_entry *all = calloc(n + 1, sizeof *all);
    if (!all)
        return job_no_memory();
    for (size_t i = 0; i < n; i++) {
        const struct job_half *s = &m->sends[m->messages[i].send], *r = &m->receives[m->messages[i].receive];
        const struct job_probe *probe = message_probe(m, r);
        all[i] = (struct order_entry){.rank = r->rank,
                                      .wait = m->messages[i].wait,
                                      .begin = probe ? probe->begin : r->begin,
                                      .end = probe ? probe->end : r->end,
                                      .sent = s->posted,
                                      .sent_later = s->posted};
    }
    qsort(all, n, sizeof *all, order_compare);
    for (size_t i = n; i-- > 0;) {
        bool last = i + 1 == n || all[i + 1].rank != all[i].rank;
        size_t next = order_next(all, n, i);
        if (all[i].wait && next < n && all[next].sent_later < all[i].sent)
            m->waits[all[i].wait - 1].pattern = UPMU_MPI_WRONG_ORDER;
        if (!last && all[i + 1].sent_later < all[i].sent_later)
            all[i].sent_later = all[i + 1].sent_later;
    }
    free(all);
    return 0;
}

bool job_half_touches(const struct upmu_mpi *m, const struct job_half *h)
{
    return job_touches(m, h->posted, h->end > h->posted ? h->end : h->posted);
}

int job_match_messages(struct upmu_mpi *m)
{
    size_t s = 0, r = 0;
    int rc = 0;
    qsort(m->sends, m->n_sends, sizeof *m->sends, half_compare);
    qsort(m->receives, m->n_receives, sizeof *m->receives, half_compare);
    messages_order_threads(m);
    while (rc == 0 && (s < m->n_sends || r < m->n_receives)) {
        struct job_half *send = s < m->n_sends ? &m->sends[s] : NULL;
        struct job_half *receive = r < m->n_receives ? &m->receives[r] : NULL;
        bool skip_send = send && send->dropped, skip_receive = receive && receive->dropped;
        int c = !send ? 1 : !receive ? -1 : half_compare_key(send, receive);
        if (skip_send || skip_receive) {
            s += skip_send;
            r += skip_receive;
            continue;
        }
        const struct job_half *alone = c < 0 ? send : receive;
        if (c == 0 && send && receive) {
            send->matched = receive->matched = true;
            send->probed = receive->probed;
            rc = message_add_waits(m, &m->jobs[send->job], send, receive);
        } else if (alone && !alone->open) {
            m->jobs[alone->job].unmatched += job_half_touches(m, alone);
            job_keep_duration(m, alone->waited);
        }
        s += c <= 0;
        r += c >= 0;
    }
    return rc == 0 ? messages_find_order(m) : rc;
}
