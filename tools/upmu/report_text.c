/* SPDX-License-Identifier: MIT */
/* upmu report for people. Room: tools/upmu. Before it: the overview; after it: table and output. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "report.h"
#include "table.h"

static void cell_free(struct table *t, enum output_style style, char *text)
{
    table_cell(t, style, "%s", text);
    free(text);
}

static void cell_duration(struct table *t, uint64_t ns)
{
    cell_free(t, STYLE_PLAIN, ns ? report_duration(ns) : memory_copy(""));
}

/* A wait that had not ended when the recording did lasted at least that long. */
static char *total_in_words(const struct upmu_wait_sum *w)
{
    char *ns = report_duration(w->total_ns + w->unfinished_ns);
    if (w->unfinished == 0)
        return ns;
    char *text = memory_format(">= %s", ns);
    free(ns);
    return text;
}

static void cell_total(struct table *t, const struct upmu_wait_sum *w)
{
    bool any = w->count + w->unfinished > 0;
    cell_free(t, w->unfinished ? STYLE_WARNING : STYLE_PLAIN, any ? total_in_words(w) : memory_copy(""));
}

static void cell_count(struct table *t, uint64_t n, bool exact)
{
    table_cell(t, exact ? STYLE_PLAIN : STYLE_WARNING, "%s%" PRIu64, exact ? "" : ">= ", n);
}

static void title(struct output *out, const char *text)
{
    fprintf(out->file, "\n%s%s%s\n", output_style(out, STYLE_TITLE), text, output_plain(out));
}

static void more(struct output *out, size_t all, size_t shown)
{
    if (all > shown)
        fprintf(out->file, "  ... and %zu more (--top N shows N of each)\n", all - shown);
}

/* ------------------------------------------------------------------------------------------- how it was recorded */

static void text_clock_error(struct output *out, const struct upmu_trace_process *p)
{
    if (p->clock_error_ns == UPMU_NO_VALUE)
        fputs(", its error not recorded", out->file);
    else
        fprintf(out->file, " within %" PRIu64 " ns", p->clock_error_ns);
}

static void text_process(struct output *out, const struct upmu_trace_process *p)
{
    fprintf(out->file, "  process %ld on ", (long)p->pid);
    output_clean(out->file, p->host);
    fputs(", kernel ", out->file);
    output_clean(out->file, p->kernel);
    fputs(": ", out->file);
    output_clean(out->file, p->command);
    fprintf(out->file,
            "\n    %" PRIu64 " records (events, stacks, modules, counts), %s%" PRIu64 " lost%s, clock %.6g MHz",
            p->events, p->lost ? output_style(out, STYLE_BAD) : "", p->lost, p->lost ? output_plain(out) : "",
            (double)p->clock_hz / 1e6);
    text_clock_error(out, p);
    if (!p->complete)
        fprintf(out->file, "%s, without a proper end (killed, or still running)%s", output_style(out, STYLE_WARNING),
                output_plain(out));
    fputc('\n', out->file);
    if (p->overwritten)
        fprintf(out->file,
                "    %s%" PRIu64 " older events were overwritten: the recording is a ring, and begins with a gap%s\n",
                output_style(out, STYLE_WARNING), p->overwritten, output_plain(out));
}

/* Their time is inside the waits and regions. */
static void text_own_cost(struct output *out, const struct upmu_overview_totals *t)
{
    if (t->own_cost_ns == UPMU_NO_VALUE) {
        fputs("  own cost: not recorded\n", out->file);
        return;
    }
    char *cost = report_duration(t->own_cost_ns);
    fprintf(out->file,
            "  own cost: about %s for the events about locks and threads, %.2g %% of the threads' lifetime\n", cost,
            t->lifetime_ns ? 100.0 * (double)t->own_cost_ns / (double)t->lifetime_ns : 0.0);
    free(cost);
}

