/* SPDX-License-Identifier: MIT */
/*
 * Spans of each thread, properly nested.
 *
 * Recordings may lack a begin or an end (lost events, signal handlers, wrong programs), which formats do not accept:
 * a span ends with the one around it, and an end without a begin is dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "export/calls.h"
#include "export/samples.h"
#include "export/spans.h"

enum { PROGRESS_EVERY = 1 << 16 };

static int spans_advance(struct export_job *job, uint64_t now);

static bool cuts_spans(const struct export_job *job)
{
    return job->format->window == EXPORT_WINDOW_CUT;
}

static struct export_thread *spans_thread(struct export_job *job, uint32_t index)
{
    if (index >= job->n_threads) {
        size_t n = ((size_t)index + 64) & ~(size_t)63;
        struct export_thread **all = reallocarray(job->threads, n, sizeof(struct export_thread *));
        if (!all)
            return NULL;
        memset(all + job->n_threads, 0, (n - job->n_threads) * sizeof(struct export_thread *));
        job->threads = all;
        job->n_threads = n;
    }
    if (!job->threads[index])
        job->threads[index] = calloc(1, sizeof(struct export_thread));
    return job->threads[index];
}

/* ------------------------------------------------------------------------------------------------- the tree */

/* A profile of functions or samples has no spans, though the format may show them beside it. */
static bool spans_in_tree(const struct export_job *job)
{
    return job->format->wants_tree && (job->wall || !(job->functions || job->samples));
}

static uint32_t spans_thread_root(struct export_job *job, struct export_thread *t, uint32_t index)
{
    if (t->root == 0)
        t->root = tree_child(&job->tree, 0, tree_label_of(&job->tree, TREE_THREAD, export_thread_name(job, index)));
    return t->root;
}

/* Adds the frames of a stack, or the functions at an address, below `node`, the outermost first. */
static uint32_t spans_add_frames(struct export_job *job, uint32_t process, const struct span *span, uint32_t node)
{
    struct upmu_symbol s = {.size = sizeof s};
    uint32_t *labels = NULL;
    size_t n = 0, cap = 0;
    bool found = upmu_overview_frame_at(job->facts, process, span->stack, 0, &s) == 0;
    while ((found ? upmu_overview_frame_at(job->facts, process, span->stack, n, &s)
                  : upmu_overview_symbol_at(job->facts, process, span->site, n, &s)) == 0) {
        uint32_t *all = array_reserve(labels, n, &cap, sizeof *all);
        labels = all ? all : labels;
        if (!all) {
            free(labels);
            return MAP_NONE;
        }
        labels[n] = export_frame_labeled(job, &s);
        if (job->wall && labels[n] != MAP_NONE) /* samples have functions, not the lines of calls */
            labels[n] = job->tree.labels[labels[n]].function_label;
        n++;
    }
    while (job->wall && n > 1 && labels[n - 1] != MAP_NONE && export_is_start(job->tree.labels[labels[n - 1]].name))
        n--;
    while (n > 0)
        node = tree_child(&job->tree, node, labels[--n]);
    free(labels);
    return node;
}

static uint32_t spans_stack_node(struct export_job *job, uint32_t process, const struct span *span, uint32_t root)
{
    uint64_t key = (uint64_t)process << 32 | span->stack;
    if (span->stack == 0)
        return span->site ? spans_add_frames(job, process, span, root) : root;
    uint32_t known = map_find(&job->by_stack, key, root);
    if (known != MAP_NONE)
        return known;
    uint32_t node = spans_add_frames(job, process, span, root);
    return node != MAP_NONE && map_put(&job->by_stack, key, root, node) ? node : MAP_NONE;
}

static int spans_tree_begin(struct export_job *job, struct export_thread *t, const struct span *s,
                            struct export_open *open)
{
    uint32_t parent = t->depth > 0 ? t->open[t->depth - 1].node : spans_thread_root(job, t, s->thread);
    if (export_with_waits(job))
        parent = s->kind == SPAN_WAIT ? spans_stack_node(job, export_thread(job, s->thread)->process, s,
                                                         spans_thread_root(job, t, s->thread))
                                      : spans_thread_root(job, t, s->thread);
    open->node = parent;
    if (s->kind == SPAN_WAIT || job->opts.what == UPMU_EXPORT_REGIONS)
        open->node = tree_child(
            &job->tree, parent,
            tree_label_of(&job->tree, s->kind == SPAN_WAIT ? TREE_WAIT : TREE_REGION, export_span_name(job, s)));
    return open->node == MAP_NONE ? export_no_memory() : 0;
}

