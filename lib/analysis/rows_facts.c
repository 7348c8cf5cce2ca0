/* SPDX-License-Identifier: MIT */
/* A page of timeline rows as public structs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/identity.h"
#include "analysis/rows.h"
#include "base/error.h"
#include "base/text/name.h"
#include "base/opts.h"
#include "base/text/suggest.h"

const char *upmu_row_kind_name(int kind)
{
    static const char *const names[] = {"wait", "region", "acquire", "release", "wake", "thread", "mark", "object"};
    return NAME_OF(names, kind);
}

/* ------------------------------------------------------------------------------------------------------ filters */

/* A whole number, decimal or with 0x. */
static bool rows_parse_number(const char *text, uint64_t *out)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 0);
    *out = n;
    return errno == 0 && *end == '\0';
}

static int rows_filter_no_match(const struct suggest *s, const char *what, const char *wanted, const char *by)
{
    return upmu_fail(UPMU_E_NAME, "no %s of the recording is called '%s' or has that %s%s%s%s", what, wanted, by,
                     s->best ? "; did you mean '" : "", s->best ? s->best : "", s->best ? "'?" : "");
}

static int rows_filter_threads(struct upmu_timeline *t)
{
    const struct overview *o = &t->facts->pass;
    uint64_t id = 0;
    bool is_number = rows_parse_number(t->opts.thread, &id), any = false;
    struct suggest s;
    suggest_begin(&s, t->opts.thread);
    t->threads = calloc(o->n_threads + 1, sizeof *t->threads);
    if (!t->threads)
        return rows_no_memory();
    for (size_t i = 0; i < o->n_threads; i++) {
        const struct ov_thread *x = &o->threads[i];
        const char *name = identity_thread(t->facts, (uint32_t)i);
        t->threads[i] = strcmp(name, t->opts.thread) == 0 || (is_number && id == (uint64_t)x->tid);
        any = any || t->threads[i];
        if (name[0])
            suggest_offer(&s, name);
    }
    return any ? 0 : rows_filter_no_match(&s, "thread", t->opts.thread, "id");
}

static int rows_filter_objects(struct upmu_timeline *t)
{
    const struct overview *o = &t->facts->pass;
    uint64_t address = 0;
    bool is_number = rows_parse_number(t->opts.object, &address), any = false;
    struct suggest s;
    suggest_begin(&s, t->opts.object);
    t->objects = calloc(o->n_objects + 1, sizeof *t->objects);
    if (!t->objects)
        return rows_no_memory();
    for (size_t i = 0; i < o->n_objects; i++) {
        const struct ov_object *x = &o->objects[i];
        const char *name = identity_object(t->facts, (uint32_t)i).name;
        t->objects[i] = (name[0] && strcmp(name, t->opts.object) == 0) || (is_number && address == x->address);
        any = any || t->objects[i];
        if (name[0])
            suggest_offer(&s, name);
    }
    return any ? 0 : rows_filter_no_match(&s, "lock or variable", t->opts.object, "address");
}

/* Find the threads and objects that match the filter. @return 0; UPMU_E_NAME, UPMU_E_NOMEM. */
static int rows_filter(struct upmu_timeline *t)
{
    int rc = t->opts.thread ? rows_filter_threads(t) : 0;
    return rc == 0 && t->opts.object ? rows_filter_objects(t) : rc;
}

/* ------------------------------------------------------------------------------------------------ open and close */

static int read_rows(struct upmu_timeline *t, const char *dir)
{
    struct upmu_overview *second = NULL;
    struct timeline_window window;
    const struct timeline_hooks hooks = rows_hooks(t);
    const struct timeline_names names = {t->opts.debug_dir, t->opts.stacks};
    int rc = timeline_read(&t->facts, dir, &names, NULL);
    if (rc == 0)
        rc = timeline_window(t->facts, t->opts.from_ns, t->opts.to_ns, &window);
    if (rc == 0)
        rc = rows_filter(t);
    if (rc != 0)
        return rc;
    t->begin_ns = t->facts->pass.begin_ns;
    t->from_ns = window.from_ns;
    t->to_ns = window.to_ns;
    t->opts.rows = t->opts.rows != 0 ? t->opts.rows : SIZE_MAX;
    rc = timeline_read(&second, dir, &names, &hooks);
    if (rc == 0)
        rows_finish(t);
    upmu_overview_close(second);
    return rc;
}

