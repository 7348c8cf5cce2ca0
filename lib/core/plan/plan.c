/* SPDX-License-Identifier: MIT */
/*
 * Distribution of events over the fewest kernel groups that fit.
 *
 * Events that can never share a group (of different core types, or with different filters where a core has one
 * filter) form cells, which are searched separately: for a number of groups, from the lower bound of plan_fit.c
 * upwards, branch over the group of one event after the other, the most constrained first. Two symmetries are cut:
 * groups are opened in order, and events with equal demands are placed in ascending order.
 *
 * The kernel multiplexes groups that do not fit together. Groups that would fit but must not run together (one
 * filter per core) are filled until they do not.
 */
#include "core/plan/plan.h"

#include <string.h>

#include "core/plan/plan_bond.h"
#include "core/plan/plan_fit.h"

enum {
    GROUP_MEMBERS_MAX = 32, /* no CPU has more counters */
    SEARCH_NODES = 6000,    /* per number of groups; all partitions of eight events, partial ones included, are 5,295 */
};

/* -------------------------------------------------------------------------------------------------- search */

/* Events that may share groups as far as their counters permit. */
struct cell {
    const struct plan_rules *rules;
    size_t n;
    uint16_t event[PLAN_EVENTS_MAX];
    struct plan_demand demand[PLAN_EVENTS_MAX];
    uint16_t bundle[PLAN_EVENTS_MAX]; /* events of one bundle are adjacent and share a group */
    size_t group[PLAN_EVENTS_MAX];
    size_t n_groups;
    bool proven;
};

struct search {
    struct cell *cell;
    size_t limit, used;
    size_t nodes;
    const struct plan_demand *member[PLAN_EVENTS_MAX][GROUP_MEMBERS_MAX];
    size_t n_members[PLAN_EVENTS_MAX];
};

static bool plan_joins(struct search *s, size_t g, const struct plan_demand *d)
{
    size_t n = s->n_members[g];
    if (n == GROUP_MEMBERS_MAX)
        return false;
    s->member[g][n] = d;
    return n == 0 || plan_assign(s->member[g], n + 1, s->cell->rules, NULL);
}

static bool plan_demands_equal(const struct plan_demand *a, const struct plan_demand *b)
{
    return a->mask == b->mask && a->pair == b->pair && a->pool == b->pool &&
           (a->pool == 0 || memcmp(a->code, b->code, sizeof a->code) == 0);
}

/* Number of events in the bundle at `at`. */
static size_t cell_bundle_size(const struct cell *c, size_t at)
{
    size_t n = 1;
    while (at + n < c->n && c->bundle[at + n] == c->bundle[at])
        n++;
    return n;
}

/* Put the bundle at `at` into group g. @return whether it fits; if not, nothing has changed. */
static bool search_join_bundle(struct search *s, size_t g, size_t at, size_t size)
{
    size_t k = 0;
    for (; k < size && plan_joins(s, g, &s->cell->demand[at + k]); k++)
        s->n_members[g]++;
    if (k == size)
        return true;
    s->n_members[g] -= k;
    return false;
}

/* The first group to try for the bundle at `at`: equal demands are placed in ascending order. */
static size_t cell_first_group(const struct cell *c, size_t at, size_t size)
{
    bool equal = at > 0 && size == 1 && (at == 1 || c->bundle[at - 1] != c->bundle[at - 2]) &&
                 plan_demands_equal(&c->demand[at], &c->demand[at - 1]);
    return equal ? c->group[at - 1] : 0;
}

static bool search_assign(struct search *s, size_t at)
{
    struct cell *c = s->cell;
    if (at == c->n)
        return true;
    if (++s->nodes > SEARCH_NODES)
        return false;
    size_t size = cell_bundle_size(c, at), g = cell_first_group(c, at, size);
    size_t end = s->used < s->limit ? s->used + 1 : s->limit;
    for (; g < end; g++) {
        size_t used = s->used;
        if (!search_join_bundle(s, g, at, size))
            continue;
        s->used = g == used ? used + 1 : used;
        for (size_t k = 0; k < size; k++)
            c->group[at + k] = g;
        if (search_assign(s, at + size))
            return true;
        s->n_members[g] -= size;
        s->used = used;
    }
    return false;
}

static size_t plan_choice(const struct plan_demand *d)
{
    return (size_t)__builtin_popcount(d->mask);
}

static bool plan_is_before(const struct plan_demand *a, const struct plan_demand *b)
{
    if (a->pair != b->pair)
        return a->pair;
    if (plan_choice(a) != plan_choice(b))
        return plan_choice(a) < plan_choice(b);
    if (a->pool != b->pool)
        return a->pool > b->pool;
    return a->mask < b->mask;
}

