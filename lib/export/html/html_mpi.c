/* SPDX-License-Identifier: MIT */
/*
 * Calls of MPI as spans, messages as columns, ranks and communicators as JSON.
 *
 * A message names threads and times: the page finds the calls at its ends by them, also where calls are merged.
 */
#include "export/html/html.h"

#include <stdio.h>
#include <stdlib.h>

#include "upmu/mpi.h"

/** A call that has not returned. */
struct mpi_open {
    uint64_t begin_ns; /**< 0: none */
    struct upmu_trace_mpi mpi;
    uint64_t site;
    uint32_t stack;
};

/** A communicator of a job. */
struct mpi_comm {
    uint64_t job, comm;
    uint32_t *members; /**< by rank: process plus one, 0: not recorded */
    uint32_t n;
};

struct html_mpi {
    struct mpi_open *open; /**< by thread */
    uint64_t *job_of;      /**< by process */
    size_t n_processes;
    struct mpi_comm *comms;
    size_t n_comms, cap_comms;
    struct map by_comm; /**< number of a (job, communicator), from 1 on */
    struct upmu_mpi *mpi;
    struct map threads; /**< index of the (process and tid, n): a tid may be used again */
    struct upmu_mpi_message *messages;
    size_t n_messages, all_messages;
};

/* -------------------------------------------------------------------------------------------------------- events */

static struct html_mpi *mpi_state(struct export_job *job)
{
    struct html *h = job->html;
    const struct overview *o = &job->facts->pass;
    struct html_mpi *s = h->mpi;
    if (s)
        return s;
    h->mpi = s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->n_processes = o->n_processes;
    s->open = calloc(o->n_threads + 1, sizeof *s->open);
    s->job_of = calloc(o->n_processes + 1, sizeof *s->job_of);
    return s->open && s->job_of ? s : NULL;
}

/* Its number, from 1 on; 0: none, or not followed; MAP_NONE without memory. */
static uint32_t mpi_comm_number(struct html_mpi *s, uint32_t process, uint64_t comm)
{
    uint64_t job = process < s->n_processes ? s->job_of[process] : 0;
    if (comm == 0)
        return 0;
    uint32_t at = map_find(&s->by_comm, job, comm);
    if (at != MAP_NONE)
        return at;
    struct mpi_comm *all = array_reserve(s->comms, s->n_comms, &s->cap_comms, sizeof *all);
    if (!all)
        return MAP_NONE;
    s->comms = all;
    all[s->n_comms++] = (struct mpi_comm){.job = job, .comm = comm};
    return map_put(&s->by_comm, job, comm, (uint32_t)s->n_comms) ? (uint32_t)s->n_comms : MAP_NONE;
}

static int mpi_add_member(struct html_mpi *s, uint32_t process, const struct upmu_trace_mpi_comm *c)
{
    enum { SELF = 2, RANKS_MAX = 1 << 24 };
    uint32_t number = mpi_comm_number(s, process, c->comm);
    if (number == MAP_NONE)
        return export_no_memory();
    if (number == 0 || !s->comms || c->comm == SELF || c->size <= 0 || c->size > RANKS_MAX || c->rank < 0 ||
        c->rank >= c->size)
        return 0;
    struct mpi_comm *to = &s->comms[number - 1];
    if (!to->members) {
        to->members = calloc((size_t)c->size, sizeof *to->members);
        to->n = to->members ? (uint32_t)c->size : 0;
    }
    if (!to->members)
        return export_no_memory();
    if ((uint32_t)c->rank < to->n)
        to->members[c->rank] = process + 1;
    return 0;
}

