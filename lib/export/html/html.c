/* SPDX-License-Identifier: MIT */
/* HTML report: collects spans and events in the tables of html.h. */
#include "export/html/html.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static bool html_is_lifetime(const struct overview *o, uint32_t region)
{
    return region < o->n_regions && strcmp(o->regions[region].name, "(thread)") == 0;
}

/* -------------------------------------------------------------------------------------------------------- start */

static uint32_t *html_ranks(const uint32_t *order, size_t n)
{
    uint32_t *rank = calloc(n + 1, sizeof *rank);
    for (size_t i = 0; rank && i < n; i++)
        rank[order[i]] = (uint32_t)i;
    return rank;
}

static bool html_allocate(struct html *h, const struct overview *o)
{
    h->thread_rank = html_ranks(o->thread_order, o->n_threads);
    h->object_rank = html_ranks(o->object_order, o->n_objects);
    h->region_rank = html_ranks(o->region_order, o->n_regions);
    h->region_depth = calloc(o->n_threads + 1, sizeof *h->region_depth);
    h->wait_depth = calloc(o->n_threads + 1, sizeof *h->wait_depth);
    h->points = calloc(o->n_threads + 1, sizeof *h->points);
    h->released = calloc(o->n_objects + 1, sizeof *h->released);
    return h->thread_rank && h->object_rank && h->region_rank && h->region_depth && h->wait_depth && h->points &&
           h->released;
}

/* The page shows the counters of the first process; other processes may have others. */
static size_t html_count_counters(const struct export_job *job)
{
    size_t n = 0;
    while (n < UPMU_REGION_EVENTS_MAX && upmu_overview_counter_name(job->facts, 0, n))
        n++;
    return n;
}

static int html_start_tables(const struct export_job *job)
{
    struct html *h = job->html;
    uint64_t from = job->window.from_ns, to = job->window.to_ns;
    int rc = html_table_start(&h->regions, h->n_counters * sizeof(uint64_t), from, to);
    if (rc == 0)
        rc = html_table_start(&h->waits, sizeof(struct html_wait), from, to);
    if (rc == 0)
        rc = html_table_start(&h->holds, sizeof(struct html_hold), from, to);
    if (rc == 0)
        rc = html_table_start(&h->calls, sizeof(struct html_call), from, to);
    return rc == 0 ? html_table_start(&h->runs, sizeof(struct html_run), from, to) : rc;
}

static int html_start(struct export_job *job)
{
    const struct overview *o = &job->facts->pass;
    struct html *h = calloc(1, sizeof *h);
    if (!h)
        return export_no_memory();
    job->html = h;
    job->opts.what = UPMU_EXPORT_REGIONS; /* the tree; waits by stack are summed up beside it */
    h->n_counters = html_count_counters(job);
    h->base_ns = o->begin_ns;
    if (!html_allocate(h, o))
        return export_no_memory();
    int rc = html_start_tables(job);
    return rc == 0 ? html_holds_start(job) : rc;
}

/* -------------------------------------------------------------------------------------------------------- spans */

static int html_begin(struct export_job *job, const struct span *s)
{
    struct html *h = job->html;
    const struct export_thread *t = job->threads[s->thread];
    if (s->kind == SPAN_REGION) {
        h->region_depth[s->thread] += !html_is_lifetime(&job->facts->pass, s->what);
        return 0;
    }
    h->wait_depth[s->thread]++;
    if (!map_put(&h->wait_labels, t->open[t->depth - 1].node, 0, 0))
        return export_no_memory();
    return 0;
}

