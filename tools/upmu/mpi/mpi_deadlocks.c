/* SPDX-License-Identifier: MIT */
/* Ranks that wait for each other permanently, as text and JSON. */
#include <inttypes.h>
#include <stdlib.h>

#include "deadlock/deadlock.h"
#include "mpi.h"
#include "ui/json.h"
#include "ui/memory.h"
#include "upmu/trace.h"

enum { THREADS_MAX = 16, BEHIND_MAX = 8, COMM_WORLD = 1 };

static const char *deadlock_headline_of(int kind)
{
    static const char *const texts[] = {
        [UPMU_MPI_DEADLOCK_CYCLE] = "ranks wait for each other's messages",
        [UPMU_MPI_DEADLOCK_COLLECTIVE] = "ranks are in different collective calls",
        [UPMU_MPI_DEADLOCK_KNOT] = "all ranks that could send wait themselves",
        [UPMU_MPI_DEADLOCK_LOCK] = "ranks wait for messages, and a thread that could send for a lock held meanwhile",
        [UPMU_MPI_DEADLOCK_FINALIZED] = "a rank waits for one that has left MPI_Finalize",
    };
    bool known = kind > 0 && (size_t)kind < sizeof texts / sizeof *texts;
    return known ? texts[kind] : "ranks wait for each other";
}

static void text_number(struct output *out, const char *what, int32_t number, const char *any)
{
    if (number >= 0)
        fprintf(out->file, "%s %" PRId32, what, number);
    else if (number == UPMU_MPI_ANY)
        fputs(any, out->file);
}

static void text_call(struct output *out, const struct upmu_mpi_deadlock_thread *t)
{
    fprintf(out->file, "is in %s", t->name);
    text_number(out, t->sequence ? " with root" : " with rank", t->peer, " with any rank");
    text_number(out, ", tag", t->tag, ", any tag");
    if (t->sequence > 0 && t->sequence != UINT64_MAX)
        fprintf(out->file, ", collective call %" PRIu64, t->sequence);
    if (t->comm != COMM_WORLD && t->comm != 0)
        fprintf(out->file, " of communicator 0x%" PRIx64, t->comm);
}

static void text_thread(struct output *out, struct upmu_overview *o, const struct upmu_mpi_deadlock_thread *t)
{
    fprintf(out->file, "  %srank %" PRId32 "%s (process %" PRId32 " on ", output_style(out, STYLE_TITLE), t->rank,
            output_plain(out), t->pid);
    output_clean(out->file, t->host);
    if (t->tid != t->pid)
        fprintf(out->file, ", thread %" PRId32, t->tid);
    fputs(") ", out->file);
    if (t->name)
        text_call(out, t);
    else
        fprintf(out->file, "waits for %s 0x%" PRIx64,
                t->wait_kind == UPMU_TRACE_LOCK_BLOCK ? "lock" : upmu_trace_kind_name(t->wait_kind), t->object);
    if (!t->name && t->holder)
        fprintf(out->file, ", held by thread %" PRId32, t->holder);
    if (t->cause >= 0 && t->name)
        fprintf(out->file, ", waits for rank %" PRId32, t->cause);
    else if (t->n_causes > 1)
        fprintf(out->file, ", waits for %" PRIu32 " ranks that wait themselves", t->n_causes);
    fputs(", ", out->file);
    deadlock_write_since(out, t->since_ns);
    fputc('\n', out->file);
    if (o)
        deadlock_write_stack(out, o, t->process, t->stack, t->site);
}

void mpi_write_deadlock(struct output *out, struct upmu_overview *o, const struct upmu_mpi *mpi, size_t i)
{
    struct upmu_mpi_deadlock d = {.size = sizeof d};
    struct upmu_mpi_deadlock_thread t = {.size = sizeof t};
    if (upmu_mpi_deadlock_at(mpi, i, &d) != 0)
        return;
    fprintf(out->file, "%sdeadlock%s [%s] across MPI ranks: %s\n", output_style(out, STYLE_BAD), output_plain(out),
            upmu_mpi_deadlock_name(d.kind), deadlock_headline_of(d.kind));
    for (size_t k = 0; k < d.n_threads && k < THREADS_MAX && upmu_mpi_deadlock_thread_at(mpi, i, k, &t) == 0; k++)
        text_thread(out, o, &t);
    if (d.n_threads > THREADS_MAX)
        fprintf(out->file, "  and %zu more threads (--json has all)\n", d.n_threads - THREADS_MAX);
    if (d.n_behind > 0)
        fprintf(out->file, "  blocked behind them:\n");
    for (size_t k = 0; k < d.n_behind && k < BEHIND_MAX; k++)
        if (upmu_mpi_deadlock_thread_at(mpi, i, d.n_threads + k, &t) == 0)
            text_thread(out, NULL, &t);
    if (d.n_behind > BEHIND_MAX)
        fprintf(out->file, "  and %zu more threads\n", d.n_behind - BEHIND_MAX);
}

static void json_thread(struct textbuf *j, struct upmu_overview *o, const struct upmu_mpi_deadlock_thread *t)
{
    struct upmu_symbol s = {.size = sizeof s};
    json_object(j, NULL);
    json_int(j, "rank", t->rank);
    json_int(j, "pid", t->pid);
    json_int(j, "tid", t->tid);
    json_string(j, "host", t->host);
    json_string(j, "function", t->name);
    json_uint_if(j, "communicator", t->comm != 0, t->comm);
    json_uint_if(j, "sequence", t->sequence != 0 && t->sequence != UINT64_MAX, t->sequence);
    json_int_if(j, "peer", t->peer >= 0, t->peer);
    json_bool(j, "any_peer", t->name && t->peer == UPMU_MPI_ANY);
    json_int_if(j, "tag", t->tag >= 0, t->tag);
    json_int_if(j, "waits_for_rank", t->cause >= 0, t->cause);
    json_uint(j, "waits_for_ranks", t->n_causes);
    json_uint_if(j, "object", t->object != 0, t->object);
    json_string(j, "wait", t->wait_kind ? upmu_trace_kind_name(t->wait_kind) : NULL);
    json_int_if(j, "holder", t->holder != 0, t->holder);
    json_bool(j, "behind", t->behind != 0);
    json_uint(j, "since_ns", t->since_ns);
    json_array(j, "stack");
    for (size_t i = 0; o && t->stack && upmu_overview_frame_at(o, t->process, t->stack, i, &s) == 0; i++)
        deadlock_json_frame(j, &s);
    json_array_end(j);
    json_object_end(j);
}

void mpi_json_deadlocks(struct textbuf *j, const char *key, struct upmu_overview *o, const struct upmu_mpi *mpi)
{
    struct upmu_mpi_deadlock d = {.size = sizeof d};
    struct upmu_mpi_deadlock_thread t = {.size = sizeof t};
    json_array(j, key);
    for (size_t i = 0; mpi && upmu_mpi_deadlock_at(mpi, i, &d) == 0; i++) {
        json_object(j, NULL);
        json_uint(j, "job", d.job);
        json_string(j, "kind", upmu_mpi_deadlock_name(d.kind));
        json_string(j, "headline", deadlock_headline_of(d.kind));
        json_array(j, "threads");
        for (size_t k = 0; upmu_mpi_deadlock_thread_at(mpi, i, k, &t) == 0; k++)
            json_thread(j, o, &t);
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}
