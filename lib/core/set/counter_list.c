/* SPDX-License-Identifier: MIT */
/* Event lists: names resolved, expanded and planned once. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/backend.h"
#include "core/set/counter_bonds.h"
#include "core/formula/formula.h"
#include "core/machine/machine.h"
#include "core/check/self_check_counters.h"
#include "core/names/name_list.h"

/* An event, the same event on other core types, further terms of its formula, and group fillers. */
enum { LIST_ENTRIES_PER_EVENT = PLAN_CORE_TYPES_MAX + 2 + FORMULA_TERMS_MAX };

static int list_add_name(const struct machine *m, struct counter_list *list, const struct name_item *item,
                         bool keep_unknown)
{
    size_t i = list->n;
    list->link[i].owner = (uint16_t)i;
    if (!list->reason)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    list->link[i].group = item->group;
    int rc = m->named ? event_resolve_on(m, item->name, &list->events[i])
                      : backend_resolve(list->backend, item->name, &list->events[i]);
    /* The id of a tracepoint may be unreadable to this user: the other events are counted. */
    if (rc < 0 && rc != UPMU_E_UNSUPPORTED && rc != UPMU_E_PERM && !keep_unknown)
        return rc;
    if (rc < 0) {
        list->absent[i] = 1;
        list->cause[i] = rc;
        list->reason[i] = strdup(upmu_error());
        if (!list->reason[i])
            return upmu_fail(UPMU_E_NOMEM, "out of memory");
    }
    list->n_parts = list->n_all = ++list->n;
    return 0;
}

