/* SPDX-License-Identifier: MIT */
/** @file Demands of events on counters, and whether some of them fit together. Private to plan*.c. */
#ifndef UPMU_CORE_PLAN_FIT_H
#define UPMU_CORE_PLAN_FIT_H

#include "core/plan/plan.h"

/** Demands of an event on the counters of its core. */
struct plan_demand {
    uint32_t mask; /**< counters it may use; 0 = none exists on this machine */
    bool pair;     /**< occupies the counter after its own, too */
    uint8_t pool;  /**< pool of extra registers it uses, 0 = none */
    uint8_t pool_size;
    uint64_t code[3]; /**< type, config and config1: identify codes of a pool */
};

struct plan_demand plan_demand_of(const struct event *e, const struct plan_rules *rules);

/** The existing counters. If their number is unknown: as many as can be represented, or one if the kernel does not
 *  reject a group that is too large. */
uint32_t plan_counters(const struct arch_counters *c);

/** Assign a counter to each demand. @param counter out, may be NULL: the counter of each
 *  @return whether all fit at the same time. */
bool plan_assign(const struct plan_demand *const *demands, size_t n, const struct plan_rules *rules, int16_t *counter);

/** A lower bound on the number of groups for these demands. */
size_t plan_bound(const struct plan_demand *demands, size_t n, const struct plan_rules *rules);

#endif
