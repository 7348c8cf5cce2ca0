/* SPDX-License-Identifier: MIT */
/* MPI jobs as JSON. */
#include "mpi.h"
#include "report/report.h"
#include "ui/json.h"
#include "upmu/analysis.h"
#include "upmu/trace.h"

static void json_job(struct textbuf *j, const struct upmu_mpi_job *of)
{
    bool known = of->ranks > 0 && of->useful_max_ns > 0 && of->end_ns > of->begin_ns;
    json_uint(j, "ranks", of->ranks);
    json_uint(j, "world", of->world);
    json_uint(j, "begin_ns", of->begin_ns);
    json_uint(j, "end_ns", of->end_ns);
    json_uint(j, "useful_max_ns", of->useful_max_ns);
    json_double(j, "useful_mean_ns", of->useful_mean_ns);
    if (known) {
        json_double(j, "parallel_efficiency", of->parallel);
        json_double(j, "load_balance", of->load_balance);
        json_double(j, "communication_efficiency", of->communication);
    } else {
        json_null(j, "parallel_efficiency");
        json_null(j, "load_balance");
        json_null(j, "communication_efficiency");
    }
    bool replayed = known && of->ideal_ns != UPMU_NO_VALUE;
    json_uint_if(j, "ideal_ns", replayed, of->ideal_ns);
    if (replayed) {
        json_double(j, "serialization_efficiency", of->serialization);
        json_double(j, "transfer_efficiency", of->transfer);
    } else {
        json_null(j, "serialization_efficiency");
        json_null(j, "transfer_efficiency");
    }
    json_uint(j, "messages", of->messages);
    json_uint(j, "unmatched", of->unmatched);
    json_uint(j, "reversed", of->reversed);
    json_uint(j, "reversed_ns", of->reversed_ns);
    json_uint(j, "collectives", of->collectives);
    json_uint(j, "partial", of->partial);
}

