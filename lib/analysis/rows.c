/* SPDX-License-Identifier: MIT */
/*
 * Collection of a page of timeline rows.
 *
 * A row is added at its begin, which sets its order and number; waits and regions are completed at their ends. Rows that
 * begin before the window are kept until the first event inside it: the ones still open then reach into the window. Only
 * from there on rows are counted for the page.
 */
#include "analysis/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/event_fields.h"
#include "base/error.h"

int rows_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while collecting timeline rows");
}

static struct row_open *rows_open_of(struct upmu_timeline *t, uint32_t thread)
{
    if (thread >= t->n_open) {
        size_t n = ((size_t)thread + 64) & ~(size_t)63;
        struct row_open *all = reallocarray(t->open, n, sizeof *all);
        if (!all)
            return NULL;
        for (size_t i = t->n_open; i < n; i++)
            all[i] = (struct row_open){.last = MAP_NONE};
        t->open = all;
        t->n_open = n;
    }
    return &t->open[thread];
}

static void row_free(struct row *r)
{
    free(r->text);
    free(r->counts);
}

/* ------------------------------------------------------------------------------------------------------ filters */

static bool row_passes_filters(const struct upmu_timeline *t, const struct row *r)
{
    const struct upmu_timeline_opts *o = &t->opts;
    const struct overview *pass = &t->facts->pass;
    if (r->begin_ns > t->to_ns || (o->number != 0 && r->number != o->number))
        return false;
    if (o->kinds != 0 && !(o->kinds & 1u << r->kind))
        return false;
    if (t->threads && !(r->thread < pass->n_threads && t->threads[r->thread]))
        return false;
    if (t->objects && !(r->object < pass->n_objects && t->objects[r->object]))
        return false;
    if (o->object_types == 0)
        return true;
    return r->object < pass->n_objects && (o->object_types & 1u << pass->objects[r->object].type);
}

/* All kept rows are open and reach into the window: count them for the page. */
static void rows_enter_window(struct upmu_timeline *t)
{
    size_t kept = 0, waiting = t->n_rows;
    t->in_window = true;
    for (size_t i = 0; i < waiting; i++) {
        t->matched++;
        bool shown = t->matched > t->opts.skip && kept < t->opts.rows;
        if (shown)
            t->rows[kept++] = t->rows[i];
        else
            row_free(&t->rows[i]);
    }
    t->n_rows = kept;
}

/* Rebuilds the threads' lists of open rows, which have moved. */
static int rows_reindex_open(struct upmu_timeline *t)
{
    for (size_t i = 0; i < t->n_open; i++)
        t->open[i].n = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        struct row_open *open = rows_open_of(t, t->rows[i].thread);
        uint32_t *all = open ? array_reserve(open->rows, open->n, &open->cap, sizeof *all) : NULL;
        if (!all)
            return rows_no_memory();
        open->rows = all;
        all[open->n++] = (uint32_t)i;
    }
    return 0;
}

/* Processing has reached time `now`. */
static int rows_advance(struct upmu_timeline *t, uint64_t now)
{
    if (t->in_window || now < t->from_ns)
        return 0;
    rows_enter_window(t);
    return rows_reindex_open(t);
}

/* @return the index of the row, MAP_NONE if it is not kept; `*rc` is 0 or UPMU_E_NOMEM. */
static uint32_t rows_keep(struct upmu_timeline *t, const struct row *row, int *rc)
{
    *rc = 0;
    if (!row_passes_filters(t, row))
        return MAP_NONE;
    if (t->in_window) {
        t->matched++;
        if (t->matched <= t->opts.skip || t->n_rows >= t->opts.rows)
            return MAP_NONE;
    }
    struct row *all = array_reserve(t->rows, t->n_rows, &t->cap_rows, sizeof *all);
    if (!all) {
        *rc = rows_no_memory();
        return MAP_NONE;
    }
    t->rows = all;
    all[t->n_rows] = *row;
    return (uint32_t)t->n_rows++;
}

