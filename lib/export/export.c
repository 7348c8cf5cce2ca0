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
#include "base/text/suggest.h"
#include "export/calls.h"
#include "export/messages.h"
#include "export/samples.h"
#include "export/spans.h"

static const struct export_format *const formats[] = {
    &export_chrome, &export_perfetto, &export_folded,     &export_flamegraph, &export_callgrind,
    &export_pprof,  &export_otlp,     &export_speedscope, &export_firefox,    &export_csv,
    &export_jsonl,  &export_arrow,    &export_tasks,      &export_gcc,        &export_html,
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
                    all.failed ? "others (see 'upmu export --formats')" : all.data);
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

/* Profiles of functions and samples have no times. */
static bool export_is_timeless(int what)
{
    return what >= UPMU_EXPORT_FUNCTIONS;
}

static int export_no_profile(const struct export_job *job)
{
    return upmu_fail(UPMU_E_INVAL, "format %s is not a profile: it cannot be of functions, samples or wall time",
                     job->format->name);
}

static struct timeline_names export_names_shown(const struct export_job *job)
{
    return (struct timeline_names){job->opts.debug_dir, job->opts.stacks};
}

static int export_open_functions(struct export_job *job)
{
    const struct upmu_functions_opts opts = {
        .size = sizeof opts, .debug_dir = job->opts.debug_dir, .from_ns = job->opts.from_ns, .to_ns = job->opts.to_ns};
    return upmu_functions_open(&job->functions, job->dir, &opts);
}

static int export_open_samples(struct export_job *job)
{
    const struct upmu_samples_opts opts = {.size = sizeof opts,
                                           .debug_dir = job->opts.debug_dir,
                                           .stacks = job->opts.stacks,
                                           .from_ns = job->opts.from_ns,
                                           .to_ns = job->opts.to_ns};
    struct upmu_samples_totals totals = {.size = sizeof totals};
    int rc = upmu_samples_open(&job->samples, job->dir, &opts);
    if (rc == 0)
        rc = upmu_samples_totals_read(job->samples, &totals);
    job->samples_are_time = totals.is_time != 0;
    if (rc == 0 && job->opts.what == UPMU_EXPORT_WALL && (!totals.is_time || totals.is_calls))
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
    bool timed = !job->functions && job->facts->pass.n_processes > 0; /* else there are samples only */
    return rc == 0 && timed ? timeline_window(job->facts, job->opts.from_ns, job->opts.to_ns, &job->window) : rc;
}

/* A reading ahead that picks what a timeline can hold, if the recording could have more. */
static int export_pick(struct export_job *job)
{
    struct upmu_overview *ahead = NULL;
    const struct timeline_hooks hooks = spans_hooks(job);
    const struct timeline_names names = export_names_shown(job);
    if (!job->format->limited || job->all <= EXPORT_LIMIT)
        return 0;
    job->limit.picking = true;
    int rc = calls_begin(job);
    if (rc == 0)
        rc = timeline_read(&ahead, job->dir, &names, &hooks);
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
    while (!job->samples && export_counter_name(job, n))
        n++;
    rc = job->format->wants_tree ? tree_start(&job->tree, n < UPMU_REGION_EVENTS_MAX ? n : UPMU_REGION_EVENTS_MAX) : 0;
    if (rc == 0)
        rc = export_pick(job);
    return rc == 0 && job->format->start ? job->format->start(job) : rc;
}

/* A profile of functions or samples needs no events, unless the format shows them beside it. */
static bool export_wants_events(const struct export_job *job)
{
    bool timeless = job->functions || (job->samples && !job->wall);
    return !timeless || (job->format->end && job->facts->pass.n_processes > 0);
}

