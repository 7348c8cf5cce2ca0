/* SPDX-License-Identifier: MIT */
/* upmu report as text. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ui/disk.h"
#include "ui/library.h"
#include "ui/memory.h"
#include "report.h"
#include "report_cells.h"
#include "ui/table.h"

enum { STOPPED_RESTRICTED = 2 /* see upmu_trace_process.stopped */ };

/* ------------------------------------------------------------------------------------------- how it was recorded */

static void text_clock_error(struct output *out, const struct upmu_trace_process *p)
{
    if (p->clock_error_ns == UPMU_NO_VALUE)
        fputs(", its error not recorded", out->file);
    else
        fprintf(out->file, " within %" PRIu64 " ns", p->clock_error_ns);
}

static void text_snapshot(struct output *out, const char *reason)
{
    fputs(", up to a snapshot (", out->file);
    output_clean(out->file, reason);
    fputc(')', out->file);
}

static void text_children(struct output *out, uint32_t n, const char *why)
{
    if (n)
        fprintf(out->file, "    %sforked children that are not recorded, because they %s: %" PRIu32 "%s\n",
                output_style(out, STYLE_WARNING), why, n, output_plain(out));
}

/* @return false where the one line for all processes about counts of the kernel is to follow. */
static bool text_process(struct output *out, const struct report *r, size_t i, const struct upmu_trace_process *p)
{
    fprintf(out->file, "  process %ld on ", (long)p->pid);
    output_clean(out->file, p->host);
    fputs(", kernel ", out->file);
    output_clean(out->file, p->kernel);
    fputs(": ", out->file);
    output_clean(out->file, p->command);
    fprintf(out->file,
            "\n    %" PRIu64 " records (events, stacks, modules, counts), %s%" PRIu64 " lost%s, clock %.6g MHz",
            p->events, p->lost ? output_style(out, STYLE_BAD) : "", p->lost, p->lost ? output_plain(out) : "",
            (double)p->clock_hz / 1e6);
    text_clock_error(out, p);
    if (p->execed)
        fputs(", until it became another program (exec)", out->file);
    else if (p->snapshot[0])
        text_snapshot(out, p->snapshot);
    else if (!p->complete)
        fprintf(out->file, "%s, without a proper end (killed, or still running)%s", output_style(out, STYLE_WARNING),
                output_plain(out));
    fputc('\n', out->file);
    if (p->lost_note[0])
        fprintf(out->file, "    %slost: %s%s\n", output_style(out, STYLE_BAD), p->lost_note, output_plain(out));
    if (p->lost_any)
        fputs("    waits and holds whose begin or end was lost are in no sum below, and count as running on the "
              "critical path up to the last event of their thread\n",
              out->file);
    if (p->sched_note[0]) {
        fprintf(out->file, "    %s", output_style(out, STYLE_WARNING));
        output_clean(out->file, p->sched_note);
        fprintf(out->file, "%s\n", output_plain(out));
    }
    bool futexes = report_text_futexes(out, r, i, p);
    if (p->stopped)
        fprintf(out->file, "    %srecording stopped before the process ended: %s%s\n", output_style(out, STYLE_WARNING),
                p->stopped == STOPPED_RESTRICTED
                    ? "the program restricted its system calls; `upmu doctor -- COMMAND` shows how"
                    : "it reached the size of --stop-at",
                output_plain(out));
    report_text_stops(out, r, i, p);
    text_children(out, p->children_filtered, "run under a filter of system calls, or could not read /proc");
    text_children(out, p->children_failed, "could not make their files (permissions, memory, descriptors or disk)");
    if (p->children_unrecorded)
        fprintf(out->file,
                "    forked children that are not recorded, because they made no call that begins it, or executed a "
                "program "
                "that cannot be recorded: at least %" PRIu32 "\n",
                p->children_unrecorded);
    if (p->overwritten)
        fprintf(out->file,
                "    %s%" PRIu64
                " older events were overwritten: the recording is a ring and does not cover the start%s\n",
                output_style(out, STYLE_WARNING), p->overwritten, output_plain(out));
    return futexes;
}

static bool process_has_ended(const struct upmu_trace_process *p)
{
    return p->complete || p->execed || p->snapshot[0];
}

/* Of many processes without a proper end, as those that call _exit(), a few are enough. */
static bool process_has_notes(const struct report *r, size_t i, const struct upmu_trace_process *p)
{
    return p->lost || p->lost_note[0] || p->sched_note[0] || p->stopped || p->children_filtered || p->children_failed ||
           p->children_unrecorded || p->overwritten || report_has_stops(r, i, p);
}

static int events_descending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? 1 : *x > *y ? -1 : 0;
}

