/* SPDX-License-Identifier: MIT */
/* Locks of one origin as one row, and calls of processes of one program. */
#include <stdlib.h>
#include <string.h>

#include "ui/memory.h"
#include "report.h"

enum { FEW_LEAST = 2 }; /* processes whose calls are one row, and locks in one static variable */

/* An object that may be in a group. */
struct member {
    size_t at;        /* in `order` */
    uint32_t process; /* of calls: the first process of its program */
    int32_t type;
    const char *group;
    uint32_t variable; /* of locks in a static variable, which have no group */
};

static int group_compare(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->variable != y->variable)
        return x->variable < y->variable ? -1 : 1;
    int order = strcmp(x->group, y->group);
    return order ? order : x->at < y->at ? -1 : x->at > y->at;
}

static bool group_is_same(const struct member *x, const struct member *y)
{
    return x->process == y->process && x->type == y->type && x->variable == y->variable &&
           strcmp(x->group, y->group) == 0;
}

static void group_add_waits(struct upmu_wait_sum *sum, const struct upmu_wait_sum *one)
{
    sum->count += one->count;
    sum->total_ns += one->total_ns;
    sum->unfinished += one->unfinished;
    sum->unfinished_ns += one->unfinished_ns;
    sum->max_ns = one->max_ns > sum->max_ns ? one->max_ns : sum->max_ns;
}

static void group_add(struct upmu_overview_object *sum, const struct upmu_overview_object *one)
{
    group_add_waits(&sum->waits, &one->waits);
    sum->acquisitions += one->acquisitions;
    if (sum->contended == UPMU_NO_VALUE || one->contended == UPMU_NO_VALUE)
        sum->contended = UPMU_NO_VALUE;
    else
        sum->contended += one->contended;
    sum->failed += one->failed;
    sum->holds += one->holds;
    sum->hold_ns += one->hold_ns;
    sum->hold_max_ns = one->hold_max_ns > sum->hold_max_ns ? one->hold_max_ns : sum->hold_max_ns;
    sum->partial_holds += one->partial_holds;
    sum->partial_ns += one->partial_ns;
    sum->partial_max_ns = one->partial_max_ns > sum->partial_max_ns ? one->partial_max_ns : sum->partial_max_ns;
    sum->counts_exact &= one->counts_exact;
    sum->holds_complete &= one->holds_complete;
}

/* The sum of the members, which leaves the first one in `order`. */
static struct report_group *group_make(struct report *r, const struct member *members, size_t n)
{
    struct report_group *g = memory_array(1, sizeof *g);
    struct upmu_overview_object o = {.size = sizeof o};
    g->n = n;
    g->sum.size = sizeof g->sum;
    for (size_t i = 0; i < n; i++) {
        struct upmu_overview_object *into = i == 0 ? &g->sum : &o;
        if (upmu_overview_object_at(r->overview, r->order[members[i].at], into) == 0 && i > 0)
            group_add(&g->sum, &o);
        if (i > 0)
            r->order[members[i].at] = SIZE_MAX;
    }
    return g;
}

/* Each process's first process of the same program. To be freed. */
static uint32_t *group_programs(const struct report *r)
{
    size_t n = r->totals.n_processes;
    uint32_t *first = memory_array(n + 1, sizeof *first);
    char **programs = memory_array(n + 1, sizeof *programs);
    for (uint32_t i = 0; i < n; i++) {
        programs[i] = report_program(r, i);
        for (first[i] = 0; strcmp(programs[first[i]], programs[i]) != 0;)
            first[i]++;
    }
    for (size_t i = 0; i < n; i++)
        free(programs[i]);
    free(programs);
    return first;
}

/* Locks that were created, or first used, at one place; those of one static variable in a file that was loaded several times, or that was
 * initialized anew; calls of processes of one program. */
static size_t group_collect(const struct report *r, struct member *all)
{
    struct upmu_overview_object o = {.size = sizeof o};
    uint32_t *programs = group_programs(r);
    size_t n = 0;
    for (size_t i = 0; i < r->n_order; i++) {
        if (upmu_overview_object_at(r->overview, r->order[i], &o) != 0)
            continue;
        if (o.type == UPMU_OBJECT_CALL)
            all[n++] = (struct member){.at = i, .process = programs[o.process], .type = o.type, .group = o.name};
        else if (o.named_by == UPMU_IDENTITY_CREATED || o.named_by == UPMU_IDENTITY_FIRST_USE)
            all[n++] = (struct member){.at = i, .process = o.process, .type = o.type, .group = o.group};
        else if (o.variable)
            all[n++] =
                (struct member){.at = i, .process = o.process, .type = o.type, .group = "", .variable = o.variable};
    }
    free(programs);
    return n;
}

/* An entry of the order with its total wait. */
struct waited {
    size_t object, at;
    uint64_t ns;
};

static int group_compare_waits(const void *a, const void *b)
{
    const struct waited *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Replace the locks of each group by one entry, at the position of the group's sum. */
static void group_order(struct report *r, bool by_wait)
{
    struct waited *all = memory_array(r->n_order + 1, sizeof *all);
    struct upmu_overview_object o = {.size = sizeof o};
    size_t n = 0;
    for (size_t i = 0; i < r->n_order; i++) {
        if (r->order[i] == SIZE_MAX || upmu_overview_object_at(r->overview, r->order[i], &o) != 0)
            continue;
        const struct report_group *g = r->groups[r->order[i]];
        const struct upmu_wait_sum *w = g ? &g->sum.waits : &o.waits;
        all[n++] = (struct waited){.object = r->order[i], .at = i, .ns = w->total_ns + w->unfinished_ns};
    }
    if (by_wait)
        qsort(all, n, sizeof *all, group_compare_waits);
    for (size_t i = 0; i < n; i++)
        r->order[i] = all[i].object;
    r->n_order = n;
    free(all);
}

void report_group(struct report *r, size_t least, bool by_wait)
{
    struct member *all = memory_array(r->n_order + 1, sizeof *all);
    size_t n = least > 1 ? group_collect(r, all) : 0, end;
    r->groups = memory_array(r->totals.n_objects + 1, sizeof(struct report_group *));
    qsort(all, n, sizeof *all, group_compare);
    for (size_t i = 0; i < n; i = end) {
        for (end = i + 1; end < n && group_is_same(&all[i], &all[end]);)
            end++;
        if (end - i >= (all[i].type == UPMU_OBJECT_CALL || all[i].variable ? FEW_LEAST : least))
            r->groups[r->order[all[i].at]] = group_make(r, all + i, end - i);
    }
    group_order(r, by_wait);
    free(all);
}

void report_groups_free(struct report *r)
{
    for (size_t i = 0; r->groups && i < r->totals.n_objects; i++)
        free(r->groups[i]);
    free(r->groups);
}