static void text_conditions(struct output *out, const struct report *r)
{
    const struct upmu_overview_totals *t = &r->totals;
    struct upmu_trace_process p = {.size = sizeof p};
    char *span = report_duration(t->end_ns - t->begin_ns);

    fprintf(out->file, "%sReport of ", output_style(out, STYLE_TITLE));
    output_clean(out->file, r->dir);
    fprintf(out->file, "%s: %" PRIu64 " events in %s, %zu %s, %zu %s\n", output_plain(out), t->events, span,
            t->n_processes, t->n_processes == 1 ? "process" : "processes", t->n_threads,
            t->n_threads == 1 ? "thread" : "threads");
    free(span);
    for (size_t i = 0; upmu_overview_process(r->overview, i, &p) == 0; i++)
        text_process(out, &p);
    text_own_cost(out, t);
    if (t->unmatched || t->unknown || t->unfinished)
        fprintf(out->file,
                "  %" PRIu64 " begins or ends without their partner (not counted), %" PRIu64
                " waits unfinished at the end, %" PRIu64 " events of unknown kinds\n",
                t->unmatched, t->unfinished, t->unknown);
    for (size_t i = 0; i < t->n_damages; i++) {
        fprintf(out->file, "  %sdamaged:%s ", output_style(out, STYLE_BAD), output_plain(out));
        output_clean(out->file, upmu_overview_damage(r->overview, i));
        fputc('\n', out->file);
    }
}

/* ----------------------------------------------------------------------------------------------------- threads */

static const char *thread_name(const struct upmu_overview_thread *t)
{
    return t->name[0] ? t->name : t->pid == t->tid ? "main" : "";
}

static void cell_switches(struct table *table, const struct upmu_value *v)
{
    bool number = v->standing == UPMU_EXACT || v->standing == UPMU_SCALED;
    if (number)
        table_cell(table, STYLE_PLAIN, "%" PRIu64, v->value);
    else if (v->cause != 0)
        table_cell(table, STYLE_WARNING, "%s", upmu_standing_name(v->standing));
    else
        table_cell(table, STYLE_PLAIN, "%s", "");
}

static char *waits_in_words(const struct upmu_overview_thread *t)
{
    char *text = memory_copy("");
    for (int kind = 0; kind < UPMU_WAIT_KINDS; kind++) {
        const struct upmu_wait_sum *w = &t->waits[kind];
        if (w->count + w->unfinished == 0)
            continue;
        char *ns = total_in_words(w);
        char *longer = memory_format("%s%s%s %s (%" PRIu64 "%s)", text, text[0] ? ", " : "", upmu_wait_kind_name(kind),
                                     ns, w->count + w->unfinished, w->unfinished ? ", the last unfinished" : "");
        free(ns);
        free(text);
        text = longer;
    }
    return text;
}

static void text_threads(struct output *out, const struct report *r)
{
    static const struct table_column columns[] = {
        {"THREAD", true},
        {"NAME", false},
        {"LIFETIME", true},
        {"BLOCKED", true},
        {"SHARE", true},
        {"SWITCHES", true},
        {"WAITED FOR (TIMES)", false},
    };
    struct upmu_overview_thread t = {.size = sizeof t};
    struct table table;
    size_t i = 0;

    title(out, "Threads");
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    for (; i < r->top && upmu_overview_thread(r->overview, i, &t) == 0; i++) {
        uint64_t life = t.end_ns - t.begin_ns;
        table_cell(&table, STYLE_PLAIN, "%ld", (long)t.tid);
        table_cell(&table, STYLE_PLAIN, "%s", thread_name(&t));
        cell_free(&table, STYLE_PLAIN, report_duration(life));
        cell_duration(&table, t.blocked_ns);
        if (life > 0 && t.blocked_ns > 0)
            table_cell(&table, STYLE_PLAIN, "%.1f %%", 100.0 * (double)t.blocked_ns / (double)life);
        else
            table_cell(&table, STYLE_PLAIN, "%s", "");
        cell_switches(&table, &t.switches);
        cell_free(&table, STYLE_PLAIN, waits_in_words(&t));
    }
    table_end(&table, out, 2);
    more(out, r->totals.n_threads, i);
}