static int list_add_names(const struct machine *m, struct counter_list *list, const struct name_list *names, size_t max,
                          bool keep_unknown)
{
    size_t n = names->n < max ? names->n : max;
    list->dropped = names->n - n;
    for (size_t i = 0; i < n; i++) {
        int rc = list_add_name(m, list, &names->item[i], keep_unknown);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int counter_list_leave_out(struct counter_list *list, size_t i, int cause)
{
    free(list->reason[i]);
    list->reason[i] = strdup(upmu_error());
    for (size_t part = 0; part < list->n_all; part++) {
        if (list->link[part].owner != i || (part != i && part < list->n))
            continue;
        list->absent[part] = 1;
        list->cause[part] = cause;
    }
    return list->reason[i] ? 0 : upmu_fail(UPMU_E_NOMEM, "out of memory");
}

/* Mark an event that the planner left out as absent, with the reason. */
static int list_leave_out_unplanned(struct counter_list *list, size_t i, const struct machine *m,
                                    const struct plan_rules *rules)
{
    const struct event *e = &list->events[i];
    size_t owner = list->link[i].owner;
    enum plan_refusal why = (enum plan_refusal)list->plan.entry[i].refusal;
    if (why == PLAN_CODE_IN_USE || why == PLAN_MODES) {
        (void)upmu_fail(UPMU_E_FIT, "'%s' cannot be counted beside %s: %s; count them one after the other", e->name,
                        why == PLAN_MODES ? "events in other modes" : "the same event in other modes",
                        why == PLAN_MODES ? "all counters of a core have one user/kernel filter here"
                                          : "this CPU counts an event once at a time");
        return counter_list_leave_out(list, owner, UPMU_E_FIT);
    }
    if (why == PLAN_APART) {
        counter_bonds_explain(list, i, m->family->title, rules);
        return counter_list_leave_out(list, owner, UPMU_E_FIT);
    }
    (void)upmu_fail(UPMU_E_UNSUPPORTED, "'%s' needs a counter that this CPU does not have", e->name);
    return counter_list_leave_out(list, owner, UPMU_E_UNSUPPORTED);
}

/* Add a hidden event at the end of the list. */
static size_t list_append(struct counter_list *list, const struct event *e, size_t owner)
{
    size_t i = list->n_all++;
    list->events[i] = *e;
    list->link[i].owner = (uint16_t)owner;
    return i;
}

/* Whether the `n` terms of an event on one core type fit into the list. */
static int list_check_terms(const struct counter_list *list, const struct event *derived, int n)
{
    size_t of_type = 0;
    for (size_t k = 0; k < list->n_all; k++)
        of_type += list->events[k].core == derived->core;
    if (of_type + (size_t)n - 1 <= PLAN_EVENTS_MAX)
        return 0;
    return upmu_fail(UPMU_E_LIMIT, "'%s' is the sum of %d events (%s), and %d can be counted at once", derived->name, n,
                     derived->formula, PLAN_EVENTS_MAX);
}

/* The first term replaces the event, the others are appended. A core type with a native event has that as its only
 * term. */
static int list_append_terms(const struct machine *m, struct counter_list *list, size_t head)
{
    struct formula_term terms[FORMULA_TERMS_MAX] = {{.weight = 1}};
    const struct event derived = list->events[head];
    int n = derived.formula ? formula_terms(m, derived.formula, terms) : 1;
    int rc = n < 0 ? n : list_check_terms(list, &derived, n);
    size_t last = head;
    list->link[head].weight = terms[0].weight;
    for (int t = 1; rc == 0 && t < n; t++) {
        struct event part;
        rc = formula_resolve_term(m, &terms[t], &derived, &part);
        if (rc < 0)
            break;
        size_t added = list_append(list, &part, list->link[head].owner);
        list->link[added].weight = terms[t].weight;
        list->link[last].also = (uint16_t)added;
        last = added;
    }
    return rc;
}

static bool list_is_derived(const struct counter_list *list, size_t i)
{
    size_t head = i;
    do {
        if (list->events[head].formula)
            return !list->absent[i];
        head = list->link[head].next;
    } while (head != 0);
    return false;
}

static int list_append_formulas(const struct machine *m, struct counter_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        if (!list_is_derived(list, i))
            continue;
        int rc = list_append_terms(m, list, i);
        for (size_t head = list->link[i].next; rc == 0 && head != 0; head = list->link[head].next)
            rc = list_append_terms(machine_core_type(list->events[head].core), list, head);
        if (rc < 0 && counter_list_leave_out(list, i, rc) < 0)
            return UPMU_E_NOMEM;
    }
    list->n_parts = list->n_all;
    return 0;
}

struct event counter_list_filler(const struct machine *m, const struct event *like, unsigned counter)
{
    const struct machine *core = m->named ? m : machine_core_type(like->core);
    struct event filler = *like;
    filler.type = core->pmu_type;
    filler.config = core->family->counters.fillers[counter];
    filler.config1 = filler.config2 = 0;
    filler.raw_encoding = UINT64_MAX;
    filler.counters = 1u << counter;
    return filler;
}

/* Fill the free counters of a group, so that no group with another filter runs beside it. */
static void list_fill_group(const struct machine *m, struct counter_list *list, const struct plan_rules *rules,
                            size_t group)
{
    size_t first = 0;
    while (list->plan.entry[first].group != group)
        first++;
    const struct event *model = &list->events[first];
    const struct arch_counters *c = &rules[model->core].counters;
    for (unsigned counter = 0; counter < c->general; counter++) {
        if (!(list->plan.fill[group] >> counter & 1))
            continue;
        const struct event filler = counter_list_filler(m, model, counter);
        size_t i = list_append(list, &filler, list->link[first].owner);
        list->plan.entry[i] =
            (struct plan_entry){.group = (uint16_t)group, .same_as = (uint16_t)i, .counter = (int16_t)counter};
    }
}

/* Append the same event of the other core types. A sum that lacks a core type is not a count of the event. */
static int list_add_core_types(const struct machine *m, struct counter_list *list, size_t i)
{
    size_t last = i;
    for (unsigned k = 1; k < m->n_core_types; k++) {
        struct event part;
        int rc = event_resolve_on(machine_core_type(k), list->events[i].name, &part);
        if (rc < 0)
            return counter_list_leave_out(list, i, rc);
        size_t added = list_append(list, &part, i);
        list->link[last].next = (uint16_t)added;
        last = added;
    }
    return 0;
}

static int list_add_all_core_types(const struct machine *m, struct counter_list *list)
{
    int rc = 0;
    for (size_t i = 0; i < list->n && rc == 0; i++)
        if (!list->absent[i] && list->events[i].each_core_type && list->backend == KERNEL_BACKEND_PERF)
            rc = list_add_core_types(m, list, i);
    list->n_parts = list->n_all;
    return rc;
}

/* With several core types the terms of a formula must share one group per type, or the sum has no time. */
static int list_leave_split_out(struct counter_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        bool together = true;
        size_t head = i;
        do {
            for (size_t term = list->link[head].also; term; term = list->link[term].also)
                together = together && list->plan.entry[term].group == list->plan.entry[head].group;
            head = list->link[head].next;
        } while (head != 0);
        if (together || list->absent[i] || list->link[i].next == 0)
            continue;
        (void)upmu_fail(UPMU_E_FIT,
                        "'%s' is a sum of events (%s) that do not fit on the counters at the same time, which is "
                        "required on a machine with several core types. Count its parts",
                        list->events[i].name, list->events[i].formula ? list->events[i].formula : "on one core type");
        if (counter_list_leave_out(list, i, UPMU_E_FIT) < 0)
            return UPMU_E_NOMEM;
    }
    return 0;
}

static bool list_is_core_part(const struct counter_list *list, size_t i)
{
    return !list->absent[list->link[i].owner] && list->events[i].class == EVENT_CORE;
}

/* Whether the group holds everything that event `owner` counts on the core. */
static bool list_is_whole_in(const struct counter_list *list, size_t owner, size_t group)
{
    bool any = false;
    for (size_t i = 0; i < list->n_parts; i++) {
        if (list->link[i].owner != owner || !list_is_core_part(list, i))
            continue;
        if (list->plan.entry[i].group != group)
            return false;
        any = true;
    }
    return any;
}

