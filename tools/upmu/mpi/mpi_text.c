/* SPDX-License-Identifier: MIT */
/* MPI jobs as text: efficiencies, ranks, waits, functions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"
#include "report/report.h"
#include "report/report_cells.h"
#include "ui/memory.h"
#include "ui/table.h"
#include "upmu/trace.h"

static void text_warning(struct output *out, uint64_t n, const char *what)
{
    if (n > 0)
        fprintf(out->file, "  %s%" PRIu64 " %s%s\n", output_style(out, STYLE_WARNING), n, what, output_plain(out));
}

/* Calls whose communicators have no number that is the same in all ranks. */
static void text_not_followed(struct output *out, const struct mpi_report *r, size_t job)
{
    static const char *const names[] = {"MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Comm_accept",
                                        "MPI_Comm_connect"};
    struct upmu_mpi_call c = {.size = sizeof c};
    for (size_t i = 0; upmu_mpi_call_at(r->mpi, i, &c) == 0; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (c.job == job && strcmp(c.name, names[k]) == 0)
                fprintf(out->file,
                        "  %s%" PRIu64 " calls of %s: their communicators are not followed, nor messages on "
                        "these%s\n",
                        output_style(out, STYLE_WARNING), c.calls, c.name, output_plain(out));
}

static void text_job(struct output *out, const struct mpi_report *r, const struct upmu_mpi_job *j)
{
    char *time = report_duration(j->end_ns - j->begin_ns);
    fprintf(out->file, "%sMPI job of ", output_style(out, STYLE_TITLE));
    output_clean(out->file, r->dir);
    if (r->stretch)
        report_text_stretch(out, r->overview);
    fprintf(out->file, "%s: %" PRIu32 " of %" PRIu32 " ranks recorded, %s %s\n", output_plain(out), j->ranks, j->world,
            time, r->stretch ? "of it between MPI_Init and MPI_Finalize" : "from MPI_Init to MPI_Finalize");
    free(time);
    if (j->ranks > 0 && j->useful_max_ns > 0)
        fprintf(out->file,
                "  parallel efficiency %.1f %% = load balance %.1f %% x communication efficiency %.1f %%; imbalance "
                "%.1f %%\n",
                100 * j->parallel, 100 * j->load_balance, 100 * j->communication, 100 * (1 / j->load_balance - 1));
    if (j->ranks > 0 && j->ideal_ns != UPMU_NO_VALUE) {
        char *ideal = report_duration(j->ideal_ns);
        fprintf(
            out->file,
            "  communication efficiency = serialization %.1f %% x transfer %.1f %%: %s with a network that takes no "
            "time\n",
            100 * j->serialization, 100 * j->transfer, ideal);
        free(ideal);
    } else if (j->ranks > 0) {
        fputs("  serialization and transfer are not known: events are missing, or several threads of a rank call MPI\n",
              out->file);
    }
    fprintf(out->file, "  %" PRIu64 " messages and %" PRIu64 " collective calls between recorded ranks\n", j->messages,
            j->collectives);
    text_warning(out, j->ranks < j->world ? j->world - j->ranks : 0,
                 "ranks without recorded calls: the efficiencies are those of the others");
    text_warning(out, j->unmatched, "sends and receives without the other half, not analyzed");
    text_warning(out, j->partial, "collective calls that not all ranks have recorded, not analyzed");
    char *by = report_duration(j->reversed_ns);
    char *reversed =
        memory_format("messages received up to %s before they were sent, as the clocks of the hosts differ: "
                      "their waits are not counted",
                      by);
    text_warning(out, j->reversed, reversed);
    free(reversed);
    free(by);
}

static void cell_bytes(struct table *t, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    if (bytes == 0) { /* none, or of unknown size */
        table_cell(t, STYLE_PLAIN, "%s", "");
        return;
    }
    double n = (double)bytes;
    size_t unit = 0;
    while (n >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        n /= 1024;
        unit++;
    }
    table_cell(t, STYLE_PLAIN, unit ? "%.1f %s" : "%.0f %s", n, units[unit]);
}

static char *text_end(const struct upmu_mpi_rank *k)
{
    const char *in = k->in_call ? upmu_trace_mpi_call_name(k->in_call) : NULL;
    if (!k->wrapped)
        return memory_copy(k->library);
    if (k->end == UPMU_MPI_END_FINALIZED)
        return memory_copy("");
    return memory_format("%s without MPI_Finalize%s%s", k->end == UPMU_MPI_END_EXITED ? "ended" : "killed or running",
                         in ? ", in " : "", in ? in : "");
}

static void text_ranks(struct output *out, const struct mpi_report *r, size_t job)
{
    static const struct table_column columns[] = {
        {"RANK", TABLE_NUMBER}, {"HOST", TABLE_TEXT},    {"TIME", TABLE_NUMBER},     {"USEFUL", TABLE_NUMBER},
        {"MPI", TABLE_NUMBER},  {"SHARE", TABLE_NUMBER}, {"WAITED", TABLE_NUMBER},   {"CALLS", TABLE_NUMBER},
        {"SENT", TABLE_NUMBER}, {"BYTES", TABLE_NUMBER}, {"RECEIVED", TABLE_NUMBER}, {"END", TABLE_TEXT}};
    struct upmu_mpi_rank k = {.size = sizeof k};
    struct table t;
    size_t shown = 0, all = 0;
    report_title(out, "Ranks");
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; upmu_mpi_rank_at(r->mpi, i, &k) == 0; i++) {
        if (k.job != job || all++ >= r->top)
            continue;
        shown++;
        table_cell(&t, STYLE_PLAIN, "%" PRId32, k.rank);
        table_cell(&t, STYLE_PLAIN, "%s", k.host);
        cell_duration(&t, k.time_ns);
        cell_duration(&t, k.useful_ns);
        cell_duration(&t, k.mpi_ns);
        cell_share(&t, k.mpi_ns, k.time_ns);
        cell_duration(&t, k.wait_ns);
        cell_count(&t, k.calls, true);
        cell_count(&t, k.sent, true);
        cell_bytes(&t, k.sent_bytes);
        cell_count(&t, k.received, true);
        cell_free(&t, STYLE_PLAIN, text_end(&k));
    }
    table_end(&t, out, 2);
    if (shown < all)
        fprintf(out->file, "  ... and %zu more (--top N shows N)\n", all - shown);
}