/* The first threads of process `process` that have counters of their whole life, a row each. */
static void thread_counts(struct output *out, const struct report *r, uint32_t process)
{
    struct table_column columns[TABLE_COLUMNS_MAX] = {{"THREAD", true}, {"NAME", false}};
    struct upmu_overview_thread t = {.size = sizeof t};
    struct table table;
    const char *name;
    size_t n = 2, all = 0;

    for (; n < TABLE_COLUMNS_MAX && (name = upmu_overview_counter(r->overview, process, n - 2)) != NULL; n++)
        columns[n] = (struct table_column){name, true};
    table_begin(&table, columns, n);
    for (size_t i = 0; upmu_overview_thread(r->overview, i, &t) == 0; i++) {
        if (t.process != process || t.n_counts < n - 2 || all++ >= r->top)
            continue;
        table_cell(&table, STYLE_PLAIN, "%ld", (long)t.tid);
        table_cell(&table, STYLE_PLAIN, "%s", thread_name(&t));
        for (size_t k = 2; k < n; k++)
            cell_free(&table, STYLE_PLAIN, report_value(columns[k].title, &t.counts[k - 2].sum));
    }
    if (all > 0 && n > 2)
        title(out, "Counters of threads, over their lives");
    table_end(&table, out, 2);
    more(out, all, all < r->top ? all : r->top);
}

/* ----------------------------------------------------------------------------------------------------- objects */

static void text_site(struct output *out, const struct report *r, const struct upmu_overview_object *o,
                      const struct upmu_overview_site *s)
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
        fprintf(out->file, "%s taken here made others wait %s (%" PRIu64 ")", s->waits.count ? ";" : "", blamed,
                s->blocked);
    if (s->waits.count + s->waits.unfinished + s->blocked == 0)
        fprintf(out->file, " taken %" PRIu64 " times on record", s->taken);
    fputc('\n', out->file);
    free(place);
    free(waited);
    free(blamed);
}

static void text_user(struct output *out, const struct upmu_overview_use *u)
{
    char *waited = total_in_words(&u->waits);
    char *blamed = report_duration(u->blocked_ns);
    fprintf(out->file, "      thread %ld ", (long)u->tid);
    output_clean(out->file, u->thread_name);
    if (u->acquisitions)
        fprintf(out->file, " acquired %s%" PRIu64, u->counts_exact ? "" : ">= ", u->acquisitions);
    if (u->waits.count + u->waits.unfinished)
        fprintf(out->file, " waited %s (%" PRIu64 ")", waited, u->waits.count + u->waits.unfinished);
    if (u->last)
        fprintf(out->file, " came last %" PRIu64 " times", u->last);
    if (u->blocked)
        fprintf(out->file, " made others wait %s (%" PRIu64 ")", blamed, u->blocked);
    fputc('\n', out->file);
    free(waited);
    free(blamed);
}

/* The frames of a stack, inlined ones included. */
static void text_stack(struct output *out, const struct report *r, uint32_t process, uint32_t id, const char *what)
{
    struct upmu_trace_stack stack = {.size = sizeof stack};
    struct upmu_symbol s = {.size = sizeof s};
    if (id == 0 || upmu_overview_stack(r->overview, process, id, &stack) != 0)
        return;
    fprintf(out->file, "      %s\n", what);
    for (uint32_t i = 0; i < stack.n_frames; i++) {
        for (size_t depth = 0; upmu_overview_symbol(r->overview, process, stack.frames[i], depth, &s) == 0; depth++) {
            fputs("        ", out->file);
            if (s.function)
                output_clean(out->file, s.function);
            else
                fprintf(out->file, "%s+0x%" PRIx64, s.module ? report_base_name(s.module) : "", s.offset);
            if (s.file)
                fprintf(out->file, " %s:%" PRIu32, report_base_name(s.file), s.line);
            fputs(s.inlined ? " (inlined)\n" : "\n", out->file);
        }
    }
    if (stack.truncated)
        fputs("        ... and frames that were not kept\n", out->file);
}

