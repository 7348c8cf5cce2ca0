/* SPDX-License-Identifier: MIT */
/*
 * Wait-for graph of the threads of an MPI job.
 *
 * A node whose wait is uncertain counts as able to continue: ranks and threads that are not recorded or have lost events,
 * messages whose other half may be in transit, requests that the call may not wait for. A standard send may be buffered: it
 * counts as blocked only if it has not returned for a long time although its process ran.
 */
#include "mpi_job/waiting.h"

#include <stdlib.h>

#include "base/error.h"
#include "upmu/trace.h"

enum { LEVEL_FUNNELED = 1 };

/* ---------------------------------------------------------------------------------------------------------- graph */

static uint32_t waiting_node_add(struct waiting *w, const struct waiting_node *info, uint32_t need)
{
    struct ao_node *n = job_grow(&w->nodes, &w->n_nodes, &w->cap_nodes, sizeof *w->nodes);
    struct waiting_node *i = n ? job_grow(&w->info, &w->n_info, &w->cap_info, sizeof *w->info) : NULL;
    if (!i) {
        w->no_memory = true;
        return 0;
    }
    n->need = need;
    *i = *info;
    return (uint32_t)(w->n_nodes - 1);
}

static void waiting_edge(struct waiting *w, uint32_t from, uint32_t to, bool never)
{
    struct ao_edge *e = job_grow(&w->edges, &w->n_edges, &w->cap_edges, sizeof *w->edges);
    if (!e)
        w->no_memory = true;
    else
        *e = (struct ao_edge){from, to, never};
}

/* Mark a node as able to continue. */
static void waiting_release(struct waiting *w, uint32_t node)
{
    w->nodes[node].need = 0;
}

/* One of the targets that a node needs is already satisfied. */
static void waiting_satisfy(struct waiting *w, uint32_t node)
{
    w->nodes[node].need -= w->nodes[node].need > 0;
}

/* Add an edge: `node` waits for a call by rank `rank`, whose node has that number. A finalized rank makes no calls. */
static void waiting_for_rank(struct waiting *w, uint32_t node, uint32_t rank)
{
    bool finalized = w->m->ranks[rank]->finalized;
    if (finalized)
        w->info[node].finalized = rank + 1;
    waiting_edge(w, node, finalized ? AO_NONE : rank, false);
}

/* -------------------------------------------------------------------------------------------------------- members */

static uint64_t comm_of_job(uint64_t comm, uint32_t job)
{
    return comm + job * UINT64_C(0x9e3779b97f4a7c15);
}

/* Index of the rank that has number `number` in communicator `comm` of r's job; MAP_NONE: not recorded. */
static uint32_t member_of(const struct waiting *w, const struct job_rank *r, uint64_t comm, int32_t number)
{
    return number < 0 ? MAP_NONE : map_find(&w->members, comm_of_job(comm, r->job), (uint64_t)number);
}

static void members_build(struct waiting *w)
{
    for (uint32_t i = 0; i < w->m->n_ranks; i++) {
        const struct job_rank *r = w->m->ranks[i];
        for (size_t k = 0; k < r->n_comms; k++)
            if (!map_put(&w->members, comm_of_job(r->comms[k].comm, r->job), (uint64_t)r->comms[k].rank, i))
                w->no_memory = true;
    }
}

/* Add edges: `node` waits for any rank of `comm`. */
static void waiting_for_any(struct waiting *w, uint32_t node, const struct job_rank *r, uint64_t comm)
{
    const struct job_comm *c = job_comm_find(r, comm);
    w->info[node].any = true;
    for (int32_t i = 0; c && i < c->size; i++) {
        uint32_t member = member_of(w, r, comm, i);
        if (member == MAP_NONE)
            waiting_satisfy(w, node);
        else if (!w->m->ranks[member]->finalized)
            waiting_edge(w, node, member, false);
    }
    if (!c)
        waiting_release(w, node);
}

/* ------------------------------------------------------------------------------------------------------- messages */

bool waiting_lasts(const struct job_rank *r, uint64_t begin)
{
    return r->evidence.alive_ns == 0 || r->evidence.alive_ns >= begin + NS_PER_S;
}

