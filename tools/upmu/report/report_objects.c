/* SPDX-License-Identifier: MIT */
/* Locks and other synchronization objects as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ui/memory.h"
#include "report.h"
#include "report_cells.h"
#include "ui/table.h"

static void object_text_site(struct output *out, const struct report *r, const struct upmu_overview_object *o,
                             const struct upmu_overview_call_site *s)
{
    char *place = report_place(r, o->process, s->address);
    char *waited = total_in_words(&s->waits);
    char *blamed = report_duration(s->blocked_ns);

    fputs("      ", out->file);
    output_clean(out->file, place);
    fputc(':', out->file);
    if (s->waits.count + s->waits.unfinished)
        fprintf(out->file, " waited %s (%" PRIu64 ")", waited, s->waits.count + s->waits.unfinished);
    if (s->blocked)
        fprintf(out->file, "%s acquired here, blocked others %s (%" PRIu64 ")", s->waits.count ? ";" : "", blamed,
                s->blocked);
    if (s->waits.count + s->waits.unfinished + s->blocked == 0)
        fprintf(out->file, " %" PRIu64 " recorded acquisitions", s->acquisitions);
    fputc('\n', out->file);
    free(place);
    free(waited);
    free(blamed);
}

static void object_text_user(struct output *out, const struct upmu_overview_object_thread *u)
{
    char *waited = total_in_words(&u->waits);
    char *blamed = report_duration(u->blocked_ns);
    fprintf(out->file, u->thread_name[0] ? "      thread %ld (" : "      thread %ld", (long)u->tid);
    output_clean(out->file, u->thread_name);
    fputs(u->thread_name[0] ? ")" : "", out->file);
    if (u->acquisitions)
        fprintf(out->file, " acquired %s%" PRIu64, u->counts_exact ? "" : ">= ", u->acquisitions);
    if (u->waits.count + u->waits.unfinished)
        fprintf(out->file, " waited %s (%" PRIu64 ")", waited, u->waits.count + u->waits.unfinished);
    if (u->last_arrivals)
        fprintf(out->file, " arrived last %" PRIu64 " times", u->last_arrivals);
    if (u->blocked)
        fprintf(out->file, " blocked others %s (%" PRIu64 ")", blamed, u->blocked);
    fputc('\n', out->file);
    free(waited);
    free(blamed);
}

static void object_text_longest(struct output *out, const struct report *r, const struct upmu_overview_object *o)
{
    const struct upmu_longest_wait *l = &o->longest;
    char *ns = l->unfinished && l->ns == 0 ? memory_copy("an unknown time") : report_duration(l->ns);
    const char *least = l->ns == 0 ? "" : "at least ";
    char *waiter = report_thread_text(r, o->process, l->waiter);
    fputs("    longest: ", out->file);
    output_clean(out->file, waiter);
    fprintf(out->file, " %s%s%s", l->unfinished ? "still waiting at the end, for " : "waited ",
            l->unfinished ? least : "", ns);
    free(waiter);
    free(ns);
    if (l->holder != 0) {
        char *place = report_place(r, o->process, l->holder_site);
        char *holder = report_thread_text(r, o->process, l->holder);
        fputs("; held by ", out->file);
        output_clean(out->file, holder);
        fprintf(out->file, "%s, acquired at ", l->holder_shared ? " for reading" : "");
        output_clean(out->file, place);
        free(holder);
        free(place);
        if (l->holder_since != 0 && l->holder_since <= l->begin_ns) {
            char *before = report_duration(l->begin_ns - l->holder_since);
            fprintf(out->file, " %s before", before);
            free(before);
        } else {
            fputs(", at least since the start of the wait", out->file);
        }
    }
    fputc('\n', out->file);
    report_text_stack(out, r, o->process, l->waiter_stack, "waited at:");
    report_text_stack(out, r, o->process, l->release_stack, "released at:");
}

enum { DETAIL_ROWS = 4 };

static void object_text_events(struct output *out, const struct upmu_overview_object *o)
{
    const struct {
        const char *what;
        uint64_t n;
    } counts[] = {
        {"signaled", o->signals},
        {"broadcast", o->broadcasts},
        {"failed waits", o->failed},
        {"released by a thread that did not hold it", o->misuses},
        {"failed tries", o->tries_failed},
        {"rounds", o->rounds},
        {"acquired for reading", o->shared},
        {"waits for reading", o->shared_waits.count + o->shared_waits.unfinished},
    };
    const char *between = "    ";
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (counts[i].n == 0)
            continue;
        fprintf(out->file, "%s%s: %" PRIu64, between, counts[i].what, counts[i].n);
        between = ", ";
    }
    fputs(between[0] == ',' ? "\n" : "", out->file);
}

static void object_text_holds(struct output *out, const char *what, uint64_t n, uint64_t ns, uint64_t max_ns)
{
    if (n == 0)
        return;
    char *mean = report_duration(ns / n), *max = report_duration(max_ns);
    fprintf(out->file, "    %" PRIu64 " %s: mean %s, max %s\n", n, what, mean, max);
    free(mean);
    free(max);
}

static void text_object(struct output *out, const struct report *r, size_t i, const struct upmu_overview_object *o)
{
    struct upmu_overview_call_site site = {.size = sizeof site};
    struct upmu_overview_object_thread use = {.size = sizeof use};
    char *name = report_object_name(o);

    fprintf(out->file, "\n  %s", output_style(out, STYLE_TITLE));
    output_clean(out->file, name);
    fprintf(out->file, "%s, %s of process %ld", output_plain(out), report_type_name(o->type), (long)o->pid);
    if (o->name[0] && o->type != UPMU_OBJECT_THREAD)
        fprintf(out->file, ", at 0x%" PRIx64, o->address);
    if (r->groups[i])
        fprintf(out->file, ", the most waited for of %zu", r->groups[i]->n);
    free(name);
    if (o->init_site && o->named_by != UPMU_IDENTITY_CREATED) {
        char *place = report_line(r, o->process, o->init_site, o->init_stack);
        fputs(", created at ", out->file);
        output_clean(out->file, place);
        free(place);
    }
    fputc('\n', out->file);
    object_text_events(out, o);
    object_text_holds(out, o->holds_complete ? "holds" : "recorded holds", o->holds, o->hold_ns, o->hold_max_ns);
    object_text_holds(out, "sampled uncontended holds", o->samples, o->sample_ns, o->sample_max_ns);
    fputs("    call sites\n", out->file);
    for (size_t k = 0; k < DETAIL_ROWS && upmu_overview_call_site_at(r->overview, i, k, &site) == 0; k++)
        object_text_site(out, r, o, &site);
    fputs("    threads\n", out->file);
    for (size_t k = 0; k < DETAIL_ROWS && upmu_overview_object_thread_at(r->overview, i, k, &use) == 0; k++)
        object_text_user(out, &use);
    if (o->longest.waiter != 0)
        object_text_longest(out, r, o);
}

/* The sum of holds, with their number if not all were recorded. */
static char *object_hold_text(const struct upmu_overview_object *o)
{
    char *ns = report_duration(o->hold_ns);
    if (o->holds_complete)
        return ns;
    char *text = memory_format("%s in %" PRIu64 " recorded", ns, o->holds);
    free(ns);
    return text;
}

