/* SPDX-License-Identifier: MIT */
/* Locks and other synchronization objects as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ui/memory.h"
#include "report.h"
#include "report_cells.h"
#include "samples/holders.h"
#include "ui/table.h"

/* " held 601 ms (3, max 300 ms)", and of the holds of which only a part is recorded the least that they lasted. */
static void object_text_held(struct output *out, const char *between, uint64_t n, uint64_t ns, uint64_t max_ns,
                             uint64_t partial, uint64_t partial_ns)
{
    char *sum = report_duration(ns), *max = report_duration(max_ns), *least = report_duration(partial_ns);
    if (n)
        fprintf(out->file, "%s held %s (%" PRIu64 ", max %s)", between, sum, n, max);
    if (partial)
        fprintf(out->file, "%s held >= %s (%" PRIu64 " in part)", n ? ";" : between, least, partial);
    free(sum);
    free(max);
    free(least);
}

static void object_text_site(struct output *out, const struct report *r, const struct upmu_overview_object *o,
                             const struct upmu_overview_call_site *s)
{
    char *location = report_location(r, o->process, s->address);
    char *waited = wait_total_text(&s->waits);
    char *blamed = report_duration(s->blocked_ns);

    fputs("      ", out->file);
    output_name(out, location, out->width / 2); /* numbers follow */
    fputc(':', out->file);
    if (s->waits.count + s->waits.unfinished)
        fprintf(out->file, " waited %s (%" PRIu64 ")", waited, s->waits.count + s->waits.unfinished);
    if (s->blocked)
        fprintf(out->file, "%s acquired here, blocked others %s (%" PRIu64 ")", s->waits.count ? ";" : "", blamed,
                s->blocked);
    bool bare = s->waits.count + s->waits.unfinished + s->blocked == 0, counted = bare && s->acquisitions > 0;
    if (counted)
        fprintf(out->file, " %" PRIu64 " recorded acquisition%s", s->acquisitions, s->acquisitions == 1 ? "" : "s");
    object_text_held(out, bare && !counted ? "" : ";", s->holds, s->hold_ns, s->hold_max_ns, s->partial_holds,
                     s->partial_ns);
    fputc('\n', out->file);
    free(location);
    free(waited);
    free(blamed);
}

static void object_text_user(struct output *out, const struct upmu_overview_object_thread *u)
{
    char *waited = wait_total_text(&u->waits);
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
    object_text_held(out, "", u->holds, u->hold_ns, u->hold_max_ns, u->partial_holds, u->partial_ns);
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
            l->unfinished || l->before ? least : "", ns);
    if (l->before)
        fputs(", since before the recording", out->file);
    free(waiter);
    free(ns);
    if (l->holder != 0) {
        char *location = report_location(r, o->process, l->holder_site);
        char *holder = report_thread_text(r, o->process, l->holder);
        fputs("; held by ", out->file);
        output_clean(out->file, holder);
        fprintf(out->file, "%s, acquired at ", l->holder_shared ? " for reading" : "");
        output_name(out, location, out->width / 2); /* durations follow */
        free(holder);
        free(location);
        if (l->holder_since != 0 && l->holder_since <= l->begin_ns) {
            char *before = report_duration(l->begin_ns - l->holder_since);
            fprintf(out->file, " %s before", before);
            free(before);
            if (l->hold_ns) {
                char *held = report_duration(l->hold_ns);
                fprintf(out->file, ", for %s", held);
                free(held);
            }
        } else {
            fputs(", at least since the start of the wait", out->file);
        }
    }
    fputc('\n', out->file);
    report_text_stack(out, r, o->process, l->waiter_stack, "waited at:");
    report_text_stack(out, r, o->process, l->holder_stack, "held since:");
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
        {"waits since before the recording", o->before_waits},
        {"acquired before the recording", o->before_holds},
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

/* Whether its address is shown beside its name. */
static bool object_has_address(const struct upmu_overview_object *o)
{
    return o->name[0] && o->type != UPMU_OBJECT_THREAD && o->type != UPMU_OBJECT_CALL;
}