static void text_longest(struct output *out, const struct report *r, const struct upmu_overview_object *o)
{
    const struct upmu_longest_wait *l = &o->longest;
    char *ns = report_duration(l->ns);
    fprintf(out->file, "    longest: thread %ld %s %s", (long)l->waiter,
            l->unfinished ? "still waited at the end, for at least" : "waited", ns);
    free(ns);
    if (l->holder != 0) {
        char *place = report_place(r, o->process, l->holder_site);
        fprintf(out->file, "; thread %ld held it%s, taken at ", (long)l->holder,
                l->holder_shared ? " as a reader" : "");
        output_clean(out->file, place);
        free(place);
        if (l->holder_since != 0 && l->holder_since <= l->begin_ns) {
            char *before = report_duration(l->begin_ns - l->holder_since);
            fprintf(out->file, " %s before", before);
            free(before);
        } else {
            fputs(", at least since the wait began", out->file);
        }
    }
    fputc('\n', out->file);
    text_stack(out, r, o->process, l->waiter_stack, "the waiter:");
    text_stack(out, r, o->process, l->release_stack, "given back at:");
}

enum { DETAIL_ROWS = 4 };

static void text_events(struct output *out, const struct upmu_overview_object *o)
{
    const struct {
        const char *what;
        uint64_t n;
    } counts[] = {
        {"signalled", o->signals},
        {"broadcast", o->broadcasts},
        {"waits that failed", o->failed},
        {"released by who did not hold it", o->misuses},
        {"tries that found it taken", o->tries_failed},
        {"rounds", o->rounds},
        {"acquired as a reader", o->shared},
        {"waits as a reader", o->shared_waits.count + o->shared_waits.unfinished},
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

static void text_holds(struct output *out, const char *what, uint64_t n, uint64_t ns, uint64_t max_ns)
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
    struct upmu_overview_site site = {.size = sizeof site};
    struct upmu_overview_use use = {.size = sizeof use};
    char *name = report_object_name(o);

    fprintf(out->file, "\n  %s", output_style(out, STYLE_TITLE));
    output_clean(out->file, name);
    fprintf(out->file, "%s, %s of process %ld", output_plain(out), report_type_name(o->type), (long)o->pid);
    free(name);
    if (o->init_site) {
        char *place = report_place(r, o->process, o->init_site);
        fputs(", made at ", out->file);
        output_clean(out->file, place);
        free(place);
    }
    fputc('\n', out->file);
    text_events(out, o);
    text_holds(out, o->holds_complete ? "holds" : "known holds", o->holds, o->hold_ns, o->hold_max_ns);
    text_holds(out, "holds sampled without contention", o->samples, o->sample_ns, o->sample_max_ns);
    fputs("    places\n", out->file);
    for (size_t k = 0; k < DETAIL_ROWS && upmu_overview_site(r->overview, i, k, &site) == 0; k++)
        text_site(out, r, o, &site);
    fputs("    threads\n", out->file);
    for (size_t k = 0; k < DETAIL_ROWS && upmu_overview_use(r->overview, i, k, &use) == 0; k++)
        text_user(out, &use);
    if (o->longest.waiter != 0)
        text_longest(out, r, o);
}

/* A sum of holds says of how many it is, if those are not all. */
static char *hold_in_words(const struct upmu_overview_object *o)
{
    char *ns = report_duration(o->hold_ns);
    if (o->holds_complete)
        return ns;
    char *text = memory_format("%s in %" PRIu64 " known", ns, o->holds);
    free(ns);
    return text;
}

/* Locks are held by somebody; what else is waited for is not. */
static bool is_lock(const struct upmu_overview_object *o)
{
    return o->type == UPMU_OBJECT_MUTEX || o->type == UPMU_OBJECT_CUSTOM || o->type == UPMU_OBJECT_RWLOCK ||
           o->type == UPMU_OBJECT_SPIN || o->type == UPMU_OBJECT_ONCE;
}

/* The next object from `*i` on that is a lock, or is none. */
static bool next_object(const struct report *r, bool locks, size_t *i, struct upmu_overview_object *o)
{
    for (; upmu_overview_object(r->overview, *i, o) == 0; (*i)++)
        if (is_lock(o) == locks)
            return true;
    return false;
}

static void object_row(struct table *t, const struct upmu_overview_object *o)
{
    bool taken = o->acquisitions > 0;
    cell_free(t, STYLE_PLAIN, report_object_name(o));
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
        cell_free(t, o->holds_complete ? STYLE_PLAIN : STYLE_WARNING, hold_in_words(o));
}

/* One table, and then each of its objects that was waited for. */
static void text_objects(struct output *out, const struct report *r, bool locks)
{
    static const struct table_column columns[] = {
        {"OBJECT", false}, {"KIND", false}, {"ACQUIRED", true}, {"WAITED", true},
        {"TOTAL", true},   {"MEAN", true},  {"MAX", true},      {"HELD", true},
    };
    struct upmu_overview_object o = {.size = sizeof o};
    struct table t;
    size_t n = 0, all = 0;

    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; next_object(r, locks, &i, &o); i++) {
        if (all++ < r->top) {
            object_row(&t, &o);
            n++;
        }
    }
    if (n > 0)
        title(out, locks ? "Locks, by total wait"
                         : "Condition variables, semaphores, barriers, futexes and joined threads, by total wait");
    table_end(&t, out, 2);
    more(out, all, n);
    for (size_t i = 0; n > 0 && next_object(r, locks, &i, &o); i++, n--)
        if (o.waits.count + o.waits.unfinished > 0)
            text_object(out, r, i, &o);
}

