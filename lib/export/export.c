/* SPDX-License-Identifier: MIT */
/* List of export formats, and the run of an export. */
#include "export/export.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/suggest.h"
#include "export/samples.h"
#include "export/spans.h"

static const struct export_format *const formats[] = {
    &export_chrome, &export_perfetto,   &export_folded, &export_flamegraph, &export_callgrind,
    &export_pprof,  &export_speedscope, &export_csv,    &export_jsonl,      &export_arrow,
    &export_tasks,  &export_gcc,        &export_html,
};
enum { FORMATS = sizeof formats / sizeof *formats };

int upmu_export_format_at(size_t i, struct upmu_export_format *out)
{
    if (!out)
        return argument_null(__func__, "out");
    if (i >= FORMATS)
        return UPMU_E_END;
    const struct upmu_export_format ours = {
        .name = formats[i]->name, .suffix = formats[i]->suffix, .summary = formats[i]->summary};
    return OPTS_GIVE(out, ours, UPMU_EXPORT_FORMAT_SIZE_V1);
}

size_t upmu_export_format_count(void)
{
    return FORMATS;
}

static const struct export_format *export_format_find(const char *name)
{
    struct suggest s;
    suggest_begin(&s, name);
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
        suggest_offer(&s, formats[i]->name);
    }
    struct textbuf all = {0};
    for (size_t i = 0; i < FORMATS; i++)
        textbuf_printf(&all, "%s%s", i == 0 ? "" : i + 1 < FORMATS ? ", " : " and ", formats[i]->name);
    (void)upmu_fail(UPMU_E_NAME, "export format '%s' is not known%s%s%s; there are %s", name,
                    s.best ? "; did you mean '" : "", s.best ? s.best : "", s.best ? "'?" : "",
                    all.failed ? "others" : all.data);
    textbuf_free(&all);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- phases */

/* Lifetime regions repeat what the threads show. */
static bool export_has_regions(const struct overview *o)
{
    for (size_t i = 0; i < o->n_regions; i++)
        if (strcmp(o->regions[i].name, "(thread)") != 0)
            return true;
    return false;
}

static bool export_has_window(const struct upmu_export_opts *o)
{
    return (o->from_ns | o->to_ns) != 0;
}

static int export_no_window(void)
{
    return upmu_fail(UPMU_E_INVAL, "a profile of functions or samples supports no time window: it covers the whole "
                                   "recording");
}

/* Profiles of functions and samples have no times. */
static bool export_is_timeless(int what)
{
    return what >= UPMU_EXPORT_FUNCTIONS;
}

static int export_no_profile(const struct export_job *job)
{
    return upmu_fail(UPMU_E_INVAL, "format %s is no profile: it cannot be of functions, samples or wall time",
                     job->format->name);
}

static int export_open_functions(struct export_job *job)
{
    const struct upmu_functions_opts opts = {.size = sizeof opts, .debug_dir = job->opts.debug_dir};
    return upmu_functions_open(&job->functions, job->dir, &opts);
}

static int export_open_samples(struct export_job *job)
{
    const struct upmu_samples_opts opts = {.size = sizeof opts, .debug_dir = job->opts.debug_dir};
    struct upmu_samples_totals totals = {.size = sizeof totals};
    int rc = upmu_samples_open(&job->samples, job->dir, &opts);
    if (rc == 0)
        rc = upmu_samples_totals_read(job->samples, &totals);
    job->samples_are_time = totals.is_time != 0;
    if (rc == 0 && job->opts.what == UPMU_EXPORT_WALL && !totals.is_time)
        rc = upmu_fail(UPMU_E_STATE, "the samples are of %s, not of CPU time: they form no wall time with waits",
                       totals.event);
    return rc;
}

/* What was recorded; recorded functions and samples are read here. */
static int export_choose_auto(struct export_job *job)
{
    int *what = &job->opts.what, rc = export_open_functions(job);
    if (rc == 0)
        *what = UPMU_EXPORT_FUNCTIONS;
    if (rc == UPMU_E_STATE) {
        rc = export_open_samples(job);
        *what = rc == 0 ? UPMU_EXPORT_SAMPLES : *what;
    }
    return rc;
}

/* What profiles are of. */
static int export_choose(struct export_job *job)
{
    int *what = &job->opts.what, rc = 0;
    bool profile = job->format->wants_tree && !job->format->begin;
    if (export_is_timeless(*what) && !profile)
        return export_no_profile(job);
    if (*what == UPMU_EXPORT_FUNCTIONS)
        rc = export_open_functions(job);
    else if (*what == UPMU_EXPORT_SAMPLES || *what == UPMU_EXPORT_WALL)
        rc = export_open_samples(job);
    else if (*what == UPMU_EXPORT_AUTO && profile)
        rc = export_choose_auto(job);
    if (*what == UPMU_EXPORT_AUTO && (rc == UPMU_E_STATE || !profile)) {
        *what = export_has_regions(&job->facts->pass) ? UPMU_EXPORT_REGIONS : UPMU_EXPORT_WAITS;
        rc = 0;
    }
    if (rc == 0 && *what == UPMU_EXPORT_WALL)
        rc = export_wall_start(job);
    return rc == 0 && export_is_timeless(*what) && export_has_window(&job->opts) ? export_no_window() : rc;
}

