/* SPDX-License-Identifier: MIT */
/** @file Which events go into one kernel group. Room: core; before it resolved events, after it sets and regions. */
#ifndef UPMU_CORE_PLAN_H
#define UPMU_CORE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "core/arch_ops.h"
#include "core/event.h"

enum { PLAN_EVENTS_MAX = 64 };

/** Groups over n events. group[i] is event i's group, PLAN_NONE for absent events; groups are numbered from 0. */
struct plan {
    size_t n_events;
    size_t n_groups;
    uint8_t group[PLAN_EVENTS_MAX];
};
enum { PLAN_NONE = 0xff };

/**
 * Put events into as few groups as are sure to fit the family's counters.
 *
 * Software events share one group of their own: beside hardware events they would take turns with them and lose their
 * exactness when counters are scarce (and on some kernels would break the group's validation). Events of the core PMU
 * fill groups by bipartite matching of events to the counters they may use. Events of any other PMU stand alone.
 */
void plan_groups(const struct event *events, const uint8_t *absent, size_t n, const struct arch_counters *counters,
                 struct plan *out);

/** Whether these events can sit on the family's counters at the same time. */
int plan_fits(const struct event *const *events, size_t n, const struct arch_counters *counters);

#endif
