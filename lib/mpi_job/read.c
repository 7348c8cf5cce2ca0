/* SPDX-License-Identifier: MIT */
/* The pass over the MPI events of a recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi_job/job.h"

/* MPI_COMM_SELF, the same number in all ranks: none waits for another one there. */
enum { COMM_SELF = 2 };

/* Requests that are not complete: halves of messages by process and number. */
struct reader {
    struct upmu_mpi *m;
    struct upmu_trace *trace;
    struct map sends, receives, pending;
    struct map probed; /**< receives whose message a probe has matched, by process and number of the message */
    struct lanes lanes;
};

static int read_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading MPI events");
}

/* ---------------------------------------------------------------------------------------------------------- ranks */

static struct job_rank *rank_of(const struct upmu_mpi *m, uint32_t process)
{
    uint32_t i = process < m->n_processes ? m->rank_of_process[process] : UINT32_MAX;
    return i == UINT32_MAX ? NULL : m->ranks[i];
}

static int rank_reserve(struct upmu_mpi *m, uint32_t process)
{
    if (process < m->n_processes)
        return 0;
    size_t n = (size_t)process + 1;
    uint32_t *more = realloc(m->rank_of_process, n * sizeof *more);
    if (!more)
        return read_no_memory();
    memset(more + m->n_processes, 0xff, (n - m->n_processes) * sizeof *more);
    m->rank_of_process = more;
    m->n_processes = n;
    return 0;
}

static int rank_describe(struct job_rank *r, const struct upmu_trace *trace)
{
    struct upmu_trace_process p = {.size = sizeof p};
    int rc = upmu_trace_process_at(trace, r->process, &p);
    if (rc != 0)
        return rc;
    r->pid = p.pid;
    r->complete = p.complete != 0;
    r->has_gaps = p.lost_any > 0 || p.overwritten > 0;
    r->host = strdup(p.host);
    return r->host ? 0 : read_no_memory();
}

/* The event is that of a rank; the later one, after MPI_Init(), counts. */
static int read_env(struct reader *d, const struct upmu_trace_event *e)
{
    struct upmu_mpi *m = d->m;
    int rc = rank_reserve(m, e->process);
    struct job_rank *r = rc == 0 ? rank_of(m, e->process) : NULL;
    if (rc == 0 && !r) {
        struct job_rank **slot = job_grow(&m->ranks, &m->n_ranks, &m->cap_ranks, sizeof *m->ranks);
        r = slot ? calloc(1, sizeof *r) : NULL;
        if (!r) {
            m->n_ranks -= slot != NULL;
            return read_no_memory();
        }
        *slot = r;
        r->process = e->process;
        m->rank_of_process[e->process] = (uint32_t)(m->n_ranks - 1);
        rc = rank_describe(r, d->trace);
    }
    if (rc != 0)
        return rc;
    char *library = strdup(e->name);
    if (!library)
        return read_no_memory();
    free(r->library);
    r->library = library;
    r->job_id = e->mpi_env.job;
    r->rank = e->mpi_env.rank;
    r->size = e->mpi_env.size;
    r->wrapped = e->mpi_env.wrapped;
    r->thread_level = e->mpi_env.thread_level;
    if (r->wrapped && !r->begin) {
        r->begin = e->time_ns;
        r->init_tid = e->tid;
    }
    return 0;
}

static int read_comm(struct job_rank *r, const struct upmu_trace_event *e)
{
    struct job_comm *c = job_grow(&r->comms, &r->n_comms, &r->cap_comms, sizeof *r->comms);
    if (!c)
        return UPMU_E_NOMEM;
    *c = (struct job_comm){.comm = e->mpi_comm.comm, .rank = e->mpi_comm.rank, .size = e->mpi_comm.size};
    return 0;
}