static void json_ranks(struct textbuf *j, const struct mpi_report *r, size_t job)
{
    static const char *const ends[] = {"finalized", "exited", "killed"};
    struct upmu_mpi_rank k = {.size = sizeof k};
    json_array(j, "ranks_recorded");
    for (size_t i = 0; upmu_mpi_rank_at(r->mpi, i, &k) == 0; i++) {
        if (k.job != job)
            continue;
        json_object(j, NULL);
        json_int_if(j, "rank", k.rank >= 0, k.rank);
        json_int(j, "pid", k.pid);
        json_string(j, "host", k.host);
        json_string(j, "library", k.library);
        json_bool(j, "wrapped", k.wrapped != 0);
        json_string(j, "end", ends[k.end]);
        json_string(j, "in_call", k.in_call ? upmu_trace_mpi_call_name(k.in_call) : NULL);
        json_uint_if(j, "time_ns", k.wrapped, k.time_ns);
        json_uint_if(j, "useful_ns", k.wrapped, k.useful_ns);
        json_uint_if(j, "mpi_ns", k.wrapped, k.mpi_ns);
        json_uint_if(j, "wait_ns", k.wrapped, k.wait_ns);
        json_uint_if(j, "calls", k.wrapped, k.calls);
        json_uint_if(j, "sent", k.wrapped, k.sent);
        json_uint_if(j, "sent_bytes", k.wrapped, k.sent_bytes);
        json_uint_if(j, "received", k.wrapped, k.received);
        json_uint_if(j, "received_bytes", k.wrapped, k.received_bytes);
        json_uint_if(j, "messages_of_unknown_size", k.wrapped, k.unknown_bytes);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_waits(struct textbuf *j, const struct mpi_report *r, size_t job)
{
    struct upmu_mpi_wait w = {.size = sizeof w};
    size_t n = 0;
    json_array(j, "waits");
    for (size_t i = 0; upmu_mpi_wait_at(r->mpi, i, &w) == 0; i++) {
        if (w.job != job || n++ >= r->top)
            continue;
        json_object(j, NULL);
        json_string(j, "pattern", upmu_mpi_pattern_name(w.pattern));
        json_int(j, "rank", w.rank);
        json_int(j, "cause", w.cause);
        json_string(j, "function", w.name);
        json_uint(j, "count", w.count);
        json_uint(j, "ns", w.ns);
        json_uint(j, "max_ns", w.max_ns);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_partners(struct textbuf *j, const struct mpi_report *r, size_t job)
{
    struct upmu_mpi_partner p = {.size = sizeof p};
    json_array(j, "partners_not_recorded");
    for (size_t i = 0, n = 0; upmu_mpi_partner_at(r->mpi, i, &p) == 0; i++) {
        if (p.job != job || n++ >= r->top)
            continue;
        json_object(j, NULL);
        json_int(j, "rank", p.rank);
        if (p.partner >= 0)
            json_int(j, "partner", p.partner);
        json_uint(j, "sent", p.sent);
        json_uint(j, "received", p.received);
        json_object_end(j);
    }
    json_array_end(j);
}

/* Where: a region, or a call with its line. */
static void json_place(struct textbuf *j, const struct mpi_report *r, const struct upmu_mpi_path *p)
{
    struct upmu_symbol s = {.size = sizeof s};
    bool found = r->overview && p->site && upmu_overview_line_at(r->overview, p->process, p->site, p->stack, &s) == 0;
    json_int(j, "rank", p->rank);
    json_string(j, "region", p->region);
    json_string(j, "function", p->name);
    json_bool(j, "inside", p->inside != 0);
    json_string(j, "caller", found ? s.function : NULL);
    json_string(j, "file", found ? s.file : NULL);
    json_uint_if(j, "line", found && s.line > 0, s.line);
}

static void json_delay(struct textbuf *j, const struct mpi_report *r, const struct upmu_mpi_delay *d)
{
    const struct upmu_mpi_path place = {.rank = d->rank,
                                        .inside = d->inside,
                                        .region = d->region,
                                        .name = d->name,
                                        .process = d->process,
                                        .stack = d->stack,
                                        .site = d->site};
    json_object(j, NULL);
    json_place(j, r, &place);
    json_uint(j, "waits", d->waits);
    json_uint(j, "ns", d->ns);
    json_object_end(j);
}

static void json_delays(struct textbuf *j, const struct mpi_report *r, size_t job)
{
    struct upmu_mpi_delay d = {.size = sizeof d};
    size_t n = 0;
    json_array(j, "delays");
    for (size_t i = 0; upmu_mpi_delay_at(r->mpi, i, &d) == 0; i++)
        if (d.job == job && n++ < r->top)
            json_delay(j, r, &d);
    json_array_end(j);
}

/* Sums, and the ranks that the path leads along. */
static void json_path(struct textbuf *j, const struct mpi_report *r, size_t job)
{
    struct upmu_mpi_path p = {.size = sizeof p};
    struct upmu_mpi_path_step s = {.size = sizeof s};
    size_t n = 0, steps = 0;
    json_object(j, "critical_path");
    json_array(j, "parts");
    for (size_t i = 0; upmu_mpi_path_at(r->mpi, i, &p) == 0; i++) {
        if (p.job != job || n++ >= r->top)
            continue;
        json_object(j, NULL);
        json_place(j, r, &p);
        json_uint(j, "ns", p.ns);
        json_object_end(j);
    }
    json_array_end(j);
    json_array(j, "steps");
    for (size_t i = 0; upmu_mpi_path_step_at(r->mpi, i, &s) == 0; i++) {
        if (s.job != job || steps++ >= r->top)
            continue;
        json_object(j, NULL);
        json_int(j, "rank", s.rank);
        json_uint(j, "begin_ns", s.begin_ns);
        json_uint(j, "end_ns", s.end_ns);
        json_object_end(j);
    }
    json_array_end(j);
    json_uint(j, "steps_all", steps);
    json_object_end(j);
}

static void json_calls(struct textbuf *j, const struct mpi_report *r, size_t job)
{
    struct upmu_mpi_call c = {.size = sizeof c};
    size_t n = 0;
    json_array(j, "functions");
    for (size_t i = 0; upmu_mpi_call_at(r->mpi, i, &c) == 0; i++) {
        if (c.job != job || n++ >= r->top)
            continue;
        json_object(j, NULL);
        json_string(j, "name", c.name);
        json_uint(j, "calls", c.calls);
        json_uint(j, "ns", c.ns);
        json_uint(j, "max_ns", c.max_ns);
        json_int(j, "max_rank", c.max_rank);
        json_uint(j, "bytes", c.bytes);
        json_object_end(j);
    }
    json_array_end(j);
}

void mpi_write_json(struct output *out, const struct mpi_report *r)
{
    struct upmu_mpi_job of = {.size = sizeof of};
    struct json_document doc;
    struct textbuf *j = json_begin(&doc, out->file, "upmu-mpi");
    json_string(j, "dir", r->dir);
    if (r->stretch)
        report_json_stretch(j, r->overview);
    json_array(j, "jobs");
    for (size_t job = 0; upmu_mpi_job_at(r->mpi, job, &of) == 0; job++) {
        json_object(j, NULL);
        json_job(j, &of);
        json_ranks(j, r, job);
        json_waits(j, r, job);
        json_partners(j, r, job);
        json_delays(j, r, job);
        json_path(j, r, job);
        json_calls(j, r, job);
        json_object_end(j);
    }
    json_array_end(j);
    mpi_json_deadlocks(j, "deadlocks", r->overview, r->mpi);
    json_end(&doc);
}