/* Whether a call that could return by itself lasts so long that it must be blocked. */
static bool waiting_lasts_long(const struct job_rank *r, uint64_t begin)
{
    bool ran = r->evidence.ran || r->evidence.ran_ns >= begin;
    return r->evidence.alive_ns >= begin + (uint64_t)NS_PER_S * (ran ? 1 : JOB_LASTS_S);
}

/* Whether `receive` can receive the message of `send`: same communicator and ranks, matching tag. */
static bool halves_fit(const struct job_half *send, const struct job_half *receive)
{
    return send->job == receive->job && send->comm == receive->comm && send->destination == receive->destination &&
           (receive->source == UPMU_MPI_ANY || receive->source == send->source) &&
           (receive->tag == UPMU_MPI_ANY || receive->tag == send->tag);
}

/* Whether half `h` has an other half: matched, or unmatched and fitting. `sends`: `h` is a send. One whose message only a probe has matched
 * has none until it is received. */
static bool half_is_met(const struct waiting *w, const struct job_half *h, bool sends)
{
    const struct job_half *all = sends ? w->m->receives : w->m->sends;
    size_t n = sends ? w->m->n_receives : w->m->n_sends;
    bool met = h->matched && !h->probed;
    for (size_t i = 0; !met && !h->probed && i < n; i++)
        met = !all[i].matched && !all[i].dropped && halves_fit(sends ? h : &all[i], sends ? &all[i] : h);
    return met;
}

static bool send_is_synchronous(uint32_t call)
{
    return call == MPI_CALL_Ssend || call == MPI_CALL_Issend || call == MPI_CALL_Ssend_init;
}

static bool send_is_buffered(uint32_t call)
{
    return call == MPI_CALL_Bsend || call == MPI_CALL_Ibsend || call == MPI_CALL_Bsend_init;
}

/* Make the sender of receive `h` a target of the node, unless the message may have been sent, or that rank is not recorded. */
static void waiting_receive(struct waiting *w, uint32_t node, const struct job_rank *r, const struct job_half *h)
{
    uint32_t from = member_of(w, r, h->comm, h->source);
    if (half_is_met(w, h, false) || (h->source != UPMU_MPI_ANY && from == MAP_NONE)) {
        waiting_satisfy(w, node);
        return;
    }
    if (h->source != UPMU_MPI_ANY) {
        waiting_for_rank(w, node, from);
        return;
    }
    uint32_t any = waiting_node_add(w, &(struct waiting_node){.kind = WAITING_OTHER}, 1);
    waiting_for_any(w, any, r, h->comm);
    w->info[node].any = true;
    waiting_edge(w, node, any, false);
}

/* Make the receiver of send `h` a target of the node, unless it may have been received. `lasts`: a standard send is blocked too. */
static void waiting_send(struct waiting *w, uint32_t node, const struct job_rank *r, const struct job_half *h,
                         bool lasts)
{
    uint32_t to = member_of(w, r, h->comm, h->destination);
    bool waits = send_is_synchronous(h->call) || (lasts && !send_is_buffered(h->call));
    if (!waits || to == MAP_NONE || half_is_met(w, h, true))
        waiting_satisfy(w, node);
    else
        waiting_for_rank(w, node, to);
}

/* The half among `halves` that the open call of `rank` has posted; NULL: none. */
static const struct job_half *half_open(const struct job_half *halves, size_t n, uint32_t rank,
                                        const struct job_open *open)
{
    for (size_t i = 0; i < n; i++)
        if (halves[i].open && halves[i].rank == rank && halves[i].posted == open->begin && halves[i].call == open->call)
            return &halves[i];
    return NULL;
}

/* Targets of a thread in a blocking send, receive or sendrecv. */
static void waiting_message(struct waiting *w, uint32_t node, uint32_t rank, const struct job_open *open)
{
    const struct job_rank *r = w->m->ranks[rank];
    const struct job_half *receive = half_open(w->m->receives, w->m->n_receives, rank, open);
    const struct job_half *send = half_open(w->m->sends, w->m->n_sends, rank, open);
    bool receives = receive && !half_is_met(w, receive, false);
    int class = mpi_call_rows[open->call].class;
    bool partial = class == MPI_CLASS_SENDRECV && open->sequence == 0; /* the source is not known */
    if (receives)
        waiting_receive(w, node, r, receive);
    else if (send && !partial)
        waiting_send(w, node, r, send, waiting_lasts_long(r, open->begin));
    else
        waiting_release(w, node);
}

