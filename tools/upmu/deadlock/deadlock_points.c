/* SPDX-License-Identifier: MIT */
/* Deadlocks as source locations: gcc warnings, task lists of IDEs, SARIF. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "deadlock.h"
#include "ui/json.h"
#include "ui/memory.h"
#include "upmu/version.h"

/* A source location of a finding; `head` marks the first one. */
struct point {
    bool head;
    bool severe; /* a deadlock, or what could become one */
    const char *rule;
    const char *message;
    struct upmu_symbol symbol;
};

typedef void (*point_fn)(void *arg, const struct point *p);

struct points {
    const struct deadlock_report *report;
    point_fn write;
    void *arg;
};

static void point_write_one(const struct points *p, uint32_t process, uint64_t address, uint32_t stack,
                            struct point *point, char *message)
{
    point->message = message;
    if (deadlock_symbol(p->report, process, address, stack, &point->symbol))
        p->write(p->arg, point);
    free(message);
}

static uint64_t point_stack_top(const struct deadlock_report *r, uint32_t process, uint32_t id)
{
    struct upmu_trace_stack stack = {.size = sizeof stack};
    bool known = id != 0 && upmu_overview_stack_find(upmu_deadlocks_overview(r->deadlocks), process, id, &stack) == 0;
    return known && stack.n_frames > 0 ? stack.frames[0] : 0;
}

static void held_points(const struct points *p, const struct upmu_deadlock *d, size_t i, size_t k, struct point *point)
{
    struct upmu_deadlock_held h = {.size = sizeof h};
    for (size_t n = 0; upmu_deadlocks_held_at(p->report->deadlocks, i, k, n, &h) == 0; n++) {
        if (!h.wanted || h.lock == 0)
            continue;
        char *object = deadlock_object(p->report, d->process, UPMU_OBJECT_NONE, h.lock);
        point_write_one(p, d->process, h.site, h.stack, point, memory_format("%s was acquired here", object));
        free(object);
    }
}

static void deadlock_point(const struct points *p, size_t i, const struct upmu_deadlock *d)
{
    struct upmu_deadlock_thread t = {.size = sizeof t};
    struct point point = {.severe = d->certainty == UPMU_DEADLOCK_CERTAIN, .rule = upmu_deadlock_kind_name(d->kind)};
    char *headline = deadlock_headline(d);
    for (size_t k = 0; k < d->n_threads && upmu_deadlocks_thread_at(p->report->deadlocks, i, k, &t) == 0; k++) {
        char *wait = deadlock_wait(p->report, d->process, &t), *thread = deadlock_thread_name(t.tid, t.name);
        point.head = k == 0;
        point_write_one(p, d->process, t.site, t.stack, &point,
                        k == 0 ? memory_format("%s: %s: %s %s",
                                               point.severe ? "deadlock" : upmu_deadlock_certainty_name(d->certainty),
                                               headline, thread, wait)
                               : memory_format("%s %s", thread, wait));
        point.head = false;
        held_points(p, d, i, k, &point);
        free(wait);
        free(thread);
    }
    free(headline);
}

static char *cycle_thread(const struct points *p, const struct upmu_lock_acquisition *t, bool several)
{
    char *thread = report_thread_text(&p->report->report, t->process, t->tid);
    if (!several)
        return thread;
    char *text = memory_format("process %ld, %s", (long)t->pid, thread);
    free(thread);
    return text;
}

static void cycle_points(const struct points *p, size_t i, const struct upmu_lock_cycle *c)
{
    struct upmu_lock_acquisition t = {.size = sizeof t};
    struct point point = {.severe = c->class_number == UPMU_LOCK_INVERSION,
                          .rule = upmu_lock_cycle_class_name(c->class_number)};
    char *headline = deadlock_cycle_headline(c);
    bool several = deadlock_cycle_spans(p->report, i);
    for (size_t k = 0; upmu_deadlocks_acquisition_at(p->report->deadlocks, i, k, &t) == 0; k++) {
        char *lock = deadlock_cycle_lock(p->report, i, k, false);
        char *held = deadlock_cycle_lock(p->report, i, k, true);
        char *thread = cycle_thread(p, &t, several);
        point.head = k == 0;
        point_write_one(
            p, t.process, point_stack_top(p->report, t.process, t.stack), t.stack, &point,
            k == 0 ? memory_format("lock order: %s: %s acquires %s while holding %s", headline, thread, lock, held)
                   : memory_format("%s acquires %s while holding %s", thread, lock, held));
        point.head = false;
        point_write_one(p, t.process, t.held_site, 0, &point, memory_format("%s was acquired here", held));
        free(lock);
        free(held);
        free(thread);
    }
    free(headline);
}

