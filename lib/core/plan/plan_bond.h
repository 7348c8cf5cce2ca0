/* SPDX-License-Identifier: MIT */
/** @file Hard bonds of a plan: their members, and whether they can be kept. Private to plan*.c and counter_list.c. */
#ifndef UPMU_CORE_PLAN_BOND_H
#define UPMU_CORE_PLAN_BOND_H

#include "core/plan/plan.h"

/** The hard bond of entry i, or NULL. */
const struct plan_bond *plan_bond_of(const struct plan_bonds *bonds, size_t i);

/** Whether two entries have different hard bonds. */
bool plan_bonds_differ(const struct plan_bonds *bonds, size_t i, size_t k);

/** Whether all entries of bond b that are not refused fit into one group: on each core type those of its PMU, and
 *  no second PMU except the software one. */
bool plan_bond_holds(const struct event *events, const struct plan_bonds *bonds, size_t b,
                     const struct plan_rules *rules, const struct plan *p);

#endif
