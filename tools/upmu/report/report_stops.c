/* SPDX-License-Identifier: MIT */
/* Stretches in which recording was stopped, as text. */
#include <inttypes.h>
#include <stdlib.h>

#include "report.h"

enum { LEAST_PARTS = 1000, SHOWN_MAX = 5, SHOWN_NS = 1000 };

bool report_was_stopped(uint64_t stopped_ns, uint64_t of_ns)
{
    return stopped_ns > 0 && stopped_ns >= of_ns / LEAST_PARTS;
}

const char *report_stopped_text(const struct report *r, size_t process)
{
    struct upmu_overview_recorded of = {.size = sizeof of};
    if (upmu_overview_recorded_at(r->overview, process, &of) != 0 || of.counted == 0)
        return "recording was stopped";
    return of.counted == of.stops ? "only counts were recorded" : "recording was stopped or only counts were recorded";
}

/* Begun paused, and nothing but: what no process of a recording is that has stopped later. A stretch does not show it. */
static bool stops_never_started(const struct report *r, const struct upmu_trace_process *p,
                                const struct upmu_overview_recorded *of)
{
    return p->pauses == 1 && of->counted == 0 && of->stopped_ns == of->end_ns - of->begin_ns &&
           !report_is_stretch(&r->totals);
}

/* @return whether there is something to report about process number `i`. */
static bool stops_of(const struct report *r, size_t i, const struct upmu_trace_process *p,
                     struct upmu_overview_recorded *of)
{
    *of = (struct upmu_overview_recorded){.size = sizeof *of};
    return p->pauses > 0 && upmu_overview_recorded_at(r->overview, i, of) == 0 &&
           (of->more_ns > 0 || stops_never_started(r, p, of) ||
            report_was_stopped(of->stopped_ns, of->end_ns - of->begin_ns));
}

bool report_has_stops(const struct report *r, size_t i, const struct upmu_trace_process *p)
{
    struct upmu_overview_recorded of;
    return stops_of(r, i, p, &of);
}

static void stops_text_never(struct output *out, const struct report *r)
{
    fputs("recording was never started: 'upmu ctl ", out->file);
    output_clean(out->file, r->dir);
    fputs(" start' starts it while the program runs", out->file);
}

static void stops_text_more(struct output *out, const struct upmu_overview_recorded *of)
{
    if (of->more_ns == 0)
        return;
    char *more = report_duration(of->more_ns);
    fprintf(out->file, "; and for %s more, in parts that were too many to be kept, which all times below include",
            more);
    free(more);
}

/* "recording was stopped 1.03 s of 3.07 s, in 2 parts: no time below includes that" */
static void stops_text_part(struct output *out, const char *what, uint64_t ns, uint64_t n,
                            const struct upmu_overview_recorded *of)
{
    char *part = report_duration(ns), *all = report_duration(of->end_ns - of->begin_ns);
    fprintf(out->file, "    %s%s %s of %s", output_style(out, STYLE_WARNING), what, part, all);
    if (n > 1)
        fprintf(out->file, ", in %" PRIu64 " parts", n);
    fputs(": no time below includes that", out->file);
    free(part);
    free(all);
}

void report_text_stops(struct output *out, const struct report *r, size_t i, const struct upmu_trace_process *p)
{
    struct upmu_overview_recorded of;
    if (!stops_of(r, i, p, &of))
        return;
    if (stops_never_started(r, p, &of)) {
        fprintf(out->file, "    %s", output_style(out, STYLE_WARNING));
        stops_text_never(out, r);
        fprintf(out->file, "%s\n", output_plain(out));
        return;
    }
    if (of.counted > 0) {
        stops_text_part(out, "only counts were recorded", of.counted_ns, of.counted, &of);
        fprintf(out->file, ", but counts do%s\n", output_plain(out));
    }
    if (of.stopped_ns == of.counted_ns && of.more_ns == 0)
        return;
    stops_text_part(out, "recording was stopped", of.stopped_ns - of.counted_ns, of.stops - of.counted, &of);
    stops_text_more(out, &of);
    fprintf(out->file, "%s\n", output_plain(out));
}

/* "process 1234 (gcc): ", nothing of the only process. */
static void stops_text_process(struct output *out, const struct report *r, size_t i)
{
    fprintf(out->file, "  %s", output_style(out, STYLE_WARNING));
    if (r->totals.n_processes > 1)
        report_text_process(out, r, "process ", (uint32_t)i, ": ");
}

static double stops_seconds(const struct report *r, uint64_t ns)
{
    return ns > r->totals.begin_ns ? (double)(ns - r->totals.begin_ns) / 1e9 : 0;
}

/* "recording was stopped from 0.29 to 0.55 s": stops in which counts were recorded, or not; `more`: there are others. */
static void stops_text_list(struct output *out, const struct report *r, size_t i, bool counted, bool more)
{
    const char *what = counted ? "only counts were recorded" : "recording was stopped";
    struct upmu_trace_pause pause = {.size = sizeof pause};
    size_t n = 0;
    for (size_t k = 0; upmu_overview_pause_at(r->overview, i, k, &pause) == 0; k++) {
        if ((pause.counted != 0) != counted || pause.end_ns < r->totals.begin_ns + SHOWN_NS || n++ >= SHOWN_MAX)
            continue;
        if (n == 1)
            stops_text_process(out, r, i);
        fprintf(out->file, "%s%s %.6f to %.6f", n > 1 ? "," : what, n > 1 ? "" : " from",
                stops_seconds(r, pause.begin_ns), stops_seconds(r, pause.end_ns));
    }
    if (n == 0)
        return;
    fputs(" s", out->file);
    if (n > SHOWN_MAX)
        fprintf(out->file, ", and in %zu more parts", n - SHOWN_MAX);
    if (more)
        fputs(", and in parts that were too many to be kept", out->file);
    fprintf(out->file, "%s\n", output_plain(out));
}

void report_text_stop_times(struct output *out, const struct report *r)
{
    struct upmu_trace_process p = {.size = sizeof p};
    struct upmu_overview_recorded of;
    for (size_t i = 0; upmu_overview_process_at(r->overview, i, &p) == 0; i++) {
        if (!stops_of(r, i, &p, &of))
            continue;
        if (!stops_never_started(r, &p, &of)) {
            stops_text_list(out, r, i, false, of.more_ns > 0);
            stops_text_list(out, r, i, true, false);
            continue;
        }
        stops_text_process(out, r, i);
        stops_text_never(out, r);
        fprintf(out->file, "%s\n", output_plain(out));
    }
}