/* ------------------------------------------------------------------------------------------------------- spans */

static int rows_span_begin(void *arg, const struct span *s)
{
    struct upmu_timeline *t = arg;
    bool wait = s->kind == SPAN_WAIT;
    int rc = rows_advance(t, s->begin_ns);
    const struct row row = {.number = ++t->numbered,
                            .kind = wait ? UPMU_ROW_WAIT : UPMU_ROW_REGION,
                            .event = wait ? 0 : UPMU_TRACE_REGION_BEGIN, /* of a wait: set by row_complete_wait() */
                            .wait_kind = wait ? s->wait_kind : -1,
                            .thread = s->thread,
                            .object = wait ? s->what : MAP_NONE,
                            .region = wait ? MAP_NONE : s->what,
                            .holder = s->holder,
                            .begin_ns = s->begin_ns,
                            .end_ns = s->begin_ns,
                            .stack = s->stack,
                            .site = s->site,
                            .holder_site = s->holder_site,
                            .holder_since = s->holder_since};
    uint32_t at = rc == 0 ? rows_keep(t, &row, &rc) : MAP_NONE;
    if (at == MAP_NONE)
        return rc;
    struct row_open *open = rows_open_of(t, s->thread);
    uint32_t *all = open ? array_reserve(open->rows, open->n, &open->cap, sizeof *all) : NULL;
    if (!all)
        return rows_no_memory();
    open->rows = all;
    all[open->n++] = at;
    return 0;
}

static int row_add_counts(struct row *row, const struct span *s)
{
    if (s->kind != SPAN_REGION || !s->after || s->n_values == 0)
        return 0;
    row->counts = calloc(s->n_values, sizeof *row->counts);
    if (!row->counts)
        return rows_no_memory();
    row->n_counts = s->n_values;
    for (size_t i = 0; i < s->n_values; i++)
        row->counts[i] = value_difference(&s->before[i], &s->after[i]);
    return 0;
}

/* Removes a row that ended before the window. */
static void rows_drop(struct upmu_timeline *t, uint32_t at)
{
    row_free(&t->rows[at]);
    memmove(&t->rows[at], &t->rows[at + 1], (t->n_rows - at - 1) * sizeof *t->rows);
    t->n_rows--;
}