static int mpi_add(struct export_job *job, uint32_t thread, const struct mpi_open *open, uint64_t end,
                   const struct html_span *as)
{
    struct html *h = job->html;
    uint32_t process = export_thread(job, thread)->process;
    struct html_span span = *as;
    span.begin_ns = open->begin_ns;
    span.ns = end > open->begin_ns ? end - open->begin_ns : 0;
    span.row_a = thread;
    struct html_call *call = html_add(&h->calls, &span);
    if (!call)
        return export_no_memory();
    *call = (struct html_call){.begin_ns = open->begin_ns,
                               .process = process,
                               .peer = open->mpi.peer,
                               .tag = open->mpi.tag,
                               .bytes = open->mpi.bytes,
                               .sequence = open->mpi.sequence,
                               .comm = mpi_comm_number(h->mpi, process, open->mpi.comm),
                               .site = html_site(job, process, open->site),
                               .stack = html_stack(job, process, open->stack)};
    return call->comm == MAP_NONE || call->site == MAP_NONE || call->stack == MAP_NONE ? export_no_memory() : 0;
}

/* What a call returned with: the sender of what was received, and bytes. Only collective calls have a sequence on the page. */
static int mpi_leave(struct export_job *job, uint32_t thread, const struct upmu_trace_event *e)
{
    static const char *const others[] = {"MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Mrecv", "MPI_Imrecv"};
    struct mpi_open *open = &job->html->mpi->open[thread];
    struct mpi_open call = *open;
    const char *name = upmu_trace_mpi_call_name(call.mpi.call);
    *open = (struct mpi_open){0};
    if (call.begin_ns == 0 || call.mpi.call != e->mpi.call)
        return 0; /* its begin was overwritten */
    bool other = call.mpi.comm == 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        other |= strcmp(name, others[i]) == 0;
    if (other)
        call.mpi.sequence = 0;
    if (strcmp(name, "MPI_Finalize") == 0)
        call.mpi = (struct upmu_trace_mpi){
            .call = e->mpi.call, .comm = 1, .sequence = HTML_FINALIZE, .peer = e->mpi.peer, .tag = e->mpi.tag};
    call.mpi.bytes = e->mpi.bytes;
    if (e->mpi.peer >= 0)
        call.mpi.peer = e->mpi.peer;
    if (e->mpi.tag >= 0)
        call.mpi.tag = e->mpi.tag;
    return mpi_add(job, thread, &call, e->time_ns,
                   &(struct html_span){.what = e->mpi.call, .flags = e->result ? HTML_FAILED : 0});
}

/* Calls that found nothing: one span for all of them. */
static int mpi_poll(struct export_job *job, uint32_t thread, const struct upmu_trace_event *e)
{
    const struct mpi_open polls = {.begin_ns = e->mpi_poll.since,
                                   .mpi = {.peer = UPMU_MPI_NONE, .tag = UPMU_MPI_NONE, .bytes = UPMU_NO_VALUE},
                                   .site = e->site};
    return mpi_add(
        job, thread, &polls, e->time_ns,
        &(struct html_span){.what = e->mpi_poll.call,
                            .count = e->mpi_poll.calls < UINT32_MAX ? (uint32_t)e->mpi_poll.calls : UINT32_MAX,
                            .busy_ns = e->mpi_poll.busy_ns});
}

int html_mpi_event(struct export_job *job, uint32_t thread, const struct upmu_trace_event *e)
{
    struct html_mpi *s = mpi_state(job);
    if (!s)
        return export_no_memory();
    switch (e->kind) {
    case UPMU_TRACE_MPI_ENV:
        if (e->process < s->n_processes)
            s->job_of[e->process] = e->mpi_env.job;
        return 0;
    case UPMU_TRACE_MPI_COMM:
        return mpi_add_member(s, e->process, &e->mpi_comm);
    case UPMU_TRACE_MPI_ENTER:
        s->open[thread] = (struct mpi_open){e->time_ns, e->mpi, e->site, e->stack};
        return 0;
    case UPMU_TRACE_MPI_LEAVE:
        return mpi_leave(job, thread, e);
    default:
        return mpi_poll(job, thread, e);
    }
}

/* ------------------------------------------------------------------------------------------------------- messages */

static uint64_t mpi_thread_key(uint32_t process, int32_t tid)
{
    return (uint64_t)process << 32 | (uint32_t)tid;
}

