/* SPDX-License-Identifier: MIT */
/* Deadlocks and lock-order cycles as JSON. */
#include <stdlib.h>

#include "deadlock.h"
#include "mpi/mpi.h"
#include "ui/json.h"

void deadlock_json_frame(struct textbuf *j, const struct upmu_symbol *s)
{
    const char *label = upmu_frame_label(s);
    json_object(j, NULL);
    json_string(j, "function", s->function);
    json_string(j, "file", s->file);
    json_uint(j, "line", s->line);
    json_uint(j, "column", s->column);
    json_bool(j, "inlined", s->inlined);
    json_string(j, "module", s->module);
    json_uint(j, "offset", s->offset);
    json_string(j, "kind", upmu_frame_kind_name(s->kind));
    json_string(j, "label", label[0] ? label : NULL);
    json_string(j, "after", s->previous);
    json_object_end(j);
}

static void json_address(struct textbuf *j, const struct deadlock_report *r, uint32_t process, uint64_t address)
{
    struct upmu_symbol s = {.size = sizeof s};
    struct upmu_overview *o = upmu_deadlocks_overview(r->deadlocks);
    for (size_t depth = 0; address && upmu_overview_symbol_at(o, process, address, depth, &s) == 0; depth++)
        deadlock_json_frame(j, &s);
}

/* @return whether the whole stack was recorded. */
static bool json_frames(struct textbuf *j, const char *key, const struct deadlock_report *r, uint32_t process,
                        uint32_t id, uint64_t site)
{
    struct upmu_trace_stack stack = {.size = sizeof stack};
    struct upmu_symbol s = {.size = sizeof s};
    struct upmu_overview *o = upmu_deadlocks_overview(r->deadlocks);
    bool found = id != 0 && upmu_overview_stack_find(o, process, id, &stack) == 0;
    json_array(j, key);
    for (size_t i = 0; found && upmu_overview_frame_at(o, process, id, i, &s) == 0; i++)
        deadlock_json_frame(j, &s);
    if (!found)
        json_address(j, r, process, site);
    json_array_end(j);
    return found && !stack.truncated;
}

static void json_stack(struct textbuf *j, const struct deadlock_report *r, uint32_t process, uint32_t id, uint64_t site)
{
    bool whole = json_frames(j, "stack", r, process, id, site);
    json_bool(j, "stack_truncated", !whole);
}

static void json_location(struct textbuf *j, const char *key, const struct deadlock_report *r, uint32_t process,
                          uint64_t site)
{
    json_array(j, key);
    json_address(j, r, process, site);
    json_array_end(j);
}

static void json_held(struct textbuf *j, const struct deadlock_report *r, const struct upmu_deadlock *d, size_t i,
                      size_t k)
{
    struct upmu_deadlock_held h = {.size = sizeof h};
    json_array(j, "holds");
    for (size_t n = 0; upmu_deadlocks_held_at(r->deadlocks, i, k, n, &h) == 0; n++) {
        if (h.lock == 0)
            continue;
        char *object = deadlock_object(r, d->process, UPMU_OBJECT_NONE, h.lock);
        json_object(j, NULL);
        json_uint(j, "lock", h.lock);
        json_string(j, "description", object);
        json_bool(j, "shared", h.shared);
        json_bool(j, "wanted", h.wanted);
        json_uint_if(j, "since_ns", h.since_ns != 0, h.since_ns);
        json_location(j, "acquired_at", r, d->process, h.site);
        (void)json_frames(j, "acquired_stack", r, d->process, h.stack, h.site);
        json_object_end(j);
        free(object);
    }
    json_array_end(j);
}

static void json_thread(struct textbuf *j, const struct deadlock_report *r, const struct upmu_deadlock *d, size_t i,
                        size_t k, const struct upmu_deadlock_thread *t)
{
    char *wait = deadlock_wait(r, d->process, t);
    json_object(j, NULL);
    json_int(j, "tid", t->tid);
    json_string(j, "name", t->name);
    json_bool(j, "behind", k >= d->n_threads);
    json_string(j, "waits_for", upmu_wait_kind_name(t->wait_kind));
    json_string(j, "description", wait);
    json_uint(j, "object", t->object);
    json_int_if(j, "holder", t->holder != 0, t->holder);
    json_bool(j, "shared", t->shared);
    json_bool(j, "timed", t->timed);
    json_bool(j, "inspected", t->inspected);
    json_uint_if(j, "since_ns", t->since_ns != 0, t->since_ns);
    json_stack(j, r, d->process, t->stack, t->site);
    json_held(j, r, d, i, k);
    json_uint(j, "holds_not_listed", t->n_unlisted);
    json_object_end(j);
    free(wait);
}