/* The group that holds the most complete events. */
static size_t list_fullest_group(const struct counter_list *list)
{
    size_t fullest = 0, most = 0;
    for (size_t g = 0; g < list->plan.n_groups; g++) {
        size_t whole = 0;
        for (size_t i = 0; i < list->n; i++)
            whole += list_is_whole_in(list, i, g);
        fullest = whole > most ? g : fullest;
        most = whole > most ? whole : most;
    }
    return fullest;
}

/* Keep one group where a virtual PMU has fewer working counters than it advertises. With multiplexing the kernel
 * would run a second group on dead counters, and no time would show it. @return 0 or UPMU_E_NOMEM. */
static int list_keep_one_group(const struct machine *m, struct counter_list *list)
{
    unsigned shown = m->family->counters.general;
    if (!m->cpu.hypervisor || m->named || list->backend != KERNEL_BACKEND_PERF || self_check_counters(shown) >= shown)
        return 0;
    size_t kept = list_fullest_group(list);
    for (size_t i = 0; i < list->n_parts; i++) {
        size_t owner = list->link[i].owner;
        if (!list_is_core_part(list, i) || list->plan.entry[i].group == kept)
            continue;
        (void)upmu_fail(UPMU_E_FIT,
                        "%s: the %u counters that work in this virtual machine, of %u advertised, are used by the "
                        "other events. Count it in a run of its own",
                        list->events[owner].name, self_check_counters(shown), shown);
        if (counter_list_leave_out(list, owner, UPMU_E_FIT) < 0)
            return UPMU_E_NOMEM;
    }
    return 0;
}

/* The counters of the cores are asked for, and tried, for events that need some: a process that is only recorded has none. */
static int list_plan(const struct machine *m, struct counter_list *list, const char *names)
{
    struct plan_rules rules[PLAN_CORE_TYPES_MAX] = {0};
    struct counter_bonds bonds;
    bool any = false;
    for (size_t i = 0; i < list->n_parts; i++)
        any |= list_is_core_part(list, i);
    if (any)
        machine_rules(m, rules);
    counter_bonds_find(m, list, names, &bonds);
    plan_groups(list->events, list->absent, list->n_parts, rules, &bonds.all, &list->plan);
    for (size_t i = 0; i < list->n_parts; i++)
        if (list->plan.entry[i].refusal && !list->absent[i] && list_leave_out_unplanned(list, i, m, rules) < 0)
            return UPMU_E_NOMEM;
    if (list_leave_split_out(list) < 0 || (any && list_keep_one_group(m, list) < 0))
        return UPMU_E_NOMEM;
    for (size_t g = 0; g < list->plan.n_groups; g++)
        if (list->plan.fill[g])
            list_fill_group(m, list, rules, g);
    return 0;
}

static bool list_allocate(struct counter_list *list, size_t n)
{
    size_t entries = n * LIST_ENTRIES_PER_EVENT + 1;
    list->events = calloc(entries, sizeof *list->events);
    list->link = calloc(entries, sizeof *list->link);
    list->absent = calloc(entries, sizeof *list->absent);
    list->cause = calloc(entries, sizeof *list->cause);
    list->reason = calloc(entries, sizeof *list->reason);
    return list->events && list->link && list->absent && list->cause && list->reason;
}

static int list_make(const struct machine *m, struct counter_list *list, const char *names, size_t max,
                     bool keep_unknown, enum kernel_backend backend)
{
    struct name_list taken;
    memset(list, 0, sizeof *list);
    list->backend = backend;
    int rc = name_list_make(m, &taken, names);
    if (rc == 0 && taken.n > max && !keep_unknown)
        rc = upmu_fail(UPMU_E_LIMIT, "%zu events given, at most %zu can be counted at once", taken.n, max);
    if (rc == 0 && !list_allocate(list, taken.n < max ? taken.n : max))
        rc = upmu_fail(UPMU_E_NOMEM, "out of memory");
    if (rc == 0)
        rc = list_add_names(m, list, &taken, max, keep_unknown);
    name_list_free(&taken);
    if (rc == 0)
        rc = list_add_all_core_types(m, list);
    if (rc == 0)
        rc = list_append_formulas(m, list);
    if (rc == 0)
        rc = list_plan(m, list, names);
    if (rc < 0)
        counter_list_free(list);
    return rc;
}

int counter_list_make(struct counter_list *list, const char *names, size_t max, bool keep_unknown,
                      enum kernel_backend backend)
{
    return list_make(machine_get(), list, names, max, keep_unknown, backend);
}

int counter_list_make_on(const struct machine *m, struct counter_list *list, const char *names, size_t max,
                         bool keep_unknown)
{
    return list_make(m, list, names, max, keep_unknown, KERNEL_BACKEND_PERF);
}

void counter_list_free(struct counter_list *list)
{
    for (size_t i = 0; list->reason && i < list->n_all; i++)
        free(list->reason[i]);
    free(list->events);
    free(list->link);
    free(list->absent);
    free(list->cause);
    free(list->reason);
    memset(list, 0, sizeof *list);
}