/* Columns are the counters of the first process; other counters of other processes are left out. */
static bool spans_has_column(const struct export_job *job, uint32_t process, size_t i)
{
    const char *title = upmu_overview_counter_name(job->facts, 0, i);
    const char *name = process == 0 ? title : upmu_overview_counter_name(job->facts, process, i);
    return title && name && strcmp(title, name) == 0;
}

/* A region's own counts go to its node; all its counts are subtracted from the region around it. */
static int spans_tree_counters(struct export_job *job, struct export_thread *t, const struct export_open *open,
                               const struct span *s)
{
    size_t n = s->n_values < job->tree.n_counts ? s->n_values : job->tree.n_counts;
    if (s->kind != SPAN_REGION || !s->after || n == 0)
        return 0;
    uint64_t *counts = tree_counts(&job->tree, open->node);
    if (!counts)
        return export_no_memory();
    struct export_open *outer = t->depth > 0 ? &t->open[t->depth - 1] : NULL;
    uint32_t process = export_thread(job, s->thread)->process;
    for (size_t i = 0; i < n; i++) {
        struct upmu_value v = value_difference(&s->before[i], &s->after[i]);
        if (!export_has_number(&v) || !spans_has_column(job, process, i)) {
            job->without_number++;
            continue;
        }
        counts[i] += v.value > open->inner_counts[i] ? v.value - open->inner_counts[i] : 0;
        if (outer)
            outer->inner_counts[i] += v.value;
    }
    return 0;
}

/* Of a wait without the time in which recording was stopped, as in the report. */
static uint64_t spans_length(const struct export_job *job, const struct span *s)
{
    return s->kind == SPAN_WAIT
               ? recorded_ns(&job->facts->pass, export_thread(job, s->thread)->process, s->begin_ns, s->end_ns)
               : s->end_ns - s->begin_ns;
}

static int spans_tree_end(struct export_job *job, struct export_thread *t, const struct export_open *open,
                          const struct span *s)
{
    uint64_t ns = s->passed ? open->inner_ns : spans_length(job, s);
    struct export_open *outer = t->depth > 0 ? &t->open[t->depth - 1] : NULL;
    if (outer)
        outer->inner_ns += ns;
    if (s->passed)
        return 0;
    if (s->kind == SPAN_REGION && export_with_waits(job))
        return 0;
    struct tree_node *node = &job->tree.nodes[open->node];
    uint64_t own = ns > open->inner_ns ? ns - open->inner_ns : 0;
    node->count++;
    node->ns += own;
    int rc = export_wall_wait(job, s);
    if (rc == 0 && open->shown && job->format->weigh) {
        const struct ov_thread *of = export_thread(job, s->thread);
        const struct export_weight weight = {export_pid(job, of->process), of->tid, open->node, s->begin_ns, own};
        rc = job->format->weigh(job, &weight);
    }
    return rc == 0 ? spans_tree_counters(job, t, open, s) : rc;
}

/* ------------------------------------------------------------------------------------------------- the spans */

static int spans_begin(struct export_job *job, struct export_thread *t, struct export_open *open,
                       const struct span *span)
{
    int rc = spans_in_tree(job) ? spans_tree_begin(job, t, span, open) : 0;
    t->depth++;
    open->number = limit_begin(&job->limit, &open->shown);
    if (job->limit.picking)
        return rc;
    job->left_out += !open->shown;
    if (rc == 0 && open->shown && job->format->begin)
        rc = job->format->begin(job, span);
    return rc == 0 ? export_flush(job) : rc;
}

/* A span that began before the window is kept until the window is reached. */
static int spans_begin_later(struct export_thread *t, struct export_open *open, const struct span *span)
{
    open->span = *span;
    open->span.before = open->span.after = NULL;
    open->span.n_values = 0;
    t->depth++;
    return 0;
}

/* Times of calls are by another clock than those of waits that a killed process was in, which the pass adds after the events: within a
 * thread they never decrease. */
static uint64_t spans_shown_ns(const struct export_job *job, struct export_thread *t, uint64_t ns)
{
    if (ns >= t->last_ns)
        t->last_ns = ns;
    return job->calls ? t->last_ns : ns;
}