static void text_object(struct output *out, const struct report *r, size_t i, const struct upmu_overview_object *o)
{
    struct upmu_overview_call_site site = {.size = sizeof site};
    struct upmu_overview_object_thread use = {.size = sizeof use};
    char *name = report_object_name(r, o);

    fprintf(out->file, "\n  %s", output_style(out, STYLE_TITLE));
    output_clean(out->file, name);
    fprintf(out->file, "%s, %s", output_plain(out), report_type_name(o->type));
    report_text_process(out, r, " of process ", o->process, "");
    if (object_has_address(o))
        fprintf(out->file, ", at 0x%" PRIx64, o->address);
    if (r->groups[i])
        fprintf(out->file, ", the most waited for of %zu", r->groups[i]->n);
    free(name);
    if (o->init_site && o->named_by != UPMU_IDENTITY_CREATED) {
        char *location = report_line(r, o->process, o->init_site, o->init_stack);
        fputs(", created at ", out->file);
        output_clean(out->file, location);
        free(location);
    }
    fputc('\n', out->file);
    object_text_events(out, o);
    object_text_holds(out, o->holds_complete ? "holds" : "recorded holds", o->holds, o->hold_ns, o->hold_max_ns);
    object_text_holds(out, "holds recorded in part, at least", o->partial_holds, o->partial_ns, o->partial_max_ns);
    object_text_holds(out, "sampled uncontended holds", o->samples, o->sample_ns, o->sample_max_ns);
    char *executed = samples_holders_text(r->holders, o);
    if (executed) {
        fputs("    executed by holders while others waited: ", out->file);
        output_clean(out->file, executed);
        fputc('\n', out->file);
    }
    free(executed);
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
    char *ns = report_duration(o->hold_ns), *least = report_duration(o->hold_ns + o->partial_ns);
    uint64_t n = o->holds + o->partial_holds;
    char *text = o->holds_complete ? memory_copy(ns)
                                   : memory_format("%s%s in %" PRIu64 " recorded", o->partial_holds ? ">= " : "",
                                                   o->partial_holds ? least : ns, n);
    free(ns);
    free(least);
    return text;
}

/* Tables of objects: those that have holders, other objects of synchronization, and what calls wait for. */
enum object_table { OBJECTS_LOCKS, OBJECTS_SIGNALED, OBJECTS_CALLS };

static enum object_table object_table_of(const struct upmu_overview_object *o)
{
    bool lock = o->type == UPMU_OBJECT_MUTEX || o->type == UPMU_OBJECT_CUSTOM || o->type == UPMU_OBJECT_RWLOCK ||
                o->type == UPMU_OBJECT_SPIN || o->type == UPMU_OBJECT_ONCE || o->type == UPMU_OBJECT_QMUTEX ||
                o->type == UPMU_OBJECT_QRWLOCK || o->type == UPMU_OBJECT_ABSL_MUTEX ||
                (o->type == UPMU_OBJECT_SEM && o->holds + o->partial_holds > 0);
    return lock ? OBJECTS_LOCKS : o->type == UPMU_OBJECT_CALL ? OBJECTS_CALLS : OBJECTS_SIGNALED;
}

/* Waits, those included that ended without the object. Counts of acquisitions are exact where events are lost. */
static uint64_t object_times_waited(const struct upmu_overview_object *o)
{
    uint64_t counted = o->acquisitions > 0 && o->contended != UPMU_NO_VALUE ? o->contended + o->failed : 0;
    return (counted > o->waits.count ? counted : o->waits.count) + o->waits.unfinished;
}

/* Of waits while only counts were recorded there is no duration: with such ones the total is a lower bound. */
static bool object_has_counted_waits(const struct report *r, const struct upmu_overview_object *o)
{
    struct upmu_overview_recorded of = {.size = sizeof of};
    bool not_all = o->contended == UPMU_NO_VALUE || object_times_waited(o) > o->waits.count + o->waits.unfinished;
    return o->waits.count > 0 && not_all && upmu_overview_recorded_at(r->overview, o->process, &of) == 0 &&
           of.counted > 0;
}

