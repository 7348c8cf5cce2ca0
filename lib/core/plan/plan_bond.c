/* SPDX-License-Identifier: MIT */
/* Hard bonds of a plan: groups in braces, counted as a whole or not at all. */
#include "core/plan/plan_bond.h"

const struct plan_bond *plan_bond_of(const struct plan_bonds *bonds, size_t i)
{
    for (size_t b = 0; bonds && b < bonds->n; b++)
        if (bonds->bond[b].hard && bonds->bond[b].owners >> bonds->owner[i] & 1)
            return &bonds->bond[b];
    return NULL;
}

bool plan_bonds_differ(const struct plan_bonds *bonds, size_t i, size_t k)
{
    const struct plan_bond *a = plan_bond_of(bonds, i), *b = plan_bond_of(bonds, k);
    return a && b && a != b;
}

static bool bond_same_filter(const struct event *a, const struct event *b)
{
    return a->user == b->user && a->kernel == b->kernel;
}

static bool bond_same_event(const struct event *a, const struct event *b)
{
    return a->type == b->type && a->config == b->config && a->config1 == b->config1 && a->config2 == b->config2 &&
           bond_same_filter(a, b) && a->modes_fixed == b->modes_fixed && a->guest == b->guest && a->host == b->host &&
           a->precise == b->precise;
}

/* Entries of the bond on one core type, without duplicates. @return their number. */
static size_t bond_members(const struct event *events, const struct plan_bonds *bonds, size_t b, unsigned core,
                           const struct plan *p, const struct event *member[PLAN_EVENTS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_events && n < PLAN_EVENTS_MAX; i++) {
        size_t k = 0;
        if (!(bonds->bond[b].owners >> bonds->owner[i] & 1) || p->entry[i].refusal || events[i].class != EVENT_CORE ||
            events[i].core != core)
            continue;
        while (k < n && !bond_same_event(member[k], &events[i]))
            k++;
        if (k == n)
            member[n++] = &events[i];
    }
    return n;
}

/* Events of two PMUs with counters of their own cannot share a kernel group. */
static bool bond_is_of_one_pmu(const struct event *events, const struct plan_bonds *bonds, size_t b,
                               const struct plan *p)
{
    const struct event *first = NULL;
    for (size_t i = 0; i < p->n_events; i++) {
        const struct event *e = &events[i];
        if (!(bonds->bond[b].owners >> bonds->owner[i] & 1) || p->entry[i].refusal || e->class == EVENT_SOFTWARE ||
            e->class == EVENT_USAGE)
            continue;
        if (first && (first->class != e->class || (e->class == EVENT_OTHER && e->type != first->type)))
            return false;
        first = e;
    }
    return true;
}

bool plan_bond_holds(const struct event *events, const struct plan_bonds *bonds, size_t b,
                     const struct plan_rules *rules, const struct plan *p)
{
    const struct event *member[PLAN_EVENTS_MAX];
    if (!bond_is_of_one_pmu(events, bonds, b, p))
        return false;
    for (unsigned core = 0; core < PLAN_CORE_TYPES_MAX; core++) {
        size_t n = bond_members(events, bonds, b, core, p, member);
        if (n < 2)
            continue;
        for (size_t k = 1; k < n && rules[core].counters.shared_filter; k++)
            if (!bond_same_filter(member[0], member[k]))
                return false;
        if (!plan_fits(member, n, &rules[core]))
            return false;
    }
    return true;
}
