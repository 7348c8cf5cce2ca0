/* SPDX-License-Identifier: MIT */
/* Events of a list that have to be counted in one group. */
#include "core/set/counter_bonds.h"

#include <string.h>

#include "base/error.h"
#include "core/formula/metric.h"
#include "core/names/name_list.h"

static void bonds_add(struct counter_bonds *b, uint64_t owners, bool hard)
{
    if (b->all.n < COUNTER_BONDS_MAX)
        b->bond[b->all.n++] = (struct plan_bond){.owners = owners, .hard = hard};
}

static void bonds_of_braces(const struct counter_list *list, struct counter_bonds *b)
{
    for (unsigned group = 1; group <= list->n; group++) {
        uint64_t owners = 0;
        for (size_t i = 0; i < list->n; i++)
            owners |= list->link[i].group == group ? UINT64_C(1) << i : 0;
        if ((owners & (owners - 1)) != 0)
            bonds_add(b, owners, true);
    }
}

static void bonds_of_formulas(const struct counter_list *list, struct counter_bonds *b)
{
    for (size_t i = 0; i < list->n; i++)
        if (!list->absent[i] && list->link[i].weight)
            bonds_add(b, UINT64_C(1) << i, false);
}

/* Whether event i of the list is the event named `part`, in the modes of `like`. */
static bool bonds_is_part(const struct counter_list *list, size_t i, const char *part, const struct event *like)
{
    const struct event *e = &list->events[i];
    return !list->absent[i] && e->class == EVENT_CORE && strlen(part) == e->name_length &&
           strncmp(e->name, part, e->name_length) == 0 && e->user == like->user && e->kernel == like->kernel &&
           e->guest == like->guest && e->host == like->host;
}

/* The events of a metric in the modes of `like`, as a bit mask. */
static uint64_t bonds_find_parts(const struct counter_list *list, const struct expression *e, const struct event *like)
{
    uint64_t owners = 0;
    for (size_t p = 0; p < e->n_names; p++)
        for (size_t i = 0; i < list->n; i++)
            if (bonds_is_part(list, i, e->name[p], like)) {
                owners |= UINT64_C(1) << i;
                break;
            }
    return owners;
}

static void bonds_of_expression(const struct counter_list *list, const struct expression *e, struct counter_bonds *b)
{
    for (size_t i = 0; i < list->n; i++) {
        bool part = false;
        for (size_t p = 0; p < e->n_names; p++)
            part = part || bonds_is_part(list, i, e->name[p], &list->events[i]);
        uint64_t owners = part ? bonds_find_parts(list, e, &list->events[i]) : 0;
        if ((owners & (owners - 1)) != 0 && (owners & -owners) == UINT64_C(1) << i)
            bonds_add(b, owners, false);
    }
}

/* A ratio of events that were counted at different times is meaningless. Metrics named in the list come first. */
static void bonds_of_metrics(const struct machine *m, const struct counter_list *list, const char *names,
                             struct counter_bonds *b)
{
    struct event_list it = {.rest = names};
    char name[EVENT_NAME_MAX];
    struct expression e;
    while (event_list_next(&it, name) > 0) {
        const char *modifiers;
        if (name_is_metric(m, name, &e, &modifiers))
            bonds_of_expression(list, &e, b);
    }
    for (size_t i = 0; list->n > 1 && metric_expression(i, &e); i++)
        bonds_of_expression(list, &e, b);
}

void counter_bonds_find(const struct machine *m, const struct counter_list *list, const char *names,
                        struct counter_bonds *b)
{
    b->all = (struct plan_bonds){.bond = b->bond, .owner = b->owner};
    for (size_t i = 0; i < list->n_all; i++)
        b->owner[i] = list->link[i].owner;
    bonds_of_braces(list, b);
    bonds_of_formulas(list, b);
    bonds_of_metrics(m, list, names, b);
}

/* Find a pair of the group that cannot be counted together. @return whether there is one. */
static bool bonds_find_pair(const struct counter_list *list, unsigned group, const struct plan_rules *rules, size_t *a,
                            size_t *b)
{
    for (*b = 0; *b < list->n; (*b)++) {
        for (*a = 0; *a < *b; (*a)++) {
            const struct event *pair[] = {&list->events[*a], &list->events[*b]};
            bool bound = list->plan.entry[*a].refusal == PLAN_APART && list->plan.entry[*b].refusal == PLAN_APART &&
                         list->link[*a].group == group && list->link[*b].group == group;
            if (bound && pair[0]->class == EVENT_CORE && pair[1]->class == EVENT_CORE &&
                pair[0]->core == pair[1]->core && !plan_fits(pair, 2, &rules[pair[0]->core]))
                return true;
        }
    }
    return false;
}

void counter_bonds_explain(const struct counter_list *list, size_t i, const char *cpu, const struct plan_rules *rules)
{
    size_t a, b, owner = list->link[i].owner;
    if (bonds_find_pair(list, list->link[owner].group, rules, &a, &b))
        (void)upmu_fail(UPMU_E_FIT,
                        "'%s' is not counted: in its braces, '%s' and '%s' need the same counter of %s. Without the "
                        "braces they are multiplexed",
                        list->events[i].name, list->events[a].name, list->events[b].name, cpu);
    else
        (void)upmu_fail(UPMU_E_FIT,
                        "'%s' is not counted: the events in its braces need more counters than %s has, or use several "
                        "PMUs or modes. Without the braces they are multiplexed",
                        list->events[i].name, cpu);
}