/* A row of an object, or of a group of them. */
static void object_row(struct table *t, const struct report *r, const struct upmu_overview_object *o,
                       const struct report_group *g)
{
    bool taken = o->acquisitions > 0;
    bool calls = g && o->type == UPMU_OBJECT_CALL; /* of several processes */
    cell_free(t, STYLE_PLAIN,
              g ? memory_format("%s (%zu)", calls ? o->name : o->group, g->n) : report_object_name(r, o));
    table_cell(t, STYLE_PLAIN, "%s", report_type_name(o->type));
    cell_process(t, r, o->process, !calls);
    if (taken)
        cell_count(t, o->acquisitions, o->counts_exact);
    else
        table_cell(t, STYLE_PLAIN, "%s", "");
    bool clear = o->contended != UPMU_NO_VALUE;
    if (!clear && object_times_waited(o) == 0)
        table_cell(t, STYLE_PLAIN, "%s", "");
    else
        cell_count(t, object_times_waited(o), !taken || (clear && o->counts_exact));
    cell_total(t, &o->waits, object_has_counted_waits(r, o));
    cell_duration(t, o->waits.count ? o->waits.total_ns / o->waits.count : 0);
    cell_duration(t, o->waits.max_ns);
    if (o->holds + o->partial_holds == 0)
        table_cell(t, STYLE_PLAIN, "%s", "");
    else
        cell_free(t, o->holds_complete ? STYLE_PLAIN : STYLE_WARNING, object_hold_text(o));
    if (object_has_address(o) && !g)
        table_cell(t, STYLE_PLAIN, "0x%" PRIx64, o->address);
    else
        table_cell(t, STYLE_PLAIN, "%s", "");
}

static bool object_was_waited_for(const struct upmu_overview_object *o)
{
    return o->waits.count + o->waits.unfinished > 0;
}

/* The first objects of a table: as the table, or in detail those with waits. @return the number of all. */
static size_t each_object(struct output *out, const struct report *r, enum object_table which, struct table *t)
{
    struct upmu_overview_object o = {.size = sizeof o};
    size_t all = 0;
    for (size_t i = 0; i < r->n_order; i++) {
        if (upmu_overview_object_at(r->overview, r->order[i], &o) != 0 || object_table_of(&o) != which ||
            all++ >= r->top)
            continue;
        const struct report_group *g = r->groups[r->order[i]];
        if (t)
            object_row(t, r, g ? &g->sum : &o, g);
        else if (object_was_waited_for(&o))
            text_object(out, r, r->order[i], &o);
    }
    return all;
}

static void text_objects(struct output *out, const struct report *r, enum object_table which)
{
    static const char *const titles[] = {
        [OBJECTS_LOCKS] = "Locks",
        [OBJECTS_SIGNALED] = "Condition variables, semaphores, barriers, futexes and joined threads",
        [OBJECTS_CALLS] = "Calls that waited",
    };
    static const struct table_column columns[] = {
        {"OBJECT", TABLE_NAME}, {"KIND", false}, {"PROCESS", TABLE_NAME}, {"ACQUIRED", true}, {"WAITED", true},
        {"TOTAL", true},        {"MEAN", true},  {"MAX", true},           {"HELD", true},     {"ADDRESS", false},
    };
    struct table t;
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    size_t all = each_object(out, r, which, &t);
    if (all > 0) {
        char *by = memory_format("%s, by %s", titles[which], r->order_by);
        report_title(out, by);
        free(by);
    }
    table_end(&t, out, 2);
    report_more(out, all, all < r->top ? all : r->top);
    (void)each_object(out, r, which, NULL);
}

void report_text_objects(struct output *out, const struct report *r)
{
    text_objects(out, r, OBJECTS_LOCKS);
    text_objects(out, r, OBJECTS_SIGNALED);
    text_objects(out, r, OBJECTS_CALLS);
}