/* Of many processes, most of them helpers of a script: those with notes, and the few with most records. */
static void text_processes(struct output *out, const struct report *r)
{
    enum { SHOWN_MAX = 5 };
    struct upmu_trace_process p = {.size = sizeof p};
    size_t n = r->totals.n_processes, of_least = 0, left_out = 0, open_shown = 0, open_left_out = 0;
    uint64_t *events = memory_array(n, sizeof *events);
    for (size_t i = 0; i < n && upmu_overview_process_at(r->overview, i, &p) == 0; i++)
        events[i] = p.events;
    qsort(events, n, sizeof *events, events_descending);
    uint64_t least = n > SHOWN_MAX ? events[SHOWN_MAX - 1] : 0;
    bool futexes = true;
    for (size_t i = 0; i < n && i < SHOWN_MAX; i++)
        of_least += events[i] == least;
    for (size_t i = 0; upmu_overview_process_at(r->overview, i, &p) == 0; i++) {
        bool show = n <= SHOWN_MAX || p.events > least || process_has_notes(r, i, &p);
        if (!show && p.events == least && of_least > 0) {
            of_least--;
            show = true;
        }
        bool ended = process_has_ended(&p);
        show = show || (!ended && open_shown < SHOWN_MAX);
        if (show)
            futexes = text_process(out, r, i, &p) && futexes;
        open_shown += show && !ended;
        open_left_out += !show && !ended;
        left_out += !show && ended;
    }
    if (open_left_out)
        fprintf(out->file, "  and %zu more %s without a proper end (killed, or still running), without lost events\n",
                open_left_out, open_left_out == 1 ? "process" : "processes");
    if (left_out)
        fprintf(out->file, "  and %zu more %s without lost events; 'upmu report --json' has all\n", left_out,
                left_out == 1 ? "process" : "processes");
    if (!futexes)
        report_text_no_futexes(out);
    free(events);
}

/* Their time is inside the waits and regions. */
static void text_own_cost(struct output *out, const struct upmu_overview_totals *t)
{
    if (t->own_cost_ns == UPMU_NO_VALUE) {
        fputs("  overhead: not recorded\n", out->file);
        return;
    }
    char *cost = report_duration(t->own_cost_ns);
    fprintf(out->file, "  overhead: about %s for lock and thread events, %.2g %% of the lifetime of the threads\n",
            cost, t->lifetime_ns ? 100.0 * (double)t->own_cost_ns / (double)t->lifetime_ns : 0.0);
    free(cost);
}

static void text_disk(struct output *out, const struct report *r)
{
    const struct upmu_overview_totals *t = &r->totals;
    uint64_t bytes = disk_bytes(r->dir);
    if (bytes == UINT64_MAX)
        return;
    char *text = disk_text(bytes, t->n_threads, t->end_ns - t->begin_ns);
    char *memory = disk_memory_text(r->dir);
    fprintf(out->file, "  on disk: %s%s%s\n", text, memory ? "; in memory: " : "", memory ? memory : "");
    free(text);
    free(memory);
}

static void text_symbols(struct output *out)
{
    char *problem = library_symbols_problem();
    if (problem) {
        fprintf(out->file, "  %s", output_style(out, STYLE_WARNING));
        output_clean(out->file, problem);
        fprintf(out->file, "%s\n", output_plain(out));
    }
    free(problem);
}

static void text_conditions(struct output *out, const struct report *r)
{
    const struct upmu_overview_totals *t = &r->totals;
    char *span = report_duration(t->to_ns - t->from_ns);

    fprintf(out->file, "%sReport of ", output_style(out, STYLE_TITLE));
    output_clean(out->file, r->dir);
    fputs(output_plain(out), out->file);
    report_text_stretch(out, r->overview);
    fprintf(out->file, ": %" PRIu64 " events in %s, %zu %s, %zu %s\n", t->events, span, t->n_processes,
            t->n_processes == 1 ? "process" : "processes", t->n_threads, t->n_threads == 1 ? "thread" : "threads");
    free(span);
    text_processes(out, r);
    text_symbols(out);
    text_own_cost(out, t);
    text_disk(out, r);
    if (t->unmatched || t->unknown || t->unfinished)
        fprintf(out->file,
                "  %" PRIu64 " unpaired begin or end %s (not counted), %" PRIu64 " %s unfinished at the end, %" PRIu64
                " %s of unknown types\n",
                t->unmatched, t->unmatched == 1 ? "event" : "events", t->unfinished,
                t->unfinished == 1 ? "wait" : "waits", t->unknown, t->unknown == 1 ? "event" : "events");
    if (t->openmp)
        fputs("  work and waits of OpenMP are not in this view: see upmu report --openmp\n", out->file);
    for (size_t i = 0; i < t->n_damages; i++) {
        fprintf(out->file, "  %sdamaged:%s ", output_style(out, STYLE_BAD), output_plain(out));
        output_clean(out->file, upmu_overview_damage_message(r->overview, i));
        fputc('\n', out->file);
    }
}

void report_write_text(struct output *out, const struct report *r)
{
    text_conditions(out, r);
    report_text_findings(out, r);
    report_text_threads(out, r);
    report_text_matrix(out, r);
    report_text_paths(out, r);
    report_text_objects(out, r);
    report_text_sections(out, r);
    report_text_kernel(out, r);
    report_text_regions(out, r);
}

void report_write_regions(struct output *out, const struct report *r)
{
    text_conditions(out, r);
    if (r->totals.n_regions == 0)
        fputs("\nNo regions: the program has none, or none ended (man upmu, upmu/region.h)\n", out->file);
    report_text_regions(out, r);
}