/* Counters of one instance; empty for another list than the first process's. */
static void html_region_counts(const struct export_job *job, const struct span *s, uint64_t *to)
{
    uint32_t process = export_thread(job, s->thread)->process;
    for (size_t i = 0; i < job->html->n_counters; i++) {
        const char *name = upmu_overview_counter_name(job->facts, process, i);
        struct upmu_value v = {.value = UPMU_NO_VALUE, .status = UPMU_NOT_COUNTED};
        if (s->after && i < s->n_values && name && strcmp(name, upmu_overview_counter_name(job->facts, 0, i)) == 0)
            v = value_difference(&s->before[i], &s->after[i]);
        to[i] = (export_has_number(&v) ? v.value << 3 : 0) | ((unsigned)v.status & 7);
    }
}

static int html_end_region(struct export_job *job, const struct span *s)
{
    struct html *h = job->html;
    if (html_is_lifetime(&job->facts->pass, s->what))
        return 0;
    uint64_t *counts = html_add(
        &h->regions, &(struct html_span){.begin_ns = s->begin_ns,
                                         .ns = s->end_ns - s->begin_ns,
                                         .row_a = s->thread,
                                         .row_b = h->region_depth[s->thread] ? --h->region_depth[s->thread] : 0,
                                         .what = s->what,
                                         .flags = s->finished ? 0 : HTML_UNFINISHED});
    if (!counts)
        return export_no_memory();
    html_region_counts(job, s, counts);
    return 0;
}

/* The thread that ended the wait: the last one that released or signaled the object before. */
static void html_find_waker(struct export_job *job, const struct span *s, struct html_wait *w)
{
    const struct html_release *r = &job->html->released[s->what];
    w->waker = MAP_NONE;
    if (!s->finished || r->ns < s->begin_ns || r->ns == 0 || r->thread == s->thread)
        return;
    w->waker = r->thread;
    w->waker_ns = r->ns;
    w->waker_stack = html_stack(job, r->process, r->stack);
}

static int html_add_sums(struct export_job *job, const struct span *s, const struct html_wait *w)
{
    struct html *h = job->html;
    uint64_t origin = w->stack ? (uint64_t)w->stack << 1 : (uint64_t)w->site << 1 | 1;
    uint64_t ns = s->end_ns - s->begin_ns;
    return html_sum(&h->stacks, origin << 31 | s->thread, s->what, ns);
}

static int html_end_wait(struct export_job *job, const struct span *s)
{
    struct html *h = job->html;
    uint32_t process = export_thread(job, s->thread)->process;
    h->wait_depth[s->thread] -= h->wait_depth[s->thread] > 0;
    if (s->passed)
        return 0;
    struct html_wait *w = html_add(&h->waits, &(struct html_span){.begin_ns = s->begin_ns,
                                                                  .ns = s->end_ns - s->begin_ns,
                                                                  .row_a = s->thread,
                                                                  .row_b = h->wait_depth[s->thread],
                                                                  .what = s->what,
                                                                  .flags = s->finished ? 0 : HTML_UNFINISHED});
    if (!w)
        return export_no_memory();
    *w = (struct html_wait){.kind = (uint32_t)s->wait_kind,
                            .holder = s->holder,
                            .holder_since = s->holder_since,
                            .site = html_site(job, process, s->site),
                            .holder_site = html_site(job, process, s->holder_site),
                            .holder_stack = html_stack(job, process, s->holder_stack),
                            .stack = html_stack(job, process, s->stack)};
    html_find_waker(job, s, w);
    if (w->site == MAP_NONE || w->holder_site == MAP_NONE || w->stack == MAP_NONE || w->waker_stack == MAP_NONE ||
        w->holder_stack == MAP_NONE)
        return export_no_memory();
    return html_add_sums(job, s, w);
}

static int html_end(struct export_job *job, const struct span *s)
{
    return s->kind == SPAN_REGION ? html_end_region(job, s) : html_end_wait(job, s);
}

/* ------------------------------------------------------------------------------------------------------- events */