static int spans_on_begin(void *arg, const struct span *span)
{
    struct export_job *job = arg;
    int rc = spans_advance(job, span->begin_ns);
    struct export_thread *t = spans_thread(job, span->thread);
    if (!t)
        return export_no_memory();
    if (rc != 0 || job->beyond)
        return rc;
    if (t->depth == EXPORT_DEPTH_MAX) {
        job->left_out++;
        return 0;
    }
    struct export_open *open = &t->open[t->depth];
    *open = (struct export_open){.kind = span->kind,
                                 .what = span->what,
                                 .begin_ns = span->begin_ns,
                                 .shown_ns = spans_shown_ns(job, t, span->begin_ns)};
    struct span shown = *span;
    shown.begin_ns = open->shown_ns;
    return job->within ? spans_begin(job, t, open, &shown) : spans_begin_later(t, open, &shown);
}

/* A span cut by the window has no counts: part of them was counted outside. */
static int spans_close(struct export_job *job, struct export_thread *t, const struct span *span)
{
    struct export_open open = t->open[--t->depth];
    struct span shown = *span;
    shown.begin_ns = open.shown_ns;
    shown.end_ns = spans_shown_ns(job, t, span->end_ns);
    if (!job->within)
        return 0;
    if (cuts_spans(job) && shown.begin_ns < job->window.from_ns) {
        shown.begin_ns = job->window.from_ns;
        job->without_number += job->format->wants_tree && span->after ? span->n_values : 0;
        shown.before = shown.after = NULL;
        shown.n_values = 0;
    }
    if (job->limit.picking)
        return limit_offer(&job->limit, open.number, shown.end_ns - shown.begin_ns);
    int rc = spans_in_tree(job) ? spans_tree_end(job, t, &open, &shown) : 0;
    if (rc == 0 && open.shown && job->format->end)
        rc = job->format->end(job, &shown);
    return rc == 0 ? export_flush(job) : rc;
}

/* Ends all spans above `depth` as unfinished, at the end of the span around them. */
static int spans_close_above(struct export_job *job, struct export_thread *t, uint32_t thread, uint32_t depth,
                             uint64_t end_ns)
{
    int rc = 0;
    while (rc == 0 && t->depth > depth) {
        const struct export_open *open = &t->open[t->depth - 1];
        const struct span span = {.kind = open->kind,
                                  .thread = thread,
                                  .what = open->what,
                                  .begin_ns = open->begin_ns,
                                  .end_ns = end_ns > open->begin_ns ? end_ns : open->begin_ns,
                                  .holder = MAP_NONE};
        rc = spans_close(job, t, &span);
    }
    return rc;
}

/* The end of a thread in the report, or later if one of its calls outlasts all events of its process. */
static uint64_t spans_thread_end(const struct export_job *job, uint32_t thread)
{
    uint64_t end_ns = export_thread(job, thread)->end_ns, last_ns = job->threads[thread]->last_ns;
    return end_ns > last_ns ? end_ns : last_ns;
}

/* Spans that are open when the window is reached begin there, unless their thread had ended. */
static int spans_enter_thread(struct export_job *job, uint32_t thread)
{
    struct export_thread *t = job->threads[thread];
    uint32_t depth = spans_thread_end(job, thread) < job->window.from_ns ? 0 : t->depth;
    int rc = 0;
    for (t->depth = 0; rc == 0 && t->depth < depth;) {
        struct export_open *open = &t->open[t->depth];
        struct span span = open->span;
        span.begin_ns = job->window.from_ns;
        rc = spans_begin(job, t, open, &span);
    }
    return rc;
}

static int spans_enter(struct export_job *job)
{
    int rc = 0;
    job->within = true;
    for (uint32_t i = 0; rc == 0 && i < job->n_threads; i++)
        if (job->threads[i])
            rc = spans_enter_thread(job, i);
    return rc;
}

/* What is still open ends with its thread, at the latest at `end_ns`. */
static int spans_leave(struct export_job *job, uint64_t end_ns)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < job->n_threads; i++) {
        if (!job->threads[i])
            continue;
        uint64_t thread_end_ns = spans_thread_end(job, i);
        rc = spans_close_above(job, job->threads[i], i, 0, thread_end_ns < end_ns ? thread_end_ns : end_ns);
    }
    return rc;
}

