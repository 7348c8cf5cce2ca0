/* SPDX-License-Identifier: MIT */
/** @file Events of a list that have to be counted in one group. Private to counter_list.c. */
#ifndef UPMU_CORE_COUNTER_BONDS_H
#define UPMU_CORE_COUNTER_BONDS_H

#include "core/set/counters.h"

enum { COUNTER_BONDS_MAX = 3 * PLAN_EVENTS_MAX };

struct counter_bonds {
    struct plan_bonds all;
    struct plan_bond bond[COUNTER_BONDS_MAX];
    uint16_t owner[PLAN_ENTRIES_MAX];
};

/** Find the bonds of a resolved list: groups in braces, terms of derived events, events of metrics. @param names
 *  the list of names, for the metrics in it */
void counter_bonds_find(const struct machine *m, const struct counter_list *list, const char *names,
                        struct counter_bonds *bonds);

/** Set upmu_error() to why the braced group of event i cannot be counted as one group. */
void counter_bonds_explain(const struct counter_list *list, size_t i, const char *cpu, const struct plan_rules *rules);

#endif