static int rows_check_options(const struct upmu_timeline_opts *o)
{
    if (o->kinds >> ROW_KINDS != 0)
        return upmu_fail(UPMU_E_INVAL, "upmu_timeline_open: opts->kinds is 0x%x, but there are %d kinds of rows",
                         o->kinds, ROW_KINDS);
    if (o->to_ns != 0 && o->to_ns < o->from_ns)
        return upmu_fail(UPMU_E_INVAL, "upmu_timeline_open: opts->to_ns is before opts->from_ns");
    return 0;
}

int upmu_timeline_open(struct upmu_timeline **timeline, const char *dir, const struct upmu_timeline_opts *opts)
{
    if (!timeline || !dir)
        return ARGUMENT_NULL(timeline, dir);
    *timeline = NULL;
    struct upmu_timeline *t = calloc(1, sizeof *t);
    if (!t)
        return rows_no_memory();
    int rc = OPTS_TAKE(t->opts, opts, UPMU_TIMELINE_OPTS_SIZE_V1);
    if (rc == 0)
        rc = stacks_check(__func__, t->opts.stacks);
    if (rc == 0)
        rc = rows_check_options(&t->opts);
    if (rc == 0)
        rc = read_rows(t, dir);
    if (rc == 0)
        *timeline = t;
    else
        upmu_timeline_close(t);
    return rc;
}

void upmu_timeline_close(struct upmu_timeline *timeline)
{
    if (!timeline)
        return;
    for (size_t i = 0; i < timeline->n_rows; i++) {
        free(timeline->rows[i].text);
        free(timeline->rows[i].counts);
    }
    for (size_t i = 0; i < timeline->n_open; i++)
        free(timeline->open[i].rows);
    free(timeline->rows);
    free(timeline->open);
    free(timeline->threads);
    free(timeline->objects);
    upmu_overview_close(timeline->facts);
    free(timeline);
}

struct upmu_overview *upmu_timeline_overview(struct upmu_timeline *timeline)
{
    return timeline ? timeline->facts : NULL;
}

/* ------------------------------------------------------------------------------------------------------- facts */

int upmu_timeline_totals_read(const struct upmu_timeline *timeline, struct upmu_timeline_totals *out)
{
    if (!timeline || !out)
        return ARGUMENT_NULL(timeline, out);
    const struct upmu_timeline *t = timeline;
    const struct upmu_timeline_totals ours = {
        .rows = t->numbered,
        .matched = t->matched,
        .skipped = t->matched < t->opts.skip ? t->matched : t->opts.skip,
        .shown = t->n_rows,
    };
    return OPTS_GIVE(out, ours, UPMU_TIMELINE_TOTALS_SIZE_V1);
}

static uint32_t rows_public_index(const uint32_t *ranks, size_t n, uint32_t number)
{
    return number < n ? ranks[number] : UPMU_NO_INDEX;
}

int upmu_timeline_row_at(const struct upmu_timeline *timeline, size_t i, struct upmu_timeline_row *out)
{
    if (!timeline || !out)
        return ARGUMENT_NULL(timeline, out);
    if (i >= timeline->n_rows)
        return UPMU_E_END;
    const struct overview *o = &timeline->facts->pass;
    const struct row *r = &timeline->rows[i];
    const char *region = r->region < o->n_regions ? o->regions[r->region].name : "";
    const struct upmu_timeline_row ours = {
        .number = r->number,
        .kind = r->kind,
        .event = r->event,
        .thread = rows_public_index(o->thread_rank, o->n_threads, r->thread),
        .process = r->thread < o->n_threads ? o->threads[r->thread].process : 0,
        .object = rows_public_index(o->object_rank, o->n_objects, r->object),
        .holder = rows_public_index(o->thread_rank, o->n_threads, r->holder),
        .begin_ns = r->begin_ns,
        .end_ns = r->end_ns,
        .ended = r->ended,
        .wait_kind = r->wait_kind,
        .result = r->result,
        .flags = r->flags,
        .text = r->text ? r->text : region,
        .count = r->count,
        .peer = r->peer,
        .site = r->site,
        .stack = r->stack,
        .holder_site = call_site_outside(o, r->object, r->holder_site),
        .holder_since = r->holder_since,
        .n_counts = r->n_counts,
        .counts = r->counts,
    };
    return OPTS_GIVE(out, ours, UPMU_TIMELINE_ROW_SIZE_V1);
}

size_t upmu_timeline_row_count(const struct upmu_timeline *timeline)
{
    return timeline ? timeline->n_rows : 0;
}