static int rows_span_end(void *arg, const struct span *s)
{
    struct upmu_timeline *t = arg;
    int rc = rows_advance(t, s->end_ns);
    struct row_open *open = rc == 0 ? rows_open_of(t, s->thread) : NULL;
    if (!open)
        return rc != 0 ? rc : rows_no_memory();
    int kind = s->kind == SPAN_WAIT ? UPMU_ROW_WAIT : UPMU_ROW_REGION;
    open->last = MAP_NONE;
    for (size_t i = open->n; i-- > 0;) {
        struct row *row = &t->rows[open->rows[i]];
        uint32_t what = kind == UPMU_ROW_WAIT ? row->object : row->region;
        if (row->kind != kind || what != s->what || row->begin_ns != s->begin_ns)
            continue;
        row->end_ns = s->end_ns;
        row->ended = s->finished;
        open->last = open->rows[i];
        memmove(&open->rows[i], &open->rows[i + 1], (open->n - i - 1) * sizeof *open->rows);
        open->n--;
        if (t->in_window)
            return row_add_counts(row, s);
        rows_drop(t, open->last);
        open->last = MAP_NONE;
        return rows_reindex_open(t);
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------ events */

/* The kind of the event's row, which has no duration, or ROW_KINDS if it makes none. */
static int row_event_kind(const struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_MARK:
        return UPMU_ROW_MARK;
    case UPMU_TRACE_LOCK_ACQUIRE:
        return UPMU_ROW_ACQUIRE;
    case UPMU_TRACE_LOCK_RELEASE:
        return UPMU_ROW_RELEASE;
    case UPMU_TRACE_COND_SIGNAL:
    case UPMU_TRACE_COND_BROADCAST:
    case UPMU_TRACE_SEM_POST:
    case UPMU_TRACE_FUTEX_WAKE:
        return UPMU_ROW_WAKE;
    case UPMU_TRACE_THREAD_CREATE:
    case UPMU_TRACE_THREAD_START:
    case UPMU_TRACE_THREAD_EXIT:
    case UPMU_TRACE_THREAD_NAME:
    case UPMU_TRACE_THREAD_DETACH:
    case UPMU_TRACE_THREAD_CANCEL:
        return UPMU_ROW_THREAD;
    case UPMU_TRACE_LOCK_INIT:
    case UPMU_TRACE_LOCK_DESTROY:
    case UPMU_TRACE_LOCK_NAME:
    case UPMU_TRACE_LOCK_MISUSE:
    case UPMU_TRACE_LOCK_CONSISTENT:
    case UPMU_TRACE_SEM_OPEN:
    case UPMU_TRACE_SEM_CLOSE:
    case UPMU_TRACE_SEM_UNLINK:
    case UPMU_TRACE_SEM_VALUE:
        return UPMU_ROW_OBJECT;
    case UPMU_TRACE_LOCK_FAILED:
        return e->flags & UPMU_TRACE_FLAG_TRIED ? UPMU_ROW_OBJECT : ROW_KINDS;
    default:
        return ROW_KINDS;
    }
}

/* Adds the details of the event that began or ended a wait. */
static void row_complete_wait(struct upmu_timeline *t, uint32_t thread, const struct upmu_trace_event *e)
{
    struct row_open *open = thread < t->n_open ? &t->open[thread] : NULL;
    struct row *innermost = open && open->n > 0 ? &t->rows[open->rows[open->n - 1]] : NULL;
    struct row *ended = open && open->last != MAP_NONE ? &t->rows[open->last] : NULL;
    if (innermost && innermost->event == 0 && innermost->begin_ns == e->time_ns) {
        innermost->event = e->kind;
        innermost->flags = e->flags;
    } else if (ended && ended->kind == UPMU_ROW_WAIT && ended->end_ns == e->time_ns) {
        ended->result = e->result;
        open->last = MAP_NONE;
    }
}

static int rows_event(void *arg, const struct overview *pass, uint32_t thread, const struct upmu_trace_event *e)
{
    struct upmu_timeline *t = arg;
    int kind = row_event_kind(e), rc = rows_advance(t, e->time_ns);
    if (rc != 0 || kind == ROW_KINDS) {
        if (rc == 0)
            row_complete_wait(t, thread, e);
        return rc;
    }
    const struct row row = {.number = ++t->numbered,
                            .kind = kind,
                            .event = e->kind,
                            .wait_kind = -1,
                            .result = e->result,
                            .thread = thread,
                            .object = e->object_type != UPMU_OBJECT_NONE && e->object_type != UPMU_OBJECT_THREAD
                                          ? object_last(pass, e->process, e->object_type, e->object)
                                          : MAP_NONE,
                            .region = MAP_NONE,
                            .holder = MAP_NONE,
                            .begin_ns = e->time_ns,
                            .end_ns = e->time_ns,
                            .ended = true,
                            .flags = e->flags,
                            .stack = e->stack,
                            .count = event_count(e),
                            .site = e->site,
                            .peer = event_peer(e)};
    /* Rows without duration before the window are not part of it. */
    uint32_t at = t->in_window ? rows_keep(t, &row, &rc) : MAP_NONE;
    if (at == MAP_NONE || e->name[0] == '\0')
        return rc;
    t->rows[at].text = strdup(e->name);
    return t->rows[at].text ? 0 : rows_no_memory();
}

struct timeline_hooks rows_hooks(struct upmu_timeline *t)
{
    return (struct timeline_hooks){.arg = t, .begin = rows_span_begin, .end = rows_span_end, .event = rows_event};
}

void rows_finish(struct upmu_timeline *t)
{
    if (!t->in_window)
        rows_enter_window(t);
}