static bool mpi_number_threads(struct html_mpi *s, const struct overview *o)
{
    for (uint32_t i = 0; i < o->n_threads; i++) {
        uint64_t key = mpi_thread_key(o->threads[i].process, o->threads[i].tid), n = 0;
        while (map_find(&s->threads, key, n) != MAP_NONE)
            n++;
        if (!map_put(&s->threads, key, n, i))
            return false;
    }
    return true;
}

/* The thread that had a tid at a time; MAP_NONE: not recorded. */
static uint32_t mpi_thread(const struct export_job *job, uint32_t process, int32_t tid, uint64_t ns)
{
    const struct html_mpi *s = job->html->mpi;
    uint32_t found = MAP_NONE, next;
    for (uint64_t n = 0; (next = map_find(&s->threads, mpi_thread_key(process, tid), n)) != MAP_NONE; n++)
        if (found == MAP_NONE || export_thread(job, next)->begin_ns <= ns)
            found = next;
    return found;
}

static int mpi_compare_messages(const void *x, const void *y)
{
    const struct upmu_mpi_message *a = x, *b = y;
    return a->send_ns < b->send_ns ? -1 : a->send_ns > b->send_ns;
}

/* Of more messages than a page can have, every n-th one. */
static int mpi_read_messages(const struct export_job *job)
{
    struct html_mpi *s = job->html->mpi;
    struct upmu_mpi_message x = {.size = sizeof x};
    const struct html_table *t = &job->html->calls;
    while (upmu_mpi_message_at(s->mpi, s->all_messages, &x) == 0)
        s->all_messages++;
    size_t step = 1 + s->all_messages / HTML_SPANS_MAX;
    s->messages = calloc(s->all_messages / step + 1, sizeof x);
    if (!s->messages)
        return export_no_memory();
    for (size_t i = 0; i < s->all_messages && upmu_mpi_message_at(s->mpi, i, &x) == 0; i += step)
        if (x.receive_ns >= t->from_ns && x.send_ns <= t->to_ns)
            s->messages[s->n_messages++] = x;
    if (s->n_messages > 1)
        qsort(s->messages, s->n_messages, sizeof x, mpi_compare_messages);
    return 0;
}

/* The wait of each call, found by the call's begin. */
static int mpi_read_waits(const struct export_job *job)
{
    struct html_mpi *s = job->html->mpi;
    const struct html_table *t = &job->html->calls;
    struct upmu_mpi_call_wait w = {.size = sizeof w};
    struct map by_call = {0};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && upmu_mpi_call_wait_at(s->mpi, i, &w) == 0; i++)
        rc = map_put(&by_call, w.process, w.call_ns, i) ? 0 : export_no_memory();
    for (size_t i = 0; rc == 0 && i < t->n; i++) {
        struct html_call *call = (struct html_call *)(void *)t->extras + t->spans[i].extra;
        uint32_t at = map_find(&by_call, call->process, call->begin_ns);
        if (at == MAP_NONE || upmu_mpi_call_wait_at(s->mpi, at, &w) != 0 ||
            (t->spans[i].count == 1 && strcmp(w.name, upmu_trace_mpi_call_name(t->spans[i].what)) != 0))
            continue;
        call->wait = (uint32_t)w.pattern;
        call->wait_ns = w.ns;
        call->cause = (uint32_t)(w.cause + 1);
    }
    map_free(&by_call);
    return rc;
}

int html_mpi_finish(struct export_job *job)
{
    struct html *h = job->html;
    struct html_mpi *s = h->mpi;
    const struct overview *o = &job->facts->pass;
    int rc = 0;
    for (uint32_t i = 0; s && rc == 0 && i < o->n_threads; i++) {
        s->open[i].mpi.bytes = UPMU_NO_VALUE;
        if (s->open[i].begin_ns)
            rc = mpi_add(job, i, &s->open[i], o->end_ns,
                         &(struct html_span){.what = s->open[i].mpi.call, .flags = HTML_UNFINISHED});
    }
    if (rc == 0)
        rc = html_table_finish(&h->calls);
    if (rc != 0 || !s)
        return rc;
    rc = upmu_mpi_open(&s->mpi, job->dir);
    if (rc == UPMU_E_STATE)
        return 0;
    if (rc == 0 && !mpi_number_threads(s, o))
        rc = export_no_memory();
    if (rc == 0)
        rc = mpi_read_messages(job);
    return rc == 0 ? mpi_read_waits(job) : rc;
}