/* ----------------------------------------------------------------------------------------------------- regions */

static void metric_row(void *arg, const struct upmu_metric_info *info, const struct upmu_metric_value *value)
{
    struct table *t = arg;
    table_cell(t, STYLE_PLAIN, fabs(value->value) < 1000 ? "%.4g" : "%.0f", value->value);
    table_cell(t, STYLE_PLAIN, "%s%s%s", info->name, info->unit[0] ? ", " : "", info->unit);
    table_cell(t, value->standing == UPMU_EXACT ? STYLE_PLAIN : STYLE_WARNING, "%s",
               upmu_standing_name(value->standing));
}

static void text_counts(struct output *out, const struct report *r, const struct upmu_overview_region *region)
{
    static const struct table_column columns[] = {{"VALUE", true}, {"COUNTER OR METRIC", false}, {"STANDING", false}};
    struct table t;

    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < region->n_counts; i++) {
        const struct upmu_value *v = &region->counts[i].sum;
        const char *name = upmu_overview_counter(r->overview, region->process, i);
        bool number = v->standing == UPMU_EXACT || v->standing == UPMU_SCALED;
        if (number)
            cell_free(&t, STYLE_PLAIN, report_value(name, v));
        else
            table_cell(&t, STYLE_WARNING, "-");
        table_cell(&t, STYLE_PLAIN, "%s", name ? name : "?");
        table_cell(&t, v->standing == UPMU_EXACT ? STYLE_PLAIN : STYLE_WARNING, "%s%s%s",
                   upmu_standing_name(v->standing), v->cause ? ": " : "", v->cause ? upmu_strerror(v->cause) : "");
    }
    report_metrics(r, region, metric_row, &t);
    table_end(&t, out, 6);
}

static void text_regions(struct output *out, const struct report *r)
{
    struct upmu_overview_region region = {.size = sizeof region};
    size_t i = 0;
    if (r->totals.n_regions == 0)
        return;
    title(out, "Regions, by wall time");
    for (; i < r->top && upmu_overview_region(r->overview, i, &region) == 0; i++) {
        char *wall = report_duration(region.wall_ns), *max = report_duration(region.max_ns);
        char *mean = report_duration(region.count ? region.wall_ns / region.count : 0);
        fputs("  ", out->file);
        output_clean(out->file, region.name);
        fprintf(out->file, " (process %ld): %" PRIu64 " times, %s, mean %s, max %s", (long)region.pid, region.count,
                wall, mean, max);
        if (region.unfinished)
            fprintf(out->file, ", %" PRIu64 " not ended", region.unfinished);
        fputc('\n', out->file);
        text_counts(out, r, &region);
        free(wall);
        free(max);
        free(mean);
    }
    more(out, r->totals.n_regions, i);
}

void report_write_text(struct output *out, const struct report *r)
{
    text_conditions(out, r);
    text_threads(out, r);
    for (uint32_t process = 0; process < r->totals.n_processes; process++)
        thread_counts(out, r, process);
    text_objects(out, r, true);
    text_objects(out, r, false);
    text_regions(out, r);
}