/* Targets of a thread in MPI_Probe or MPI_Mprobe: those of a receive. */
static void waiting_probe(struct waiting *w, uint32_t node, uint32_t rank, const struct job_open *open)
{
    const struct job_rank *r = w->m->ranks[rank];
    const struct job_comm *own = job_comm_find(r, open->comm);
    const struct job_half h = {
        .job = r->job, .comm = open->comm, .source = open->peer, .destination = own ? own->rank : -1, .tag = open->tag};
    if (own && open->peer >= UPMU_MPI_ANY)
        waiting_receive(w, node, r, &h);
    else
        waiting_release(w, node);
}

/* ---------------------------------------------------------------------------------------------------- collectives */

/* Number of the last collective call on `comm` that the rank has begun; 0: none. */
static uint64_t begun_last(const struct job_rank *r, uint64_t comm)
{
    const struct job_comm *c = job_comm_find(r, comm);
    return c ? c->last : 0;
}

static bool has_begun(const struct job_rank *r, uint64_t comm, uint64_t sequence)
{
    return sequence == JOB_FINALIZE ? r->end != 0 : begun_last(r, comm) >= sequence;
}

/* The rank's open collective call with number `sequence` on `comm`; NULL: none. */
static const struct job_open *open_collective(const struct job_rank *r, uint64_t comm, uint64_t sequence)
{
    for (size_t i = 0; i < r->n_threads; i++) {
        const struct job_open *o = &r->threads[i].open;
        if (o->begin && o->comm == comm && o->sequence == sequence &&
            job_collective_class(o->call) >= MPI_CLASS_BARRIER)
            return o;
    }
    return NULL;
}

/* Make the ranks 0 to `end` - 1 of `comm` that have not begun collective call `sequence` the targets of `node`, all needed. */
static void waiting_for_all(struct waiting *w, uint32_t node, const struct job_rank *r, uint64_t comm,
                            uint64_t sequence, int32_t end)
{
    uint32_t missing = 0;
    for (int32_t i = 0; i < end; i++) {
        uint32_t member = member_of(w, r, comm, i);
        if (member == MAP_NONE || has_begun(w->m->ranks[member], comm, sequence))
            continue;
        missing++;
        waiting_for_rank(w, node, member);
    }
    w->nodes[node].need = missing;
}

/* The node that waits for the ranks missing from a collective call; the ranks that wait in the call share it. */
static uint32_t waiting_arrival(struct waiting *w, const struct job_rank *r, uint64_t comm, uint64_t sequence)
{
    const struct job_comm *c = job_comm_find(r, comm);
    uint32_t found = map_find(&w->arrivals, comm_of_job(comm, r->job), sequence);
    if (found != MAP_NONE)
        return found;
    uint32_t node = waiting_node_add(w, &(struct waiting_node){.kind = WAITING_OTHER}, 0);
    if (w->no_memory)
        return 0;
    waiting_for_all(w, node, r, comm, sequence, c ? c->size : 0);
    if (!map_put(&w->arrivals, comm_of_job(comm, r->job), sequence, node))
        w->no_memory = true;
    return node;
}

/* Add edges to ranks whose collective call with the same number is a different one: neither can return. @return whether any is. */
static bool waiting_mismatch(struct waiting *w, uint32_t node, const struct job_rank *r, uint32_t call, uint64_t comm,
                             uint64_t sequence, int32_t root)
{
    const struct job_comm *c = job_comm_find(r, comm);
    bool found = false;
    for (int32_t i = 0; c && sequence != JOB_FINALIZE && i < c->size; i++) {
        uint32_t member = member_of(w, r, comm, i);
        const struct job_open *o = member == MAP_NONE ? NULL : open_collective(w->m->ranks[member], comm, sequence);
        if (!o || (o->call == call && o->peer == root))
            continue;
        waiting_edge(w, node, member, true);
        found = true;
    }
    w->info[node].mismatch |= found;
    return found;
}