static void text_waits(struct output *out, const struct mpi_report *r, size_t job)
{
    static const struct table_column columns[] = {
        {"WAIT", TABLE_TEXT},    {"RANK", TABLE_NUMBER},  {"FOR", TABLE_NUMBER},    {"IN", TABLE_TEXT},
        {"COUNT", TABLE_NUMBER}, {"TOTAL", TABLE_NUMBER}, {"LONGEST", TABLE_NUMBER}};
    struct upmu_mpi_wait w = {.size = sizeof w};
    struct table t;
    size_t all = 0;
    report_title(out, "Waits of ranks for others");
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; upmu_mpi_wait_at(r->mpi, i, &w) == 0; i++) {
        if (w.job != job || all++ >= r->top)
            continue;
        table_cell(&t, STYLE_PLAIN, "%s", upmu_mpi_pattern_name(w.pattern));
        table_cell(&t, STYLE_PLAIN, "%" PRId32, w.rank);
        table_cell(&t, STYLE_PLAIN, "%" PRId32, w.cause);
        table_cell(&t, STYLE_PLAIN, "%s", w.name);
        cell_count(&t, w.count, true);
        cell_duration(&t, w.ns);
        cell_duration(&t, w.max_ns);
    }
    table_end(&t, out, 2);
    if (all > r->top)
        fprintf(out->file, "  ... and %zu more (--top N shows N)\n", all - r->top);
    if (all == 0)
        fputs("  none\n", out->file);
}

static void text_partners(struct output *out, const struct mpi_report *r, size_t job)
{
    static const struct table_column columns[] = {
        {"RANK", TABLE_NUMBER}, {"NOT RECORDED", TABLE_TEXT}, {"SENT TO IT", TABLE_NUMBER}, {"RECEIVED", TABLE_NUMBER}};
    struct upmu_mpi_partner p = {.size = sizeof p};
    struct table t;
    size_t all = 0;
    for (size_t i = 0; upmu_mpi_partner_at(r->mpi, i, &p) == 0; i++) {
        if (p.job != job || all++ >= r->top)
            continue;
        if (all == 1) {
            report_title(out, "Messages with ranks that are not recorded: waits for these are not known");
            table_begin(&t, columns, sizeof columns / sizeof *columns);
        }
        table_cell(&t, STYLE_PLAIN, "%" PRId32, p.rank);
        table_cell(&t, STYLE_PLAIN, p.partner < 0 ? "of another communicator" : "rank %" PRId32, p.partner);
        cell_count(&t, p.sent, true);
        cell_count(&t, p.received, true);
    }
    if (all > 0)
        table_end(&t, out, 2);
    if (all > r->top)
        fprintf(out->file, "  ... and %zu more (--top N shows N)\n", all - r->top);
}

static char *text_delay(const struct mpi_report *r, const struct upmu_mpi_delay *d)
{
    const struct report names = {.overview = r->overview};
    if (d->region)
        return memory_format("region %s", d->region);
    if (!d->name)
        return memory_copy(d->inside ? "not known" : "before a region");
    char *line = r->overview && d->site ? report_line(&names, d->process, d->site, d->stack) : memory_copy("");
    char *text = memory_format("%s %s%s%s", d->inside ? "in" : "before", d->name, *line ? " at " : "", line);
    free(line);
    return text;
}