const struct job_comm *job_comm_find(const struct job_rank *r, uint64_t comm)
{
    for (size_t i = r->n_comms; i-- > 0;)
        if (r->comms[i].comm == comm)
            return &r->comms[i];
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------- messages */

static bool class_sends(int class)
{
    return class == MPI_CLASS_SEND || class == MPI_CLASS_ISEND || class == MPI_CLASS_SENDRECV ||
           class == MPI_CLASS_SEND_INIT;
}

static bool class_receives(int class)
{
    return class == MPI_CLASS_RECV || class == MPI_CLASS_IRECV || class == MPI_CLASS_RECV_INIT;
}

/* A message whose call, or that which completed its request, lasts from `begin` to `end`. */
static void count_message(const struct upmu_mpi *m, struct job_rank *r, bool sent, uint64_t bytes, uint64_t begin,
                          uint64_t end)
{
    if (!job_touches(m, begin, end))
        return;
    if (sent)
        r->sent++;
    else
        r->received++;
    if (bytes == UPMU_NO_VALUE)
        r->unknown_bytes++;
    else if (sent)
        r->sent_bytes += bytes;
    else
        r->received_bytes += bytes;
}

/* A half that begins at `posted`. @return 1 with `*index` set; 0: it is no message to or from a rank; an error. */
static int half_add(struct upmu_mpi *m, const struct job_rank *r, const struct upmu_trace_event *e, bool sends,
                    uint64_t posted, size_t *index)
{
    const struct job_comm *own = job_comm_find(r, e->mpi.comm);
    bool known = e->mpi.peer >= 0 || (!sends && e->mpi.peer == UPMU_MPI_ANY);
    if (!own || !known)
        return 0;
    struct job_half *h = sends ? job_grow(&m->sends, &m->n_sends, &m->cap_sends, sizeof *m->sends)
                               : job_grow(&m->receives, &m->n_receives, &m->cap_receives, sizeof *m->receives);
    if (!h)
        return UPMU_E_NOMEM;
    *index = (sends ? m->n_sends : m->n_receives) - 1;
    *h = (struct job_half){.comm = e->mpi.comm,
                           .source = sends ? own->rank : e->mpi.peer,
                           .destination = sends ? e->mpi.peer : own->rank,
                           .tag = e->mpi.tag,
                           .rank = r->process,
                           .posted = posted,
                           .call = e->mpi.call,
                           .request = e->mpi.request,
                           .bytes = sends || !e->mpi.request ? e->mpi.bytes : UPMU_NO_VALUE,
                           .tid = e->tid};
    return 1;
}

/* A message that a probe has matched, and which no other receive gets from then on. */
static int half_add_probed(struct reader *d, const struct job_rank *r, const struct upmu_trace_event *e,
                           const struct job_open *open)
{
    size_t i;
    int rc = half_add(d->m, r, e, false, open->begin, &i);
    if (rc <= 0)
        return rc;
    struct job_probe *p = job_grow(&d->m->probes, &d->m->n_probes, &d->m->cap_probes, sizeof *p);
    bool kept = p && i < MAP_NONE && map_put(&d->probed, e->process, e->mpi.request, (uint32_t)i);
    if (!kept)
        return read_no_memory();
    *p = (struct job_probe){.begin = open->begin, .end = e->time_ns, .call = open->call, .node = open->node};
    struct job_half *h = &d->m->receives[i];
    h->probe = (uint32_t)d->m->n_probes;
    h->probed = true;
    h->request = 0;
    h->bytes = UPMU_NO_VALUE;
    return 0;
}

/* The receive of a message that a probe has matched begins; NULL: it is none, or the probe is not recorded. */
static struct job_half *half_probed(struct reader *d, uint32_t process, const struct job_open *open)
{
    bool by_message = open->call == MPI_CALL_Mrecv || open->call == MPI_CALL_Imrecv;
    uint32_t i = by_message ? map_find(&d->probed, process, open->sequence) : MAP_NONE;
    if (i == MAP_NONE)
        return NULL;
    struct job_half *h = &d->m->receives[i];
    h->probed = false;
    h->call = open->call;
    d->m->probes[h->probe - 1].received = open->begin;
    return h;
}

/* A message that is complete with the call that returns. */
static int half_add_blocking(struct reader *d, struct job_rank *r, const struct upmu_trace_event *e, bool sends,
                             const struct job_open *open)
{
    struct job_half *h = half_probed(d, e->process, open);
    size_t i;
    int rc = h ? 1 : half_add(d->m, r, e, sends, open->begin, &i);
    if (rc <= 0)
        return rc;
    if (!h)
        h = sends ? &d->m->sends[i] : &d->m->receives[i];
    h->begin = open->begin;
    h->end = e->time_ns;
    h->call = open->call;
    h->made = h->waited = open->node;
    h->request = 0;
    h->bytes = e->mpi.bytes;
    h->tid = e->tid;
    count_message(d->m, r, sends, e->mpi.bytes, h->begin, h->end);
    return 0;
}

/* A message with a request, made by the call `open`. */
static int half_add_request(struct reader *d, struct job_rank *r, const struct upmu_trace_event *e, bool sends,
                            uint64_t posted, const struct job_open *open)
{
    struct job_half *h = half_probed(d, e->process, open);
    size_t i = h ? (size_t)(h - d->m->receives) : 0;
    int rc = h ? 1 : half_add(d->m, r, e, sends, posted, &i);
    if (rc <= 0)
        return rc;
    if (!h)
        h = sends ? &d->m->sends[i] : &d->m->receives[i];
    h->made = open->node;
    h->request = e->mpi.request;
    if (sends)
        count_message(d->m, r, true, e->mpi.bytes, posted, e->time_ns);
    bool kept = i < MAP_NONE && map_put(sends ? &d->sends : &d->receives, e->process, e->mpi.request, (uint32_t)i);
    return kept ? 0 : read_no_memory();
}

/* The two messages of MPI_Isendrecv(), which have one request. */
static int half_add_both(struct reader *d, struct job_rank *r, const struct upmu_trace_event *e,
                         const struct job_open *open)
{
    struct upmu_trace_event received = *e;
    received.mpi.peer = mpi_sendrecv_source(open->sequence);
    received.mpi.tag = mpi_sendrecv_tag(open->sequence);
    int rc = half_add_request(d, r, e, true, open->begin, open);
    return rc == 0 ? half_add_request(d, r, &received, false, open->begin, open) : rc;
}

/* ---------------------------------------------------------------------------------------------------------- calls */

static struct job_thread *thread_of(struct job_rank *r, pid_t tid)
{
    for (size_t i = 0; i < r->n_threads; i++)
        if (r->threads[i].tid == tid)
            return &r->threads[i];
    struct job_thread *t = job_grow(&r->threads, &r->n_threads, &r->cap_threads, sizeof *r->threads);
    if (t)
        t->tid = tid;
    return t;
}

static int call_class(uint32_t call)
{
    return call < MPI_CALL_NUMBERS ? mpi_call_rows[call].class : MPI_CLASS_NONE;
}

static bool is_collective(uint32_t call)
{
    int class = call_class(call);
    return (class >= MPI_CLASS_BARRIER && class <= MPI_CLASS_COMM) || class == MPI_CLASS_FINALIZE;
}

static struct job_comm *comm_of(struct job_rank *r, uint64_t comm)
{
    for (size_t i = r->n_comms; i-- > 0;)
        if (r->comms[i].comm == comm)
            return &r->comms[i];
    return NULL;
}

static void read_enter(struct job_rank *r, struct job_thread *t, const struct upmu_trace_event *e)
{
    t->open = (struct job_open){.begin = e->time_ns,
                                .comm = e->mpi.comm,
                                .sequence = e->mpi.sequence,
                                .request = e->mpi.request,
                                .call = e->mpi.call,
                                .peer = e->mpi.peer,
                                .tag = e->mpi.tag,
                                .stack = e->stack,
                                .site = e->site};
    struct job_comm *comm = is_collective(e->mpi.call) && e->mpi.sequence ? comm_of(r, e->mpi.comm) : NULL;
    if (comm && e->mpi.sequence > comm->last)
        comm->last = e->mpi.sequence;
    if (e->mpi.call == MPI_CALL_Finalize) {
        r->end = e->time_ns;
        t->open.comm = 1;
        t->open.sequence = JOB_FINALIZE;
    }
    if (e->mpi.call == MPI_CALL_Session_finalize && r->sessions == 1 && !r->world)
        r->end = e->time_ns;
}

/* A process without MPI_Init() ends with its last session, until there is another one. */
static void read_session(struct job_rank *r, uint32_t call)
{
    r->world |= call_class(call) == MPI_CLASS_INIT;
    if (call == MPI_CALL_Session_init) {
        r->sessions++;
        r->end = r->world ? r->end : 0;
    }
    if (call == MPI_CALL_Session_finalize)
        r->sessions--;
}

static int read_part(struct upmu_mpi *m, const struct job_rank *r, const struct job_open *open, uint64_t end)
{
    struct job_part *p = job_grow(&m->parts, &m->n_parts, &m->cap_parts, sizeof *m->parts);
    if (!p)
        return UPMU_E_NOMEM;
    *p = (struct job_part){.comm = open->comm,
                           .sequence = open->sequence,
                           .rank = r->process,
                           .root = open->peer,
                           .begin = open->begin,
                           .end = end,
                           .call = open->call,
                           .node = open->node};
    return 0;
}

/* A collective call that has begun; its request is followed until it is complete. */
static int read_pending(struct reader *d, const struct job_rank *r, const struct job_open *open)
{
    struct upmu_mpi *m = d->m;
    struct job_pending *p = job_grow(&m->pending, &m->n_pending, &m->cap_pending, sizeof *m->pending);
    if (!p)
        return UPMU_E_NOMEM;
    *p = (struct job_pending){.rank = r->process,
                              .call = open->call,
                              .request = open->request,
                              .comm = open->comm,
                              .sequence = open->sequence,
                              .root = open->peer};
    size_t i = m->n_pending - 1;
    return i < MAP_NONE && map_put(&d->pending, r->process, open->request, (uint32_t)i) ? 0 : read_no_memory();
}

static void count_time(struct job_rank *r, const struct upmu_trace_event *e, uint32_t call, uint64_t calls, uint64_t ns)
{
    r->calls += calls;
    r->call[call].calls += calls;
    r->call[call].ns += ns;
    if (e->tid == r->init_tid && r->begin && !r->end) /* between MPI_Init() and MPI_Finalize() */
        r->mpi_ns += ns;
}

static int read_leave(struct reader *d, struct job_rank *r, struct job_thread *t, const struct upmu_trace_event *e)
{
    const struct job_open open = t->open;
    int class = call_class(e->mpi.call), rc = 0;
    if (open.begin && open.call == e->mpi.call)
        rc = lane_leave(&d->lanes, r, t, e->time_ns);
    t->open = (struct job_open){0};
    if (rc != 0)
        return rc;
    if (!open.begin || open.call != e->mpi.call || class == MPI_CLASS_NONE)
        return 0; /* its begin was overwritten */
    bool counts = job_touches(d->m, open.begin, e->time_ns);
    count_time(r, e, e->mpi.call, counts, job_within(d->m, open.begin, e->time_ns));
    if (counts && e->mpi.bytes != UPMU_NO_VALUE)
        r->call[e->mpi.call].bytes += e->mpi.bytes;
    if (e->result != 0)
        return 0;
    read_session(r, e->mpi.call);
    if (class == MPI_CLASS_SEND || class == MPI_CLASS_SENDRECV || class == MPI_CLASS_RECV)
        rc = half_add_blocking(d, r, e, class != MPI_CLASS_RECV, &open);
    else if (class == MPI_CLASS_ISEND || class == MPI_CLASS_IRECV)
        rc = half_add_request(d, r, e, class == MPI_CLASS_ISEND, open.begin, &open);
    else if (class == MPI_CLASS_ISENDRECV)
        rc = half_add_both(d, r, e, &open);
    else if ((class == MPI_CLASS_PROBE || class == MPI_CLASS_IPROBE) && e->mpi.request)
        rc = half_add_probed(d, r, e, &open);
    r->finalized |= class == MPI_CLASS_FINALIZE;
    if (rc == 0 && open.sequence && class == MPI_CLASS_ICOLLECTIVE)
        rc = read_pending(d, r, &open);
    else if (rc == 0 && open.sequence && open.comm != COMM_SELF && class != MPI_CLASS_COMM && is_collective(open.call))
        rc = read_part(d->m, r, &open, e->time_ns);
    return rc;
}

/* A half with a request is complete. */
static void half_complete(struct reader *d, struct job_rank *r, const struct job_thread *t,
                          const struct upmu_trace_event *e, bool sends)
{
    uint32_t found = map_find(sends ? &d->sends : &d->receives, e->process, e->mpi.request);
    if (found == MAP_NONE)
        return;
    struct job_half *h = sends ? &d->m->sends[found] : &d->m->receives[found];
    h->dropped = e->result != 0;
    h->begin = t->open.begin;
    h->end = t->open.begin ? e->time_ns : 0;
    h->call = t->open.call;
    h->waited = t->open.node;
    if (sends)
        return;
    h->tid = e->tid;
    if (call_class(e->mpi.call) == MPI_CLASS_ISENDRECV) { /* of which MPICH 4.0 has no status */
        h->dropped |= h->source < 0 || h->tag < 0;
    } else {
        h->bytes = e->mpi.bytes;
        h->source = e->mpi.peer;
        h->tag = e->mpi.tag;
    }
    if (e->result == 0)
        count_message(d->m, r, false, h->bytes, h->begin ? h->begin : e->time_ns, e->time_ns);
}

/* A request is complete: by the call that is open. */
static int read_request(struct reader *d, struct job_rank *r, const struct job_thread *t,
                        const struct upmu_trace_event *e)
{
    int class = call_class(e->mpi.call);
    if (class == MPI_CLASS_SENDRECV && e->mpi.request == 0)
        return e->result == 0 ? half_add_blocking(d, r, e, false, &t->open) : 0;
    if (class == MPI_CLASS_ICOLLECTIVE) {
        uint32_t at = map_find(&d->pending, e->process, e->mpi.request);
        if (at != MAP_NONE)
            d->m->pending[at].done = true;
        job_keep_duration(d->m, t->open.node);
        return 0;
    }
    if (class_sends(class) || class == MPI_CLASS_ISENDRECV)
        half_complete(d, r, t, e, true);
    if (class_receives(class) || class == MPI_CLASS_ISENDRECV)
        half_complete(d, r, t, e, false);
    return 0;
}

static void read_poll(const struct upmu_mpi *m, struct job_rank *r, const struct upmu_trace_event *e)
{
    const struct upmu_trace_mpi_poll *p = &e->mpi_poll;
    if (call_class(p->call) != MPI_CLASS_NONE)
        count_time(r, e, p->call, job_share(m, p->calls, p->since, e->time_ns),
                   job_share(m, p->busy_ns, p->since, e->time_ns));
}

/* Calls without times are not known to be in a stretch. */
static void read_count(const struct upmu_mpi *m, struct job_rank *r, const struct upmu_trace_event *e)
{
    bool whole = m->from_ns == 0 && m->to_ns == UINT64_MAX;
    if (whole && call_class(e->mpi_count.call) != MPI_CLASS_NONE)
        r->call[e->mpi_count.call].calls += e->mpi_count.calls;
}

/* Of the thread that the event names, or of all. */
static int read_discarded(struct reader *d, struct job_rank *r, const struct upmu_trace_event *e)
{
    int rc = 0;
    for (size_t i = 0; r && rc == 0 && i < r->n_threads; i++)
        if (e->thread.peer == 0 || e->thread.peer == r->threads[i].tid)
            rc = lane_region(&d->lanes, r, &r->threads[i], e);
    return rc;
}

static int read_event(struct reader *d, const struct upmu_trace_event *e)
{
    if (e->kind == UPMU_TRACE_MPI_ENV)
        return read_env(d, e);
    struct job_rank *r = rank_of(d->m, e->process);
    if (e->kind == UPMU_TRACE_REGIONS_DISCARDED)
        return read_discarded(d, r, e);
    bool region = e->kind == UPMU_TRACE_REGION_BEGIN || e->kind == UPMU_TRACE_REGION_END;
    if (region && r && r->wrapped && e->tid != r->init_tid)
        return 0;
    struct job_thread *t = r ? thread_of(r, e->tid) : NULL;
    if (!r)
        return 0; /* its description was overwritten */
    if (!t)
        return UPMU_E_NOMEM;
    r->last = e->time_ns;
    switch (e->kind) {
    case UPMU_TRACE_REGION_BEGIN:
    case UPMU_TRACE_REGION_END:
        return lane_region(&d->lanes, r, t, e);
    case UPMU_TRACE_MPI_ENTER:
        read_enter(r, t, e);
        return lane_enter(&d->lanes, r, t, e);
    case UPMU_TRACE_MPI_LEAVE:
        return read_leave(d, r, t, e);
    case UPMU_TRACE_MPI_REQUEST:
        return read_request(d, r, t, e);
    case UPMU_TRACE_MPI_START:
        return half_add_request(d, r, e, class_sends(call_class(e->mpi.call)), e->time_ns, &t->open);
    case UPMU_TRACE_MPI_POLL:
        read_poll(d->m, r, e);
        lane_poll(r, e);
        return 0;
    case UPMU_TRACE_MPI_COMM:
        return read_comm(r, e);
    case UPMU_TRACE_MPI_COUNT:
        read_count(d->m, r, e);
        return 0;
    default:
        return 0;
    }
}

static int half_add_open(struct upmu_mpi *m, const struct job_rank *r, const struct upmu_trace_event *e, bool sends)
{
    size_t i;
    int rc = half_add(m, r, e, sends, e->time_ns, &i);
    if (rc > 0)
        (sends ? &m->sends[i] : &m->receives[i])->open = true;
    return rc < 0 ? rc : 0;
}

/* The halves of a call that has not returned. */
static int read_open(struct reader *d, const struct job_rank *r, const struct job_open *open)
{
    struct upmu_mpi *m = d->m;
    struct upmu_trace_event e = {.time_ns = open->begin,
                                 .mpi = {.comm = open->comm, .call = open->call, .peer = open->peer, .tag = open->tag}};
    int class = call_class(open->call), rc = 0;
    if (half_probed(d, r->process, open))
        return 0;
    if (class == MPI_CLASS_SEND || class == MPI_CLASS_SENDRECV)
        rc = half_add_open(m, r, &e, true);
    if (class == MPI_CLASS_SENDRECV && open->sequence) {
        e.mpi.peer = mpi_sendrecv_source(open->sequence);
        e.mpi.tag = mpi_sendrecv_tag(open->sequence);
    }
    if (rc == 0 && (class == MPI_CLASS_RECV || (class == MPI_CLASS_SENDRECV && open->sequence)))
        rc = half_add_open(m, r, &e, false);
    return rc;
}

/* The calls that ranks were in at their end. */
static int read_finish(struct reader *d)
{
    struct upmu_mpi *m = d->m;
    int rc = 0;
    for (size_t i = 0; i < m->n_ranks; i++) {
        struct job_rank *r = m->ranks[i];
        for (size_t k = 0; rc == 0 && k < r->n_threads; k++) {
            const struct job_open *open = &r->threads[k].open;
            if (open->begin && open->call != MPI_CALL_Finalize)
                r->in_call = open->call;
            if (open->begin)
                rc = read_open(d, r, open);
        }
    }
    return rc;
}

int job_read(struct upmu_mpi *m, const char *dir)
{
    static const int kinds[] = {UPMU_TRACE_MPI_ENTER,  UPMU_TRACE_MPI_LEAVE,        UPMU_TRACE_MPI_REQUEST,
                                UPMU_TRACE_MPI_START,  UPMU_TRACE_MPI_POLL,         UPMU_TRACE_MPI_COMM,
                                UPMU_TRACE_MPI_ENV,    UPMU_TRACE_MPI_COUNT,        UPMU_TRACE_REGION_BEGIN,
                                UPMU_TRACE_REGION_END, UPMU_TRACE_REGIONS_DISCARDED};
    const struct upmu_trace_filter_opts only = {
        .size = sizeof only, .kinds = kinds, .n_kinds = sizeof kinds / sizeof *kinds};
    struct reader d = {.m = m, .lanes = {.m = m}};
    const struct upmu_trace_event *e;
    int rc = upmu_trace_open(&d.trace, dir);
    if (rc != 0)
        return rc;
    rc = upmu_trace_filter(d.trace, &only);
    while (rc == 0 && (rc = upmu_trace_next(d.trace, &e)) > 0)
        rc = read_event(&d, e);
    if (rc == 0)
        rc = read_finish(&d);
    if (rc == 0)
        rc = lanes_finish(&d.lanes, d.trace);
    lanes_free(&d.lanes);
    map_free(&d.sends);
    map_free(&d.receives);
    map_free(&d.pending);
    map_free(&d.probed);
    upmu_trace_close(d.trace);
    return rc;
}