/* Make the completion of collective call `p`, blocking or by request, a target of the node. */
static void waiting_collective(struct waiting *w, uint32_t node, uint32_t rank, const struct job_pending *p)
{
    const struct job_rank *r = w->m->ranks[rank];
    const struct job_comm *own = job_comm_find(r, p->comm);
    uint32_t root = member_of(w, r, p->comm, p->root);
    if (!own || p->sequence == 0) {
        waiting_satisfy(w, node);
        return;
    }
    if (waiting_mismatch(w, node, r, p->call, p->comm, p->sequence, p->root))
        return;
    switch (job_collective_class(p->call)) {
    case MPI_CLASS_SCAN: {
        uint32_t lower = waiting_node_add(w, &(struct waiting_node){.kind = WAITING_OTHER}, 0);
        waiting_for_all(w, lower, r, p->comm, p->sequence, own->rank);
        waiting_edge(w, node, lower, false);
        return;
    }
    case MPI_CLASS_FROM_ROOT: /* the root itself may return at once */
        if (root == MAP_NONE || root == rank || has_begun(w->m->ranks[root], p->comm, p->sequence))
            waiting_satisfy(w, node);
        else
            waiting_for_rank(w, node, root);
        return;
    case MPI_CLASS_TO_ROOT: /* and here the others */
        if (root != rank) {
            waiting_satisfy(w, node);
            return;
        }
        break;
    case MPI_CLASS_BARRIER:
    case MPI_CLASS_ALL_TO_ALL:
    case MPI_CLASS_COMM:
    case MPI_CLASS_FINALIZE:
        break;
    default:
        waiting_satisfy(w, node);
        return;
    }
    waiting_edge(w, node, waiting_arrival(w, r, p->comm, p->sequence), false);
}

/* ------------------------------------------------------------------------------------------------------- requests */

/* Incomplete requests of a rank with numbers from `low` to `high`. */
struct set {
    uint32_t rank;
    uint64_t low, high;
};

static bool set_has_half(const struct set *s, const struct job_half *h)
{
    return h->rank == s->rank && !h->open && h->request >= s->low && h->request <= s->high && h->request != 0 &&
           h->end == 0 && !h->dropped;
}

static bool set_has_pending(const struct set *s, const struct job_pending *p)
{
    return p->rank == s->rank && !p->done && p->request >= s->low && p->request <= s->high;
}

static uint32_t set_count(const struct waiting *w, const struct set *s)
{
    uint32_t n = 0;
    for (size_t i = 0; i < w->m->n_sends; i++)
        n += set_has_half(s, &w->m->sends[i]);
    for (size_t i = 0; i < w->m->n_receives; i++)
        n += set_has_half(s, &w->m->receives[i]);
    for (size_t i = 0; i < w->m->n_pending; i++)
        n += set_has_pending(s, &w->m->pending[i]);
    return n;
}

/* Targets of a wait for `active` requests of the set: all of them, or one. That the call has not returned for long
 * shows that a send is incomplete if it is the only request, or if any one request would do. */
static void waiting_requests(struct waiting *w, uint32_t node, const struct set *s, uint32_t active, bool all,
                             uint64_t begin)
{
    const struct job_rank *r = w->m->ranks[s->rank];
    uint32_t n = set_count(w, s);
    bool lasts = waiting_lasts_long(r, begin) && n == active && (n == 1 || !all);
    if (n < active) {
        waiting_release(w, node);
        return;
    }
    w->nodes[node].need = all ? active : 1;
    w->info[node].any |= !all && n > 1;
    for (size_t i = 0; i < w->m->n_receives; i++)
        if (set_has_half(s, &w->m->receives[i]))
            waiting_receive(w, node, r, &w->m->receives[i]);
    for (size_t i = 0; i < w->m->n_sends; i++)
        if (set_has_half(s, &w->m->sends[i]))
            waiting_send(w, node, r, &w->m->sends[i], lasts);
    for (size_t i = 0; i < w->m->n_pending; i++)
        if (set_has_pending(s, &w->m->pending[i]))
            waiting_collective(w, node, s->rank, &w->m->pending[i]);
}

