/* SPDX-License-Identifier: MIT */
/* Sort orders of locks. */
#include <stdlib.h>
#include <string.h>

#include "ui/memory.h"
#include "report.h"

struct ranked {
    size_t object;
    uint64_t ns; /* or a count */
};

static void sort_rank_by_hold(const struct report *r, struct ranked *all)
{
    struct upmu_overview_object o = {.size = sizeof o};
    for (size_t i = 0; i < r->totals.n_objects && upmu_overview_object_at(r->overview, i, &o) == 0; i++)
        all[i].ns = o.hold_ns;
}

static void sort_rank_by_path(const struct report *r, struct ranked *all)
{
    struct upmu_overview_path_object l = {.size = sizeof l};
    for (size_t process = 0; process < r->totals.n_processes; process++)
        for (size_t i = 0; upmu_overview_path_object_at(r->overview, process, i, &l) == 0; i++)
            all[l.object].ns = l.held_ns;
}

/* By what the counter counted in the sections of that kind; what it could not count comes last. @return false if no
 * process has such a counter. */
static bool sort_rank_by_counter(const struct report *r, int kind, const char *counter, struct ranked *all)
{
    struct upmu_overview_object o = {.size = sizeof o};
    struct upmu_overview_section s = {.size = sizeof s};
    bool found = false;
    for (uint32_t process = 0; process < r->totals.n_processes; process++)
        found |= report_counter_index(r, process, counter) != SIZE_MAX;
    for (size_t i = 0; i < r->totals.n_objects && upmu_overview_object_at(r->overview, i, &o) == 0; i++) {
        size_t k = report_counter_index(r, o.process, counter);
        if (upmu_overview_section_read(r->overview, i, kind, &s) == 0 && k < s.n_counts &&
            s.counts[k].sum.value != UPMU_NO_VALUE)
            all[i].ns = s.counts[k].sum.value;
    }
    return found;
}

static const struct {
    const char *name, *words;
    void (*rank)(const struct report *r, struct ranked *all); /* NULL: as the overview has them */
} orders[] = {
    {"wait", "total wait", NULL},
    {"hold", "recorded hold time", sort_rank_by_hold},
    {"path", "hold time on the critical path", sort_rank_by_path},
};

static int sort_compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

static size_t sort_order_named(const char *by)
{
    size_t k = 0;
    while (k < sizeof orders / sizeof *orders && strcmp(orders[k].name, by) != 0)
        k++;
    return k;
}

/* "held:NAME", "waited:NAME": the name, and what it is to be counted in; NULL for another order. */
static const char *sort_counter_named(const char *by, int *kind)
{
    static const char held[] = "held:", waited[] = "waited:";
    *kind = strncmp(by, held, sizeof held - 1) == 0 ? UPMU_SECTION_HELD : UPMU_SECTION_WAITED;
    if (*kind == UPMU_SECTION_HELD)
        return by + sizeof held - 1;
    return strncmp(by, waited, sizeof waited - 1) == 0 ? by + sizeof waited - 1 : NULL;
}

bool report_sort_known(const char *by)
{
    int kind;
    return sort_order_named(by) < sizeof orders / sizeof *orders || sort_counter_named(by, &kind) != NULL;
}

/* @return false if there is no such counter. */
static bool sort_rank(struct report *r, const char *by, struct ranked *all)
{
    int kind;
    size_t k = sort_order_named(by);
    if (k == sizeof orders / sizeof *orders) {
        r->counter = sort_counter_named(by, &kind);
        r->order_by =
            kind == UPMU_SECTION_HELD ? "the counter while they were held" : "the counter while they were waited for";
        return sort_rank_by_counter(r, kind, r->counter, all);
    }
    r->order_by = orders[k].words;
    if (orders[k].rank)
        orders[k].rank(r, all);
    return true;
}

bool report_sort(struct report *r, const char *by)
{
    size_t n = r->totals.n_objects;
    struct ranked *all = memory_array(n + 1, sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[i].object = i;
    if (!sort_rank(r, by, all)) {
        complain("--sort %s: no such counter was recorded (upmu record -e)", by);
        free(all);
        return false;
    }
    qsort(all, n, sizeof *all, sort_compare);
    r->order = memory_array(n + 1, sizeof *r->order);
    for (size_t i = 0; i < n; i++)
        r->order[i] = all[i].object;
    r->n_order = n;
    free(all);
    return true;
}