static void json_deadlock(struct textbuf *j, const struct deadlock_report *r, size_t i, const struct upmu_deadlock *d)
{
    struct upmu_deadlock_thread t = {.size = sizeof t};
    char *headline = deadlock_headline(d);
    json_object(j, NULL);
    json_int(j, "pid", d->pid);
    json_string(j, "kind", upmu_deadlock_kind_name(d->kind));
    json_string(j, "certainty", upmu_deadlock_certainty_name(d->certainty));
    json_string(j, "headline", headline);
    json_bool(j, "alive", d->alive);
    json_bool(j, "suppressed", d->suppressed);
    json_string(j, "could_end", d->could_end[0] ? d->could_end : NULL);
    if (d->owner) {
        json_int(j, "owner", d->owner);
        json_location(j, "owner_acquired_at", r, d->process, d->owner_site);
    }
    json_array(j, "threads");
    for (size_t k = 0; upmu_deadlocks_thread_at(r->deadlocks, i, k, &t) == 0; k++)
        json_thread(j, r, d, i, k, &t);
    json_array_end(j);
    json_object_end(j);
    free(headline);
}

/* ------------------------------------------------------------------------------------------------- order of locks */

/* `object` is freed. */
static void json_lock(struct textbuf *j, const char *key, uint64_t address, char *object)
{
    json_object(j, key);
    json_uint(j, "address", address);
    json_string(j, "description", object);
    json_object_end(j);
    free(object);
}

static void json_acquisition(struct textbuf *j, const struct deadlock_report *r, size_t i, size_t k,
                             const struct upmu_lock_acquisition *t)
{
    struct upmu_deadlock_held h = {.size = sizeof h};
    uint32_t process = t->process;
    json_object(j, NULL);
    json_int(j, "pid", t->pid);
    json_int(j, "tid", t->tid);
    json_uint_if(j, "time_ns", t->time_ns != 0, t->time_ns);
    json_lock(j, "acquires", t->lock, deadlock_cycle_lock(r, i, k, false));
    json_bool(j, "shared", t->shared);
    json_bool(j, "tried", t->tried);
    json_bool(j, "timed", t->timed);
    json_stack(j, r, process, t->stack, 0);
    json_lock(j, "holds", t->held, deadlock_cycle_lock(r, i, k, true));
    json_bool(j, "holds_shared", t->held_shared);
    json_location(j, "acquired_at", r, process, t->held_site);
    bool whole = json_frames(j, "held_stack", r, process, t->held_stack, t->held_site);
    json_bool(j, "held_stack_truncated", !whole);
    json_array(j, "gates");
    for (size_t n = 0; upmu_deadlocks_acquisition_held_at(r->deadlocks, i, k, n, &h) == 0; n++)
        if (h.wanted)
            json_lock(j, NULL, h.lock, deadlock_object(r, process, UPMU_OBJECT_NONE, h.lock));
    json_array_end(j);
    json_object_end(j);
}

static void json_cycle(struct textbuf *j, const struct deadlock_report *r, size_t i, const struct upmu_lock_cycle *c)
{
    struct upmu_lock_acquisition t = {.size = sizeof t};
    char *headline = deadlock_cycle_headline(c);
    json_object(j, NULL);
    json_int(j, "pid", c->pid);
    json_string(j, "class", upmu_lock_cycle_class_name(c->class_number));
    json_string(j, "headline", headline);
    json_uint(j, "similar", c->n_similar);
    json_bool(j, "suppressed", c->suppressed);
    json_array(j, "acquisitions");
    for (size_t k = 0; upmu_deadlocks_acquisition_at(r->deadlocks, i, k, &t) == 0; k++)
        json_acquisition(j, r, i, k, &t);
    json_array_end(j);
    json_object_end(j);
    free(headline);
}

static void json_order(struct textbuf *j, const struct deadlock_report *r)
{
    struct upmu_deadlocks_totals order = {.size = sizeof order};
    struct upmu_lock_cycle c = {.size = sizeof c};
    json_object(j, "lock_order");
    if (upmu_deadlocks_totals_read(r->deadlocks, &order) == 0) {
        json_uint(j, "acquisitions", order.acquisitions);
        json_uint(j, "incomplete", order.incomplete);
        json_bool(j, "cut", order.truncated);
        json_uint(j, "processes_not_recorded", order.without_wait_state);
        json_uint(j, "processes_in_mode_counts", order.counted);
    }
    json_array(j, "cycles");
    for (size_t i = 0; upmu_deadlocks_cycle_at(r->deadlocks, i, &c) == 0; i++)
        json_cycle(j, r, i, &c);
    json_array_end(j);
    json_object_end(j);
}

void deadlock_write_json(struct output *out, const struct deadlock_report *r)
{
    struct json_document doc;
    struct upmu_deadlock d = {.size = sizeof d};
    struct textbuf *j = json_begin(&doc, out->file, "upmu-deadlock");
    json_array(j, "deadlocks");
    for (size_t i = 0; upmu_deadlocks_at(r->deadlocks, i, &d) == 0; i++)
        json_deadlock(j, r, i, &d);
    json_array_end(j);
    mpi_json_deadlocks(j, "mpi_deadlocks", upmu_deadlocks_overview(r->deadlocks), r->mpi);
    json_order(j, r);
    json_end(&doc);
}