/* -------------------------------------------------------------------------------------------------------- columns */

typedef uint64_t mpi_number(const struct export_job *job, size_t i);

static const struct upmu_mpi_message *mpi_message(const struct export_job *job, size_t i)
{
    return &job->html->mpi->messages[i];
}

static uint64_t mpi_rank_of_thread(const struct export_job *job, uint32_t thread)
{
    return thread == MAP_NONE ? 0 : (uint64_t)job->html->thread_rank[thread] + 1;
}

static uint64_t message_begin(const struct export_job *job, size_t i)
{
    uint64_t before = i ? html_since(job->html, mpi_message(job, i - 1)->send_ns) : 0;
    return html_since(job->html, mpi_message(job, i)->send_ns) - before;
}

static uint64_t message_ns(const struct export_job *job, size_t i)
{
    const struct upmu_mpi_message *m = mpi_message(job, i);
    return html_since(job->html, m->receive_ns) - html_since(job->html, m->send_ns);
}

static uint64_t message_from(const struct export_job *job, size_t i)
{
    const struct upmu_mpi_message *m = mpi_message(job, i);
    return mpi_rank_of_thread(job, mpi_thread(job, m->send_process, m->send_tid, m->send_ns));
}

static uint64_t message_to(const struct export_job *job, size_t i)
{
    const struct upmu_mpi_message *m = mpi_message(job, i);
    return mpi_rank_of_thread(job, mpi_thread(job, m->receive_process, m->receive_tid, m->receive_ns));
}

static uint64_t message_bytes(const struct export_job *job, size_t i)
{
    uint64_t bytes = mpi_message(job, i)->bytes;
    return bytes == UPMU_NO_VALUE ? 0 : bytes + 1;
}

static uint64_t message_tag(const struct export_job *job, size_t i)
{
    int32_t tag = mpi_message(job, i)->tag;
    return tag < 0 ? 0 : (uint64_t)tag;
}

static uint64_t message_comm(const struct export_job *job, size_t i)
{
    const struct upmu_mpi_message *m = mpi_message(job, i);
    uint32_t number = mpi_comm_number(job->html->mpi, m->send_process, m->comm);
    return number == MAP_NONE ? 0 : number;
}

int html_mpi_columns(struct export_job *job)
{
    static const struct {
        const char *name;
        mpi_number *number;
    } columns[] = {{"messages.begin", message_begin}, {"messages.ns", message_ns},
                   {"messages.from", message_from},   {"messages.to", message_to},
                   {"messages.bytes", message_bytes}, {"messages.tag", message_tag},
                   {"messages.comm", message_comm}};
    int rc = 0;
    for (size_t c = 0; job->html->mpi && rc == 0 && c < sizeof columns / sizeof *columns; c++) {
        struct textbuf b = {0};
        for (size_t i = 0; i < job->html->mpi->n_messages; i++)
            html_varint(&b, columns[c].number(job, i));
        rc = html_pack_section(job, columns[c].name, job->html->mpi->n_messages, &b);
        textbuf_free(&b);
    }
    return rc;
}

/* ----------------------------------------------------------------------------------------------------------- JSON */

static void mpi_write_ranks(const struct export_job *job, struct textbuf *b)
{
    struct upmu_mpi_rank r = {.size = sizeof r};
    json_array(b, "ranks");
    for (size_t i = 0; upmu_mpi_rank_at(job->html->mpi->mpi, i, &r) == 0; i++) {
        uint32_t thread = r.tid ? mpi_thread(job, r.process, r.tid, 0) : MAP_NONE;
        json_object(b, NULL);
        json_uint(b, "job", r.job);
        json_uint(b, "process", r.process);
        json_int(b, "rank", r.rank);
        json_string(b, "host", r.host);
        json_uint(b, "thread", mpi_rank_of_thread(job, thread));
        json_uint(b, "recorded", r.wrapped);
        json_uint(b, "time", r.time_ns);
        json_uint(b, "mpi", r.mpi_ns);
        json_uint(b, "wait", r.wait_ns);
        json_object_end(b);
    }
    json_array_end(b);
}

