/* SPDX-License-Identifier: MIT */
/*
 * The Firefox Profiler's processed profile: collects markers and samples of each thread.
 *
 * Regions, waits and marks are markers. Samples, and the own time of waits or regions at their begin, are weighted samples with
 * their stack, so that a stretch of time has a call tree of its own.
 */
#include "export/firefox/firefox.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static struct firefox_marker *firefox_marker_add(struct export_job *job, uint32_t thread)
{
    const struct ov_thread *t = export_thread(job, thread);
    struct firefox *f = job->firefox;
    uint32_t index = firefox_thread(f, export_pid(job, t->process), t->tid, export_thread_name(job, thread));
    if (index == MAP_NONE)
        return NULL;
    struct firefox_thread *of = &f->threads[index];
    struct firefox_marker *all = array_reserve(of->markers, of->n_markers, &of->cap_markers, sizeof *all);
    if (!all)
        return NULL;
    of->markers = all;
    all[of->n_markers] = (struct firefox_marker){0};
    return &all[of->n_markers++];
}

/* --------------------------------------------------------------------------------------------------- the events */

static int firefox_start(struct export_job *job)
{
    const struct overview *o = &job->facts->pass;
    job->firefox = calloc(1, sizeof *job->firefox);
    if (!job->firefox || firefox_string(job->firefox, "") != 0)
        return export_no_memory();
    for (uint32_t i = 0; i < o->n_threads; i++)
        if (firefox_thread(job->firefox, export_pid(job, o->threads[i].process), o->threads[i].tid,
                           export_thread_name(job, i)) == MAP_NONE)
            return export_no_memory();
    return 0;
}

/* "task-clock 1200, cycles ~31, page-faults refused" */
static uint32_t firefox_counters(struct export_job *job, uint32_t process, const struct span *s)
{
    struct textbuf text = {0};
    for (size_t i = 0; s->after && i < s->n_values; i++) {
        struct upmu_value v = value_difference(&s->before[i], &s->after[i]);
        const char *name = upmu_overview_counter_name(job->facts, process, i);
        textbuf_printf(&text, "%s%s ", i ? ", " : "", name ? name : "?");
        if (v.status == UPMU_EXACT || v.status == UPMU_SCALED)
            textbuf_printf(&text, "%s%llu", v.status == UPMU_SCALED ? "~" : "", (unsigned long long)v.value);
        else
            export_text(&text, upmu_status_name(v.status));
    }
    uint32_t string = text.failed ? MAP_NONE : firefox_string(job->firefox, text.data ? text.data : "");
    textbuf_free(&text);
    return string;
}

static int firefox_end(struct export_job *job, const struct span *s)
{
    struct firefox *f = job->firefox;
    if (s->passed)
        return 0;
    struct firefox_marker *m = firefox_marker_add(job, s->thread);
    uint32_t process = export_thread(job, s->thread)->process;
    if (!m)
        return export_no_memory();
    m->begin_ns = s->begin_ns;
    m->end_ns = s->end_ns;
    m->category = s->kind == SPAN_REGION ? FIREFOX_REGION : FIREFOX_WAIT;
    m->unfinished = !s->finished;
    m->name = firefox_string(f, export_span_name(job, s));
    m->at = s->site ? firefox_string(f, export_site_label(job, process, s->site)) : 0;
    m->holder = s->holder != MAP_NONE ? firefox_string(f, export_thread_name(job, s->holder)) : 0;
    m->acquired_at = s->holder_site ? firefox_string(f, export_site_label(job, process, s->holder_site)) : 0;
    m->counters = firefox_counters(job, process, s);
    bool failed = m->name == MAP_NONE || m->at == MAP_NONE || m->holder == MAP_NONE || m->acquired_at == MAP_NONE ||
                  m->counters == MAP_NONE;
    return failed ? export_no_memory() : 0;
}

static int firefox_event(struct export_job *job, const struct overview *pass, uint32_t thread,
                         const struct upmu_trace_event *e)
{
    (void)pass;
    if (e->kind != UPMU_TRACE_MARK)
        return 0;
    struct firefox_marker *m = firefox_marker_add(job, thread);
    if (!m)
        return export_no_memory();
    m->begin_ns = m->end_ns = e->time_ns;
    m->instant = true;
    m->name = firefox_string(job->firefox, e->name);
    return m->name == MAP_NONE ? export_no_memory() : 0;
}

static int firefox_weigh(struct export_job *job, const struct export_weight *w)
{
    struct firefox *f = job->firefox;
    const struct tree *t = &job->tree;
    uint32_t root = tree_nearest(t, w->node, TREE_THREAD);
    uint32_t index = firefox_thread(f, w->pid, w->tid, t->labels[t->nodes[root].label].name);
    if (w->n == 0)
        return 0;
    if (index == MAP_NONE)
        return export_no_memory();
    struct firefox_thread *of = &f->threads[index];
    struct firefox_sample *all = array_reserve(of->samples, of->n_samples, &of->cap_samples, sizeof *all);
    if (!all)
        return export_no_memory();
    of->samples = all;
    all[of->n_samples++] = (struct firefox_sample){.time_ns = w->time_ns, .n = w->n, .node = w->node};
    return 0;
}

/* Sums have no times of their own: all at the begin, in a thread of their own. */
static int firefox_add_functions(struct export_job *job)
{
    const struct tree *t = &job->tree;
    int rc = 0;
    for (uint32_t i = 1; rc == 0 && i < t->n_nodes; i++) {
        const struct export_weight w = {0, 0, i, job->facts->pass.begin_ns, t->nodes[i].ns};
        rc = firefox_weigh(job, &w);
    }
    return rc;
}

static int firefox_finish(struct export_job *job)
{
    int rc = job->functions ? firefox_add_functions(job) : 0;
    return rc == 0 ? firefox_write(job) : rc;
}

static void firefox_free(struct export_job *job)
{
    struct firefox *f = job->firefox;
    if (!f)
        return;
    for (size_t i = 0; i < f->n_threads; i++) {
        free(f->threads[i].samples);
        free(f->threads[i].markers);
    }
    for (size_t i = 0; i < f->n_strings; i++)
        free(f->strings[i]);
    free(f->threads);
    free(f->strings);
    free(f->stacks);
    free(f->functions);
    free(f->names);
    free(f->files);
    free(f->modules);
    free(f->libs);
    free(f->sources);
    map_free(&f->by_source);
    map_free(&f->by_id);
    map_free(&f->by_string);
    free(f);
    job->firefox = NULL;
}

const struct export_format export_firefox = {
    .name = "firefox",
    .suffix = "json",
    .summary = "timeline and profile for the Firefox Profiler",
    .limited = true,
    .by_thread = true,
    .wants_tree = true,
    .start = firefox_start,
    .end = firefox_end,
    .stops = true,
    .event = firefox_event,
    .weigh = firefox_weigh,
    .finish = firefox_finish,
    .free = firefox_free,
};
