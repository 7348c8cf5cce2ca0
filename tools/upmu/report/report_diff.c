/* SPDX-License-Identifier: MIT */
/* Matching of threads, locks, regions and counters of two recordings by name or location. */
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "ui/memory.h"
#include "report_views.h"

enum { DIFF_TOP_DEFAULT = 10 };

bool diff_has_number(const struct diff_side *side)
{
    return side->there && (side->value.status == UPMU_EXACT || side->value.status == UPMU_SCALED);
}

/* ----------------------------------------------------------------------------------------------------- gathering */

static struct diff_side *diff_add(struct diff_list *l, int side, char *name, const char *kind)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 64;
        l->all = memory_resize(l->all, l->cap, sizeof *l->all);
    }
    struct diff_item *item = &l->all[l->n++];
    *item = (struct diff_item){.name = name, .kind = kind};
    item->side[side].there = true;
    return &item->side[side];
}

static void diff_add_threads(struct diff *d, int side)
{
    const struct upmu_overview_totals *of = &d->report[side]->totals;
    bool stretch = of->from_ns != of->begin_ns || of->to_ns != of->end_ns;
    struct upmu_overview_thread t = {.size = sizeof t};
    for (size_t i = 0; upmu_overview_thread_at(d->report[side]->overview, i, &t) == 0; i++) {
        if (stretch && t.end_ns == t.begin_ns)
            continue; /* it did not live then */
        const char *name = t.name;
        struct diff_side *s = diff_add(&d->threads, side, memory_copy(name[0] ? name : "(unnamed)"), NULL);
        s->count = 1;
        s->ns = t.blocked_ns;
        s->lifetime_ns = t.end_ns - t.begin_ns - t.stopped_ns;
    }
}

/* What a lock is called in both, without a number; if its begin is not known, where it was waited for longest, or blocked
 * others. */
static char *diff_lock_name(const struct report *r, size_t i, const struct upmu_overview_object *o)
{
    struct upmu_overview_call_site site = {.size = sizeof site};
    if (o->group[0] && o->named_by != UPMU_IDENTITY_FIRST_USE)
        return memory_copy(o->group);
    if (upmu_overview_call_site_at(r->overview, i, 0, &site) != 0 || site.address == 0)
        return memory_copy("(unknown location)");
    char *location = report_location(r, o->process, site.address);
    char *name = memory_format("used at %s", location);
    free(location);
    return name;
}

static void diff_add_locks(struct diff *d, int side)
{
    const struct report *r = d->report[side];
    struct upmu_overview_object o = {.size = sizeof o};
    struct upmu_overview_path_object l = {.size = sizeof l};
    uint64_t *on_path = memory_array(r->totals.n_objects + 1, sizeof *on_path);
    for (size_t process = 0; process < r->totals.n_processes; process++)
        for (size_t i = 0; upmu_overview_path_object_at(r->overview, process, i, &l) == 0; i++)
            on_path[l.object] = l.held_ns;
    for (size_t i = 0; upmu_overview_object_at(r->overview, i, &o) == 0; i++) {
        struct diff_side *s = diff_add(&d->locks, side, diff_lock_name(r, i, &o), report_type_name(o.type));
        s->count = o.waits.count + o.waits.unfinished;
        s->ns = o.waits.total_ns + o.waits.unfinished_ns;
        s->on_path_ns = on_path[i];
    }
    free(on_path);
}

static void diff_add_regions(struct diff *d, int side)
{
    const struct report *r = d->report[side];
    struct upmu_overview_region region = {.size = sizeof region};
    for (size_t i = 0; upmu_overview_region_at(r->overview, i, &region) == 0; i++) {
        if (region.count + region.unfinished == 0)
            continue;
        struct diff_side *s = diff_add(&d->regions, side, memory_copy(region.name), NULL);
        s->count = region.count;
        s->ns = region.wall_ns;
        for (size_t k = 0; k < region.n_counts; k++) {
            const char *counter = upmu_overview_counter_name(r->overview, region.process, k);
            if (!counter)
                break;
            s = diff_add(&d->counters, side, memory_format("%s: %s", region.name, counter), NULL);
            s->value = region.counts[k].sum;
        }
    }
}

/* ------------------------------------------------------------------------------------------------------ pairing */

static int diff_by_name(const void *a, const void *b)
{
    const struct diff_item *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order != 0)
        return order;
    return x->kind && y->kind ? strcmp(x->kind, y->kind) : 0;
}

