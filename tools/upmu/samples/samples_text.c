/* SPDX-License-Identifier: MIT */
/* Recorded samples as text: profile, hottest path, call tree, threads. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "functions/call_tree.h"
#include "report/report.h"
#include "report/report_cells.h"
#include "samples.h"
#include "ui/memory.h"
#include "ui/table.h"
#include "upmu/sampler.h"

enum { DELIVERED_LEAST = 97 };

char *samples_function_text(const struct samples_report *r, uint32_t i)
{
    struct upmu_sample_function f = {.size = sizeof f};
    if (upmu_samples_function_at(r->samples, i, &f) != 0)
        return memory_copy("?");
    const char *module = f.module ? report_base_name(f.module) : NULL;
    if (f.name && f.file)
        return memory_format("%s %s", f.name, report_base_name(f.file));
    if (f.name)
        return module ? memory_format("%s (%s)", f.name, module) : memory_copy(f.name);
    return memory_format("%s%s0x%" PRIx64, module ? module : "", module ? "+" : "", f.offset);
}

/* -------------------------------------------------------------------------------------------- how it was recorded */

static void text_warning(struct output *out, const char *what, uint64_t n)
{
    if (n > 0)
        fprintf(out->file, "  %s%s: %" PRIu64 "%s\n", output_style(out, STYLE_WARNING), what, n, output_plain(out));
}

static char *text_rate(const struct upmu_samples_totals *t)
{
    if (t->is_calls)
        return memory_copy("each call with its time");
    if (t->frequency)
        return memory_format("%" PRIu64 " per second", t->frequency);
    return memory_format("one every %" PRIu64 "%s", t->period, t->is_time ? " ns" : "");
}

/* Where CPU time without samples is. Each thread has its own period: what follows its last sample is in none. It begins
 * with the thread. */
static const char *text_missing(const struct upmu_samples_totals *t)
{
    if (t->source == UPMU_SAMPLES_TIMER)
        return "; the rest is of threads that block signals, and of the recorder";
    if (!t->with_kernel)
        return "; the rest was lost, or spent in the kernel, which may not be sampled "
               "(kernel.perf_event_paranoid is above 1)";
    if (t->lost || t->throttled || t->unwritten || t->damages)
        return "; the rest was lost";
    return "; threads ended before their next sample: use a higher -F.\n  No sample is in the first period of a "
           "thread: the shares "
           "of what threads do later are too large";
}

static void text_calls(struct output *out, const struct upmu_samples_totals *t)
{
    char *all = report_duration(t->weight), *mean = report_duration(t->returned ? t->weight / t->returned : 0);
    char *least = report_duration(t->shortest_ns), *most = report_duration(t->longest_ns);
    char *cost = report_duration(t->call_cost_ns);
    fprintf(out->file, "  %" PRIu64 " returned after %s together, %s each, from %s to %s", t->returned, all, mean,
            least, most);
    if (t->not_returned > 0)
        fprintf(out->file, "; %" PRIu64 " did not return and have no time", t->not_returned);
    if (t->call_cost_ns > 0)
        fprintf(out->file, "\n  the probes' own time, %s per call, is subtracted\n", cost);
    else
        fputs("\n  the probes' own time could not be measured and is not subtracted\n", out->file);
    free(all);
    free(mean);
    free(least);
    free(most);
    free(cost);
}

/* The event's own count shows what samples are missing, whatever the reason. */
static void text_delivered(struct output *out, const struct upmu_samples_totals *t)
{
    if (!t->ended) {
        fprintf(out->file, "  %sthe recording did not end in order: how many samples are missing is unknown%s\n",
                output_style(out, STYLE_WARNING), output_plain(out));
        return;
    }
    if (!t->is_time || t->is_calls || t->count == 0)
        return;
    char *count = report_duration(t->count);
    double share = samples_percent(t->weight, t->count);
    bool low = share < DELIVERED_LEAST;
    fprintf(out->file, "  %s%.1f %% of %s CPU time are in the samples%s%s\n",
            low ? output_style(out, STYLE_WARNING) : "", share, count, low ? text_missing(t) : "",
            low ? output_plain(out) : "");
    free(count);
}

static void text_stacks(struct output *out, const struct upmu_samples_totals *t)
{
    static const char *const methods[] = {[UPMU_SAMPLER_FRAME_POINTERS] = "frame pointers",
                                          [UPMU_SAMPLER_COPY] = "copied stacks and unwind information",
                                          [UPMU_SAMPLER_NONE] = "none"};
    bool known = t->stacks >= 0 && t->stacks < (int)(sizeof methods / sizeof *methods);
    if (t->stacks == UPMU_SAMPLER_NONE) {
        fputs("  call stacks: not recorded\n", out->file);
        return;
    }
    fprintf(out->file, "  call stacks by %s: %.1f %% whole, %.1f %% cut, %.1f %% stopped early%s\n",
            known ? methods[t->stacks] : "?", samples_percent(t->whole, t->samples),
            samples_percent(t->cut, t->samples), samples_percent(t->broken, t->samples),
            t->broken > t->samples / 10 && t->stacks == UPMU_SAMPLER_FRAME_POINTERS
                ? " in code without frame pointers: record with --call-graph dwarf"
                : "");
}