/* Critical paths: parts, the longest first, and steps as thread, begin and end. */
static int mpi_write_path(struct export_job *job, struct textbuf *b)
{
    const struct upmu_mpi *mpi = job->html->mpi->mpi;
    struct upmu_mpi_path p = {.size = sizeof p};
    struct upmu_mpi_path_step s = {.size = sizeof s};
    json_array(b, "parts");
    for (size_t i = 0; upmu_mpi_path_at(mpi, i, &p) == 0; i++) {
        uint32_t site = html_site(job, p.process, p.site);
        if (site == MAP_NONE)
            return export_no_memory();
        json_object(b, NULL);
        json_uint(b, "process", p.process);
        json_string(b, "region", p.region);
        json_string(b, "name", p.name);
        json_uint(b, "inside", p.inside);
        json_uint(b, "site", site);
        json_uint(b, "ns", p.ns);
        json_object_end(b);
    }
    json_array_end(b);
    json_array(b, "steps");
    for (size_t i = 0; upmu_mpi_path_step_at(mpi, i, &s) == 0; i++) {
        json_array(b, NULL);
        json_uint(b, NULL, s.job);
        json_uint(b, NULL, mpi_rank_of_thread(job, mpi_thread(job, s.process, s.tid, 0)));
        json_uint(b, NULL, html_since(job->html, s.begin_ns));
        json_uint(b, NULL, html_since(job->html, s.end_ns));
        json_array_end(b);
    }
    json_array_end(b);
    return 0;
}

/* A communicator: its id, and the processes of its ranks plus one; 0: not recorded. */
static void mpi_write_comms(const struct html_mpi *s, struct textbuf *b)
{
    json_array(b, "comms");
    for (size_t i = 0; i < s->n_comms; i++) {
        char id[24];
        snprintf(id, sizeof id, "0x%llx", (unsigned long long)s->comms[i].comm);
        json_array(b, NULL);
        json_string(b, NULL, id);
        for (uint32_t k = 0; k < s->comms[i].n; k++)
            json_uint(b, NULL, s->comms[i].members[k]);
        json_array_end(b);
    }
    json_array_end(b);
}

/* Names of functions by number. */
static void mpi_write_names(const struct export_job *job, struct textbuf *b)
{
    const struct html_table *t = &job->html->calls;
    uint32_t most = 0;
    for (size_t i = 0; i < t->n; i++)
        most = t->spans[i].what != MAP_NONE && t->spans[i].what > most ? t->spans[i].what : most;
    json_array(b, "names");
    for (uint32_t i = 0; i <= most; i++)
        json_string(b, NULL, upmu_trace_mpi_call_name(i));
    json_array_end(b);
}

int html_mpi_write(struct export_job *job, struct textbuf *b)
{
    const struct html_mpi *s = job->html->mpi;
    if (!s || !s->mpi)
        return 0;
    json_object(b, "mpi");
    int rc = mpi_write_path(job, b);
    mpi_write_ranks(job, b);
    mpi_write_comms(s, b);
    mpi_write_names(job, b);
    json_array(b, "patterns");
    for (int i = 0; i <= UPMU_MPI_WRONG_ORDER; i++)
        json_string(b, NULL, i ? upmu_mpi_pattern_name(i) : "");
    json_array_end(b);
    json_uint(b, "messages", s->all_messages);
    json_bool(b, "thinned", s->all_messages > HTML_SPANS_MAX);
    json_object_end(b);
    return rc;
}

void html_mpi_free(struct html *h)
{
    struct html_mpi *s = h->mpi;
    if (!s)
        return;
    for (size_t i = 0; i < s->n_comms; i++)
        free(s->comms[i].members);
    free(s->comms);
    free(s->open);
    free(s->job_of);
    free(s->messages);
    map_free(&s->by_comm);
    map_free(&s->threads);
    upmu_mpi_close(s->mpi);
    free(s);
}
