/* SPDX-License-Identifier: MIT */
/* In which order upmu report shows locks. Room: tools/upmu. Before it: cmd_report.c; after it: the overview. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "report.h"

struct ranked {
    size_t object;
    uint64_t ns;
};

static void rank_by_hold(const struct report *r, struct ranked *all)
{
    struct upmu_overview_object o = {.size = sizeof o};
    for (size_t i = 0; i < r->totals.n_objects && upmu_overview_object(r->overview, i, &o) == 0; i++)
        all[i].ns = o.hold_ns;
}

static void rank_by_path(const struct report *r, struct ranked *all)
{
    struct upmu_overview_path_object l = {.size = sizeof l};
    for (size_t process = 0; process < r->totals.n_processes; process++)
        for (size_t i = 0; upmu_overview_path_object(r->overview, process, i, &l) == 0; i++)
            all[l.object].ns = l.held_ns;
}

static const struct {
    const char *name, *words;
    void (*rank)(const struct report *r, struct ranked *all); /* NULL: as the overview has them */
} orders[] = {
    {"wait", "total wait", NULL},
    {"hold", "the time held that is known", rank_by_hold},
    {"path", "the time held on the critical path", rank_by_path},
};

static int compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

static size_t order_named(const char *by)
{
    size_t k = 0;
    while (k < sizeof orders / sizeof *orders && strcmp(orders[k].name, by) != 0)
        k++;
    return k;
}

bool report_sort_known(const char *by)
{
    return order_named(by) < sizeof orders / sizeof *orders;
}

void report_sort(struct report *r, const char *by)
{
    size_t k = order_named(by), n = r->totals.n_objects;
    struct ranked *all = memory_array(n + 1, sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[i].object = i;
    if (orders[k].rank)
        orders[k].rank(r, all);
    qsort(all, n, sizeof *all, compare);
    r->order = memory_array(n + 1, sizeof *r->order);
    for (size_t i = 0; i < n; i++)
        r->order[i] = all[i].object;
    r->order_by = orders[k].words;
    free(all);
}