/* Large bundles are placed first, then the most constrained events. */
static bool cell_sorts_before(const struct cell *c, const size_t *size, size_t a, size_t b)
{
    uint16_t x = c->bundle[a], y = c->bundle[b];
    if (x == y)
        return plan_is_before(&c->demand[a], &c->demand[b]);
    if (size[x] != size[y])
        return size[x] > size[y];
    return size[x] > 1 ? x < y : plan_is_before(&c->demand[a], &c->demand[b]);
}

/* Insertion sort: few events, and stable. */
static void cell_sort(struct cell *c)
{
    struct cell sorted = *c;
    size_t order[PLAN_EVENTS_MAX], size[PLAN_EVENTS_MAX] = {0};
    for (size_t i = 0; i < c->n; i++)
        size[c->bundle[i]]++;
    for (size_t i = 0; i < c->n; i++) {
        size_t k = i;
        for (; k > 0 && cell_sorts_before(c, size, i, order[k - 1]); k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    for (size_t i = 0; i < c->n; i++) {
        sorted.event[i] = c->event[order[i]];
        sorted.demand[i] = c->demand[order[i]];
        sorted.bundle[i] = c->bundle[order[i]];
    }
    *c = sorted;
}

static void cell_solve(struct cell *c)
{
    cell_sort(c);
    c->proven = true;
    for (size_t limit = plan_bound(c->demand, c->n, c->rules);; limit++) {
        struct search s = {.cell = c, .limit = limit};
        if (search_assign(&s, 0)) {
            c->n_groups = s.used;
            return;
        }
        c->proven = c->proven && s.nodes <= SEARCH_NODES;
    }
}

/* Assign a counter to each event of the cell, where that is known. */
static void cell_counters(const struct cell *c, struct plan *out)
{
    for (size_t g = 0; g < c->n_groups; g++) {
        const struct plan_demand *member[GROUP_MEMBERS_MAX];
        int16_t counter[GROUP_MEMBERS_MAX];
        size_t index_of[GROUP_MEMBERS_MAX], n = 0;
        for (size_t i = 0; i < c->n; i++) {
            if (c->group[i] != g)
                continue;
            index_of[n] = i;
            member[n++] = &c->demand[i];
        }
        if (!plan_assign(member, n, c->rules, counter))
            continue; /* a single event whose counter is held by the kernel */
        for (size_t k = 0; k < n; k++)
            if (c->rules->counters.general > 0 || counter[k] >= ARCH_FIXED)
                out->entry[c->event[index_of[k]]].counter = counter[k];
    }
}

/* --------------------------------------------------------------------------------------------------- duplicates */

static uint8_t plan_filter(const struct event *e)
{
    return (uint8_t)(e->user | e->kernel << 1 | e->guest << 2 | e->host << 3 | e->precise << 4);
}

/* Whether one count serves both. */
static bool plan_is_same_count(const struct event *a, const struct event *b, const struct arch_counters *c)
{
    if (a->type != b->type || a->config != b->config || a->config1 != b->config1 || a->config2 != b->config2)
        return false;
    return c->ignores_filter || (plan_filter(a) == plan_filter(b) && a->modes_fixed == b->modes_fixed);
}

static bool plan_shares_register(const struct event *a, const struct event *b, const struct arch_counters *c)
{
    const struct arch_code_rule *rule = plan_rule_of(a, c);
    bool same_event = a->type == b->type && a->config == b->config;
    return (rule && rule->one_register && rule == plan_rule_of(b, c)) || (c->one_of_each && same_event);
}

/* Groups with another filter must not run at the same time, and there are no fillers to prevent it. */
static bool plan_modes_collide(const struct event *a, const struct event *b, const struct arch_counters *c)
{
    return c->shared_filter && !c->fillers && plan_filter(a) != plan_filter(b);
}

/* Share the count of an earlier duplicate, or refuse event i because of an earlier event. */
static void plan_resolve_duplicate(const struct event *events, size_t i, const struct plan_rules *rules,
                                   const struct plan_bonds *bonds, struct plan *out)
{
    const struct event *e = &events[i];
    const struct arch_counters *c = &rules[e->core].counters;
    for (size_t k = 0; k < i; k++) {
        const struct event *other = &events[k];
        if (other->class != EVENT_CORE || other->core != e->core || out->entry[k].refusal || out->entry[k].same_as != k)
            continue;
        bool same_register = plan_shares_register(e, other, c);
        bool joinable = same_register || !plan_bonds_differ(bonds, i, k);
        if ((plan_is_same_count(e, other, c) && joinable) || (same_register && c->ignores_filter)) {
            out->entry[i].same_as = (uint16_t)k;
            out->entry[i].refusal = PLAN_FINE;
            return;
        }
        if (same_register)
            out->entry[i].refusal = PLAN_CODE_IN_USE;
        else if (plan_modes_collide(e, other, c))
            out->entry[i].refusal = PLAN_MODES;
    }
}

/* --------------------------------------------------------------------------------------------------- cells */

/* Whether event i is to be placed, in the cell of event `first`. */
static bool cell_has(const struct event *events, const struct plan *out, size_t first, size_t i,
                     const struct plan_rules *rules)
{
    const struct event *a = &events[first], *e = &events[i];
    if (e->class != EVENT_CORE || e->core != a->core || out->entry[i].refusal || out->entry[i].same_as != i ||
        out->entry[i].group != PLAN_NONE)
        return false;
    return !rules[e->core].counters.shared_filter || plan_filter(a) == plan_filter(e);
}

/* Positions in the cell of a bond's entries, or of those they share a count with. */
static uint64_t cell_bound_positions(const struct cell *c, const struct plan_bonds *bonds, size_t b,
                                     const struct plan *out)
{
    uint64_t members = 0;
    for (size_t i = 0; i < out->n_events; i++) {
        if (!(bonds->bond[b].owners >> bonds->owner[i] & 1) || out->entry[i].refusal)
            continue;
        for (size_t k = 0; k < c->n; k++)
            members |= out->entry[i].same_as == c->event[k] ? UINT64_C(1) << k : 0;
    }
    return members;
}

/* Merge the bundles at these positions, if the result fits into a group. */
static void cell_merge_bundles(struct cell *c, uint64_t members)
{
    const struct plan_demand *member[PLAN_EVENTS_MAX];
    uint64_t touched = 0;
    size_t n = 0;
    for (size_t k = 0; k < c->n; k++)
        for (size_t p = 0; members >> k & 1 && p < c->n; p++)
            touched |= c->bundle[p] == c->bundle[k] ? UINT64_C(1) << p : 0;
    for (size_t k = 0; k < c->n; k++)
        if (touched >> k & 1)
            member[n++] = &c->demand[k];
    if (n < 2 || n > GROUP_MEMBERS_MAX || !plan_assign(member, n, c->rules, NULL))
        return;
    uint16_t bundle = (uint16_t)__builtin_ctzll(touched);
    for (size_t k = 0; k < c->n; k++)
        if (touched >> k & 1)
            c->bundle[k] = bundle;
}

static void cell_bundle(struct cell *c, const struct plan_bonds *bonds, const struct plan *out)
{
    for (size_t k = 0; k < c->n; k++)
        c->bundle[k] = (uint16_t)k;
    for (size_t b = 0; bonds && b < bonds->n; b++)
        cell_merge_bundles(c, cell_bound_positions(c, bonds, b, out));
}

static void plan_cell(const struct event *events, size_t first, size_t n, const struct plan_rules *rules,
                      const struct plan_bonds *bonds, struct plan *out)
{
    struct cell c = {.rules = &rules[events[first].core]};
    for (size_t i = first; i < n && c.n < PLAN_EVENTS_MAX; i++) {
        if (!cell_has(events, out, first, i, rules))
            continue;
        c.event[c.n] = (uint16_t)i;
        c.demand[c.n++] = plan_demand_of(&events[i], c.rules);
    }
    cell_bundle(&c, bonds, out);
    cell_solve(&c);
    cell_counters(&c, out);
    for (size_t i = 0; i < c.n; i++)
        out->entry[c.event[i]].group = (uint16_t)(out->n_groups + c.group[i]);
    out->n_groups += c.n_groups;
    out->proven = out->proven && c.proven;
}

/* Whether two events of other PMUs share a group. */
static bool plan_others_together(const struct event *events, size_t i, size_t k, const struct plan_bonds *bonds)
{
    if (events[i].class == EVENT_SOFTWARE)
        return events[k].class == EVENT_SOFTWARE;
    return events[k].class == EVENT_OTHER && events[k].type == events[i].type && plan_bond_of(bonds, i) &&
           plan_bond_of(bonds, i) == plan_bond_of(bonds, k);
}

static void plan_other(const struct event *events, size_t i, const struct plan_bonds *bonds, struct plan *out)
{
    for (size_t k = 0; k < i; k++) {
        if (plan_others_together(events, i, k, bonds) && out->entry[k].group != PLAN_NONE) {
            out->entry[i].group = out->entry[k].group;
            return;
        }
    }
    out->entry[i].group = (uint16_t)out->n_groups++;
}

/* Number the groups in the order of their first events. */
static void plan_number_groups(struct plan *out)
{
    uint16_t number[PLAN_ENTRIES_MAX];
    uint16_t next = 0;
    memset(number, 0xff, sizeof number);
    for (size_t i = 0; i < out->n_events; i++) {
        struct plan_entry *e = &out->entry[i];
        if (e->group == PLAN_NONE)
            continue;
        if (number[e->group] == PLAN_NONE)
            number[e->group] = next++;
        e->group = number[e->group];
    }
}

/* -------------------------------------------------------------------------------------------------- filling */

/* Whether two groups with different filters could be counted at the same time. */
static bool plan_could_mix(const struct event *events, const struct plan *p, size_t g, size_t h,
                           const struct plan_rules *rules)
{
    const struct event *both[2 * GROUP_MEMBERS_MAX], *of_g = NULL, *of_h = NULL;
    size_t n = 0;
    for (size_t i = 0; i < p->n_events; i++) {
        const struct plan_entry *entry = &p->entry[i];
        if (events[i].class != EVENT_CORE || entry->same_as != i || (entry->group != g && entry->group != h))
            continue;
        of_g = entry->group == g ? &events[i] : of_g;
        of_h = entry->group == h ? &events[i] : of_h;
        both[n++] = &events[i];
    }
    if (!of_g || !of_h || of_g->core != of_h->core || plan_filter(of_g) == plan_filter(of_h))
        return false;
    return rules[of_g->core].counters.shared_filter && plan_fits(both, n, &rules[of_g->core]);
}

static uint32_t plan_free_counters(const struct event *events, const struct plan *p, size_t g,
                                   const struct plan_rules *rules)
{
    uint32_t free = 0, taken = 0;
    for (size_t i = 0; i < p->n_events; i++) {
        if (p->entry[i].group != g || p->entry[i].counter < 0)
            continue;
        const struct plan_demand d = plan_demand_of(&events[i], &rules[events[i].core]);
        free = plan_counters(&rules[events[i].core].counters);
        taken |= (d.pair ? 3u : 1u) << p->entry[i].counter;
    }
    return free & ~taken;
}

/* A group that occupies all counters runs alone: of two that must not mix, one has to be filled. */
static void plan_fill_groups(const struct event *events, const struct plan_rules *rules, struct plan *p)
{
    for (size_t g = 0; g < p->n_groups; g++)
        for (size_t h = 0; h < p->n_groups && p->fill[g] == 0; h++)
            if (h != g && p->fill[h] == 0 && plan_could_mix(events, p, g, h, rules))
                p->fill[g] = plan_free_counters(events, p, g, rules);
}

/* ---------------------------------------------------------------------------------------------------- plan */

static void plan_refuse_bond(const struct plan_bonds *bonds, size_t b, struct plan *out)
{
    for (size_t i = 0; i < out->n_events; i++)
        if (bonds->bond[b].owners >> bonds->owner[i] & 1 && out->entry[i].refusal == PLAN_FINE)
            out->entry[i].refusal = PLAN_APART;
}

/* Refuse events that cannot be counted or are duplicates. */
static void plan_refuse(const struct event *events, const uint8_t *absent, const struct plan_rules *rules,
                        const struct plan_bonds *bonds, struct plan *out)
{
    for (size_t i = 0; i < out->n_events; i++) {
        struct plan_entry *entry = &out->entry[i];
        *entry = (struct plan_entry){.group = PLAN_NONE, .same_as = (uint16_t)i, .counter = PLAN_NOT_KNOWN};
        if (absent[i])
            entry->refusal = PLAN_ABSENT;
        else if (events[i].class == EVENT_CORE && plan_demand_of(&events[i], &rules[events[i].core]).mask == 0)
            entry->refusal = PLAN_NO_COUNTER;
    }
    for (size_t b = 0; bonds && b < bonds->n; b++)
        if (bonds->bond[b].hard && !plan_bond_holds(events, bonds, b, rules, out))
            plan_refuse_bond(bonds, b, out);
    for (size_t i = 0; i < out->n_events; i++)
        if (out->entry[i].refusal == PLAN_FINE && events[i].class == EVENT_CORE)
            plan_resolve_duplicate(events, i, rules, bonds, out);
}

void plan_groups(const struct event *events, const uint8_t *absent, size_t n, const struct plan_rules *rules,
                 const struct plan_bonds *bonds, struct plan *out)
{
    memset(out, 0, sizeof *out);
    out->n_events = n;
    out->proven = true;
    plan_refuse(events, absent, rules, bonds, out);
    for (size_t i = 0; i < n; i++) {
        const struct plan_entry *entry = &out->entry[i];
        if (entry->refusal || entry->same_as != i || entry->group != PLAN_NONE)
            continue;
        if (events[i].class == EVENT_CORE)
            plan_cell(events, i, n, rules, bonds, out);
        else if (events[i].class != EVENT_USAGE)
            plan_other(events, i, bonds, out);
    }
    plan_number_groups(out);
    plan_fill_groups(events, rules, out);
    for (size_t i = 0; i < n; i++)
        if (out->entry[i].same_as != i) {
            out->entry[i].group = out->entry[out->entry[i].same_as].group;
            out->entry[i].counter = out->entry[out->entry[i].same_as].counter;
        }
}