static void text_head(struct output *out, const struct samples_report *r)
{
    const struct upmu_samples_totals *t = &r->totals;
    char *rate = text_rate(t);
    fprintf(out->file, "%sSamples of ", output_style(out, STYLE_TITLE));
    output_clean(out->file, r->dir);
    fprintf(out->file, "%s: %" PRIu64 " of ", output_plain(out), t->samples);
    output_clean(out->file, t->event);
    fprintf(out->file, ", %s, in %" PRIu64 " thread%s of %" PRIu64 " process%s, by %s\n", rate, t->threads,
            t->threads == 1 ? "" : "s", t->processes, t->processes == 1 ? "" : "es",
            t->source == UPMU_SAMPLES_PERF ? "perf_event" : "timers of CPU time");
    text_delivered(out, t);
    if (t->is_calls)
        text_calls(out, t);
    text_stacks(out, t);
    if (t->with_kernel)
        fprintf(out->file, "  in user mode %.1f %%, in the kernel %.1f %%\n",
                samples_percent(t->samples - t->kernel, t->samples), samples_percent(t->kernel, t->samples));
    text_warning(out,
                 t->is_calls ? "samples lost, because the recorder did not keep up; without copies of stacks "
                               "(--call-graph fp) it needs less"
                             : "samples lost, because the recorder did not keep up",
                 t->lost);
    text_warning(out, "bytes of samples that could not be written", t->unwritten);
    text_warning(out, "times that the kernel stopped sampling (kernel.perf_event_max_sample_rate)", t->throttled);
    free(rate);
}

/* --------------------------------------------------------------------------------------------------------- tables */

void samples_cell_weight(struct table *t, const struct samples_report *r, uint64_t weight)
{
    if (r->totals.is_time)
        cell_duration(t, weight);
    else
        cell_count(t, weight, true);
}

static void text_profile(struct output *out, const struct samples_report *r)
{
    static const struct table_column columns[] = {{"SELF", true},  {"SHARE", true},   {"TOTAL", true},
                                                  {"SHARE", true}, {"SAMPLES", true}, {"FUNCTION", TABLE_NAME}};
    struct upmu_sample_function f = {.size = sizeof f};
    struct table t;
    size_t i;
    report_title(out, "Functions by self samples");
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < r->top && upmu_samples_function_at(r->samples, i, &f) == 0; i++) {
        samples_cell_weight(&t, r, f.self_weight);
        cell_share(&t, f.self_weight, r->totals.weight);
        samples_cell_weight(&t, r, f.weight);
        cell_share(&t, f.weight, r->totals.weight);
        cell_count(&t, f.self_samples, true);
        cell_free(&t, STYLE_PLAIN, samples_function_text(r, (uint32_t)i));
    }
    table_end(&t, out, 2);
    report_more(out, upmu_samples_function_count(r->samples), i);
}

static bool text_path_at(const void *arg, uint32_t i, struct call_path *out)
{
    const struct samples_report *r = arg;
    struct upmu_sample_path p = {.size = sizeof p};
    if (upmu_samples_path_at(r->samples, i, &p) != 0)
        return false;
    *out = (struct call_path){.function = p.function,
                              .parent = p.parent,
                              .child = p.child,
                              .next = p.next,
                              .depth = p.depth,
                              .weight = p.weight,
                              .count = p.samples};
    return true;
}

static char *text_path_name(const void *arg, uint32_t function)
{
    return samples_function_text(arg, function);
}

static void text_paths(struct output *out, const struct samples_report *r)
{
    const struct call_tree tree = {.arg = r,
                                   .n = upmu_samples_path_count(r->samples),
                                   .total = r->totals.weight,
                                   .is_time = r->totals.is_time != 0,
                                   .path_at = text_path_at,
                                   .name = text_path_name};
    report_title(out, "Hottest path: share, total, samples");
    call_tree_write_hottest(out, &tree);
    report_title(out, "Call tree: share, total, samples");
    call_tree_write(out, &tree, r->top);
}

static int text_compare_threads(const void *a, const void *b)
{
    const struct upmu_sample_thread *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void text_threads(struct output *out, const struct samples_report *r)
{
    static const struct table_column columns[] = {{"TOTAL", true}, {"SHARE", true}, {"SAMPLES", true},
                                                  {"PID", true},   {"TID", true},   {"THREAD", TABLE_NAME}};
    struct upmu_sample_thread one = {.size = sizeof one};
    struct upmu_sample_thread *all = memory_array(r->totals.threads + 1, sizeof *all);
    struct table t;
    size_t n = 0, i;
    for (i = 0; n < r->totals.threads && upmu_samples_thread_at(r->samples, i, &one) == 0; i++)
        if (one.samples > 0)
            all[n++] = one;
    qsort(all, n, sizeof *all, text_compare_threads);
    report_title(out, "Threads");
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < n && i < r->top; i++) {
        samples_cell_weight(&t, r, all[i].weight);
        cell_share(&t, all[i].weight, r->totals.weight);
        cell_count(&t, all[i].samples, true);
        table_cell(&t, STYLE_PLAIN, "%ld", (long)all[i].pid);
        table_cell(&t, STYLE_PLAIN, "%ld", (long)all[i].tid);
        table_cell(&t, STYLE_PLAIN, "%s", all[i].name);
    }
    table_end(&t, out, 2);
    report_more(out, n, i);
    free(all);
}

void samples_write_text(struct output *out, const struct samples_report *r)
{
    text_head(out, r);
    text_profile(out, r);
    text_paths(out, r);
    text_threads(out, r);
}
