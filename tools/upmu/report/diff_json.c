/* SPDX-License-Identifier: MIT */
/* Comparison of two recordings as JSON. */
#include "diff.h"
#include "facts/facts.h"
#include "ui/json.h"

static const char *const sides[DIFF_SIDES] = {[DIFF_OLD] = "old", [DIFF_NEW] = "new"};

static void json_recording(struct textbuf *j, const char *key, const struct report *r)
{
    const struct upmu_overview_totals *t = &r->totals;
    json_object(j, key);
    json_string(j, "dir", r->dir);
    json_uint(j, "events", t->events);
    json_uint(j, "begin_ns", t->begin_ns);
    json_uint(j, "end_ns", t->end_ns);
    json_uint(j, "from_ns", t->from_ns);
    json_uint(j, "to_ns", t->to_ns);
    json_uint(j, "lost", t->lost);
    json_uint(j, "damages", t->n_damages);
    json_object_end(j);
}

static void json_thread_side(struct textbuf *j, const struct diff_side *s)
{
    json_uint(j, "threads", s->count);
    json_uint(j, "lifetime_ns", s->lifetime_ns);
    json_uint(j, "blocked_ns", s->ns);
}

static void json_lock_side(struct textbuf *j, const struct diff_side *s)
{
    json_uint(j, "waits", s->count);
    json_uint(j, "waited_ns", s->ns);
    json_uint(j, "held_on_path_ns", s->on_path_ns);
}

static void json_region_side(struct textbuf *j, const struct diff_side *s)
{
    json_uint(j, "count", s->count);
    json_uint(j, "wall_ns", s->ns);
}

static void json_counter_side(struct textbuf *j, const struct diff_side *s)
{
    facts_value(j, "sum", &s->value);
}

static void json_list(struct textbuf *j, const struct diff *d, const char *key, const struct diff_list *l,
                      void (*write)(struct textbuf *j, const struct diff_side *s))
{
    json_array(j, key);
    for (size_t i = 0; i < l->n && i < d->top; i++) {
        json_object(j, NULL);
        json_string(j, "name", l->all[i].name);
        if (l->all[i].kind)
            json_string(j, "type", l->all[i].kind);
        for (int side = 0; side < DIFF_SIDES; side++) {
            if (!l->all[i].side[side].there) {
                json_null(j, sides[side]);
                continue;
            }
            json_object(j, sides[side]);
            write(j, &l->all[i].side[side]);
            json_object_end(j);
        }
        json_object_end(j);
    }
    json_array_end(j);
}

void diff_write_json(struct output *out, const struct diff *d)
{
    struct json_document doc;
    struct textbuf *j = json_begin(&doc, out->file, "upmu-diff");
    for (int side = 0; side < DIFF_SIDES; side++)
        json_recording(j, sides[side], d->report[side]);
    json_list(j, d, "threads", &d->threads, json_thread_side);
    json_list(j, d, "locks", &d->locks, json_lock_side);
    json_list(j, d, "regions", &d->regions, json_region_side);
    json_list(j, d, "counters", &d->counters, json_counter_side);
    json_end(&doc);
}
