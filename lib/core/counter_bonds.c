/* SPDX-License-Identifier: MIT */
/* Which events of a list belong into one group. */
#include "core/counter_bonds.h"

#include <stdio.h>

#include "base/error.h"

static void bonds_add(struct counter_bonds *b, uint64_t owners, bool hard)
{
    if ((owners & (owners - 1)) != 0 && b->all.n < COUNTER_BONDS_MAX)
        b->bond[b->all.n++] = (struct plan_bond){.owners = owners, .hard = hard};
}

static void bonds_of_braces(const struct counter_list *list, struct counter_bonds *b)
{
    for (unsigned group = 1; group <= list->n; group++) {
        uint64_t owners = 0;
        for (size_t i = 0; i < list->n; i++)
            owners |= list->link[i].group == group ? UINT64_C(1) << i : 0;
        bonds_add(b, owners, true);
    }
}

void counter_bonds_find(const struct counter_list *list, struct counter_bonds *b)
{
    b->all = (struct plan_bonds){.bond = b->bond, .owner = b->owner};
    for (size_t i = 0; i < list->n_all; i++)
        b->owner[i] = list->link[i].owner;
    bonds_of_braces(list, b);
}

/* A pair of the group that cannot be counted together. @return whether there is one. */
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
                        "braces they are counted in turns",
                        list->events[i].name, list->events[a].name, list->events[b].name, cpu);
    else
        (void)upmu_fail(UPMU_E_FIT,
                        "'%s' is not counted: the events in its braces need more counters than %s has, or are of "
                        "several PMUs or modes. Without the braces they are counted in turns",
                        list->events[i].name, cpu);
}