/* -------------------------------------------------------------------------------------------------------- threads */

/* Targets of a thread in the open MPI call. */
static void waiting_call(struct waiting *w, uint32_t node, uint32_t rank, const struct job_open *open)
{
    const struct job_rank *r = w->m->ranks[rank];
    int class = mpi_call_rows[open->call].class;
    const struct job_pending here = {
        .call = open->call, .comm = open->comm, .sequence = open->sequence, .root = open->peer};
    if (!waiting_lasts(r, open->begin)) {
        waiting_release(w, node);
        return;
    }
    switch (class) {
    case MPI_CLASS_SEND:
    case MPI_CLASS_RECV:
    case MPI_CLASS_SENDRECV:
        waiting_message(w, node, rank, open);
        return;
    case MPI_CLASS_PROBE:
        waiting_probe(w, node, rank, open);
        return;
    case MPI_CLASS_WAIT:
        if (open->request)
            waiting_requests(w, node, &(struct set){rank, open->request, open->request}, 1, true, open->begin);
        else
            waiting_release(w, node);
        return;
    case MPI_CLASS_WAITALL:
    case MPI_CLASS_WAITANY:
    case MPI_CLASS_WAITSOME:
        if (open->request && open->sequence)
            waiting_requests(w, node, &(struct set){rank, open->request, open->request + (open->sequence >> 32)},
                             (uint32_t)open->sequence, class == MPI_CLASS_WAITALL, open->begin);
        else
            waiting_release(w, node);
        return;
    default:
        if (class == MPI_CLASS_FINALIZE || (class >= MPI_CLASS_BARRIER && class <= MPI_CLASS_COMM && open->sequence))
            waiting_collective(w, node, rank, &here);
        else
            waiting_release(w, node);
        return;
    }
}

static const struct job_thread *thread_in_call(const struct job_rank *r, pid_t tid)
{
    for (size_t i = 0; i < r->n_threads; i++)
        if (r->threads[i].tid == tid && r->threads[i].open.begin)
            return &r->threads[i];
    return NULL;
}

/* Wait state of a thread in the process's .live file; NULL: none. */
static const struct wait_file_slot *slot_of(const struct job_rank *r, pid_t tid)
{
    const struct wait_state_file *f = &r->evidence.file;
    for (size_t i = 0; r->evidence.has_slots && i < f->n_threads; i++)
        if (f->threads[i].head.tid == tid)
            return &f->threads[i].head;
    return NULL;
}

/* Blocked until another thread of the process wakes it: no timeout, no shared memory. */
static bool slot_waits(const struct wait_file_slot *s)
{
    return s && s->state == WAIT_FILE_BLOCKED && !(s->flags & (UPMU_TRACE_FLAG_TIMED | UPMU_TRACE_FLAG_PSHARED));
}

/* Node of thread `tid` of the rank, whose nodes begin at `first`; 0: none. */
static uint32_t thread_node(const struct waiting *w, uint32_t rank, size_t first, pid_t tid)
{
    for (size_t i = first; i < w->n_nodes; i++) {
        const struct waiting_node *n = &w->info[i];
        if (n->kind == WAITING_THREAD && n->rank == rank &&
            ((n->thread && n->thread->tid == tid) || (n->slot && n->slot->tid == tid)))
            return (uint32_t)i;
    }
    return 0;
}

/* Whether the wait states cover all threads of the process: any of them could call MPI or hold a lock. */
static bool threads_are_known(const struct job_rank *r)
{
    const struct wait_file_header *h = &r->evidence.file.header;
    return r->evidence.has_slots && h->created <= h->begun && h->slots >= h->begun;
}

/* Add edges: `node` waits for any other thread of the process, whose nodes are `first` to `end` - 1. */
static void waiting_for_thread(struct waiting *w, uint32_t node, size_t first, size_t end)
{
    w->info[node].any = true;
    for (size_t i = first; i < end; i++)
        if (i != node)
            waiting_edge(w, node, (uint32_t)i, false);
}

