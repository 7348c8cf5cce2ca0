/* SPDX-License-Identifier: MIT */
/* Public functions on plans: groups and counters of an event list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "core/set/counters.h"
#include "core/machine/machine.h"
#include "upmu/upmu.h"

enum { COUNTER_TEXT_MAX = 16, ENCODING_TEXT_MAX = 160 };

/* Texts formatted for one entry. */
struct entry_texts {
    char counter[COUNTER_TEXT_MAX];
    char encoding[ENCODING_TEXT_MAX];
};

struct upmu_plan {
    struct counter_list list;
    struct plan_rules rules[PLAN_CORE_TYPES_MAX];
    struct entry_texts *texts;
    char note[128];
};

static void plan_describe_counter(const struct upmu_plan *p, size_t i, char *text)
{
    const struct event *e = &p->list.events[i];
    int counter = p->list.plan.entry[i].counter;
    const struct arch_code_rule *rule = plan_rule_of(e, &p->rules[e->core].counters);
    if (counter < 0)
        text[0] = '\0';
    else if (counter >= ARCH_FIXED)
        snprintf(text, COUNTER_TEXT_MAX, "fixed %d", counter - ARCH_FIXED);
    else if (rule && rule->takes_pair)
        snprintf(text, COUNTER_TEXT_MAX, "%d and %d", counter, counter + 1);
    else
        snprintf(text, COUNTER_TEXT_MAX, "%d", counter);
}

static void plan_describe(struct upmu_plan *p)
{
    for (size_t i = 0; i < p->list.n_all; i++) {
        if (p->list.absent[i])
            continue;
        plan_describe_counter(p, i, p->texts[i].counter);
        struct event part = p->list.events[i];
        part.formula = NULL; /* the fields are those of a derived event's first term */
        event_describe_encoding(&part, p->texts[i].encoding, sizeof p->texts[i].encoding);
    }
    if (p->rules[0].held)
        snprintf(p->note, sizeof p->note,
                 "one counter is held by the kernel's NMI watchdog (kernel.nmi_watchdog is 1)");
}

static int plan_fill(struct upmu_plan *p, const struct machine *m, const char *events)
{
    int rc = counter_list_make_on(m, &p->list, events, PLAN_EVENTS_MAX, false);
    if (rc < 0)
        return rc;
    if (p->list.n == 0)
        return upmu_fail(UPMU_E_INVAL, "upmu_plan_open: the list of events is empty");
    p->texts = calloc(p->list.n_all, sizeof *p->texts);
    if (!p->texts)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    machine_rules(m, p->rules);
    plan_describe(p);
    return 0;
}

static int plan_open_on(struct upmu_plan **plan, const struct machine *m, const char *events)
{
    struct upmu_plan *p = calloc(1, sizeof *p);
    if (!p)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    int rc = plan_fill(p, m, events);
    if (rc < 0) {
        upmu_plan_close(p);
        return rc;
    }
    *plan = p;
    return 0;
}

int upmu_plan_open(struct upmu_plan **plan, const char *cpu, const char *events)
{
    if (!plan || !events)
        return ARGUMENT_NULL(plan, events);
    *plan = NULL;
    if (!cpu)
        return plan_open_on(plan, machine_get(), events);
    struct machine *named = malloc(sizeof *named);
    if (!named)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    int rc = machine_of_cpu(cpu, named);
    if (rc == 0)
        rc = plan_open_on(plan, named, events);
    free(named);
    return rc;
}

void upmu_plan_close(struct upmu_plan *plan)
{
    if (!plan)
        return;
    free(plan->texts);
    counter_list_free(&plan->list);
    free(plan);
}

size_t upmu_plan_entry_count(const struct upmu_plan *plan)
{
    return plan ? plan->list.n_all : 0;
}

size_t upmu_plan_group_count(const struct upmu_plan *plan)
{
    return plan ? plan->list.plan.n_groups : 0;
}

int upmu_plan_proven(const struct upmu_plan *plan)
{
    return plan && plan->list.plan.proven;
}

const char *upmu_plan_note(const struct upmu_plan *plan)
{
    return plan ? plan->note : "";
}

/* Groups of one core type are multiplexed: if they fitted together they would be one. */
static uint32_t plan_multiplexed_groups(const struct counter_list *list, size_t i)
{
    bool counted[PLAN_ENTRIES_MAX] = {false};
    uint32_t groups = 1;
    if (list->events[i].class != EVENT_CORE || list->absent[i])
        return 1;
    counted[list->plan.entry[i].group] = true;
    for (size_t k = 0; k < list->n_all; k++) {
        if (list->absent[k] || list->events[k].class != EVENT_CORE || list->events[k].core != list->events[i].core ||
            counted[list->plan.entry[k].group])
            continue;
        counted[list->plan.entry[k].group] = true;
        groups++;
    }
    return groups;
}

static uint32_t plan_role(const struct counter_list *list, size_t i)
{
    if (i >= list->n_parts)
        return UPMU_PLAN_FILLER;
    return i < list->n ? UPMU_PLAN_EVENT : list->link[i].weight ? UPMU_PLAN_TERM : UPMU_PLAN_CORE_TYPE;
}

int upmu_plan_entry_at(const struct upmu_plan *plan, size_t i, struct upmu_plan_entry *entry)
{
    if (!plan || !entry)
        return ARGUMENT_NULL(plan, entry);
    if (i >= plan->list.n_all)
        return UPMU_E_END;
    const struct counter_list *list = &plan->list;
    bool absent = list->absent[i];
    const struct upmu_plan_entry full = {
        .name = list->events[i].name,
        .pmu = absent ? "" : list->events[i].pmu,
        .encoding = plan->texts[i].encoding,
        .counter = plan->texts[i].counter,
        .reason = list->reason[i] ? list->reason[i] : "",
        .role = plan_role(list, i),
        .event = list->link[i].owner,
        .same_as = absent ? (uint32_t)i : list->plan.entry[i].same_as,
        .group = absent || list->plan.entry[i].group == PLAN_NONE ? -1 : list->plan.entry[i].group,
        .multiplexed = plan_multiplexed_groups(list, i),
        .cause = absent ? list->cause[i] : 0,
    };
    return OPTS_GIVE(entry, full, UPMU_PLAN_ENTRY_SIZE_V1);
}