static int switches_by_time(const void *a, const void *b)
{
    const struct export_switch *x = a, *y = b;
    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* Lists the times at which recording was stopped and began again. */
static int spans_find_switches(struct export_job *job)
{
    const struct overview *o = &job->facts->pass;
    size_t n = 0;
    for (size_t i = 0; i < o->n_processes; i++)
        n += 2 * o->processes[i].n_pauses;
    job->switches = calloc(n + 1, sizeof *job->switches);
    if (!job->switches)
        return export_no_memory();
    for (uint32_t i = 0; i < o->n_processes; i++) {
        for (size_t k = 0; k < o->processes[i].n_pauses; k++) {
            const struct ov_pause *pause = &o->processes[i].pauses[k];
            const struct ov_pause *next = k + 1 < o->processes[i].n_pauses ? pause + 1 : NULL;
            job->switches[job->n_switches++] = (struct export_switch){
                pause->begin_ns, i, pause->counted ? "recording counts only" : "recording stopped"};
            if (pause->end_ns != UINT64_MAX && !(next && next->begin_ns == pause->end_ns))
                job->switches[job->n_switches++] = (struct export_switch){pause->end_ns, i, "recording started"};
        }
    }
    if (n > 0)
        qsort(job->switches, job->n_switches, sizeof *job->switches, switches_by_time);
    return 0;
}

/* The switches up to a time are marks of the main threads. */
static int spans_add_switches(struct export_job *job, uint64_t until)
{
    const struct overview *o = &job->facts->pass;
    int rc = job->switches ? 0 : spans_find_switches(job);
    for (; rc == 0 && job->next_switch < job->n_switches; job->next_switch++) {
        const struct export_switch *s = &job->switches[job->next_switch];
        struct upmu_trace_process p = {.size = sizeof p};
        if (s->time_ns > until)
            break;
        if (s->time_ns < o->begin_ns || s->time_ns < job->window.from_ns)
            continue;
        rc = upmu_overview_process_at(job->facts, s->process, &p);
        const struct upmu_trace_event mark = {.size = sizeof mark,
                                              .kind = UPMU_TRACE_MARK,
                                              .process = s->process,
                                              .pid = p.pid,
                                              .tid = p.pid,
                                              .time_ns = s->time_ns,
                                              .name = s->text};
        uint32_t thread = map_find(&o->by_tid, s->process, (uint32_t)p.pid);
        if (rc == 0 && thread != MAP_NONE)
            rc = job->format->event(job, o, thread, &mark);
    }
    return rc;
}

/* Processing has reached time `now`. */
static int spans_advance(struct export_job *job, uint64_t now)
{
    int rc = 0;
    if (!job->within && (!cuts_spans(job) || now >= job->window.from_ns))
        rc = spans_enter(job);
    if (rc == 0 && job->within && !job->beyond && !job->limit.picking && job->format->stops)
        rc = spans_add_switches(job, now < job->window.to_ns ? now : job->window.to_ns);
    if (rc == 0 && !job->beyond && cuts_spans(job) && now > job->window.to_ns) {
        rc = spans_leave(job, job->window.to_ns);
        job->beyond = true;
    }
    return rc;
}

/* A region that was discarded ends when what its thread does in it has ended: spans are nested. */
static int spans_close_discarded(struct export_job *job, struct export_thread *t, uint32_t thread, uint64_t end_ns)
{
    int rc = 0;
    while (rc == 0 && t->depth > 0 && t->open[t->depth - 1].discarded)
        rc = spans_close_above(job, t, thread, t->depth - 1, end_ns);
    return rc;
}

static int spans_on_end(void *arg, const struct span *span)
{
    struct export_job *job = arg;
    int rc = spans_advance(job, span->end_ns);
    struct export_thread *t = spans_thread(job, span->thread);
    if (!t)
        return export_no_memory();
    uint32_t at = rc == 0 && !job->beyond ? t->depth : 0;
    while (at > 0 && (t->open[at - 1].kind != span->kind || t->open[at - 1].what != span->what ||
                      t->open[at - 1].begin_ns != span->begin_ns))
        at--;
    if (at == 0)
        return rc;
    if (span->kind == SPAN_REGION && !span->finished && at < t->depth) {
        t->open[at - 1].discarded = true;
        return 0;
    }
    rc = spans_close_above(job, t, span->thread, at, span->end_ns);
    if (rc == 0)
        rc = spans_close(job, t, span);
    return rc == 0 ? spans_close_discarded(job, t, span->thread, span->end_ns) : rc;
}

/* The format gets the event, unless it is a point beyond the limit. */
static int spans_event(struct export_job *job, const struct overview *pass, uint32_t thread,
                       const struct upmu_trace_event *event)
{
    if (job->limit.picking) {
        limit_count(&job->limit, event);
        return 0;
    }
    bool shown = limit_shows(&job->limit, event);
    job->left_out += !shown;
    return shown && job->format->event ? job->format->event(job, pass, thread, event) : 0;
}

/* Calls of MPI are spans of formats with calls. The end of one whose begin was overwritten is dropped. */
static int spans_mpi(struct export_job *job, uint32_t thread, const struct upmu_trace_event *e)
{
    struct span span = {.kind = SPAN_MPI,
                        .thread = thread,
                        .what = e->mpi.call,
                        .begin_ns = e->time_ns,
                        .holder = MAP_NONE,
                        .site = e->site,
                        .stack = e->stack};
    if (!job->format->calls || (e->kind != UPMU_TRACE_MPI_ENTER && e->kind != UPMU_TRACE_MPI_LEAVE))
        return 0;
    if (e->kind == UPMU_TRACE_MPI_ENTER)
        return spans_on_begin(job, &span);
    const struct export_thread *t = spans_thread(job, thread);
    if (!t)
        return export_no_memory();
    uint32_t at = t->depth;
    while (at > 0 && (t->open[at - 1].kind != SPAN_MPI || t->open[at - 1].what != span.what))
        at--;
    if (at == 0)
        return 0;
    span.begin_ns = t->open[at - 1].begin_ns;
    span.end_ns = e->time_ns;
    span.finished = true;
    return spans_on_end(job, &span);
}

/* What follows an event of the trace begins with the calls of functions before it. */
static int spans_calls(struct export_job *job, uint64_t now)
{
    static const struct timeline_hooks hooks = {.begin = spans_on_begin, .end = spans_on_end};
    return job->calls ? calls_until(job, &hooks, now) : 0;
}

static int spans_on_trace_begin(void *arg, const struct span *span)
{
    int rc = spans_calls(arg, span->begin_ns);
    return rc == 0 ? spans_on_begin(arg, span) : rc;
}

static int spans_on_trace_end(void *arg, const struct span *span)
{
    int rc = spans_calls(arg, span->end_ns);
    return rc == 0 ? spans_on_end(arg, span) : rc;
}

static int spans_on_event(void *arg, const struct overview *pass, uint32_t thread, const struct upmu_trace_event *event)
{
    struct export_job *job = arg;
    job->done++;
    if (job->opts.progress && !job->limit.picking && job->done % PROGRESS_EVERY == 0)
        job->opts.progress(job->opts.arg, job->done, job->all);
    int rc = spans_calls(job, event->time_ns);
    if (rc == 0)
        rc = spans_advance(job, event->time_ns);
    if (rc == 0)
        rc = spans_mpi(job, thread, event);
    if (rc == 0 && job->within && !job->beyond)
        rc = spans_event(job, pass, thread, event);
    return rc == 0 ? export_flush(job) : rc;
}

static int spans_on_sched(void *arg, const struct sched_span *span)
{
    struct export_job *job = arg;
    int rc = job->format->sched ? job->format->sched(job, span) : 0;
    return rc == 0 ? export_flush(job) : rc;
}

struct timeline_hooks spans_hooks(struct export_job *job)
{
    return (struct timeline_hooks){.arg = job,
                                   .begin = spans_on_trace_begin,
                                   .end = spans_on_trace_end,
                                   .event = spans_on_event,
                                   .sched = spans_on_sched};
}

int spans_finish(struct export_job *job, uint64_t end_ns)
{
    int rc = spans_calls(job, UINT64_MAX);
    return rc == 0 ? spans_leave(job, end_ns < job->window.to_ns ? end_ns : job->window.to_ns) : rc;
}

void spans_rewind(struct export_job *job)
{
    for (size_t i = 0; i < job->n_threads; i++) {
        struct export_thread *t = job->threads[i];
        if (t) {
            t->depth = 0;
            t->last_ns = 0;
        }
    }
    job->within = job->beyond = false;
    job->next_switch = 0;
    job->done = job->left_out = 0;
}

void spans_free(struct export_job *job)
{
    limit_free(&job->limit);
    for (size_t i = 0; i < job->n_threads; i++)
        free(job->threads[i]);
    free(job->threads);
    free(job->switches);
    map_free(&job->by_stack);
    map_free(&job->by_sample);
    map_free(&job->by_site);
    map_free(&job->by_stack_text);
    map_free(&job->by_text);
    map_free(&job->by_flow);
    map_free(&job->by_waiters);
    textbuf_free(&job->scratch[0]);
    textbuf_free(&job->scratch[1]);
    tree_free(&job->tree);
}