static void all_points(const struct deadlock_report *r, point_fn write, void *arg)
{
    const struct points p = {r, write, arg};
    struct upmu_deadlock d = {.size = sizeof d};
    struct upmu_lock_cycle c = {.size = sizeof c};
    for (size_t i = 0; upmu_deadlocks_at(r->deadlocks, i, &d) == 0; i++)
        if (!d.suppressed)
            deadlock_point(&p, i, &d);
    for (size_t i = 0; upmu_deadlocks_cycle_at(r->deadlocks, i, &c) == 0; i++)
        if (!c.suppressed)
            cycle_points(&p, i, &c);
}

/* --------------------------------------------------------------------------------------------------- gcc's form */

/* Where no line is known, what is known of the place stands for the file. */
static void point_write_location(FILE *file, const struct upmu_symbol *s)
{
    if (s->file) {
        output_clean(file, s->file);
        fprintf(file, ":%" PRIu32, s->line);
    } else {
        output_clean(file, s->module ? s->module : "?");
        fprintf(file, "+0x%" PRIx64, s->offset);
    }
}

static void gcc_point(void *arg, const struct point *p)
{
    struct output *out = arg;
    point_write_location(out->file, &p->symbol);
    fprintf(out->file, ": %s: ", p->head && p->severe ? "warning" : "note");
    output_clean(out->file, p->message);
    if (p->head)
        fprintf(out->file, " [%s]", p->rule);
    fputc('\n', out->file);
}

void deadlock_write_gcc(struct output *out, const struct deadlock_report *r)
{
    all_points(r, gcc_point, out);
}

/* ---------------------------------------------------------------------------------------- Qt Creator's task files */

static void tasks_point(void *arg, const struct point *p)
{
    struct output *out = arg;
    output_clean(out->file, p->symbol.file ? p->symbol.file : p->symbol.module ? p->symbol.module : "");
    fprintf(out->file, "\t%ld\t%s\t", p->symbol.file ? (long)p->symbol.line : -1L,
            p->head && p->severe ? "warn" : "unknown");
    output_clean(out->file, p->message);
    fputc('\n', out->file);
}

void deadlock_write_tasks(struct output *out, const struct deadlock_report *r)
{
    all_points(r, tasks_point, out);
}

/* ---------------------------------------------------------------------------------------------------------- SARIF */

struct sarif {
    struct textbuf *json;
    bool open; /* a result, with its related places */
};

static void sarif_location(struct textbuf *j, const char *key, const struct point *p, bool message)
{
    json_object(j, key);
    json_object(j, "physicalLocation");
    json_object(j, "artifactLocation");
    json_string(j, "uri", p->symbol.file ? p->symbol.file : p->symbol.module ? p->symbol.module : "unknown");
    json_object_end(j);
    if (p->symbol.file && p->symbol.line > 0) {
        json_object(j, "region");
        json_uint(j, "startLine", p->symbol.line);
        json_object_end(j);
    }
    json_object_end(j);
    if (message) {
        json_object(j, "message");
        json_string(j, "text", p->message);
        json_object_end(j);
    }
    json_object_end(j);
}

static void sarif_close(struct sarif *s)
{
    if (!s->open)
        return;
    json_array_end(s->json);
    json_object_end(s->json);
    s->open = false;
}

static void sarif_point(void *arg, const struct point *p)
{
    struct sarif *s = arg;
    struct textbuf *j = s->json;
    if (!p->head && s->open) {
        sarif_location(j, NULL, p, true);
        return;
    }
    sarif_close(s);
    json_object(j, NULL);
    json_string(j, "ruleId", p->rule);
    json_string(j, "level", p->severe ? "error" : "note");
    json_object(j, "message");
    json_string(j, "text", p->message);
    json_object_end(j);
    json_array(j, "locations");
    sarif_location(j, NULL, p, false);
    json_array_end(j);
    json_array(j, "relatedLocations");
    s->open = true;
}

static void sarif_rules_of(struct textbuf *j, const char *(*name_of)(int))
{
    for (int i = 0; strcmp(name_of(i), "?") != 0; i++) {
        json_object(j, NULL);
        json_string(j, "id", name_of(i));
        json_object_end(j);
    }
}

static void sarif_rules(struct textbuf *j)
{
    json_array(j, "rules");
    sarif_rules_of(j, upmu_deadlock_kind_name);
    sarif_rules_of(j, upmu_lock_cycle_class_name);
    json_array_end(j);
}

void deadlock_write_sarif(struct output *out, const struct deadlock_report *r)
{
    struct json_document doc;
    struct textbuf *j = json_begin(&doc, out->file, NULL);
    struct sarif s = {.json = j};
    json_string(j, "version", "2.1.0");
    json_string(j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_array(j, "runs");
    json_object(j, NULL);
    json_object(j, "tool");
    json_object(j, "driver");
    json_string(j, "name", "upmu");
    json_string(j, "version", UPMU_VERSION_STRING);
    sarif_rules(j);
    json_object_end(j);
    json_object_end(j);
    json_array(j, "results");
    all_points(r, sarif_point, &s);
    sarif_close(&s);
    json_array_end(j);
    json_object_end(j);
    json_array_end(j);
    json_end(&doc);
}