/* Targets of a thread blocked outside MPI: the holder of the lock, the joined thread, or any thread that may signal or arrive. */
static void waiting_slot(struct waiting *w, uint32_t node, uint32_t rank, size_t first, size_t end)
{
    const struct job_rank *r = w->m->ranks[rank];
    const struct wait_file_slot *s = w->info[node].slot;
    uint32_t holder = s->peer > 0 ? thread_node(w, rank, first, s->peer) : 0;
    bool by_thread =
        (s->kind == UPMU_TRACE_LOCK_BLOCK && s->owner == WAIT_FILE_OWNER_SEEN) || s->kind == UPMU_TRACE_THREAD_JOIN;
    if (!waiting_lasts(r, s->since_ns) || r->evidence.alive_ns == 0) {
        waiting_release(w, node);
    } else if (by_thread && holder) {
        waiting_edge(w, node, holder, false);
    } else if ((s->kind == UPMU_TRACE_COND_WAIT || s->kind == UPMU_TRACE_BARRIER_ARRIVE) && threads_are_known(r)) {
        waiting_for_thread(w, node, first, end);
    } else {
        waiting_release(w, node);
    }
}

/* Add the node of a thread: it waits for one target in an MPI call or wait state, else it can continue. */
static void waiting_thread(struct waiting *w, uint32_t rank, pid_t tid)
{
    const struct job_rank *r = w->m->ranks[rank];
    const struct job_thread *in = thread_in_call(r, tid);
    const struct wait_file_slot *slot = slot_of(r, tid);
    bool waits = in || slot_waits(slot);
    const struct waiting_node info = {.kind = WAITING_THREAD, .rank = rank, .thread = in, .slot = in ? NULL : slot};
    (void)waiting_node_add(w, &info, waits);
}

/* Add the nodes of a rank's threads. Up to MPI_THREAD_FUNNELED the rank continues only with the thread that called MPI_Init. */
static void waiting_rank(struct waiting *w, uint32_t rank)
{
    const struct job_rank *r = w->m->ranks[rank];
    const struct wait_state_file *f = &r->evidence.file;
    bool several = r->thread_level > LEVEL_FUNNELED || r->thread_level < 0;
    size_t first = w->n_nodes;
    if (!r->wrapped || r->has_gaps || (several && !threads_are_known(r)) || r->finalized) {
        waiting_release(w, rank);
        return;
    }
    waiting_thread(w, rank, r->init_tid);
    for (size_t i = 0; r->evidence.has_slots && i < f->n_threads; i++)
        if (f->threads[i].head.tid != r->init_tid)
            waiting_thread(w, rank, f->threads[i].head.tid);
    size_t end = w->n_nodes;
    for (size_t i = first; i < end && !w->no_memory; i++) {
        if (several || i == first)
            waiting_edge(w, rank, (uint32_t)i, false);
        if (w->info[i].thread)
            waiting_call(w, (uint32_t)i, rank, &w->info[i].thread->open);
        else if (w->nodes[i].need)
            waiting_slot(w, (uint32_t)i, rank, first, end);
    }
}

int waiting_build(struct waiting *w, struct upmu_mpi *m)
{
    *w = (struct waiting){.m = m};
    for (uint32_t i = 0; i < m->n_ranks; i++)
        (void)waiting_node_add(w, &(struct waiting_node){.kind = WAITING_RANK, .rank = i}, 1);
    members_build(w);
    for (uint32_t i = 0; i < m->n_ranks && !w->no_memory; i++)
        waiting_rank(w, i);
    w->graph = (struct ao_graph){
        .nodes = w->nodes, .n_nodes = (uint32_t)w->n_nodes, .edges = w->edges, .n_edges = (uint32_t)w->n_edges};
    w->graph.work = calloc(ao_work(w->graph.n_nodes, w->graph.n_edges), sizeof *w->graph.work);
    if (!w->graph.work || w->no_memory)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while searching for deadlocks");
    ao_solve(&w->graph);
    return 0;
}

void waiting_free(struct waiting *w)
{
    free(w->nodes);
    free(w->edges);
    free(w->info);
    free(w->graph.work);
    map_free(&w->members);
    map_free(&w->arrivals);
}