/* The second reading: spans and events, then functions or samples. */
static int export_read_again(struct export_job *job, const char *dir)
{
    struct upmu_overview *second = NULL;
    const struct timeline_hooks hooks = spans_hooks(job);
    const struct timeline_names names = export_names_shown(job);
    int rc = 0;
    if (export_wants_events(job)) {
        rc = calls_begin(job);
        if (rc == 0)
            rc = timeline_read(&second, dir, &names, &hooks);
        if (rc == 0)
            rc = spans_finish(job, job->facts->pass.end_ns);
    }
    if (rc == 0 && job->functions)
        rc = export_functions(job);
    if (rc == 0 && job->samples)
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
    const struct timeline_names names = export_names_shown(job);
    const struct upmu_overview_opts opts = {.size = sizeof opts,
                                            .debug_dir = names.debug_dir,
                                            .stacks = names.stacks,
                                            .from_ns = job->opts.from_ns,
                                            .to_ns = job->opts.to_ns};
    bool sums = job->format->window == EXPORT_WINDOW_SUMS ||
                (job->opts.what == UPMU_EXPORT_WALL && export_has_window(&job->opts));
    int rc = sums ? upmu_overview_open(&job->facts, dir, &opts) : timeline_read(&job->facts, dir, &names, NULL);
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

/* Everything but the format's end. */
static int export_read(struct export_job *job)
{
    int rc = export_read_facts(job, job->dir);
    if (rc == 0 && job->format->calls)
        rc = calls_open(job);
    if (rc ==
        0) { /* functions may be called after the last event: the window is checked once it is known what it is of */
        uint64_t begin_ns = job->facts->pass.begin_ns;
        job->window = (struct timeline_window){begin_ns + job->opts.from_ns,
                                               job->opts.to_ns ? begin_ns + job->opts.to_ns : UINT64_MAX};
    }
    for (size_t i = 0; rc == 0 && job->opts.damage && i < job->facts->n_damages; i++)
        job->opts.damage(job->opts.arg, job->facts->damages[i]);
    if (rc == 0)
        rc = export_names_start(job);
    if (rc == 0)
        rc = export_start(job);
    return rc == 0 ? export_read_again(job, job->dir) : rc;
}

/* The older recording, of the same contents. */
static int export_read_base(struct export_job *job)
{
    if (!job->opts.base)
        return 0;
    job->base = calloc(1, sizeof *job->base);
    if (!job->base)
        return export_no_memory();
    job->base->dir = job->opts.base;
    job->base->format = job->format;
    job->base->opts = job->opts;
    job->base->opts.progress = NULL;
    job->base->fd = -1;
    return export_read(job->base);
}

static int export_run(struct export_job *job)
{
    int rc = export_read(job);
    if (rc == 0)
        rc = export_read_base(job);
    if (rc == 0 && job->format->finish)
        rc = job->format->finish(job);
    return rc == 0 ? export_write(job) : rc;
}

static void export_free(struct export_job *job)
{
    if (job->base)
        export_free(job->base);
    free(job->base);
    if (job->format && job->format->free)
        job->format->free(job);
    export_names_free(job);
    spans_free(job);
    textbuf_free(&job->out);
    upmu_functions_close(job->functions);
    upmu_samples_close(job->samples);
    export_wall_free(job);
    calls_free(job);
    messages_free(job);
    upmu_overview_close(job->facts);
}

/* What a format and another recording cannot be combined with. */
static int export_check(const struct export_job *job)
{
    const struct upmu_export_opts *o = &job->opts;
    if (o->what < UPMU_EXPORT_AUTO || o->what > UPMU_EXPORT_WALL)
        return upmu_fail(UPMU_E_INVAL, "upmu_export: `what` is %d, which is not in enum upmu_export_what",
                         (int)o->what);
    if (o->base && !job->format->compares)
        return upmu_fail(UPMU_E_INVAL, "format %s cannot compare recordings: use flamegraph or html",
                         job->format->name);
    if (o->base && export_has_window(o) && job->format->window != EXPORT_WINDOW_CUT)
        return upmu_fail(UPMU_E_INVAL,
                         "a page of two recordings compares them as a whole; 'upmu report --diff' compares "
                         "a stretch of both");
    return 0;
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
    job.format = export_format_find(format);
    if (!job.format)
        return UPMU_E_NAME;
    rc = stacks_check(__func__, job.opts.stacks);
    if (rc == 0)
        rc = export_check(&job);
    if (rc == 0)
        rc = export_run(&job);
    if (rc == 0 && result)
        rc = export_fill_result(&job, result);
    export_free(&job);
    return rc;
}