/* Whether objects of the type have holders. */
static bool object_is_lock(const struct upmu_overview_object *o)
{
    return o->type == UPMU_OBJECT_MUTEX || o->type == UPMU_OBJECT_CUSTOM || o->type == UPMU_OBJECT_RWLOCK ||
           o->type == UPMU_OBJECT_SPIN || o->type == UPMU_OBJECT_ONCE;
}

/* A row of an object, or of a group of them. */
static void object_row(struct table *t, const struct upmu_overview_object *o, const struct report_group *g)
{
    bool taken = o->acquisitions > 0;
    cell_free(t, STYLE_PLAIN, g ? memory_format("%s (%zu)", o->group, g->n) : report_object_name(o));
    table_cell(t, STYLE_PLAIN, "%s", report_type_name(o->type));
    if (taken)
        cell_count(t, o->acquisitions, o->counts_exact);
    else
        table_cell(t, STYLE_PLAIN, "%s", "");
    cell_count(t, taken ? o->contended : o->waits.count + o->waits.unfinished, !taken || o->counts_exact);
    cell_total(t, &o->waits);
    cell_duration(t, o->waits.count ? o->waits.total_ns / o->waits.count : 0);
    cell_duration(t, o->waits.max_ns);
    if (o->holds == 0)
        table_cell(t, STYLE_PLAIN, "%s", "");
    else
        cell_free(t, o->holds_complete ? STYLE_PLAIN : STYLE_WARNING, object_hold_text(o));
    if (o->name[0] && o->type != UPMU_OBJECT_THREAD && !g)
        table_cell(t, STYLE_PLAIN, "0x%" PRIx64, o->address);
    else
        table_cell(t, STYLE_PLAIN, "%s", "");
}

static bool object_was_waited_for(const struct upmu_overview_object *o)
{
    return o->waits.count + o->waits.unfinished > 0;
}

/* The first objects that are locks, or that are not: as a table, or in detail those with waits. @return the number of all. */
static size_t each_object(struct output *out, const struct report *r, bool locks, struct table *t)
{
    struct upmu_overview_object o = {.size = sizeof o};
    size_t all = 0;
    for (size_t i = 0; i < r->n_order; i++) {
        if (upmu_overview_object_at(r->overview, r->order[i], &o) != 0 || object_is_lock(&o) != locks ||
            all++ >= r->top)
            continue;
        const struct report_group *g = r->groups[r->order[i]];
        if (t)
            object_row(t, g ? &g->sum : &o, g);
        else if (object_was_waited_for(&o))
            text_object(out, r, r->order[i], &o);
    }
    return all;
}

static void text_objects(struct output *out, const struct report *r, bool locks)
{
    static const struct table_column columns[] = {
        {"OBJECT", false}, {"KIND", false}, {"ACQUIRED", true}, {"WAITED", true},   {"TOTAL", true},
        {"MEAN", true},    {"MAX", true},   {"HELD", true},     {"ADDRESS", false},
    };
    struct table t;
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    size_t all = each_object(out, r, locks, &t);
    if (all > 0) {
        char *by = memory_format(
            "%s, by %s", locks ? "Locks" : "Condition variables, semaphores, barriers, futexes and joined threads",
            r->order_by);
        report_title(out, by);
        free(by);
    }
    table_end(&t, out, 2);
    report_more(out, all, all < r->top ? all : r->top);
    (void)each_object(out, r, locks, NULL);
}

void report_text_objects(struct output *out, const struct report *r)
{
    text_objects(out, r, true);
    text_objects(out, r, false);
}
