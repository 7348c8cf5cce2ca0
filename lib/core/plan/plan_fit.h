/* SPDX-License-Identifier: MIT */
/** @file What an event asks of the counters, and whether some of them fit together. Room: core; private to plan*.c. */
#ifndef UPMU_CORE_PLAN_FIT_H
#define UPMU_CORE_PLAN_FIT_H

#include "core/plan/plan.h"

/** What an event asks of the counters of its core. */
struct plan_demand {
    uint32_t mask; /**< counters it may have; 0 = none exists here */
    bool pair;     /**< takes the counter after its own too */
    uint8_t pool;  /**< extra registers it draws from, 0 = none */
    uint8_t pool_size;
    uint64_t code[3]; /**< type, config and config1: what tells codes of a pool apart */
};

/** The machine code of an event, UINT64_MAX if nobody but the kernel knows. */
uint64_t plan_code_of(const struct event *e);

struct plan_demand plan_demand_of(const struct event *e, const struct plan_rules *rules);

/** The counters there are. Where their number is not known: as many as can be written down, or a single one if the
 *  kernel would not tell that a group is too large. */
uint32_t plan_counters(const struct arch_counters *c);

/** Seat all demands at the same time. @param counter out, may be NULL: the counter of each, if they fit */
bool plan_seat(const struct plan_demand *const *demands, size_t n, const struct plan_rules *rules, int16_t *counter);

/** A number of groups that these demands cannot do with less of. */
size_t plan_bound(const struct plan_demand *demands, size_t n, const struct plan_rules *rules);

#endif