/* A value of several processes: exact only if each is, without a number if one has none. */
static void diff_add_value(struct upmu_value *sum, const struct upmu_value *v)
{
    bool number = sum->status == UPMU_EXACT || sum->status == UPMU_SCALED;
    if (!number)
        return;
    if (v->status != UPMU_EXACT && v->status != UPMU_SCALED) {
        *sum = *v;
        return;
    }
    sum->value += v->value;
    sum->status = v->status == UPMU_SCALED ? UPMU_SCALED : sum->status;
}

static void diff_join_sides(struct diff_side *to, const struct diff_side *from)
{
    if (!from->there)
        return;
    if (to->there)
        diff_add_value(&to->value, &from->value);
    else
        to->value = from->value;
    to->there = true;
    to->count += from->count;
    to->ns += from->ns;
    to->on_path_ns += from->on_path_ns;
    to->lifetime_ns += from->lifetime_ns;
}

static uint64_t diff_distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static double diff_relative_change(const struct diff_item *i)
{
    const struct diff_side *a = &i->side[DIFF_OLD], *b = &i->side[DIFF_NEW];
    if (!diff_has_number(a) || !diff_has_number(b))
        return (double)diff_distance(a->ns, b->ns);
    /* Counters of all kinds stand side by side: the relative change is what can be compared. */
    uint64_t most = a->value.value > b->value.value ? a->value.value : b->value.value;
    return most ? (double)diff_distance(a->value.value, b->value.value) / (double)most : 0;
}

static int diff_by_change(const void *a, const void *b)
{
    double x = diff_relative_change(a), y = diff_relative_change(b);
    if (x != y)
        return x > y ? -1 : 1;
    return diff_by_name(a, b);
}

static void diff_pair_up(struct diff_list *l)
{
    size_t kept = 0;
    if (l->n == 0)
        return;
    qsort(l->all, l->n, sizeof *l->all, diff_by_name);
    for (size_t i = 1; i < l->n; i++) {
        if (diff_by_name(&l->all[kept], &l->all[i]) != 0) {
            l->all[++kept] = l->all[i];
            continue;
        }
        for (int side = 0; side < DIFF_SIDES; side++)
            diff_join_sides(&l->all[kept].side[side], &l->all[i].side[side]);
        free(l->all[i].name);
    }
    l->n = kept + 1;
    qsort(l->all, l->n, sizeof *l->all, diff_by_change);
}

static void diff_list_free(struct diff_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->all[i].name);
    free(l->all);
}

/* --------------------------------------------------------------------------------------------------------- all */

static int diff_write(const struct report_request *q, struct diff *d)
{
    struct diff_list *lists[] = {&d->threads, &d->locks, &d->regions, &d->counters};
    struct output out;
    int rc = -1;
    for (int side = 0; side < DIFF_SIDES; side++) {
        diff_add_threads(d, side);
        diff_add_locks(d, side);
        diff_add_regions(d, side);
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        diff_pair_up(lists[i]);
    if (output_standard(&out, OUTPUT_STDOUT) == 0) {
        if (q->as_json)
            diff_write_json(&out, d);
        else
            diff_write_text(&out, d);
        rc = output_close(&out);
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        diff_list_free(lists[i]);
    return rc;
}

int report_diff(const struct report_request *q)
{
    struct report reports[DIFF_SIDES] = {{.totals.size = sizeof reports->totals, .dir = q->dir},
                                         {.totals.size = sizeof reports->totals, .dir = q->other_dir}};
    struct diff d = {.report = {&reports[DIFF_OLD], &reports[DIFF_NEW]}};
    const struct upmu_overview_opts opts = {.size = sizeof opts, .from_ns = q->from_ns, .to_ns = q->to_ns};
    int rc = 0;
    size_t damages = 0;
    d.top = q->top > 0 ? (size_t)q->top : q->as_json ? SIZE_MAX : DIFF_TOP_DEFAULT;
    for (int side = 0; rc == 0 && side < DIFF_SIDES; side++) {
        rc = upmu_overview_open(&reports[side].overview, reports[side].dir, &opts);
        if (rc == 0)
            rc = upmu_overview_totals_read(reports[side].overview, &reports[side].totals);
        if (rc < 0)
            complain("the %s recording: %s", side == DIFF_OLD ? "old" : "new", upmu_error());
    }
    if (rc == 0)
        rc = diff_write(q, &d);
    for (int side = 0; side < DIFF_SIDES; side++) {
        damages += reports[side].overview ? report_damages(reports[side].overview) : 0;
        upmu_overview_close(reports[side].overview);
    }
    return rc == 0 && damages == 0 ? EXIT_OK : EXIT_FAILED;
}