/* Events that may end a wait. A condition variable's wait releases its mutex. */
static void html_note_release(struct html *h, const struct overview *pass, uint32_t thread,
                              const struct upmu_trace_event *e)
{
    uint64_t address = e->kind == UPMU_TRACE_COND_WAIT ? e->cond.mutex : e->object;
    uint32_t object = object_known(pass, e->process, address);
    if (object != MAP_NONE)
        h->released[object] = (struct html_release){thread, e->process, e->stack, e->time_ns};
}

static int html_add_point(struct export_job *job, uint32_t thread, const struct upmu_trace_event *e)
{
    struct html *h = job->html;
    struct html_points *p = &h->points[thread];
    size_t columns = 1 + h->n_counters;
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 64;
        uint64_t *rows = reallocarray(p->rows, cap, columns * sizeof *rows);
        if (!rows)
            return export_no_memory();
        p->rows = rows;
        p->cap = cap;
    }
    uint64_t *row = p->rows + p->n++ * columns;
    row[0] = e->time_ns;
    for (size_t i = 0; i < h->n_counters; i++) {
        bool found = i < e->n_values && export_has_number(&e->values[i]);
        row[1 + i] = found ? e->values[i].value : UPMU_NO_VALUE;
        h->scaled |= found && e->values[i].status == UPMU_SCALED ? 1u << i : 0;
    }
    if (++h->n_points >= HTML_POINTS_MAX)
        html_points_thin(h, job->facts->pass.n_threads);
    return 0;
}

/* Readings of the counters of the first process's list. */
static bool html_has_points(const struct export_job *job, const struct upmu_trace_event *e)
{
    if (job->html->n_counters == 0 || e->n_values == 0)
        return false;
    for (size_t i = 0; e->process != 0 && i < job->html->n_counters; i++) {
        const char *own = upmu_overview_counter_name(job->facts, e->process, i);
        if (!own || strcmp(own, upmu_overview_counter_name(job->facts, 0, i)) != 0)
            return false;
    }
    return true;
}

static int html_add_mark(struct export_job *job, uint32_t thread, const struct upmu_trace_event *e)
{
    struct html *h = job->html;
    struct html_mark *all = array_reserve(h->marks, h->n_marks, &h->cap_marks, sizeof *all);
    if (!all)
        return export_no_memory();
    h->marks = all;
    all[h->n_marks] = (struct html_mark){e->time_ns, thread, strdup(e->name)};
    return all[h->n_marks].text ? (h->n_marks++, 0) : export_no_memory();
}

static int html_event(struct export_job *job, const struct overview *pass, uint32_t thread,
                      const struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_MARK:
        return html_add_mark(job, thread, e);
    case UPMU_TRACE_REGION_BEGIN:
    case UPMU_TRACE_REGION_END:
    case UPMU_TRACE_COUNTERS:
        return html_has_points(job, e) ? html_add_point(job, thread, e) : 0;
    case UPMU_TRACE_LOCK_RELEASE:
    case UPMU_TRACE_COND_WAIT:
    case UPMU_TRACE_SEM_POST:
    case UPMU_TRACE_COND_SIGNAL:
    case UPMU_TRACE_COND_BROADCAST:
    case UPMU_TRACE_FUTEX_WAKE:
        html_note_release(job->html, pass, thread, e);
        break;
    case UPMU_TRACE_MPI_ENV:
    case UPMU_TRACE_MPI_COMM:
    case UPMU_TRACE_MPI_ENTER:
    case UPMU_TRACE_MPI_LEAVE:
    case UPMU_TRACE_MPI_POLL:
        return html_mpi_event(job, thread, e);
    default:
        break;
    }
    return html_holds_event(job, pass, thread, e);
}

