/* SPDX-License-Identifier: MIT */
/*
 * Which threads of a job wait, and for what.
 *
 * What is not known counts as able to continue: ranks and threads that are not recorded or have lost events, messages whose other half
 * may be under way, requests of which it is not known whether the call waits for them. A standard send may be buffered: it waits only
 * if it has not returned for long although its process ran.
 */
#include "mpi_job/waiting.h"

#include <stdlib.h>

#include "base/error.h"
#include "upmu/trace.h"

enum { NS_PER_S = 1000000000, LEVEL_FUNNELED = 1 };

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

/* It may continue, as far as is known. */
static void waiting_release(struct waiting *w, uint32_t node)
{
    w->nodes[node].need = 0;
}

/* One target of a node is there already. */
static void waiting_satisfy(struct waiting *w, uint32_t node)
{
    w->nodes[node].need -= w->nodes[node].need > 0;
}

/* For something that rank `rank` would have to do. Nodes 0 to n_ranks - 1 are those of the ranks. */
static void waiting_for_rank(struct waiting *w, uint32_t node, uint32_t rank)
{
    bool over = w->m->ranks[rank]->finalized;
    if (over)
        w->info[node].over = rank + 1;
    waiting_edge(w, node, over ? AO_NONE : rank, false);
}

/* -------------------------------------------------------------------------------------------------------- members */

static uint64_t comm_of_job(uint64_t comm, uint32_t job)
{
    return comm + job * UINT64_C(0x9e3779b97f4a7c15);
}

/* The rank with a number in a communicator; AO_NONE: not recorded. */
static uint32_t member_of(const struct waiting *w, const struct job_rank *r, uint64_t comm, int32_t number)
{
    return number < 0 ? AO_NONE : map_find(&w->members, comm_of_job(comm, r->job), (uint64_t)number);
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

/* For any rank of a communicator. */
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

/* A call that could return by itself is known not to: the process ran, or had the time of ten to do so. */
static bool waiting_lasts_long(const struct job_rank *r, uint64_t begin)
{
    return r->evidence.alive_ns >= begin + (uint64_t)NS_PER_S * (r->evidence.ran ? 1 : 10);
}

static bool halves_fit(const struct job_half *send, const struct job_half *receive)
{
    return send->job == receive->job && send->comm == receive->comm && send->destination == receive->destination &&
           (receive->source == UPMU_MPI_ANY || receive->source == send->source) &&
           (receive->tag == UPMU_MPI_ANY || receive->tag == send->tag);
}

/* Whether the other half of a message may be there: known, or one that fits. */
static bool half_is_met(const struct waiting *w, const struct job_half *h, bool sends)
{
    const struct job_half *all = sends ? w->m->receives : w->m->sends;
    size_t n = sends ? w->m->n_receives : w->m->n_sends;
    bool met = h->matched;
    for (size_t i = 0; !met && i < n; i++)
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

/* A receive that is not met: one more target of the node. */
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

/* A send that is not met. `lasts`: the call cannot but wait for it. */
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

static const struct job_half *half_open(const struct job_half *halves, size_t n, uint32_t rank,
                                        const struct job_open *open)
{
    for (size_t i = 0; i < n; i++)
        if (halves[i].open && halves[i].rank == rank && halves[i].posted == open->begin && halves[i].call == open->call)
            return &halves[i];
    return NULL;
}

/* A call that is one message, or two. */
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

/* A probe is a receive that leaves the message where it is. */
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

static uint64_t begun_last(const struct job_rank *r, uint64_t comm)
{
    const struct job_comm *c = job_comm_find(r, comm);
    return c ? c->last : 0;
}

static bool has_begun(const struct job_rank *r, uint64_t comm, uint64_t sequence)
{
    return sequence == JOB_FINALIZE ? r->end != 0 : begun_last(r, comm) >= sequence;
}

/* The call of a rank with that number that has not returned. */
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

/* For all ranks of the communicator from `first` up to `end` that have not begun the call. */
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

/* The node of those that a collective call lacks, one for all that wait in it. */
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

/* Ranks that are in another call of the same number: neither can return. @return whether there are any. */
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

/* One more target of the node: a collective call, open or with a request. */
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

/* Requests of a process that are not complete, with numbers of a range. */
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

static uint32_t set_count(const struct waiting *w, const struct set *s, uint32_t *receives)
{
    uint32_t n = 0;
    *receives = 0;
    for (size_t i = 0; i < w->m->n_sends; i++)
        n += set_has_half(s, &w->m->sends[i]);
    for (size_t i = 0; i < w->m->n_receives; i++) {
        const struct job_half *h = &w->m->receives[i];
        bool in = set_has_half(s, h);
        n += in;
        *receives += in && !half_is_met(w, h, false);
    }
    for (size_t i = 0; i < w->m->n_pending; i++)
        n += set_has_pending(s, &w->m->pending[i]);
    return n;
}

/* The call returns once `need` of the requests are complete. That it has not returned shows that a send is not, if nothing else can be
 * what it waits for. */
static void waiting_requests(struct waiting *w, uint32_t node, const struct set *s, uint32_t active, bool all,
                             uint64_t begin)
{
    const struct job_rank *r = w->m->ranks[s->rank];
    uint32_t receives, n = set_count(w, s, &receives);
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

static const struct wait_file_slot *slot_of(const struct job_rank *r, pid_t tid)
{
    const struct wait_state_file *f = &r->evidence.file;
    for (size_t i = 0; r->evidence.has_slots && i < f->n_threads; i++)
        if (f->threads[i].head.tid == tid)
            return &f->threads[i].head;
    return NULL;
}

static bool slot_waits(const struct wait_file_slot *s)
{
    return s && s->state == WAIT_FILE_BLOCKED && !(s->flags & (UPMU_TRACE_FLAG_TIMED | UPMU_TRACE_FLAG_PSHARED));
}

/* The nodes of a rank's threads follow each other; 0: that one has none. */
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

/* All threads that can call MPI, or keep one from it, are known: those of the wait states. */
static bool threads_are_known(const struct job_rank *r)
{
    const struct wait_file_header *h = &r->evidence.file.header;
    return r->evidence.has_slots && h->created <= h->begun && h->slots >= h->begun;
}

/* For any other thread of the process. */
static void waiting_for_thread(struct waiting *w, uint32_t node, size_t first, size_t end)
{
    w->info[node].any = true;
    for (size_t i = first; i < end; i++)
        if (i != node)
            waiting_edge(w, node, (uint32_t)i, false);
}

/* At a lock whose holder is in an MPI call or at a lock itself, or joining such a thread, or waiting for a signal by any thread. */
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

static void waiting_thread(struct waiting *w, uint32_t rank, pid_t tid)
{
    const struct job_rank *r = w->m->ranks[rank];
    const struct job_thread *in = thread_in_call(r, tid);
    const struct wait_file_slot *slot = slot_of(r, tid);
    bool waits = in || slot_waits(slot);
    const struct waiting_node info = {.kind = WAITING_THREAD, .rank = rank, .thread = in, .slot = in ? NULL : slot};
    (void)waiting_node_add(w, &info, waits);
}

/* With the main thread alone allowed to call MPI, the others matter only where it waits for them. */
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