static void text_delays(struct output *out, const struct mpi_report *r, size_t job)
{
    static const struct table_column columns[] = {{"RANK", TABLE_NUMBER},
                                                  {"WAITED FOR", TABLE_NUMBER},
                                                  {"SHARE", TABLE_NUMBER},
                                                  {"WAITS", TABLE_NUMBER},
                                                  {"LONGER THAN THE RANK THAT WAITED", TABLE_TEXT}};
    struct upmu_mpi_delay d = {.size = sizeof d};
    struct table t;
    uint64_t total = 0;
    size_t all = 0;
    for (size_t i = 0; upmu_mpi_delay_at(r->mpi, i, &d) == 0; i++)
        total += d.job == job ? d.ns : 0;
    if (total == 0)
        return;
    report_title(out, "Causes of waits: the late ranks, and what delayed them");
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; upmu_mpi_delay_at(r->mpi, i, &d) == 0; i++) {
        if (d.job != job || all++ >= r->top)
            continue;
        table_cell(&t, STYLE_PLAIN, "%" PRId32, d.rank);
        cell_duration(&t, d.ns);
        cell_share(&t, d.ns, total);
        cell_count(&t, d.waits, true);
        cell_free(&t, STYLE_PLAIN, text_delay(r, &d));
    }
    table_end(&t, out, 2);
    if (all > r->top)
        fprintf(out->file, "  ... and %zu more (--top N shows N)\n", all - r->top);
}

static uint64_t text_path_steps(const struct mpi_report *r, size_t job)
{
    struct upmu_mpi_path_step s = {.size = sizeof s};
    uint64_t n = 0;
    for (size_t i = 0; upmu_mpi_path_step_at(r->mpi, i, &s) == 0; i++)
        n += s.job == job;
    return n;
}

static void text_paths(struct output *out, const struct mpi_report *r, size_t job)
{
    static const struct table_column columns[] = {
        {"RANK", TABLE_NUMBER}, {"ON THE PATH", TABLE_NUMBER}, {"SHARE", TABLE_NUMBER}, {"IN", TABLE_TEXT}};
    struct upmu_mpi_path p = {.size = sizeof p};
    struct table t;
    uint64_t total = 0, steps = text_path_steps(r, job);
    size_t all = 0;
    for (size_t i = 0; upmu_mpi_path_at(r->mpi, i, &p) == 0; i++)
        total += p.job == job ? p.ns : 0;
    if (total == 0)
        return;
    char *title = memory_format(
        "Critical path: what the job would be shorter without; it goes from rank to rank %" PRIu64 " times",
        steps - (steps > 0));
    report_title(out, title);
    free(title);
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; upmu_mpi_path_at(r->mpi, i, &p) == 0; i++) {
        if (p.job != job || all++ >= r->top)
            continue;
        const struct upmu_mpi_delay like = {.inside = p.inside,
                                            .region = p.region,
                                            .name = p.name,
                                            .process = p.process,
                                            .stack = p.stack,
                                            .site = p.site};
        table_cell(&t, STYLE_PLAIN, "%" PRId32, p.rank);
        cell_duration(&t, p.ns);
        cell_share(&t, p.ns, total);
        cell_free(&t, STYLE_PLAIN, p.region || p.name ? text_delay(r, &like) : memory_copy("after the last call"));
    }
    table_end(&t, out, 2);
    if (all > r->top)
        fprintf(out->file, "  ... and %zu more (--top N shows N)\n", all - r->top);
}

static void text_calls(struct output *out, const struct mpi_report *r, size_t job)
{
    static const struct table_column columns[] = {{"FUNCTION", TABLE_TEXT}, {"CALLS", TABLE_NUMBER},
                                                  {"TOTAL", TABLE_NUMBER},  {"LONGEST", TABLE_NUMBER},
                                                  {"RANK", TABLE_NUMBER},   {"BYTES", TABLE_NUMBER}};
    struct upmu_mpi_call c = {.size = sizeof c};
    struct table t;
    size_t all = 0;
    report_title(out, "MPI functions by time");
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; upmu_mpi_call_at(r->mpi, i, &c) == 0; i++) {
        if (c.job != job || all++ >= r->top)
            continue;
        table_cell(&t, STYLE_PLAIN, "%s", c.name);
        cell_count(&t, c.calls, true);
        cell_duration(&t, c.ns);
        cell_duration(&t, c.max_ns);
        if (c.ns)
            table_cell(&t, STYLE_PLAIN, "%" PRId32, c.max_rank);
        else
            table_cell(&t, STYLE_PLAIN, "%s", "");
        cell_bytes(&t, c.bytes);
    }
    table_end(&t, out, 2);
    if (all > r->top)
        fprintf(out->file, "  ... and %zu more (--top N shows N)\n", all - r->top);
}

void mpi_write_text(struct output *out, const struct mpi_report *r)
{
    struct upmu_mpi_job j = {.size = sizeof j};
    struct upmu_mpi_deadlock d = {.size = sizeof d};
    for (size_t i = 0; upmu_mpi_deadlock_at(r->mpi, i, &d) == 0; i++) {
        mpi_write_deadlock(out, r->overview, r->mpi, i);
        fputc('\n', out->file);
    }
    for (size_t job = 0; upmu_mpi_job_at(r->mpi, job, &j) == 0; job++) {
        if (job > 0)
            fputc('\n', out->file);
        text_job(out, r, &j);
        text_not_followed(out, r, job);
        text_ranks(out, r, job);
        text_waits(out, r, job);
        text_partners(out, r, job);
        text_delays(out, r, job);
        text_paths(out, r, job);
        text_calls(out, r, job);
    }
}