/* A reading ahead that picks what a timeline can hold, if the recording could have more. */
static int export_pick(struct export_job *job)
{
    struct upmu_overview *ahead = NULL;
    const struct timeline_hooks hooks = spans_hooks(job);
    if (!job->format->limited || job->all <= EXPORT_LIMIT)
        return 0;
    job->limit.picking = true;
    int rc = timeline_read(&ahead, job->dir, job->opts.debug_dir, &hooks);
    if (rc == 0)
        rc = spans_finish(job, job->facts->pass.end_ns);
    upmu_overview_close(ahead);
    limit_picked(&job->limit);
    spans_rewind(job);
    return rc;
}

static int export_start(struct export_job *job)
{
    struct upmu_trace_process p = {.size = sizeof p};
    for (size_t i = 0; upmu_overview_process_at(job->facts, i, &p) == 0; i++)
        job->all += p.events;
    int rc = export_choose(job);
    if (rc != 0)
        return rc;
    size_t n = 0;
    while (!job->functions && !job->samples && upmu_overview_counter_name(job->facts, 0, n))
        n++;
    rc = job->format->wants_tree ? tree_start(&job->tree, n < UPMU_REGION_EVENTS_MAX ? n : UPMU_REGION_EVENTS_MAX) : 0;
    if (rc == 0)
        rc = export_pick(job);
    return rc == 0 && job->format->start ? job->format->start(job) : rc;
}

/* The second reading: spans and events; of samples alone nothing is read again. */
static int export_read_again(struct export_job *job, const char *dir)
{
    struct upmu_overview *second = NULL;
    const struct timeline_hooks hooks = spans_hooks(job);
    if (job->functions)
        return export_functions(job);
    if (job->samples && !job->wall)
        return export_samples(job);
    int rc = timeline_read(&second, dir, job->opts.debug_dir, &hooks);
    if (rc == 0)
        rc = spans_finish(job, job->facts->pass.end_ns);
    if (rc == 0 && job->wall)
        rc = export_samples(job);
    if (rc == 0 && job->wall)
        rc = export_wall_rest(job);
    upmu_overview_close(second);
    return rc;
}

/* Samples of a process that ran already are a recording without a trace. */
static int export_read_facts(struct export_job *job, const char *dir)
{
    struct upmu_samples *samples = NULL;
    int rc = timeline_read(&job->facts, dir, job->opts.debug_dir, NULL);
    bool alone = job->opts.what == UPMU_EXPORT_AUTO || job->opts.what == UPMU_EXPORT_SAMPLES;
    if (rc != UPMU_E_FORMAT || !alone)
        return rc;
    char why[ERROR_TEXT_MAX];
    (void)upmu_error_copy(why, sizeof why);
    if (upmu_samples_open(&samples, dir, NULL) != 0)
        return upmu_fail(rc, "%s", why);
    upmu_samples_close(samples);
    job->opts.what = UPMU_EXPORT_SAMPLES;
    return timeline_none(&job->facts);
}

static int export_run(struct export_job *job, const char *dir)
{
    int rc = export_read_facts(job, dir);
    if (rc == 0)
        rc = timeline_window(job->facts, job->opts.from_ns, job->opts.to_ns, &job->window);
    for (size_t i = 0; rc == 0 && job->opts.damage && i < job->facts->n_damages; i++)
        job->opts.damage(job->opts.arg, job->facts->damages[i]);
    if (rc == 0)
        rc = export_names_start(job);
    if (rc == 0)
        rc = export_start(job);
    if (rc == 0)
        rc = export_read_again(job, dir);
    if (rc == 0 && job->format->finish)
        rc = job->format->finish(job);
    return rc == 0 ? export_write(job) : rc;
}

static int export_fill_result(const struct export_job *job, struct upmu_export_result *out)
{
    const struct upmu_export_result ours = {.events = job->done,
                                            .bytes = job->written,
                                            .lost = job->facts->lost,
                                            .omitted = job->left_out,
                                            .damages = job->facts->n_damages,
                                            .without_number = job->without_number};
    return opts_give("upmu_export", "result", out, UPMU_EXPORT_RESULT_SIZE_V1, &ours, sizeof ours);
}

int upmu_export(const char *dir, const char *format, int fd, const struct upmu_export_opts *opts,
                struct upmu_export_result *result)
{
    struct export_job job = {.dir = dir, .fd = fd};
    if (!dir || !format)
        return ARGUMENT_NULL(dir, format);
    int rc = OPTS_TAKE(job.opts, opts, UPMU_EXPORT_OPTS_SIZE_V1);
    if (rc == 0 && result)
        rc = OPTS_CHECK(result, UPMU_EXPORT_RESULT_SIZE_V1);
    if (rc != 0)
        return rc;
    if (job.opts.what < UPMU_EXPORT_AUTO || job.opts.what > UPMU_EXPORT_WALL)
        return upmu_fail(UPMU_E_INVAL, "upmu_export: `what` is %d, which is no enum upmu_export_what",
                         (int)job.opts.what);
    job.format = export_format_find(format);
    if (!job.format)
        return UPMU_E_NAME;
    if (export_has_window(&job.opts) && export_is_timeless(job.opts.what))
        return export_no_window();
    if (export_has_window(&job.opts) && job.format->window == EXPORT_WINDOW_NONE)
        return upmu_fail(UPMU_E_INVAL, "format %s supports no time window: its sums cover the whole recording", format);
    rc = export_run(&job, dir);
    if (rc == 0 && result)
        rc = export_fill_result(&job, result);
    if (job.format->free)
        job.format->free(&job);
    export_names_free(&job);
    spans_free(&job);
    textbuf_free(&job.out);
    upmu_functions_close(job.functions);
    upmu_samples_close(job.samples);
    export_wall_free(&job);
    upmu_overview_close(job.facts);
    return rc;
}