static int html_sched(struct export_job *job, const struct sched_span *s)
{
    struct html *h = job->html;
    if (s->state == UPMU_SCHED_UNKNOWN || s->end_ns < s->begin_ns)
        return 0;
    uint64_t begin = s->begin_ns > h->base_ns ? s->begin_ns : h->base_ns;
    struct html_run *run = html_add(&h->runs, &(struct html_span){.begin_ns = begin,
                                                                  .ns = s->end_ns > begin ? s->end_ns - begin : 0,
                                                                  .row_a = s->thread,
                                                                  .what = (uint32_t)s->state});
    if (!run)
        return export_no_memory();
    run->cpu = s->cpu;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- finish */

/* Facts of `of`, which is the job or the older recording that it is compared to. */
static int html_write_facts(struct export_job *job, struct export_job *of, const char *section)
{
    struct textbuf b = {0};
    json_object(&b, NULL);
    int rc = html_facts_write(of, &b);
    if (rc == 0 && of == job)
        rc = html_mpi_write(job, &b);
    if (rc == 0 && of == job)
        rc = html_samples_write(job, &b);
    if (rc == 0 && of == job)
        rc = html_functions_write(job, &b);
    if (rc == 0)
        rc = html_deadlocks_write(of, &b);
    if (rc == 0)
        rc = html_sites_write(of, &b); /* last: what came before are named fields */
    json_object_end(&b);
    if (rc == 0)
        rc = html_pack_section(job, section, 1, &b);
    textbuf_free(&b);
    return rc;
}

static int html_finish(struct export_job *job)
{
    struct html *h = job->html;
    int rc = html_holds_finish(job);
    if (rc == 0)
        rc = html_table_finish(&h->regions);
    if (rc == 0)
        rc = html_table_finish(&h->waits);
    if (rc == 0)
        rc = html_table_finish(&h->holds);
    if (rc == 0)
        rc = html_table_finish(&h->runs);
    if (rc == 0)
        rc = html_mpi_finish(job);
    if (rc == 0)
        rc = html_samples_finish(job);
    textbuf_add(&job->out, (const char *)html_page_head, html_page_head_length);
    if (rc == 0)
        rc = html_pack_start(job);
    if (rc == 0)
        rc = html_columns_write(job);
    if (rc == 0)
        rc = html_path_columns(job);
    if (rc == 0)
        rc = html_mpi_columns(job);
    if (rc == 0)
        rc = html_write_facts(job, job, "facts");
    if (rc == 0 && job->base)
        rc = html_write_facts(job, job->base, "base");
    if (rc == 0)
        rc = html_pack_end(job);
    textbuf_add(&job->out, (const char *)html_page_tail, html_page_tail_length);
    return rc;
}

static void html_keys_free(struct html_keys *p)
{
    free(p->all);
    map_free(&p->by_key);
}

static void html_free(struct export_job *job)
{
    struct html *h = job->html;
    if (!h)
        return;
    if (h->packing)
        (void)deflateEnd(&h->z);
    for (size_t i = 0; h->points && i < job->facts->pass.n_threads; i++)
        free(h->points[i].rows);
    for (size_t i = 0; i < h->n_marks; i++)
        free(h->marks[i].text);
    html_table_free(&h->regions);
    html_table_free(&h->waits);
    html_table_free(&h->holds);
    html_table_free(&h->runs);
    html_table_free(&h->calls);
    html_mpi_free(h);
    free(h->stacks.all);
    map_free(&h->stacks.by_key);
    html_keys_free(&h->sites);
    html_keys_free(&h->stack_ids);
    map_free(&h->wait_labels);
    map_free(&h->complete);
    void *arrays[] = {h->points,      h->marks,       h->released,     h->samples,    h->thread_rank,
                      h->object_rank, h->region_rank, h->region_depth, h->wait_depth, h};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    job->html = NULL;
}

const struct export_format export_html = {
    .name = "html",
    .suffix = "html",
    .summary = "report as one HTML file for any browser: overview, timeline, deadlocks, regions and functions",
    .window = EXPORT_WINDOW_OWN,
    .wants_tree = true,
    .compares = true,
    .start = html_start,
    .begin = html_begin,
    .end = html_end,
    .event = html_event,
    .sched = html_sched,
    .finish = html_finish,
    .free = html_free,
};
